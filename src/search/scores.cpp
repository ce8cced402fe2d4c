#include <sheaf/scores.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/error.hpp>

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

/// Rows of each class in the truth, among the predictions, and in both.
struct Counts {
  std::vector<double> truth, predicted, both;
};

Counts count(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes) {
  const auto size = static_cast<std::size_t>(classes);
  Counts counts{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    counts.truth[static_cast<std::size_t>(truth[i])] += 1;
    counts.predicted[static_cast<std::size_t>(predicted[i])] += 1;
    if (truth[i] == predicted[i]) counts.both[static_cast<std::size_t>(truth[i])] += 1;
  }
  return counts;
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

/// The corners of the ROC curve: how many other and positive rows have at least each distinct value.
struct Corners {
  std::vector<double> others{0.0}, positives{0.0};
};

Corners corners_of(std::span<const double> values, std::span<const std::uint8_t> positive) {
  Corners corners;
  const auto order = falling(values);
  double others = 0;
  double positives = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    (positive[order[k]] != 0 ? positives : others) += 1;
    if (k + 1 < order.size() && values[order[k + 1]] == values[order[k]]) continue;
    corners.others.push_back(others);
    corners.positives.push_back(positives);
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
  const auto counts = count(truth, predicted, classes);
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < counts.truth.size(); ++c) {
    if (counts.truth[c] == 0) continue;
    sum += counts.both[c] / counts.truth[c];
    seen += 1;
  }
  return sum / seen;
}

double f1(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, std::int32_t classes,
          std::int32_t positive) {
  const auto counts = count(truth, predicted, classes);
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < counts.truth.size(); ++c) {
    const double either = counts.truth[c] + counts.predicted[c];
    if (either == 0 || (positive >= 0 && c != static_cast<std::size_t>(positive))) continue;
    sum += 2 * counts.both[c] / either;
    seen += 1;
  }
  return sum / seen;
}

double auc(std::span<const double> values, std::span<const std::uint8_t> positive) {
  const auto corners = corners_of(values, positive);
  double doubled = 0;  // pairs won twice, ties once: whole numbers, so that the sum is exact
  for (std::size_t k = 1; k < corners.others.size(); ++k)
    doubled += (corners.others[k] - corners.others[k - 1]) * (corners.positives[k] + corners.positives[k - 1]);
  return doubled / (2 * corners.others.back() * corners.positives.back());
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
  const double others = corners.others.back();
  const double positives = corners.positives.back();
  if (others == 0 || positives == 0) return {};
  std::vector<double> curve;
  std::size_t k = 1;
  for (std::size_t p = 0; p < points; ++p) {
    const double at = others * static_cast<double>(p) / static_cast<double>(points - 1);
    while (k + 1 < corners.others.size() && corners.others[k] <= at) ++k;  // the highest corner above `at`
    const double width = corners.others[k] - corners.others[k - 1];
    const double share = width > 0 ? std::clamp((at - corners.others[k - 1]) / width, 0.0, 1.0) : 1.0;
    curve.push_back((corners.positives[k - 1] + share * (corners.positives[k] - corners.positives[k - 1])) / positives);
  }
  return curve;
}

}  // namespace sheaf
