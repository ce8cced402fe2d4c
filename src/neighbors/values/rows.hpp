// Rows in the form that distances are computed of, and queries in the same form.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/neighbors.hpp>

#include "neighbors/values/metrics.hpp"

namespace sheaf::neighbors {

/// A matrix and the terms of each row that the metric needs.
template <class S>
struct Rows {
  Matrix<S> x;
  std::vector<RowTerms> terms;  ///< empty if the metric needs none
};

/// Data and queries of the same columns, storage and number type: float if that holds every value, which halves the
/// memory that exact distances read and changes no bit of them.
template <class S>
struct RowPair {
  Rows<S> data;
  Rows<S> queries;   ///< empty if the rows are their own queries
  bool self = true;  ///< they are
  DistanceOptions distance;

  const Rows<S>& from() const { return self ? data : queries; }
  std::int64_t rows() const { return sheaf::rows(data.x); }
  std::int64_t columns() const { return sheaf::columns(data.x); }
};
using AnyRowPair = std::variant<RowPair<float>, RowPair<double>>;

/// A value that is not finite, or so large that a distance (`local`: a model of the rows near a query) would overflow,
/// is an Error that names its row and feature.
template <class T>
void check_values(const Context& context, const Dataset<T>& dataset, const DistanceOptions& distance, bool local);

/// Checks values and weights. The datasets must outlive the pair, which borrows matrices that suit. Minkowski's
/// distance of power 1 or 2 becomes the one that has a name of its own.
template <class T>
AnyRowPair make_row_pair(const Context& context, const Dataset<T>& dataset, const Dataset<T>* queries,
                         const DistanceOptions& distance);

/// Row i as a metric compares it: shifted and scaled by its terms. `out` has as many entries as the matrix columns.
template <class S>
void write_row(const Rows<S>& rows, std::int64_t i, double* out);

}  // namespace sheaf::neighbors
