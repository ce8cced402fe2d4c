// How many models a search trains, as it says before, and how far it is, as it says meanwhile.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/search.hpp>
#include <sheaf/solvers/progress.hpp>

#include "core/random.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace totals_test {

Dataset<double> make_classes() {
  auto table = random_rows(90, 5, 1.0, 2);
  Random random(3);
  Dataset<double> dataset;
  for (const auto& row : table) dataset.target.classes.push_back(row[0] - row[1] + random.normal() > 0 ? 1 : 0);
  dataset.x = dense_of<double>(table, 5);
  dataset.target.class_names = {"a", "b"};
  dataset.source = "table";
  return dataset;
}

struct Counting : SearchLog {
  BatchPlan agree(const BatchPlan& proposed) override { return plan = proposed; }
  std::optional<std::vector<ModelScores>> recall(std::int32_t /*batch*/) override { return {}; }
  void keep(std::int32_t /*batch*/, const std::vector<ModelScores>& models) override { trained += std::ssize(models); }

  BatchPlan plan;
  std::int64_t trained = 0;
};

class Stages : public Progress {
 public:
  struct Seen {
    std::string name;
    std::int64_t total = 0, done = 0;
  };
  std::vector<Seen> list;

 private:
  void on_begin(std::string_view stage, std::int64_t total) override { list.push_back({std::string(stage), total, 0}); }
  void on_advance(std::int64_t by) override { list.back().done += by; }
};

struct Outcome {
  SearchPlan plan;
  Counting log;
  std::vector<Stages::Seen> stages;  // of the search itself
};

void run(const char* models, const NamedSettings& settings, Outcome& outcome) {
  Stages stages;
  const Context context({.threads = 2, .memory = std::int64_t{1} << 30, .seed = 1, .progress = &stages});
  const auto dataset = make_classes();
  auto space = space_of_models(models);
  SearchOptions options;
  for (const auto& [name, value] : settings)
    for (const auto& row : parameters<SearchOptions>())
      if (row.name == name) row.set(options, value);
  auto decided = space;
  auto all = options;
  decide(dataset, decided, all);
  outcome.plan = search_plan(dataset.rows(), decided, all);
  search(context, dataset, space, options, &outcome.log);
  for (const auto& stage : stages.list)
    if (stage.name.starts_with("searching")) outcome.stages.push_back(stage);
}

TEST(SearchTotals, AreKnownBeforehandWhereverScoresDoNotDecide) {
  const std::vector<std::pair<const char*, NamedSettings>> cases{
      {"svm", {{"strategy", "random"}, {"trials", "7"}, {"folds", "4"}}},
      {"knn", {{"strategy", "halving"}, {"folds", "5"}}},
      {"elastic-net-logistic", {{"folds", "3"}, {"outer", "3"}}},
      {"elastic-net-logistic", {{"folds", "3"}, {"strategy", "random"}, {"trials", "20"}}},
      {"linear", {{"strategy", "random"}, {"split", "loo"}}},
      {"knn", {{"strategy", "grid"}, {"split", "loo"}}},
      {"elastic-net-logistic,knn", {{"strategy", "grid"}, {"split", "shuffle"}, {"folds", "3"}}},
      {"svm", {{"strategy", "halving"}, {"folds", "4"}, {"outer", "2"}}}};
  for (const auto& [models, settings] : cases) {
    SCOPED_TRACE(std::string(models) + " " + settings.front().second);
    Outcome found;
    run(models, settings, found);
    EXPECT_GT(found.log.trained, 0);
    EXPECT_EQ(found.log.plan.models, found.log.trained);
    EXPECT_EQ(found.plan.models, found.log.trained + 1) << "and the final one";
    EXPECT_GT(found.plan.points, 1);
    ASSERT_EQ(found.stages.size(), 1U);
    EXPECT_EQ(found.stages[0].done, found.stages[0].total);
  }
}

/// Then each step is foreseen.
TEST(SearchTotals, AreThoseOfEachStepIfScoresDecide) {
  const std::vector<std::pair<const char*, NamedSettings>> cases{{"linear", {{"strategy", "refine"}, {"folds", "4"}}},
                                                                 {"auto", {{"folds", "4"}}},
                                                                 {"svm", {{"strategy", "descent"}, {"outer", "2"}}}};
  for (const auto& [models, settings] : cases) {
    SCOPED_TRACE(models);
    Outcome found;
    run(models, settings, found);
    EXPECT_EQ(found.log.plan.models, 0);
    EXPECT_EQ(found.plan.models, 0);
    ASSERT_GT(found.stages.size(), 1U);
    for (const auto& stage : found.stages) {
      EXPECT_TRUE(stage.name.ends_with("this step")) << stage.name;
      EXPECT_GT(stage.total, 0);
      EXPECT_EQ(stage.done, stage.total) << stage.name;
    }
  }
}

}  // namespace totals_test
}  // namespace sheaf::test
