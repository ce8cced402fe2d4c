// Dense or sparse, as the options of a reading ask.
#pragma once

#include <sheaf/solvers/matrix.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// As it is, or as the options ask. Automatic: sparse unless more than half of the entries are there, when dense takes
/// no more memory and is faster.
template <class T>
Matrix<T> stored_as(const Reading& reading, SparseMatrix<T> x);

/// As it is unless the options ask for sparse.
template <class T>
Matrix<T> stored_as(const Reading& reading, DenseMatrix<T> x);

}  // namespace sheaf
