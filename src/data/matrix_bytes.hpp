// The share of the memory budget that a matrix takes.
#pragma once

#include <cstdint>

#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

/// Bytes of a matrix that are not borrowed: none of a mapped file, whose pages the system takes back when it needs
/// them, and none of memory that the caller held before the budget was measured.
template <class T>
std::int64_t owned_bytes(const Matrix<T>& x) {
  const auto bytes = [](const auto& array) { return array.is_owned() ? array.bytes() : 0; };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) return bytes(dense->values);
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return bytes(sparse.offsets) + bytes(sparse.indices) + bytes(sparse.values);
}

/// With the compressed columns that solvers make of sparse rows.
template <class T>
std::int64_t training_bytes(const Matrix<T>& x) {
  return owned_bytes(x) + (is_sparse(x) ? matrix_bytes(x) : 0);
}

}  // namespace sheaf
