// Kernels of the verbs of confidence: lists of PSMs from the best to the worst. Values accumulated from the worst on
// are written in reversed order, so that scans go forward.
#pragma once

#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "rescore/confidence/curves.hpp"
#include "rescore/confidence/ops.hpp"

namespace sheaf::rescore::gpu {

constexpr int list_threads = 256;
/// Values that one thread pools before pools of neighbours are joined.
constexpr std::int64_t pooled_at_once = 128;

__device__ inline std::int64_t this_element() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

struct Larger {
  __host__ __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a < b ? b : a; }
};
struct Smaller {
  template <class V>
  __host__ __device__ V operator()(V a, V b) const {
    return b < a ? b : a;
  }
};

/// Keys of all rows.
struct RowKeys {
  const std::int8_t* labels;
  const std::int32_t* scans;
  const double* masses;
  const std::int32_t* files;  // nullptr: one file
};

/// Spectra as keys of rows.
struct SpectrumOf {
  RowKeys rows;
  bool with_file;

  __device__ std::int32_t file(std::int32_t row) const {
    return with_file && rows.files != nullptr ? rows.files[row] : 0;
  }
  __device__ std::uint64_t hash(std::int32_t row) const {
    const double mass = rows.masses[row] + 0.0;  // no negative zero
    return spectrum_hash(rows.scans[row], static_cast<std::uint64_t>(__double_as_longlong(mass)), file(row));
  }
  __device__ bool same(std::int32_t a, std::int32_t b) const {
    return rows.scans[a] == rows.scans[b] && rows.masses[a] == rows.masses[b] && file(a) == file(b);
  }
};

struct KeyOf {
  const Fingerprint* keys;

  __device__ std::uint64_t hash(std::int32_t row) const { return keys[row].low; }
  __device__ bool same(std::int32_t a, std::int32_t b) const { return keys[a] == keys[b]; }
};

__global__ void number_elements(std::int64_t count, std::int32_t* numbers) {
  const std::int64_t i = this_element();
  if (i < count) numbers[i] = static_cast<std::int32_t>(i);
}

__global__ void flag_fold(const std::uint16_t* folds, std::uint16_t fold, std::int64_t count, std::uint8_t* flags) {
  const std::int64_t i = this_element();
  if (i < count) flags[i] = folds[i] == fold ? 1 : 0;
}
__global__ void flag_group(const std::int32_t* rows, const std::int32_t* groups, std::int32_t group, std::int64_t count,
                           std::uint8_t* flags) {
  const std::int64_t i = this_element();
  if (i < count) flags[i] = groups[rows[i]] == group ? 1 : 0;
}
__global__ void flag_label(const std::uint8_t* targets, std::uint8_t wanted, std::int64_t count, std::uint8_t* flags) {
  const std::int64_t i = this_element();
  if (i < count) flags[i] = targets[i] == wanted ? 1 : 0;
}

// Keys of RankOrder.
__global__ void key_labels(const std::int32_t* rows, const std::int8_t* labels, std::int64_t count,
                           std::uint32_t* keys) {
  const std::int64_t i = this_element();
  if (i < count) keys[i] = labels[rows[i]] > 0 ? 1 : 0;
}
__global__ void key_doubles(const std::int32_t* rows, const double* values, std::int64_t count, double* keys) {
  const std::int64_t i = this_element();
  if (i < count) keys[i] = values[rows[i]] + 0.0;
}
__global__ void key_scans(const std::int32_t* rows, const std::int32_t* scans, std::int64_t count,
                          std::uint32_t* keys) {
  const std::int64_t i = this_element();
  if (i < count) keys[i] = static_cast<std::uint32_t>(scans[rows[i]]);
}

__global__ void look_up(const std::int32_t* rows, const double* scores, const std::int8_t* labels, std::int64_t count,
                        double* list_scores, std::uint8_t* list_targets) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  list_scores[i] = scores[rows[i]];
  list_targets[i] = labels[rows[i]] > 0 ? 1 : 0;
}

template <class V>
__global__ void gather(const V* from, const std::int32_t* places, std::int64_t count, V* to) {
  const std::int64_t i = this_element();
  if (i < count) to[i] = from[places[i]];
}

