#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <sheaf/error.hpp>
#include <sheaf/linear_model.hpp>

#include "linear/problem.hpp"

namespace sheaf {
namespace {

template <class T>
void check_names(const LinearModel& model, const Dataset<T>& dataset) {
  if (model.feature_names.empty() || dataset.feature_names.empty()) return;
  for (std::size_t j = 0; j < model.feature_names.size(); ++j) {
    if (model.feature_names[j].empty()) continue;  // without a weight
    if (j >= dataset.feature_names.size())
      fail("{}: feature {} of the model, {}, is missing (a table without labels is read with --label none)",
           dataset.source, j + 1, model.feature_names[j]);
    if (dataset.feature_names[j] != model.feature_names[j])
      fail("{}: feature {} is {}, in the model it is {}; the columns must be those the model was trained on",
           dataset.source, j + 1, dataset.feature_names[j], model.feature_names[j]);
  }
}

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
    fail_usage("a model of {} has no probabilities; only logistic regression has", model.solver);
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

/// For each class of the labels, which class of the model it is; -1: none.
std::vector<std::int32_t> match_classes(const LinearModel& model, const Target& target) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const auto& name : model.class_names)
    known.try_emplace(canonical_label(name), static_cast<std::int32_t>(known.size()));
  std::vector<std::int32_t> match;
  for (const auto& name : target.class_names) {
    const auto found = known.find(canonical_label(name));
    match.push_back(found == known.end() ? -1 : found->second);
  }
  return match;
}

}  // namespace

template <class T>
Predictions predict_linear(const Context& context, const LinearModel& model, const Dataset<T>& dataset,
                           bool probabilities) {
  check_names(model, dataset);
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
  if (probabilities) add_probabilities(model, result);
  if (model.is_regression()) return result;
  const auto columns = static_cast<std::size_t>(result.columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.rows); ++i)
    result.classes.push_back(
        linear::choose_class(std::span(result.decisions).subspan(i * columns, columns), model.class_names.size()));
  return result;
}

Score score_values(std::span<const double> predicted, std::span<const double> truth) {
  Score score;
  score.rows = static_cast<std::int64_t>(truth.size());
  const auto n = static_cast<double>(truth.size());
  double mean_p = 0;
  double mean_t = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    mean_p += predicted[i] / n;
    mean_t += truth[i] / n;
    score.squared_error += (predicted[i] - truth[i]) * (predicted[i] - truth[i]) / n;
  }
  double pp = 0;
  double tt = 0;
  double pt = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    pp += (predicted[i] - mean_p) * (predicted[i] - mean_p);
    tt += (truth[i] - mean_t) * (truth[i] - mean_t);
    pt += (predicted[i] - mean_p) * (truth[i] - mean_t);
  }
  score.squared_correlation = pt * pt / (pp * tt);
  return score;
}

std::optional<Score> score_of(const LinearModel& model, const Predictions& predictions, const Target& target) {
  if (target.empty() || (model.is_regression() && target.values.empty())) return std::nullopt;
  if (model.is_regression()) return score_values(predictions.decisions, target.values);
  Score score;
  score.rows = predictions.rows;
  const auto match = match_classes(model, target);
  for (std::size_t i = 0; i < target.classes.size(); ++i)
    score.correct += match[static_cast<std::size_t>(target.classes[i])] == predictions.classes[i] ? 1 : 0;
  return score;
}

template Predictions predict_linear(const Context&, const LinearModel&, const Dataset<float>&, bool);
template Predictions predict_linear(const Context&, const LinearModel&, const Dataset<double>&, bool);

}  // namespace sheaf
