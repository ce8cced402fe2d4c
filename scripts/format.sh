#!/usr/bin/env bash
# Formats all sources, or with --check only says which lines are not as clang-format would have them.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(find bench cli include python/src r/src src tests -name '*.[ch]pp' ! -name RcppExports.cpp -o -name '*.cu' -o -name '*.cuh' | sort)
if [[ ${1:-} == --check ]]; then
  clang-format --dry-run -Werror "${files[@]}"
  echo "format: ${#files[@]} files are as they should be"
else
  clang-format -i "${files[@]}"
fi
