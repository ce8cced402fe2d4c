// FEAST's sums on the GPU, for tables of up to 128 examples: one warp for each pair, all rows compared with all.
//
// A variable is one integer for each row, equal where states are equal and ascending in FEAST's order: the state
// itself, or for merged states the row that shows them first. A joint state's place in the sum is then the number of
// rows with a smaller (outer, inner); rows that repeat a state fill their places with 0, which changes no sum. The
// logarithms come from the host, so that both give the same bits; what is left here are additions in one order.
#pragma once

#include <cstdint>

#include "information/criteria.hpp"
#include "information/ops.hpp"

namespace sheaf::information::gpu {

inline constexpr int ordered_rows = static_cast<int>(most_ordered_rows_gpu);
inline constexpr int ordered_warps = 4;
inline constexpr int rows_per_lane = ordered_rows / 32;
inline constexpr unsigned whole_warp = 0xffffffffU;

/// Terms for every count that can occur; indices as in the functions below.
struct TermTables {
  const double* mutual;      ///< [(joint * size + a) * size + b]; nullptr where not asked for
  const double* with_class;  ///< [class_offsets[y] + joint * size + a]
  const std::int64_t* class_offsets;
  const double* conditional;  ///< [joint * size + b]
  const double* alone;        ///< [count]
  int size;                   ///< counts are less than it
  double log_of_2;
};

struct OrderedPartnerView {
  const std::uint32_t* codes;       ///< of the rows that count
  const std::uint32_t* with_class;  ///< merged with the class, numbered by first appearance
  double entropy_in_class;
};

struct OrderedView {
  const std::uint16_t* codes;  ///< feature-major, all rows
  std::int64_t all_rows;
  const std::uint32_t* chosen;   ///< the rows that count
  const std::uint32_t* weights;  ///< of those
  const std::uint32_t* classes;  ///< of those
  int rows;
  TermTables terms;
};

/// What one warp keeps on chip.
struct WarpRows {
  std::uint32_t partner[ordered_rows];
  std::uint32_t candidate[ordered_rows];
  std::uint32_t classes[ordered_rows];
  std::uint32_t weights[ordered_rows];
  std::uint32_t merged[ordered_rows];
  std::uint32_t keys[ordered_rows];
  double first[ordered_rows];
  double second[ordered_rows];
};

/// Counts of the joint state of one row, and its place in the sum.
struct Cell {
  std::uint32_t joint, inner, outer;
  int place;
  bool leads;  ///< no earlier row shows the state
};

class OrderedWarp {
 public:
  __device__ OrderedWarp(WarpRows& own, int rows) : own_(own), rows_(rows), lane_(static_cast<int>(threadIdx.x % 32)) {}

  /// merged[i] = the first row with row i's states of a and b.
  __device__ void merge(const std::uint32_t* a, const std::uint32_t* b) {
    pack(a, b);
    for (int r = 0; r < rows_per_lane; ++r) {
      const int i = r * 32 + lane_;
      if (i >= rows_) continue;
      const std::uint32_t key = own_.keys[i];
      int first = 0;
      while (own_.keys[first] != key) ++first;
      own_.merged[i] = static_cast<std::uint32_t>(first);
    }
    __syncwarp();
  }

  /// The sums over joint states of term(cell, outer value).first and .second, in every lane.
  template <class Term>
  __device__ double2 sum(const std::uint32_t* inner, const std::uint32_t* outer, Term&& term) {
    pack(outer, inner);
    for (int r = 0; r < rows_per_lane; ++r) {
      const int i = r * 32 + lane_;
      if (i >= rows_) continue;
      const Cell cell = compare(i);
      const double2 value = cell.leads ? term(cell, outer[i]) : double2{0.0, 0.0};
      own_.first[cell.place] = value.x;
      own_.second[cell.place] = value.y;
    }
    __syncwarp();
    double total = 0;
    const double* values = lane_ == 0 ? own_.first : own_.second;
    if (lane_ < 2)
      for (int i = 0; i < rows_; ++i) total += values[i];
    __syncwarp();
    return {__shfl_sync(whole_warp, total, 0), __shfl_sync(whole_warp, total, 1)};
  }

