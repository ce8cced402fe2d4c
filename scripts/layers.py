#!/usr/bin/env python3
"""Holds the layers of the design: which folder may include which, no circles between folders, no folder of more than 30
files or source of more than 500 lines without a stated reason, a README in every folder of src/.

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
    ["score"],
    ["family"],
    ["linear", "kernel", "neighbors", "information", "rescore", "snippets"],
    ["pipeline"],
    ["model"],
    ["search"],
    ["report"],
    ["cli"],
]

# A public header belongs to the folder that implements it.
OWNERS = {
    "core": "array context device device_array error memory progress version",
    "data": "binning dataset generate io matrix parameters predictions profile scaling splits survival",
    "score": "calibration scores threshold",
    "family": "kernel_counts model_options search_space task_fit trained_model",
    "linear": "elastic_net glm linear net_path net_scores ridge",
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
    "src/information/count": "one set of verbs: every way of counting stands beside the others",
    "src/report": "one file for each page, table or kind of chart",
}

MOST_LINES = 500
LONG_FILES = {
    "src/linear/products/ops_cuda.cu": "all GPU verbs of the linear family, launched by one class",
    "src/linear/family/net.cpp": "the trainer and the row of a family",
    "src/neighbors/family/neighbors.cpp": "the trainer and the row of a family",
    "src/search/engine.cpp": "one loop over levels, batches and devices",
    "src/neighbors/verbs/filter_cuda.cuh": "one kernel and its tiles",
    "src/rescore/input/pin.cpp": "one reader, in one pass over the file",
    "src/rescore/confidence/ops_cuda.cu": "all GPU verbs of confidence",
    "src/data/read/csv.cpp": "one reader, in one pass over the file",
}

level_of = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
owner_of = {header: folder for folder, headers in OWNERS.items() for header in headers.split()}
faults = []


def sources():
    for top in ("src", "cli"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".cu", ".cuh"):
                yield path


def folder_of(path):
    parts = path.relative_to(root).parts
    return "/".join(parts[1:-1]) if parts[0] == "src" else "cli"


def read_includes():
    """(file, folder, included folder) of every include of another folder."""
    for path in sources():
        folder = folder_of(path)
        text = path.read_text()
        for name in re.findall(r'#include "([\w/.]+)"', text):
            if (root / "src" / name).exists():
                yield path, folder, str(pathlib.PurePosixPath(name).parent)
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
    for folder in sorted({path.parent for path in (root / "src").rglob("*") if path.is_file()}):
        name = str(folder.relative_to(root))
        files = [path for path in folder.iterdir() if path.is_file()]
        if len(files) > MOST_FILES and name not in LARGE_FOLDERS:
            faults.append(f"{name}: has {len(files)} files, over {MOST_FILES}; divide it, or state the reason in scripts/layers.py")
        if not (folder / "README.md").exists():
            faults.append(f"{name}: has no README.md that says what lives there, who may call it and how to add to it")
    for path in sources():
        name = str(path.relative_to(root))
        lines = path.read_text().count("\n")
        if lines > MOST_LINES and name not in LONG_FILES:
            faults.append(f"{name}: has {lines} lines, over {MOST_LINES}; divide it, or state the reason in scripts/layers.py")
    for name in [*LARGE_FOLDERS, *LONG_FILES]:
        if not (root / name).exists():
            faults.append(f"scripts/layers.py: gives a reason for {name}, which does not exist")


def main():
    includes = list(read_includes())
    check_layers(includes)
    edges = {}
    for _, folder, other in includes:
        if folder != other and not other.endswith("/*"):
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
