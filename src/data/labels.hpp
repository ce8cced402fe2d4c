// The labels that models learn to predict: classes in their order, the positive one and the weight of each class, or
// the numbers of a regression. Every family takes its labels from here, so that all agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/survival.hpp>

namespace sheaf {

struct Labels {
  std::vector<std::string> class_names;  ///< regression: none
  std::vector<std::int32_t> classes;     ///< of each row; regression: none
  std::vector<double> values;            ///< rows x targets; classes: none; survival: times
  std::vector<std::uint8_t> events;      ///< of each row; none but of survival
  std::vector<double> entries;           ///< survival: as in RiskTimes
  std::vector<std::int32_t> strata;      ///< likewise
  std::int32_t positive = -1;            ///< of two classes, that of F1 and ROC; else -1
  double quantile = 0.5;                 ///< regression: that predictions are of, for scores
  std::int64_t rows = 0;
  std::int32_t targets = 1;  ///< regression

  bool regression() const { return class_names.empty(); }
  /// Decision values of a model that has one for each target, and for each class but one for two.
  std::int32_t columns() const {
    return class_names.size() > 2 ? static_cast<std::int32_t>(class_names.size()) : targets;
  }
  RiskTimes risk_times() const { return {values, entries, strata}; }
  double value(std::int64_t row, std::int32_t target = 0) const {
    return values[static_cast<std::size_t>(row * targets + target)];
  }
};

/// Classes stand in the target's order if it is fixed, else in the order of their first rows; but then -1 first and +1
/// second change places, so that positive decision values favour +1. No labels at all, labels of a regression that are
/// not numbers, numbers of too many different values to be classes, more than 20 classes that are not whole numbers
/// unless they are stated to be classes, and several targets are Errors; `instead` is the advice what to train.
Labels make_labels(const Target& target, const std::string& source, std::int64_t rows, bool regression,
                   std::string_view instead);
/// Labels for a regression of several targets.
Labels make_several_labels(const Target& target, std::int64_t rows);
/// Several targets are an Error that names the models that take them.
void refuse_several(const Target& target, const std::string& source);
/// A model for numbers (`regression`) of labels stated to be classes, or the other way round, is a UsageError; `option`
/// is the option that chose the model.
void check_label_kind(const Target& target, bool regression, std::string_view option);
/// Labels for a survival model; a target that is none, and no events at all, are Errors.
Labels make_survival_labels(const Target& target, const std::string& source, std::int64_t rows);
/// The positive one of two classes; else -1.
std::int32_t positive_of(const Target& target);
/// Rows of a single class are an Error.
void check_two_classes(const Labels& labels, const std::string& source);

/// Weights of classes by name; classes that are not named have weight 1 or, balanced, rows / (classes * rows of the
/// class).
struct ClassWeights {
  std::span<const std::pair<std::string, double>> named;
  bool balanced = false;

  bool empty() const { return named.empty() && !balanced; }
};
/// One a class. `counts`: how many rows of each class are trained on; a class without rows weighs 1.
std::vector<double> weigh_classes(const ClassWeights& weights, std::span<const std::string> class_names,
                                  std::span<const double> counts);
/// How many rows there are of each class, each counted `times` (empty: once).
std::vector<double> count_classes(const Labels& labels, std::span<const float> times = {});
bool all_one(std::span<const double> weights);
/// Standard deviation of numbers that count by the weights of their rows (empty: 1), divided by the sum of the weights;
/// 0 for no numbers.
double standard_deviation(std::span<const double> values, std::span<const float> row_weights = {});

/// The place of a class; a UsageError if there is none of that name.
std::size_t find_class(std::span<const std::string> names, const std::string& wanted);

/// For each of `labels` which of `names` it is; -1: none.
std::vector<std::int32_t> match_classes(std::span<const std::string> names, std::span<const std::string> labels);

/// The integer a class name stands for; an Error if it stands for none, for the model files of `program` hold no other.
std::string integer_label(const std::string& name, std::string_view program);

}  // namespace sheaf
