#!/usr/bin/env bash
# Installs what is missing to build Sheaf on Debian or Ubuntu; says nothing and touches nothing when all is there.
#   scripts/setup.sh          compilers and libraries
#   scripts/setup.sh test     also what `make test` needs: clang, clang-format, clang-tidy, GoogleTest
set -euo pipefail

packages=(g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev libopenblas-dev
  zlib1g-dev liblzma-dev libzstd-dev libgtest-dev)
if [[ ${1:-} == test ]]; then
  packages+=(clang clang-format clang-tidy libclang-rt-dev)
fi

# Other systems bring their own packages; CMake says what it misses.
command -v dpkg-query >/dev/null || exit 0

missing=()
for package in "${packages[@]}"; do
  # A compiler or tool from elsewhere will do as well as the package.
  case $package in
    g++ | cmake | clang | clang-format | clang-tidy) command -v "$package" >/dev/null && continue ;;
    ninja-build) command -v ninja >/dev/null && continue ;;
  esac
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages: ${missing[*]}" >&2
    echo "setup: run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

install_missing() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
echo "setup: installing ${missing[*]}"
# The package lists may be absent or too old to find what they name.
if ! install_missing 2>/dev/null; then
  "${as_root[@]}" apt-get update -qq
  install_missing
fi
