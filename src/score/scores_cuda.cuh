// Kernels of the scoring verbs. Rows are counted in whole numbers, which atomics add in any order to the same sum;
// losses, errors and precisions are double sums of fixed order.
#pragma once

#include <cstdint>

#include <cub/block/block_reduce.cuh>

#include "cuda/team.cuh"
#include "score/statistics.hpp"
#include "score/terms.hpp"

namespace sheaf::score::gpu {

inline constexpr int score_threads = 256;
using Count = unsigned long long;  // the type of atomics

/// Decision values, and which rows of them test which model.
template <class T>
struct Tested {
  const T* z;
  int stride, columns;
  const std::int64_t* begins;
  const std::int32_t* rows;
  const std::int32_t* tests;
};

struct Add {
  template <class V>
  __device__ V operator()(V a, const V& b) const {
    return a += b;
  }
};

/// The sum of all threads' values, to thread 0.
template <class V>
__device__ V sum_block(V mine) {
  using Reduce = cub::BlockReduce<V, score_threads>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Reduce(mine, Add{});
}

/// partial[blockIdx.y][model] = the sum over some test rows of model blockIdx.x of term(row, its decision values).
template <class Sums, class T, class Term>
__device__ void sum_tests(const Tested<T>& in, Sums* partial, Term term) {
  const std::int64_t model = blockIdx.x;
  const std::int32_t test = in.tests[model];
  const std::int64_t end = in.begins[test + 1];
  Sums sums{};
  for (std::int64_t i = in.begins[test] + static_cast<std::int64_t>(blockIdx.y) * score_threads + threadIdx.x; i < end;
       i += static_cast<std::int64_t>(gridDim.y) * score_threads) {
    const std::int64_t row = in.rows[i];
    sums += term(row, in.z + row * in.stride + model * in.columns);
  }
  const Sums all = sum_block(sums);
  if (threadIdx.x == 0) partial[static_cast<std::int64_t>(blockIdx.y) * gridDim.x + model] = all;
}

/// Data for scores of survival models; two columns of weights and shares a test.
struct Survival {
  RiskSets<float> risk;
  const float* weights;
  const double* times;
  const std::uint8_t* events;
  const double* entries;       // nullptr: none
  const std::int32_t* strata;  // likewise
  bool trained;

  /// Whether row j was at risk at the time of row i, whose event came.
  __device__ bool compares(std::int64_t i, std::int64_t j) const {
    if (strata != nullptr && strata[i] != strata[j]) return false;
    if (entries != nullptr && !(entries[j] < times[i])) return false;
    return comes_first(times[i], true, times[j], events[j] != 0);
  }
};
inline constexpr std::int32_t risk_vectors = PartialLikelihood<OneThread, float>::vectors;

/// One block a model, from model `first` on. Pairs are counted one by one.
template <class T>
__global__ void __launch_bounds__(score_threads)
    survival_sums(Tested<T> in, Survival truth, std::int64_t first, double* memory, SurvivalSums* out) {
  __shared__ double shared[32];
  const cuda::Crew<score_threads> team{shared, nullptr};
  const std::int64_t model = first + blockIdx.x;
  const std::int32_t test = in.tests[model];
  const auto value = [&](std::int64_t i) { return static_cast<double>(in.z[i * in.stride + model * in.columns]); };
  const auto deviance = [&](std::int32_t column) {
    RiskSets<float> sets = truth.risk;
    sets.shares += column;
    return survival_deviance(team, sets, memory + static_cast<std::int64_t>(blockIdx.x) * sets.rows * risk_vectors,
                             value, [&](std::int64_t i) { return truth.weights[i * truth.risk.stride + column]; });
  };
  SurvivalSums sums;
  const std::int64_t begin = in.begins[test];
  const std::int64_t end = in.begins[test + 1];
  for (std::int64_t a = begin + threadIdx.x; a < end; a += score_threads) {
    const std::int64_t i = in.rows[a];
    if (truth.events[i] == 0) continue;
    sums.events += 1;
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t j = in.rows[b];
      if (!truth.compares(i, j)) continue;
      sums.pairs += 1;
      sums.ordered += value(i) > value(j) ? 1 : value(i) == value(j) ? 0.5 : 0;
    }
  }
  sums.events = team.sum(sums.events);
  sums.pairs = team.sum(sums.pairs);
  sums.ordered = team.sum(sums.ordered);
  sums.deviance = deviance(2 * test);
  if (truth.trained) sums.deviance -= deviance(2 * test + 1);
  if (threadIdx.x == 0) out[model] = sums;
}

