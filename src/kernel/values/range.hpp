// Whether kernel values are numbers: they are kept in float, and inner products are summed in double.
#pragma once

#include <cstdint>
#include <span>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/svm.hpp>

namespace sheaf::kernel {

/// The largest squared norm of a row; infinite if one overflows.
template <class T>
double largest_square(const Matrix<T>& x, int threads);

/// An Error that names the row and its largest feature if kernel values of the given rows (none given: all) could be
/// beyond what they are kept in. `other_square`: the largest squared norm of the rows that they are compared with;
/// negative: with each other.
template <class T>
void check_kernel_values(const Dataset<T>& dataset, std::span<const std::int32_t> rows, const KernelParams& kernel,
                         double other_square, int threads);

}  // namespace sheaf::kernel
