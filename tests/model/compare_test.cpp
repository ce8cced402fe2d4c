// The corrected resampled t-test, and Student's distribution beside tabulated values.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <sheaf/compare.hpp>
#include <sheaf/error.hpp>

namespace sheaf::test {
namespace compare_test {

TEST(StudentT, HasTheTabulatedQuantiles) {
  // 97.5 % points of the usual table.
  EXPECT_NEAR(student_t(12.7062, 1), 0.975, 1e-6);
  EXPECT_NEAR(student_t(4.30265, 2), 0.975, 1e-6);
  EXPECT_NEAR(student_t(2.77645, 4), 0.975, 1e-6);
  EXPECT_NEAR(student_t(2.26216, 9), 0.975, 1e-6);
  EXPECT_NEAR(student_t(1.98422, 99), 0.975, 1e-6);
  EXPECT_DOUBLE_EQ(student_t(0, 7), 0.5);
  EXPECT_NEAR(student_t(-2.77645, 4), 0.025, 1e-6);
  // One degree of freedom is Cauchy's: 1/2 + atan(t) / pi.
  for (const double t : {-30.0, -1.0, 0.1, 5.0}) EXPECT_NEAR(student_t(t, 1), 0.5 + std::atan(t) / M_PI, 1e-12);
}

TEST(CompareScores, FollowsNadeauAndBengio) {
  const std::vector<double> first{0.90, 0.85, 0.80, 0.95, 0.88};
  const std::vector<double> second{0.86, 0.84, 0.79, 0.90, 0.86};
  const double ratio = 0.25;  // five folds
  const auto found = compare_scores(first, second, ratio);
  double mean = 0;
  for (std::size_t k = 0; k < first.size(); ++k) mean += (first[k] - second[k]) / 5;
  double variance = 0;
  for (std::size_t k = 0; k < first.size(); ++k) variance += std::pow(first[k] - second[k] - mean, 2) / 4;
  const double error = std::sqrt((1.0 / 5 + ratio) * variance);
  EXPECT_NEAR(found.difference, mean, 1e-15);
  EXPECT_NEAR(found.standard_error, error, 1e-15);
  EXPECT_NEAR(found.t, mean / error, 1e-12);
  EXPECT_NEAR(found.p_value, 2 * (1 - student_t(mean / error, 4)), 1e-12);
  EXPECT_NEAR(found.high - found.difference, 2.776445 * error, 1e-6);
  const auto turned = compare_scores(second, first, ratio);
  EXPECT_DOUBLE_EQ(turned.p_value, found.p_value);
  EXPECT_DOUBLE_EQ(turned.difference, -found.difference);
}

TEST(CompareScores, EqualScoresDoNotDiffer) {
  const auto found = compare_scores({0.5, 0.6, 0.7}, {0.5, 0.6, 0.7}, 0.5);
  EXPECT_EQ(found.p_value, 1);
  EXPECT_EQ(found.t, 0);
}

TEST(CompareScores, LeavesOutSplitsWithoutAScoreAndNeedsTwo) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compare_scores({0.5, none, 0.7}, {0.4, 0.6, 0.8}, 0.5).degrees, 1);
  EXPECT_THROW(compare_scores({0.5, none}, {0.4, 0.6}, 0.5), Error);
  EXPECT_THROW(compare_scores({0.5}, {0.4, 0.6}, 0.5), Error);
}

}  // namespace compare_test
}  // namespace sheaf::test
