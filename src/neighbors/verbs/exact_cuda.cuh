// Exact distances on a GPU, in the order that metrics.hpp defines: eight threads share a pair of dense rows, one thread
// takes a pair of sparse ones.
#pragma once

#include <cstdint>

#include <sheaf/solvers/array.hpp>

#include "cuda/check.cuh"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors::gpu {

/// Rows on the GPU.
template <class S>
struct RowsView {
  const S* values = nullptr;
  const std::int64_t* offsets = nullptr;  ///< nullptr: dense
  const std::int32_t* indices = nullptr;
  const RowTerms* terms = nullptr;  ///< nullptr: none
  std::int64_t columns = 0;
};

/// Owns them.
template <class S>
class DeviceRows {
 public:
  DeviceRows() = default;
  DeviceRows(const Rows<S>& rows, Device device)
      : x_(std::visit([&](const auto& m) { return Matrix<S>(m.to(device)); }, rows.x)),
        terms_(Array<RowTerms>::copy_of(rows.terms, device)) {}

  RowsView<S> view() const {
    RowsView<S> view;
    view.columns = sheaf::columns(x_);
    view.terms = terms_.size() > 0 ? terms_.data() : nullptr;
    if (const auto* dense = std::get_if<DenseMatrix<S>>(&x_)) {
      view.values = dense->values.data();
    } else {
      const auto& sparse = std::get<SparseMatrix<S>>(x_);
      view.values = sparse.values.data();
      view.offsets = sparse.offsets.data();
      view.indices = sparse.indices.data();
    }
    return view;
  }

 private:
  Matrix<S> x_;
  Array<RowTerms> terms_;
};

inline constexpr int pair_threads = 256;  // of a block
inline constexpr int pairs_of_block = pair_threads / parts;

template <class S>
__device__ RowTerms terms_at(const RowsView<S>& rows, std::int64_t i) {
  return rows.terms == nullptr ? RowTerms{} : rows.terms[i];
}

template <class Metric, class S>
__device__ double value_of(S stored, const RowTerms& terms) {
  const auto wide = static_cast<double>(stored);
  if constexpr (Metric::has_row_terms) return (wide - terms.shift) * terms.factor;
  return wide;
}

/// The distance of two dense rows. All eight threads of a pair call it and have the result.
template <class Metric, class S>
__device__ double dense_pair(const Metric& metric, const double* weights, const RowsView<S>& queries,
                             std::int64_t query, const RowsView<S>& data, std::int64_t row) {
  const RowTerms own = terms_at(queries, query);
  const RowTerms other = terms_at(data, row);
  const S* x = queries.values + query * queries.columns;
  const S* y = data.values + row * data.columns;
  const int part = static_cast<int>(threadIdx.x) % parts;
  double sum = 0;
#pragma unroll 4
  for (std::int64_t j = part; j < queries.columns; j += parts) {
    double term = metric.term(value_of<Metric>(x[j], own), value_of<Metric>(y[j], other));
    if (weights != nullptr) term = weights[j] * term;
    sum = Metric::join(sum, term);
  }
  double all[parts];
  const unsigned lanes = 0xffU << (threadIdx.x % 32 / parts * parts);
  for (int p = 0; p < parts; ++p) all[p] = __shfl_sync(lanes, sum, p, parts);
  return metric.finish(join_parts<Metric>(all), own, other);
}

template <class Metric, class S>
__device__ double sparse_pair(const Metric& metric, const double* weights, const RowsView<S>& queries,
                              std::int64_t query, const RowsView<S>& data, std::int64_t row) {
  const RowTerms own = terms_at(queries, query);
  const RowTerms other = terms_at(data, row);
  double part[parts] = {};
  std::int64_t a = queries.offsets[query];
  std::int64_t b = data.offsets[row];
  const std::int64_t a_end = queries.offsets[query + 1];
  const std::int64_t b_end = data.offsets[row + 1];
  constexpr std::int32_t beyond = 0x7fffffff;
  while (a < a_end || b < b_end) {
    const std::int32_t in_a = a < a_end ? queries.indices[a] : beyond;
    const std::int32_t in_b = b < b_end ? data.indices[b] : beyond;
    const std::int32_t j = in_a < in_b ? in_a : in_b;
    const double x = in_a == j ? value_of<Metric>(queries.values[a++], own) : 0.0;
    const double y = in_b == j ? value_of<Metric>(data.values[b++], other) : 0.0;
    double term = metric.term(x, y);
    if (weights != nullptr) term = weights[j] * term;
    part[j % parts] = Metric::join(part[j % parts], term);
  }
  return metric.finish(join_parts<Metric>(part), own, other);
}

/// A pair of either kind, by eight threads.
template <class Metric, class S>
__device__ double pair_distance(const Metric& metric, const double* weights, const RowsView<S>& queries,
                                std::int64_t query, const RowsView<S>& data, std::int64_t row) {
  if (queries.offsets == nullptr) return dense_pair(metric, weights, queries, query, data, row);
  double distance = 0;
  if (threadIdx.x % parts == 0) distance = sparse_pair(metric, weights, queries, query, data, row);
  const unsigned lanes = 0xffU << (threadIdx.x % 32 / parts * parts);
  return __shfl_sync(lanes, distance, 0, parts);
}

}  // namespace sheaf::neighbors::gpu
