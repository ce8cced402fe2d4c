"""Builds the extension module and the program with CMake, in the repository that this folder belongs to.

The build folder is SHEAF_BUILD, else the repository's build/, so that an existing build is used and not repeated.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent


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


setup(version=version(), ext_modules=[Extension("sheaf._core", [])], cmdclass={"build_ext": CMakeBuild})
