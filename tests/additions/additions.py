#!/usr/bin/env python3
"""Adds a toy loss, distribution, kernel, metric, criterion, format, family and parameter to a copy of the sources, and checks that
each touches the files that CONTRIBUTING.md names, that their number is that of FILES, and that the sources that read it
compile.

    tests/additions/additions.py BUILD              the build folder, whose flags of the compiler are taken
    tests/additions/additions.py BUILD --programs   also builds the program with all of them and uses it: minutes
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from toys import TOYS

root = pathlib.Path(__file__).resolve().parent.parent.parent

# Files that an addition touches, tests and documents aside.
FILES = {"loss": 2, "distribution": 2, "kernel": 2, "metric": 1, "criterion": 1, "format": 2, "family": 2,
         "parameter": 2}

faults = []


def copy_sources(scratch):
    for part in ("src", "include", "cli", "cmake"):
        shutil.copytree(root / part, scratch / part)
    shutil.copy(root / "CMakeLists.txt", scratch)


def apply_toy(toy, scratch):
    """Puts each piece of a toy in front of, or behind, the one place where its anchor is; the files that were touched."""
    touched = set()
    for name, anchor, piece in toy.pieces:
        path = scratch / name
        touched.add(name)
        if anchor is None:
            path.parent.mkdir(exist_ok=True)
            path.write_text(piece)
            continue
        text = path.read_text()
        if text.count(anchor) != 1:
            faults.append(f"the toy {toy.name}: {name} has the anchor {anchor!r} {text.count(anchor)} times, not once")
            continue
        path.write_text(text.replace(anchor, piece.replace("ANCHOR", anchor)))
    return touched


def rows_of_the_table():
    """What CONTRIBUTING.md says: the words of the first column, the paths in the second one."""
    text = (root / "CONTRIBUTING.md").read_text().split("## Adding things")[1].split("\n## ")[0]
    rows = {}
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 2:
            for word in re.split(r", | of the ", cells[0]):
                rows[word] = cells[1]
    return rows


def is_named(path, cell):
    named = re.findall(r"[\w.]+(?:/[\w.]+)+", cell.replace("<sheaf/", "include/sheaf/"))
    return any(path == one or path.startswith(one + "/") for one in named)


def check_count(toy, touched):
    if len(touched) != FILES[toy.kind]:
        faults.append(f"a {toy.kind} touches {len(touched)} files, not {FILES[toy.kind]}: {', '.join(sorted(touched))}")
    row = next((cell for words, cell in rows_of_the_table().items() if toy.kind in words), None)
    if row is None:
        faults.append(f"CONTRIBUTING.md: 'Adding things' has no row of a {toy.kind}")
        return
    if toy.kind == "parameter":  # its files are those of the struct that it belongs to
        return
    own_folder = {name for name, anchor, _ in toy.pieces if anchor is None} if toy.kind == "family" else set()
    for path in touched - own_folder:
        if not is_named(path, row):
            faults.append(f"CONTRIBUTING.md: a {toy.kind} also touches {path}, which its row does not name")


def compiler_line(build, scratch):
    """The command that compiles a source of the library, with the folders of the copy in place of ours."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "libsheaf.dir" in entry["command"] and entry["file"].endswith("src/linear/model/model.cpp"):
            words = shlex.split(entry["command"])
            break
    else:
        sys.exit(f"{build}/compile_commands.json: has no src/linear/model/model.cpp")
    line = [word for word in words if not word.endswith(".cpp") and "cmake_pch" not in word and word != "-Winvalid-pch"]
    for option in ("-o", "-c", "-MF", "-MT", "-include"):
        while option in line:
            at = line.index(option)
            del line[at : at + (2 if option in ("-o", "-MF", "-MT") else 1)]
    line = [word for word in line if word not in ("-MD",) and not word.endswith(".o") and not word.endswith(".d")]
    return [word.replace(f"{root}/src", f"{scratch}/src").replace(f"{root}/include", f"{scratch}/include") for word in line]


def check_source(line, scratch, source):
    done = subprocess.run([*line, "-fsyntax-only", str(scratch / source)], capture_output=True, text=True)
    return None if done.returncode == 0 else f"{source} does not compile with the toys:\n{done.stderr[:3000]}"


def check_programs(scratch):
    made = subprocess.run(
        f"cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_CUDA=off -DSHEAF_NATIVE=ON -DSHEAF_TESTS=OFF "
        "-DSHEAF_BENCH=OFF -DSHEAF_PYTHON=off -DSHEAF_R_PACKAGE=off && cmake --build build --target sheaf",
        shell=True, cwd=scratch, capture_output=True, text=True)
    if made.returncode != 0:
        faults.append(f"the program with all toys was not built:\n{(made.stdout + made.stderr)[-3000:]}")
        return
    for toy in TOYS:
        for command, expected in toy.commands:
            done = subprocess.run(["bash", "-ec", f'sheaf() {{ "{scratch}/build/sheaf" "$@"; }}; {command}'],
                                  cwd=scratch, capture_output=True, text=True)
            if done.returncode != 0 or not re.search(expected, done.stdout + done.stderr):
                faults.append(f"{command}\n    prints no {expected!r} but:\n{done.stdout}{done.stderr}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        copy_sources(scratch)
        for toy in TOYS:
            check_count(toy, apply_toy(toy, scratch))
        if not faults and "--programs" in sys.argv:
            check_programs(scratch)
        elif not faults:
            line = compiler_line(build, scratch)
            sources = sorted({source for toy in TOYS for source in toy.sources})
            with ThreadPoolExecutor(2) as pool:
                faults.extend(fault for fault in pool.map(lambda one: check_source(line, scratch, one), sources) if fault)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"additions: {len(TOYS)} toys, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
