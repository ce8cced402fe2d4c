// Checks that a matrix, which another program may have written, is as solvers expect.
#pragma once

#include <sheaf/dataset.hpp>

#include "data/read/reading.hpp"

namespace sheaf::sheaf_file {

/// Offsets ascend, indices are columns and ascend in each row, values are finite or NaN, those of nominal features
/// numbers of levels: else an Error that names row and feature. Returns whether values are missing (NaN). One pass;
/// pages of a mapped file that is larger than half of the memory budget are given back at once.
template <class T>
bool check_matrix(const Reading& reading, const Dataset<T>& dataset);

}  // namespace sheaf::sheaf_file
