// Ridge regression solved by one eigen decomposition: models of several targets or without a penalty, and predictions
// with each row left out in turn.
#pragma once

#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/elastic_net.hpp>

namespace sheaf {

/// Prediction of ridge regression for each row, trained on the others: alphas x rows. A model minimises
/// sum of weight * (y - x'w - intercept)^2 + alpha * w'w. The target is numeric, alphas and weights are above 0; no
/// weights: 1 each. One eigen decomposition of the smaller of X X' and X'X serves all alphas.
template <class T>
std::vector<double> ridge_leave_one_out(const Context& context, const Dataset<T>& dataset,
                                        std::span<const double> alphas, std::span<const double> weights = {},
                                        bool intercept = true);

/// The model that minimises sum of weight * (y - x'w - intercept)^2 + alpha * w'w for each target by itself, as an
/// elastic net without an L1 penalty. With an alpha of 0, of all weights that fit best the shortest. Time and memory
/// grow with the smaller one of rows and features: cubed and squared.
template <class T>
LinearModel train_ridge(const Context& context, const Dataset<T>& dataset, double alpha,
                        std::span<const double> weights = {}, bool intercept = true);

/// Whether train_ridge is the way to train such a model: there is no other of several targets and without a penalty,
/// and it takes less time than steps over the rows if the dataset is small or dense with few features.
template <class T>
bool prefers_train_ridge(const Dataset<T>& dataset, double alpha);

}  // namespace sheaf
