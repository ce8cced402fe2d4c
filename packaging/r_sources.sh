#!/usr/bin/env bash
# Makes the source package of R in OUT: with the vignettes that the build has made, and with the library's sources, which its configure
# has compiled if no library is installed.
#   packaging/r_sources.sh BUILD OUT
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") out=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cp -r r "$scratch/sheaf"
rm -f "$scratch"/sheaf/src/*.o "$scratch"/sheaf/src/*.so "$scratch/sheaf/src/Makevars"
mkdir -p "$scratch/sheaf/inst"
cp -r "$build/r/source/inst/doc" "$scratch/sheaf/inst/doc"
# R warns of paths longer than 100 characters and of files that it does not know: an archive is neither.
mkdir "$scratch/library"
python3 packaging/r_library.py "$scratch/library"
tar --sort=name --owner=0 --group=0 --numeric-owner -czf "$scratch/sheaf/src/library.tar.gz" -C "$scratch" library
(cd "$out" && R CMD build --no-build-vignettes "$scratch/sheaf" >"$scratch/log" 2>&1) || { cat "$scratch/log" >&2; exit 1; }
