// FEAST's sums on the GPU, for up to 128 rows: one warp per pair, its counts in shared memory.
//
// A variable is a number below 128 for each row, equal if states are equal and ascending in FEAST's order: the state,
// or for merged states the row that shows them first. Each joint state is counted at one of its rows, whichever wrote
// its number last into a table of joint states, so that the table is never cleared. A bit for each joint state that
// occurs, in FEAST's order, gives its place in the sum. The logarithms come from the host, so that both give the same
// bits; what is left here are additions in one order.
#pragma once

#include <cstdint>

#include "information/count/ops.hpp"
#include "information/criteria/criteria.hpp"

namespace sheaf::information::gpu {

inline constexpr int ordered_rows = static_cast<int>(most_ordered_rows_gpu);
inline constexpr int ordered_warps = 4;
inline constexpr unsigned whole_warp = 0xffffffffU;

/// Terms for every count that can occur; indices as in the functions below.
struct TermTables {
  const double* mutual;      ///< [(joint * size + a) * size + b]; nullptr if not requested
  const double* with_class;  ///< [class_offsets[y] + joint * size + a]
  const std::int64_t* class_offsets;
  const double* conditional;  ///< [joint * size + b]
  const double* alone;        ///< [count]
  int size;                   ///< counts are less than it
  double log_of_2;
};

struct OrderedPartner8 {
  std::uint8_t codes[ordered_rows];  ///< of the rows that count
  double entropy_in_class;
};

struct OrderedView {
  const std::uint8_t* codes;  ///< feature-major, all rows
  std::int64_t all_rows;
  const std::uint32_t* chosen;   ///< the rows that count
  const std::uint32_t* weights;  ///< of those
  const std::uint8_t* classes;   ///< of those, without gaps
  int rows;
  int states;  ///< more than any state of a partner or candidate, or any class
  int class_count;
  TermTables terms;
};

/// Numbers of each row, all less than `states`.
struct Variable {
  const std::uint8_t* codes;
  int states;
};

/// The part of one warp in shared memory.
struct WarpRows {
  double first[ordered_rows];
  double second[ordered_rows];
  std::uint32_t weights[ordered_rows];
  std::uint32_t joint[ordered_rows];  ///< counts, of a joint state at one of its rows
  std::uint32_t inner[ordered_rows];
  std::uint32_t outer[ordered_rows];
  std::uint32_t present[ordered_rows * ordered_rows / 32];  ///< a bit for each joint state
  std::uint16_t before[ordered_rows * ordered_rows / 32];   ///< joint states before each word of them
  std::uint8_t partner[ordered_rows];
  std::uint8_t candidate[ordered_rows];
  std::uint8_t classes[ordered_rows];
  std::uint8_t merged[ordered_rows];
};

/// Counts of one joint state.
struct Cell {
  std::uint32_t joint, inner, outer;
};

class OrderedWarp {
 public:
  /// `rows_of_states`: ordered_rows places for each of the smaller number of states.
  __device__ OrderedWarp(WarpRows& own, std::uint8_t* rows_of_states, int rows)
      : own_(own), table_(rows_of_states), rows_(rows), lane_(static_cast<int>(threadIdx.x % 32)) {}

  /// merged[i] = the first row with row i's states of a and b.
  __device__ Variable merge(Variable a, Variable b) {
    for (int i = lane_; i < ordered_rows; i += 32) own_.joint[i] = ordered_rows;
    write_rows(a, b);
    for (int i = lane_; i < rows_; i += 32) atomicMin(own_.joint + table_[place(a, b, i)], static_cast<unsigned>(i));
    __syncwarp();
    for (int i = lane_; i < rows_; i += 32)
      own_.merged[i] = static_cast<std::uint8_t>(own_.joint[table_[place(a, b, i)]]);
    __syncwarp();
    return {own_.merged, rows_};
  }

  /// The sums over joint states of term(cell, outer value).x and .y, in every lane.
  template <class Term>
  __device__ double2 sum(Variable inner, Variable outer, const Term& term) {
    const int words = (inner.states + 31) / 32;
    clear(outer.states * words);
    write_rows(inner, outer);
    for (int i = lane_; i < rows_; i += 32) count_row(inner, outer, words, i);
    __syncwarp();
    const int cells = number_words(outer.states * words);
    for (int i = lane_; i < rows_; i += 32) {
      if (table_[place(inner, outer, i)] != i) continue;
      const int x = inner.codes[i];
      const int y = outer.codes[i];
      const int word = y * words + x / 32;
      const int at = own_.before[word] + __popc(own_.present[word] & ((1U << (x % 32)) - 1));
      const double2 value = term(Cell{own_.joint[i], own_.inner[x], own_.outer[y]}, y);
      own_.first[at] = value.x;
      own_.second[at] = value.y;
    }
    __syncwarp();
    return add_up(cells);
  }

 private:
  /// The one with fewer states outside, so that the table can be small.
  __device__ static int place(Variable a, Variable b, int i) {
    return a.states <= b.states ? a.codes[i] * ordered_rows + b.codes[i] : b.codes[i] * ordered_rows + a.codes[i];
  }
  __device__ void write_rows(Variable a, Variable b) {
    for (int i = lane_; i < rows_; i += 32) table_[place(a, b, i)] = static_cast<std::uint8_t>(i);
    __syncwarp();
  }

