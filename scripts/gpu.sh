#!/usr/bin/env bash
# Everything that needs a GPU, on a machine with compilers, CMake, CUDA and the libraries, and no network.
#   scripts/gpu.sh [build] [test] [sanitize] [bench]      (none named: build test bench)
# A missing GPU is a failure, never a skip.
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
((${#steps[@]} > 0)) || steps=(build test bench)
build=build-cuda
jobs=$(nproc)

for directory in /usr/local/cuda/bin /opt/cuda/bin; do
  [[ -x $directory/nvcc ]] && PATH=$PATH:$directory
done

gpu_line() {
  local toolkit gpu
  command -v nvcc >/dev/null || { echo "gpu: nvcc is not there; install the CUDA toolkit or put it on the PATH" >&2; return 1; }
  toolkit=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  gpu=$(nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>/dev/null | head -1) || true
  echo "CUDA $toolkit; GPU, memory, driver: ${gpu:-none}"
}

build_all() {
  local generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  [[ -e $build/CMakeCache.txt ]] && generator=()
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSHEAF_CUDA=on -DSHEAF_WERROR="${SHEAF_WERROR:-ON}"
  cmake --build "$build" --parallel "$jobs"
}

run_tests() {
  SHEAF_TEST_DEVICES=cpu,cuda ctest --test-dir "$build" --output-on-failure --parallel "$jobs"
}

# Every test program under memcheck, and the verbs under racecheck and initcheck too, which take far longer. Left out are
# tests that start the program itself, and those of large or foreign datasets, whose kernels smaller tests launch as well.
run_sanitizer() {
  local program programs=("$build"/test_*) tool
  local apart='*Cli*:*Program*:*Golden*:*Real*:*Peer*:Yeast*:Kept*:Calibration*:WorkflowsGolden*'
  local verbs='*Verbs*:Products*:Steps*:Scoring*:RadixSort*:Nets*:SoftmaxNets*:Svm.*:SvmChunks*:Neighbors.*:EveryMetric*:LocalSvm*:Snippets*:DeviceArrays*'
  [[ -x ${programs[0]} ]] || { echo "gpu: $build has no test programs; build first" >&2; return 1; }
  for program in "${programs[@]}"; do
    [[ -x $program && -f $program ]] || continue
    echo "compute-sanitizer memcheck $program"
    SHEAF_TEST_DEVICES=cuda compute-sanitizer --tool memcheck --error-exitcode 1 --leak-check full "$program" --gtest_brief=1 \
      "--gtest_filter=-$apart"
    for tool in racecheck initcheck; do
      echo "compute-sanitizer $tool $program"
      SHEAF_TEST_DEVICES=cuda compute-sanitizer --tool "$tool" --error-exitcode 1 "$program" --gtest_brief=1 \
        "--gtest_filter=$verbs:*/${verbs//:/:*\/}-$apart"
    done
  done
}

run_bench() {
  local program
  for program in bench_products bench_newton bench_scores bench_selection bench_elastic_net; do
    [[ -x $build/$program ]] || { echo "gpu: $build/$program is missing; build first" >&2; return 1; }
  done
  "$build/bench_products" --device cuda
  "$build/bench_newton" search --device cuda --precision float
  "$build/bench_newton" search --device cuda --precision float --kind classification --rows 10000000 --features 28
  "$build/bench_scores" --device cuda --rows 10000000
  "$build/bench_selection" --device cuda
  "$build/bench_elastic_net" grid --device cuda --precision float --alphas 96
  "$build/bench_elastic_net" grid --device cuda --precision float --alphas 768
  "$build/bench_elastic_net" study --device cuda --precision float --alphas 96
}

gpu_line
for step in "${steps[@]}"; do
  start=$SECONDS
  case $step in
    build) build_all ;;
    test) run_tests ;;
    sanitize) run_sanitizer ;;
    bench) run_bench ;;
    *) echo "gpu: unknown step '$step'; known are build, test, sanitize and bench" >&2; exit 2 ;;
  esac
  echo "gpu: $step done in $((SECONDS - start)) s"
done
