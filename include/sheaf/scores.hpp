// How good predictions are: plain functions of decision values and the truth. A score that the rows at hand do not
// define (the AUC of a single class) is NaN.
//
// Decision values are row-major. Two classes have one column, which speaks for class 0 where it is positive; three or
// more have one column each.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sheaf {

enum class Metric : std::uint8_t { accuracy, balanced_accuracy, f1, auc, log_loss, r2, rmse };

struct MetricInfo {
  Metric metric;
  std::string_view name;   ///< on the command line and in files
  std::string_view title;  ///< for people
  bool larger_is_better = true;
  bool regression = false;
  bool probabilities = false;  ///< only of models that have them
  bool common = true;          ///< shown where there is little room
};
std::span<const MetricInfo> metrics();
const MetricInfo& info(Metric metric);
constexpr std::size_t metric_count = 7;
constexpr std::size_t roc_points = 101;

struct Scores {
  std::array<double, metric_count> values{};
  std::vector<double> roc;
  std::vector<double> precision_recall;
  std::vector<double> recall;
  std::vector<std::int64_t> confusion;
  double score(Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
};

double accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
/// The mean over the classes among `truth` of the share of their rows that is found.
double balanced_accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                         std::int32_t classes);
/// The harmonic mean of precision and recall of class `positive`; of -1, its mean over the classes that occur in either
/// list. A class without a row found right has 0.
double f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
          std::int32_t positive = -1);
/// The chance that a positive row has a larger value than another one, ties counting half. Exact.
double auc(std::span<const double> values, std::span<const std::uint8_t> positive);
/// Two classes: their AUC. More: the mean over the classes of each one against the rest.
double auc_of_classes(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth);
/// The mean of -log(probability of the true class), with the probabilities of logistic regression.
double log_loss(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth);
/// 1 - sum of squared errors / sum of squared distances from the mean.
double r_squared(std::span<const double> predicted, std::span<const double> truth);
double root_mean_squared_error(std::span<const double> predicted, std::span<const double> truth);

/// The share of positive rows found where a share k / (points - 1) of the others is taken for positive, for k = 0, 1
/// ...: the ROC curve, straight between its corners. Empty where a class is missing.
std::vector<double> roc_curve(std::span<const double> values, std::span<const std::uint8_t> positive,
                              std::size_t points);

}  // namespace sheaf
