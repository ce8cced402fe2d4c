// Teams of threads that work on a model together: a warp, or all threads of a block.
#pragma once

#include <cstdint>

namespace sheaf::cuda {

inline constexpr unsigned everybody = 0xffffffffU;

template <class V>
__device__ V warp_sum(V value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(everybody, value, step);
  return value;
}

__device__ inline double warp_largest(double value) {
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(everybody, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/// Sums that start anew at some threads.
struct SumSinceAnew {
  double sum = 0;
  bool anew = false;  // a thread among them starts anew, and the sum begins there

  __device__ SumSinceAnew after(const SumSinceAnew& before) const {
    return {anew ? sum : before.sum + sum, anew || before.anew};
  }
};
__device__ inline SumSinceAnew lane_before(const SumSinceAnew& sums, unsigned step) {
  return {__shfl_up_sync(everybody, sums.sum, step), __shfl_up_sync(everybody, sums.anew ? 1 : 0, step) != 0};
}

/// The sum over the lanes up to this one (Hillis and Steele).
__device__ inline SumSinceAnew warp_sum_to(double value, bool anew) {
  const unsigned lane = threadIdx.x & 31U;
  SumSinceAnew sums{value, anew};
  for (unsigned step = 1; step < 32; step *= 2) {
    const SumSinceAnew before = lane_before(sums, step);
    if (lane >= step) sums = sums.after(before);
  }
  return sums;
}

struct Warp {
  static constexpr bool fetches_ahead = true;
  static constexpr std::int32_t epochs_between_looks = 16;

  const volatile int* stop = nullptr;  // not 0 once the work is to end

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x & 31U); }
  static __device__ constexpr std::int32_t size() { return 32; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool stopped() const { return sum(rank() == 0 ? *stop : 0) != 0; }
  template <class V>
  __device__ V sum(V value) const {
    return warp_sum(value);
  }
  __device__ double largest(double value) const { return warp_largest(value); }
  /// The sum over the threads before this one, from the last of them that starts anew.
  __device__ double sum_before(double value, bool anew) const {
    const SumSinceAnew before = lane_before(warp_sum_to(value, anew), 1);
    return rank() > 0 ? before.sum : 0;
  }
  __device__ std::int32_t part_rank() const { return 0; }
  __device__ std::int32_t parts() const { return 1; }
  __device__ Warp part() const { return {}; }
  /// Whether this thread's part may write what belongs to a row.
  __device__ bool owns(std::int32_t) const { return true; }
  /// The places of the numbers that are not 0, in order; returns their number.
  template <class T>
  __device__ std::int32_t list_nonzero(const T* w, std::int32_t count, std::int32_t* places) const {
    const unsigned lane = threadIdx.x & 31U;
    std::int32_t found = 0;
    for (std::int32_t base = 0; base < count; base += 32) {
      const std::int32_t k = base + static_cast<std::int32_t>(lane);
      const bool there = k < count && w[k] != 0;
      const unsigned all = __ballot_sync(everybody, there);
      if (there) places[found + __popc(all & ((1U << lane) - 1))] = k;
      found += __popc(all);
    }
    return found;
  }
};

/// All threads of a block of `Threads`.
template <int Threads>
struct Crew {
  static constexpr bool fetches_ahead = true;
  static constexpr std::int32_t epochs_between_looks = 16;

  double* sums;              // one a warp, in shared memory
  const volatile int* stop;  // not 0 once the work is to end

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  static __device__ constexpr std::int32_t size() { return Threads; }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool stopped() const { return sum(rank() == 0 ? *stop : 0) != 0; }
  /// The same bits in every thread: the warps' sums are added in order.
  template <class V>
  __device__ V sum(V value) const {
    of_warps(static_cast<double>(warp_sum(value)));
    double all = 0;
    for (int warp = 0; warp < Threads / 32; ++warp) all += sums[warp];
    return static_cast<V>(all);
  }
  __device__ double largest(double value) const {
    of_warps(warp_largest(value));
    double most = sums[0];
    for (int warp = 1; warp < Threads / 32; ++warp) most = sums[warp] > most ? sums[warp] : most;
    return most;
  }
  __device__ double sum_before(double value, bool anew) const {
    const SumSinceAnew own = warp_sum_to(value, anew);
    const SumSinceAnew lanes = lane_before(own, 1);
    const unsigned mine = threadIdx.x / 32;
    of_warps(__any_sync(everybody, anew) != 0 ? 1 : 0);
    unsigned first = 0;
    for (unsigned warp = 1; warp < mine; ++warp)
      if (sums[warp] != 0) first = warp;
    of_warps(__shfl_sync(everybody, own.sum, 31));
    double before = 0;
    for (unsigned warp = first; warp < mine; ++warp) before += sums[warp];
    if ((threadIdx.x & 31U) == 0) return before;
    return lanes.anew ? lanes.sum : before + lanes.sum;
  }
  __device__ std::int32_t part_rank() const { return static_cast<std::int32_t>(threadIdx.x / 32); }
  __device__ std::int32_t parts() const { return Threads / 32; }
  __device__ Warp part() const { return {}; }
  __device__ bool owns(std::int32_t row) const { return row % parts() == part_rank(); }
  /// Every warp finds the same.
  template <class T>
  __device__ std::int32_t list_nonzero(const T* w, std::int32_t count, std::int32_t* places) const {
    return Warp{}.list_nonzero(w, count, places);
  }

 private:
  /// One number of each warp becomes known to all.
  __device__ void of_warps(double value) const {
    __syncthreads();
    if ((threadIdx.x & 31U) == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
  }
};

}  // namespace sheaf::cuda
