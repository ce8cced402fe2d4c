#include <sheaf/scores.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/error.hpp>

#include "score/tallies.hpp"

namespace sheaf {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

constexpr std::array rows{
    MetricInfo{Metric::accuracy, "accuracy", "accuracy"},
    MetricInfo{Metric::balanced_accuracy, "balanced-accuracy", "balanced accuracy"},
    MetricInfo{Metric::f1, "f1", "F1"},
    MetricInfo{Metric::auc, "auc", "AUC"},
    MetricInfo{Metric::log_loss, "log-loss", "log-loss", false, false, true},
    MetricInfo{Metric::r2, "r2", "R2", true, true},
    MetricInfo{Metric::rmse, "rmse", "RMSE", false, true},
};

score::ClassTally count(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                        std::int32_t classes) {
  const auto size = static_cast<std::size_t>(classes);
  score::ClassTally tally{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    tally.truth[static_cast<std::size_t>(truth[i])] += 1;
    tally.predicted[static_cast<std::size_t>(predicted[i])] += 1;
    if (truth[i] == predicted[i]) tally.both[static_cast<std::size_t>(truth[i])] += 1;
  }
  return tally;
}

/// log(1 / (1 + exp(-z))) without overflow.
double log_sigmoid(double z) { return z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z)); }

/// -log of the share that class `truth` has in the sum of all classes' logistic functions.
double row_loss(std::span<const double> z, std::int32_t truth) {
  if (z.size() == 1) return -log_sigmoid(truth == 0 ? z[0] : -z[0]);
  double most = -std::numeric_limits<double>::infinity();
  for (const double value : z) most = std::max(most, log_sigmoid(value));
  double sum = 0;
  for (const double value : z) sum += std::exp(log_sigmoid(value) - most);
  return most + std::log(sum) - log_sigmoid(z[static_cast<std::size_t>(truth)]);
}

/// Rows by falling value.
std::vector<std::size_t> falling(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

/// The corners of the ROC curve, from (0, 0) on: one behind each distinct value.
std::vector<score::Corner> corners_of(std::span<const double> values, std::span<const std::uint8_t> positive) {
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

}  // namespace

std::span<const MetricInfo> metrics() { return rows; }

const MetricInfo& info(Metric metric) { return rows[static_cast<std::size_t>(metric)]; }

double accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
  double right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i] ? 1 : 0;
  return truth.empty() ? undefined : right / static_cast<double>(truth.size());
}

double balanced_accuracy(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                         std::int32_t classes) {
  return score::balanced_accuracy(count(truth, predicted, classes));
}

double f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
          std::int32_t positive) {
  return score::f1(count(truth, predicted, classes), positive);
}

double auc(std::span<const double> values, std::span<const std::uint8_t> positive) {
  const auto corners = corners_of(values, positive);
  score::Ranking ranking{corners.back().others, corners.back().positives, 0, {}};
  for (std::size_t k = 1; k < corners.size(); ++k)
    ranking.doubled += (corners[k].others - corners[k - 1].others) * (corners[k].positives + corners[k - 1].positives);
  return score::auc(ranking);
}

double auc_of_classes(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth) {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> values(truth.size());
  std::vector<std::uint8_t> positive(truth.size());
  double sum = 0;
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      values[i] = decisions[i * width + c];
      positive[i] = truth[i] == static_cast<std::int32_t>(c) ? 1 : 0;
    }
    sum += auc(values, positive);
  }
  return sum / static_cast<double>(columns);
}

double log_loss(std::span<const double> decisions, std::int32_t columns, std::span<const std::int32_t> truth) {
  const auto width = static_cast<std::size_t>(columns);
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += row_loss(decisions.subspan(i * width, width), truth[i]);
  return sum / static_cast<double>(truth.size());
}

double r_squared(std::span<const double> predicted, std::span<const double> truth) {
  double mean = 0;
  for (const double value : truth) mean += value / static_cast<double>(truth.size());
  double errors = 0;
  double spread = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    errors += (predicted[i] - truth[i]) * (predicted[i] - truth[i]);
    spread += (truth[i] - mean) * (truth[i] - mean);
  }
  return spread > 0 ? 1 - errors / spread : undefined;
}

double root_mean_squared_error(std::span<const double> predicted, std::span<const double> truth) {
  double errors = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) errors += (predicted[i] - truth[i]) * (predicted[i] - truth[i]);
  return std::sqrt(errors / static_cast<double>(truth.size()));
}

std::vector<double> roc_curve(std::span<const double> values, std::span<const std::uint8_t> positive,
                              std::size_t points) {
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

}  // namespace sheaf
