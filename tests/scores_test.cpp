// Scores against their definitions, written as plainly as can be.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/scores.hpp>

#include "core/random.hpp"

namespace sheaf::test {
namespace {

using Classes = std::vector<std::int32_t>;
using Values = std::vector<double>;
using Flags = std::vector<std::uint8_t>;

Classes random_classes(std::size_t rows, std::uint64_t classes, std::uint64_t seed) {
  Random random(seed);
  Classes result(rows);
  for (auto& c : result) c = static_cast<std::int32_t>(random.below(classes));
  return result;
}

/// Few distinct values where `levels` is small, so that many are tied.
Values random_values(std::size_t rows, std::uint64_t levels, std::uint64_t seed) {
  Random random(seed);
  Values result(rows);
  for (auto& value : result) value = static_cast<double>(random.below(levels)) - static_cast<double>(levels) / 2;
  return result;
}

Flags flags_of(const Classes& truth, std::int32_t positive) {
  Flags flags;
  for (const auto c : truth) flags.push_back(c == positive ? 1 : 0);
  return flags;
}

/// Every pair of a positive and another row.
double naive_auc(const Values& values, const Flags& positive) {
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (positive[i] == 0 || positive[k] != 0) continue;
      pairs += 1;
      won += values[i] > values[k] ? 1 : values[i] == values[k] ? 0.5 : 0;
    }
  return won / pairs;
}

TEST(Scores, AucIsTheShareOfPairsInOrder) {
  for (const std::uint64_t levels : {1, 2, 5, 40, 1000000})
    for (const std::size_t rows : {2, 3, 31, 200}) {
      auto truth = random_classes(rows, 2, rows + levels);
      truth[0] = 0;
      truth[1] = 1;
      const auto values = random_values(rows, levels, rows * levels);
      const auto flags = flags_of(truth, 1);
      EXPECT_DOUBLE_EQ(auc(values, flags), naive_auc(values, flags)) << rows << " rows, " << levels << " levels";
    }
}

TEST(Scores, AucOfOneClassIsNotDefined) {
  EXPECT_TRUE(std::isnan(auc(Values{1, 2}, Flags{1, 1})));
  EXPECT_TRUE(std::isnan(auc(Values{1, 2}, Flags{0, 0})));
  EXPECT_TRUE(std::isnan(auc(Values{}, Flags{})));
}

TEST(Scores, AucOfManyClassesIsTheMeanOfEachAgainstTheRest) {
  constexpr std::size_t rows = 90;
  const auto truth = random_classes(rows, 3, 5);
  const auto decisions = random_values(rows * 3, 7, 6);
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    Values column;
    for (std::size_t i = 0; i < rows; ++i) column.push_back(decisions[i * 3 + c]);
    sum += naive_auc(column, flags_of(truth, static_cast<std::int32_t>(c)));
  }
  EXPECT_NEAR(auc_of_classes(decisions, 3, truth), sum / 3, 1e-14);
  const auto two = random_classes(rows, 2, 8);
  const auto values = random_values(rows, 9, 9);
  EXPECT_DOUBLE_EQ(auc_of_classes(values, 1, two), naive_auc(values, flags_of(two, 0)));
}

/// Shares of rows that satisfy a condition, by definition of precision and recall.
double naive_f1(const Classes& truth, const Classes& predicted, std::int32_t c) {
  double found = 0;
  double said = 0;
  double there = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    found += truth[i] == c && predicted[i] == c ? 1 : 0;
    said += predicted[i] == c ? 1 : 0;
    there += truth[i] == c ? 1 : 0;
  }
  if (found == 0) return 0;
  const double precision = found / said;
  const double recall = found / there;
  return 2 * precision * recall / (precision + recall);
}

TEST(Scores, CountsOfClassesFollowTheirDefinitions) {
  const auto truth = random_classes(300, 4, 1);
  const auto predicted = random_classes(300, 4, 2);
  double right = 0;
  double recall = 0;
  double f = 0;
  for (std::int32_t c = 0; c < 4; ++c) {
    double there = 0;
    double found = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      there += truth[i] == c ? 1 : 0;
      found += truth[i] == c && predicted[i] == c ? 1 : 0;
    }
    right += found;
    recall += found / there / 4;
    f += naive_f1(truth, predicted, c) / 4;
    EXPECT_NEAR(f1(truth, predicted, 4, c), naive_f1(truth, predicted, c), 1e-14);
  }
  EXPECT_NEAR(accuracy(truth, predicted), right / 300, 1e-14);
  EXPECT_NEAR(balanced_accuracy(truth, predicted, 4), recall, 1e-14);
  EXPECT_NEAR(f1(truth, predicted, 4), f, 1e-14);
}

