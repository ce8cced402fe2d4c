// Scores against scikit-learn's of the same predictions (tests/golden/scores): by the plain functions, and by the
// Scorer on every device in SHEAF_TEST_DEVICES.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sheaf/scores.hpp>

#include "devices.hpp"
#include "plain_metrics.hpp"
#include "score/scorer.hpp"

namespace sheaf::test {
namespace scores_golden_test {

using Json = nlohmann::json;

constexpr double tolerance = 1e-12;

const Json& golden() {
  static const Json json = Json::parse(std::ifstream(SHEAF_TESTS_DIR "/golden/scores/scores.json"));
  return json;
}

Predictions predictions_of(const Json& json) {
  Predictions result;
  result.classes = json.at("classes");
  result.positive = json.at("positive");
  const auto decisions = json.at("decisions").get<std::vector<double>>();
  if (result.classes == 0) {
    result.decisions = decisions;
    result.values = json.at("truth").get<std::vector<double>>();
    return result;
  }
  const auto truth = json.at("truth").get<std::vector<std::int32_t>>();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto first = decisions.begin() + static_cast<std::ptrdiff_t>(i) * result.columns();
    result.add({first, first + result.columns()}, truth[i]);
  }
  return result;
}

/// All rows are tested. `probabilities`: of three classes or more, which then order the rows too.
Scores scores_on(Device device, const Predictions& p, bool probabilities) {
  Context::Options options;
  options.device = device;
  options.threads = 2;
  const score::Truth truth{p.classes, p.positive, p.truth, p.values, {}};
  score::Scorer<double> scorer(Context(options), truth, probabilities);
  Block<double> z(static_cast<std::int64_t>(p.rows()), p.columns());
  score::TestRows tests;
  for (std::int64_t i = 0; i < z.rows(); ++i) {
    tests.rows.push_back(static_cast<std::int32_t>(i));
    for (std::int32_t c = 0; c < p.columns(); ++c) z(i, c) = p.decisions[static_cast<std::size_t>(i * p.columns() + c)];
  }
  tests.begins.push_back(z.rows());
  scorer.load_tests(std::move(tests));
  const auto there = z.to(device);
  return scorer.score(there.view(), std::vector<std::int32_t>{0}).front();
}

/// null is NaN.
void expect_list(const std::vector<double>& got, const Json& wanted, const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (wanted[k].is_null())
      EXPECT_TRUE(std::isnan(got[k])) << what << " " << k;
    else
      EXPECT_NEAR(got[k], wanted[k].get<double>(), tolerance) << what << " " << k;
  }
}

TEST(GoldenScores, ThePlainFunctionsAgreeWithScikitLearn) {
  for (const auto& json : golden().at("cases")) {
    SCOPED_TRACE(json.at("name"));
    const auto predictions = predictions_of(json);
    for (const auto& [name, wanted] : json.at("scores").items())
      EXPECT_NEAR(plain_score(parse_metric(name), predictions), wanted.get<double>(),
                  tolerance * (1 + std::abs(wanted.get<double>())))
          << name;
    if (predictions.classes == 0) continue;
    expect_list(recall_of_classes(predictions.truth, predictions.predicted, predictions.classes), json.at("recall"),
                "recall");
    if (predictions.classes > 2) continue;
    const auto values = predictions.positive_values();
    const auto rows = predictions.positive_rows();
    expect_list(roc_curve(values, rows, roc_points), json.at("roc"), "ROC");
    expect_list(precision_recall_curve(values, rows, roc_points), json.at("precision_recall"), "precision-recall");
  }
}

TEST(GoldenScores, TheScorerAgreesWithScikitLearn) {
  for (const Device device : devices())
    for (const auto& json : golden().at("cases")) {
      SCOPED_TRACE(to_string(device) + ", " + json.at("name").get<std::string>());
      const auto scores = scores_on(device, predictions_of(json), true);
      const auto by_decisions = scores_on(device, predictions_of(json), false);
      for (const auto& [name, wanted] : json.at("scores").items()) {
        const auto metric = parse_metric(name);
        const auto& own = score::metric_row(metric).need == score::Need::rankings ? by_decisions : scores;
        EXPECT_NEAR(own.score(metric), wanted.get<double>(), tolerance * (1 + std::abs(wanted.get<double>()))) << name;
      }
      if (json.at("classes") == 0) continue;
      EXPECT_EQ(scores.confusion, json.at("confusion").get<std::vector<std::int64_t>>());
      expect_list(scores.recall, json.at("recall"), "recall");
      if (json.at("classes") > 2) continue;
      expect_list(scores.roc, json.at("roc"), "ROC");
      expect_list(scores.precision_recall, json.at("precision_recall"), "precision-recall");
    }
}

/// Every metric is compared somewhere; those of survival are in survival_golden_test and survival_test.
TEST(GoldenScores, EveryMetricIsThere) {
  for (const auto& row : metrics()) {
    if (row.survival) continue;
    bool found = false;
    for (const auto& json : golden().at("cases"))
      for (const auto& [name, score] : json.at("scores").items()) found = found || parse_metric(name) == row.metric;
    EXPECT_TRUE(found) << row.name;
  }
}

}  // namespace scores_golden_test
}  // namespace sheaf::test
