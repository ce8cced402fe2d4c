// The output of `sheaf compare`.
#pragma once

#include <string>

#include <sheaf/compare.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/glm.hpp>

namespace sheaf::cli {

std::string compare_text(const Comparison& comparison, const std::string& first, const std::string& second);
std::string compare_json(const Comparison& comparison);
/// Comparison of more than two searches.
std::string searches_text(const SearchesComparison& comparison);
std::string searches_json(const SearchesComparison& comparison);

/// A likelihood-ratio test between two generalised linear models, by the names of their files.
std::string models_text(const LinearModel& first, const LinearModel& second, const LikelihoodRatioTest& test,
                        const std::string& first_name, const std::string& second_name);
std::string models_json(const LinearModel& first, const LinearModel& second, const LikelihoodRatioTest& test,
                        const std::string& first_name, const std::string& second_name);

}  // namespace sheaf::cli
