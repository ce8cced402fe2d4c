// Rows of a dataset on a GPU, and results of kernels about models.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include <sheaf/solvers/matrix.hpp>

#include "linear/dual/ops.hpp"

namespace sheaf::linear::dual::gpu {

template <class T>
struct SparseRows {
  const std::int64_t* offsets;
  const std::int32_t* indices;
  const T* values;
  std::int64_t columns;

  __device__ std::int64_t begin(std::int64_t i) const { return offsets[i]; }
  __device__ std::int64_t end(std::int64_t i) const { return offsets[i + 1]; }
  __device__ std::int64_t index(std::int64_t /*i*/, std::int64_t k) const { return indices[k]; }
};
template <class T>
struct DenseRows {
  const T* values;
  std::int64_t columns;

  __device__ std::int64_t begin(std::int64_t i) const { return i * columns; }
  __device__ std::int64_t end(std::int64_t i) const { return (i + 1) * columns; }
  __device__ std::int64_t index(std::int64_t i, std::int64_t k) const { return k - i * columns; }
};

/// Calls f(rows) with the matrix, which is on the GPU.
template <class T, class F>
void with_rows(const Matrix<T>& x, const F& f) {
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x))
    f(SparseRows<T>{sparse->offsets.data(), sparse->indices.data(), sparse->values.data(), sparse->columns});
  else
    f(DenseRows<T>{std::get<DenseMatrix<T>>(x).values.data(), columns(x)});
}

/// Results of a pass for one model; see PassSums.
struct FoundSums {
  double largest, smallest, amount, gap, visits, left_out, shared;
};

inline void fetch(const Array<FoundSums>& found, std::span<PassSums> sums) {
  const auto here = found.to(Device::cpu());
  for (std::size_t t = 0; t < sums.size(); ++t) {
    const auto& one = here[static_cast<std::int64_t>(t)];
    sums[t] = {one.largest, one.smallest, one.amount, one.gap, one.visits, one.left_out, one.shared};
  }
}

/// Sums of one model over one part of its rows; see Measure.
struct PartialMeasure {
  double squares, losses, gap;
};

/// Adds up the parts of `models` models, those of one part side by side.
inline void fetch(const Array<PartialMeasure>& partial, std::int32_t models, std::span<Measure> measures) {
  const auto parts = partial.to(Device::cpu());
  std::fill(measures.begin(), measures.end(), Measure{});
  for (std::int64_t e = 0; e < parts.size(); ++e) {
    auto& total = measures[static_cast<std::size_t>(e % models)];
    total.squares += parts[e].squares;
    total.losses += parts[e].losses;
    total.gap += parts[e].gap;
  }
}

}  // namespace sheaf::linear::dual::gpu
