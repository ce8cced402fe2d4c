// Kernels of the verbs of rescoring. Sums go over rows in an order that depends on the data alone: the same bits every
// time.
#pragma once

#include <cstdint>

#include <cub/block/block_scan.cuh>

#include "cuda/check.cuh"
#include "rescore/training/ops.hpp"

namespace sheaf::rescore::gpu {

constexpr int warp = 32;
constexpr int row_threads = 256;
constexpr unsigned full = 0xFFFFFFFFU;
/// Rows whose features a block holds at once while it updates Hessians.
constexpr int staged_rows = 32;

template <class T>
struct Rows {
  const T* x;
  const std::int8_t* labels;
  std::int64_t count;
  int features;
};

/// The score of one row, always in this order: one row has one score.
template <class T>
__device__ T score_row(const T* x, int features, const T* w) {
  T z = w[features];
  for (int j = 0; j < features; ++j) z += x[j] * w[j];
  return z;
}

/// scores[i] by the weights of number which[i], of which there are `weights` side by side.
template <class T>
__global__ void score_rows(Rows<T> rows, const T* w, const std::uint16_t* which, double* scores) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows.count) return;
  const int number = which == nullptr ? 0 : which[i];
  scores[i] = static_cast<double>(score_row(rows.x + i * rows.features, rows.features,
                                            w + static_cast<std::int64_t>(number) * (rows.features + 1)));
}

__global__ void set_codes(const std::uint16_t* bins, const std::int8_t* labels, std::int64_t count,
                          std::uint16_t* codes) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) codes[i] = code_of(bins[i], labels[i] > 0 ? other_target : decoy);
}

/// Targets of the part become positive if they are flagged or, without flags, score more than `above`.
template <class T>
__global__ void mark_rows(Rows<T> rows, const T* w, double above, const std::uint8_t* flags, std::uint16_t* codes,
                          unsigned long long* marked) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  bool chosen = false;
  if (i < rows.count && bin_of(codes[i]) != 0 && role_of(codes[i]) != decoy) {
    chosen = flags != nullptr ? flags[i] != 0
                              : static_cast<double>(score_row(rows.x + i * rows.features, rows.features, w)) > above;
    codes[i] = code_of(bin_of(codes[i]), chosen ? positive : other_target);
  }
  const unsigned votes = __ballot_sync(full, chosen);
  if (threadIdx.x % warp == 0 && votes != 0) atomicAdd(marked, static_cast<unsigned long long>(__popc(votes)));
}

/// Role of a sorted row.
enum Kind : std::uint8_t { is_decoy = 0, is_target = 1, is_left_out = 2 };

/// Keys to sort, the best first; rows that the query does not count come last.
template <class T>
__global__ void key_rows(Rows<T> rows, const T* w, const std::uint16_t* codes, AcceptQuery query, T* keys,
                         std::uint8_t* kinds) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows.count) return;
  const bool counted = is_counted(query.bin, bin_of(codes[i]));
  keys[i] = counted ? score_row(rows.x + i * rows.features, rows.features, w)
                    : -static_cast<T>(__longlong_as_double(0x7FF0000000000000LL));
  kinds[i] = counted ? (rows.labels[i] > 0 ? is_target : is_decoy) : is_left_out;
}

/// Targets and decoys among `row_threads` sorted rows: targets in the upper, decoys in the lower half.
__global__ void count_kinds(const std::uint8_t* kinds, std::int64_t count, unsigned long long* totals) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int kind = i < count ? kinds[i] : is_left_out;
  const int targets = __syncthreads_count(kind == is_target ? 1 : 0);
  const int decoys = __syncthreads_count(kind == is_decoy ? 1 : 0);
  if (threadIdx.x == 0)
    totals[blockIdx.x] = static_cast<unsigned long long>(targets) << 32U | static_cast<unsigned>(decoys);
}

