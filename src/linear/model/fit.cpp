#include <algorithm>

#include <sheaf/solvers/linear.hpp>

#include "data/checks/row_weights.hpp"
#include "linear/model/problem.hpp"

namespace sheaf {
namespace {

template <class T>
std::vector<double> flat_weights(const Block<T>& block) {
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(block.rows() * block.tasks()));
  for (std::int64_t j = 0; j < block.rows(); ++j)
    for (std::int32_t c = 0; c < block.tasks(); ++c) weights.push_back(static_cast<double>(block(j, c)));
  return weights;
}

}  // namespace

template <class T>
LinearModel linear::train_seen(const Context& context, const Dataset<T>& dataset, const LinearOptions& given,
                               std::span<const float> row_weights, const ColumnTransforms* seen) {
  const auto asked = linear::with_weighted_defaults(given, dataset.target, row_weights);
  auto problem = linear::make_problem(context, dataset.target, dataset.source, dataset.rows(), asked);
  const auto options =
      linear::with_method(context, dataset, asked, static_cast<std::int64_t>(problem.sheaf.tasks.size()));
  check_row_weights(row_weights, problem.sheaf.examples);
  problem.sheaf.row_weights.assign(row_weights.begin(), row_weights.end());
  if (seen != nullptr) {
    problem.sheaf.column_transforms = seen->splits;
    problem.sheaf.shifts = seen->shifts;
    problem.sheaf.factors = seen->factors;
  }
  auto fits = linear::train_tasks(context, dataset, problem.sheaf, options);
  LinearModel model;
  model.solver = options.penalty == LinearPenalty::l1 ? l1_solver(*options.loss).name
                                                      : linear_solver(*options.loss, options.method).name;
  model.class_names = std::move(problem.labels.class_names);
  model.features = dataset.features();
  model.columns = fits.weights.tasks();
  model.bias = options.bias;
  model.weights = flat_weights(fits.weights);
  model.feature_names = dataset.feature_names;
  model.cost = *options.cost;
  model.epsilon = *options.epsilon;
  model.penalise_bias = *options.penalise_bias;
  if (!all_one(problem.class_weights)) model.class_weights = std::move(problem.class_weights);
  model.fits = std::move(fits.tasks);
  return model;
}

template <class T>
LinearModel train_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                         std::span<const float> row_weights) {
  return linear::train_seen(context, dataset, options, row_weights, nullptr);
}

LinearModel linear::keep_features(const LinearModel& model, std::span<const std::int64_t> features) {
  auto result = model;
  result.features = std::ssize(features);
  result.weights.clear();
  result.feature_names.clear();
  const auto add_row = [&](std::int64_t row) {
    for (std::int32_t c = 0; c < model.columns; ++c) result.weights.push_back(model.weight(row, c));
  };
  for (const auto j : features) {
    add_row(j);
    if (!model.feature_names.empty()) result.feature_names.push_back(model.feature_names[static_cast<std::size_t>(j)]);
  }
  if (model.bias > 0) add_row(model.features);
  return result;
}

template LinearModel linear::train_seen(const Context&, const Dataset<float>&, const LinearOptions&,
                                        std::span<const float>, const ColumnTransforms*);
template LinearModel linear::train_seen(const Context&, const Dataset<double>&, const LinearOptions&,
                                        std::span<const float>, const ColumnTransforms*);
template LinearModel train_linear(const Context&, const Dataset<float>&, const LinearOptions&, std::span<const float>);
template LinearModel train_linear(const Context&, const Dataset<double>&, const LinearOptions&, std::span<const float>);

}  // namespace sheaf
