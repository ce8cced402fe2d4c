#include <sheaf/scores.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/error.hpp>

#include "score/statistics.hpp"
#include "statistics/concordance.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf {
namespace {

using Labels = std::span<const std::int32_t>;
using Values = std::span<const double>;
using Flags = std::span<const std::uint8_t>;

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

score::ClassCounts count(Labels truth, Labels predicted, std::int32_t classes) {
  score::ClassCounts counts(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    counts.truth[static_cast<std::size_t>(truth[i])] += 1;
    counts.predicted[static_cast<std::size_t>(predicted[i])] += 1;
    if (truth[i] == predicted[i]) counts.both[static_cast<std::size_t>(truth[i])] += 1;
  }
  return counts;
}

/// log(1 / (1 + exp(-z))) without overflow.
double log_sigmoid(double z) { return z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z)); }

/// The logarithms of the probabilities of a row's classes: the shares in the sum of all logistic functions.
std::vector<double> log_probabilities(Values z) {
  if (z.size() == 1) return {log_sigmoid(z[0]), log_sigmoid(-z[0])};
  std::vector<double> logs;
  for (const double value : z) logs.push_back(log_sigmoid(value));
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - most);
  for (double& value : logs) value -= most + std::log(sum);
  return logs;
}

/// The mean over the rows of term(logarithms of their probabilities, true class).
template <class Term>
double mean_over_rows(Values decisions, std::int32_t columns, Labels truth, Term&& term) {
  const auto width = static_cast<std::size_t>(columns);
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    sum += term(log_probabilities(decisions.subspan(i * width, width)), static_cast<std::size_t>(truth[i]));
  return sum / static_cast<double>(truth.size());
}

/// Rows by falling value.
std::vector<std::size_t> falling(Values values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

/// The corners of the ROC curve, from (0, 0) on: one behind each distinct value.
std::vector<score::Corner> corners_of(Values values, Flags positive) {
  std::vector<score::Corner> corners(1);
  const auto order = falling(values);
  score::Corner corner;
  for (std::size_t k = 0; k < order.size(); ++k) {
    ++(positive[order[k]] != 0 ? corner.positives : corner.others);
    if (k + 1 < order.size() && values[order[k + 1]] == values[order[k]]) continue;
    corners.push_back(corner);
  }
  return corners;
}

score::Ranking rank(Values values, Flags positive) {
  const auto corners = corners_of(values, positive);
  score::Ranking ranking;
  ranking.others = corners.back().others;
  ranking.positives = corners.back().positives;
  for (std::size_t k = 1; k < corners.size(); ++k) {
    const auto& from = corners[k - 1];
    const auto& to = corners[k];
    ranking.doubled += (to.others - from.others) * (to.positives + from.positives);
    ranking.precisions += static_cast<double>(to.positives - from.positives) * score::precision_at(to);
  }
  return ranking;
}

/// Each column against the rest; two classes: the values of class `positive` alone.
std::vector<score::Ranking> rank_classes(Values decisions, std::int32_t columns, Labels truth, std::int32_t positive) {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> values(truth.size());
  std::vector<std::uint8_t> flags(truth.size());
  std::vector<score::Ranking> rankings;
  for (std::size_t c = 0; c < width; ++c) {
    const auto mine = columns == 1 ? positive : static_cast<std::int32_t>(c);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double value = decisions[i * width + c];
      values[i] = columns == 1 && positive == 1 ? -value : value;
      flags[i] = truth[i] == mine ? 1 : 0;
    }
    rankings.push_back(rank(values, flags));
  }
  return rankings;
}

score::ErrorSums sum_errors(Values predicted, Values truth) {
  score::ErrorSums sums;
  for (std::size_t i = 0; i < truth.size(); ++i) sums += score::error_terms(predicted[i], truth[i]);
  return sums;
}

}  // namespace

double accuracy(Labels truth, Labels predicted) {
  double right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i] ? 1 : 0;
  return truth.empty() ? undefined : right / static_cast<double>(truth.size());
}

double balanced_accuracy(Labels truth, Labels predicted, std::int32_t classes) {
  return score::balanced_accuracy(count(truth, predicted, classes));
}

double precision(Labels truth, Labels predicted, std::int32_t classes, std::int32_t positive) {
  return score::macro_mean(count(truth, predicted, classes), score::class_precision, positive);
}

double recall(Labels truth, Labels predicted, std::int32_t classes, std::int32_t positive) {
  return score::macro_mean(count(truth, predicted, classes), score::class_recall, positive);
}

double f1(Labels truth, Labels predicted, std::int32_t classes, std::int32_t positive) {
  return score::macro_mean(count(truth, predicted, classes), score::class_f1, positive);
}

double precision_weighted(Labels truth, Labels predicted, std::int32_t classes) {
  return score::weighted_mean(count(truth, predicted, classes), score::class_precision);
}

double f1_weighted(Labels truth, Labels predicted, std::int32_t classes) {
  return score::weighted_mean(count(truth, predicted, classes), score::class_f1);
}

std::vector<double> recall_of_classes(Labels truth, Labels predicted, std::int32_t classes) {
  return score::recall_of_classes(count(truth, predicted, classes));
}

double matthews_correlation(Labels truth, Labels predicted, std::int32_t classes) {
  return score::matthews_correlation(count(truth, predicted, classes));
}

