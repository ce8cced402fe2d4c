// Several models in one search: the same scores as each model alone, an honest choice, and losers that are dropped.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/report.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "forgetful_log.hpp"
#include "held_out_accuracy.hpp"
#include "search/candidates/race.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace models_test {

Context context_on(Device device, std::uint64_t seed = 1) {
  return Context({.device = device, .threads = 2, .memory = std::int64_t{1} << 30, .seed = seed});
}

enum class Truth { line, ring, nothing };

/// Two classes: on either side of a line, inside and outside of a ring, or at random. The second feature has another
/// unit than the first.
Dataset<double> make_classes(std::int64_t rows, Truth truth, std::uint64_t seed = 3) {
  auto table = random_rows(rows, 4, 1.0, seed);
  Random random(seed + 100);
  Dataset<double> dataset;
  for (auto& row : table) {
    const double noise = random.normal();
    const double value = truth == Truth::line   ? 2 * row[0] - row[1] + noise
                         : truth == Truth::ring ? row[0] * row[0] + row[1] * row[1] - 40 + 3 * noise
                                                : noise;
    dataset.target.classes.push_back(value > 0 ? 1 : 0);
    row[1] *= 1000;
  }
  dataset.x = dense_of<double>(table, 4);
  dataset.target.class_names = {"a", "b"};
  dataset.target.fixed_order = true;
  dataset.source = "table";
  return dataset;
}

const LeaderboardRow& row_of(const std::vector<LeaderboardRow>& board, const SearchResult& result,
                             const std::string& name) {
  return *std::find_if(board.begin(), board.end(), [&](const auto& row) {
    return result.models[static_cast<std::size_t>(row.model)].candidate.name == name;
  });
}

/// Names of the models that the outer folds chose.
std::set<std::string> outer_models(const SearchResult& result) {
  std::set<std::string> names;
  for (const auto& fold : result.outer)
    names.insert(result.model_of(result.point(fold.level, fold.level.chosen.chosen))->candidate.name);
  return names;
}

/// SVMs have no probabilities, votes of neighbours do.
TEST(SeveralModels, HeldOutRowsHaveTheProbabilitiesOfTheirOwnModel) {
  const auto context = context_on(Device::cpu());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto dataset = make_classes(120, Truth::nothing, seed);
    const auto result = search(context, dataset, "knn,svm", {{"outer", "4"}, {"predictions", "yes"}});
    if (outer_models(result).size() < 2) continue;
    EXPECT_EQ(result.held_out->size(), 120U);
    EXPECT_TRUE(result.held_out->probabilities.empty());
    return;
  }
  FAIL() << "all outer folds of all tables chose the same model";
}

/// A threshold of the final model is learnt from its own decision values, whose scale is not that of other models.
TEST(SeveralModels, AThresholdIsLearntFromTheChosenModel) {
  const auto context = context_on(Device::cpu());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto dataset = make_classes(120, Truth::nothing, seed);
    const auto nested = search(context, dataset, "knn,svm", {{"outer", "4"}, {"threshold", "youden"}});
    if (outer_models(nested).size() < 2) continue;
    const auto plain = search(context, dataset, "knn,svm", {{"threshold", "youden"}});
    ASSERT_EQ(nested.own_point(nested.chosen()), plain.own_point(plain.chosen()));
    EXPECT_EQ(nested.model->threshold()->value, plain.model->threshold()->value);
    return;
  }
  FAIL() << "all outer folds of all tables chose the same model";
}

