#include <algorithm>
#include <cmath>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/linear.hpp>

#include "core/fail.hpp"
#include "data/predictions.hpp"
#include "linear/losses/losses.hpp"
#include "linear/model/glm_problem.hpp"
#include "linear/model/net_problem.hpp"
#include "linear/model/problem.hpp"
#include "linear/products/softmax.hpp"

namespace sheaf {
namespace {

/// The model's weights for the features that the dataset has; 0 for those that only the dataset has.
template <class T>
Block<T> weights_for(const LinearModel& model, std::int64_t features) {
  const bool bias = model.bias > 0;
  Block<T> block(features + (bias ? 1 : 0), model.columns);
  const auto take = [&](std::int64_t from, std::int64_t to) {
    for (std::int32_t c = 0; c < model.columns; ++c) block(to, c) = static_cast<T>(model.weight(from, c));
  };
  for (std::int64_t j = 0; j < std::min(features, model.features); ++j) take(j, j);
  if (bias) take(model.features, features);
  return block;
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// The logistic function of each decision value; of several classes divided by their sum.
void add_probabilities(const LinearModel& model, Predictions& predictions) {
  if (!model.has_probabilities())
    fail_usage(
        "a model of {} has no probabilities; logistic regression has, and a search learns them from held-out rows "
        "(--calibrate platt)",
        model.solver);
  const bool one_value = predictions.columns == 1 && model.class_names.size() == 2;
  for (std::int64_t i = 0; i < predictions.rows; ++i) {
    const double* z = predictions.decisions.data() + i * predictions.columns;
    double sum = 0;
    for (std::int32_t c = 0; c < predictions.columns; ++c) sum += sigmoid(z[c]);
    if (one_value) predictions.probabilities.insert(predictions.probabilities.end(), {sum, 1 - sum});
    for (std::int32_t c = 0; c < predictions.columns && !one_value; ++c)
      predictions.probabilities.push_back(sigmoid(z[c]) / sum);
  }
}

/// The log odds of each class against all others.
void to_log_odds(std::span<double> row) {
  const auto best = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  const double largest = row[best];
  double rest = 0;
  for (std::size_t k = 0; k < row.size(); ++k) rest += k == best ? 0.0 : std::exp(row[k] - largest);
  for (std::size_t k = 0; k < row.size(); ++k)
    row[k] = linear::log_odds(row[k] - largest, std::exp(row[k] - largest), rest, k == best);
}

/// Offsets that the model's decision values cannot have are Errors.
void add_offsets(const LinearModel& model, std::span<const double> offsets, Predictions& predictions) {
  if (offsets.empty()) return;
  const Loss loss = model.net   ? net_loss(model)
                    : model.glm ? linear::glm_kind(model.glm->family, model.glm->link).loss
                                : Loss::squared;
  const bool suits = model.glm ? info(loss).decision_sign == 0 : info(loss).net.offsets;
  if (!suits)
    fail_usage(
        "the model has no offsets; they are for generalised linear models whose link takes all numbers, and for "
        "elastic nets of counts, survival and several classes");
  linear::check_offsets(offsets, predictions.rows, model.columns > 1 ? model.class_names : std::vector<std::string>());
  for (std::size_t e = 0; e < offsets.size(); ++e) predictions.decisions[e] += offsets[e];
}

/// Decision values of a generalised linear model, or of a net with its loss, become means, or log odds of classes.
void respond(const LinearModel& model, Predictions& predictions) {
  const auto columns = static_cast<std::size_t>(model.columns);
  auto& decisions = predictions.decisions;
  if (model.net ? net_loss(model) == Loss::softmax : columns > 1) {
    for (std::size_t i = 0; i < decisions.size(); i += columns) to_log_odds(std::span(decisions).subspan(i, columns));
    return;
  }
  const Loss loss = model.net ? net_loss(model) : linear::glm_kind(model.glm->family, model.glm->link).loss;
  const double parameter = model.glm ? model.glm->parameter : 0.0;
  linear::with_glm_loss(loss, [&](auto functor) {
    for (double& value : decisions) value = functor.prediction(value, parameter);
  });
}

}  // namespace

template <class T>
Predictions predict_linear(const Context& context, const LinearModel& model, const Dataset<T>& dataset,
                           bool probabilities, std::span<const double> offsets) {
  check_feature_names(model.feature_names, dataset.feature_names, dataset.source);
  Predictions result;
  result.rows = dataset.rows();
  result.columns = model.columns;
  result.decisions.resize(static_cast<std::size_t>(result.rows * result.columns));
  const auto keep = [&](const Round& round, const Block<T>& z) {
    for (std::int64_t i = 0; i < result.rows; ++i)
      for (std::int32_t t = 0; t < round.count; ++t)
        result.decisions[static_cast<std::size_t>(i * result.columns + round.first + t)] = static_cast<double>(z(i, t));
  };
  linear::for_decisions<T>(context, dataset, weights_for<T>(model, dataset.features()), static_cast<T>(model.bias),
                           keep);
  add_offsets(model, offsets, result);
  if (model.glm || model.net) respond(model, result);
  if (probabilities) add_probabilities(model, result);
  if (model.is_regression()) return result;
  const auto columns = static_cast<std::size_t>(result.columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.rows); ++i)
    result.classes.push_back(
        linear::choose_class(std::span(result.decisions).subspan(i * columns, columns), model.class_names.size()));
  return result;
}

std::optional<Score> score_of(const LinearModel& model, const Predictions& predictions, const Target& target) {
  if (model.is_survival()) return std::nullopt;  // hazards are no times
  return score_predictions(model.is_regression() ? nullptr : &model.class_names, predictions, target);
}

template Predictions predict_linear(const Context&, const LinearModel&, const Dataset<float>&, bool,
                                    std::span<const double>);
template Predictions predict_linear(const Context&, const LinearModel&, const Dataset<double>&, bool,
                                    std::span<const double>);

}  // namespace sheaf
