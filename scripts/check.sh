#!/usr/bin/env bash
# What `make check` does: the format, the documents, the layers, clang-tidy on what changed, the benchmarks' build, CUDA sources that
# changed where the build has no CUDA and, where what reads files of others changed, a minute of fuzzing. All of them run; the exit code says
# whether any failed.
#   scripts/check.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
failed=()

step() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" || failed+=("$name")
  echo "== $name took $((SECONDS - start)) s"
}

# Whether a changed file's name matches; where nothing is known of changes, everything has changed.
changed() { ! scripts/changed.sh >/dev/null 2>&1 || scripts/changed.sh | grep -qE "$1"; }

# Compiles the changed CUDA sources of a build without them; where nothing is known of changes, all of them.
compile_cuda() {
  local source objects=()
  while read -r source; do
    [[ -e $source ]] && objects+=("CMakeFiles/libsheaf.dir/$source.o")
  done < <({ scripts/changed.sh 2>/dev/null || git ls-files; } | grep '^src/.*\.cu$')
  ((${#objects[@]} > 0)) || return 0
  cmake -S . -B "$build-cuda" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_CUDA=on -DSHEAF_WERROR=ON >/dev/null &&
    cmake --build "$build-cuda" --parallel "$(nproc)" --target "${objects[@]}"
}

step format scripts/format.sh --check
step documents scripts/documents.sh
step layers scripts/layers.py
step tidy scripts/tidy.sh "$build" --changed
step benchmarks cmake --build "$build" --parallel "$(nproc)" --target benchmarks
if command -v nvcc >/dev/null && grep -q '^SHEAF_CUDA:STRING=off' "$build/CMakeCache.txt" && changed '\.cu$'; then
  step cuda compile_cuda
fi
if changed '^(src/(core|data|model|rescore|snippets|search/journal)|include|tests/(fuzz|invalid))/'; then
  step fuzz scripts/fuzz.sh 60
else
  echo "== fuzz: nothing that reads files of others has changed"
fi

if ((${#failed[@]} > 0)); then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "All passed."
