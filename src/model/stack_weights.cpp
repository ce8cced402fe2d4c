// Weights of a stack: max f(w) over w >= 0, sum w = 1, with f concave. Mass moves from the member of the smallest slope
// to that of the largest, as far as f rises (pairwise steps as in Frank and Wolfe 1956 with away steps, Guelat and
// Marcotte 1986). Since f is concave, f(w*) - f(w) <= max slope - w'slopes.
#include <algorithm>
#include <cmath>
#include <functional>

#include <sheaf/solvers/stack.hpp>

#include "core/fail.hpp"

namespace sheaf {
namespace {

constexpr double tolerance = 1e-10;
constexpr int most_steps = 100000;

/// Probabilities below this count as this in logarithms.
constexpr double least_probability = 1e-15;

/// The objective as the steps see it.
struct Objective {
  /// The slope of each member at the mean of the rows.
  std::function<std::vector<double>(std::span<const double> mean)> slopes;
  /// The best length of up to `most` of a step along `change`, which raises the objective.
  std::function<double(std::span<const double> mean, std::span<const double> change, double most)> length;
};

std::vector<double> mean_of(std::span<const double> values, std::span<const double> weights) {
  std::vector<double> mean(values.size() / weights.size(), 0.0);
  for (std::size_t i = 0; i < mean.size(); ++i)
    for (std::size_t m = 0; m < weights.size(); ++m) mean[i] += weights[m] * values[i * weights.size() + m];
  return mean;
}

std::vector<double> solve(std::span<const double> values, std::size_t members, const Objective& objective) {
  std::vector<double> weights(members, 1 / static_cast<double>(members));
  std::vector<double> change(values.size() / members);
  for (int step = 0; step < most_steps; ++step) {
    const auto mean = mean_of(values, weights);
    const auto slopes = objective.slopes(mean);
    const auto up = static_cast<std::size_t>(std::max_element(slopes.begin(), slopes.end()) - slopes.begin());
    std::size_t down = up;
    double along = 0;  // of the weights themselves
    for (std::size_t m = 0; m < members; ++m) {
      along += weights[m] * slopes[m];
      if (weights[m] > 0 && slopes[m] < slopes[down]) down = m;
    }
    if (slopes[up] - along <= tolerance || up == down) break;
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = values[i * members + up] - values[i * members + down];
    const double length = objective.length(mean, change, weights[down]);
    if (!(length > 0)) break;  // the rest is rounding
    weights[up] += length;
    weights[down] = length >= weights[down] ? 0 : weights[down] - length;
  }
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// The slope of sum log(mean + length change) along `length`, and its own slope.
struct Slope {
  double value = 0, curvature = 0;
};
Slope likelihood_slope(std::span<const double> mean, std::span<const double> change, double length) {
  Slope slope;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double share = change[i] / (mean[i] + length * change[i]);
    slope.value += share;
    slope.curvature -= share * share;
  }
  return slope;
}

/// Newton's method between two ends that hold the root of the slope.
double likelihood_length(std::span<const double> mean, std::span<const double> change, double most) {
  if (likelihood_slope(mean, change, most).value >= 0) return most;
  double low = 0;
  double high = most;
  double length = 0;
  for (int k = 0; k < 100 && high - low > 1e-16; ++k) {
    const auto slope = likelihood_slope(mean, change, length);
    (slope.value > 0 ? low : high) = length;
    const double next = length - slope.value / slope.curvature;
    if (std::abs(next - length) <= 1e-16) break;
    length = next > low && next < high ? next : (low + high) / 2;
  }
  return length;
}

}  // namespace

std::vector<double> weights_by_likelihood(std::span<const double> values, std::size_t members) {
  std::vector<double> likelihoods(values.begin(), values.end());
  for (double& value : likelihoods) value = std::max(value, least_probability);
  const auto rows = static_cast<double>(values.size() / members);
  const auto slopes = [&](std::span<const double> mean) {
    std::vector<double> result(members, 0.0);
    for (std::size_t i = 0; i < mean.size(); ++i)
      for (std::size_t m = 0; m < members; ++m) result[m] += likelihoods[i * members + m] / mean[i] / rows;
    return result;
  };
  return solve(likelihoods, members, {slopes, likelihood_length});
}

std::vector<double> weights_by_squares(std::span<const double> values, std::span<const double> truth,
                                       std::size_t members) {
  const auto rows = static_cast<double>(truth.size());
  double mean_truth = 0;
  for (const double value : truth) mean_truth += value / rows;
  double variance = 0;
  for (const double value : truth) variance += (value - mean_truth) * (value - mean_truth) / rows;
  const double unit = variance > 0 ? variance : 1;
  const auto slopes = [&](std::span<const double> mean) {
    std::vector<double> result(members, 0.0);
    for (std::size_t i = 0; i < mean.size(); ++i)
      for (std::size_t m = 0; m < members; ++m)
        result[m] += 2 * (truth[i] - mean[i]) * values[i * members + m] / unit / rows;
    return result;
  };
  const auto length = [&](std::span<const double> mean, std::span<const double> change, double most) {
    double product = 0;
    double square = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      product += (truth[i] - mean[i]) * change[i];
      square += change[i] * change[i];
    }
    return square > 0 ? std::min(most, product / square) : 0;
  };
  return solve(values, members, {slopes, length});
}

std::vector<double> average(std::span<const std::vector<double>> values, std::span<const double> weights) {
  std::vector<double> mean(values.front().size(), 0.0);
  for (const auto& member : values)
    if (member.size() != mean.size()) fail("the members of the stack do not predict the same number of values");
  for (std::size_t m = 0; m < values.size(); ++m)
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += weights[m] * values[m][k];
  return mean;
}

Predictions predictions_from(std::vector<double> probabilities, std::size_t classes) {
  Predictions result;
  result.rows = static_cast<std::int64_t>(probabilities.size() / classes);
  result.columns = classes > 2 ? static_cast<std::int32_t>(classes) : 1;
  const auto log_odds = [](double share) {
    return std::log(std::max(share, least_probability)) - std::log(std::max(1 - share, least_probability));
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.rows); ++i) {
    const auto row = std::span(probabilities).subspan(i * classes, classes);
    result.classes.push_back(static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    for (std::size_t c = 0; c < static_cast<std::size_t>(result.columns); ++c)
      result.decisions.push_back(log_odds(row[c]));
  }
  result.probabilities = std::move(probabilities);
  return result;
}

}  // namespace sheaf
