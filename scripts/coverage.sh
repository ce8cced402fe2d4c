#!/usr/bin/env bash
# Shares of lines and branches of src/ that the C++ tests, and the programs they start, run; by folder, and the files that
# hold most of what never runs (clang's source-based coverage).
#   scripts/coverage.sh [REGEX of tests, default all]
# BUILD (default build-coverage) may be a folder that is configured with these flags and others, such as sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/${BUILD:-build-coverage}
tests=${1:-.}
if [[ ! -f $build/CMakeCache.txt ]]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -g1 -fprofile-instr-generate -fcoverage-mapping" -DSHEAF_CUDA=off -DSHEAF_BENCH=OFF \
    -DSHEAF_PYTHON=off -DSHEAF_R_PACKAGE=off > /dev/null
  ninja -C "$build" tests
fi
profiles=$build/profiles
rm -rf "$profiles"
# Processes of one program add to one file; those that are killed add nothing.
LLVM_PROFILE_FILE=$profiles/%m.profraw ctest --test-dir "$build" -R "$tests" --output-on-failure || echo "coverage: some tests failed"
llvm-profdata merge -sparse "$profiles"/*.profraw -o "$profiles/all.profdata"
objects=()
for program in "$build"/sheaf "$build"/test_* "$build"/*_test "$build"/fuzz_replay; do
  [[ -x $program && -f $program ]] && objects+=(-object "$program")
done
llvm-cov export -summary-only -instr-profile="$profiles/all.profdata" "${objects[@]:1}" > "$profiles/all.json"
python3 - "$profiles/all.json" "$PWD/src/" << 'TABLE'
import collections
import json
import sys

path, root = sys.argv[1:]
folders = collections.defaultdict(lambda: [0, 0, 0, 0])
missed = []
for file in json.load(open(path))["data"][0]["files"]:
    if not file["filename"].startswith(root):
        continue
    name, summary = file["filename"][len(root):], file["summary"]
    counts = [summary["lines"]["covered"], summary["lines"]["count"], summary["branches"]["covered"], summary["branches"]["count"]]
    for folder in (name.split("/")[0], "all of src"):
        folders[folder] = [a + b for a, b in zip(folders[folder], counts)]
    missed.append((counts[1] - counts[0], counts[3] - counts[2], name))
print(f"{'folder':14} {'lines':>8} {'run':>7}  {'branches':>8} {'run':>7}")
for folder, (lines, all_lines, branches, all_branches) in sorted(folders.items()):
    print(f"{folder:14} {all_lines:8} {100 * lines / max(all_lines, 1):6.1f}%  {all_branches:8} {100 * branches / max(all_branches, 1):6.1f}%")
print("\nlines and branches that never run")
for lines, branches, name in sorted(missed, reverse=True)[:40]:
    print(f"{lines:6} {branches:6}  {name}")
TABLE
