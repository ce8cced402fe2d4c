// Rows that may be neighbours, and rows that were found, on either device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/host_device.hpp"
#include "neighbors/verbs/ops.hpp"

namespace sheaf::neighbors {

/// Whether a row may be a neighbour of a query. Queries are identified by their places among the requested ones. Memory
/// is that of the calling device; nullptr: no such restriction.
struct Allowed {
  const std::int32_t* queries = nullptr;
  const std::uint8_t* data = nullptr;
  const std::int32_t* folds = nullptr;
  bool self = false;    ///< queries are rows
  bool itself = false;  ///< and may be their own neighbours

  Allowed() = default;
  Allowed(const Eligible& eligible, bool rows_are_queries)
      : queries(eligible.queries.empty() ? nullptr : eligible.queries.data()),
        data(eligible.data.empty() ? nullptr : eligible.data.data()),
        folds(eligible.folds.empty() ? nullptr : eligible.folds.data()),
        self(rows_are_queries),
        itself(eligible.itself) {}

  SHEAF_HOST_DEVICE std::int32_t query(std::int64_t place) const {
    return queries == nullptr ? static_cast<std::int32_t>(place) : queries[place];
  }
  SHEAF_HOST_DEVICE bool operator()(std::int64_t place, std::int64_t row) const {
    if (data != nullptr && data[row] == 0) return false;
    if (!self) return true;
    const auto of = query(place);
    if (of == row) return itself;
    return folds == nullptr || folds[of] != folds[row];
  }
};

/// A row and its exact distance. The nearer comes first, the lower index of equals.
struct Found {
  double distance;
  std::int32_t row;
  float lower = 0;  ///< the filter's bound, if it is of use

  friend bool operator<(const Found& a, const Found& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
  }
};

/// The rows found for each query, as lists.
inline RadiusLists lists_of(std::span<const std::vector<Found>> found) {
  RadiusLists result;
  for (const auto& list : found) {
    for (const auto& one : list) {
      result.indices.push_back(one.row);
      result.distances.push_back(one.distance);
    }
    result.offsets.push_back(std::ssize(result.indices));
  }
  return result;
}

}  // namespace sheaf::neighbors