TEST(Scores, ClassesThatDoNotOccurAreLeftOut) {
  // 0: both rows found; 1: one of two found; 2: nowhere; 3: predicted once, never true.
  const Classes truth{0, 0, 1, 1};
  const Classes predicted{0, 0, 1, 3};
  EXPECT_DOUBLE_EQ(balanced_accuracy(truth, predicted, 4), (1 + 0.5) / 2);
  EXPECT_NEAR(f1(truth, predicted, 4), (1 + 2.0 / 3 + 0) / 3, 1e-15);
}

TEST(Scores, LogLossIsThatOfTheProbabilities) {
  constexpr std::size_t rows = 50;
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  const auto truth = random_classes(rows, 3, 3);
  const auto decisions = random_values(rows * 3, 11, 4);
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double all = sigmoid(decisions[3 * i]) + sigmoid(decisions[3 * i + 1]) + sigmoid(decisions[3 * i + 2]);
    sum -= std::log(sigmoid(decisions[3 * i + static_cast<std::size_t>(truth[i])]) / all);
  }
  EXPECT_NEAR(log_loss(decisions, 3, truth), sum / rows, 1e-13);
  const auto two = random_classes(rows, 2, 5);
  const auto values = random_values(rows, 11, 6);
  double loss = 0;
  for (std::size_t i = 0; i < rows; ++i) loss -= std::log(two[i] == 0 ? sigmoid(values[i]) : 1 - sigmoid(values[i]));
  EXPECT_NEAR(log_loss(values, 1, two), loss / rows, 1e-13);
}

TEST(Scores, LogLossOfHugeDecisionsIsFinite) {
  EXPECT_DOUBLE_EQ(log_loss(Values{-2000}, 1, Classes{0}), 2000);
  EXPECT_DOUBLE_EQ(log_loss(Values{-2000}, 1, Classes{1}), 0);
  EXPECT_DOUBLE_EQ(log_loss(Values{-2000, -1000, -3000}, 3, Classes{0}), 1000);
}

TEST(Scores, AmountsFollowTheirDefinitions) {
  const Values truth{1, 2, 3, 6};      // mean 3, squares 4 + 1 + 0 + 9
  const Values predicted{1, 3, 3, 4};  // squared errors 0 + 1 + 0 + 4
  EXPECT_DOUBLE_EQ(r_squared(predicted, truth), 1 - 5.0 / 14);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(predicted, truth), std::sqrt(5.0 / 4));
  EXPECT_TRUE(std::isnan(r_squared(Values{1, 2}, Values{3, 3})));
}

/// The share of positives found at the threshold between any two values, for a false share that a threshold hits.
TEST(Scores, RocPassesThroughEveryThreshold) {
  // 4 others, so that 5 points hit the corners.
  const Values values{9, 8, 7, 7, 6, 5, 4, 3};
  const Flags positive{1, 0, 1, 0, 1, 0, 0, 1};
  // Others above: 8 | 7 tied with a positive | 5 | 4. Taking at most k others finds the most positives:
  const auto curve = roc_curve(values, positive, 5);
  const Values expected{0.25, 0.25, 0.75, 0.75, 1};
  ASSERT_EQ(curve.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_DOUBLE_EQ(curve[k], expected[k]) << k;
  EXPECT_DOUBLE_EQ(roc_curve(values, positive, 9)[3], (0.25 + 0.5) / 2) << "halfway along the tie";
  EXPECT_TRUE(roc_curve(Values{1}, Flags{1}, 5).empty());
}

TEST(Scores, TheAreaUnderTheRocIsTheAuc) {
  auto truth = random_classes(101, 2, 12);
  const auto values = random_values(101, 1000000, 13);
  const auto flags = flags_of(truth, 1);
  constexpr std::size_t points = 100001;
  const auto curve = roc_curve(values, flags, points);
  double area = 0;
  for (std::size_t k = 1; k < points; ++k) area += (curve[k] + curve[k - 1]) / 2 / (points - 1);
  EXPECT_NEAR(area, naive_auc(values, flags), 1e-3);
}

}  // namespace
}  // namespace sheaf::test
