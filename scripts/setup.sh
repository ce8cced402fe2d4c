#!/usr/bin/env bash
# Installs what is missing to build Sheaf on Debian or Ubuntu; says nothing and touches nothing when all is there.
#   scripts/setup.sh          compilers and libraries
#   scripts/setup.sh python   also what the Python package and its tests need
#   scripts/setup.sh r        also what the R package and its tests need
#   scripts/setup.sh packages also what makes packages of all of them
#   scripts/setup.sh site     what makes the site
#   scripts/setup.sh test     also all of that and what format, clang-tidy, fuzzing, tests in a browser and the comparisons with LIBLINEAR and LIBSVM
#                             need; failing to get these is only a remark
set -euo pipefail

extra=()
packages=(g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev libopenblas-dev
  zlib1g-dev libdeflate-dev liblzma-dev libzstd-dev libexpat1-dev libhdf5-dev libboost-dev libssl-dev libgtest-dev)
python=(python3-dev python3-pybind11 pybind11-dev python3-numpy python3-scipy python3-sklearn python3-pandas python3-matplotlib python3-pytest python3-joblib
  python3-setuptools python3-wheel python3-pip python3-sphinx python3-numpydoc mypy)
r=(r-base-dev pkg-config r-cran-rcpp r-cran-matrix r-cran-generics r-cran-testthat r-cran-glmnet r-cran-e1071 r-cran-nnet r-cran-mass r-cran-ggplot2
  r-cran-broom r-cran-cli r-cran-knitr r-cran-rmarkdown r-cran-survival r-cran-sandwich r-cran-lmtest r-cran-car r-cran-emmeans)
site=(python3-sphinx python3-numpydoc python3-myst-parser python3-sphinx-copybutton furo doxygen)
case ${1:-} in
  python) packages+=("${python[@]}") ;;
  r) packages+=("${r[@]}") ;;
  packages) packages+=("${python[@]}" "${r[@]}" pandoc dpkg-dev file patchelf python3-venv) ;;
  site) packages=("${site[@]}") ;;
  test) extra=(openssl chromium clang clang-format clang-tidy libclang-rt-dev liblinear-tools libsvm-tools "${python[@]}" "${r[@]}"
    r-cran-caret r-cran-mlr r-cran-quantreg r-cran-vdiffr dpkg-dev file patchelf python3-venv python3-h5py python3-anndata python3-biom-format python3-openpyxl python3-onnx) ;;
esac

# Servers of ssh and Slurm are for the test of several hosts; nobody else's machine gets them.
if [[ ${1:-} == test && -n ${CI:-} ]]; then extra+=(iproute2 openmpi-bin libopenmpi-dev mpich libmpich-dev openssh-server slurm-wlm); fi

# Other systems bring their own packages; CMake says what it misses.
command -v dpkg-query >/dev/null || exit 0

is_there() {
  # A compiler or tool from elsewhere will do as well as the package.
  case $1 in
    g++ | cmake | clang | clang-format | clang-tidy) command -v "$1" >/dev/null && return 0 ;;
    ninja-build) command -v ninja >/dev/null && return 0 ;;
  esac
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# The package lists may be absent or too old to find what they name: then they are fetched, and it is tried again.
install() {
  local options=(-y -qq --no-install-recommends)
  echo "setup: installing $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "$@" >/dev/null 2>&1 && return 0
  as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "$@" >/dev/null
}

need() {
  local missing=() package
  for package in "$@"; do is_there "$package" || missing+=("$package"); done
  ((${#missing[@]} == 0)) && return 0
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    echo "setup: missing; install as root: apt-get install ${missing[*]}" >&2
    return 1
  fi
  install "${missing[@]}"
}

need "${packages[@]}"
((${#extra[@]} == 0)) || need "${extra[@]}" || echo "setup: going on without; some checks will be left out or fail" >&2
