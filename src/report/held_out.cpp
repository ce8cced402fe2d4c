#include "report/held_out.hpp"

#include <algorithm>

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
