// The output of `sheaf predict`, for models of any family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sheaf/model.hpp>

#include "common.hpp"

namespace sheaf::cli {

/// Columns written for each row besides the prediction.
struct PredictionColumns {
  std::vector<KeptColumn> kept;  ///< before it
  bool decisions = false;        ///< behind it: the decision values
};

/// How good predictions are; empty if the dataset has no labels.
struct PredictionScores {
  std::optional<Score> score;
  std::optional<Scores> all;
  std::optional<FeatureWeightsEffect> weights_effect = {};  ///< set if predictions were explained by neighbours
};

/// Writes one line a row to `output` (a file, - for standard output, or nowhere), then reports how good they are, on
/// standard error if standard output holds the lines.
void return_predictions(const Model& model, const Predictions& predictions, const PredictionColumns& columns,
                        const PredictionScores& scores, const std::string& output, const Common& common);

/// Several lines a row: the intercept, the largest contributions and the rest, which add up to the decision value.
std::string explanations_csv(const Model& model, const std::vector<Explanation>& explanations,
                             const Predictions& predictions, const std::vector<KeptColumn>& kept);

/// One line for each training row that a prediction rests on: its number from 1, its label, its distance and its share
/// of the votes, if there are votes. `without`: the predictions if features had no weights; each line holds them too,
/// and the rank that the row would have. nullptr: features have no weights.
std::string deciding_rows_csv(const Model& model, const std::vector<std::vector<DecidingRow>>& lists,
                              const Predictions& predictions, const Predictions* without,
                              const std::vector<KeptColumn>& kept);

}  // namespace sheaf::cli