TEST(SeveralModels, ScoresAreThoseOfEachModelAlone) {
  for (const Device device : devices()) {
    const auto context = context_on(device);
    const auto dataset = make_classes(150, Truth::nothing);  // so that none is dropped
    const auto together = search(context, dataset, "linear,knn,svm");
    const auto board = together.leaderboard();
    ASSERT_EQ(board.size(), 3U);
    for (const std::string name : {"linear", "knn", "svm"}) {
      const auto alone = search(context, dataset, name, {{"split", "stratified"}});
      const auto& row = row_of(board, together, name);
      ASSERT_GE(row.place, 0) << name << " was dropped";
      double best = -1;
      for (std::size_t p = 0; p < alone.level.points.size(); ++p)
        best = std::max(best, alone.summary(p, Metric::accuracy).mean);
      EXPECT_EQ(row.score.mean, best) << name;
      const auto own = together.of_model(row.model);
      EXPECT_EQ(own.axes.size(), alone.axes.size());
      ASSERT_GT(own.points.size(), 2U) << name;
      for (std::size_t p = 0; p < own.points.size(); ++p) {  // points that fell behind aside
        const auto at = std::find(alone.points.begin(), alone.points.end(), own.points[p]);
        ASSERT_NE(at, alone.points.end()) << name;
        const auto place = static_cast<std::size_t>(at - alone.points.begin());
        EXPECT_EQ(own.scores(own.level, p, Metric::auc), alone.scores(alone.level, place, Metric::auc)) << name;
      }
    }
    EXPECT_EQ(together.options.score, Metric::accuracy);
  }
}

/// The bend of a ring is nothing for a line; a line is nothing that needs more than one.
TEST(SeveralModels, TheModelThatSuitsTheDataIsChosen) {
  for (const Device device : devices()) {
    const auto ring = search(context_on(device), make_classes(300, Truth::ring), "auto");
    const auto& chosen = ring.model_of(ring.chosen())->candidate;
    EXPECT_TRUE(chosen.name == "svm" || chosen.name == "knn") << chosen.name;
    EXPECT_EQ(chosen.pipeline.scale, ScaleMethod::standard);
    EXPECT_EQ(ring.space.options.family_name(), chosen.space.options.family_name());
    EXPECT_GT(ring.summary(ring.level.chosen.chosen, Metric::accuracy).mean, 0.85);
    for (const auto& model : ring.models)
      EXPECT_EQ(model.dropped_after > 0,
                model.candidate.name != "svm" && model.candidate.name != "knn" && model.dropped_after > 0)
          << model.candidate.name;
    const auto line = search(context_on(device), make_classes(300, Truth::line), "auto");
    EXPECT_GT(line.summary(line.level.chosen.chosen, Metric::accuracy).mean, 0.9);
    const auto predicted = line.model->predict(context_on(device), make_classes(300, Truth::line, 9));
    EXPECT_EQ(predicted.classes.size(), 300U);
  }
}

/// The nets of classes are those that have probabilities.
TEST(SeveralModels, AutomaticNetsOfClassesHaveProbabilities) {
  const auto context = context_on(Device::cpu());
  const auto net_of = [](const SearchResult& result) {
    for (const auto& model : result.models)
      if (model.candidate.space.options.family_name() == "elastic-net") return model.candidate.name;
    return std::string();
  };
  const auto two = make_classes(60, Truth::line);
  EXPECT_EQ(net_of(search(context, two, "auto")), "elastic-net-logistic");
  auto three = two.borrowed();
  three.target.class_names.emplace_back("c");
  for (std::size_t i = 0; i < 60; i += 3) three.target.classes[i] = 2;
  EXPECT_EQ(net_of(search(context, three, "auto")), "elastic-net-multinomial");
  EXPECT_TRUE(search(context, two, "elastic-net-logistic").model->has_probabilities());
}

/// Points that fall far behind are dropped of a choice that is left to the data, not of models that were named.
TEST(SeveralModels, AllPointsOfNamedModelsAreInTheResults) {
  const auto context = context_on(Device::cpu());
  const auto dataset = make_classes(300, Truth::ring);
  const auto result = search(context, dataset, "knn,linear,svm", {{"cost", "1e-6,1,100"}, {"gamma", "1e-6,0.25"}});
  std::map<std::string, int> points;
  for (const auto place : result.level.points)
    ++points[result.model_of(result.points[static_cast<std::size_t>(place)])->candidate.name];
  EXPECT_EQ(points.at("linear"), 3);
  EXPECT_EQ(points.at("svm"), 6);
  for (const auto& model : result.models) EXPECT_EQ(model.dropped_after, 0) << model.candidate.name;
}

