// One entry of a matrix, dense or sparse: for the few that messages and tables of a feature show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

template <class T>
double value_at(const Matrix<T>& x, std::int64_t row, std::int64_t column) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    return static_cast<double>(dense->values[row * dense->columns + column]);
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  const auto* begin = sparse.indices.data() + sparse.offsets[row];
  const auto* end = sparse.indices.data() + sparse.offsets[row + 1];
  const auto* at = std::lower_bound(begin, end, column);
  return at != end && *at == column ? static_cast<double>(sparse.values[at - sparse.indices.data()]) : 0;
}

}  // namespace sheaf
