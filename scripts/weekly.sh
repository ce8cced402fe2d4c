#!/usr/bin/env bash
# What is too slow for every change, one step after the other: the tests with address and undefined-behaviour sanitizers, with
# the thread sanitizer and with the standard library's assertions; fuzzing; comparisons with other programs; on a machine with a GPU
# also its sanitizers. All steps run; the exit code says whether any failed. The log and a summary are in build-weekly.
#   scripts/weekly.sh [minutes of fuzzing, default 120]
# For cron, Sundays at 2:  0 2 * * 0  cd /path/to/sheaf && git pull -q && scripts/weekly.sh
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-120}
folder=build-weekly
mkdir -p "$folder"
summary=$folder/summary.txt
failed=()
echo "$(date -u +%F) $(git rev-parse --short HEAD)" > "$summary"

step() {
  local name=$1 start=$SECONDS verdict=passed
  shift
  echo "== $name"
  "$@" &> "$folder/$name.log" || { verdict=FAILED; failed+=("$name"); tail -30 "$folder/$name.log"; }
  echo "$name: $verdict in $((SECONDS - start)) s" | tee -a "$summary"
}

# A preset of CMakePresets.json: configured, built, tested.
preset() { cmake --preset "$1" && cmake --build --preset "$1" --parallel "$(nproc)" && ctest --preset "$1" --parallel "$(nproc)"; }

fuzz() { scripts/fuzz.sh $((minutes * 60)) && grep -q 'inputs in all' "$folder/fuzz.log"; }

# Tests that compare with FEAST, LIBSVM, LIBLINEAR, glmnet, scikit-learn and Percolator, and with the programs that are installed.
differences() {
  make test CI=1 BUILD=build &&
    ctest --test-dir build -R 'golden|peer|libsvm|liblinear|agreement' --output-on-failure --no-tests=error
}

# Every call of the operating system fails once, in every command of tests/faults.
faults() { ninja -C build inject_faults && tests/faults/faults.py build/sheaf build/tests/libinject_faults.so; }

# An hour of random work in one process, another each week.
load() { SHEAF_LOAD_MINUTES=60 SHEAF_LOAD_SEED=$(date +%Y%V) build/test_load; }

# Without libFuzzer: seeded mutations of the corpora, another seed each week.
mutations() { build/fuzz_replay tests/fuzz/corpus --mutations 200000 --seed "$(date +%Y%V)"; }

# Made anew, installed into empty folders, used; also from their sources alone.
packages() { make packages && packaging/check.sh build sources; }

export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
step asan preset asan
step tsan preset tsan
step assertions preset assertions
step differences differences
step additions python3 tests/additions/additions.py build --programs
step packages packages
step site make site
step mutations mutations
step faults faults
step load load
step coverage scripts/coverage.sh
step fuzz fuzz
if command -v nvidia-smi > /dev/null && nvidia-smi > /dev/null 2>&1; then
  step gpu scripts/gpu.sh build test sanitize
else
  echo "gpu: there is none; not run" | tee -a "$summary"
fi
sed -n 's/^fuzz: //p' "$folder/fuzz.log" | tail -3 >> "$summary"

if ((${#failed[@]} > 0)); then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "All passed."
