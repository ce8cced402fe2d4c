// How kernel machines, their predictions and searches are told, in words and in JSON.
#pragma once

#include <optional>
#include <string>

#include <sheaf/svm_search.hpp>

namespace sheaf::cli {

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows);
std::string svm_json(const SvmModel& model, const std::string& path, std::int64_t rows);

/// One line a row: the class as spelled, the amount, or 1 and -1 of one class; with probabilities, those of all
/// classes.
std::string svm_predictions_csv(const SvmModel& model, const Predictions& predictions);

std::string svm_search_text(const SvmSearchResult& result);

}  // namespace sheaf::cli
