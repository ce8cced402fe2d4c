// Predictions of chosen models for held-out rows, and calibrations and thresholds learnt from them.
#pragma once

#include <span>
#include <vector>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// The model of a point, trained on the training rows of a split alone: the pipeline included.
template <class T>
Model train_on_split(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t split,
                     const SearchResult& result, const Point& point);

/// Adds what a model predicts for the held-out rows of a split. `decisions`: of each row one for two classes, one a
/// class for more, and one a target of a regression.
void append_predictions(const Labels& labels, std::int32_t split, std::span<const std::int32_t> rows,
                        const Predictions& predictions, std::span<const double> decisions, HeldOutPredictions& all);

/// Some of the held-out predictions.
struct Part {
  std::vector<std::size_t> entries;  // of one split or of some
  std::vector<std::size_t> others;   // of rows that none of these is of
};
/// The predictions split by split, or in parts of several splits if these are many: split s is in part s % parts.
std::vector<Part> parts_of(const HeldOutPredictions& found);
/// The rows of every class are more than those of any one part.
bool can_learn_without_parts(const HeldOutPredictions& found, const std::vector<Part>& parts, std::size_t classes);

/// The decision values and classes of some predictions.
struct DecidedRows {
  std::vector<double> decisions;
  std::vector<std::int32_t> classes;
};
DecidedRows rows_of(const HeldOutPredictions& found, std::span<const std::size_t> entries);

/// Trains the chosen points again, each on the training rows of its split, as its own model: the pipeline included.
/// Fills result.held_out and, if requested, result.importance; from the former the calibration and the threshold of
/// result.model.
template <class T>
void use_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels, const Plan& plan,
                  SearchResult& result);

}  // namespace sheaf::engine
