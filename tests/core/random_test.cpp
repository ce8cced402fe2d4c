// Every bound is five standard deviations of the statistic under the documented distribution, or wider.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace sheaf {
namespace random_test {

constexpr int draws = 200000;

template <class Draw>
std::vector<double> sample(Draw draw, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> values(draws);
  for (auto& value : values) value = static_cast<double>(draw(random));
  return values;
}

/// `kurtosis` is the fourth central moment over the squared variance: 3 for the normal.
void expect_moments(const std::vector<double>& values, double mean, double variance, double kurtosis,
                    const std::string& what) {
  const auto n = static_cast<double>(values.size());
  const double found = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  EXPECT_NEAR(found, mean, 5 * std::sqrt(variance / n)) << what;
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt((kurtosis - 1) / n)) << what;
}

/// Kolmogorov and Smirnov's largest distance; times sqrt(n) it is above 2.5 with probability 7e-6 (less if discrete).
template <class Cdf>
void expect_distribution(std::vector<double> values, Cdf cdf, const std::string& what) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k + 1 < values.size() && values[k + 1] == values[k]) continue;  // compare at the upper end of a step
    distance = std::max(distance, std::abs(static_cast<double>(k + 1) / n - cdf(values[k])));
  }
  EXPECT_LT(distance * std::sqrt(n), 2.5) << what;
}

/// Pearson's statistic has mean k-1 and variance 2(k-1) for k equally likely outcomes.
template <class Key>
void expect_equally_likely(const std::map<Key, int>& counts, std::size_t outcomes, const std::string& what) {
  ASSERT_EQ(counts.size(), outcomes) << what;
  double total = 0;
  for (const auto& [key, count] : counts) total += count;
  const double expected = total / static_cast<double>(outcomes);
  double statistic = 0;
  for (const auto& [key, count] : counts) statistic += (count - expected) * (count - expected) / expected;
  const auto freedom = static_cast<double>(outcomes - 1);
  EXPECT_LT(statistic, freedom + 6 * std::sqrt(2 * freedom)) << what;
}

TEST(Random, IsDecidedBySeedAndStream) {
  for (const std::uint64_t seed : {0UL, 1UL, ~0UL})
    for (const std::uint64_t stream : {0UL, 1UL, 1UL << 40}) {
      Random a(seed, stream);
      Random b(seed, stream);
      for (int k = 0; k < 100; ++k) EXPECT_EQ(a.bits(), b.bits());
      EXPECT_EQ(a.normal(), b.normal());
      EXPECT_EQ(a.gamma(0.5), b.gamma(0.5));
    }
}

TEST(Random, StreamsAndSeedsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t stream = 0; stream < 1000; ++stream) {
      Random random(seed, stream);
      for (int k = 0; k < 4; ++k) seen.insert(random.bits());
    }
  EXPECT_EQ(seen.size(), 30U * 1000U * 4U);
}

TEST(Random, NeighbouringStreamsAreNotCorrelated) {
  double same_time = 0;
  double next_time = 0;
  for (std::uint64_t stream = 0; stream < draws; ++stream) {
    Random a(3, stream);
    Random b(3, stream + 1);
    const double first = a.uniform() - 0.5;
    same_time += first * (b.uniform() - 0.5);
    next_time += first * (b.uniform() - 0.5);
  }
  const double deviation = std::sqrt(draws) / 12;  // each product has variance 1/144
  EXPECT_NEAR(same_time, 0, 5 * deviation);
  EXPECT_NEAR(next_time, 0, 5 * deviation);
}

TEST(Random, EveryBitIsFair) {
  std::vector<int> ones(64);
  Random random(11);
  for (int k = 0; k < draws; ++k) {
    const auto bits = random.bits();
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>(bits >> b & 1);
  }
  for (std::size_t b = 0; b < 64; ++b) EXPECT_NEAR(ones[b], 0.5 * draws, 5 * std::sqrt(draws) / 2) << "bit " << b;
}

TEST(Random, UniformFillsItsInterval) {
  const auto values = sample([](Random& r) { return r.uniform(); });
  expect_moments(values, 0.5, 1.0 / 12, 1.8, "uniform");
  expect_distribution(
      values, [](double x) { return x; }, "uniform");
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);
  const auto wide = sample([](Random& r) { return r.uniform(-3, 5); });
  expect_distribution(
      wide, [](double x) { return (x + 3) / 8; }, "uniform between -3 and 5");
}

