// A k-d tree over dense rows of few features. Every node holds the bounding box of its rows, so that a query passes by
// those that are farther than what it has found; rows of a leaf are compared side by side, and those that may count are
// left to exact distances. Bounds are in the tree's unit: sums of squares, sums or the largest of the differences.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <sheaf/context.hpp>

#include "core/parallel.hpp"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors::cpu {

enum class TreeUnit : std::uint8_t { squares, sums, largest };

/// None: boxes give no bound of the distance, or features have weights.
inline std::optional<TreeUnit> tree_unit(const DistanceOptions& distance) {
  if (!distance.weights.empty()) return std::nullopt;
  switch (distance.metric) {
    case DistanceType::euclidean:
    case DistanceType::squared_euclidean:
      return TreeUnit::squares;
    case DistanceType::manhattan:
      return TreeUnit::sums;
    case DistanceType::chebyshev:
      return TreeUnit::largest;
    default:
      return std::nullopt;
  }
}

template <class S>
class Tree {
 public:
  static constexpr std::int64_t most_columns = 15;
  static constexpr std::int64_t most_leaf_rows = 32;
  /// With fewer rows there is little to pass by.
  static constexpr std::int64_t fewest_rows = 2000;

  Tree(const Context& context, const RowPair<S>& pair, TreeUnit unit)
      : unit_(unit),
        distance_(pair.distance.metric),
        columns_(pair.columns()),
        order_(static_cast<std::size_t>(pair.rows())) {
    while ((pair.rows() >> depth_) > most_leaf_rows) ++depth_;
    std::iota(order_.begin(), order_.end(), 0);
    const S* x = std::get<DenseMatrix<S>>(pair.data.x).values.data();
    boxes_.resize(static_cast<std::size_t>((std::int64_t{2} << depth_) * 2 * columns_));
    for (int depth = 0; depth <= depth_; ++depth)
      parallel_for(context, std::int64_t{1} << depth, [&](std::int64_t at) { divide(x, depth, at); });
    values_.resize(order_.size() * static_cast<std::size_t>(columns_));
    parallel_for(context, std::int64_t{1} << depth_, [&](std::int64_t leaf) { lay_out(x, leaf); });
  }

  /// The rows, those that are near each other together.
  std::span<const std::int32_t> order() const { return order_; }

  /// Bounds above it belong to rows that are farther away, whatever was rounded.
  double limit(double distance) const {
    constexpr double slack = 1e-12, smallest = 1e-300;
    const double bound = distance_ == DistanceType::euclidean ? distance * distance : distance;
    return bound * (1 + slack) + smallest;
  }

  /// Calls take(rows) with rows that may lie within a limit, near ones first; it returns the limit from then on.
  /// Returns the number of rows that were compared.
  template <class Take>
  std::int64_t visit(const double* query, double limit, const Take& take) const {
    struct Waiting {
      std::int64_t node;
      double bound;
    };
    std::array<Waiting, 64> waiting;
    std::array<std::int32_t, most_leaf_rows> near;
    std::size_t count = 0;
    std::int64_t compared = 0;
    waiting[count++] = {1, 0.0};
    while (count > 0) {
      auto [node, bound] = waiting[--count];
      const auto first_leaf = std::int64_t{1} << depth_;
      while (node < first_leaf && bound <= limit) {
        const double left = box_bound(query, 2 * node), right = box_bound(query, 2 * node + 1);
        waiting[count++] = left <= right ? Waiting{2 * node + 1, right} : Waiting{2 * node, left};
        node = left <= right ? 2 * node : 2 * node + 1;
        bound = std::min(left, right);
      }
      if (bound > limit) continue;
      const auto rows = rows_of(depth_, node - first_leaf);
      compared += rows.end - rows.begin;
      if (const auto found = compare(query, rows, limit, near.data()); found > 0)
        limit = take(std::span<const std::int32_t>(near.data(), static_cast<std::size_t>(found)));
    }
    return compared;
  }

