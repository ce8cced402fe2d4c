// Checks of the dataset that a model of any kind is applied to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/predictions.hpp>

namespace sheaf {

/// If model and dataset both have feature names, a feature of the model that the dataset lacks is an Error. Features
/// without a name are not checked.
void check_feature_names(std::span<const std::string> of_model, std::span<const std::string> of_table,
                         const std::string& table);

/// Compares predictions with labels; a regression has no `class_names` (nullptr). None if the dataset has no labels, or
/// if those of a regression are not numbers.
std::optional<Score> score_predictions(const std::vector<std::string>* class_names, const Predictions& predictions,
                                       const Target& target);

}  // namespace sheaf