/// The last place whose rate is low enough, in the upper half, and the targets up to it, in the lower half of `found`.
/// `before`: totals of all blocks before each.
template <class T>
__global__ void find_last(const T* keys, const std::uint8_t* kinds, std::int64_t count,
                          const unsigned long long* before, AcceptQuery query, unsigned long long* found) {
  using Scan = cub::BlockScan<unsigned long long, row_threads>;
  __shared__ typename Scan::TempStorage storage;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * row_threads + threadIdx.x;
  const int kind = i < count ? kinds[i] : is_left_out;
  unsigned long long sum = kind == is_target ? 1ULL << 32U : kind == is_decoy ? 1ULL : 0ULL;
  Scan(storage).InclusiveSum(sum, sum);
  sum += before[blockIdx.x];
  if (kind == is_left_out) return;
  const bool ends_tie = i + 1 >= count || kinds[i + 1] == is_left_out || keys[i + 1] != keys[i];
  if (!ends_tie) return;
  const unsigned long long targets = sum >> 32U;
  const double errors = static_cast<double>((sum & 0xFFFFFFFFULL) + (query.plus_one ? 1 : 0));
  const double rate = fmin(errors / static_cast<double>(targets > 0 ? targets : 1ULL), 1.0);
  if (rate < query.limit || (query.inclusive && rate == query.limit))
    atomicMax(found, static_cast<unsigned long long>(i + 1) << 32U | targets);
}

/// Costs of codes in the tasks of a block of SVMs.
template <class T>
struct Costs {
  const std::uint16_t* codes[warp];  // of each task's part
  const T* table[warp];              // of each task: by code
  int tasks;
};

/// One warp a row, one lane a task: losses and gradients into doubles of the block's own, and which tasks the row
/// became or ceased to be a support vector of.
template <class T>
__global__ void pass_rows(Rows<T> rows, Costs<T> costs, const T* w, std::uint32_t* support, std::uint32_t* changed,
                          double* partial) {
  extern __shared__ double shared[];
  const int d = rows.features + 1;
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const int mine = static_cast<int>(threadIdx.x) / warp;
  const int warps = static_cast<int>(blockDim.x) / warp;
  double* gradients = shared + static_cast<std::int64_t>(mine) * (d + 1) * warp;  // the last row is losses
  T* weights = reinterpret_cast<T*>(shared + static_cast<std::int64_t>(warps) * (d + 1) * warp);
  for (int k = static_cast<int>(threadIdx.x); k < d * warp; k += static_cast<int>(blockDim.x)) weights[k] = w[k];
  for (int k = lane; k < (d + 1) * warp; k += warp) gradients[k] = 0;
  __syncthreads();
  const std::uint16_t* const codes = lane < costs.tasks ? costs.codes[lane] : nullptr;
  const T* const table = lane < costs.tasks ? costs.table[lane] : nullptr;
  const std::int64_t each = (rows.count + gridDim.x - 1) / gridDim.x;
  const std::int64_t end = min(rows.count, (blockIdx.x + 1) * each);
  for (std::int64_t i = blockIdx.x * each + mine; i < end; i += warps) {
    const T cost = codes != nullptr ? table[codes[i]] : T(0);
    const unsigned before = support[i];
    if (__any_sync(full, cost != T(0)) == 0 && before == 0) {
      if (lane == 0) changed[i] = 0;
      continue;
    }
    const T* const x = rows.x + i * rows.features;
    T z = weights[(d - 1) * warp + lane];
    for (int j = 0; j < d - 1; ++j) z += x[j] * weights[j * warp + lane];
    const T margin = cost > 0 ? z : -z;
    const T slack = cost != T(0) && margin < 1 ? 1 - margin : T(0);
    const unsigned now = __ballot_sync(full, slack > 0);
    if (now != 0) {
      const double slope = static_cast<double>(-cost * slack);
      for (int j = 0; j < d - 1; ++j) gradients[j * warp + lane] += slope * static_cast<double>(x[j]);
      gradients[(d - 1) * warp + lane] += slope;
      gradients[d * warp + lane] += static_cast<double>((cost > 0 ? cost : -cost) * slack * slack / 2);
    }
    if (lane == 0) {
      changed[i] = now ^ before;
      if (now != before) support[i] = now;
    }
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < (d + 1) * warp; k += static_cast<int>(blockDim.x)) {
    double sum = 0;
    for (int one = 0; one < warps; ++one) sum += shared[static_cast<std::int64_t>(one) * (d + 1) * warp + k];
    partial[static_cast<std::int64_t>(blockIdx.x) * (d + 1) * warp + k] = sum;
  }
}

