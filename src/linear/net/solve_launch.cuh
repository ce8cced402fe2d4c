// launch_solver(), for the files that compile it.
#pragma once

#include "linear/net/columns_cuda.cuh"
#include "linear/net/solve_cuda.cuh"

namespace sheaf::linear::gpu {

template <class T, class Columns>
void launch_solver(Loss loss, bool grouped, const Columns& x, const JobMemory<T>& memory, unsigned jobs,
                   std::size_t bytes, bool alone, cudaStream_t stream) {
  constexpr int crew_threads = 256;
  const auto with = [&](auto kernel, int threads) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "asking for shared memory");
    kernel<<<jobs, threads, bytes, stream>>>(x, memory);
    cuda::check_launch("solve_models");
  };
  with_net_fit(loss, grouped, [&](auto functor) {
    using Functor = decltype(functor);
    if (alone)
      with(solve_models<Functor, Warp, 32, T, Columns>, 32);
    else
      with(solve_models<Functor, Crew<crew_threads>, crew_threads, T, Columns>, crew_threads);
  });
}

}  // namespace sheaf::linear::gpu
