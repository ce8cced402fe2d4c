// Scores of probabilities as they are after calibration, so that points are compared by what the final model will have.
#pragma once

#include <cstdint>
#include <span>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// Whether points are chosen by probabilities that the final model has calibrated.
bool chooses_by_calibrated(const SearchOptions& options);

/// Whether every split tests two rows of each class or more, so that one can calibrate the other.
bool can_calibrate(const Plan& plan, const Labels& labels);

/// Log loss and Brier score of a model on its test rows: those of each fifth with a calibration learnt on the others.
void calibrate_scores(CalibrationMethod method, const Labels& labels, std::span<const std::int32_t> tests,
                      ModelScores& scores);

}  // namespace sheaf::engine
