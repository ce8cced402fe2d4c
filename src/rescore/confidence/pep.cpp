#include "rescore/confidence/pep.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sheaf::rescore {
namespace {

constexpr std::size_t most_bins = 10000;
constexpr std::size_t most_knots = 50;
constexpr double skew = 0.75;  // knots are denser where scores are good
constexpr double ridge = 1e-6;

struct Bins {
  std::vector<double> x, y, weights;
};

/// Neighbours averaged: about most_bins groups of equal size. x(i) and y(i): of each point.
template <class X, class Y>
Bins binned(std::size_t points, const X& x, const Y& y) {
  Bins bins;
  const double size = static_cast<double>(points) / static_cast<double>(most_bins);
  double limit = size;
  double sum_x = 0;
  double sum_y = 0;
  double count = 0;
  for (std::size_t i = 0; i < points; ++i) {
    sum_x += x(i);
    sum_y += y(i);
    ++count;
    if (static_cast<double>(i + 1) < limit && i + 1 < points) continue;
    bins.x.push_back(sum_x / count);
    bins.y.push_back(sum_y / count);
    bins.weights.push_back(count);
    sum_x = sum_y = count = 0;
    limit += size;
  }
  return bins;
}

std::vector<double> choose_knots(std::span<const double> x) {
  const auto intervals = std::min(most_knots, static_cast<std::size_t>(std::sqrt(static_cast<double>(x.size()))));
  std::vector<double> knots{x.front()};
  for (std::size_t i = 1; i < intervals; ++i) {
    const double share = 1.0 - std::pow(1.0 - static_cast<double>(i) / static_cast<double>(intervals), skew);
    knots.push_back(x[static_cast<std::size_t>(share * static_cast<double>(x.size() - 1))]);
  }
  knots.push_back(x.back());
  return knots;
}

/// Rises from 0 at `left` to 1 at `right`.
double ramp(double x, double left, double right) {
  if (x < left) return 0;
  if (x >= right) return 1;
  const double u = (x - left) / (right - left);
  return 3 * u * u - 2 * u * u * u;
}

/// Solves the symmetric positive definite A x = b in place by Cholesky's method; A is k x k.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t k = b.size();
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = j; i < k; ++i) {
      double sum = a[i * k + j];
      for (std::size_t m = 0; m < j; ++m) sum -= a[i * k + m] * a[j * k + m];
      a[i * k + j] = i == j ? std::sqrt(sum) : sum / a[j * k + j];
    }
    for (std::size_t m = 0; m < j; ++m) b[j] -= a[j * k + m] * b[m];
    b[j] /= a[j * k + j];
  }
  for (std::size_t j = k; j-- > 0;) {
    for (std::size_t m = j + 1; m < k; ++m) b[j] -= a[m * k + j] * b[m];
    b[j] /= a[j * k + j];
  }
  return b;
}

double rank_at(std::size_t i) { return static_cast<double>(i); }

/// A sum of ramps and a constant, fitted by weighted least squares.
class RampSpline {
 public:
  explicit RampSpline(const Bins& bins) : knots_(choose_knots(bins.x)) {
    const std::size_t k = knots_.size();
    std::vector<double> a(k * k, 0.0);
    std::vector<double> b(k, 0.0);
    std::vector<double> row(k, 1.0);
    for (std::size_t i = 0; i < bins.x.size(); ++i) {
      for (std::size_t j = 0; j + 1 < k; ++j) row[j] = ramp(bins.x[i], knots_[j], knots_[j + 1]);
      for (std::size_t j = 0; j < k; ++j) {
        const double weighted = bins.weights[i] * row[j];
        if (weighted == 0) continue;
        b[j] += weighted * bins.y[i];
        for (std::size_t m = 0; m <= j; ++m) a[j * k + m] += weighted * row[m];
      }
    }
    for (std::size_t j = 0; j < k; ++j) {
      a[j * k + j] += ridge;
      for (std::size_t m = 0; m < j; ++m) a[m * k + j] = a[j * k + m];
    }
    coefficients_ = solve(std::move(a), std::move(b));
  }

  double operator()(double x) const {
    double value = coefficients_.back();
    for (std::size_t j = 0; j + 1 < knots_.size(); ++j) value += coefficients_[j] * ramp(x, knots_[j], knots_[j + 1]);
    return value;
  }

