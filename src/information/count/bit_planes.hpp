// Features of few states as bit planes: one bit per row, one plane per state except the last. The rows of a
// joint state are then the ones of two planes joined by AND, 64 at a time; counts of the last state follow from the
// totals.
//
// A weight is a number in binary: the rows whose weight has bit b make a plane too, whose ones count 2^b each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "information/count/class_order.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information {

/// The layout of planes, on both devices: places are those of rows sorted by class, each class beginning at a
/// multiple of `unit`, and places without a row are 0 everywhere.
class PlaneTable {
 public:
  static constexpr std::int64_t unit = 128;

  PlaneTable() = default;
  PlaneTable(const Problem& problem, int threads);

  const ClassOrder& order() const { return order_; }
  /// 64-bit words of a plane.
  std::int64_t words() const { return order_.stride / 64; }
  int classes() const { return static_cast<int>(order_.begins.size()); }
  std::int64_t features() const { return std::ssize(first_) - 1; }
  /// Planes of feature j: its states but the last.
  int planes(std::int64_t j) const {
    const auto at = static_cast<std::size_t>(j);
    return static_cast<int>(first_[at + 1] - first_[at]);
  }
  /// The first plane of each feature, and the end.
  std::span<const std::int64_t> first() const { return first_; }
  const std::uint64_t* of(std::int64_t j) const { return bits_.data() + first_[static_cast<std::size_t>(j)] * words(); }
  std::span<const std::uint64_t> bits() const { return bits_; }

 private:
  ClassOrder order_;
  std::vector<std::int64_t> first_;
  std::vector<std::uint64_t> bits_;
};

/// Weights of all rows as planes, one for each bit that any of them has. None: every row counts once.
std::vector<std::uint64_t> planes_of_weights(const PlaneTable& table, std::span<const std::uint32_t> weights);

/// How many rows each plane has of each class, weights counted.
struct PlaneCounts {
  PlaneCounts() = default;
  PlaneCounts(const PlaneTable& table, std::span<const std::uint64_t> weights, int threads);

  std::vector<std::uint32_t> of_planes;   ///< [plane * (classes + 1) + class]; behind the classes: of all
  std::vector<std::uint32_t> of_classes;  ///< [class], and of all
};

/// out[k] += times * how many ones `a` and plane k of `b` share, for `count` planes that lie `apart` words from each
/// other.
void count_shared_ones(const std::uint64_t* a, const std::uint64_t* b, std::int64_t apart, int count,
                       std::int64_t words, std::uint32_t times, std::uint32_t* out);

}  // namespace sheaf::information
