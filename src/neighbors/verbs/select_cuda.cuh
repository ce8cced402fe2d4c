// The k-th smallest of a row of numbers of 0 or more, by their bits: one block a row, eight bits a pass.
#pragma once

#include <cstdint>

namespace sheaf::neighbors::gpu {

inline constexpr int select_threads = 256;

/// Numbers of 0 or more are ordered as their bits are.
__device__ inline std::uint64_t bits_of(double value) {
  return static_cast<std::uint64_t>(__double_as_longlong(value));
}
__device__ inline std::uint64_t bits_of(float value) { return static_cast<std::uint64_t>(__float_as_uint(value)); }

struct Selected {
  std::uint64_t bits;   ///< of the k-th smallest
  std::int64_t before;  ///< how many are smaller
};

/// All threads of the block call it and have the result. value(i) is called for i in 0 .. count-1, several times, by
/// any thread; k <= count. Bits below `Low` are left out: they are 0 in the result, which may be that much too small.
template <int Bits, int Low = 0, class Value>
__device__ Selected select_kth(std::int64_t count, std::int64_t k, const Value& value) {
  __shared__ unsigned bins[256];
  __shared__ std::uint64_t chosen;
  __shared__ std::int64_t before;
  if (threadIdx.x == 0) {
    chosen = 0;
    before = 0;
  }
  for (int shift = Bits - 8; shift >= Low; shift -= 8) {
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const std::uint64_t prefix = chosen;
    const std::uint64_t mask = shift + 8 < 64 ? ~std::uint64_t{0} << (shift + 8) : 0;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const std::uint64_t bits = bits_of(value(i));
      if (((bits ^ prefix) & mask) == 0) atomicAdd(&bins[(bits >> shift) & 255], 1U);
    }
    __syncthreads();
    if (threadIdx.x < 32) {  // eight bins a thread
      unsigned own = 0;
      for (unsigned b = 0; b < 8; ++b) own += bins[threadIdx.x * 8 + b];
      unsigned upto = own;
      for (unsigned step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0U, upto, step);
        if (threadIdx.x >= step) upto += other;
      }
      std::int64_t seen = before;
      const unsigned reached = __ballot_sync(~0U, seen + upto >= k);
      if (static_cast<int>(threadIdx.x) + 1 == __ffs(static_cast<int>(reached))) {
        seen += upto - own;
        unsigned b = threadIdx.x * 8;
        while (seen + bins[b] < k) seen += bins[b++];
        before = seen;
        chosen = prefix | (std::uint64_t{b} << shift);
      }
    }
    __syncthreads();
  }
  const Selected result{chosen, before};
  __syncthreads();
  return result;
}

}  // namespace sheaf::neighbors::gpu
