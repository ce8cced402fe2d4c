// Whether float holds the values of a dataset well enough to learn from them.
#pragma once

#include <string>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// A sentence that names features whose values differ by so little, against their size, that float loses the
/// differences; empty: there are none.
std::string why_double(const Context& context, const Dataset<float>& dataset);

}  // namespace sheaf
