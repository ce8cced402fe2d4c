"""Puts the sources of the library into a folder, so that a plain Makefile compiles them with nothing but a C++20 compiler.

    packaging/r_library.py FOLDER

The folder gets include/ and src/ (without CUDA and the server), headers of fmt and nlohmann-json as they are installed here with their licences,
cblas.h over R's BLAS, `joined/` with sources that are compiled together as CMake does, and `objects`: the names of all objects.
"""

import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LICENCES = {"fmt": "/usr/share/doc/libfmt-dev/copyright", "nlohmann": "/usr/share/doc/nlohmann-json3-dev/copyright"}


def listed(file, name):
    """The sources of a list in a CMake file."""
    text = (ROOT / "cmake" / file).read_text()
    body = re.search(rf"set\({name}\n(.*?)\)", text, re.DOTALL).group(1)
    return set(body.split())


def setting(file, name):
    return int(re.search(rf"set\({name} (\d+)\)", (ROOT / "cmake" / file).read_text()).group(1))


def sources():
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.cpp"))
    return [name for name in found if not name.startswith(("src/app/", "src/queue/mpi/"))]


def joined(folder):
    """Groups of sources: neighbours of a folder, but for those that must stay alone."""
    alone = listed("join.cmake", "sheaf_alone") | listed("instruction_sets.cmake", "sheaf_hot_sources")
    alone |= {"src/data/xml/xml.cpp", "src/data/hdf5/hdf5_by_library.cpp", "src/data/hdf5/hdf5_writer.cpp", "src/core/hash/sha256_instructions.cpp"}
    most = setting("join.cmake", "sheaf_joined")
    folders = defaultdict(list)
    for name in sources():
        folders[str(Path(name).parent)].append(name)
    groups = []
    for names in folders.values():
        parts = [names[k : k + most] for k in range(0, len(names), most)]
        for part in parts:
            together = [name for name in part if name not in alone]
            groups += [[name] for name in part if name in alone] + ([together] if together else [])
    (folder / "joined").mkdir()
    objects = []
    for number, group in enumerate(groups):
        name = f"joined/{number:03}"
        (folder / f"{name}.cpp").write_text("".join(f'#include "../{source}"\n' for source in group))
        objects.append(f"library/{name}.o")
    return objects


def main():
    folder = Path(sys.argv[1])
    shutil.copytree(ROOT / "include", folder / "include")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.cu", "*.cuh", "app", "mpi"))
    shutil.copy(ROOT / "LICENSE", folder)
    for name, licence in LICENCES.items():
        shutil.copytree(f"/usr/include/{name}", folder / "others" / name)
        shutil.copy(licence, folder / "others" / name / "copyright")
    shutil.copy(ROOT / "packaging/portable_blas.hpp", folder / "others/cblas.h")
    (folder / "objects").write_text(" ".join(joined(folder)) + "\n")


if __name__ == "__main__":
    main()
