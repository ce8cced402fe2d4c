// Distances and neighbours by their definitions, one pair at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <sheaf/neighbors.hpp>

#include "tables.hpp"

namespace sheaf::test {

using Row = std::vector<double>;

inline double plain_cosine(const Row& x, const Row& y) {
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    xy += x[j] * y[j];
    xx += x[j] * x[j];
    yy += y[j] * y[j];
  }
  if (xx == 0 && yy == 0) return 0;
  return xx == 0 || yy == 0 ? 1 : 1 - xy / (std::sqrt(xx) * std::sqrt(yy));
}

inline Row less_mean(Row row) {
  double sum = 0;
  for (const double value : row) sum += value;
  const bool constant = std::all_of(row.begin(), row.end(), [&](double value) { return value == row.front(); });
  for (double& value : row) value = constant ? 0 : value - sum / static_cast<double>(row.size());
  return row;
}

inline double plain_distance(const DistanceOptions& options, const Row& x, const Row& y) {
  const auto p = x.size();
  double sum = 0, largest = 0, both = 0, either = 0, differ = 0;
  const bool cubes = options.metric == DistanceType::minkowski;
  const bool squares = options.metric == DistanceType::euclidean || options.metric == DistanceType::squared_euclidean;
  for (std::size_t j = 0; j < p; ++j) {
    const double apart = std::abs(x[j] - y[j]);
    const double weight = options.weights.empty() ? 1 : options.weights[j];
    sum += weight * (squares ? apart * apart : cubes ? std::pow(apart, options.power) : apart);
    largest = std::max(largest, apart);
    both += x[j] != 0 && y[j] != 0 ? 1 : 0;
    either += x[j] != 0 || y[j] != 0 ? 1 : 0;
    differ += x[j] != y[j] ? 1 : 0;
  }
  switch (options.metric) {
    case DistanceType::euclidean:
      return std::sqrt(sum);
    case DistanceType::squared_euclidean:
    case DistanceType::manhattan:
      return sum;
    case DistanceType::cosine:
      return plain_cosine(x, y);
    case DistanceType::correlation:
      return plain_cosine(less_mean(x), less_mean(y));
    case DistanceType::chebyshev:
      return largest;
    case DistanceType::minkowski:
      return std::pow(sum, 1 / options.power);
    case DistanceType::hamming:
      return differ / static_cast<double>(p);
    case DistanceType::jaccard:
      return either > 0 ? (either - both) / either : 0;
  }
  return 0;
}

struct PlainNeighbor {
  double distance;
  std::int32_t row;
  bool operator<(const PlainNeighbor& other) const {
    return distance < other.distance || (distance == other.distance && row < other.row);
  }
};

/// All rows that `allowed` of a query, the nearest first.
inline std::vector<PlainNeighbor> plain_neighbors(const DistanceOptions& options, const Rows& data, const Row& query,
                                                  const std::function<bool(std::int32_t)>& allowed) {
  std::vector<PlainNeighbor> found;
  for (std::int32_t j = 0; j < std::ssize(data); ++j)
    if (allowed(j)) found.push_back({plain_distance(options, query, data[static_cast<std::size_t>(j)]), j});
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace sheaf::test
