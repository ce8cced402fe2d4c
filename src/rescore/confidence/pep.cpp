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

/// Neighbours averaged: about most_bins groups of equal size.
Bins binned(std::span<const double> x, std::span<const double> y) {
  Bins bins;
  const double size = static_cast<double>(x.size()) / static_cast<double>(most_bins);
  double limit = size;
  double sum_x = 0;
  double sum_y = 0;
  double count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_x += x[i];
    sum_y += y[i];
    ++count;
    if (static_cast<double>(i + 1) < limit && i + 1 < x.size()) continue;
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

  /// The same for all of x, which ascends: whole ramps are added once.
  std::vector<double> along(std::span<const double> x) const {
    std::vector<double> values(x.size());
    double passed = coefficients_.back();
    std::size_t j = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (; j + 1 < knots_.size() && x[i] >= knots_[j + 1]; ++j) passed += coefficients_[j];
      values[i] = j + 1 < knots_.size() ? passed + coefficients_[j] * ramp(x[i], knots_[j], knots_[j + 1]) : passed;
    }
    return values;
  }

 private:
  std::vector<double> knots_;
  std::vector<double> coefficients_;
};

std::vector<double> ranks(std::size_t count) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<double>(i);
  return x;
}

/// A monotone fit of y on x, between 0 and 1.
std::vector<double> monotone_rates(std::span<const double> x, std::span<const double> y, bool ascending) {
  const RampSpline spline(binned(x, y));
  std::vector<double> fitted;
  if (ascending) {
    fitted = spline.along(x);
  } else {
    for (const double value : x) fitted.push_back(spline(value));
  }
  for (double& value : fitted) value = std::clamp(value, 1e-20, 1.0);
  return pool_adjacent_violators(fitted);
}

}  // namespace

std::vector<double> pool_adjacent_violators(std::span<const double> values) {
  struct Pool {
    double sum, count, mean;
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1, value});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& joined = pools.back();
      joined.sum += last.sum;
      joined.count += last.count;
      joined.mean = joined.sum / joined.count;
    }
  }
  std::vector<double> result;
  result.reserve(values.size());
  for (const Pool& pool : pools) result.insert(result.end(), static_cast<std::size_t>(pool.count), pool.mean);
  return result;
}

std::vector<double> isotonic_peps(const Ranking& ranking, bool on_scores) {
  if (ranking.size() == 0) return {};
  // One point of share 1/2 before all others.
  std::vector<double> y{0.5};
  for (const auto target : ranking.targets) y.push_back(target != 0 ? 0 : 1);
  std::vector<double> x;
  if (on_scores) {
    x.push_back(ranking.scores[0]);
    x.insert(x.end(), ranking.scores.begin(), ranking.scores.end());
  } else {
    x = ranks(y.size());
  }
  const auto rates = monotone_rates(x, y, !on_scores);
  std::vector<double> peps;
  for (std::size_t i = 1; i < rates.size(); ++i) peps.push_back(std::min(rates[i] / (1 - rates[i]), 1.0));
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
  std::vector<double> pooled = pool_adjacent_violators(differences);
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
  std::vector<double> y;
  for (std::size_t i = 0; i < ranking.size(); ++i) y.push_back(errors[i] - (i == 0 ? 0 : errors[i - 1]));
  // Rates of incorrect targets and of targets among neighbours in rank.
  const std::vector<double> x = ranks(ranking.size());
  std::vector<double> is_target(ranking.targets.begin(), ranking.targets.end());
  const RampSpline incorrect(binned(x, y));
  const RampSpline targets(binned(x, is_target));
  auto rates = incorrect.along(x);
  const auto shares = targets.along(x);
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = shares[i] <= 0 ? 1 : std::clamp(rates[i] / shares[i], 0.0, 1.0);
  return pool_adjacent_violators(rates);
}

}  // namespace sheaf::rescore