/// The estimate of nested validation is that of the whole choice, whichever model an outer fold chooses.
TEST(SeveralModels, NestedValidationRepeatsTheWholeChoice) {
  const auto context = context_on(Device::cpu());
  const auto dataset = make_classes(200, Truth::ring);
  const auto result = search(context, dataset, "linear,knn", {{"outer", "4"}, {"predictions", "yes"}});
  ASSERT_EQ(result.outer.size(), 4U);
  EXPECT_GT(result.outer_summary(Metric::accuracy).mean, 0.65);
  expect_accuracy_of_outer_folds(result);
}

TEST(SeveralModels, ASearchThatWasEndedGoesOnToTheSameResult) {
  const auto context = context_on(Device::cpu());
  const auto dataset = make_classes(120, Truth::ring);
  SearchOptions options;
  options.pipeline = default_pipeline();
  const auto space = space_of_models("auto", options.pipeline);
  const auto whole = search_json(search(context, dataset, space, options));
  for (const int batches : {1, 4, 9}) {
    Forgetful log(batches);
    EXPECT_THROW(search(context, dataset, space, options, &log), Error);
    log.go_on();
    EXPECT_EQ(search_json(search(context, dataset, space, options, &log)), whole) << batches;
  }
}

TEST(SeveralModels, NumbersAndSurvivalHaveModelsOfTheirOwn) {
  auto dataset = make_classes(120, Truth::line);
  const auto& x = std::get<DenseMatrix<double>>(dataset.x);
  for (std::int64_t i = 0; i < 120; ++i) dataset.target.values.push_back(x.values[4 * i] + 0.001 * x.values[4 * i + 1]);
  dataset.target.classes.clear();
  dataset.target.class_names.clear();
  dataset.target.kind = LabelKind::numbers;
  const auto numbers = search(context_on(Device::cpu()), dataset, "auto");
  EXPECT_GT(numbers.summary(numbers.level.chosen.chosen, Metric::r2).mean, 0.99);
  EXPECT_EQ(numbers.models.size(), 3U);
  for (auto& value : dataset.target.values) value = std::exp(value);
  dataset.target.events.assign(120, 1);
  const auto survival = search(context_on(Device::cpu()), dataset, "auto");
  EXPECT_EQ(survival.models.size(), 1U);
  EXPECT_GT(survival.summary(survival.level.chosen.chosen, Metric::concordance).mean, 0.9);
}

TEST(SeveralModels, WhatCannotBeComparedIsRefused) {
  const auto dataset = make_classes(60, Truth::line);
  const auto context = context_on(Device::cpu());
  EXPECT_THROW(search(context, dataset, "linear,tree"), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,linear"), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,elastic-net-poisson"), Error);
  EXPECT_THROW(search(context, dataset, "auto", {{"cost", "1"}}), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,knn", {{"alpha", "1"}}), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,svm", {{"score", "log-loss"}}), UsageError);
  const auto shared = search(context, dataset, "linear,svm", {{"cost", "0.1,1"}});
  std::set<double> costs;
  for (const auto& point : shared.points) costs.insert(shared.value(point, "cost"));
  EXPECT_EQ(costs, (std::set<double>{0.1, 1}));
}

/// With four repeats, the smallest p-value is 1 / 5.
TEST(PermutationTest, TellsATrueLabelFromARandomOne) {
  const auto context = context_on(Device::cpu());
  const auto found = search(context, make_classes(120, Truth::line), "linear", {{"permutation-test", "4"}});
  ASSERT_TRUE(found.permutation_test);
  EXPECT_EQ(found.permutation_test->scores.size(), 4U);
  EXPECT_DOUBLE_EQ(found.permutation_test->p_value, 0.2);
  EXPECT_LT(summarise(found.permutation_test->scores).mean, 0.7);
  const auto nothing = search(context, make_classes(120, Truth::nothing), "linear", {{"permutation-test", "9"}});
  EXPECT_GT(nothing.permutation_test->p_value, 0.1);
  auto grouped = make_classes(120, Truth::line);
  for (std::size_t i = 0; i < 120; ++i)  // groups of one label: nothing may be moved within them
    grouped.groups.push_back(static_cast<std::int32_t>(2 * (i / 4)) + grouped.target.classes[i]);
  const auto groups = search(context, grouped, "linear", {{"permutation-test", "3"}});
  EXPECT_LT(summarise(groups.permutation_test->scores).mean, 0.8);
}

