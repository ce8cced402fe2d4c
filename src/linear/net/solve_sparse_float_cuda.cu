#include "linear/net/solve_launch.cuh"

namespace sheaf::linear::gpu {

template void launch_solver(Loss, bool, const SparseColumns<float>&, const JobMemory<float>&, unsigned, std::size_t,
                            bool, cudaStream_t);

}  // namespace sheaf::linear::gpu
