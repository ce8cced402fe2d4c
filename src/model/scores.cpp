// All scores of a model's predictions.
#include <algorithm>
#include <cmath>

#include <sheaf/model.hpp>

#include "data/labels.hpp"
#include "score/scorer.hpp"

namespace sheaf {
namespace {

/// Decision values whose logistic functions are the probabilities, rows x classes: those of the first of two classes.
std::vector<double> log_odds(const std::vector<double>& probabilities, std::int32_t columns) {
  constexpr double least = 1e-15;  // no row costs without bound
  std::vector<double> result;
  for (std::size_t k = 0; k < probabilities.size(); k += columns == 1 ? 2 : 1) {
    const double p = std::clamp(probabilities[k], least, 1 - least);
    result.push_back(std::log(p) - std::log1p(-p));
  }
  return result;
}

struct KnownRows {
  std::vector<std::int32_t> rows;  ///< whose class is one of the model, or all of a regression
  std::vector<std::int32_t> classes;
  std::vector<double> values;
  std::vector<std::uint8_t> events;
};

KnownRows known_rows(const Model& model, const Target& target) {
  KnownRows known;
  if (model.is_regression()) {
    const auto targets = std::max<std::size_t>(model.target_names().size(), 1);
    if (model.trained().traits().survival != target.survival() || static_cast<std::size_t>(target.targets()) != targets)
      return known;
    known.events = target.events;
    known.values = target.table();
    for (std::size_t i = 0; i < target.values.size(); ++i) known.rows.push_back(static_cast<std::int32_t>(i));
    return known;
  }
  const auto match = match_classes(model.class_names(), target.class_names);
  for (std::size_t i = 0; i < target.classes.size(); ++i) {
    const auto c = match[static_cast<std::size_t>(target.classes[i])];
    if (c < 0) continue;
    known.rows.push_back(static_cast<std::int32_t>(i));
    known.classes.push_back(c);
  }
  return known;
}

}  // namespace

std::optional<Scores> Model::scores(const Context& context, const Predictions& predictions,
                                    const Target& target) const {
  const auto classes = static_cast<std::int32_t>(class_names().size());
  if (!is_regression() && classes < 2) return std::nullopt;  // one class, or none to compare with
  const auto known = known_rows(*this, target);
  if (known.rows.empty()) return std::nullopt;
  const auto rows = std::ssize(known.rows);
  const std::int32_t targets = is_regression() ? target.targets() : 1;
  const std::int32_t columns = classes > 2 ? classes : targets;
  const auto cpu = context.with({.device = Device::cpu()});
  const auto traits = trained_->traits();
  const score::Truth truth{classes,         positive(), known.classes,  known.values, known.events,
                           traits.quantile, targets,    target.entries, target.strata};
  /// `values`: of each row of the predictions one for each column.
  const auto score = [&](const std::vector<double>& values, bool probabilities) {
    score::Scorer<double> scorer(cpu, truth, probabilities);
    score::TestRows all;
    for (std::int32_t i = 0; i < rows; ++i) all.rows.push_back(i);
    all.begins.push_back(rows);
    scorer.load_tests(std::move(all));
    Block<double> decisions(rows, columns);
    Block<std::int32_t> chosen(rows, is_regression() ? 0 : 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(known.rows[static_cast<std::size_t>(i)]);
      for (std::int32_t c = 0; c < columns; ++c)
        decisions(i, c) = values[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
      if (!is_regression()) chosen(i, 0) = predictions.classes[row];
    }
    const std::vector<std::int32_t> tests{0};
    return std::move(scorer.score(decisions.view(), tests, chosen.view()).front());
  };
  const auto decisions = class_decisions(predictions);
  const bool own = traits.log_odds && trained_->has_probabilities();
  if (!calibration_)
    return score(!own && classes > 2 && !predictions.probabilities.empty() ? predictions.probabilities : decisions,
                 own);
  const auto calibrated = calibration_->probabilities(decisions);
  auto result = score(classes > 2 ? calibrated : decisions, false);
  const auto costs = score(log_odds(calibrated, columns), true);
  for (const auto& row : metrics())
    if (row.probabilities) result.values[static_cast<std::size_t>(row.metric)] = costs.score(row.metric);
  return result;
}

}  // namespace sheaf