/// sums[model blockIdx.x] = the sum over the parts that sum_tests() left.
template <class Sums>
__global__ void __launch_bounds__(score_threads) add_sums(const Sums* partial, int parts, Sums* sums) {
  Sums mine{};
  for (int p = threadIdx.x; p < parts; p += score_threads)
    mine += partial[static_cast<std::int64_t>(p) * gridDim.x + blockIdx.x];
  const Sums all = sum_block(mine);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/// Each column of z by itself; `values` are rows x targets.
template <class T>
__global__ void __launch_bounds__(score_threads)
    error_rows(Tested<T> in, const double* values, int targets, ErrorSums* partial) {
  const int target = static_cast<int>(blockIdx.x) % targets;
  sum_tests(in, partial, [=](std::int64_t row, const T* z) {
    return error_terms(static_cast<double>(z[0]), values[row * targets + target]);
  });
}

/// Counts requested besides the predicted classes.
struct Asked {
  const std::int32_t* predicted;  // rows x models; none: the largest column
  int predicted_stride;
  bool true_ranks, probabilities;
};

/// Terms of a row of three classes or more; `best` is the largest column.
template <class T>
__device__ ProbabilitySums row_probabilities(const T* z, std::int32_t classes, std::int32_t label, std::int32_t best) {
  const auto most = static_cast<double>(z[best]);
  WeightSums sums;
  double mine = 0;
  for (std::int32_t c = 0; c < classes; ++c) {
    const double weight = class_weight(static_cast<double>(z[c]), most);
    sums.weights += weight;
    sums.squares += weight * weight;
    if (c == label) mine = weight;
  }
  return probability_terms(static_cast<double>(z[label]), mine, most, sums);
}

struct Classified {
  std::int32_t best;
  ProbabilitySums sums;
};
/// The class of the largest value and, if requested, the losses of the probabilities.
template <class T>
__device__ Classified classify(const T* z, std::int32_t classes, std::int32_t label, bool probabilities) {
  if (classes == 2) {
    const auto value = static_cast<double>(z[0]);
    const std::int32_t best = value > 0 ? 0 : 1;
    return {best, probabilities ? probability_terms(label == 0 ? value : -value) : ProbabilitySums{}};
  }
  const std::int32_t best = largest_column(z, classes);
  return {best, probabilities ? row_probabilities(z, classes, label, best) : ProbabilitySums{}};
}

/// counts: models x (bins + true_rank_bins), zero before. `shared`: those of a model fit a block's shared memory.
template <class T>
__global__ void __launch_bounds__(score_threads)
    count_rows(Tested<T> in, const std::int32_t* labels, std::int32_t classes, int bins, bool shared, Asked asked,
               Count* counts, ProbabilitySums* partial) {
  extern __shared__ unsigned mine[];
  const int all_bins = bins + true_rank_bins;
  for (int b = threadIdx.x; shared && b < all_bins; b += score_threads) mine[b] = 0;
  __syncthreads();
  Count* const all = counts + static_cast<std::int64_t>(blockIdx.x) * all_bins;
  const auto count = [=](std::int32_t bin) {
    if (bin < 0) return;
    if (shared)
      atomicAdd(&mine[bin], 1U);
    else
      atomicAdd(&all[bin], Count{1});
  };
  sum_tests(in, partial, [=](std::int64_t row, const T* z) {
    const std::int32_t label = labels[row];
    const auto found = classify(z, classes, label, asked.probabilities);
    const std::int32_t predicted =
        asked.predicted != nullptr ? asked.predicted[row * asked.predicted_stride + blockIdx.x] : found.best;
    for (const std::int32_t bin : bins_of(classes, label, predicted).at) count(bin);
    if (asked.true_ranks) count(bins + rank_bin(rank_of(z, classes, label)));
    return found.sums;
  });
  __syncthreads();
  for (int b = threadIdx.x; shared && b < all_bins; b += score_threads)
    if (mine[b] > 0) atomicAdd(&all[b], Count{mine[b]});
}

/// The weights of the test rows of one model, whose first column z is.
template <class T>
__global__ void __launch_bounds__(score_threads)
    weigh_rows(const T* __restrict__ z, int stride, int columns, const std::int32_t* __restrict__ rows, int size,
               RowWeight* __restrict__ weights) {
  const int i = static_cast<int>(blockIdx.x) * score_threads + static_cast<int>(threadIdx.x);
  if (i < size) weights[i] = row_weight(z + static_cast<std::int64_t>(rows[i]) * stride, columns);
}

/// Rows that a thread of gather_keys() has: they lie scattered, and are on their way at the same time.
inline constexpr int rows_gathered = 4;

/// The input of a ranking: the key of each test row, and whether it is positive. `weights`: of each test row, if keys
/// are those of probabilities.
template <class T>
__global__ void __launch_bounds__(score_threads)
    gather_keys(const T* __restrict__ z, int stride, const std::int32_t* __restrict__ rows, int size,
                const std::int32_t* __restrict__ labels, std::int32_t positive, bool reversed,
                const RowWeight* __restrict__ weights, FallingKey<T>* keys, std::uint8_t* flags) {
  const int first = static_cast<int>(blockIdx.x) * score_threads * rows_gathered + static_cast<int>(threadIdx.x);
  T value[rows_gathered];
  std::int32_t label[rows_gathered];
#pragma unroll
  for (int k = 0; k < rows_gathered; ++k) {
    const std::int64_t row = rows[min(first + k * score_threads, size - 1)];
    value[k] = z[row * stride];
    label[k] = labels[row];
  }
#pragma unroll
  for (int k = 0; k < rows_gathered; ++k) {
    const int i = first + k * score_threads;
    if (i >= size) return;
    if (weights != nullptr) value[k] = static_cast<T>(probability_odds(static_cast<double>(value[k]), weights[i]));
    keys[i] = falling_key(reversed ? -value[k] : value[k]);
    flags[i] = label[k] == positive ? 1 : 0;
  }
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

/// Ranking::doubled, and each block's part of Ranking::precisions: each distinct value is counted by its last row.
template <class Key>
__global__ void __launch_bounds__(score_threads) add_pairs(Sorted<Key> sorted, Count* doubled, double* precisions) {
  Count pairs = 0;
  double precision = 0;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * score_threads + threadIdx.x; at < sorted.size;
       at += static_cast<std::int64_t>(gridDim.x) * score_threads) {
    const int i = static_cast<int>(at);
    if (i + 1 < sorted.size && sorted.keys[i + 1] == sorted.keys[i]) continue;
    const Corner from = sorted.corner_before(sorted.first_like(i));
    const Corner to = sorted.corner_behind(i);
    pairs += static_cast<Count>((to.others - from.others) * (to.positives + from.positives));
    precision += static_cast<double>(to.positives - from.positives) * precision_at(to);
  }
  const Count all = sum_block(pairs);
  if (threadIdx.x == 0 && all > 0) atomicAdd(doubled, all);
  const double part = sum_block(precision);
  if (threadIdx.x == 0) precisions[blockIdx.x] = part;
}

/// Workspace of a ranking on the GPU, besides its pairs: room for one column.
struct RankingOut {
  Corner* total;       // rows of each kind
  double* precisions;  // their sum
  RocPiece* roc;       // of each point
  Corner* precision;   // of each point
};

/// Adds up the `parts` of the precisions, and finds the entry under each point: of the ROC curve the piece of the first
/// row with which more others are taken than the point's, of the precision-recall curve the corner behind the row with
/// which enough positive ones are found. One block.
template <class Key>
__global__ void __launch_bounds__(score_threads)
    find_points(Sorted<Key> sorted, const double* parts, int part_count, int points, RankingOut out) {
  const Corner total = sorted.corner_behind(sorted.size - 1);
  double mine = 0;
  for (int p = threadIdx.x; p < part_count; p += score_threads) mine += parts[p];
  const double precisions = sum_block(mine);
  if (threadIdx.x == 0) {
    *out.total = total;
    *out.precisions = precisions;
  }
  const auto first = [&](auto holds) { return Sorted<Key>::smallest(0, sorted.size - 1, holds); };
  const auto roc = [&](int p) {
    const double at = roc_place(total.others, p, points);
    const int i = first([&](int k) { return static_cast<double>(sorted.corner_behind(k).others) > at; });
    out.roc[p] = {sorted.corner_before(sorted.first_like(i)), sorted.corner_behind(sorted.last_like(i))};
  };
  const auto precision = [&](int p) {
    const std::int64_t found = recall_place(total.positives, p, points);
    const int j = first([&](int k) { return sorted.corner_behind(k).positives >= found; });
    out.precision[p] = sorted.corner_behind(sorted.last_like(j));
  };
  // The points of both curves at the same time: waiting for memory takes longest.
  for (int p = threadIdx.x; p < 2 * points; p += score_threads) p < points ? roc(p) : precision(p - points);
}

}  // namespace sheaf::score::gpu
