#!/usr/bin/env bash
# Fuzzes every reader for a while, beginning with the kept corpus and the malformed files of the tests.
#   scripts/fuzz.sh [seconds in all, default 60]
# Ends with 0 and says so where clang or libFuzzer is missing. Inputs that fail a check are kept in build-fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=(libsvm csv arff compressed cuts)

missing() {
  echo "fuzz: $1 is missing; nothing was fuzzed"
  exit 0
}
command -v clang++ > /dev/null || missing "clang"
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' > "$probe/probe.cpp"
clang++ -fsanitize=fuzzer "$probe/probe.cpp" -o "$probe/probe" 2> /dev/null || missing "libFuzzer"

cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release -DSHEAF_FUZZ=ON -DSHEAF_CUDA=off \
  -DSHEAF_TESTS=OFF -DSHEAF_BENCH=OFF > "$probe/cmake.log" || { cat "$probe/cmake.log"; exit 1; }
ninja -C build-fuzz fuzzers > "$probe/build.log" || { cat "$probe/build.log"; exit 1; }

each=$((seconds / ${#targets[@]}))
((each > 0)) || each=1
mkdir -p build-fuzz/found
for target in "${targets[@]}"; do
  corpus=build-fuzz/corpus-$target
  seeds=$probe/seeds-$target
  mkdir -p "$corpus" "$seeds"
  cp tests/fuzz/corpus/"$target"/* "$seeds"/
  case $target in
    cuts) ;;  # the tests make their malformed ones
    compressed) cp tests/invalid/*.gz tests/invalid/*.xz tests/invalid/*.zst "$seeds"/ ;;
    *) cp tests/invalid/*."$target" "$seeds"/ ;;
  esac
  dictionary=()
  [[ -f tests/fuzz/$target.dict ]] && dictionary=(-dict=tests/fuzz/"$target".dict)
  log=build-fuzz/fuzz-$target.log
  build-fuzz/fuzz_"$target" -max_total_time="$each" -max_len=2048 -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 "${dictionary[@]}" -artifact_prefix=build-fuzz/found/"$target"- "$corpus" "$seeds" &> "$log" ||
    { tail -50 "$log"; echo "fuzz: $target failed a check; the input is in build-fuzz/found, the log in $log"; exit 1; }
  echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $each s"
done
echo "fuzz: all checks hold"
