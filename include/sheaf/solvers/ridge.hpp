// Ridge regression with each row left out in turn, without training a model for each.
#pragma once

#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// Prediction of ridge regression for each row, trained on the others: alphas x rows. A model minimises
/// sum of weight * (y - x'w - intercept)^2 + alpha * w'w. The target is numeric, alphas and weights are above 0; no
/// weights: 1 each. One eigen decomposition of the smaller of X X' and X'X serves all alphas.
template <class T>
std::vector<double> ridge_leave_one_out(const Context& context, const Dataset<T>& dataset,
                                        std::span<const double> alphas, std::span<const double> weights = {},
                                        bool intercept = true);

}  // namespace sheaf