double auc(Values values, Flags positive) { return score::auc(rank(values, positive)); }

double auc_of_classes(Values decisions, std::int32_t columns, Labels truth) {
  return score::mean_of(rank_classes(decisions, columns, truth, 0), score::auc);
}

double auc_of_classes_weighted(Values decisions, std::int32_t columns, Labels truth) {
  return score::weighted_mean_of(rank_classes(decisions, columns, truth, 0), score::auc);
}

double average_precision(Values values, Flags positive) { return score::average_precision(rank(values, positive)); }

double average_precision_of_classes(Values decisions, std::int32_t columns, Labels truth, std::int32_t positive) {
  return score::mean_of(rank_classes(decisions, columns, truth, positive), score::average_precision);
}

double top_k_accuracy(Values decisions, std::int32_t columns, Labels truth, std::int32_t k) {
  require(columns > 2, "the top classes are asked for of three classes or more");
  double found = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    found += score::rank_of(&decisions[i * static_cast<std::size_t>(columns)], columns, truth[i]) < k ? 1 : 0;
  return found / static_cast<double>(truth.size());
}

double log_loss(Values decisions, std::int32_t columns, Labels truth) {
  return mean_over_rows(decisions, columns, truth,
                        [](const std::vector<double>& logs, std::size_t label) { return -logs[label]; });
}

double brier_score(Values decisions, std::int32_t columns, Labels truth) {
  const double share = columns == 1 ? 0.5 : 1;  // both of two classes are as far from the truth
  return mean_over_rows(decisions, columns, truth, [&](const std::vector<double>& logs, std::size_t label) {
    double sum = 0;
    for (std::size_t c = 0; c < logs.size(); ++c) {
      const double distance = std::exp(logs[c]) - (c == label ? 1 : 0);
      sum += share * distance * distance;
    }
    return sum;
  });
}

std::vector<double> roc_curve(Values values, Flags positive, std::size_t points) {
  require(points > 1, "a curve needs two points");
  const auto corners = corners_of(values, positive);
  const auto [others, positives] = corners.back();
  if (others == 0 || positives == 0) return {};
  std::vector<double> curve;
  std::size_t k = 1;
  for (std::size_t p = 0; p < points; ++p) {
    const double at = static_cast<double>(others) * static_cast<double>(p) / static_cast<double>(points - 1);
    // The highest corner above `at`.
    while (k + 1 < corners.size() && static_cast<double>(corners[k].others) <= at) ++k;
    curve.push_back(score::roc_height({corners[k - 1], corners[k]}, at, positives));
  }
  return curve;
}

std::vector<double> precision_recall_curve(Values values, Flags positive, std::size_t points) {
  require(points > 1, "a curve needs two points");
  const auto corners = corners_of(values, positive);
  const auto [others, positives] = corners.back();
  if (others == 0 || positives == 0) return {};
  std::vector<double> curve;
  std::size_t k = 1;
  for (std::size_t p = 0; p < points; ++p) {
    const auto found = score::recall_place(positives, static_cast<std::int64_t>(p), static_cast<std::int64_t>(points));
    while (corners[k].positives < found) ++k;
    curve.push_back(score::precision_at(corners[k]));
  }
  return curve;
}

double r_squared(Values predicted, Values truth) {
  const auto value = [&](std::size_t i) { return truth[i]; };
  return score::r_squared(sum_errors(predicted, truth).squares, score::spread_of(truth.size(), value));
}

double mean_squared_error(Values predicted, Values truth) {
  return sum_errors(predicted, truth).squares / static_cast<double>(truth.size());
}

double root_mean_squared_error(Values predicted, Values truth) {
  return std::sqrt(mean_squared_error(predicted, truth));
}

double mean_absolute_error(Values predicted, Values truth) {
  return sum_errors(predicted, truth).absolute / static_cast<double>(truth.size());
}

double max_error(Values predicted, Values truth) {
  return truth.empty() ? undefined : sum_errors(predicted, truth).largest;
}

double mean_poisson_deviance(Values predicted, Values truth) {
  return sum_errors(predicted, truth).poisson / static_cast<double>(truth.size());
}

double mean_gamma_deviance(Values predicted, Values truth) {
  return sum_errors(predicted, truth).gamma / static_cast<double>(truth.size());
}

double mean_tweedie_deviance(Values predicted, Values truth) {
  return sum_errors(predicted, truth).tweedie / static_cast<double>(truth.size());
}

double mean_pinball_loss(Values predicted, Values truth, double quantile) {
  return score::pinball_loss(sum_errors(predicted, truth), quantile) / static_cast<double>(truth.size());
}

double concordance(Values values, Values times, Flags events) {
  return concordant_pairs(values, {{times.begin(), times.end()}}, events).share();
}

double partial_likelihood_deviance(Values values, Values times, Flags events) {
  const std::vector<double> came(events.begin(), events.end());
  const RiskArrays<float> risk(make_risk_tables({{times.begin(), times.end()}}, came, {}, 1, false), 1, Device::cpu());
  std::vector<double> memory(values.size() * PartialLikelihood<OneThread, float>::vectors);
  const auto value = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  const double deviance =
      score::survival_deviance(OneThread{}, risk.sets(), memory.data(), value, [](std::int64_t) { return 1.0; });
  return deviance / std::accumulate(came.begin(), came.end(), 0.0);
}

}  // namespace sheaf
