// Scores against their definitions, written as plainly as can be.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/scores.hpp>
#include "core/random.hpp"

namespace sheaf::test {
namespace scores_test {

using Classes = std::vector<std::int32_t>;
using Values = std::vector<double>;
using Flags = std::vector<std::uint8_t>;

Classes random_classes(std::size_t rows, std::uint64_t classes, std::uint64_t seed) {
  Random random(seed);
  Classes result(rows);
  for (auto& c : result) c = static_cast<std::int32_t>(random.below(classes));
  return result;
}

/// Few distinct values if `levels` is small, so that many are tied.
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

TEST(Scores, ErrorsFollowTheirDefinitions) {
  const Values truth{1, 2, 3, 6};      // mean 3, squares 4 + 1 + 0 + 9
  const Values predicted{1, 3, 3, 4};  // squared errors 0 + 1 + 0 + 4
  EXPECT_DOUBLE_EQ(r_squared(predicted, truth), 1 - 5.0 / 14);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(predicted, truth), std::sqrt(5.0 / 4));
  EXPECT_DOUBLE_EQ(mean_squared_error(predicted, truth), 5.0 / 4);
  EXPECT_DOUBLE_EQ(mean_absolute_error(predicted, truth), 3.0 / 4);
  EXPECT_DOUBLE_EQ(max_error(predicted, truth), 2);
  EXPECT_EQ(r_squared(Values{1, 2}, Values{3, 3}), 0) << "as scikit-learn: targets without a spread";
  EXPECT_EQ(r_squared(Values{3, 3}, Values{3, 3}), 1);
}

/// Beside scikit-learn 1.2.1: mean_poisson_deviance, mean_gamma_deviance, mean_tweedie_deviance(power=1.5).
TEST(Scores, DeviancesAreThoseOfScikitLearn) {
  const Values predicted{1, 0.25, 2, 9};
  const Values positive{0.5, 1, 3, 7};
  EXPECT_NEAR(mean_poisson_deviance(predicted, positive), 0.6234575485990344, 1e-14);
  EXPECT_NEAR(mean_gamma_deviance(predicted, positive), 0.965239958695287, 1e-14);
  EXPECT_NEAR(mean_tweedie_deviance(predicted, positive), 0.69904943962604, 1e-14);
  const Values counts{0, 1, 3, 7};
  EXPECT_NEAR(mean_poisson_deviance(predicted, counts), 1.0467443437390207, 1e-14);
  EXPECT_NEAR(mean_tweedie_deviance(predicted, counts), 1.6132630019991352, 1e-14);
  EXPECT_TRUE(std::isnan(mean_gamma_deviance(predicted, counts)));
  EXPECT_TRUE(std::isnan(mean_poisson_deviance(Values{0, 1}, Values{1, 1}))) << "a prediction of 0";
  EXPECT_TRUE(std::isnan(mean_poisson_deviance(Values{1, 1}, Values{-1, 1}))) << "a target below 0";
}

TEST(Scores, PinballLossesWeighErrorsBySide) {
  const Values truth{1, 2, 3, 6};
  const Values predicted{1, 3, 3, 4};  // one error of 1 above, one of 2 below
  EXPECT_DOUBLE_EQ(mean_pinball_loss(predicted, truth), (0.5 * 1 + 0.5 * 2) / 4);
  EXPECT_DOUBLE_EQ(mean_pinball_loss(predicted, truth, 0.9), (0.1 * 1 + 0.9 * 2) / 4);
  EXPECT_DOUBLE_EQ(mean_pinball_loss(predicted, truth, 0.25), (0.75 * 1 + 0.25 * 2) / 4);
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

/// Every threshold between distinct values: the step of the recall times the precision.
double naive_average_precision(const Values& values, const Flags& positive) {
  std::set<double, std::greater<>> thresholds(values.begin(), values.end());
  double positives = 0;
  for (const auto flag : positive) positives += flag;
  double area = 0;
  double recall_before = 0;
  for (const double threshold : thresholds) {
    double found = 0;
    double taken = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < threshold) continue;
      taken += 1;
      found += positive[i];
    }
    area += (found / positives - recall_before) * found / taken;
    recall_before = found / positives;
  }
  return area;
}