TEST(DefaultModel, IsThatOfTheParametersThatAreGiven) {
  EXPECT_EQ(default_model({}), "auto");
  EXPECT_EQ(default_model({"cost"}), "linear");
  EXPECT_EQ(default_model({"gamma", "cost"}), "svm");
  EXPECT_EQ(default_model({"l1-ratio"}), "elastic-net");
  EXPECT_EQ(default_model({"k"}), "knn");
}

/// Two models of some points each whose scores are known.
class KnownSearch : public engine::FamilySearch {
 public:
  explicit KnownSearch(std::vector<double> values) {
    space_ = engine::product_space({{"value", "value"}}, {std::move(values)});
  }
  const Labels& labels() const override { return labels_; }
  std::string title() const override { return "known"; }
  bool has_probabilities() const override { return false; }
  const engine::Space& space() const override { return space_; }
  std::int32_t tasks() const override { return 1; }
  engine::BatchLimits limits(const Context&, const engine::SplitCounts&) const override { return {}; }
  std::vector<double> complexity(const Point& point, double) const override { return point; }
  std::unique_ptr<engine::Trainer> trainer(const Context&) const override { return nullptr; }
  std::unique_ptr<TrainedModel> refit(const Context&, const Point&) const override { return nullptr; }
  std::string failure(const TaskFit&) const override { return {}; }

 protected:
  Labels labels_;
  engine::Space space_;
};

class KnownModels : public KnownSearch {
 public:
  KnownModels() : KnownSearch({0}), first_({0, 1, 2}), second_({0, 1}) {}
  std::vector<const engine::FamilySearch*> models() const override { return {&first_, &second_}; }
  engine::OwnPoint own_point(const Point& point) const override {
    return {static_cast<std::int32_t>(point[0]), {point[1]}};
  }
  Point joined_point(std::int32_t model, const Point& own) const override {
    return {static_cast<double>(model), own[0]};
  }

 private:
  KnownSearch first_, second_;
};

/// How many splits each point of the second model was tried on, if its score is `behind` that of the first and that of
/// its second point another 0.01.
std::vector<std::int32_t> splits_of_second(double behind) {
  const KnownModels models;
  engine::StrategyOptions options;
  options.splits = 5;
  options.race = true;
  const std::vector<double> work{1, 2};
  engine::Race race(models, {options, options}, work);
  const std::vector<double> leader{0.90, 0.92, 0.88, 0.91, 0.89};  // standard deviation 0.0158
  std::vector<std::int32_t> splits(2, 0);
  for (auto trials = race.next(); !trials.empty(); trials = race.next())
    for (const auto& trial : trials) {
      std::vector<double> scores;
      for (std::int32_t s = 0; s < trial.splits; ++s)
        scores.push_back(leader[static_cast<std::size_t>(s)] - (trial.point[0] == 1 ? behind : 0) -
                         0.01 * trial.point[1]);
      race.learn_splits(trial.point, scores, summarise(scores).mean);
      if (trial.point[0] == 1) splits[static_cast<std::size_t>(trial.point[1])] = trial.splits;
    }
  const auto outcomes = race.outcomes();
  EXPECT_EQ(outcomes[0].dropped_after, 0);
  EXPECT_EQ(outcomes[1].dropped_after, splits[0] == 5 ? 0 : splits[0]);
  EXPECT_EQ(outcomes[1].points, 2);
  return splits;
}

/// The bound: 3 * 0.0158 * sqrt(1 / 2 + 1 / 5) = 0.0397.
TEST(Race, ModelsAndPointsAreDroppedBeyondThreeStandardErrors) {
  using Splits = std::vector<std::int32_t>;
  EXPECT_EQ(splits_of_second(0.041), Splits({2, 2}));
  EXPECT_EQ(splits_of_second(0.039), Splits({5, 2})) << "the second point is 0.049 behind";
  EXPECT_EQ(splits_of_second(0.029), Splits({5, 5}));
  EXPECT_EQ(splits_of_second(-0.01), Splits({5, 5}));
}

}  // namespace models_test
}  // namespace sheaf::test
