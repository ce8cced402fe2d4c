#!/usr/bin/env bash
# The program, the library and the Python package, from one build.
set -euo pipefail
cmake -S . -B build-conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DSHEAF_TESTS=OFF -DSHEAF_BENCH=OFF \
  -DSHEAF_PYTHON=on -DSHEAF_R_PACKAGE=off -DPython_EXECUTABLE="$PYTHON" -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build build-conda --parallel "${CPU_COUNT:-2}" --target sheaf sheaf_shared sheaf_texts sheaf_python
cmake --install build-conda --prefix "$PREFIX"
SHEAF_BUILD=$PWD/build-conda "$PYTHON" -m pip install --no-deps --no-build-isolation ./python