TEST(Scores, AveragePrecisionIsTheAreaUnderTheSteps) {
  for (const std::uint64_t levels : {1, 2, 5, 40, 1000000})
    for (const std::size_t rows : {2, 3, 31, 200}) {
      auto truth = random_classes(rows, 2, rows + levels);
      truth[0] = 0;
      truth[1] = 1;
      const auto values = random_values(rows, levels, rows * levels);
      const auto flags = flags_of(truth, 1);
      EXPECT_NEAR(average_precision(values, flags), naive_average_precision(values, flags), 1e-14);
    }
  EXPECT_TRUE(std::isnan(average_precision(Values{1, 2}, Flags{1, 1})));
  EXPECT_TRUE(std::isnan(average_precision(Values{1, 2}, Flags{0, 0})));
}

TEST(Scores, AveragePrecisionOfTwoClassesIsThatOfThePositiveOne) {
  const Values decisions{3, 1, -1, -2};  // above 0: class 0
  const Classes truth{0, 1, 0, 1};
  EXPECT_DOUBLE_EQ(average_precision_of_classes(decisions, 1, truth, 0), (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(average_precision_of_classes(decisions, 1, truth, 1), (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(average_precision_of_classes(Values{3, 1, -1, -2}, 1, Classes{0, 0, 0, 1}, 0), 1);
  EXPECT_DOUBLE_EQ(average_precision_of_classes(Values{-3, 1, 2, 3}, 1, Classes{0, 0, 0, 1}, 1), 0.25);
}

TEST(Scores, PrecisionIsThatOfTheFewestRowsThatFindEnough) {
  const Values values{9, 8, 7, 7, 6, 5};
  const Flags positive{0, 1, 1, 0, 0, 1};
  // Thresholds: 9 finds none; 8 finds 1 of 2 rows; 7 finds 2 of 4; 5 finds 3 of 6.
  const auto curve = precision_recall_curve(values, positive, 4);
  EXPECT_EQ(curve, (Values{1.0 / 2, 1.0 / 2, 2.0 / 4, 3.0 / 6}));
  EXPECT_EQ(precision_recall_curve(Values{3, 2, 1}, Flags{1, 0, 1}, 3), (Values{1, 1, 2.0 / 3}));
  EXPECT_TRUE(precision_recall_curve(Values{1}, Flags{1}, 5).empty());
  EXPECT_TRUE(precision_recall_curve(Values{1}, Flags{0}, 5).empty());
}

TEST(Scores, PrecisionAndRecallFollowTheirDefinitions) {
  const Classes truth{0, 0, 0, 1, 1, 2};
  const Classes predicted{0, 0, 1, 1, 2, 1};
  EXPECT_DOUBLE_EQ(precision(truth, predicted, 3, 0), 1);
  EXPECT_DOUBLE_EQ(recall(truth, predicted, 3, 0), 2.0 / 3);
  EXPECT_DOUBLE_EQ(precision(truth, predicted, 3, 1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(recall(truth, predicted, 3, 1), 1.0 / 2);
  EXPECT_DOUBLE_EQ(precision(truth, predicted, 3), (1 + 1.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(recall(truth, predicted, 3), (2.0 / 3 + 1.0 / 2 + 0) / 3);
  EXPECT_DOUBLE_EQ(precision_weighted(truth, predicted, 3), (3 * 1 + 2 * 1.0 / 3) / 6);
  EXPECT_DOUBLE_EQ(f1_weighted(truth, predicted, 3), (3 * 0.8 + 2 * 0.4) / 6);
}

TEST(Scores, AClassWithoutRowsHasNoRecall) {
  const auto recalls = recall_of_classes(Classes{0, 0, 2}, Classes{0, 1, 2}, 3);
  ASSERT_EQ(recalls.size(), 3);
  EXPECT_DOUBLE_EQ(recalls[0], 0.5);
  EXPECT_TRUE(std::isnan(recalls[1]));
  EXPECT_DOUBLE_EQ(recalls[2], 1);
}

/// For two classes, it is the correlation of the two lists as numbers.
TEST(Scores, MatthewsCorrelationIsACorrelation) {
  const auto truth = random_classes(200, 2, 21);
  auto predicted = random_classes(200, 2, 22);
  for (std::size_t i = 0; i < 120; ++i) predicted[i] = truth[i];
  const auto mean = [](const Classes& list) {
    return std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
  };
  double together = 0;
  double a = 0;
  double b = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double x = truth[i] - mean(truth);
    const double y = predicted[i] - mean(predicted);
    together += x * y;
    a += x * x;
    b += y * y;
  }
  EXPECT_NEAR(matthews_correlation(truth, predicted, 2), together / std::sqrt(a * b), 1e-14);
  EXPECT_DOUBLE_EQ(matthews_correlation(truth, truth, 2), 1);
  EXPECT_DOUBLE_EQ(matthews_correlation(truth, Classes(200, 1), 2), 0) << "all predicted as one class";
  EXPECT_TRUE(std::isnan(matthews_correlation(Classes{}, Classes{}, 2)));
}

TEST(Scores, TopClassesAreTheLargestColumnsOfEqualsTheFirst) {
  const Values decisions{3, 2, 1, 0, 5, 5, 5, 5};
  EXPECT_DOUBLE_EQ(top_k_accuracy(decisions, 4, Classes{1, 1}, 2), 1);
  EXPECT_DOUBLE_EQ(top_k_accuracy(decisions, 4, Classes{2, 2}, 2), 0);
  EXPECT_DOUBLE_EQ(top_k_accuracy(decisions, 4, Classes{0, 3}, 3), 0.5);
  EXPECT_DOUBLE_EQ(top_k_accuracy(decisions, 4, Classes{0, 0}, 1), 1);
}

TEST(Scores, BrierScoreIsTheSquaredDistanceOfTheProbabilities) {
  constexpr std::size_t rows = 40;
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  const auto two = random_classes(rows, 2, 31);
  const auto values = random_values(rows, 11, 32);
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += std::pow(sigmoid(values[i]) - (two[i] == 0 ? 1 : 0), 2);
  EXPECT_NEAR(brier_score(values, 1, two), sum / rows, 1e-14);
  const auto truth = random_classes(rows, 3, 33);
  const auto decisions = random_values(rows * 3, 11, 34);
  sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    double all = 0;
    for (std::size_t c = 0; c < 3; ++c) all += sigmoid(decisions[3 * i + c]);
    for (std::size_t c = 0; c < 3; ++c)
      sum += std::pow(sigmoid(decisions[3 * i + c]) / all - (static_cast<std::size_t>(truth[i]) == c ? 1 : 0), 2);
  }
  EXPECT_NEAR(brier_score(decisions, 3, truth), sum / rows, 1e-14);
  EXPECT_DOUBLE_EQ(brier_score(Values{-2000, -1000, -3000}, 3, Classes{0}), 2) << "all functions underflow";
}

TEST(Metrics, AreFoundByTheirNamesAndAliases) {
  for (const auto& row : metrics()) {
    EXPECT_EQ(parse_metric(row.name), row.metric);
    std::string underscored(row.name);
    std::replace(underscored.begin(), underscored.end(), '-', '_');
    EXPECT_EQ(parse_metric(underscored), row.metric);
    EXPECT_EQ(&info(row.metric), &row);
    EXPECT_FALSE(row.title.empty() || row.about.empty()) << row.name;
  }
  EXPECT_EQ(parse_metric("roc_auc"), Metric::auc);
  EXPECT_EQ(parse_metric("roc-auc-ovr"), Metric::auc);
  EXPECT_EQ(parse_metric("mcc"), Metric::matthews_corrcoef);
  EXPECT_EQ(parse_metric("recall_weighted"), Metric::accuracy);
}

TEST(Metrics, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  for (const std::string name : {"acuracy", "", "roc", "auc "}) {
    try {
      parse_metric(name);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("balanced-accuracy"), std::string::npos) << error.what();
    }
  }
}

TEST(Metrics, SuitTheirTargets) {
  EXPECT_TRUE(info(Metric::auc).suits(2, false));
  EXPECT_FALSE(info(Metric::auc).suits(0, false));
  EXPECT_FALSE(info(Metric::rmse).suits(2, true));
  EXPECT_TRUE(info(Metric::rmse).suits(0, false));
  EXPECT_FALSE(info(Metric::log_loss).suits(2, false));
  EXPECT_TRUE(info(Metric::log_loss).suits(3, true));
  EXPECT_FALSE(info(Metric::top_3_accuracy).suits(3, true)) << "it would always be 1";
  EXPECT_TRUE(info(Metric::top_3_accuracy).suits(4, true));
}

TEST(Scores, BeginUndefined) {
  for (const auto& row : metrics()) EXPECT_TRUE(std::isnan(Scores{}.score(row.metric)));
}

}  // namespace scores_test
}  // namespace sheaf::test
