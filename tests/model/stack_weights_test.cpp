// The weights of a stack, beside scipy's optimum of the same problems.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/stack.hpp>

namespace sheaf::test {
namespace stack_weights_test {

constexpr std::size_t rows = 40;

/// Numbers of [0, 1) by a linear congruential generator, which other programs can repeat.
std::vector<double> draw(std::size_t count) {
  std::int64_t state = 12345;
  std::vector<double> numbers;
  for (std::size_t k = 0; k < count; ++k) {
    state = (state * 1103515245 + 12345) % (std::int64_t{1} << 31);
    numbers.push_back(static_cast<double>((state >> 8) % 1000) / 1000);
  }
  return numbers;
}

double mean_log(const std::vector<double>& values, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    double mean = 0;
    for (std::size_t m = 0; m < weights.size(); ++m) mean += weights[m] * values[i * weights.size() + m];
    sum += std::log(mean) / rows;
  }
  return sum;
}

void expect_weights(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double sum = 0;
  for (std::size_t m = 0; m < found.size(); ++m) {
    EXPECT_NEAR(found[m], expected[m], 2e-5) << m;
    EXPECT_GE(found[m], 0);
    sum += found[m];
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

// scipy.optimize.minimize(-mean(log(P @ w)), method="SLSQP", ftol=1e-16), the best of 20 starts.
TEST(StackWeights, OfTheLargestLikelihoodAreThoseOfScipy) {
  auto values = draw(rows * 3);
  for (double& value : values) value = 0.02 + 0.95 * value;
  expect_weights(weights_by_likelihood(values, 3), {0.66811484, 0.18608533, 0.14579984});
  EXPECT_NEAR(mean_log(values, weights_by_likelihood(values, 3)), -0.7136127987064695, 1e-9);
  for (std::size_t i = 0; i < rows; ++i) {
    values[i * 3] = std::min(0.99, values[i * 3] + 0.15);
    values[i * 3 + 1] = std::min(0.99, values[i * 3 + 1] + 0.10);
  }
  expect_weights(weights_by_likelihood(values, 3), {0.91862154, 0.08137846, 0});
  EXPECT_NEAR(mean_log(values, weights_by_likelihood(values, 3)), -0.45083893456111107, 1e-9);
}

TEST(StackWeights, OfTheSmallestSquaresAreThoseOfScipyInAnyUnit) {
  const auto values = draw(rows * 3);
  const auto noise = draw(rows);
  std::vector<double> truth;
  for (std::size_t i = 0; i < rows; ++i)
    truth.push_back(0.6 * values[i * 3] + 0.3 * values[i * 3 + 1] - 0.2 * values[i * 3 + 2] +
                    0.1 * noise[rows - 1 - i]);
  expect_weights(weights_by_squares(values, truth, 3), {0.601274099, 0.398725901, 0});
  auto large = values;
  auto large_truth = truth;
  for (double& value : large) value = 1e6 * value + 1e7;
  for (double& value : large_truth) value = 1e6 * value + 1e7;
  expect_weights(weights_by_squares(large, large_truth, 3), {0.601274099, 0.398725901, 0});
}

TEST(StackWeights, AreNeverWorseThanTheBestMemberOrTheMean) {
  for (std::size_t members = 1; members <= 6; ++members) {
    const auto values = draw(rows * members);  // some are 0, of which no logarithm is taken
    auto floored = values;
    for (double& value : floored) value = std::max(value, 1e-15);
    const auto found = mean_log(floored, weights_by_likelihood(values, members));
    EXPECT_GE(found, mean_log(floored, std::vector<double>(members, 1 / static_cast<double>(members))) - 1e-9);
    for (std::size_t m = 0; m < members; ++m) {
      std::vector<double> alone(members, 0.0);
      alone[m] = 1;
      EXPECT_GE(found, mean_log(floored, alone) - 1e-9);
    }
  }
}

TEST(StackWeights, OfEqualMembersAreEqual) {
  const std::vector<double> values{0.5, 0.5, 0.2, 0.2, 0.9, 0.9};
  EXPECT_EQ(weights_by_likelihood(values, 2), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(weights_by_squares(values, std::vector<double>{1, 2, 3}, 2), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(weights_by_squares(values, std::vector<double>{1, 1, 1}, 2), (std::vector<double>{0.5, 0.5}));
}

TEST(StackPredictions, AreLogOddsOfTheMean) {
  const auto two = predictions_from({0.8, 0.2, 0.5, 0.5}, 2);
  EXPECT_EQ(two.columns, 1);
  EXPECT_NEAR(two.decisions[0], std::log(4.0), 1e-12);
  EXPECT_EQ(two.decisions[1], 0);
  EXPECT_EQ(two.classes[0], 0);
  const auto three = predictions_from({0.1, 0.3, 0.6, 1, 0, 0}, 3);
  EXPECT_EQ(three.columns, 3);
  EXPECT_EQ(three.classes, (std::vector<std::int32_t>{2, 0}));
  EXPECT_NEAR(three.decisions[1], std::log(0.3 / 0.7), 1e-12);
  EXPECT_TRUE(std::isfinite(three.decisions[3]));
  EXPECT_EQ(three.decisions[3], -three.decisions[4]) << "of certain predictions too";
}

}  // namespace stack_weights_test
}  // namespace sheaf::test
