// Numbers whose squares overflow, which no sum of squares, product or norm survives.
#pragma once

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// An Error that names row and column of a feature, or of a numeric target, whose squares, added over all rows, are
/// beyond the largest number.
template <class T>
void check_magnitudes(const Context& context, const Dataset<T>& dataset);

}  // namespace sheaf
