// Starting solve_models(). The build makes a source for each loss (cmake/net_solvers.cmake), for this is most of what
// nvcc has to compile.
#pragma once

#include <cstddef>

#include "cuda/check.cuh"
#include "linear/net/cuda/kernels_cuda.cuh"

namespace sheaf::linear::gpu {

/// One block of threads for each job; `bytes` of shared memory each. `alone`: a warp is enough for one.
template <class Functor, class T, class Columns>
void launch_solver(const Columns& x, const JobMemory<T>& memory, unsigned jobs, std::size_t bytes, bool alone,
                   cudaStream_t stream);

}  // namespace sheaf::linear::gpu
