// A stack: several models of one dataset, whose predictions are averaged with weights that were learnt on held-out rows
// (Wolpert 1992; Breiman 1996). Searches make them: see SearchOptions::stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/model.hpp>

namespace sheaf {

struct StackMember {
  std::string name;  ///< for people: "svm", "linear log1p" ...
  double weight = 0;
  Model model;  ///< with its pipeline and, if it has no probabilities of its own, a calibration
};

/// Classes: the mean of the members' probabilities, and as decision values its log-odds. Numeric targets: the mean of
/// the predictions.
struct StackModel {
  std::int64_t features = 0;                     ///< of datasets, before the members' pipelines
  std::vector<std::string> feature_names;        ///< empty: by position
  std::vector<std::vector<std::string>> levels;  ///< of nominal features; empty: there are none
  std::vector<std::string> class_names;          ///< regression: none
  std::vector<StackMember> members;

  bool is_regression() const { return class_names.empty(); }
  bool has_probabilities() const { return !is_regression(); }
};

/// Members of different classes or features, or of classes without probabilities, are an Error.
StackModel make_stack(std::vector<StackMember> members);
std::unique_ptr<TrainedModel> trained_model(StackModel model);
/// A view of a stack that must outlive it.
std::unique_ptr<TrainedModel> trained_model(const StackModel* model);

std::optional<Score> score_of(const StackModel& model, const Predictions& predictions, const Target& target);
std::vector<std::string> warnings_of(const StackModel& model);

/// Weights of 0 or more and of sum 1. `values`: rows x members. Both are convex problems, solved until the objective is
/// within 1e-10 of its optimum (of squared errors: times the variance of the truth), by a bound.
///
/// The weights of the largest mean of log(sum_m weight_m value_m), with values the members' probabilities of each row's
/// own class.
std::vector<double> weights_by_likelihood(std::span<const double> values, std::size_t members);
/// The weights of the smallest mean squared distance of sum_m weight_m value_m from the truth.
std::vector<double> weights_by_squares(std::span<const double> values, std::span<const double> truth,
                                       std::size_t members);

/// The mean of members' probabilities or predictions. `values`: of each member; other lengths than the first's are an
/// Error.
std::vector<double> average(std::span<const std::vector<double>> values, std::span<const double> weights);
/// Predictions from the mean of probabilities (rows x classes).
Predictions predictions_from(std::vector<double> probabilities, std::size_t classes);

/// The options of a stack, of which there are none: a search makes it from other models.
struct StackOptions {};
const Family& family_of(const StackOptions& options);

}  // namespace sheaf
