"""Builds the extension module and the program with CMake, in the repository that this folder belongs to.

The build folder is SHEAF_BUILD, else the repository's build/, so that an existing build is used and not repeated.
An archive of sources holds what the build needs of the repository in the folder library.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE / "library" if (HERE / "library").exists() else HERE.parent
LIBRARY = ["CMakeLists.txt", "cmake", "include", "src", "cli", "examples/stories", "examples/cpp", "LICENSE", "python/CMakeLists.txt", "python/src", "python/sheaf"]


def version() -> str:
    header = (REPOSITORY / "include/sheaf/version.hpp").read_text()
    return re.search(r'define SHEAF_VERSION "(.*)"', header).group(1)


class CMakeBuild(build_ext):
    """Makes CMake's target sheaf_python and takes its files."""

    def run(self) -> None:
        build = Path(os.environ.get("SHEAF_BUILD", REPOSITORY / "build"))
        configure = ["cmake", "-S", REPOSITORY, "-B", build, "-DSHEAF_PYTHON=on", f"-DPython_EXECUTABLE={sys.executable}"]
        if not (build / "CMakeCache.txt").exists():
            configure += ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSHEAF_TESTS=OFF", "-DSHEAF_BENCH=OFF"]
        subprocess.run(configure, check=True)
        jobs = str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", build, "--parallel", jobs, "--target", "sheaf_python"], check=True)
        package = Path(self.build_lib) / "sheaf"
        if self.inplace:
            package = HERE / "sheaf"
        (package / "bin").mkdir(parents=True, exist_ok=True)
        module = self.get_ext_filename("_core")
        shutil.copy2(build / "python/sheaf" / module, package / module)
        shutil.copy2(build / "python/sheaf/bin/sheaf", package / "bin/sheaf")


class SourceArchive(sdist):
    """Adds what the build needs of the repository; the package's own files are a part of it."""

    def make_release_tree(self, base_dir, files) -> None:
        super().make_release_tree(base_dir, files)
        root = Path(base_dir)
        shutil.rmtree(root / "sheaf", ignore_errors=True)
        for name in LIBRARY:
            source, target = REPOSITORY / name, root / "library" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.so", "bin"))
            else:
                shutil.copy2(source, target)


setup(
    version=version(),
    packages=["sheaf"],
    package_dir={"sheaf": os.path.relpath(REPOSITORY / "python/sheaf", HERE)} if REPOSITORY != HERE.parent else {},
    ext_modules=[Extension("sheaf._core", [])],
    cmdclass={"build_ext": CMakeBuild, "sdist": SourceArchive},
)