 private:
  __device__ void pack(const std::uint32_t* high, const std::uint32_t* low) {
    for (int i = lane_; i < rows_; i += 32) own_.keys[i] = high[i] << 16 | low[i];
    __syncwarp();
  }

  __device__ Cell compare(int i) const {
    const std::uint32_t key = own_.keys[i];
    Cell cell{0, 0, 0, 0, true};
    for (int other = 0; other < rows_; ++other) {
      const std::uint32_t theirs = own_.keys[other];
      const std::uint32_t weight = own_.weights[other];
      const std::uint32_t different = theirs ^ key;
      const bool earlier_equal = different == 0 && other < i;
      cell.joint += different == 0 ? weight : 0;
      cell.inner += (different & 0xffffU) == 0 ? weight : 0;
      cell.outer += different < 0x10000U ? weight : 0;
      cell.place += theirs < key || earlier_equal ? 1 : 0;
      cell.leads = cell.leads && !earlier_equal;
    }
    return cell;
  }

  WarpRows& own_;
  int rows_;
  int lane_;
};

struct MutualTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, std::uint32_t) const {
    return {t.mutual[(static_cast<std::int64_t>(c.joint) * t.size + c.inner) * t.size + c.outer], 0.0};
  }
};
struct ClassTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, std::uint32_t y) const {
    return {t.with_class[t.class_offsets[y] + static_cast<std::int64_t>(c.joint) * t.size + c.inner],
            -t.alone[c.joint]};
  }
};
struct ConditionalTerm {
  TermTables t;
  __device__ double2 operator()(const Cell& c, std::uint32_t) const {
    return {-t.conditional[static_cast<std::int64_t>(c.joint) * t.size + c.outer], 0.0};
  }
};

/// out[pair * wanted terms + k]: the k-th wanted term, in the order of their bits.
__global__ void __launch_bounds__(ordered_warps * 32)
    ordered_pairs(OrderedView view, const OrderedPartnerView* partners, const Pair* pairs, std::int64_t count,
                  Terms wanted, double* out) {
  __shared__ WarpRows shared[ordered_warps];
  WarpRows& own = shared[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * ordered_warps + threadIdx.x / 32;
  if (p >= count) return;
  const OrderedPartnerView partner = partners[pairs[p].partner];
  const std::uint16_t* candidate = view.codes + pairs[p].candidate * view.all_rows;
  for (int i = lane; i < view.rows; i += 32) {
    own.partner[i] = partner.codes[i];
    own.candidate[i] = candidate[view.chosen[i]];
    own.classes[i] = view.classes[i];
    own.weights[i] = view.weights[i];
  }
  __syncwarp();
  OrderedWarp warp(own, view.rows);
  double results[term_count];
  int filled = 0;
  const double log_of_2 = view.terms.log_of_2;
  if ((wanted & between) != 0)
    results[filled++] = warp.sum(own.partner, own.candidate, MutualTerm{view.terms}).x / log_of_2;
  if ((wanted & (joint_with_class | joint_entropy)) != 0) {
    warp.merge(own.partner, own.candidate);
    const double2 sums = warp.sum(own.merged, own.classes, ClassTerm{view.terms});
    if ((wanted & joint_with_class) != 0) results[filled++] = sums.x / log_of_2;
    if ((wanted & joint_entropy) != 0) results[filled++] = sums.y / log_of_2;
  }
  if ((wanted & between_in_class) != 0) {
    warp.merge(own.candidate, own.classes);
    const double rest = warp.sum(own.partner, own.merged, ConditionalTerm{view.terms}).x / log_of_2;
    results[filled++] = partner.entropy_in_class - rest;
  }
  if ((wanted & relevance_beyond) != 0) {
    const double without = warp.sum(own.candidate, own.partner, ConditionalTerm{view.terms}).x / log_of_2;
    for (int i = lane; i < view.rows; i += 32) own.merged[i] = partner.with_class[i];
    __syncwarp();
    const double rest = warp.sum(own.candidate, own.merged, ConditionalTerm{view.terms}).x / log_of_2;
    results[filled++] = without - rest;
  }
  if (lane == 0)
    for (int k = 0; k < filled; ++k) out[p * filled + k] = results[k];
}

}  // namespace sheaf::information::gpu
