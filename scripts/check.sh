#!/usr/bin/env bash
# What `make check` does: the format, the documents, clang-tidy on what changed, the benchmarks' build and, where readers
# changed, a minute of fuzzing. All of them run; the exit code says whether any failed.
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

step format scripts/format.sh --check
step documents scripts/documents.sh
step tidy scripts/tidy.sh "$build" --changed
step benchmarks cmake --build "$build" --parallel "$(nproc)" --target benchmarks
if changed '^(src/(core|data)|include|tests/(fuzz|invalid))/'; then
  step fuzz scripts/fuzz.sh 60
else
  echo "== fuzz: nothing that readers are made of has changed"
fi

if ((${#failed[@]} > 0)); then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "All passed."