/// Hashes of the keys of rows; `rows` nullptr: row i.
template <class Keys>
__global__ void hash_keys(Keys keys, const std::int32_t* rows, std::int64_t count, std::uint64_t* hashes) {
  const std::int64_t i = this_element();
  if (i < count) hashes[i] = keys.hash(rows != nullptr ? rows[i] : static_cast<std::int32_t>(i));
}

/// Elements stand in the order of their hashes, those of one hash in the order of the list: flags[k] whether no element
/// before k has its key.
template <class Keys>
__global__ void flag_first(Keys keys, const std::uint64_t* hashes, const std::int32_t* elements,
                           const std::int32_t* rows, std::int64_t count, std::uint8_t* flags) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  const std::int32_t row = rows[elements[i]];
  std::uint8_t first = 1;
  for (std::int64_t j = i - 1; first != 0 && j >= 0 && hashes[j] == hashes[i]; --j)
    if (keys.same(rows[elements[j]], row)) first = 0;
  flags[elements[i]] = first;
}

/// Whether rows of one key differ in their label: each is compared with the one before it.
template <class Keys>
__global__ void find_mixed(Keys keys, const std::uint64_t* hashes, const std::int32_t* rows, const std::int8_t* labels,
                           std::int64_t count, unsigned* mixed) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  for (std::int64_t j = i - 1; j >= 0 && hashes[j] == hashes[i]; --j)
    if (keys.same(rows[j], rows[i])) {
      if ((labels[rows[j]] > 0) != (labels[rows[i]] > 0)) *mixed = 1;
      return;
    }
}

__global__ void count_flags(const std::uint8_t* flags, std::int64_t count, unsigned long long* total) {
  const std::int64_t i = this_element();
  const int mine = __syncthreads_count(i < count && flags[i] != 0 ? 1 : 0);
  if (threadIdx.x == 0 && mine > 0) atomicAdd(total, static_cast<unsigned long long>(mine));
}

__global__ void values_at(const double* values, const std::int64_t* places, std::int64_t count, double* found) {
  const std::int64_t i = this_element();
  if (i < count) found[i] = values[places[i]];
}

__global__ void count_below(const double* ascending, std::int64_t size, const double* limits, std::int64_t count,
                            std::int64_t* below) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  std::int64_t begin = 0;
  for (std::int64_t end = size; begin < end;) {
    const std::int64_t middle = (begin + end) / 2;
    if (ascending[middle] < limits[i])
      begin = middle + 1;
    else
      end = middle;
  }
  below[i] = begin;
}

__global__ void rescale(double* scores, const std::uint16_t* folds, const Scale* scales, std::int64_t count) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  const Scale scale = scales[folds != nullptr ? folds[i] : 0];
  scores[i] = (scores[i] - scale.zero) / scale.unit;
}

/// For each element of a list: targets up to it, and the first and the last element of its score.
struct Ties {
  const std::int32_t* targets;
  const std::int32_t* begins;
  const std::int32_t* reversed_ends;
  std::int64_t count;

  __device__ std::int32_t end(std::int64_t i) const { return reversed_ends[count - 1 - i]; }
  __device__ std::int32_t targets_to(std::int64_t i) const { return i < 0 ? 0 : targets[i]; }
  __device__ std::int32_t decoys_to(std::int64_t i) const { return static_cast<std::int32_t>(i + 1) - targets_to(i); }
};

/// Writes the values that the scans of Ties begin with.
__global__ void mark_ties(const double* scores, const std::uint8_t* is_target, std::int64_t count,
                          std::int32_t* targets, std::int32_t* begins, std::int32_t* reversed_ends) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  const auto place = static_cast<std::int32_t>(i);
  targets[i] = is_target[i];
  begins[i] = i == 0 || scores[i] != scores[i - 1] ? place : 0;
  reversed_ends[count - 1 - i] = i + 1 == count || scores[i] != scores[i + 1] ? place : 0x7FFFFFFF;
}

/// Mix-max, at the end of each score: expected number of incorrect targets with this score that correct ones have
/// beaten.
__global__ void beaten_terms(Ties ties, double pi0, double* terms) {
  const std::int64_t i = this_element();
  if (i >= ties.count) return;
  terms[i] = 0;
  if (ties.end(i) != i) return;
  const std::int64_t before = ties.begins[i] - 1;
  const std::int32_t tied = ties.decoys_to(i) - ties.decoys_to(before);
  if (tied == 0) return;
  const auto w = static_cast<double>(ties.targets_to(ties.count - 1) - ties.targets_to(before));
  const auto z = static_cast<double>(ties.decoys_to(ties.count - 1) - ties.decoys_to(before));
  const double share = fmin(fmax((w - pi0 * z) / ((1.0 - pi0) * z), 0.0), 1.0);
  terms[i] = static_cast<double>(tied) * share * (1.0 - pi0);
}

