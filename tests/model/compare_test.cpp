// The corrected resampled t-test, and Student's distribution beside tabulated values.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
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

TEST(Holm, AdjustsAsRDoes) {
  // p.adjust(p, "holm") of R.
  const auto found = holm({0.01, 0.04, 0.03, 0.005, 0.8});
  const std::vector<double> expected{0.04, 0.09, 0.09, 0.025, 0.8};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-15);
  EXPECT_EQ(holm({0.7, 0.6}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

/// A results folder of nested validation, as far as compare_searches() reads it.
std::string results_folder(const std::string& name, const std::vector<std::string>& scores, int seed = 1) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("compare_test_" + name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "settings.json")
      << fmt::format(R"({{"data": {{"sha256": "1f"}}, "seed": {}, "options": {{"outer": 5}}, "reading": {{}}}})", seed);
  std::vector<std::string> folds;
  for (const auto& score : scores) folds.push_back(fmt::format(R"({{"scores": {{"accuracy": {}}}}})", score));
  std::ofstream(folder / "results.json") << fmt::format(
      R"({{"score": "accuracy", "rows": 100, "asked": {{"outer_split": "stratified", "outer": 5}},
          "outer": {{"folds": [{}]}}}})",
      fmt::join(folds, ","));
  return folder.string();
}

TEST(CompareSearches, ComparesEachWithTheBestAndAdjusts) {
  const auto close = results_folder("close", {"0.86", "0.84", "0.79", "0.90", "0.86"});
  const auto best = results_folder("best", {"0.90", "0.85", "0.80", "0.95", "0.88"});
  const auto far = results_folder("far", {"0.70", "0.80", "0.75", "0.72", "0.81"});
  const auto found = compare_searches({far, close, best});
  ASSERT_EQ(found.searches.size(), 3U);
  EXPECT_TRUE(found.nested);
  EXPECT_EQ(found.searches[0].folder, best);
  EXPECT_EQ(found.searches[1].folder, close);
  EXPECT_EQ(found.searches[2].folder, far);
  // By R: d = a - b; s = sqrt((1/5 + 1/4) * var(d)); 2 * pt(-abs(mean(d) / s), 4); mean +- qt(0.975, 4) * s;
  // p.adjust().
  EXPECT_NEAR(found.searches[0].mean, 0.876, 1e-12);
  EXPECT_NEAR(found.searches[0].low, 0.771800048493, 1e-9);
  EXPECT_NEAR(found.searches[0].high, 0.980199951507, 1e-9);
  const auto& second = found.searches[1].to_best;
  EXPECT_NEAR(second.difference, -0.026, 1e-12);
  EXPECT_NEAR(second.standard_error, 0.01218605760695, 1e-12);
  EXPECT_NEAR(second.t, -2.13358584364177, 1e-9);
  EXPECT_NEAR(second.p_value, 0.09980465463243, 1e-9);
  EXPECT_NEAR(second.low, -0.05983391999449, 1e-9);
  EXPECT_NEAR(found.searches[2].to_best.p_value, 0.1111217560285, 1e-9);
  EXPECT_NEAR(found.searches[1].adjusted_p_value, 0.199609309265, 1e-9);
  EXPECT_NEAR(found.searches[2].adjusted_p_value, 0.199609309265, 1e-9);
}

TEST(CompareSearches, LeavesASplitOutOfAllIfOneHasNoScore) {
  const auto full = results_folder("full", {"0.9", "0.8", "0.7"});
  const auto other = results_folder("other", {"0.5", "0.6", "0.5"});
  const auto holed = results_folder("holed", {"0.7", "null", "0.8"});
  const auto found = compare_searches({full, other, holed});
  EXPECT_NEAR(found.searches[0].mean, 0.8, 1e-12);
  for (const auto& search : found.searches) EXPECT_EQ(search.scores.size(), 2U);
}

TEST(CompareSearches, RefusesOtherSplits) {
  const auto a = results_folder("a", {"0.9", "0.8"});
  const auto b = results_folder("b", {"0.7", "0.8"});
  const auto c = results_folder("c", {"0.7", "0.8"}, 2);
  const auto d = results_folder("d", {"0.7", "0.8", "0.9"});
  EXPECT_THROW(compare_searches({a, b, c}), Error);
  EXPECT_THROW(compare_searches({a, b, d}), Error);
  EXPECT_THROW(compare_searches(std::vector<std::string>{a}), UsageError);
}

}  // namespace compare_test
}  // namespace sheaf::test
