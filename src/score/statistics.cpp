#include "score/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sheaf::score {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

ClassCounts class_counts(std::span<const std::int64_t> counts, std::int32_t classes) {
  const auto size = static_cast<std::size_t>(classes);
  ClassCounts result(size);
  for (std::size_t c = 0; c < size; ++c) {
    if (classes > most_confused) {
      result.truth[c] = static_cast<double>(counts[c]);
      result.predicted[c] = static_cast<double>(counts[size + c]);
      result.both[c] = static_cast<double>(counts[2 * size + c]);
      continue;
    }
    for (std::size_t p = 0; p < size; ++p) {
      result.truth[c] += static_cast<double>(counts[c * size + p]);
      result.predicted[c] += static_cast<double>(counts[p * size + c]);
    }
    result.both[c] = static_cast<double>(counts[c * size + c]);
  }
  return result;
}

double accuracy(const ClassCounts& counts) {
  const double rows = sum(counts.truth);
  return rows > 0 ? sum(counts.both) / rows : undefined;
}

double balanced_accuracy(const ClassCounts& counts) {
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < counts.truth.size(); ++c) {
    if (counts.truth[c] == 0) continue;
    sum += counts.both[c] / counts.truth[c];
    seen += 1;
  }
  return sum / seen;
}

double matthews_correlation(const ClassCounts& counts) {
  const double rows = sum(counts.truth);
  if (rows == 0) return undefined;
  const double together = sum(counts.both) * rows - dot(counts.truth, counts.predicted);
  const double truth = rows * rows - dot(counts.truth, counts.truth);
  const double predicted = rows * rows - dot(counts.predicted, counts.predicted);
  return truth > 0 && predicted > 0 ? together / std::sqrt(truth * predicted) : 0;
}

std::vector<double> recall_of_classes(const ClassCounts& counts) {
  std::vector<double> result;
  for (std::size_t c = 0; c < counts.truth.size(); ++c)
    result.push_back(counts.truth[c] > 0 ? counts.both[c] / counts.truth[c] : undefined);
  return result;
}

double class_precision(const ClassCounts& counts, std::size_t c) {
  return counts.predicted[c] > 0 ? counts.both[c] / counts.predicted[c] : 0;
}

double class_recall(const ClassCounts& counts, std::size_t c) {
  return counts.truth[c] > 0 ? counts.both[c] / counts.truth[c] : 0;
}

double class_f1(const ClassCounts& counts, std::size_t c) {
  const double either = counts.truth[c] + counts.predicted[c];
  return either > 0 ? 2 * counts.both[c] / either : 0;
}

double macro_mean(const ClassCounts& counts, ClassScore* score, std::int32_t positive) {
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < counts.truth.size(); ++c) {
    if (counts.truth[c] + counts.predicted[c] == 0) continue;
    if (positive >= 0 && c != static_cast<std::size_t>(positive)) continue;
    sum += score(counts, c);
    seen += 1;
  }
  return sum / seen;
}

double weighted_mean(const ClassCounts& counts, ClassScore* score) {
  double total = 0;
  for (std::size_t c = 0; c < counts.truth.size(); ++c) total += counts.truth[c] * score(counts, c);
  return total / sum(counts.truth);
}

double roc_height(const RocPiece& piece, double at, std::int64_t positives) {
  const auto width = static_cast<double>(piece.to.others - piece.from.others);
  const auto rise = static_cast<double>(piece.to.positives - piece.from.positives);
  const double share = width > 0 ? std::clamp((at - static_cast<double>(piece.from.others)) / width, 0.0, 1.0) : 1.0;
  return (static_cast<double>(piece.from.positives) + share * rise) / static_cast<double>(positives);
}

double auc(const Ranking& ranking) {
  const double pairs = static_cast<double>(ranking.others) * static_cast<double>(ranking.positives);
  return static_cast<double>(ranking.doubled) / (2 * pairs);
}

double average_precision(const Ranking& ranking) {
  if (ranking.others == 0) return undefined;
  return ranking.precisions / static_cast<double>(ranking.positives);
}

double mean_of(std::span<const Ranking> rankings, RankingScore* score) {
  double sum = 0;
  for (const auto& ranking : rankings) sum += score(ranking);
  return sum / static_cast<double>(rankings.size());
}

double weighted_mean_of(std::span<const Ranking> rankings, RankingScore* score) {
  double sum = 0;
  double weights = 0;
  for (const auto& ranking : rankings) {
    sum += static_cast<double>(ranking.positives) * score(ranking);
    weights += static_cast<double>(ranking.positives);
  }
  return sum / weights;
}

std::vector<double> roc_curve(const Ranking& ranking) {
  const auto points = static_cast<std::int64_t>(ranking.roc.size());
  std::vector<double> curve;
  for (std::int64_t p = 0; p < points; ++p)
    curve.push_back(
        roc_height(ranking.roc[static_cast<std::size_t>(p)], roc_place(ranking.others, p, points), ranking.positives));
  return curve;
}

std::vector<double> precision_recall_curve(const Ranking& ranking) {
  std::vector<double> curve;
  for (const auto& corner : ranking.precision) curve.push_back(precision_at(corner));
  return curve;
}

double r_squared(double squared_errors, double spread) {
  if (spread == 0) return squared_errors == 0 ? 1 : 0;
  return spread > 0 ? 1 - squared_errors / spread : undefined;
}

double pinball_loss(const ErrorSums& errors, double quantile) {
  return errors.absolute / 2 + (quantile - 0.5) * errors.short_by;
}

}  // namespace sheaf::score
