// Labels in random order: whatever route a search takes, its honest estimate is chance. The mean over 200 seeds must be
// within 3.3 standard errors of it, which a right program misses once in a thousand.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>

#include "core/random.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace chance_test {

constexpr std::uint64_t runs = 200;
constexpr double most_errors = 3.3;

enum class Labels { classes, numbers };

/// Rows of which a few features decide the labels, which then are put in random order.
Dataset<double> shuffled_table(std::int64_t rows, std::int64_t features, Labels labels, std::uint64_t seed) {
  auto table = random_rows(rows, features, 1.0, 7);
  Random random(seed, 1);
  Dataset<double> dataset;
  dataset.x = dense_of<double>(table, features);
  std::vector<double> values;
  for (const auto& row : table) values.push_back(2 * row[0] - row[1] + random.normal());
  random.shuffle(std::span(values));
  for (const double value : values) {
    if (labels == Labels::classes)
      dataset.target.classes.push_back(value > 0 ? 1 : 0);
    else
      dataset.target.values.push_back(value);
  }
  if (labels == Labels::classes) dataset.target.class_names = {"a", "b"};
  dataset.source = "table";
  return dataset;
}

/// One number for each seed.
ScoreSummary over_seeds(const std::function<double(const Context&, std::uint64_t)>& score) {
  std::vector<double> scores;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) scores.push_back(score(with_threads(1, seed), seed));
  return summarise(scores);
}

/// The mean of nested validation, over seeds.
ScoreSummary nested(const std::string& models, NamedSettings settings, Metric metric, std::int64_t rows = 36,
                    std::int64_t features = 3) {
  settings.emplace_back("outer", "3");
  settings.emplace_back("folds", "3");
  settings.emplace_back("score", std::string(info(metric).name));
  const auto labels = info(metric).regression ? Labels::numbers : Labels::classes;
  return over_seeds([&](const Context& context, std::uint64_t seed) {
    const auto dataset = shuffled_table(rows, features, labels, seed);
    return search(context, dataset, models, settings).outer_summary(metric).mean;
  });
}

void expect_chance(const ScoreSummary& found, double chance, const std::string& route) {
  EXPECT_NEAR(found.mean, chance, most_errors * found.standard_error) << route;
  EXPECT_LT(found.standard_error, 0.02) << route << ": too coarse to see anything";
}

struct Route {
  std::string models;
  NamedSettings settings;
};

TEST(ShuffledLabels, AreChanceForEveryFamily) {
  const std::vector<Route> routes{{"linear", {{"cost", "0.01,1"}}},
                                  {"linear", {{"cost", "0.01,1"}, {"loss", "svm"}, {"choose", "one-standard-error"}}},
                                  {"svm", {{"cost", "1,10"}, {"gamma", "0.1,1"}}},
                                  {"elastic-net-logistic", {{"alpha", "0.01,0.1"}, {"l1-ratio", "0.5"}}},
                                  {"glm", {{"alpha", "0.01,1"}}},
                                  {"knn", {{"k", "1,3,7"}}}};
  for (const auto& [models, settings] : routes) expect_chance(nested(models, settings, Metric::auc), 0.5, models);
}

TEST(ShuffledLabels, AreChanceForAChoiceAmongModels) {
  const NamedSettings few{{"cost", "0.1,1"}, {"k", "1,5"}};
  expect_chance(nested("linear,knn", few, Metric::auc), 0.5, "linear,knn");
  expect_chance(nested("auto", {}, Metric::auc), 0.5, "auto");
}

TEST(ShuffledLabels, AreChanceForAStack) {
  expect_chance(nested("linear,knn", {{"cost", "1"}, {"k", "5"}, {"stack", "2"}}, Metric::auc), 0.5, "stack");
  expect_chance(nested("linear,svm", {{"cost", "1"}, {"gamma", "0.1"}, {"stack", "2"}}, Metric::auc), 0.5,
                "calibrated");
}

const NamedSettings selecting{{"select", "mim:3,6"}, {"bins", "3"}, {"cost", "1"}};

