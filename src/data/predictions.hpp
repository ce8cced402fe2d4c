// What models of all kinds ask of the tables they are applied to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/predictions.hpp>

namespace sheaf {

/// Where model and table are both named, each feature of the model must stand in the table under its name; else that is
/// an Error. Features that the model leaves unnamed are not looked at.
void check_feature_names(std::span<const std::string> of_model, std::span<const std::string> of_table,
                         const std::string& table);

/// How predictions of a regression (`class_names`, the model's, is null) or of classes compare with labels. Nothing
/// where the table has no labels, or for a regression labels that are no numbers.
std::optional<Score> score_predictions(const std::vector<std::string>* class_names, const Predictions& predictions,
                                       const Target& target);

}  // namespace sheaf