/// Sums of blocks of elements, for a scan whose order of additions is always the same.
__global__ void sum_blocks(const double* values, std::int64_t count, double* totals) {
  using Reduce = cub::BlockReduce<double, list_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const std::int64_t i = this_element();
  const double sum = Reduce(storage).Sum(i < count ? values[i] : 0.0);
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}
__global__ void scan_blocks(double* values, std::int64_t count, const double* before) {
  using Scan = cub::BlockScan<double, list_threads>;
  __shared__ typename Scan::TempStorage storage;
  const std::int64_t i = this_element();
  double sum = 0;
  Scan(storage).InclusiveSum(i < count ? values[i] : 0.0, sum);
  if (i < count) values[i] = before[blockIdx.x] + sum;
}

/// Incorrect targets expected up to each element. `beaten`: sums of beaten_terms(); nullptr: none.
__global__ void expected_errors(Ties ties, double pi0, bool plus_one, const double* beaten, double* errors) {
  const std::int64_t i = this_element();
  if (i >= ties.count) return;
  const std::int32_t end = ties.end(i);
  errors[i] =
      static_cast<double>(ties.decoys_to(end) + (plus_one ? 1 : 0)) * pi0 + (beaten != nullptr ? beaten[end] : 0);
}

__global__ void reversed_rates(Ties ties, const double* errors, double decoy_factor, double* reversed) {
  const std::int64_t i = this_element();
  if (i >= ties.count) return;
  const std::int32_t targets = ties.targets_to(ties.end(i));
  reversed[ties.count - 1 - i] = fmin(errors[i] / static_cast<double>(targets > 1 ? targets : 1) * decoy_factor, 1.0);
}

__global__ void reverse(const double* from, std::int64_t count, double* to) {
  const std::int64_t i = this_element();
  if (i < count) to[i] = from[count - 1 - i];
}

__global__ void target_p_values(Ties ties, const std::uint8_t* is_target, double* p) {
  const std::int64_t i = this_element();
  if (i >= ties.count || is_target[i] == 0) return;
  const std::int64_t before = ties.begins[i] - 1;
  const std::int32_t end = ties.end(i);
  const std::int32_t tied_targets = ties.targets_to(end) - ties.targets_to(before);
  const auto tied_decoys = static_cast<std::int64_t>(ties.decoys_to(end) - ties.decoys_to(before));
  const std::int32_t k = ties.targets_to(i) - 1;
  const double decoys =
      static_cast<double>(1 + ties.decoys_to(before)) +
      static_cast<double>(tied_decoys * (k - ties.targets_to(before) + 1)) / static_cast<double>(tied_targets + 1);
  p[k] = decoys / static_cast<double>(1 + ties.decoys_to(ties.count - 1));
}

// Points that curves are fitted to.
struct RankPoints {  // one point of share 1/2 before all others
  const std::uint8_t* targets;
  __device__ double x(std::int64_t i) const { return static_cast<double>(i); }
  __device__ double y(std::int64_t i) const { return i == 0 ? 0.5 : targets[i - 1] != 0 ? 0.0 : 1.0; }
};
struct ScorePoints {
  const double* scores;
  const std::uint8_t* targets;
  __device__ double x(std::int64_t i) const { return scores[i == 0 ? 0 : i - 1]; }
  __device__ double y(std::int64_t i) const { return RankPoints{targets}.y(i); }
};
struct ErrorPoints {
  const double* errors;
  __device__ double x(std::int64_t i) const { return static_cast<double>(i); }
  __device__ double y(std::int64_t i) const { return errors[i] - (i == 0 ? 0 : errors[i - 1]); }
};
struct TargetPoints {
  const std::uint8_t* targets;
  __device__ double x(std::int64_t i) const { return static_cast<double>(i); }
  __device__ double y(std::int64_t i) const { return targets[i] != 0 ? 1.0 : 0.0; }
};

