#include "search/results/calibrated_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fail.hpp"

namespace sheaf::engine {
namespace {

constexpr std::int64_t most_fifths = 5;

std::vector<std::int32_t> classes_of(const Labels& labels, std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> classes;
  for (const auto row : rows) classes.push_back(labels.classes[static_cast<std::size_t>(row)]);
  return classes;
}

/// Rows of the class that has the fewest.
std::int64_t fewest(const std::vector<std::int32_t>& classes, std::size_t count) {
  std::vector<std::int64_t> rows(count, 0);
  for (const auto c : classes) ++rows[static_cast<std::size_t>(c)];
  return *std::min_element(rows.begin(), rows.end());
}

}  // namespace

bool chooses_by_calibrated(const SearchOptions& options) {
  return options.calibrate && options.score && info(*options.score).probabilities;
}

bool can_calibrate(const Plan& plan, const Labels& labels) {
  for (std::int32_t split = 0; split < plan.all_splits(); ++split)
    if (fewest(classes_of(labels, plan.test_rows(split)), labels.class_names.size()) < 2) return false;
  return true;
}

void calibrate_scores(CalibrationMethod method, const Labels& labels, std::span<const std::int32_t> tests,
                      ModelScores& scores) {
  const auto truth = classes_of(labels, tests);
  const auto count = labels.class_names.size();
  const auto columns = static_cast<std::size_t>(labels.columns());
  require(scores.decisions.size() == truth.size() * columns, "decision values of other rows");
  const auto parts = std::min(most_fifths, fewest(truth, count));
  std::vector<std::int64_t> seen(count, 0), part_of;
  for (const auto c : truth) part_of.push_back(seen[static_cast<std::size_t>(c)]++ % parts);
  double log_loss = 0, brier = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::vector<double> learnt, applied;
    std::vector<std::int32_t> learnt_classes, applied_classes;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const auto* row = scores.decisions.data() + i * columns;
      (part_of[i] == part ? applied : learnt).insert((part_of[i] == part ? applied : learnt).end(), row, row + columns);
      (part_of[i] == part ? applied_classes : learnt_classes).push_back(truth[i]);
    }
    const auto calibration = learn_calibration(method, learnt, labels.columns(), learnt_classes);
    const auto probabilities = calibration.probabilities(applied);
    for (std::size_t i = 0; i < applied_classes.size(); ++i) {
      double squares = 0;
      for (std::size_t c = 0; c < count; ++c) {
        const bool own = static_cast<std::int32_t>(c) == applied_classes[i];
        const double probability = probabilities[i * count + c];
        squares += std::pow(probability - (own ? 1 : 0), 2);
        if (own) log_loss -= std::log(std::max(probability, std::numeric_limits<double>::epsilon()));
      }
      brier += count == 2 ? squares / 2 : squares;
    }
  }
  scores.values[static_cast<std::size_t>(Metric::log_loss)] = log_loss / static_cast<double>(truth.size());
  scores.values[static_cast<std::size_t>(Metric::brier_score)] = brier / static_cast<double>(truth.size());
}

}  // namespace sheaf::engine
