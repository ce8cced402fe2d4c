#!/usr/bin/env bash
# Runs all tests of a build, says which took longest and which were skipped, and why.
#   scripts/test.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
log=$build/Testing/Temporary/LastTest.log

ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)"
code=$?

echo "Slowest:"
sed -n 's/^ *[0-9]*\/[0-9]* Testing: //p; s/^Test time = *//p' "$log" | paste - - | sort -t$'\t' -k2 -rg | head -10 |
  awk -F'\t' '{ printf "  %-32s %s\n", $1, $2 }'
# GoogleTest writes a line that ends in ": Skipped" and the reason below it.
skipped=$(grep -A1 ': Skipped$' "$log" | grep -vE ': Skipped$|^--$' | sort | uniq -c)
[[ -z $skipped ]] || printf 'Skipped (tests, reason):\n%s\n' "$skipped"
exit $code
