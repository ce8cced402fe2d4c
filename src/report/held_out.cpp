#include "report/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sheaf::report {

std::vector<ReliabilityBin> reliability_of(const SearchResult& r) {
  if (!r.held_out || r.held_out->probabilities.empty()) return {};
  const auto& found = *r.held_out;
  const auto classes = r.class_names.size();
  std::vector<double> probabilities;
  std::vector<std::uint8_t> came_true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto* own = &found.probabilities[i * classes];
    const auto of = classes == 2 ? static_cast<std::ptrdiff_t>(r.positive) : std::max_element(own, own + classes) - own;
    probabilities.push_back(own[of]);
    came_true.push_back(found.truth[i] == of ? 1 : 0);
  }
  return reliability(probabilities, came_true);
}

std::optional<CalibratedScores> calibrated_scores(const SearchResult& r) {
  if (!r.options.calibrate || !r.held_out || r.held_out->probabilities.empty()) return std::nullopt;
  const auto& found = *r.held_out;
  const auto classes = r.class_names.size();
  const auto splits = static_cast<std::size_t>(*std::max_element(found.splits.begin(), found.splits.end())) + 1;
  std::vector<double> log_losses(splits, 0), brier_scores(splits, 0), rows(splits, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto split = static_cast<std::size_t>(found.splits[i]);
    const auto truth = static_cast<std::size_t>(found.truth[i]);
    const auto* own = &found.probabilities[i * classes];
    ++rows[split];
    log_losses[split] -= std::log(std::max(own[truth], std::numeric_limits<double>::epsilon()));
    double squares = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const double distance = own[c] - (c == truth ? 1 : 0);
      squares += distance * distance;
    }
    brier_scores[split] += classes == 2 ? squares / 2 : squares;
  }
  for (std::size_t split = 0; split < splits; ++split) {
    log_losses[split] /= rows[split];
    brier_scores[split] /= rows[split];
  }
  return CalibratedScores{summarise(log_losses), summarise(brier_scores)};
}

std::optional<ThresholdRates> threshold_rates(const SearchResult& r) {
  if (!r.held_out || r.held_out->by_threshold.empty()) return std::nullopt;
  double right[2] = {0, 0};
  double rows[2] = {0, 0};
  for (std::size_t i = 0; i < r.held_out->size(); ++i) {
    const auto truth = static_cast<std::size_t>(r.held_out->truth[i]);
    ++rows[truth];
    right[truth] += r.held_out->by_threshold[i] == r.held_out->truth[i] ? 1 : 0;
  }
  const auto positive = static_cast<std::size_t>(r.positive);
  return ThresholdRates{right[positive] / rows[positive], right[1 - positive] / rows[1 - positive]};
}

LearningStep learning_step(const SearchResult& r, std::size_t share, Metric metric) {
  const auto& curve = *r.learning_curve;
  const auto splits = static_cast<std::size_t>(r.splits);
  std::vector<double> training, held_out;
  LearningStep step;
  for (auto k = share * splits; k < (share + 1) * splits; ++k) {
    training.push_back(curve.training[k].score(metric));
    held_out.push_back(curve.held_out[k].score(metric));
    step.rows += static_cast<double>(curve.rows[k]) / static_cast<double>(splits);
  }
  step.training = summarise(training);
  step.held_out = summarise(held_out);
  return step;
}

}  // namespace sheaf::report
