// Results on held-out rows beyond scores: probabilities, thresholds, learning curves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::report {

/// Two classes: of the positive one. More: of the class with the largest probability. Nothing without probabilities.
std::vector<ReliabilityBin> reliability_of(const SearchResult& result);

/// Scores of calibrated probabilities, each split's by a calibration that was learnt without it; over the splits.
struct CalibratedScores {
  ScoreSummary log_loss, brier_score;
};
/// None without such probabilities.
std::optional<CalibratedScores> calibrated_scores(const SearchResult& result);

/// Shares of the held-out rows that thresholds find which were chosen without them.
struct ThresholdRates {
  double sensitivity = 0;
  double specificity = 0;
};
/// None if there are no such thresholds.
std::optional<ThresholdRates> threshold_rates(const SearchResult& result);

/// One share of the training rows.
struct LearningStep {
  double rows = 0;  // mean over the splits
  ScoreSummary training, held_out;
};
LearningStep learning_step(const SearchResult& result, std::size_t share, Metric metric);

}  // namespace sheaf::report
