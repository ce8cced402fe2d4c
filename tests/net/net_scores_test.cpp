// Scores of elastic nets against values worked out by hand; R's tests compare them with glmnet and survival.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/net_scores.hpp>

namespace sheaf::test {
namespace {

TEST(NetScores, DeviancesAreTwiceTheLogLikelihoodThatIsLacking) {
  const NetResponse squares{.loss = Loss::squared, .targets = {1, 2, 6}, .weights = {1, 1, 2}};
  EXPECT_DOUBLE_EQ(null_deviance(squares), 7.5625 + 3.0625 + 2 * 5.0625);  // the weighted mean is 3.75
  EXPECT_DOUBLE_EQ(null_deviance(squares, false), 1 + 4 + 72);
  const NetResponse classes{.loss = Loss::logistic, .targets = {1, -1, -1, -1}};
  EXPECT_NEAR(null_deviance(classes), -2 * (std::log(0.25) + 3 * std::log(0.75)), 1e-12);
  const std::vector<double> decisions{0, 0, 0, 0, 1, -1, -1, -1};
  const auto both = net_deviances(classes, decisions);
  EXPECT_NEAR(both[0], 8 * std::log(2), 1e-12);
  EXPECT_NEAR(both[1], 8 * std::log1p(std::exp(-1)), 1e-12);
  const NetResponse counts{.loss = Loss::poisson, .targets = {0, 3}};
  EXPECT_NEAR(null_deviance(counts), 2 * 3 * std::log(2), 1e-12);
}

TEST(NetScores, NullModelsHeedOffsets) {
  // With exposures 1 and 3 the best rate is 4 / 4: means are 1 and 3.
  const NetResponse counts{.loss = Loss::poisson, .targets = {2, 2}, .offsets = {0, std::log(3)}};
  EXPECT_NEAR(null_deviance(counts), 2 * (2 * std::log(2) - 1 + 2 * std::log(2.0 / 3) + 1), 1e-9);
  const NetResponse median{.loss = Loss::quantile, .loss_parameter = 0.5, .targets = {1, 2, 7}};
  EXPECT_NEAR(null_deviance(median), 3, 1e-9);
}

TEST(NetScores, HeldOutMeansHaveErrorsOfRowsOrOfFolds) {
  const NetResponse response{.loss = Loss::squared, .targets = {1, 1, 3, 3}};
  const std::vector<double> zero(4, 0.0);
  const std::vector<std::int32_t> folds{0, 1, 0, 1};
  const auto by_rows = score_net_folds(response, NetMeasure::squared_error, zero, folds, {}, false);
  EXPECT_DOUBLE_EQ(by_rows.mean[0], 5);
  EXPECT_DOUBLE_EQ(by_rows.error[0], std::sqrt(16.0 / 3));
  const auto by_folds = score_net_folds(response, NetMeasure::squared_error, zero, folds, folds, false);
  EXPECT_DOUBLE_EQ(by_folds.mean[0], 5);
  EXPECT_DOUBLE_EQ(by_folds.error[0], 0);
  const NetResponse classes{.loss = Loss::logistic, .targets = {1, -1, 1, -1}, .weights = {1, 2, 1, 1}};
  const std::vector<double> values{2, 1, 1, 0};
  EXPECT_DOUBLE_EQ(net_scores(classes, NetMeasure::auc, values)[0], (3 + 1 + 2 * 0.5) / 6);
  EXPECT_DOUBLE_EQ(net_scores(classes, NetMeasure::class_error, values)[0], 2.0 / 5);
}

TEST(NetScores, ListsOfOtherLengthsAreErrors) {
  const NetResponse response{.loss = Loss::squared, .targets = {1, 1, 3}, .weights = {1, 1}};
  EXPECT_THROW(null_deviance(response), Error);
  const NetResponse plain{.loss = Loss::squared, .targets = {1, 1, 3}};
  const std::vector<double> four(4, 0.0);
  EXPECT_THROW(net_deviances(plain, four), Error);
  EXPECT_THROW(score_net_folds(plain, NetMeasure::squared_error, std::span(four).first(3), {}, {}, false), Error);
}

TEST(NetScores, TheLargestPenaltyNearTheBestIsChosen) {
  const std::vector<NetPoint> points{
      {4, 1, 3.0, 0.1}, {2, 1, 1.4, 0.1}, {1, 1, 1.0, 0.5}, {0.5, 1, 1.0, 0.2}, {0.1, 1, NAN, 0}};
  EXPECT_EQ(choose_net(points, NetMeasure::deviance), std::pair(std::size_t{2}, std::size_t{1}));
  EXPECT_EQ(choose_net(points, NetMeasure::auc), std::pair(std::size_t{0}, std::size_t{0}));
}

TEST(NetScores, MartingaleResidualsAreEventsLessTheirHazard) {
  // Two events tie at time 1 of three rows at risk: the hazard is 2/3 by Breslow; by Efron it is 1/3 + 1/2, of the
  // events 1/3 + 1/4.
  const std::vector<double> times{1, 1, 2}, events{1, 1, 0}, zero(3, 0.0);
  const auto breslow = martingale_residuals({times}, events, {}, zero, Ties::breslow);
  const auto efron = martingale_residuals({times}, events, {}, zero, Ties::efron);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(breslow[i], 1.0 / 3);
    EXPECT_DOUBLE_EQ(efron[i], 1 - (1.0 / 3 + 0.25));
  }
  EXPECT_DOUBLE_EQ(breslow[2], -2.0 / 3);
  EXPECT_DOUBLE_EQ(efron[2], -(1.0 / 3 + 0.5));
}

}  // namespace
}  // namespace sheaf::test
