// From the caller's arrays to matrices: one function for each kind of layout.
#pragma once

#include <optional>

#include <sheaf/memory.hpp>

namespace sheaf::memory {

template <class T>
struct Imported {
  Matrix<T> x;                        ///< in CPU memory
  std::optional<Matrix<T>> resident;  ///< the caller's memory on a GPU, if it can be used as it is
};

// Shapes, offsets and indices are checked; values are not.
template <class T>
Imported<T> import_dense(const Context& context, const DenseInput& input);
template <class T>
Imported<T> import_sparse(const Context& context, const SparseInput& input);

/// Infinite values and, unless they are missing values, NaN are UsageErrors. `narrowed`: T holds less than the caller's
/// type. Returns whether there is a NaN.
template <class T>
bool check_values(const Matrix<T>& x, Missing missing, bool narrowed, int threads);

}  // namespace sheaf::memory
