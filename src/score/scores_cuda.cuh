// Kernels of the scoring verbs. Rows are counted in whole numbers, which atomics add in any order to the same sum;
// losses and errors are double sums of fixed order.
#pragma once

#include <cstdint>

#include <cub/block/block_reduce.cuh>

#include "score/tallies.hpp"
#include "score/terms.hpp"

namespace sheaf::score::gpu {

inline constexpr int score_threads = 256;
using Count = unsigned long long;  // what atomics know

/// Decision values, and which rows of them judge which model.
template <class T>
struct Judged {
  const T* z;
  int stride, columns;
  const std::int64_t* begins;
  const std::int32_t* rows;
  const std::int32_t* tests;
};

/// The sum of what all threads bring, to thread 0.
template <class V>
__device__ V sum_block(V mine) {
  using Reduce = cub::BlockReduce<V, score_threads>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Sum(mine);
}

/// partial[blockIdx.y][model] = the sum over some test rows of model blockIdx.x of term(row, its decision values).
template <class T, class Term>
__device__ void sum_tests(const Judged<T>& in, double* partial, Term term) {
  const std::int64_t model = blockIdx.x;
  const std::int32_t test = in.tests[model];
  const std::int64_t end = in.begins[test + 1];
  double sum = 0;
  for (std::int64_t i = in.begins[test] + static_cast<std::int64_t>(blockIdx.y) * score_threads + threadIdx.x; i < end;
       i += static_cast<std::int64_t>(gridDim.y) * score_threads) {
    const std::int64_t row = in.rows[i];
    sum += term(row, in.z + row * in.stride + model * in.columns);
  }
  const double all = sum_block(sum);
  if (threadIdx.x == 0) partial[static_cast<std::int64_t>(blockIdx.y) * gridDim.x + model] = all;
}

template <class T>
__global__ void __launch_bounds__(score_threads) square_rows(Judged<T> in, const double* amounts, double* partial) {
  sum_tests(in, partial, [=](std::int64_t row, const T* z) {
    const double error = static_cast<double>(z[0]) - amounts[row];
    return error * error;
  });
}

struct Classified {
  std::int32_t best;
  double loss;
};
/// The chosen class and, where asked for, the loss.
template <class T>
__device__ Classified classify(const T* z, std::int32_t classes, std::int32_t label, bool losses) {
  if (classes == 2) {
    const auto value = static_cast<double>(z[0]);
    return {value > 0 ? 0 : 1, losses ? logistic_loss(label == 0 ? value : -value) : 0.0};
  }
  const std::int32_t best = largest_column(z, classes);
  if (!losses) return {best, 0.0};
  const double least = logistic_loss(static_cast<double>(z[best]));
  double sum = 0;
  for (std::int32_t c = 0; c < classes; ++c) sum += relative_share(static_cast<double>(z[c]), least);
  return {best, share_loss(static_cast<double>(z[label]), least, sum)};
}

/// counts: models x bins, zero before. `shared`: the bins fit a block's shared memory.
template <class T>
__global__ void __launch_bounds__(score_threads)
    count_rows(Judged<T> in, const std::int32_t* labels, std::int32_t classes, int bins, bool shared, bool losses,
               Count* counts, double* partial) {
  extern __shared__ unsigned mine[];
  for (int b = threadIdx.x; shared && b < bins; b += score_threads) mine[b] = 0;
  __syncthreads();
  Count* const all = counts + static_cast<std::int64_t>(blockIdx.x) * bins;
  sum_tests(in, partial, [=](std::int64_t row, const T* z) {
    const std::int32_t label = labels[row];
    const auto found = classify(z, classes, label, losses);
    const Bins places = bins_of(classes, label, found.best);
    for (const std::int32_t bin : places.at) {
      if (bin < 0) continue;
      if (shared)
        atomicAdd(&mine[bin], 1U);
      else
        atomicAdd(&all[bin], Count{1});
    }
    return found.loss;
  });
  __syncthreads();
  for (int b = threadIdx.x; shared && b < bins; b += score_threads)
    if (mine[b] > 0) atomicAdd(&all[b], Count{mine[b]});
}

/// What a column is ranked by: the key of each test row, and whether it is positive.
template <class T>
__global__ void gather_keys(const T* z, int stride, const std::int32_t* rows, int size, const std::int32_t* labels,
                            std::int32_t positive, bool reversed, FallingKey<T>* keys, std::uint8_t* flags) {
  const int i = blockIdx.x * score_threads + threadIdx.x;
  if (i >= size) return;
  const std::int64_t row = rows[i];
  const T value = z[row * stride];
  keys[i] = falling_key(reversed ? -value : value);
  flags[i] = labels[row] == positive ? 1 : 0;
}

/// Sorted keys with their flags, and how many positive rows stand before each.
template <class Key>
struct Sorted {
  const Key* keys;
  const std::uint8_t* flags;
  const std::int32_t* before;
  int size;

  __device__ Corner corner_before(int i) const { return {i - before[i], before[i]}; }
  __device__ Corner corner_behind(int i) const {
    const std::int32_t positives = before[i] + flags[i];
    return {i + 1 - positives, positives};
  }
  /// The first and the last row with the value of row i.
  __device__ int first_like(int i) const {
    if (i == 0 || keys[i - 1] != keys[i]) return i;
    return smallest(0, i, [&](int k) { return keys[k] >= keys[i]; });
  }
  __device__ int last_like(int i) const {
    if (i + 1 == size || keys[i + 1] != keys[i]) return i;
    return smallest(i + 1, size, [&](int k) { return keys[k] > keys[i]; }) - 1;
  }
  /// The first of low .. high - 1 for which `holds`, from which on it does; else `high`.
  template <class Holds>
  __device__ static int smallest(int low, int high, Holds holds) {
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (holds(middle))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

/// Ranking::doubled: each distinct value is counted by its last row.
template <class Key>
__global__ void __launch_bounds__(score_threads) add_pairs(Sorted<Key> sorted, Count* doubled) {
  Count sum = 0;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * score_threads + threadIdx.x; at < sorted.size;
       at += static_cast<std::int64_t>(gridDim.x) * score_threads) {
    const int i = static_cast<int>(at);
    if (i + 1 < sorted.size && sorted.keys[i + 1] == sorted.keys[i]) continue;
    const Corner from = sorted.corner_before(sorted.first_like(i));
    const Corner to = sorted.corner_behind(i);
    sum += static_cast<Count>((to.others - from.others) * (to.positives + from.positives));
  }
  const Count all = sum_block(sum);
  if (threadIdx.x == 0 && all > 0) atomicAdd(doubled, all);
}

/// How many rows there are of each kind, and the piece of the ROC curve under each point: that of the first row with
/// which more others are taken than the point's. One block.
template <class Key>
__global__ void __launch_bounds__(score_threads)
    find_pieces(Sorted<Key> sorted, int points, Corner* all, RocPiece* pieces) {
  const Corner total = sorted.corner_behind(sorted.size - 1);
  if (threadIdx.x == 0) *all = total;
  for (int p = threadIdx.x; p < points; p += score_threads) {
    const double at = roc_place(total.others, p, points);
    const int i = Sorted<Key>::smallest(
        0, sorted.size - 1, [&](int k) { return static_cast<double>(sorted.corner_behind(k).others) > at; });
    pieces[p] = {sorted.corner_before(sorted.first_like(i)), sorted.corner_behind(sorted.last_like(i))};
  }
}

}  // namespace sheaf::score::gpu
