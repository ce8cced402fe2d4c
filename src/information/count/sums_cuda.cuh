// Order-free sums of c log2 c over joint counts on the GPU: one block for each pair. Counts are added with atomics and
// sums are integers, so the order in which threads come does not matter.
#pragma once

#include <cstdint>

#include "information/count/ops.hpp"

namespace sheaf::information::gpu {

inline constexpr int table_threads = 512;
inline constexpr int scratch_threads = 256;
inline constexpr int nonzero_threads = 128;
/// Each class begins at a multiple of it, so that a thread reads that many states at once.
inline constexpr int row_unit = 16;

/// The sum over the block, in thread 0.
template <int Threads>
__device__ std::int64_t block_sum(std::int64_t value) {
  __shared__ long long parts[Threads / 32];
  long long sum = value;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  __syncthreads();  // the parts of the sum before have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return 0;
  for (int w = 1; w < Threads / 32; ++w) sum += parts[w];
  return sum;
}

struct TableView {
  const std::uint8_t* codes;         ///< feature-major, rows sorted by class, each class padded to row_unit
  std::int64_t stride;               ///< padded rows of a feature
  const std::int64_t* class_begins;  ///< padded
  const std::int64_t* class_ends;    ///< not padded
  int classes;
  const std::uint32_t* weights;  ///< in the padded order; nullptr: once each
  const std::int32_t* states;    ///< of each feature
  const std::int64_t* log;       ///< c log2 c, fixed point
};

/// Adds rows begin .. end of two columns to a table on chip. `begin` is a multiple of row_unit.
__device__ inline void count_rows(const TableView& view, const std::uint8_t* s, const std::uint8_t* x, int width,
                                  std::int64_t begin, std::int64_t end, std::uint32_t* table) {
  for (std::int64_t i = begin + threadIdx.x * row_unit; i < end; i += table_threads * row_unit) {
    const uint4 of_s = *reinterpret_cast<const uint4*>(s + i);
    const uint4 of_x = *reinterpret_cast<const uint4*>(x + i);
    const std::uint32_t words_s[4] = {of_s.x, of_s.y, of_s.z, of_s.w};
    const std::uint32_t words_x[4] = {of_x.x, of_x.y, of_x.z, of_x.w};
    const int valid = end - i < row_unit ? static_cast<int>(end - i) : row_unit;
#pragma unroll
    for (int k = 0; k < row_unit; ++k) {
      if (k >= valid) continue;
      const std::uint32_t state_s = (words_s[k / 4] >> (k % 4 * 8)) & 0xffU;
      const std::uint32_t state_x = (words_x[k / 4] >> (k % 4 * 8)) & 0xffU;
      atomicAdd(table + state_s * width + state_x, view.weights == nullptr ? 1U : view.weights[i + k]);
    }
  }
}

/// Chip memory: one table of all classes, and with_class another of the class at hand.
__global__ void __launch_bounds__(table_threads) table_pairs(TableView view, const std::int32_t* partner_features,
                                                             const Pair* pairs, bool with_class, JointSums* out) {
  extern __shared__ std::uint32_t tables[];
  const Pair pair = pairs[blockIdx.x];
  const std::int32_t partner = partner_features[pair.partner];
  const std::uint8_t* s = view.codes + partner * view.stride;
  const std::uint8_t* x = view.codes + pair.candidate * view.stride;
  const int width = view.states[pair.candidate];
  const int cells = width * view.states[partner];
  std::uint32_t* merged = tables;
  std::uint32_t* table = tables + cells;
  for (int e = threadIdx.x; e < (with_class ? 2 * cells : cells); e += table_threads) tables[e] = 0;
  __syncthreads();
  std::int64_t of_pair = 0;
  std::int64_t of_class = 0;
  for (int y = 0; y < view.classes; ++y) {
    count_rows(view, s, x, width, view.class_begins[y], view.class_ends[y], with_class ? table : merged);
    if (!with_class) continue;
    __syncthreads();
    for (int e = threadIdx.x; e < cells; e += table_threads) {
      const std::uint32_t c = table[e];
      if (c == 0) continue;
      of_class += view.log[c];
      merged[e] += c;
      table[e] = 0;
    }
    __syncthreads();
  }
  __syncthreads();
  for (int e = threadIdx.x; e < cells; e += table_threads) of_pair += view.log[merged[e]];
  of_pair = block_sum<table_threads>(of_pair);
  of_class = block_sum<table_threads>(of_class);
  if (threadIdx.x == 0) out[blockIdx.x] = {of_pair, of_class};
}

/// A partner in the order of the rows; if `rows` is given, of those rows alone, and the sums are those that the others
/// add.
struct PartnerView {
  const std::uint32_t* rows;
  std::int64_t row_count;
  const std::uint32_t* codes;
  const std::uint32_t* with_class;    ///< joint state with the class
  const std::uint32_t* counts;        ///< of each state
  const std::uint32_t* class_counts;  ///< of each joint state
  std::int64_t sum;                   ///< of c log2 c over its states
  std::int64_t class_sum;
  std::int64_t states;
  std::int64_t joint_states;
};

/// Adds weight to a count in memory and returns the change of the sum of c log2 c. Whatever the order of additions, the
/// changes add up to the same.
__device__ inline std::int64_t grow(const std::int64_t* log, std::uint32_t* count, std::uint32_t weight) {
  const std::uint32_t before = atomicAdd(count, weight);
  return log[before + weight] - log[before];
}

struct DenseView {
  const std::uint16_t* codes;  ///< feature-major
  std::int64_t rows;
  const std::uint32_t* weights;  ///< nullptr: once each
  const std::int32_t* states;
  const std::int64_t* log;
};

/// Each block has its own room of counts in memory, zero before and after.
__global__ void __launch_bounds__(scratch_threads)
    scratch_pairs(DenseView view, const PartnerView* partners, const Pair* pairs, std::int64_t count,
                  std::uint32_t* rooms, std::int64_t room, JointSums* out) {
  std::uint32_t* own = rooms + blockIdx.x * room;
  for (std::int64_t p = blockIdx.x; p < count; p += gridDim.x) {
    const PartnerView partner = partners[pairs[p].partner];
    const std::uint16_t* x = view.codes + pairs[p].candidate * view.rows;
    const std::int64_t width = view.states[pairs[p].candidate];
    std::uint32_t* with_class = own + partner.states * width;
    std::int64_t of_pair = 0;
    std::int64_t of_class = 0;
    for (std::int64_t k = threadIdx.x; k < partner.row_count; k += scratch_threads) {
      const std::uint32_t i = partner.rows[k];
      const std::uint32_t weight = view.weights == nullptr ? 1 : view.weights[i];
      of_pair += grow(view.log, own + partner.codes[k] * width + x[i], weight);
      of_class += grow(view.log, with_class + partner.with_class[k] * width + x[i], weight);
    }
    __threadfence();
    __syncthreads();
    for (std::int64_t k = threadIdx.x; k < partner.row_count; k += scratch_threads) {
      const std::uint32_t i = partner.rows[k];
      own[partner.codes[k] * width + x[i]] = 0;
      with_class[partner.with_class[k] * width + x[i]] = 0;
    }
    __threadfence();
    of_pair = block_sum<scratch_threads>(of_pair);
    of_class = block_sum<scratch_threads>(of_class);
    if (threadIdx.x == 0) out[p] = {partner.sum + of_pair, partner.class_sum + of_class};
    __syncthreads();
  }
}

struct NonzeroView {
  const std::int64_t* offsets;
  const std::int32_t* examples;
  const std::uint16_t* codes;
  const std::uint32_t* weights;  ///< of all rows; nullptr: once each
  const std::int32_t* states;
  const std::int64_t* log;
};

/// One side of a sparse pair: the partner's states, alone or joint with the class.
struct NonzeroSide {
  const std::uint32_t* codes;
  const std::uint32_t* counts;
  std::uint32_t* removed;  ///< of each state, in the block's room
  std::uint32_t* table;    ///< of each state and state of the candidate
};

/// Moves the rows from `begin` on out of the candidate's common state.
__device__ inline std::int64_t move_out(const NonzeroView& view, const NonzeroSide& side, std::int64_t begin,
                                        std::int64_t end, std::int64_t width) {
  std::int64_t change = 0;
  for (std::int64_t e = begin + threadIdx.x; e < end; e += nonzero_threads) {
    const std::int32_t i = view.examples[e];
    const std::uint32_t weight = view.weights == nullptr ? 1 : view.weights[i];
    const std::uint32_t s = side.codes[i];
    const std::uint32_t left = side.counts[s] - atomicAdd(side.removed + s, weight);
    change += view.log[left - weight] - view.log[left];
    change += grow(view.log, side.table + s * width + view.codes[e], weight);
  }
  return change;
}

__device__ inline void clear_room(const NonzeroView& view, const NonzeroSide& side, std::int64_t begin,
                                  std::int64_t end, std::int64_t width) {
  for (std::int64_t e = begin + threadIdx.x; e < end; e += nonzero_threads) {
    const std::uint32_t s = side.codes[view.examples[e]];
    side.removed[s] = 0;
    side.table[s * width + view.codes[e]] = 0;
  }
}

__global__ void __launch_bounds__(nonzero_threads)
    nonzero_pairs(NonzeroView view, const PartnerView* partners, const Pair* pairs, std::int64_t count, bool with_class,
                  std::uint32_t* rooms, std::int64_t room, JointSums* out) {
  std::uint32_t* own = rooms + blockIdx.x * room;
  for (std::int64_t p = blockIdx.x; p < count; p += gridDim.x) {
    const PartnerView partner = partners[pairs[p].partner];
    const std::int32_t j = pairs[p].candidate;
    const std::int64_t begin = view.offsets[j];
    const std::int64_t end = view.offsets[j + 1];
    const std::int64_t width = view.states[j];
    const NonzeroSide alone{partner.codes, partner.counts, own, own + partner.states};
    std::uint32_t* behind = alone.table + partner.states * width;
    const NonzeroSide joint{partner.with_class, partner.class_counts, behind, behind + partner.joint_states};
    std::int64_t of_pair = move_out(view, alone, begin, end, width);
    std::int64_t of_class = with_class ? move_out(view, joint, begin, end, width) : 0;
    __threadfence();
    __syncthreads();
    clear_room(view, alone, begin, end, width);
    if (with_class) clear_room(view, joint, begin, end, width);
    __threadfence();
    of_pair = block_sum<nonzero_threads>(of_pair);
    of_class = block_sum<nonzero_threads>(of_class);
    if (threadIdx.x == 0) out[p] = {partner.sum + of_pair, with_class ? partner.class_sum + of_class : 0};
    __syncthreads();
  }
}

}  // namespace sheaf::information::gpu
