// Rows of a dataset on a GPU, and what kernels say of models.
#pragma once

#include <cstdint>
#include <variant>

#include <sheaf/matrix.hpp>

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

/// What a pass found of one model; see PassSums.
struct FoundSums {
  double largest, smallest, amount, gap, visits, left_out, shared;
};

/// Of one model and one part of its rows; see Measure.
struct PartialMeasure {
  double squares, losses, gap;
};

}  // namespace sheaf::linear::dual::gpu
