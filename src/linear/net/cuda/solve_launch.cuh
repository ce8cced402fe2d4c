// launch_solver(), for the files that compile it.
#pragma once

#include "linear/net/cuda/columns_cuda.cuh"
#include "linear/net/cuda/solve_cuda.cuh"

namespace sheaf::linear::gpu {

template <class Functor, class T, class Columns>
void launch_solver(const Columns& x, const JobMemory<T>& memory, unsigned jobs, std::size_t bytes, bool alone,
                   cudaStream_t stream) {
  constexpr int crew_threads = 256;
  const auto with = [&](auto kernel, int threads) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "asking for shared memory");
    kernel<<<jobs, threads, bytes, stream>>>(x, memory);
    cuda::check_launch("solve_models");
  };
  if (alone)
    with(solve_models<Functor, Warp, 32, T, Columns>, 32);
  else
    with(solve_models<Functor, Crew<crew_threads>, crew_threads, T, Columns>, crew_threads);
}

}  // namespace sheaf::linear::gpu

/// Instantiates the solver of one loss for all kinds of columns in both precisions.
#define SHEAF_COMPILE_SOLVER(FUNCTOR)                                                                                 \
  namespace sheaf::linear::gpu {                                                                                      \
  template void launch_solver<FUNCTOR>(const DenseColumns<float>&, const JobMemory<float>&, unsigned, std::size_t,    \
                                       bool, cudaStream_t);                                                           \
  template void launch_solver<FUNCTOR>(const DenseColumns<double>&, const JobMemory<double>&, unsigned, std::size_t,  \
                                       bool, cudaStream_t);                                                           \
  template void launch_solver<FUNCTOR>(const SparseColumns<float>&, const JobMemory<float>&, unsigned, std::size_t,   \
                                       bool, cudaStream_t);                                                           \
  template void launch_solver<FUNCTOR>(const SparseColumns<double>&, const JobMemory<double>&, unsigned, std::size_t, \
                                       bool, cudaStream_t);                                                           \
  }
