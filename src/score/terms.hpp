// How the scores of one row come from its decision values and the truth: written once, used by both backends.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "statistics/partial_likelihood.hpp"

namespace sheaf::score {

/// Confusion tables are kept for up to so many classes.
constexpr std::int32_t most_confused = 128;

/// Up to most_confused classes: true class x predicted class. More: rows of each true class, then of each predicted
/// class, then of each class where both are the same.
SHEAF_HOST_DEVICE constexpr std::int64_t count_bins(std::int64_t classes) {
  return classes <= most_confused ? classes * classes : 3 * classes;
}

/// The place where a row is counted; -1: nowhere.
struct Bins {
  std::int32_t at[3];
};
SHEAF_HOST_DEVICE inline Bins bins_of(std::int32_t classes, std::int32_t truth, std::int32_t predicted) {
  if (classes <= most_confused) return {{truth * classes + predicted, -1, -1}};
  return {{truth, classes + predicted, truth == predicted ? 2 * classes + truth : -1}};
}

/// The column that is largest; of equals the first.
template <class T>
SHEAF_HOST_DEVICE inline std::int32_t largest_column(const T* z, std::int32_t columns) {
  std::int32_t best = 0;
  for (std::int32_t c = 1; c < columns; ++c)
    if (z[c] > z[best]) best = c;
  return best;
}

/// How many columns stand before that of class `label`; larger ones come first, and the first of equals.
template <class T>
SHEAF_HOST_DEVICE inline std::int32_t rank_of(const T* z, std::int32_t columns, std::int32_t label) {
  const T mine = z[label];
  std::int32_t before = 0;
  for (std::int32_t c = 0; c < label; ++c) before += z[c] >= mine ? 1 : 0;
  for (std::int32_t c = label + 1; c < columns; ++c) before += z[c] > mine ? 1 : 0;
  return before;
}

/// Rows are counted by the rank of their true class: 0, 1 ... and the last bin for all others.
constexpr std::int32_t true_rank_bins = 6;
SHEAF_HOST_DEVICE inline std::int32_t rank_bin(std::int32_t rank) {
  return rank < true_rank_bins ? rank : true_rank_bins - 1;
}

/// Sums over rows of what the probabilities cost.
struct ProbabilitySums {
  double log_loss = 0;  // -log(probability of the true class)
  double brier = 0;     // two classes: the wrong one's probability squared; more: the sum of all squared distances

  SHEAF_HOST_DEVICE ProbabilitySums& operator+=(const ProbabilitySums& other) {
    log_loss += other.log_loss;
    brier += other.brier;
    return *this;
  }
};

/// Terms of a row of two classes; a positive decision value favours the true class. Without overflow.
SHEAF_HOST_DEVICE inline ProbabilitySums probability_terms(double z) {
  const double size = std::abs(z);
  const double e = exp_nonpositive(-size);
  const double wrong = (z > 0 ? e : 1) / (1 + e);
  return {(size - z) / 2 + log1p_unit(e), wrong * wrong};
}

/// Three classes or more have the shares of their logistic functions 1 / (1 + exp(-z)) in the sum of all for
/// probabilities. This is a column's logistic function over exp(min(most, 0)), where `most` is the largest column: the
/// largest is at least 1/2, however small all are.
SHEAF_HOST_DEVICE inline double class_weight(double z, double most) {
  const double over = (z < 0 ? z : 0) - (most < 0 ? most : 0);
  return exp_nonpositive(over) / (1 + exp_nonpositive(-std::abs(z)));
}

/// The largest column of a row of three classes or more, and the sum of the weights of all.
struct RowWeight {
  double most = 0, sum = 0;
};
template <class T>
SHEAF_HOST_DEVICE inline RowWeight row_weight(const T* z, std::int32_t columns) {
  RowWeight row{static_cast<double>(z[largest_column(z, columns)]), 0};
  for (std::int32_t c = 0; c < columns; ++c) row.sum += class_weight(static_cast<double>(z[c]), row.most);
  return row;
}
/// The odds of a class's probability: in the same order, but without ties of those near 1.
SHEAF_HOST_DEVICE inline double probability_odds(double z, const RowWeight& row) {
  const double weight = class_weight(z, row.most);
  return weight / (row.sum - weight);
}

/// Sums over a row's columns of their weights.
struct WeightSums {
  double weights = 0, squares = 0;
};

/// Terms of a row of three classes or more; z and `weight` are the true class's, `most` is the largest column.
SHEAF_HOST_DEVICE inline ProbabilitySums probability_terms(double z, double weight, double most,
                                                           const WeightSums& sums) {
  const double over = (z < 0 ? z : 0) - (most < 0 ? most : 0);
  const double log_weight = over - log1p_unit(exp_nonpositive(-std::abs(z)));
  const double probability = weight / sums.weights;
  const double brier = 1 - 2 * probability + sums.squares / (sums.weights * sums.weights);
  return {std::log(sums.weights) - log_weight, brier > 0 ? brier : 0};
}

/// The larger one; NaN if either is.
SHEAF_HOST_DEVICE inline double larger(double a, double b) { return a > b || a != a ? a : b; }

/// Sums over the errors of numeric predictions.
struct ErrorSums {
  double squares = 0, absolute = 0, largest = 0;
  double short_by = 0;                         // truth - prediction
  double poisson = 0, gamma = 0, tweedie = 0;  // deviances; tweedie: of power 1.5

