// Adding up partial results in a fixed order and in double: the same bits every time.
#pragma once

#include <cstdint>

#include "cuda/check.cuh"

namespace sheaf::cuda {

inline constexpr int add_elements = 32;
inline constexpr int add_lanes = 16;

/// add_lanes threads share the parts of one element, and their sums are added in order.
template <class From, class To>
__global__ void __launch_bounds__(add_elements* add_lanes)
    add_parts_kernel(const From* partial, int parts, std::int64_t size, To* out) {
  __shared__ double sums[add_lanes][add_elements];
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * add_elements + threadIdx.x;
  double sum = 0;
  if (e < size)
    for (int p = threadIdx.y; p < parts; p += add_lanes) sum += static_cast<double>(partial[p * size + e]);
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || e >= size) return;
  for (int lane = 1; lane < add_lanes; ++lane) sum += sums[lane][threadIdx.x];
  out[e] = static_cast<To>(sum);
}

/// out[e] = the sum over p of partial[p * size + e].
template <class From, class To>
void add_parts(const From* partial, int parts, std::int64_t size, To* out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((size + add_elements - 1) / add_elements);
  add_parts_kernel<<<blocks, dim3(add_elements, add_lanes), 0, stream>>>(partial, parts, size, out);
  check_launch("add_parts");
}

}  // namespace sheaf::cuda
