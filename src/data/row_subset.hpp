// Rows of a matrix: the entries of one, and some of them in the order of their places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

/// Calls entry(column, value) for the stored entries of a row, of a dense one all.
template <class T, class Entry>
void for_row_entries(const DenseMatrix<T>& x, std::int64_t row, const Entry& entry) {
  const T* values = x.values.data() + row * x.columns;
  for (std::int64_t j = 0; j < x.columns; ++j) entry(j, values[j]);
}
template <class T, class Entry>
void for_row_entries(const SparseMatrix<T>& x, std::int64_t row, const Entry& entry) {
  for (std::int64_t k = x.offsets[row]; k < x.offsets[row + 1]; ++k) entry(std::int64_t{x.indices[k]}, x.values[k]);
}
template <class T, class Entry>
void for_row_entries(const Matrix<T>& x, std::int64_t row, const Entry& entry) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    for_row_entries(*dense, row, entry);
  else
    for_row_entries(std::get<SparseMatrix<T>>(x), row, entry);
}

template <class To, class From>
DenseMatrix<To> some_rows(const DenseMatrix<From>& x, std::span<const std::int32_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  DenseMatrix<To> result{count, x.columns, Array<To>(count * x.columns)};
  for (std::int64_t i = 0; i < count; ++i) {
    const From* from = x.values.data() + rows[static_cast<std::size_t>(i)] * x.columns;
    std::transform(from, from + x.columns, result.values.data() + i * x.columns,
                   [](From value) { return static_cast<To>(value); });
  }
  return result;
}

template <class To, class From>
SparseMatrix<To> some_rows(const SparseMatrix<From>& x, std::span<const std::int32_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  SparseMatrix<To> result{count, x.columns, Array<std::int64_t>(count + 1), {}, {}};
  result.offsets[0] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    result.offsets[i + 1] = result.offsets[i] + x.offsets[row + 1] - x.offsets[row];
  }
  result.indices = Array<std::int32_t>(result.offsets[count]);
  result.values = Array<To>(result.offsets[count]);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = x.offsets[rows[static_cast<std::size_t>(i)]] - result.offsets[i];
    for (std::int64_t k = result.offsets[i]; k < result.offsets[i + 1]; ++k) {
      result.indices[k] = x.indices[from + k];
      result.values[k] = static_cast<To>(x.values[from + k]);
    }
  }
  return result;
}

template <class To, class From>
Matrix<To> some_rows(const Matrix<From>& x, std::span<const std::int32_t> rows) {
  return std::visit([&](const auto& m) { return Matrix<To>(some_rows<To>(m, rows)); }, x);
}

}  // namespace sheaf
