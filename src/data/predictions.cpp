#include "data/predictions.hpp"

#include "core/fail.hpp"
#include "data/labels.hpp"

namespace sheaf {
namespace {

Score score_classes(std::span<const std::string> class_names, const Predictions& predictions, const Target& target) {
  Score score;
  score.rows = predictions.rows;
  const auto match = match_classes(class_names, target.class_names);
  for (std::size_t i = 0; i < target.classes.size(); ++i)
    score.correct += match[static_cast<std::size_t>(target.classes[i])] == predictions.classes[i] ? 1 : 0;
  return score;
}

/// The mean over several targets.
Score score_targets(const Predictions& predictions, const Target& target) {
  Score mean;
  mean.rows = predictions.rows;
  const auto columns = static_cast<std::size_t>(predictions.columns);
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> predicted;
    for (std::size_t e = c; e < predictions.decisions.size(); e += columns)
      predicted.push_back(predictions.decisions[e]);
    const auto one = score_values(predicted, c == 0 ? target.values : target.further[c - 1].values);
    mean.squared_error += one.squared_error / static_cast<double>(columns);
    mean.squared_correlation += one.squared_correlation / static_cast<double>(columns);
  }
  return mean;
}

}  // namespace

void check_feature_names(std::span<const std::string> of_model, std::span<const std::string> of_table,
                         const std::string& table) {
  if (of_table.empty()) return;
  for (std::size_t j = 0; j < of_model.size(); ++j) {
    if (of_model[j].empty()) continue;
    if (j >= of_table.size())
      fail("{}: feature {} of the model, {}, is missing (a dataset without labels is read with --label none)", table,
           j + 1, of_model[j]);
    if (of_table[j] != of_model[j])
      fail("{}: feature {} is {}, in the model it is {}; the columns must be those the model was trained on", table,
           j + 1, of_table[j], of_model[j]);
  }
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

std::optional<Score> score_predictions(const std::vector<std::string>* class_names, const Predictions& predictions,
                                       const Target& target) {
  if (target.empty()) return std::nullopt;
  if (class_names != nullptr) return score_classes(*class_names, predictions, target);
  const auto values = target.values.size() * static_cast<std::size_t>(target.targets());
  if (values == 0 || predictions.decisions.size() != values) return std::nullopt;
  if (!target.several()) return score_values(predictions.decisions, target.values);
  return score_targets(predictions, target);
}

}  // namespace sheaf
