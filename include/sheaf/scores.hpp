// How good predictions are. A score that the rows at hand do not define (the AUC of a single class) is NaN.
//
// Decision values are row-major. Two classes have one column, positive for class 0; three or more have one column each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sheaf {

/// The metrics that C++ code names, in the order of the table of metrics; it may have others behind them, which
/// parse_metric() finds.
enum class Metric : std::uint8_t {
  accuracy,
  balanced_accuracy,
  precision,
  recall,
  f1,
  matthews_corrcoef,
  auc,
  average_precision,
  log_loss,
  brier_score,
  top_2_accuracy,
  top_3_accuracy,
  top_5_accuracy,
  precision_macro,
  precision_weighted,
  recall_macro,
  f1_macro,
  f1_weighted,
  roc_auc_ovr_weighted,
  r2,
  rmse,
  mean_absolute_error,
  mean_squared_error,
  max_error,
  mean_poisson_deviance,
  mean_gamma_deviance,
  mean_tweedie_deviance,
  mean_pinball_loss,
  concordance,
  partial_likelihood_deviance,
};

struct MetricInfo {
  Metric metric;
  std::string_view name;   ///< on the command line and in files
  std::string_view title;  ///< for people
  std::string_view about;  ///< one sentence
  bool larger_is_better = true;
  bool regression = false;
  bool probabilities = false;      ///< only of models that have them
  std::int32_t least_classes = 2;  ///< it is undefined for fewer classes
  bool summary = true;             ///< part of short summaries
  std::string_view aliases = {};   ///< other names that are understood, with spaces between
  bool survival = false;           ///< of survival models, which have no other

  /// Whether models of so many classes (0: regression), with probabilities or without, have it; or survival models.
  constexpr bool suits(std::int32_t classes, bool with_probabilities, bool of_survival = false) const {
    if (survival || of_survival) return survival == of_survival;
    if (regression) return classes == 0;
    return classes >= least_classes && (with_probabilities || !probabilities);
  }
};
std::span<const MetricInfo> metrics();
const MetricInfo& info(Metric metric);
/// By its name or an alias, with '-' or '_' between the words. Another name is a UsageError that lists the known ones.
Metric parse_metric(std::string_view name);

constexpr std::size_t roc_points = 101;

/// NaN for each metric.
std::vector<double> no_scores();

/// The scores of one model on its test rows.
struct Scores {
  std::vector<double> values = no_scores();  ///< by Metric; NaN: not defined
  std::vector<double> roc;                   ///< two classes: roc_curve() at roc_points points
  std::vector<double> precision_recall;      ///< two classes: precision_recall_curve() at as many
  std::vector<double> recall;                ///< of each class; NaN: no row of it
  std::vector<std::int64_t> confusion;       ///< true class x predicted class, if the classes are few
  std::vector<double> decisions;             ///< test rows x decision values, if a search was to keep them
  std::vector<std::int32_t> predicted;       ///< likewise: the class of each test row; regression: none

  double score(Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
};

// Predicted classes.

double accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
/// The mean over the classes among `truth` of the share of their rows that is found.
double balanced_accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                         std::int32_t classes);
/// Share of the rows predicted as class `positive` that belong to it; with -1, the mean over the classes that occur in
/// either list. 0 for a class without a correct row. The same holds for recall() and f1().
double precision(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
                 std::int32_t positive = -1);
/// Share of the rows of class `positive` that are predicted as it.
double recall(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
              std::int32_t positive = -1);
/// The harmonic mean of precision and recall.
double f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
          std::int32_t positive = -1);
/// The mean over the classes, each weighted by its rows among `truth`. (That of the recall is the accuracy.)
double precision_weighted(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                          std::int32_t classes);
double f1_weighted(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes);
/// The recall of each class; NaN if `truth` has no row of it.
std::vector<double> recall_of_classes(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                                      std::int32_t classes);
/// Matthews's correlation of truth and predictions, -1 to 1, for any number of classes (Gorodkin 2004). 0 if either
/// list has a single class.
double matthews_correlation(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                            std::int32_t classes);