TEST(Random, NormalIsNormal) {
  const auto values = sample([](Random& r) { return r.normal(); });
  expect_moments(values, 0, 1, 3, "normal");
  expect_distribution(
      values, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }, "normal");
}

TEST(Random, NormalsOfAPairAreNotCorrelated) {
  Random random(5);
  double products = 0;
  double squares = 0;
  for (int k = 0; k < draws; ++k) {
    const double a = random.normal();
    const double b = random.normal();
    products += a * b;
    squares += (a * a - 1) * (b * b - 1);
  }
  EXPECT_NEAR(products, 0, 5 * std::sqrt(draws));
  EXPECT_NEAR(squares, 0, 5 * 2 * std::sqrt(draws));  // each product has variance 2 * 2
}

TEST(Random, ExponentialIsExponential) {
  const auto values = sample([](Random& r) { return r.exponential(); });
  expect_moments(values, 1, 1, 9, "exponential");
  expect_distribution(
      values, [](double x) { return -std::expm1(-x); }, "exponential");
}

TEST(Random, GammaHasItsMoments) {
  for (const double shape : {0.05, 0.3, 1.0, 2.5, 50.0, 1e4})
    expect_moments(sample([&](Random& r) { return r.gamma(shape); }), shape, shape, 3 + 6 / shape,
                   "gamma " + std::to_string(shape));
}

TEST(Random, GammaOfKnownShapesHasTheirDistribution) {
  expect_distribution(
      sample([](Random& r) { return r.gamma(1); }), [](double x) { return -std::expm1(-x); }, "gamma 1");
  expect_distribution(
      sample([](Random& r) { return r.gamma(2); }), [](double x) { return 1 - (1 + x) * std::exp(-x); }, "gamma 2");
  // Half a squared normal.
  expect_distribution(
      sample([](Random& r) { return r.gamma(0.5); }), [](double x) { return std::erf(std::sqrt(x)); }, "gamma 1/2");
}

TEST(Random, PoissonHasItsMoments) {
  for (const double mean : {0.01, 0.7, 3.0, 29.5, 30.5, 200.0, 12345.0})
    expect_moments(sample([&](Random& r) { return r.poisson(mean); }), mean, mean, 3 + 1 / mean,
                   "poisson " + std::to_string(mean));
}

TEST(Random, PoissonHasItsDistribution) {
  for (const double mean : {0.7, 29.5, 33.0, 180.0}) {
    const auto cdf = [&](double x) {
      double sum = 0;
      for (int k = 0; k <= static_cast<int>(x); ++k) sum += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
      return sum;
    };
    expect_distribution(sample([&](Random& r) { return r.poisson(mean); }), cdf, "poisson " + std::to_string(mean));
  }
}

TEST(Random, PoissonOfZeroIsZero) {
  Random random(1);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(random.poisson(0), 0);
}

TEST(Random, BelowIsUnbiased) {
  for (const std::uint64_t bound : {1U, 2U, 3U, 7U, 100U}) {
    Random random(bound);
    std::map<std::uint64_t, int> counts;
    for (int k = 0; k < draws; ++k) ++counts[random.below(bound)];
    EXPECT_LT(counts.rbegin()->first, bound);
    if (bound > 1) expect_equally_likely(counts, bound, "below " + std::to_string(bound));
  }
}

TEST(Random, BelowIsUnbiasedWhereTheBoundIsHuge) {
  // Scaling 2^64 numbers to 3 * 2^62 without rejecting any would hit each multiple of 3 twice.
  Random random(8);
  std::map<std::uint64_t, int> remainders;
  for (int k = 0; k < draws; ++k) ++remainders[random.below(std::uint64_t{3} << 62) % 3];
  expect_equally_likely(remainders, 3, "remainders");
}

TEST(Random, ShuffleMakesEveryOrderEquallyLikely) {
  Random random(21);
  std::map<std::string, int> orders;
  for (int k = 0; k < 48000; ++k) {
    std::string letters = "abcd";
    random.shuffle(std::span(letters.data(), letters.size()));
    ++orders[letters];
  }
  expect_equally_likely(orders, 24, "orders of four");
}

TEST(Random, ShuffleKeepsAllValues) {
  for (const std::size_t size : {0U, 1U, 100U, 1000U}) {
    std::vector<int> values(size);
    std::iota(values.begin(), values.end(), 0);
    auto shuffled = values;
    Random(size).shuffle(std::span(shuffled));
    EXPECT_EQ(shuffled != values, size > 1);
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_EQ(shuffled, values);
  }
}

}  // namespace random_test
}  // namespace sheaf
