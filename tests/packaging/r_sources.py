"""Checks that the R package carries all that its own copy of the library needs: what sources include is inside, each source is compiled
once, configure writes a Makefile without an installed library, and some sources compile with R's compiler alone.

    r_sources.py

`packaging/check.sh BUILD sources` compiles all of them and uses the package; this takes seconds.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What differs from the build of CMake: R's BLAS in place of OpenBLAS, and files that are compressed by what the machine has.
COMPILED = ("src/linear/products/blas_cpu.cpp", "src/data/bytes/codec_gzip.cpp")
OURS = re.compile(r"#include (\"[^\"]+\"|<(?:sheaf|fmt|nlohmann)/[^>]+>|<cblas\.h>)")
SKIPPED = 77


def run(*command, where, **surroundings):
    done = subprocess.run(
        [str(word) for word in command], cwd=where, env={**os.environ, **surroundings}, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout.strip()


def missing_includes(library):
    places = [library / "include", library / "src", library / "others"]
    for file in [*(library / "include").rglob("*.hpp"), *(library / "src").rglob("*.[ch]pp")]:
        for name in OURS.findall(file.read_text()):
            if name.endswith('.cuh"') or "/app/" in name:
                continue
            inside = [place / name[1:-1] for place in (*places, file.parent)]
            if not any(path.exists() for path in inside):
                yield f"{file.relative_to(library)} includes {name}, which is not in the package"


def objects_of(library):
    """The objects by the sources that each is compiled from."""
    found = {}
    for name in (library / "objects").read_text().split():
        file = (library.parent / name).with_suffix(".cpp")
        for source in re.findall(r'#include "\.\./([^"]+)"', file.read_text()):
            found.setdefault(source, []).append(name)
    return found


def main():
    if not shutil.which("R"):
        print("R is missing")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch) / "sheaf"
        shutil.copytree(ROOT / "r", package, ignore=shutil.ignore_patterns("*.o", "*.so"))
        library = Path(scratch) / "library"
        run(sys.executable, ROOT / "packaging/r_library.py", library, where=ROOT)
        with tarfile.open(package / "src/library.tar.gz", "w:gz") as archive:
            archive.add(library, "library")
        faults = list(missing_includes(library))
        run("sh", "configure", where=package, SHEAF_WITHOUT_LIBRARY="1")
        objects = objects_of(package / "src/library")
        elsewhere = ("src/app/", "src/queue/mpi/")  # the server, and what is compiled with an MPI
        sources = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.cpp")}
        sources = {name for name in sources if not name.startswith(elsewhere)}
        faults += [f"{name} is not compiled" for name in sorted(sources - set(objects))]
        faults += [f"{name} is compiled {len(where)} times" for name, where in objects.items() if len(where) > 1]
        listed = Counter(re.search(r"^OBJECTS = (.*)", (package / "src/Makevars").read_text(), re.MULTILINE)[1].split())
        faults += [f"{name} is not an object of src/Makevars" for [name] in objects.values() if listed[name] != 1]
        if faults:
            sys.exit("FAILED:\n" + "\n".join(faults))
        home = run("R", "RHOME", where=scratch)
        compiler = [run("R", "CMD", "config", word, where=scratch) for word in ("CXX20", "CXX20STD", "CXX20PICFLAGS")]
        chosen = sorted({objects[name][0] for name in COMPILED})
        run(
            "R", "CMD", "make", "-f", "Makevars", "-f", f"{home}/etc/Makeconf", *chosen, f"CXX={' '.join(compiler)}",
            "CXXFLAGS=-O0 -fsyntax-only", where=package / "src",
        )  # fmt: skip
    print(f"{len(sources)} sources in {len(set(sum(objects.values(), [])))} objects; compiled {', '.join(COMPILED)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
