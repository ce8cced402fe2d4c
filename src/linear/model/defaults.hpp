// Defaults of linear models that follow from the target.
#pragma once

#include <span>

#include <sheaf/solvers/linear.hpp>

namespace sheaf::linear {

/// See sheaf::with_defaults(), for weighted rows.
LinearOptions with_weighted_defaults(LinearOptions options, const Target& target, std::span<const float> row_weights);

}  // namespace sheaf::linear
