#!/usr/bin/env bash
# Fuzzes everything that reads what others may have written (tests/fuzz/targets.hpp), one target after the other, beginning
# with the kept corpora and the malformed files of the tests. Prints how many inputs were run.
#   scripts/fuzz.sh [seconds in all, default 60] [TARGET...]
# Ends with 0 and says so where clang or libFuzzer is missing. Inputs that fail a check are kept in build-fuzz/found; all
# targets run even when one fails. What was learnt stays in build-fuzz/corpus-TARGET for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=("${@:2}")
((${#targets[@]} > 0)) || mapfile -t targets < <(grep -oE 'Target\{"[a-z_]+"' tests/fuzz/targets.cpp | cut -d'"' -f2)

missing() {
  echo "fuzz: $1 is missing; nothing was fuzzed"
  exit 0
}
command -v clang++ > /dev/null || missing "clang"
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' > "$probe/probe.cpp"
clang++ -fsanitize=fuzzer "$probe/probe.cpp" -o "$probe/probe" 2> /dev/null || missing "libFuzzer"

# The whole library, instrumented and with sanitizers; warnings are those of the other builds.
cache=()
command -v ccache > /dev/null && cache=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON "${cache[@]}" \
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -g1 -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS" \
  -DSHEAF_SANITIZE=fuzzer-no-link,address,undefined -DSHEAF_FUZZ=ON -DSHEAF_CUDA=off -DSHEAF_TESTS=OFF -DSHEAF_BENCH=OFF \
  -DSHEAF_PYTHON=off -DSHEAF_R_PACKAGE=off > "$probe/cmake.log" || { cat "$probe/cmake.log"; exit 1; }
ninja -C build-fuzz sheaf_fuzz > "$probe/build.log" || { cat "$probe/build.log"; exit 1; }

# Malformed files of the tests that a target can read.
seeds_of() {
  case $1 in
    compressed) ls tests/invalid/*.gz tests/invalid/*.xz tests/invalid/*.zst ;;
    libsvm | csv | arff) ls tests/invalid/*."$1" ;;
  esac
}

each=$((seconds / ${#targets[@]}))
((each > 0)) || each=1
mkdir -p build-fuzz/found
total=0
failed=()
for target in "${targets[@]}"; do
  corpus=build-fuzz/corpus-$target
  seeds=$probe/seeds-$target
  mkdir -p "$corpus" "$seeds"
  cp tests/fuzz/corpus/"$target"/* "$seeds"/
  for file in $(seeds_of "$target"); do cp "$file" "$seeds"/; done
  dictionary=()
  [[ -f tests/fuzz/$target.dict ]] && dictionary=(-dict=tests/fuzz/"$target".dict)
  log=build-fuzz/fuzz-$target.log
  SHEAF_FUZZ=$target build-fuzz/sheaf_fuzz -max_total_time="$each" -max_len=8192 -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 "${dictionary[@]}" -artifact_prefix=build-fuzz/found/"$target"- "$corpus" "$seeds" &> "$log" || {
    tail -50 "$log"
    echo "fuzz: $target failed a check; the input is in build-fuzz/found, the log in $log"
    failed+=("$target")
  }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  total=$((total + ${runs:-0}))
  echo "fuzz: $target: ${runs:-0} inputs in $each s"
done
echo "fuzz: $total inputs in all"
if ((${#failed[@]} > 0)); then
  echo "fuzz: FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "fuzz: all checks hold"