 private:
  Range rows_of(int depth, std::int64_t at) const {
    const auto rows = std::ssize(order_);
    return {rows * at >> depth, rows * (at + 1) >> depth};
  }
  /// The smallest values of a node's rows, then the largest. Nodes count from 1, level by level.
  double* box(std::int64_t node) { return boxes_.data() + node * 2 * columns_; }
  const double* box(std::int64_t node) const { return boxes_.data() + node * 2 * columns_; }

  /// Finds the box of a node, and cuts its rows in half along the longest side.
  void divide(const S* x, int depth, std::int64_t at) {
    const auto rows = rows_of(depth, at);
    double* low = box((std::int64_t{1} << depth) + at);
    double* high = low + columns_;
    std::fill(low, high, std::numeric_limits<double>::infinity());
    std::fill(high, high + columns_, -std::numeric_limits<double>::infinity());
    for (auto i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) {
        const auto value = static_cast<double>(x[order_[static_cast<std::size_t>(i)] * columns_ + j]);
        low[j] = std::min(low[j], value);
        high[j] = std::max(high[j], value);
      }
    if (depth == depth_) return;
    std::int64_t side = 0;
    for (std::int64_t j = 1; j < columns_; ++j)
      if (high[j] - low[j] > high[side] - low[side]) side = j;
    const auto middle = rows_of(depth + 1, 2 * at).end;
    const auto begin = order_.begin();
    std::nth_element(begin + rows.begin, begin + middle, begin + rows.end, [&](std::int32_t a, std::int32_t b) {
      const S left = x[a * columns_ + side], right = x[b * columns_ + side];
      return left < right || (left == right && a < b);
    });
  }

  /// Stores the values of a leaf feature after feature.
  void lay_out(const S* x, std::int64_t leaf) {
    const auto rows = rows_of(depth_, leaf);
    const auto count = rows.end - rows.begin;
    S* to = values_.data() + rows.begin * columns_;
    for (std::int64_t j = 0; j < columns_; ++j)
      for (std::int64_t r = 0; r < count; ++r)
        to[j * count + r] = x[order_[static_cast<std::size_t>(rows.begin + r)] * columns_ + j];
  }

  double joined(double sum, double apart) const {
    if (unit_ == TreeUnit::squares) return sum + apart * apart;
    return unit_ == TreeUnit::sums ? sum + apart : std::max(sum, apart);
  }

  double box_bound(const double* query, std::int64_t node) const {
    const double* low = box(node);
    const double* high = low + columns_;
    double bound = 0;
    for (std::int64_t j = 0; j < columns_; ++j)
      bound = joined(bound, std::max(std::max(low[j] - query[j], query[j] - high[j]), 0.0));
    return bound;
  }

  /// The rows of a leaf within the limit; returns how many.
  std::int64_t compare(const double* query, Range rows, double limit, std::int32_t* near) const {
    std::array<double, most_leaf_rows> sums;
    const auto count = rows.end - rows.begin;
    const S* values = values_.data() + rows.begin * columns_;
    std::fill_n(sums.data(), count, 0.0);
    const auto add = [&](const auto& join) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        const double x = query[j];
        for (std::int64_t r = 0; r < count; ++r) {
          double& sum = sums[static_cast<std::size_t>(r)];
          sum = join(sum, x - static_cast<double>(values[j * count + r]));
        }
      }
    };
    if (unit_ == TreeUnit::squares)
      add([](double sum, double apart) { return sum + apart * apart; });
    else if (unit_ == TreeUnit::sums)
      add([](double sum, double apart) { return sum + std::abs(apart); });
    else
      add([](double sum, double apart) { return std::max(sum, std::abs(apart)); });
    std::int64_t found = 0;
    for (std::int64_t r = 0; r < count; ++r) {
      near[found] = order_[static_cast<std::size_t>(rows.begin + r)];
      found += sums[static_cast<std::size_t>(r)] <= limit ? 1 : 0;
    }
    return found;
  }

  TreeUnit unit_;
  DistanceType distance_;
  std::int64_t columns_;
  int depth_ = 0;                    // of the leaves
  std::vector<std::int32_t> order_;  // rows, leaf after leaf
  std::vector<double> boxes_;        // of each node
  std::vector<S> values_;            // of each leaf, feature after feature
};

}  // namespace sheaf::neighbors::cpu
