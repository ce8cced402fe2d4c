// What `predict` says and writes of predictions, whatever the kind of model.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sheaf/predictions.hpp>

#include "common.hpp"

namespace sheaf::cli {

struct Prediction {
  const Predictions& predictions;
  const std::optional<Score>& score;  ///< none where the table has no labels
  bool regression = false;
  std::string output;                ///< where the lines go: a file, - for standard output, or nowhere
  std::function<std::string()> csv;  ///< makes the lines, one a row
};
/// Writes the lines, then tells how good they are; on standard error where standard output holds the lines.
void hand_out(const Prediction& prediction, const Common& common);

}  // namespace sheaf::cli
