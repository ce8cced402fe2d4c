#!/usr/bin/env bash
# Installs each package of BUILD/packages into an empty folder and uses it there, as a user who has no clone and no build folder.
#   packaging/check.sh BUILD           Debian packages, wheel, contents of the archives of sources, R package over the installed library
#   packaging/check.sh BUILD sources   also compiles the R package, by a plain Makefile, and the wheel from their sources alone: half an hour
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") full=${2:-}
packages=$build/packages
python=${PYTHON:-/usr/bin/python3}
pages=$PWD/docs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH R_LIBS SHEAF_HOME LD_LIBRARY_PATH

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
one() {  # the only file of a pattern
  # shellcheck disable=SC2206
  local files=("$packages"/$1)
  [[ ${#files[@]} == 1 && -e ${files[0]} ]] || fail "one $1 expected in $packages"
  echo "${files[0]}"
}
# From a BIOM table to a report, with the program in $1.
search_a_table() {
  local folder=$scratch/search
  rm -rf "$folder" && mkdir "$folder" && pushd "$folder" >/dev/null
  "$1" generate microbes table.biom --rows 100 --features 2000 --seed 7 --quiet
  "$1" search table.biom --model linear --cost 1e-4:1:3 --seed 7 --output found >log || { cat log; fail "$1 did not search"; }
  [[ -s found/report.html && -s found/model.txt ]] || fail "$1 left no report"
  popd >/dev/null
}

if compgen -G "$packages/*.deb" >/dev/null; then
  echo "== Debian packages"
  began=$SECONDS
  for name in sheaf_ libsheaf0 libsheaf-dev; do dpkg -x "$(one "$name*.deb")" "$scratch/root"; done
  usr=$scratch/root/usr
  search_a_table "$usr/bin/sheaf"
  echo "from the package to a finished search on a BIOM table: $((SECONDS - began)) s"
  # CUDA is opened when a GPU is asked for: no program or library of the packages may need it to start.
  mapfile -t files < <(find "$usr/lib" -type f -name 'libsheaf.so.*')
  [[ ${#files[@]} == 1 ]] || fail "one shared library expected in the packages, found ${#files[@]}"
  [[ ${files[0]} == "$usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/"* ]] || fail "${files[0]} is not in the folder of its architecture"
  for file in "$usr/bin/sheaf" "${files[@]}"; do
    needed=$(readelf -d "$file") || fail "$file cannot be read"
    ! grep -E 'NEEDED.*(libcu|libnv)' <<<"$needed" || fail "$file is linked with CUDA"
  done
  for file in share/man/man1/sheaf.1 share/bash-completion/completions/sheaf share/zsh/site-functions/_sheaf \
    share/fish/vendor_completions.d/sheaf.fish share/doc/sheaf/copyright; do
    [[ -s $usr/$file ]] || fail "$file is not in the package"
  done
  PKG_CONFIG_PATH=$(dirname "$(find "$usr/lib" -name sheaf.pc)")
  export PKG_CONFIG_PATH
  read -ra flags <<<"$(pkg-config --cflags --libs sheaf)"
  g++ -std=c++20 examples/cpp/memory.cpp "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir sheaf)" -o "$scratch/memory"
  "$scratch/memory" >/dev/null || fail "a program over libsheaf-dev does not run"
fi

if compgen -G "$packages/*.whl" >/dev/null; then
  echo "== the wheel"
  began=$SECONDS
  "$python" -m venv --system-site-packages "$scratch/venv"
  "$scratch/venv/bin/pip" install -q --no-index --no-deps --force-reinstall "$(one '*.whl')"
  (cd "$scratch" && "$scratch/venv/bin/python" -c "
import sheaf, sys
assert sheaf.__file__.startswith(sys.prefix), sheaf.__file__
maps = open('/proc/self/maps').read()
assert sys.prefix in next(line for line in maps.splitlines() if 'libzstd-' in line), 'the libraries are not those of the wheel'")
  search_a_table "$scratch/venv/bin/sheaf"
  echo "from the wheel to a finished search on a BIOM table: $((SECONDS - began)) s"
  "$python" docs/site/run_blocks.py python "$pages/tour-python.md" -- "$scratch/venv/bin/python" >/dev/null

  echo "== the archive of Python sources"
  mkdir "$scratch/sources" && tar -xzf "$(one 'sheaf-*.tar.gz')" -C "$scratch/sources"
  sources=$(echo "$scratch"/sources/sheaf-*)
  for folder in cmake include src cli examples/stories examples/cpp python/src python/sheaf; do
    diff -rq -x __pycache__ -x '*.so' -x bin "$folder" "$sources/library/$folder" || fail "the archive's $folder is not the repository's"
  done
  if [[ $full == sources ]]; then
    SHEAF_BUILD=$scratch/python-build "$python" -m pip wheel -q --no-build-isolation --no-deps -w "$scratch/wheels" "$sources"
    [[ -e $(echo "$scratch"/wheels/*.whl) ]] || fail "the archive makes no wheel"
  fi
fi

install_r() {  # into library $1
  mkdir "$1"
  R CMD INSTALL --library="$1" "$(one 'sheaf_*.tar.gz')" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; fail "the R package is not installed"; }
  R_LIBS=$1 "$python" docs/site/run_blocks.py r "$pages/tour-r.md" -- Rscript --vanilla >/dev/null
  R_LIBS=$1 Rscript --vanilla -e 'stopifnot(nrow(vignette(package = "sheaf")$results) >= 5)'
}
if compgen -G "$packages/sheaf_*.tar.gz" >/dev/null; then
  echo "== the R package, over the installed library"
  install_r "$scratch/r"
  if [[ $full == sources ]]; then
    echo "== the R package, which builds the library"
    SHEAF_WITHOUT_LIBRARY=1 install_r "$scratch/r-alone"
  fi
fi
echo "All packages install and work."
