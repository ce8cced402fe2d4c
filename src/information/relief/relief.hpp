// Relief and relieff on a matrix, with the classes given separately.
#pragma once

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// `target` has the class of each row of x, in CPU memory.
Selection select_by_relief(const Context& context, const Matrix<double>& x, const BinnedTarget& target,
                           const SelectionOptions& options);

}  // namespace sheaf::information
