#!/usr/bin/env bash
# What `make test` does after the build: the tests, the format, clang-tidy, a minute of fuzzing. All of them run, the first
# failure is not the last word; the exit code says whether any failed. In continuous integration (CI is set) clang-tidy looks
# only at what the change touches.
#   scripts/verify.sh BUILD
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

step tests ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)"
step format scripts/format.sh --check
step tidy scripts/tidy.sh "$build" ${CI:+--changed}
if [[ -x scripts/fuzz.sh ]]; then step fuzz scripts/fuzz.sh 60; else echo "== fuzz: scripts/fuzz.sh is not there; left out"; fi

if ((${#failed[@]} > 0)); then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "All passed."
