// Counts over a model's test rows, and the numbers that scores are computed from. The same for the plain functions
// of scores.hpp and for what a device counts, so that both give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "score/terms.hpp"

namespace sheaf::score {

/// Rows of each class in the truth, among the predictions, and in both.
struct ClassCounts {
  std::vector<double> truth, predicted, both;

  explicit ClassCounts(std::size_t classes = 0) : truth(classes), predicted(classes), both(classes) {}
};
/// `counts` in the layout of count_bins().
ClassCounts class_counts(std::span<const std::int64_t> counts, std::int32_t classes);

/// How many other and positive rows have at least some value.
struct Corner {
  std::int64_t others = 0, positives = 0;
};
/// A straight piece of a ROC curve.
struct RocPiece {
  Corner from, to;
};
/// The share of `positives` rows that the curve has found at `at` other rows, on the piece over that place.
double roc_height(const RocPiece& piece, double at, std::int64_t positives);
/// Share of positive rows among the rows with at least some value.
SHEAF_HOST_DEVICE inline double precision_at(const Corner& corner) {
  return static_cast<double>(corner.positives) / static_cast<double>(corner.positives + corner.others);
}

/// How decision values order their test rows.
struct Ranking {
  std::int64_t others = 0, positives = 0;
  std::int64_t doubled = 0;       // pairs of a positive and another row in order count 2, ties 1
  double precisions = 0;          // the sum over the positive rows of the precision at which they are found
  std::vector<RocPiece> roc;      // under each point of the ROC curve; none if a class is missing
  std::vector<Corner> precision;  // at each point of the precision-recall curve; the same
};

/// Statistics of one model. Only those that the wanted metrics need are filled in.
struct Statistics {
  double rows = 0;
  std::int32_t positive = -1;  // two classes
  ClassCounts classes;
  std::array<std::int64_t, true_rank_bins> true_ranks{};
  ProbabilitySums probabilities;
  std::span<const Ranking> rankings;  // two classes: of the positive one; else of each
  ErrorSums errors;
  double spread = 0;      // squared distances of the target from its mean
  double quantile = 0.5;  // that predictions are of
  SurvivalSums survival;
};

double accuracy(const ClassCounts& counts);
double balanced_accuracy(const ClassCounts& counts);
double matthews_correlation(const ClassCounts& counts);
std::vector<double> recall_of_classes(const ClassCounts& counts);

/// Scores of one class; 0 if no row of it is predicted correctly.
double class_precision(const ClassCounts& counts, std::size_t c);
double class_recall(const ClassCounts& counts, std::size_t c);
double class_f1(const ClassCounts& counts, std::size_t c);
using ClassScore = double(const ClassCounts&, std::size_t);
/// The score of class `positive`; with -1, the mean over the classes that occur in the truth or among the predictions.
/// NaN if there is none.
double macro_mean(const ClassCounts& counts, ClassScore* score, std::int32_t positive = -1);
/// The mean over the rows of the truth of their class's score.
double weighted_mean(const ClassCounts& counts, ClassScore* score);

// NaN if a class is missing.
double auc(const Ranking& ranking);
double average_precision(const Ranking& ranking);
using RankingScore = double(const Ranking&);
double mean_of(std::span<const Ranking> rankings, RankingScore* score);
/// Each weighted by its positive rows.
double weighted_mean_of(std::span<const Ranking> rankings, RankingScore* score);
std::vector<double> roc_curve(const Ranking& ranking);
std::vector<double> precision_recall_curve(const Ranking& ranking);

/// Squared distances from the mean of value(0) to value(count - 1): exactly 0 if all are equal, NaN for a single one.
template <class Value>
double spread_of(std::size_t count, const Value& value) {
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  double mean = 0;
  double spread = 0;
  bool equal = true;
  for (std::size_t i = 0; i < count; ++i) {
    mean += value(i) / static_cast<double>(count);
    equal = equal && value(i) == value(0);
  }
  for (std::size_t i = 0; i < count && !equal; ++i) spread += (value(i) - mean) * (value(i) - mean);
  return spread;
}
/// Same convention as scikit-learn: if all targets are equal, 1 for exact predictions and 0 for others.
double r_squared(double squared_errors, double spread);
/// The sum over the rows.
double pinball_loss(const ErrorSums& errors, double quantile);

}  // namespace sheaf::score
