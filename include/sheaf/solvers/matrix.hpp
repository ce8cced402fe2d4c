// Matrices of float or double. Offsets are 64-bit; row and column numbers fit 32 bits.
#pragma once

#include <cstdint>
#include <variant>

#include <sheaf/solvers/array.hpp>

namespace sheaf {

/// Row-major, the rows one after the other.
template <class T>
struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Array<T> values;

  DenseMatrix to(Device device) const { return {rows, columns, values.to(device)}; }
};

/// Compressed rows (CSR): row i owns entries offsets[i] .. offsets[i+1], columns ascending. Compressed columns (CSC)
/// are the compressed rows of the transpose.
template <class T>
struct SparseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Array<std::int64_t> offsets;  // rows + 1
  Array<std::int32_t> indices;
  Array<T> values;

  std::int64_t nonzeros() const { return values.size(); }
  SparseMatrix to(Device device) const {
    return {rows, columns, offsets.to(device), indices.to(device), values.to(device)};
  }
};

template <class T>
using Matrix = std::variant<DenseMatrix<T>, SparseMatrix<T>>;

template <class T>
std::int64_t rows(const Matrix<T>& x) {
  return std::visit([](const auto& m) { return m.rows; }, x);
}
template <class T>
std::int64_t columns(const Matrix<T>& x) {
  return std::visit([](const auto& m) { return m.columns; }, x);
}
template <class T>
bool is_sparse(const Matrix<T>& x) {
  return std::holds_alternative<SparseMatrix<T>>(x);
}
/// Stored entries: all of a dense matrix.
template <class T>
std::int64_t stored(const Matrix<T>& x) {
  return std::visit([](const auto& m) { return m.values.size(); }, x);
}
/// Bytes the matrix takes.
template <class T>
std::int64_t matrix_bytes(const Matrix<T>& x);

/// The device whose memory holds the matrix.
template <class T>
Device device_of(const Matrix<T>& x) {
  return std::visit([](const auto& m) { return m.values.device(); }, x);
}

// On CPU memory, with `threads` threads; the result does not depend on their number.
template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& x, int threads);
template <class T>
DenseMatrix<T> to_dense(const SparseMatrix<T>& x, int threads);
/// Leaves out zeros.
template <class T>
SparseMatrix<T> to_sparse(const DenseMatrix<T>& x, int threads);
/// The same matrix in another precision. A value too large for float is an Error.
template <class To, class From>
Matrix<To> convert_precision(const Matrix<From>& x, int threads);

}  // namespace sheaf
