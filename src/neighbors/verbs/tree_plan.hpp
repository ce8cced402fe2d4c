// Trees over dense rows of few features, on either device: the rows they take, their shape and their cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/host_device.hpp"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors {

inline constexpr std::int64_t most_tree_columns = 15;
/// With fewer rows there is little to pass by.
inline constexpr std::int64_t fewest_tree_rows = 2000;

/// Calls work(functor) with the functor of a distance of which boxes give a bound, if this is one.
template <class Work>
void with_tree_metric(const DistanceOptions& options, std::int64_t features, const Work& work) {
  with_metric_of(options, features, work, MetricList<Euclidean, SquaredEuclidean, Manhattan, Chebyshev>{});
}

/// Whether a tree takes dense rows.
inline bool fits_tree(const DistanceOptions& distance, std::int64_t rows, std::int64_t columns) {
  bool has_bounds = false;
  with_tree_metric(distance, columns, [&](const auto&) { has_bounds = distance.weights.empty(); });
  return has_bounds && columns > 0 && columns <= most_tree_columns && rows >= fewest_tree_rows;
}
template <class S>
bool suits_tree(const RowPair<S>& pair) {
  return !is_sparse(pair.data.x) && fits_tree(pair.distance, pair.rows(), pair.columns());
}

/// Calls work(a constant at least as large as the number of columns): loops over columns of that length are unrolled.
template <class Work>
void with_tree_width(std::int64_t columns, const Work& work) {
  static_assert(most_tree_columns <= 16);
  if (columns <= 4)
    work(std::integral_constant<int, 4>{});
  else if (columns <= 8)
    work(std::integral_constant<int, 8>{});
  else
    work(std::integral_constant<int, 16>{});
}

/// Joins term(j) of all columns in the order of metrics.hpp: parts without columns are 0 and change nothing. The
/// box of a row has no larger terms than the row, so that its bound, rounded likewise, is no larger than the sum.
template <class Metric, int Width, class V, class Term>
SHEAF_HOST_DEVICE V join_terms(std::int64_t columns, const Term& term) {
  V part[parts] = {};
  const auto add = [&](int j) {
    if (j < columns) part[j % parts] = Metric::join(part[j % parts], term(j));
  };
  [&]<int... J>(std::integer_sequence<int, J...>) { (add(J), ...); }
  (std::make_integer_sequence<int, Width>{});
  return join_parts<Metric>(part);
}

/// Numbers as unsigned ones of the same order.
SHEAF_HOST_DEVICE inline std::uint32_t ordered_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}

/// A balanced tree: the nodes of a level hold almost equally many rows.
struct TreeShape {
  static constexpr int most_leaf_rows = 32;
  std::int64_t rows = 0;
  int depth = 0;  ///< of the leaves

  TreeShape() = default;
  explicit TreeShape(std::int64_t count) : rows(count) {
    while (((count - 1) >> depth) >= most_leaf_rows) ++depth;
  }
  SHEAF_HOST_DEVICE std::int64_t leaves() const { return std::int64_t{1} << depth; }
  /// The first row of node `at` of a level.
  SHEAF_HOST_DEVICE std::int64_t begin(int level, std::int64_t at) const { return rows * at >> level; }
  /// The node of a level that holds a row.
  SHEAF_HOST_DEVICE std::int64_t node(int level, std::int64_t row) const { return (((row + 1) << level) - 1) / rows; }
};

/// Whether the bounds of a distance are its squares.
template <class Metric>
inline constexpr bool is_squared = std::is_same_v<Metric, Euclidean>;

/// The limit of bounds that belongs to a distance: those above it are of rows farther away, whatever was rounded.
SHEAF_HOST_DEVICE inline double tree_limit(bool squared, double distance) {
  constexpr double slack = 1e-12, smallest = 1e-300;
  const double bound = squared ? distance * distance : distance;
  return bound * (1 + slack) + smallest;
}

/// What a row that the tree compares costs, relative to one of a filter, which compares all rows.
inline constexpr std::int64_t tree_row_cost = 12;

/// Whether a tree that compared `compared` rows for `queries` queries is faster than a filter.
inline bool tree_pays(std::int64_t compared, std::int64_t queries, std::int64_t rows) {
  return compared * tree_row_cost < queries * rows;
}

/// Rows that a query for its k nearest is compared with, roughly: a cube of k rows meets
/// (1 + (k / leaf)^(1 / features))^features leaves; limits that were not yet as low make that twice as many.
inline std::int64_t expected_tree_rows(std::int64_t rows, std::int64_t features, std::int64_t k) {
  constexpr double leaf = 0.75 * TreeShape::most_leaf_rows;
  const auto dimensions = static_cast<double>(features);
  const double compared = 2 * leaf * std::pow(1 + std::pow(static_cast<double>(k) / leaf, 1 / dimensions), dimensions);
  return static_cast<std::int64_t>(std::min(static_cast<double>(rows), compared));
}

/// What each of them costs in operations of core/device_cost.hpp: 16 ns of a core, in few dimensions mostly for lists.
inline constexpr double tree_row_operations = 24;

}  // namespace sheaf::neighbors
