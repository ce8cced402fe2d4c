// The output of `sheaf predict`, for models of any family.
#pragma once

#include <optional>
#include <string>

#include <sheaf/model.hpp>

#include "common.hpp"

namespace sheaf::cli {

/// Writes one line a row to `output` (a file, - for standard output, or nowhere), then says how good they are; on
/// standard error where standard output holds the lines. `score`: none where the dataset has no labels.
void return_predictions(const Model& model, const Predictions& predictions, const std::optional<Score>& score,
                        const std::string& output, const Common& common);

}  // namespace sheaf::cli