  __device__ void clear(int words) {
    for (int i = lane_; i < ordered_rows; i += 32) own_.joint[i] = own_.inner[i] = own_.outer[i] = 0;
    for (int w = lane_; w < words; w += 32) own_.present[w] = 0;
    __syncwarp();
  }

  __device__ void count_row(Variable inner, Variable outer, int words, int i) {
    const int x = inner.codes[i];
    const int y = outer.codes[i];
    const int row = table_[place(inner, outer, i)];
    atomicAdd(own_.joint + row, own_.weights[i]);
    atomicAdd(own_.inner + x, own_.weights[i]);
    atomicAdd(own_.outer + y, own_.weights[i]);
    if (row == i) atomicOr(own_.present + y * words + x / 32, 1U << (x % 32));
  }

  /// How many joint states come before each word; returns how many there are.
  __device__ int number_words(int words) {
    const int each = (words + 31) / 32;
    const int begin = min(lane_ * each, words);
    const int end = min(begin + each, words);
    int own = 0;
    for (int w = begin; w < end; ++w) own += __popc(own_.present[w]);
    int upto = own;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(whole_warp, upto, step);
      if (lane_ >= step) upto += other;
    }
    int before = upto - own;
    for (int w = begin; w < end; ++w) {
      own_.before[w] = static_cast<std::uint16_t>(before);
      before += __popc(own_.present[w]);
    }
    __syncwarp();
    return __shfl_sync(whole_warp, upto, 31);
  }

  __device__ double2 add_up(int cells) {
    double total = 0;
    const double* values = lane_ == 0 ? own_.first : own_.second;
    if (lane_ < 2) {
#pragma unroll 8
      for (int i = 0; i < cells; ++i) total += values[i];
    }
    __syncwarp();
    return {__shfl_sync(whole_warp, total, 0), __shfl_sync(whole_warp, total, 1)};
  }

  WarpRows& own_;
  std::uint8_t* table_;
  int rows_;
  int lane_;
};

struct MutualTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, int) const {
    return {t.mutual[(static_cast<std::int64_t>(c.joint) * t.size + c.inner) * t.size + c.outer], 0.0};
  }
};
struct ClassTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, int y) const {
    return {t.with_class[t.class_offsets[y] + static_cast<std::int64_t>(c.joint) * t.size + c.inner],
            -t.alone[c.joint]};
  }
};
struct ConditionalTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, int) const {
    return {-t.conditional[static_cast<std::int64_t>(c.joint) * t.size + c.outer], 0.0};
  }
};

/// Pairs to count: listed, or one partner with every feature.
struct OrderedPairs {
  const Pair* list;  ///< nullptr: `partner` and feature 0, 1, 2 ...
  std::int32_t partner;
  std::int64_t count;

  __device__ Pair operator[](std::int64_t p) const {
    return list != nullptr ? list[p] : Pair{partner, static_cast<std::int32_t>(p)};
  }
};

/// out[k * count + pair]: the k-th wanted term, in the order of their bits. Chip memory: ordered_rows bytes for each
/// state and warp.
__global__ void __launch_bounds__(ordered_warps * 32)
    ordered_pairs(OrderedView view, const OrderedPartner8* partners, OrderedPairs pairs, Terms wanted, double* out) {
  __shared__ WarpRows shared[ordered_warps];
  extern __shared__ std::uint8_t rows_of_states[];
  WarpRows& own = shared[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * ordered_warps + threadIdx.x / 32;
  if (p >= pairs.count) return;
  const Pair pair = pairs[p];
  const OrderedPartner8& partner = partners[pair.partner];
  const std::uint8_t* codes = view.codes + pair.candidate * view.all_rows;
  for (int i = lane; i < view.rows; i += 32) {
    own.partner[i] = partner.codes[i];
    own.candidate[i] = codes[view.chosen[i]];
    own.classes[i] = view.classes[i];
    own.weights[i] = view.weights[i];
  }
  __syncwarp();
  OrderedWarp warp(own, rows_of_states + threadIdx.x / 32 * view.states * ordered_rows, view.rows);
  const Variable s{own.partner, view.states};
  const Variable x{own.candidate, view.states};
  const Variable y{own.classes, view.class_count};
  const double log_of_2 = view.terms.log_of_2;
  double* to = out + p;
  const auto put = [&](double value) {
    if (lane == 0) *to = value;
    to += pairs.count;
  };
  if ((wanted & between) != 0) put(warp.sum(s, x, MutualTerm{view.terms}).x / log_of_2);
  if ((wanted & (joint_with_class | joint_entropy)) != 0) {
    const double2 sums = warp.sum(warp.merge(s, x), y, ClassTerm{view.terms});
    if ((wanted & joint_with_class) != 0) put(sums.x / log_of_2);
    if ((wanted & joint_entropy) != 0) put(sums.y / log_of_2);
  }
  if ((wanted & between_in_class) != 0)
    put(partner.entropy_in_class - warp.sum(s, warp.merge(x, y), ConditionalTerm{view.terms}).x / log_of_2);
  if ((wanted & relevance_beyond) != 0) {
    const double without = warp.sum(x, s, ConditionalTerm{view.terms}).x / log_of_2;
    put(without - warp.sum(x, warp.merge(s, y), ConditionalTerm{view.terms}).x / log_of_2);
  }
}

}  // namespace sheaf::information::gpu
