// How linear models and predictions are told, in words and in JSON.
#pragma once

#include <optional>
#include <string>

#include <sheaf/linear_model.hpp>

namespace sheaf::cli {

std::string model_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string model_json(const LinearModel& model, const std::string& path, std::int64_t rows);

/// One line a row: the class as spelled, or the amount; with probabilities, those of all classes. CSV with a heading.
std::string predictions_csv(const LinearModel& model, const Predictions& predictions);

}  // namespace sheaf::cli