// Decision values.

/// The chance that a positive row has a larger value than another one, ties counting half. Exact.
double auc(std::span<const double> values, std::span<const std::uint8_t> positive);
/// Two classes: their AUC. More: the mean over the classes of each one against the rest.
double auc_of_classes(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth);
/// The same, each class weighted by its rows.
double auc_of_classes_weighted(std::span<const double> decisions, std::int32_t columns,
                               std::span<const std::int32_t> truth);
/// The mean over the positive rows of the precision if all rows with at least their value are taken for positive:
/// the area under the steps of the precision-recall curve.
double average_precision(std::span<const double> values, std::span<const std::uint8_t> positive);
/// Two classes: of class `positive`. More: the mean over the classes of each one against the rest.
double average_precision_of_classes(std::span<const double> decisions, std::int32_t columns,
                                    std::span<const std::int32_t> truth, std::int32_t positive);
/// The share of rows whose true class is among the k largest columns; the first of equals counts. Three classes or
/// more.
double top_k_accuracy(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth,
                      std::int32_t k);
/// The mean of -log(probability of the true class), with the probabilities of logistic regression.
double log_loss(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth);
/// With the same probabilities, two classes: the mean of the squared probability of the wrong class. More: the mean of
/// the sum over the classes of (probability - 1 if it is the true class, else 0)^2.
double brier_score(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth);

/// The share of positive rows found if a share k / (points - 1) of the others is taken for positive, for k = 0, 1 ...:
/// the ROC curve, straight between its corners. Empty if a class is missing.
std::vector<double> roc_curve(std::span<const double> values, std::span<const std::uint8_t> positive,
                              std::size_t points);
/// The precision if the largest values, as few as possible but at least one positive row's, are taken for positive so
/// that a share k / (points - 1) of the positive rows is found, for k = 0, 1 ... Empty if a class is missing.
std::vector<double> precision_recall_curve(std::span<const double> values, std::span<const std::uint8_t> positive,
                                           std::size_t points);

// Numeric targets.

/// 1 - sum of squared errors / sum of squared distances from the mean.
double r_squared(std::span<const double> predicted, std::span<const double> truth);
double mean_squared_error(std::span<const double> predicted, std::span<const double> truth);
double root_mean_squared_error(std::span<const double> predicted, std::span<const double> truth);
double mean_absolute_error(std::span<const double> predicted, std::span<const double> truth);
double max_error(std::span<const double> predicted, std::span<const double> truth);
/// For counts and other non-negative numbers; NaN if a prediction is not above 0 or a target is below 0.
double mean_poisson_deviance(std::span<const double> predicted, std::span<const double> truth);
/// For numbers above 0; NaN if a prediction or a target is not.
double mean_gamma_deviance(std::span<const double> predicted, std::span<const double> truth);
/// Power 1.5, between both; NaN if a prediction is not above 0 or a target is below 0.
double mean_tweedie_deviance(std::span<const double> predicted, std::span<const double> truth);
/// For predictions of a quantile, with d = truth - predicted: the mean of quantile * d if d > 0, else (quantile - 1) *
/// d.
double mean_pinball_loss(std::span<const double> predicted, std::span<const double> truth, double quantile = 0.5);

// Survival: times, and whether the event came then (1) or the row is censored (0).

/// Harrell's: of all pairs of rows of which one had its event before the other's time (or at the time at which the
/// other was censored), the share in which it has the larger value; equal values count half. NaN without such pairs.
double concordance(std::span<const double> values, std::span<const double> times, std::span<const std::uint8_t> events);
/// Twice the difference between the largest possible logarithm of the partial likelihood (ties by Breslow) and the
/// actual one, over the number of events; `values` are logarithms of hazards. NaN without events.
double partial_likelihood_deviance(std::span<const double> values, std::span<const double> times,
                                   std::span<const std::uint8_t> events);

}  // namespace sheaf
