// The output of `sheaf compare`.
#pragma once

#include <span>
#include <string>

#include <sheaf/compare.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf::cli {

std::string compare_text(const Comparison& comparison, const std::string& first, const std::string& second);
std::string compare_json(const Comparison& comparison);
/// Comparison of more than two searches.
std::string searches_text(const SearchesComparison& comparison);
std::string searches_json(const SearchesComparison& comparison);

/// A model's likelihood, by the name of its file.
struct NamedLikelihood {
  std::string name;
  LikelihoodFit fit;
};
/// A likelihood-ratio test between two models.
std::string models_text(std::span<const NamedLikelihood> models, const LikelihoodRatioTest& test);
std::string models_json(std::span<const NamedLikelihood> models, const LikelihoodRatioTest& test);

}  // namespace sheaf::cli