TEST(ShuffledLabels, AreChanceIfFeaturesAreSelectedInsideTheFolds) {
  expect_chance(nested("linear", selecting, Metric::auc, 36, 60), 0.5, "select");
}

/// The same selection before the folds is not: the test above can fail.
TEST(ShuffledLabels, SeemMoreThanChanceIfFeaturesAreSelectedBeforeTheFolds) {
  const auto found = over_seeds([&](const Context& context, std::uint64_t seed) {
    const auto dataset = shuffled_table(36, 60, Labels::classes, seed);
    PipelineOptions select;
    select.select = "mim";
    select.counts = {6};
    select.binning.bins = 3;
    const auto seen = apply_pipeline(context, learn_pipeline(context, dataset, select), dataset);
    return search(context, seen, "linear", {{"outer", "3"}, {"folds", "3"}, {"cost", "1"}, {"score", "auc"}})
        .outer_summary(Metric::auc)
        .mean;
  });
  EXPECT_GT(found.mean, 0.5 + 10 * found.standard_error);
}

TEST(ShuffledLabels, AreChanceForTheResamplesOfAStudy) {
  const auto found = over_seeds([](const Context& context, std::uint64_t seed) {
    auto space = space_of_models("elastic-net-logistic");
    space["alpha"] = {0.05, 0.2};
    SearchOptions study;
    study.full = false;
    study.outer = 4;
    study.folds = 2;
    study.score = Metric::auc;
    return search(context, shuffled_table(40, 20, Labels::classes, seed), space, study).outer_summary(Metric::auc).mean;
  });
  expect_chance(found, 0.5, "study");
}

/// Thresholds are scored on rows of splits that they were not chosen on.
TEST(ShuffledLabels, AreChanceForChosenThresholds) {
  const auto found = over_seeds([](const Context& context, std::uint64_t seed) {
    const auto result = search(context, shuffled_table(36, 3, Labels::classes, seed), "linear",
                               {{"outer", "3"}, {"folds", "3"}, {"cost", "0.01,1"}, {"threshold", "youden"}});
    double right[2] = {0, 0};
    double rows[2] = {0, 0};
    for (std::size_t i = 0; i < result.held_out->size(); ++i) {
      const auto truth = result.held_out->truth[i];
      ++rows[truth];
      right[truth] += result.held_out->by_threshold[i] == truth ? 1 : 0;
    }
    return (right[0] / rows[0] + right[1] / rows[1]) / 2;
  });
  expect_chance(found, 0.5, "threshold");
}

/// Without ties the rank of the search among N others is uniform: the mean p-value is (1 + N / 2) / (1 + N).
TEST(ShuffledLabels, GiveUniformPValues) {
  constexpr int permutations = 4;
  const auto found = over_seeds([](const Context& context, std::uint64_t seed) {
    return search(context, shuffled_table(24, 3, Labels::classes, seed), "linear",
                  {{"folds", "2"},
                   {"cost", "0.01,1"},
                   {"score", "log-loss"},
                   {"permutation-test", std::to_string(permutations)}})
        .permutation_test->p_value;
  });
  EXPECT_NEAR(found.mean, (1 + permutations / 2.0) / (1 + permutations), most_errors * found.standard_error);
}

/// A model that has learnt nothing predicts the mean of its training rows, so that its R2 elsewhere is below 0.
TEST(ShuffledLabels, ExplainNothingOfANumericTarget) {
  const std::vector<Route> routes{{"ridge", {{"alpha", "0.1,10"}}},
                                  {"svm", {{"cost", "1"}, {"gamma", "0.1,1"}}},
                                  {"knn", {{"k", "3,10"}}},
                                  {"auto", {{"strategy", "random"}, {"trials", "4"}}}};
  for (const auto& [models, settings] : routes) {
    const auto found = nested(models, settings, Metric::r2);
    EXPECT_LT(found.mean, most_errors * found.standard_error) << models;
  }
}

}  // namespace chance_test
}  // namespace sheaf::test
