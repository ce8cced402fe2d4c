// Results for people (one HTML file that needs nothing else) and for programs (JSON, CSV).
#pragma once

#include <span>
#include <string>

#include <sheaf/rescore.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf {

/// A complete page with its plots inside; loads nothing from anywhere.
std::string profile_html(const Profile& profile);

/// The output of `sheaf info --json`; docs/json.md lists the fields.
std::string profile_json(const Profile& profile);

/// The page shows plots if select() made them.
std::string selection_html(const SelectionResult& result);
std::string selection_json(const SelectionResult& result);
/// One line a feature, with a heading.
std::string selection_csv(const SelectionResult& result);

/// Accepted PSMs, scores of targets and decoys, and the weights of the folds.
std::string rescore_html(const RescoreResult& result, const RescoreOptions& options);
std::string rescore_json(const RescoreResult& result, const RescoreOptions& options);

/// The result in a few sentences: what is predicted, the score to expect on new rows, and the score of a model that
/// knows nothing. Empty for a study.
std::string verdict(const SearchResult& result);
std::string search_json(const SearchResult& result);
/// One line for each point and split of the search over all rows.
std::string search_csv(const SearchResult& result);
/// One line for each outer fold or resample.
std::string outer_csv(const SearchResult& result);
/// One line for each feature that some outer resample chose.
std::string features_csv(const SearchResult& result);
/// One line for each held-out row and the split that held it out, if requested.
std::string predictions_csv(const SearchResult& result);
/// Training data of the weights of a stack: one line for each held-out row and the split that held it out, with the
/// probabilities or predictions of each member. Empty without a stack.
std::string stack_csv(const SearchResult& result);
/// The points of the ROC and precision-recall curves of the chosen models, one line each; empty if there are none.
std::string curves_csv(const SearchResult& result);
/// One line for each split, true class and predicted class with rows; empty if there are none.
std::string confusion_csv(const SearchResult& result);
/// One line for each bin of the reliability diagram of the held-out predictions; nothing without probabilities.
std::string reliability_csv(const SearchResult& result);
/// One line for each share of the training rows, split and kind of rows scored.
std::string learning_curve_csv(const SearchResult& result);
/// One line for each feature, the most important first.
std::string importance_csv(const SearchResult& result);
/// The weights along SearchResult::path: one line for each feature, alpha and decision value.
std::string path_csv(const SearchResult& result);
/// One line for each feature of the model, after the pipeline: the weight of each decision value and, of models that
/// scale, that of the feature before. `standard_deviations`: of those features, for standardised weights; none:
/// without.
std::string coefficients_csv(const Model& model, std::span<const double> standard_deviations = {});
/// A heading, and a line for each weight that begins with its name; NA if the rows do not determine it.
std::string covariance_csv(const WeightCovariance& covariance);
/// A complete page with its plots inside; loads nothing from anywhere.
std::string search_html(const SearchResult& result);
/// results.json and report.html; of the search over all rows scores.csv, model.txt and, if the program that the family
/// stands in for can hold it, model.liblinear or model.libsvm; of outer folds outer.csv; of a study features.csv; and
/// further requested results (docs/search.md).
void write_results(const SearchDirectory& folder, const SearchResult& result);

}  // namespace sheaf
