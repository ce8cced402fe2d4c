// Exact distances on CPU cores: in double, from differences, in the order that metrics.hpp defines.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors {

class ExactDistances {
 public:
  ExactDistances() = default;
  ExactDistances(const ExactDistances&) = delete;
  ExactDistances& operator=(const ExactDistances&) = delete;
  virtual ~ExactDistances() = default;

  /// Memory that a thread brings along from query to query.
  using Scratch = std::vector<double>;

  /// out[k]: from a query to row rows[k].
  virtual void to_rows(std::int64_t query, std::span<const std::int32_t> rows, double* out, Scratch& scratch) const = 0;
  /// The same to consecutive rows.
  virtual void to_range(std::int64_t query, Range rows, double* out, Scratch& scratch) const = 0;
};

/// The pair must outlive it.
template <class Set, class S>
std::unique_ptr<ExactDistances> make_exact_for(const RowPair<S>& pair);

}  // namespace sheaf::neighbors
