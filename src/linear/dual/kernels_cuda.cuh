// Kernels of dual coordinate descent. A block of threads passes over the rows for one block of models: thread (m, k)
// adds up every k-th entry of a row for model m, the first warp visits the row, and all add the step to the weights.
#pragma once

#include <cstdint>

#include "linear/dual/losses.hpp"
#include "linear/dual/order.hpp"
#include "linear/dual/rows_cuda.cuh"

namespace sheaf::linear::dual::gpu {

constexpr int models = 32;  // of a block: a warp reads the weights of a feature in one piece
constexpr int teams = 8;    // warps that share the entries of a row

/// One block of models; entries of models side by side.
template <class T>
struct BlockMemory {
  T* w = nullptr;
  T* b = nullptr;
  const T* costs = nullptr;
  const T* targets = nullptr;  // regression
  const T* epsilons = nullptr;
  std::uint32_t* active = nullptr;  // of each row: a bit for each model that visits it
};

/// Parameters of a pass for one model.
template <class T>
struct ModelPass {
  T upper, lower;
  std::int32_t visited;
};

template <class Functor, class T, class Rows>
__global__ void __launch_bounds__(models* teams)
    pass_kernel(Rows x, const T* squares, T bias, const std::int32_t* rows, RowOrder order, bool gaps,
                const BlockMemory<T>* blocks, const ModelPass<T>* asked, FoundSums* found) {
  __shared__ T partial[teams][models];
  __shared__ T steps[models];
  __shared__ bool moved;
  const int m = static_cast<int>(threadIdx.x);
  const int team = static_cast<int>(threadIdx.y);
  const BlockMemory<T> memory = blocks[blockIdx.x];
  const ModelPass<T> mine = asked[blockIdx.x * models + threadIdx.x];
  const std::uint32_t visited = __ballot_sync(~0U, mine.visited != 0);
  const T epsilon = memory.epsilons[m];
  FoundSums sums{};
  // Data of the next row are fetched ahead. Bits are the same for all threads: a pass visits each row once.
  std::int64_t next = order.rows > 0 ? rows[order.at(0)] : 0;
  std::uint32_t next_bits = order.rows > 0 ? memory.active[next] & visited : 0;
  for (std::uint64_t n = 0; n < order.rows; ++n) {
    const std::int64_t i = next;
    const std::uint32_t bits = next_bits;
    if (n + 1 < order.rows) {
      next = rows[order.at(n + 1)];
      next_bits = memory.active[next] & visited;
    }
    if (bits == 0) continue;
    sums.shared += 1;
    const std::int64_t begin = x.begin(i);
    const std::int64_t end = x.end(i);
    T sum = 0;
    for (std::int64_t k = begin + team; k < end; k += teams) sum += x.values[k] * memory.w[x.index(i, k) * models + m];
    partial[team][m] = sum;
    __syncthreads();
    if (team == 0) {
      for (int other = 1; other < teams; ++other) sum += partial[other][m];
      if (bias > 0) sum += bias * memory.w[x.columns * models + m];
      const bool active = (bits >> m & 1) != 0;
      const std::int64_t at = i * models + m;
      T step = 0;
      bool leave_out = false;
      if (active) {
        const DualRow<T> row{
            sum,     memory.b[at], memory.costs[at], Functor::Primal::regression ? memory.targets[at] : T(0),
            epsilon, mine.upper,   mine.lower};
        if (gaps) sums.gap += static_cast<double>(Functor::template gap<T>(row));
        const auto result = Functor::template visit<T>(row, squares[i]);
        memory.b[at] = result.b;
        step = result.step;
        leave_out = result.leave_out;
        sums.largest = fmax(sums.largest, static_cast<double>(result.violation));
        sums.smallest = fmin(sums.smallest, static_cast<double>(result.violation));
        sums.amount += static_cast<double>(result.amount);
        sums.visits += 1;
        sums.left_out += leave_out ? 1 : 0;
      }
      const std::uint32_t left = __ballot_sync(~0U, leave_out);
      const bool any = __any_sync(~0U, step != 0) != 0;
      steps[m] = step;
      if (m == 0) {
        moved = any;
        if (left != 0) memory.active[i] &= ~left;
      }
    }
    __syncthreads();
    if (moved) {
      const T step = steps[m];
      for (std::int64_t k = begin + team; k < end; k += teams)
        memory.w[x.index(i, k) * models + m] += x.values[k] * step;
      if (bias > 0 && team == 0) memory.w[x.columns * models + m] += bias * step;
    }
    __syncthreads();
  }
  if (team == 0) found[blockIdx.x * models + threadIdx.x] = sums;
}

/// The bits of the models with a flag if they train on a row.
template <class T>
__global__ void take_back_kernel(const T* costs, std::int64_t rows, std::uint32_t flags, std::uint32_t* active) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const bool trained = i < rows && costs[i * models + threadIdx.x] != 0;
  const std::uint32_t bits = __ballot_sync(~0U, trained) & flags;
  if (i < rows && threadIdx.x == 0) active[i] |= bits;
}

/// Part blockIdx.x of the rows, then of the weights. Decision values go to columns[m] of `decisions`, if there are any.
template <class Functor, class T, class Rows>
__global__ void __launch_bounds__(models* teams)
    measure_kernel(Rows x, std::int64_t rows, T bias, BlockMemory<T> memory, const std::int32_t* columns, T* decisions,
                   std::int32_t stride, PartialMeasure* out) {
  using Primal = typename Functor::Primal;
  __shared__ PartialMeasure sums[teams][models];
  const int m = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * teams + threadIdx.y;
  const std::int64_t stride_of_rows = static_cast<std::int64_t>(gridDim.x) * teams;
  const std::int32_t column = columns[m];
  const auto epsilon = static_cast<double>(memory.epsilons[m]);
  PartialMeasure sum{0, 0, 0};
  for (std::int64_t i = first; i < rows; i += stride_of_rows) {
    T z = 0;
    for (std::int64_t k = x.begin(i); k < x.end(i); ++k) z += x.values[k] * memory.w[x.index(i, k) * models + m];
    if (bias > 0) z += bias * memory.w[x.columns * models + m];
    if (decisions != nullptr && column >= 0) decisions[i * stride + column] = z;
    const std::int64_t at = i * models + m;
    const auto cost = static_cast<double>(memory.costs[at]);
    if (cost == 0) continue;
    const double y = Primal::regression ? static_cast<double>(memory.targets[at]) : cost < 0 ? -1.0 : 1.0;
    const DualRow<double> row{static_cast<double>(z), static_cast<double>(memory.b[at]), cost, y, epsilon, 0, 0};
    sum.losses += fabs(cost) * Primal::terms(row.z, y, epsilon).value;
    sum.gap += Functor::template gap<double>(row);
  }
  const std::int64_t weights = x.columns + (bias > 0 ? 1 : 0);
  for (std::int64_t j = first; j < weights; j += stride_of_rows) {
    const auto w = static_cast<double>(memory.w[j * models + m]);
    sum.squares += w * w;
  }
  sums[threadIdx.y][m] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
  for (int k = 1; k < teams; ++k) {
    sum.squares += sums[k][m].squares;
    sum.losses += sums[k][m].losses;
    sum.gap += sums[k][m].gap;
  }
  out[static_cast<std::int64_t>(blockIdx.x) * models + m] = sum;
}

}  // namespace sheaf::linear::dual::gpu