/// For tasks first .. first + tasks-1: the contributions of changed rows to the lower triangles of their Hessians
/// (added or subtracted), and how many rows there are. `label_costs`: of each label (decoys first) and task. A thread
/// owns its entries.
template <class T>
__global__ void update_hessians(Rows<T> rows, const std::uint32_t* changed, const std::uint32_t* support,
                                const double* label_costs, int first, int tasks, double* partial) {
  extern __shared__ double shared[];
  const int d = rows.features + 1;
  const int entries = d * (d + 1) / 2;
  double* sums = shared;  // tasks x (entries + 1), the last counts rows
  double* staged = sums + static_cast<std::int64_t>(tasks) * (entries + 1);  // rows x d
  __shared__ std::int64_t list[row_threads];
  __shared__ int listed;
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < tasks * (entries + 1); k += row_threads) sums[k] = 0;
  const std::int64_t each = (rows.count + gridDim.x - 1) / gridDim.x;
  const std::int64_t end = min(rows.count, (blockIdx.x + 1) * each);
  const unsigned wanted = (tasks == warp ? full : (1U << tasks) - 1) << first;
  for (std::int64_t begin = blockIdx.x * each; begin < end; begin += row_threads) {
    // Rows that changed, in order.
    using Scan = cub::BlockScan<int, row_threads>;
    __shared__ typename Scan::TempStorage storage;
    const std::int64_t i = begin + thread;
    const int mine = i < end && (changed[i] & wanted) != 0 ? 1 : 0;
    int place = 0;
    int total = 0;
    __syncthreads();
    Scan(storage).ExclusiveSum(mine, place, total);
    if (mine != 0) list[place] = i;
    if (thread == 0) listed = total;
    __syncthreads();
    for (int at = 0; at < listed; at += staged_rows) {
      const int some = min(staged_rows, listed - at);
      for (int k = thread; k < some * d; k += row_threads) {
        const std::int64_t row = list[at + k / d];
        const int j = k % d;
        staged[k] = j == d - 1 ? 1.0 : static_cast<double>(rows.x[row * rows.features + j]);
      }
      __syncthreads();
      for (int r = 0; r < some; ++r) {
        const std::int64_t row = list[at + r];
        const double* const costs = label_costs + (rows.labels[row] > 0 ? warp : 0);
        const unsigned now = support[row];
        for (unsigned bits = changed[row] & wanted; bits != 0; bits &= bits - 1) {
          const int t = __ffs(static_cast<int>(bits)) - 1;
          const double cost = (now >> t & 1U) != 0 ? costs[t] : -costs[t];
          double* const h = sums + static_cast<std::int64_t>(t - first) * (entries + 1);
          for (int e = thread; e < entries; e += row_threads) {
            int a = static_cast<int>((sqrtf(8.0F * static_cast<float>(e) + 1) - 1) / 2);
            while (a * (a + 1) / 2 > e) --a;
            while ((a + 1) * (a + 2) / 2 <= e) ++a;
            h[e] += cost * staged[r * d + a] * staged[r * d + e - a * (a + 1) / 2];
          }
          if (thread == 0) h[entries] += 1;
        }
      }
      __syncthreads();
    }
  }
  __syncthreads();
  for (int k = thread; k < tasks * (entries + 1); k += row_threads)
    partial[static_cast<std::int64_t>(blockIdx.x) * tasks * (entries + 1) + k] = sums[k];
}

}  // namespace sheaf::rescore::gpu
