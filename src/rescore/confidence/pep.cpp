#include "rescore/confidence/pep.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rescore/confidence/curves.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::size_t most_bins = 10000;
constexpr std::size_t most_knots = 50;
constexpr double skew = 0.75;  // knots are denser if scores are good
constexpr double ridge = 1e-6;

/// x(i) and y(i): of each point.
template <class X, class Y>
RankBins binned(std::size_t points, const X& x, const Y& y) {
  RankBins bins;
  std::size_t i = 0;
  for (const std::int32_t end : rank_bin_ends(static_cast<std::int64_t>(points))) {
    double sum_x = 0;
    double sum_y = 0;
    double count = 0;
    for (; i < static_cast<std::size_t>(end); ++i) {
      sum_x += x(i);
      sum_y += y(i);
      ++count;
    }
    bins.x.push_back(sum_x / count);
    bins.y.push_back(sum_y / count);
    bins.weights.push_back(count);
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

/// The values at 0, 1, 2 ...: whole ramps are added once.
std::vector<double> along_ranks(const RampCurve& curve, std::size_t count) {
  const RampView view = curve.view();
  std::vector<double> values(count);
  std::int32_t whole = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = rank_at(i);
    while (whole + 1 < view.count && x >= view.knots[whole + 1]) ++whole;
    values[i] = view.behind(whole, x);
  }
  return values;
}

}  // namespace

std::vector<std::int32_t> rank_bin_ends(std::int64_t points) {
  std::vector<std::int32_t> ends;
  const double size = static_cast<double>(points) / static_cast<double>(most_bins);
  double limit = size;
  for (std::int64_t end = 0; end < points; limit += size) {
    end = std::min(points, std::max(end + 1, static_cast<std::int64_t>(std::ceil(limit))));
    ends.push_back(static_cast<std::int32_t>(end));
  }
  return ends;
}

RampCurve fit_ramps(const RankBins& bins) {
  RampCurve curve;
  curve.knots = choose_knots(bins.x);
  const std::size_t k = curve.knots.size();
  std::vector<double> a(k * k, 0.0);
  std::vector<double> b(k, 0.0);
  std::vector<double> row(k, 1.0);
  for (std::size_t i = 0; i < bins.x.size(); ++i) {
    for (std::size_t j = 0; j + 1 < k; ++j) row[j] = RampView::ramp(bins.x[i], curve.knots[j], curve.knots[j + 1]);
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
  curve.heights = solve(std::move(a), std::move(b));
  curve.passed = {curve.heights.back()};
  for (std::size_t j = 0; j + 1 < k; ++j) curve.passed.push_back(curve.passed.back() + curve.heights[j]);
  return curve;
}

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
    const RampCurve curve = fit_ramps(binned(points, x, y));
    rates.reserve(points);
    for (std::size_t i = 0; i < points; ++i) rates.push_back(curve.view().at(x(i)));
  } else {
    rates = along_ranks(fit_ramps(binned(points, rank_at, y)), points);
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
  auto rates = along_ranks(fit_ramps(binned(ranking.size(), rank_at, y)), ranking.size());
  const auto shares = along_ranks(fit_ramps(binned(ranking.size(), rank_at, is_target)), ranking.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = shares[i] <= 0 ? 1 : std::clamp(rates[i] / shares[i], 0.0, 1.0);
  return pool_adjacent_violators(std::move(rates));
}

}  // namespace sheaf::rescore