/// One thread a bin, so that sums are those of one thread of the host, bit by bit: knots are among the means, and over
/// scores, which fall, a ramp between two of them is a step. Sums of x, then of y.
template <class Points>
__global__ void sum_bins(Points points, const std::int32_t* ends, std::int64_t bins, double* sums) {
  const std::int64_t b = this_element();
  if (b >= bins) return;
  double x = 0;
  double y = 0;
  for (std::int64_t i = b == 0 ? 0 : ends[b - 1]; i < ends[b]; ++i) {
    x += points.x(i);
    y += points.y(i);
  }
  sums[2 * b] = x;
  sums[2 * b + 1] = y;
}

__device__ inline double ramps_at_rank(const RampView& curve, std::int64_t rank) {
  const auto x = static_cast<double>(rank);
  std::int32_t whole = 0;
  while (whole + 1 < curve.count && x >= curve.knots[whole + 1]) ++whole;
  return curve.behind(whole, x);
}

/// Rates of decoys along ranks, or along `scores` if there are any.
__global__ void decoy_rates(RampView curve, const double* scores, std::int64_t points, double* rates) {
  const std::int64_t i = this_element();
  if (i >= points) return;
  const double rate = scores == nullptr ? ramps_at_rank(curve, i) : curve.at(scores[i == 0 ? 0 : i - 1]);
  rates[i] = fmin(fmax(rate, 1e-20), 1.0);
}
__global__ void odds_of_rates(const double* rates, std::int64_t count, double* peps) {
  const std::int64_t i = this_element();
  if (i < count) peps[i] = fmin(rates[i + 1] / (1 - rates[i + 1]), 1.0);
}
__global__ void ratios_of_curves(RampView errors, RampView targets, std::int64_t count, double* ratios) {
  const std::int64_t i = this_element();
  if (i >= count) return;
  const double share = ramps_at_rank(targets, i);
  ratios[i] = share <= 0 ? 1 : fmin(fmax(ramps_at_rank(errors, i) / share, 0.0), 1.0);
}

/// A sequence in pools: of the pool that begins at i, `sums` and `counts` (0 elsewhere); at its last element, where it
/// begins.
struct Pools {
  double* sums;
  std::int32_t* counts;
  std::int32_t* begins;

  __device__ double mean(std::int64_t pool) const { return sums[pool] / static_cast<double>(counts[pool]); }
  /// Pool `left` takes the next one, `right`.
  __device__ void join(std::int64_t left, std::int64_t right) const {
    sums[left] += sums[right];
    counts[left] += counts[right];
    counts[right] = 0;
  }
  __device__ void close(std::int64_t pool) const { begins[pool + counts[pool] - 1] = static_cast<std::int32_t>(pool); }
};

/// Adjacent violators within stretches of pooled_at_once values, one thread each.
__global__ void pool_stretches(Pools pools, std::int64_t count) {
  const std::int64_t first = this_element() * pooled_at_once;
  const std::int64_t end = min(count, first + pooled_at_once);
  for (std::int64_t i = first; i < end; ++i) {
    std::int64_t pool = i;
    pools.counts[i] = 1;
    while (pool > first && pools.mean(pools.begins[pool - 1]) > pools.mean(pool)) {
      const std::int64_t left = pools.begins[pool - 1];
      pools.join(left, pool);
      pool = left;
    }
    pools.close(pool);
  }
}

/// Stretches of `size` values, in pools, are joined in pairs: a pool that violates the order takes neighbours on both
/// sides until it does not.
__global__ void join_stretches(Pools pools, std::int64_t count, std::int64_t size) {
  const std::int64_t first = this_element() * 2 * size;
  const std::int64_t middle = first + size;
  const std::int64_t end = min(count, middle + size);
  if (middle >= count) return;
  std::int64_t pool = pools.begins[middle - 1];
  if (pools.mean(pool) <= pools.mean(middle)) return;
  pools.join(pool, middle);
  while (true) {
    const std::int64_t next = pool + pools.counts[pool];
    if (pool > first && pools.mean(pools.begins[pool - 1]) > pools.mean(pool)) {
      const std::int64_t left = pools.begins[pool - 1];
      pools.join(left, pool);
      pool = left;
    } else if (next < end && pools.mean(pool) > pools.mean(next)) {
      pools.join(pool, next);
    } else {
      break;
    }
  }
  pools.close(pool);
}

