#!/usr/bin/env bash
# Makes packages from a finished build (targets sheaf, sheaf_shared, sheaf_texts, sheaf_python, sheaf_r, sheaf_r_vignettes): Debian packages,
# a Python wheel and its sources, an R source package. What the build has not got is left out, and said.
#   packaging/make.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=$build/packages
python=${PYTHON:-/usr/bin/python3}
rm -rf "$out"
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if command -v dpkg-shlibdeps >/dev/null; then
  echo "== Debian"
  # CMake takes the folder of the architecture, as Debian has it, for the prefix /usr alone.
  prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
  cmake -DCMAKE_INSTALL_PREFIX=/usr "$build" >/dev/null
  trap 'cmake -DCMAKE_INSTALL_PREFIX="$prefix" "$build" >/dev/null; rm -rf "$scratch"' EXIT
  (cd "$build" && cpack -G DEB -B "$scratch/debian") >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
  mv "$scratch"/debian/*.deb "$out"
else
  echo "== no Debian packages: dpkg-shlibdeps is missing (package dpkg-dev)"
fi

if compgen -G "$build/python/sheaf/_core*.so" >/dev/null; then
  echo "== Python"
  (cd python && "$python" setup.py -q egg_info -e "$scratch" sdist -d "$out")
  SHEAF_BUILD=$build "$python" -m pip wheel -q --no-build-isolation --no-deps -w "$scratch" ./python
  "$python" packaging/bundle.py "$scratch"/sheaf-*.whl "$out"
else
  echo "== no Python package: it is not built (make python)"
fi

if [[ -e $build/r/vignettes ]]; then
  echo "== R"
  packaging/r_sources.sh "$build" "$out"
else
  echo "== no R package: it is not built (make r)"
fi
ls -sh1 "$out"