  /// The same at 0, 1, 2 ...: whole ramps are added once.
  std::vector<double> along_ranks(std::size_t count) const {
    std::vector<double> values(count);
    double passed = coefficients_.back();
    std::size_t j = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = rank_at(i);
      for (; j + 1 < knots_.size() && x >= knots_[j + 1]; ++j) passed += coefficients_[j];
      values[i] = j + 1 < knots_.size() ? passed + coefficients_[j] * ramp(x, knots_[j], knots_[j + 1]) : passed;
    }
    return values;
  }

 private:
  std::vector<double> knots_;
  std::vector<double> coefficients_;
};

}  // namespace

/// Sums and counts of pools take the place of values that were read, and then give way to means.
std::vector<double> pool_adjacent_violators(std::vector<double> values) {
  std::vector<std::uint32_t> counts(values.size());
  const auto mean = [&](std::size_t pool) { return values[pool] / static_cast<double>(counts[pool]); };
  std::size_t pools = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[pools] = values[i];
    counts[pools] = 1;
    ++pools;
    while (pools > 1 && mean(pools - 2) > mean(pools - 1)) {
      values[pools - 2] += values[pools - 1];
      counts[pools - 2] += counts[pools - 1];
      --pools;
    }
  }
  std::size_t end = values.size();
  while (pools-- > 0) {
    const double value = mean(pools);
    const std::size_t begin = end - counts[pools];
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end),
              value);
    end = begin;
  }
  return values;
}

std::vector<double> isotonic_peps(const Ranking& ranking, bool on_scores) {
  if (ranking.size() == 0) return {};
  // One point of share 1/2 before all others.
  const std::size_t points = ranking.size() + 1;
  const auto y = [&](std::size_t i) { return i == 0 ? 0.5 : ranking.targets[i - 1] != 0 ? 0.0 : 1.0; };
  std::vector<double> rates;
  if (on_scores) {
    const auto x = [&](std::size_t i) { return ranking.scores[i == 0 ? 0 : i - 1]; };
    const RampSpline spline(binned(points, x, y));
    rates.reserve(points);
    for (std::size_t i = 0; i < points; ++i) rates.push_back(spline(x(i)));
  } else {
    rates = RampSpline(binned(points, rank_at, y)).along_ranks(points);
  }
  for (double& value : rates) value = std::clamp(value, 1e-20, 1.0);
  auto peps = pool_adjacent_violators(std::move(rates));
  for (std::size_t i = 1; i < points; ++i) peps[i - 1] = std::min(peps[i] / (1 - peps[i]), 1.0);
  peps.pop_back();
  return peps;
}

std::vector<double> pooled_peps(const Ranking& ranking, std::span<const double> q) {
  std::vector<double> of_targets;
  for (std::size_t i = 0; i < ranking.size(); ++i)
    if (ranking.targets[i] != 0) of_targets.push_back(q[i]);
  std::vector<double> differences(of_targets.size());
  for (std::size_t k = 0; k < of_targets.size(); ++k) {
    const double errors = of_targets[k] * static_cast<double>(k + 1);
    differences[k] = k == 0 ? errors : errors - of_targets[k - 1] * static_cast<double>(k);
  }
  std::vector<double> pooled = pool_adjacent_violators(std::move(differences));
  pooled.push_back(1);
  of_targets.push_back(1);
  std::vector<double> peps(ranking.size());
  double left_q = 0;
  double left_pep = 0;
  for (std::size_t i = 0, k = 0; i < ranking.size(); ++i) {
    if (ranking.targets[i] != 0) {
      peps[i] = left_pep = pooled[k];
      left_q = of_targets[k++];
    } else {
      peps[i] = left_pep + (q[i] - left_q) * (pooled[k] - left_pep) / (of_targets[k] - left_q);
    }
  }
  return peps;
}

std::vector<double> corrected_peps(const Ranking& ranking, const FdrRule& rule) {
  // Incorrect targets up to each PSM, as q-values count them, without the +1 and before the running minimum.
  FdrRule plain = rule;
  plain.plus_one = false;
  if (ranking.size() == 0) return {};
  const auto errors = expected_errors(ranking, plain);
  const auto y = [&](std::size_t i) { return errors[i] - (i == 0 ? 0 : errors[i - 1]); };
  // Rates of incorrect targets and of targets among neighbours in rank.
  const auto is_target = [&](std::size_t i) { return ranking.targets[i] != 0 ? 1.0 : 0.0; };
  auto rates = RampSpline(binned(ranking.size(), rank_at, y)).along_ranks(ranking.size());
  const auto shares = RampSpline(binned(ranking.size(), rank_at, is_target)).along_ranks(ranking.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = shares[i] <= 0 ? 1 : std::clamp(rates[i] / shares[i], 0.0, 1.0);
  return pool_adjacent_violators(std::move(rates));
}

}  // namespace sheaf::rescore
