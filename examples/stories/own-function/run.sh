#!/usr/bin/env bash
# A function of one's own on a GPU, and on the CPU if there is none.
#
# own.cpp writes a function as a line of CUDA: it is compiled while the program runs, by NVRTC for a GPU or by a C++ compiler for the CPU, and works
# on arrays that stay on the device. It needs the library: package libsheaf-dev, or cmake --install.
set -euo pipefail
cd "$(dirname "$0")"

# An ordinary program; no CUDA compiler is needed.
read -ra flags <<< "$(pkg-config --cflags --libs sheaf)"
"${CXX:-g++}" -std=c++20 own.cpp "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir sheaf)" -o own

# The program compares its function with the same arithmetic in C++.
./own