/// Writes the values that the scan for the pool of each element begins with.
__global__ void mark_pools(Pools pools, std::int64_t count, std::int32_t* of_element) {
  const std::int64_t i = this_element();
  if (i < count) of_element[i] = pools.counts[i] > 0 ? static_cast<std::int32_t>(i) : 0;
}
__global__ void means_of_pools(Pools pools, const std::int32_t* of_element, std::int64_t count, double* means) {
  const std::int64_t i = this_element();
  if (i < count) means[i] = pools.mean(of_element[i]);
}

/// q * rank of targets as differences.
__global__ void error_differences(const double* q, std::int64_t count, double* differences) {
  const std::int64_t k = this_element();
  if (k >= count) return;
  const double errors = q[k] * static_cast<double>(k + 1);
  differences[k] = k == 0 ? errors : errors - q[k - 1] * static_cast<double>(k);
}
/// Targets have their pool's value; decoys lie between the targets around them as their q does.
__global__ void interpolate_decoys(const double* q, const std::uint8_t* is_target, Ties ties, const double* target_q,
                                   const double* pooled, double* peps) {
  const std::int64_t i = this_element();
  if (i >= ties.count) return;
  const std::int32_t all = ties.targets_to(ties.count - 1);
  const std::int32_t k = ties.targets_to(i - 1);
  if (is_target[i] != 0) {
    peps[i] = pooled[k];
    return;
  }
  const double left_q = k > 0 ? target_q[k - 1] : 0;
  const double left_pep = k > 0 ? pooled[k - 1] : 0;
  const double right_q = k < all ? target_q[k] : 1;
  const double right_pep = k < all ? pooled[k] : 1;
  peps[i] = left_pep + (q[i] - left_q) * (right_pep - left_pep) / (right_q - left_q);
}

/// A bin of scores for the logistic spline.
struct ScoreBin {
  double median;
  double beaten;  // incorrect targets that correct ones have beaten
  std::int32_t count, decoys;
};

/// Bins end with a score, from the best on or (not `mixed`) from the worst on. One thread: each bin begins where the
/// last one ended. `made`: how many.
__global__ void bin_scores(const double* scores, Ties ties, const double* beaten, bool mixed, double bin_size,
                           ScoreBin* bins, std::int32_t* made) {
  const std::int64_t n = ties.count;
  std::int64_t begin = 0;
  std::int32_t k = 0;
  for (std::int32_t left = logistic_intervals - 1; begin < n && left >= 0; --left, ++k) {
    // The first element from which no more than so many are left, and the end of its score.
    std::int64_t end = max(begin, static_cast<std::int64_t>(ceil(static_cast<double>(n - 1) - left * bin_size)));
    while (end > begin && static_cast<double>(n - end) <= left * bin_size) --end;
    while (static_cast<double>(n - end - 1) > left * bin_size) ++end;
    end = mixed ? ties.end(end) : n - 1 - ties.begins[n - 1 - end];
    const std::int64_t middle = begin + (end + 1 - begin) / 2;
    ScoreBin bin{};
    bin.count = static_cast<std::int32_t>(end + 1 - begin);
    if (mixed) {
      bin.median = scores[middle];
      bin.decoys = ties.decoys_to(end) - ties.decoys_to(begin - 1);
      if (beaten != nullptr) bin.beaten = beaten[end] - (begin == 0 ? 0 : beaten[begin - 1]);
    } else {
      bin.median = scores[n - 1 - middle];
      bin.decoys = ties.decoys_to(n - 1 - begin) - ties.decoys_to(n - 2 - end);
    }
    bins[k] = bin;
    begin = end + 1;
  }
  *made = k;
}

__global__ void odds_of_scores(LogisticView curve, const double* scores, std::int64_t count, double* odds) {
  const std::int64_t i = this_element();
  if (i < count) odds[i] = exp(curve.at(scores[i]));
}
__global__ void mark_top(const double* odds, double top, std::int64_t count, std::int32_t* first) {
  const std::int64_t i = this_element();
  if (i < count && odds[i] >= top) atomicMin(first, static_cast<std::int32_t>(i));
}
/// From the first that reaches the top on, all are there.
__global__ void reversed_to_top(const double* odds, double top, const std::int32_t* first, std::int64_t count,
                                double* reversed) {
  const std::int64_t i = this_element();
  if (i < count) reversed[count - 1 - i] = i > *first ? top : fmin(odds[i], top);
}

}  // namespace sheaf::rescore::gpu
