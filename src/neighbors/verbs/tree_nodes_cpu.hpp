// A k-d tree over dense rows of few features. Searches see each third level: the bounds of the eight children of a
// node, and the distances of the rows of a leaf, are computed side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <sheaf/context.hpp>

#include "core/parallel.hpp"
#include "neighbors/verbs/doubles_cpu.hpp"
#include "neighbors/verbs/tree_plan.hpp"

namespace sheaf::neighbors::cpu {

template <class S>
class Tree {
 public:
  static constexpr int fan = 8;    // children of a node that a search sees
  static constexpr int steps = 3;  // levels between it and them
  static constexpr int leaf_rows = TreeShape::most_leaf_rows;

  Tree(const Context& context, const RowPair<S>& pair)
      : columns_(pair.columns()),
        shape_(pair.rows()),
        order_(static_cast<std::size_t>(pair.rows())),
        values_(static_cast<std::size_t>(shape_.leaves() * leaf_rows * columns_)) {
    const S* x = std::get<DenseMatrix<S>>(pair.data.x).values.data();
    std::iota(order_.begin(), order_.end(), 0);
    std::vector<std::uint64_t> keys(order_.size());
    for (int level = 0; level < shape_.depth; ++level)
      parallel_for(context, std::int64_t{1} << level, [&](std::int64_t at) { divide(x, level, at, keys); });
    for (int depth = shape_.depth; depth > 0; depth -= steps)
      boxes_.emplace_back(static_cast<std::size_t>(((std::int64_t{1} << depth) + fan - 1) / fan * group_size()));
    std::reverse(boxes_.begin(), boxes_.end());
    parallel_for(context, shape_.leaves(), [&](std::int64_t leaf) { lay_out(x, leaf); });
    for (int level = levels() - 2; level >= 0; --level)
      for (std::int64_t node = 0; node < nodes(level); ++node) join_boxes(level, node);
  }

  /// The rows, those that are near each other together.
  std::span<const std::int32_t> order() const { return order_; }

  /// Calls take(rows, bounds) with rows whose distance before finish() is at most the limit, near ones first; it
  /// returns the limit from then on. `Width` is at least the number of columns, as many as `query` has. Returns the
  /// number of rows that were compared.
  template <int Width, class Metric, class Take>
  std::int64_t visit(const Metric& metric, const double* query, double limit, const Take& take) const {
    struct Waiting {
      double bound;
      std::int64_t node;
      int level;
    };
    std::array<Waiting, 16 * fan> waiting;
    std::size_t count = 0;
    const auto open = [&](int level, std::int64_t group) {
      std::array<double, fan> bounds;
      bound_group<Width>(metric, query, level, group, bounds.data());
      const auto first = count;
      const auto children = std::min<std::int64_t>(nodes(level), fan);
      for (std::int64_t c = 0; c < children; ++c) {
        const double bound = bounds[static_cast<std::size_t>(c)];
        if (bound > limit) continue;
        auto at = count++;
        for (; at > first && waiting[at - 1].bound < bound; --at) waiting[at] = waiting[at - 1];
        waiting[at] = {bound, group * fan + c, level};
      }
    };
    std::int64_t compared = 0;
    std::array<std::int32_t, leaf_rows> rows;
    std::array<double, leaf_rows> sums;
    open(0, 0);
    while (count > 0) {
      const auto next = waiting[--count];
      if (next.bound > limit) continue;
      if (next.level + 1 < levels()) {
        open(next.level + 1, next.node);
        continue;
      }
      const auto begin = shape_.begin(shape_.depth, next.node);
      const auto here = shape_.begin(shape_.depth, next.node + 1) - begin;
      compared += here;
      compare<Width>(metric, query, next.node, here, sums.data());
      std::size_t near = 0;
      for (std::int64_t r = 0; r < here; ++r) {
        const double sum = sums[static_cast<std::size_t>(r)];
        rows[near] = order_[static_cast<std::size_t>(begin + r)];
        sums[near] = sum;
        near += sum <= limit ? 1 : 0;
      }
      if (near > 0) limit = take(std::span<const std::int32_t>(rows.data(), near), sums.data());
    }
    return compared;
  }

  /// The leaf that a query is in or near to.
  template <int Width, class Metric>
  std::int64_t leaf_of(const Metric& metric, const double* query) const {
    std::int64_t node = 0;
    for (int level = 0; level < levels(); ++level) {
      std::array<double, fan> bounds;
      bound_group<Width>(metric, query, level, node, bounds.data());
      const auto end = bounds.begin() + std::min<std::int64_t>(nodes(level), fan);
      node = node * fan + (std::min_element(bounds.begin(), end) - bounds.begin());
    }
    return node;
  }

