// Dense or sparse, according to the reading options.
#pragma once

#include <sheaf/solvers/matrix.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// Keeps the storage, or changes it to what the options request. Automatic: sparse unless more than half of the entries
/// are there; then dense takes no more memory and is faster.
template <class T>
Matrix<T> stored_as(const Reading& reading, SparseMatrix<T> x);

/// Keeps the storage unless the options request sparse.
template <class T>
Matrix<T> stored_as(const Reading& reading, DenseMatrix<T> x);

}  // namespace sheaf
