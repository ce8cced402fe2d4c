#!/usr/bin/env python3
"""Holds the layers of the design: which folder may include which, public headers counted by their owner; no circles between
folders; front ends in other languages include public headers alone; no folder of more than 30 files or source of more than
500 lines without a stated reason; a README in every folder of src/, cli/ and include/.

    scripts/layers.py            says what is wrong and ends with 1
    scripts/layers.py --graph    also prints which folder includes which
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent

# From the ground up. A folder includes those of lower layers and its own subfolders, never one beside it.
LAYERS = [
    ["core"],
    ["cuda", "statistics"],
    ["data", "arrays"],
    ["score", "queue"],
    ["family"],
    ["linear", "kernel", "neighbors", "information", "rescore", "snippets"],
    ["pipeline"],
    ["model"],
    ["search"],
    ["report"],
    ["app"],
    ["cli"],
]

# A public header belongs to the folder that implements it.
OWNERS = {
    "core": "array context device device_array error progress team version",
    "data": "binning dataset generate io matrix memory parameters predictions profile scaling splits",
    "statistics": "survival",
    "score": "calibration scores threshold",
    "family": "kernel_counts model_options search_space task_fit trained_model",
    "linear": "elastic_net glm linear losses net_path net_scores ridge",
    "kernel": "svm",
    "neighbors": "neighbors",
    "information": "selection",
    "rescore": "rescore",
    "snippets": "snippets",
    "pipeline": "pipeline",
    "model": "model stack",
    "search": "compare search",
    "report": "report",
}

MOST_FILES = 30
LARGE_FOLDERS = {
    "include/sheaf/solvers": "one header for each thing that a program may name",
    "r/R": "R reads no folders below this one",
    "src/information/count": "one set of verbs: every way of counting stands beside the others",
    "src/linear/net": "one solver: its paths share working sets, factors and lanes",
    "src/report": "one file for each page, table or kind of chart",
}

MOST_LINES = 500
LONG_FILES = {
    "python/sheaf/_base.py": "what all estimators share",
    "python/sheaf/_search.py": "one class and its documentation",
    "python/sheaf/elastic_net.py": "estimators whose signatures scikit-learn reads, with their documentation",
    "python/sheaf/linear_model_cv.py": "estimators whose signatures scikit-learn reads, with their documentation",
    "python/sheaf/svm.py": "estimators whose signatures scikit-learn reads, with their documentation",
    "src/linear/products/ops_cuda.cu": "all GPU verbs of the linear family, launched by one class",
    "src/linear/net/covariance_targets.hpp": "one class: the path of several targets",
    "src/linear/family/net.cpp": "the trainer and the row of a family",
    "src/neighbors/family/neighbors.cpp": "the trainer and the row of a family",
    "src/neighbors/verbs/filter_cuda.cuh": "one kernel and its tiles",
    "src/rescore/input/pin.cpp": "one reader, in one pass over the file",
    "src/rescore/confidence/ops_cuda.cu": "all GPU verbs of confidence",
    "src/data/read/csv.cpp": "one reader, in one pass over the file",
}

GENERATED = ("RcppExports.cpp", "RcppExports.R")

level_of = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
owner_of = {header: folder for folder, headers in OWNERS.items() for header in headers.split()}
faults = []


def sources(*tops, endings=(".hpp", ".cpp", ".cu", ".cuh")):
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in endings:
                yield path


def folder_of(path):
    """A folder of src, cli or one below it, or the owner of a public header."""
    parts = path.relative_to(root).parts
    if parts[0] == "include":
        return owner_of.get(path.stem) if "bindings" not in parts else None
    return "/".join(parts[1:-1]) if parts[0] == "src" else "/".join(parts[:-1])


def read_includes():
    """(file, folder, included folder) of every include of another folder."""
    for path in sources("src", "cli", "include"):
        folder = folder_of(path)
        if folder is None:  # sheaf.hpp includes all
            continue
        text = path.read_text()
        for name in re.findall(r'#include "([\w/.]+)"', text):
            top = "cli" if (root / "cli" / name).exists() else "src"
            if (root / top / name).exists():
                parent = str(pathlib.PurePosixPath(name).parent)
                yield path, folder, parent if top == "src" else "cli" if parent == "." else f"cli/{parent}"
        for name in re.findall(r"#include <sheaf/bindings/(\w+\.hpp)>", text):
            faults.append(f"{path.relative_to(root)}: includes sheaf/bindings/{name}, which is for packages of other languages alone")
        for name in re.findall(r"#include <sheaf/(?:solvers/)?(\w+)\.hpp>", text):
            if name == "sheaf":
                continue
            if name not in owner_of:
                faults.append(f"{name}.hpp of include/sheaf: no folder owns it; add it to OWNERS in scripts/layers.py")
                owner_of[name] = "core"
            yield path, folder, owner_of[name] + "/*"


def check_layers(includes):
    for path, folder, other in includes:
        here, there = folder.split("/")[0], other.split("/")[0]
        if here not in level_of:
            faults.append(f"src/{here}: is in no layer; add it to LAYERS in scripts/layers.py")
            level_of[here] = len(LAYERS)
        if here != there and level_of.get(there, 0) >= level_of[here]:
            faults.append(f"{path.relative_to(root)}: includes {other.replace('/*', ' (a public header)')}, which is not below {here}")


def check_other_languages():
    """Packages of other languages are over the public headers and their own."""
    for path in sources("python", "r"):
        for name in re.findall(r'#include "([\w/.]+)"', path.read_text()):
            if (root / "src" / name).exists() and not (path.parent / name).exists():
                faults.append(f"{path.relative_to(root)}: includes {name} of src; packages include <sheaf/...> alone")


def find_circles(edges):
    """Folders from which one can come back to where one began."""
    reach = {}

    def reachable(start):
        seen, open_ends = set(), list(edges.get(start, ()))
        while open_ends:
            one = open_ends.pop()
            if one not in seen:
                seen.add(one)
                open_ends.extend(edges.get(one, ()))
        return seen

    for folder in edges:
        reach[folder] = reachable(folder)
    return sorted({tuple(sorted(o for o in reach[f] if f in reach.get(o, ()))) for f in edges if f in reach[f]})


def check_sizes():
    code = ("src", "cli", "include", "python/src", "python/sheaf", "r/src", "r/R")
    files_of_code = [path for top in code for path in (root / top).rglob("*") if path.is_file()]
    for folder in sorted({path.parent for path in files_of_code if "__pycache__" not in path.parts}):
        name = str(folder.relative_to(root))
        files = [path for path in folder.iterdir() if path.is_file()]
        if len(files) > MOST_FILES and name not in LARGE_FOLDERS:
            faults.append(f"{name}: has {len(files)} files, over {MOST_FILES}; divide it, or state the reason in scripts/layers.py")
        if name.split("/")[0] in ("src", "cli", "include") and not (folder / "README.md").exists():
            faults.append(f"{name}: has no README.md that says what lives there, who may call it and how to add to it")
    for path in sources(*code, endings=(".hpp", ".cpp", ".cu", ".cuh", ".py", ".R")):
        if path.name in GENERATED:
            continue
        name = str(path.relative_to(root))
        lines = path.read_text().count("\n")
        if lines > MOST_LINES and name not in LONG_FILES:
            faults.append(f"{name}: has {lines} lines, over {MOST_LINES}; divide it, or state the reason in scripts/layers.py")
    for name in LARGE_FOLDERS:
        if not (root / name).is_dir() or sum(path.is_file() for path in (root / name).iterdir()) <= MOST_FILES:
            faults.append(f"scripts/layers.py: gives a reason for {name}, which is no folder over {MOST_FILES} files")
    for name in LONG_FILES:
        if not (root / name).is_file() or (root / name).read_text().count("\n") <= MOST_LINES:
            faults.append(f"scripts/layers.py: gives a reason for {name}, which is no file over {MOST_LINES} lines")


def main():
    includes = list(read_includes())
    check_layers(includes)
    check_other_languages()
    edges = {}
    for _, folder, other in includes:
        if folder != other and not other.endswith("/*") and "cli" not in (folder, other):
            edges.setdefault(folder, set()).add(other)
    for circle in find_circles(edges):
        faults.append("a circle of includes between the folders " + ", ".join(circle))
    check_sizes()
    if "--graph" in sys.argv:
        for folder in sorted(edges):
            print(folder, "->", " ".join(sorted(edges[folder])))
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"layers: {len(includes)} includes, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
