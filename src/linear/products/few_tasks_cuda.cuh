// Dense block products of at most 16 tasks on the GPU, which are bound by the bytes of X: cuBLAS's tiles are made for
// wider blocks. Blocks have a stride of `Tasks` here: 1, 2, 4, 8 or 16.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/check.cuh"

namespace sheaf::linear::gpu {

inline constexpr int few_tasks = 16;
inline constexpr int few_threads = 128;
inline constexpr int warp_lanes = 32;

/// Neighbouring numbers of one row of a block, loaded and stored at once.
template <class T, int Tasks>
struct alignas(Tasks * sizeof(T)) RowOfTasks {
  T value[Tasks];
};

/// Sums over the lanes of a warp, of which each lane has `Count` values. Afterwards values[0] and those behind it are
/// the sums that begin at folded_first<Count>(lane).
template <int Count, class T>
__device__ void fold_lanes(T (&values)[Count], int lane) {
  int count = Count;
#pragma unroll
  for (int offset = warp_lanes / 2; offset > 0; offset /= 2) {
    if (count == 1) {
      values[0] += __shfl_xor_sync(0xffffffffU, values[0], offset);
      continue;
    }
    count /= 2;
    const bool upper = (lane & offset) != 0;
#pragma unroll
    for (int k = 0; k < Count / 2; ++k) {
      if (k >= count) break;
      const T sent = upper ? values[k] : values[k + count];
      const T kept = upper ? values[k + count] : values[k];
      values[k] = kept + __shfl_xor_sync(0xffffffffU, sent, offset);
    }
  }
}
/// Sums that each lane has after fold_lanes().
template <int Count>
inline constexpr int folded = Count > warp_lanes ? Count / warp_lanes : 1;
/// Lanes that have the same sums.
template <int Count>
inline constexpr int folded_lanes = Count < warp_lanes ? warp_lanes / Count : 1;

/// z = X w. A warp takes some rows, its lanes every 32nd column, and the weights come from the cache. Values of X are
/// fetched for `Ahead` columns at once: memory is far, and only overlapping loads are fast.
template <int Rows, int Tasks, int Ahead, class T>
__global__ void __launch_bounds__(few_threads)
    few_tasks_product(const T* __restrict__ x, std::int64_t rows, int columns, const T* __restrict__ w, T* z) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * few_threads + threadIdx.x) / warp_lanes;
  const std::int64_t first = warp * Rows;
  if (first >= rows) return;
  const T* row[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) row[r] = x + min(first + r, rows - 1) * columns;
  constexpr int count = Rows * Tasks;
  T sums[count] = {};
  for (int begin = lane; begin < columns; begin += Ahead * warp_lanes) {
    T values[Ahead][Rows];
#pragma unroll
    for (int a = 0; a < Ahead; ++a) {
      const int j = begin + a * warp_lanes;
#pragma unroll
      for (int r = 0; r < Rows; ++r) values[a][r] = j < columns ? row[r][j] : T(0);
    }
#pragma unroll
    for (int a = 0; a < Ahead; ++a) {
      const auto j = static_cast<std::int64_t>(min(begin + a * warp_lanes, columns - 1));
      const auto weights = *reinterpret_cast<const RowOfTasks<T, Tasks>*>(w + j * Tasks);
#pragma unroll
      for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int t = 0; t < Tasks; ++t) sums[r * Tasks + t] += values[a][r] * weights.value[t];
    }
  }
  fold_lanes(sums, lane);
  if (lane % folded_lanes<count> != 0) return;
  const int at = lane / folded_lanes<count> * folded<count>;
#pragma unroll
  for (int k = 0; k < folded<count>; ++k)
    if (first + (at + k) / Tasks < rows) z[first * Tasks + at + k] = sums[k];
}

/// partial[chunk][j][t] = the sum over the rows of a chunk of x_j z_t, or x_j^2 z_t. A thread has a column, a row of
/// blocks a chunk. Values of X are fetched for some rows at once.
template <bool Squares, int Tasks, class T>
__global__ void __launch_bounds__(few_threads)
    few_tasks_transposed(const T* __restrict__ x, std::int64_t rows, int columns, const T* __restrict__ z,
                         std::int64_t chunk, T* partial) {
  constexpr int ahead = 8;
  const int j = static_cast<int>(blockIdx.x * few_threads + threadIdx.x);
  if (j >= columns) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * chunk;
  const int count = static_cast<int>(min(chunk, rows - first));
  const T* from = x + first * columns + j;
  const auto* factors = reinterpret_cast<const RowOfTasks<T, Tasks>*>(z + first * Tasks);
  T sum[Tasks] = {};
  const auto add = [&](T value, const RowOfTasks<T, Tasks>& row) {
#pragma unroll
    for (int t = 0; t < Tasks; ++t) sum[t] += (Squares ? value * value : value) * row.value[t];
  };
  int i = 0;
  for (; i + ahead <= count; i += ahead) {
    T values[ahead];
#pragma unroll
    for (int a = 0; a < ahead; ++a, from += columns) values[a] = *from;
#pragma unroll
    for (int a = 0; a < ahead; ++a) add(values[a], factors[i + a]);
  }
  for (; i < count; ++i, from += columns) add(*from, factors[i]);
  T* to = partial + (static_cast<std::int64_t>(blockIdx.y) * columns + j) * Tasks;
#pragma unroll
  for (int t = 0; t < Tasks; ++t) to[t] = sum[t];
}

/// Calls f with `stride` at compile time.
template <class F>
void with_few_tasks(int stride, F&& f) {
  if (stride == 1)
    f(std::integral_constant<int, 1>{});
  else if (stride == 2)
    f(std::integral_constant<int, 2>{});
  else if (stride == 4)
    f(std::integral_constant<int, 4>{});
  else if (stride == 8)
    f(std::integral_constant<int, 8>{});
  else
    f(std::integral_constant<int, few_tasks>{});
}

template <class T>
void launch_few_tasks_product(const T* x, std::int64_t rows, int columns, const T* w, T* z, int stride,
                              cudaStream_t stream) {
  with_few_tasks(stride, [&](auto tasks) {
    constexpr int together = tasks() * sizeof(T) > 64 ? 2 : 4;  // rows whose sums fit the registers
    constexpr int of_block = together * few_threads / warp_lanes;
    const auto blocks = static_cast<unsigned>((rows + of_block - 1) / of_block);
    constexpr int ahead = 4;
    few_tasks_product<together, tasks(), ahead, T><<<blocks, few_threads, 0, stream>>>(x, rows, columns, w, z);
  });
  cuda::check_launch("few_tasks_product");
}

}  // namespace sheaf::linear::gpu
