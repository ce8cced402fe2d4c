"""Puts the shared libraries that a wheel needs into it, and gives it the tag of the C library that it needs.

    bundle.py WHEEL OUT

What every system has stays outside: the C and C++ libraries. Each library gets a name of its own (a part of its hash), so that it never stands in for
another version that the process has loaded. CUDA is not linked, and HDF5 is opened by its name if the system has it.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SYSTEM = re.compile(r"^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so|ld-linux)")


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def needed(file):
    return [name for name in output("patchelf", "--print-needed", file).split() if not SYSTEM.match(name)]


def locations(file):
    """Where the loader finds what a file needs, directly or through others."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", file), re.MULTILINE)
    return {name: Path(path).resolve() for name, path in found}


def bundle(package):
    """Copies libraries to package/lib, renames them, and points everything there."""
    programs = {package / "bin/sheaf": "$ORIGIN/../lib"} | {module: "$ORIGIN/lib" for module in package.glob("_core*.so")}
    wanted, copies = {}, {}
    for program in programs:
        wanted |= locations(program)
    waiting = [name for program in programs for name in needed(program)]
    folder = package / "lib"
    folder.mkdir()
    while waiting:
        name = waiting.pop()
        if name in copies:
            continue
        digest = hashlib.sha256(wanted[name].read_bytes()).hexdigest()[:8]
        stem, dot, rest = name.partition(".so")
        copies[name] = folder / f"{stem}-{digest}{dot}{rest}"
        shutil.copy(wanted[name], copies[name])
        copies[name].chmod(0o755)
        waiting += needed(copies[name])
    for file, path in list(programs.items()) + [(copy, "$ORIGIN") for copy in copies.values()]:
        for name in needed(file):
            output("patchelf", "--replace-needed", name, copies[name].name, file)
        output("patchelf", "--set-rpath", path, file)
    for copy in copies.values():
        output("patchelf", "--set-soname", copy.name, copy)
    return [*programs, *copies.values()]


def newest_glibc(files):
    versions = {int(minor) for file in files for minor in re.findall(r"GLIBC_2\.(\d+)", output("objdump", "-T", file))}
    return max(versions)


def main():
    wheel, out = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        output(sys.executable, "-m", "wheel", "unpack", wheel, "--dest", scratch)
        (unpacked,) = Path(scratch).iterdir()
        for file in [unpacked / "sheaf/bin/sheaf", *(unpacked / "sheaf").glob("_core*.so")]:
            output("strip", "--strip-unneeded", file)
        (unpacked / "sheaf/bin/sheaf").chmod(0o755)  # unpacking loses it
        tag = f"manylinux_2_{newest_glibc(bundle(unpacked / 'sheaf'))}"
        about = next(unpacked.glob("*.dist-info/WHEEL"))
        about.write_text(re.sub(r"-linux_", f"-{tag}_", about.read_text()))
        output(sys.executable, "-m", "wheel", "pack", unpacked, "--dest", out)


if __name__ == "__main__":
    main()
