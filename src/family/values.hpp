// Shared by the families' spaces and trainers.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/labels.hpp"
#include "family/space.hpp"
#include "family/split_table.hpp"
#include "score/scorer.hpp"

namespace sheaf::engine {

/// The truth that decision values are compared with; the labels must outlive it.
inline score::Truth truth_of(const Labels& labels) {
  return {static_cast<std::int32_t>(labels.class_names.size()),
          labels.positive,
          labels.classes,
          labels.values,
          labels.events,
          labels.quantile,
          labels.targets,
          labels.entries,
          labels.strata};
}

/// The test rows of a table of splits; of survival also which rows are trained on, that scores compare them with.
inline score::TestRows tests_of(const SplitTable& table, const Labels& labels) {
  auto tests = table.tests;
  if (labels.events.empty()) return tests;
  for (const float weight : table.weights) tests.trained.push_back(weight > 0 ? 1 : 0);
  return tests;
}

/// The labels of some rows.
inline Labels labels_of(const Labels& labels, std::span<const std::int32_t> rows) {
  Labels result;
  result.class_names = labels.class_names;
  result.positive = labels.positive;
  result.quantile = labels.quantile;
  result.targets = labels.targets;
  result.rows = static_cast<std::int64_t>(rows.size());
  for (const auto row : rows) {
    const auto i = static_cast<std::size_t>(row);
    if (!labels.events.empty()) result.events.push_back(labels.events[i]);
    if (!labels.entries.empty()) result.entries.push_back(labels.entries[i]);
    if (!labels.strata.empty()) result.strata.push_back(labels.strata[i]);
    for (std::int32_t target = 0; target < labels.targets && labels.regression(); ++target)
      result.values.push_back(labels.value(row, target));
    if (!labels.regression()) result.classes.push_back(labels.classes[i]);
  }
  return result;
}

/// Scores models on all the rows of `labels`. `values`: rows x decision values of all models, side by side;
/// `predicted`: rows x models, the classes they choose, or no columns for a regression. `probabilities`: decision
/// values are log-odds.
inline std::vector<ModelScores> score_rows(const Context& context, const Labels& labels, const Block<double>& values,
                                           const Block<std::int32_t>& predicted, bool keep_decisions,
                                           bool probabilities = false) {
  score::Scorer<double> scorer(context, truth_of(labels), probabilities);
  if (keep_decisions) scorer.keep_decisions();
  score::TestRows all;
  for (std::int32_t i = 0; i < labels.rows; ++i) all.rows.push_back(i);
  all.begins.push_back(labels.rows);
  scorer.load_tests(std::move(all));
  const std::vector<std::int32_t> tests(static_cast<std::size_t>(values.tasks() / labels.columns()), 0);
  const auto on_device = values.to(context.device());
  const auto chosen = predicted.to(context.device());
  std::vector<ModelScores> result;
  for (auto& scores : scorer.score(on_device.view(), tests, chosen.view()))
    result.push_back({std::move(scores), {}, -1, {}});
  return result;
}

/// The power of two nearest to the standard deviation of a target: coefficients, and so costs, are of its unit.
inline int unit_of(double deviation) {
  return deviation > 0 && std::isfinite(deviation) ? static_cast<int>(std::lround(std::log2(deviation))) : 0;
}

/// An axis of ascending values above 0, which may be refined to fractions of their first step, and go as far beyond
/// their ends.
inline Refinement refinement_of(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const double step = std::log2(values[1] / values[0]);
  return {std::log2(values.front()) - 2 * step, std::log2(values.back()) + 2 * step, step};
}

}  // namespace sheaf::engine
