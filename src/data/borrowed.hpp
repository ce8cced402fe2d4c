// The same memory under another owner's name, which must outlive the result.
#pragma once

#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

template <class T>
Array<T> borrowed(const Array<T>& from) {
  return Array<T>::over(from.data(), from.size(), from.device());
}

template <class T>
Matrix<T> borrowed(const Matrix<T>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    return DenseMatrix<T>{dense->rows, dense->columns, borrowed(dense->values)};
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return SparseMatrix<T>{sparse.rows, sparse.columns, borrowed(sparse.offsets), borrowed(sparse.indices),
                         borrowed(sparse.values)};
}

}  // namespace sheaf