  SHEAF_HOST_DEVICE ErrorSums& operator+=(const ErrorSums& other) {
    squares += other.squares;
    absolute += other.absolute;
    largest = larger(largest, other.largest);
    short_by += other.short_by;
    poisson += other.poisson;
    gamma += other.gamma;
    tweedie += other.tweedie;
    return *this;
  }
};
inline constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();
SHEAF_HOST_DEVICE inline ErrorSums error_terms(double predicted, double truth) {
  const double error = std::abs(predicted - truth);
  ErrorSums terms{error * error, error, error, truth - predicted, not_defined, not_defined, not_defined};
  if (!(predicted > 0) || !(truth >= 0)) return terms;
  const double log_ratio = truth > 0 ? std::log(truth / predicted) : 0.0;
  const double root = std::sqrt(predicted);
  const double distance = std::sqrt(truth) - root;
  terms.poisson = 2 * (truth * log_ratio - (truth - predicted));
  terms.tweedie = 4 * distance * distance / root;
  if (truth > 0) terms.gamma = 2 * ((truth - predicted) / predicted - log_ratio);
  return terms;
}

/// Sums of survival models.
struct SurvivalSums {
  double events = 0;
  double deviance = 0;  // of the rows trained on and tested, less that of the rows trained on
  double pairs = 0;     // of tested rows, of which one is known to have had its event first
  double ordered = 0;   // those in which it has the larger value, ties counting half
};

/// The partial likelihood's deviance (ties by Breslow) of the rows of weight above 0.
template <class Team, class Z, class Weight>
SHEAF_HOST_DEVICE double survival_deviance(const Team& team, const RiskSets<float>& sets, double* memory, const Z& z,
                                           const Weight& weight) {
  PartialLikelihood<Team, float> likelihood(team, sets, memory);
  const double loss = likelihood.load(z, weight);
  return 2 * (loss - likelihood.dual_value(0, z, weight));
}

/// Whether row i, of these times and events, is known to have had its event before row j.
SHEAF_HOST_DEVICE inline bool comes_first(double time_i, bool event_i, double time_j, bool event_j) {
  return event_i && (time_i < time_j || (time_i == time_j && !event_j));
}

/// Whole numbers that rise as values fall, and are equal if values are: 0 and -0 too.
template <class T>
using FallingKey = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
template <class T>
SHEAF_HOST_DEVICE inline FallingKey<T> falling_key(T value) {
  using Key = FallingKey<T>;
  static_assert(sizeof(Key) == sizeof(T));
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  Key bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value == T(0)) bits = 0;
  return (bits & sign) != 0 ? bits : ~(bits | sign);
}

/// How many other rows point `p` of `points` of a ROC curve takes for positive.
SHEAF_HOST_DEVICE inline double roc_place(std::int64_t others, std::int64_t p, std::int64_t points) {
  return static_cast<double>(others) * static_cast<double>(p) / static_cast<double>(points - 1);
}

/// With how many positive rows, at least one, point `p` of `points` of a precision-recall curve is reached.
SHEAF_HOST_DEVICE inline std::int64_t recall_place(std::int64_t positives, std::int64_t p, std::int64_t points) {
  const std::int64_t found = (positives * p + points - 2) / (points - 1);
  return found > 1 ? found : 1;
}

}  // namespace sheaf::score