 private:
  int levels() const { return static_cast<int>(boxes_.size()); }
  std::int64_t nodes(int level) const { return std::int64_t{1} << (shape_.depth - steps * (levels() - 1 - level)); }
  /// The boxes of a group of nodes: the least and the largest values of each feature.
  std::int64_t group_size() const { return 2 * columns_ * fan; }
  double* box(int level, std::int64_t node) {
    return boxes_[static_cast<std::size_t>(level)].data() + node / fan * group_size() + node % fan;
  }
  const double* group(int level, std::int64_t at) const {
    return boxes_[static_cast<std::size_t>(level)].data() + at * group_size();
  }

  /// Cuts the rows of a node in half along the longest side of their box.
  void divide(const S* x, int level, std::int64_t at, std::vector<std::uint64_t>& keys) {
    const auto begin = shape_.begin(level, at), end = shape_.begin(level, at + 1);
    std::array<S, most_tree_columns> low, high;
    low.fill(std::numeric_limits<S>::infinity());
    high.fill(-std::numeric_limits<S>::infinity());
    const auto columns = static_cast<std::size_t>(columns_);
    for (auto i = begin; i < end; ++i) {
      const S* row = x + order_[static_cast<std::size_t>(i)] * columns_;
      for (std::size_t j = 0; j < columns; ++j) {
        low[j] = std::min(low[j], row[j]);
        high[j] = std::max(high[j], row[j]);
      }
    }
    std::size_t side = 0;
    for (std::size_t j = 1; j < columns; ++j)
      if (high[j] - low[j] > high[side] - low[side]) side = j;
    for (auto i = begin; i < end; ++i) {
      const auto row = order_[static_cast<std::size_t>(i)];
      const auto value = static_cast<float>(x[row * columns_ + static_cast<std::int64_t>(side)]);
      keys[static_cast<std::size_t>(i)] =
          static_cast<std::uint64_t>(ordered_bits(value)) << 32 | static_cast<std::uint32_t>(row);
    }
    std::nth_element(keys.begin() + begin, keys.begin() + shape_.begin(level + 1, 2 * at + 1), keys.begin() + end);
    for (auto i = begin; i < end; ++i)
      order_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(keys[static_cast<std::size_t>(i)]);
  }

  /// Stores the values of a leaf feature after feature, the last row's in places without a row, and its box.
  void lay_out(const S* x, std::int64_t leaf) {
    const auto begin = shape_.begin(shape_.depth, leaf), last = shape_.begin(shape_.depth, leaf + 1) - 1;
    S* to = values_.data() + leaf * leaf_rows * columns_;
    for (std::int64_t r = 0; r < leaf_rows; ++r) {
      const S* row = x + order_[static_cast<std::size_t>(std::min(begin + r, last))] * columns_;
      for (std::int64_t j = 0; j < columns_; ++j) to[j * leaf_rows + r] = row[j];
    }
    double* limits = box(levels() - 1, leaf);
    for (std::int64_t j = 0; j < columns_; ++j) {
      const auto [low, high] = std::minmax_element(to + j * leaf_rows, to + (j + 1) * leaf_rows);
      limits[2 * j * fan] = static_cast<double>(*low);
      limits[(2 * j + 1) * fan] = static_cast<double>(*high);
    }
  }

  void join_boxes(int level, std::int64_t node) {
    const double* from = group(level + 1, node);
    double* to = box(level, node);
    for (std::int64_t j = 0; j < columns_; ++j) {
      to[2 * j * fan] = *std::min_element(from + 2 * j * fan, from + (2 * j + 1) * fan);
      to[(2 * j + 1) * fan] = *std::max_element(from + (2 * j + 1) * fan, from + (2 * j + 2) * fan);
    }
  }

  template <int Width, class Metric>
  void bound_group(const Metric& metric, const double* query, int level, std::int64_t at, double* bounds) const {
    const double* boxes = group(level, at);
    for (int c = 0; c < fan; c += width) {
      const auto bound = join_terms<Metric, Width, Doubles>(columns_, [&](std::int64_t j) {
        const Doubles below = load(boxes + 2 * j * fan + c) - query[j];
        const Doubles above = query[j] - load(boxes + (2 * j + 1) * fan + c);
        const Doubles apart = below > above ? below : above;
        return metric.term(apart > 0 ? apart : Doubles{}, Doubles{});
      });
      std::memcpy(bounds + c, &bound, sizeof bound);
    }
  }

  template <int Width, class Metric>
  void compare(const Metric& metric, const double* query, std::int64_t leaf, std::int64_t rows, double* sums) const {
    const S* values = values_.data() + leaf * leaf_rows * columns_;
    for (std::int64_t r = 0; r < rows; r += width) {
      const auto sum = join_terms<Metric, Width, Doubles>(columns_, [&](std::int64_t j) {
        return metric.term(Doubles{} + query[j], load(values + j * leaf_rows + r));
      });
      std::memcpy(sums + r, &sum, sizeof sum);
    }
  }

  std::int64_t columns_;
  TreeShape shape_;
  std::vector<std::int32_t> order_;         // rows, leaf after leaf
  std::vector<S> values_;                   // of each leaf, feature after feature
  std::vector<std::vector<double>> boxes_;  // of each level that searches see, group after group
};

}  // namespace sheaf::neighbors::cpu
