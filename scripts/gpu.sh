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

# Every test program whose verbs run on the GPU, under memcheck.
run_sanitizer() {
  local program found=
  for program in "$build"/*ops_test "$build"/linear_products_test "$build"/linear_steps_test "$build"/elastic_net_test "$build"/softmax_net_test "$build"/svm_test "$build"/snippets_test; do
    [[ -x $program ]] || continue
    echo "compute-sanitizer $program"
    SHEAF_TEST_DEVICES=cuda compute-sanitizer --error-exitcode 1 --leak-check full "$program"
    found=1
  done
  [[ $found ]] || { echo "gpu: no verb parity test program in $build" >&2; return 1; }
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
