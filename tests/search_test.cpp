// The search against models trained one by one on tables whose left-out rows are really gone.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>

#include "devices.hpp"
#include "search/plan.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace {

using Strings = std::vector<std::string>;

Context context_on(Device device, std::uint64_t seed = 3) {
  Context::Options options;
  options.device = device;
  options.threads = 2;
  options.seed = seed;
  options.memory = std::int64_t{1} << 30;
  return Context(options);
}

struct Table {
  Rows rows;
  std::vector<std::int32_t> classes;
  std::vector<double> amounts;
};

/// Labels follow the first features, with noise.
Table make_table(std::int64_t count, std::int64_t columns, std::uint64_t classes, std::uint64_t seed) {
  Table table{random_rows(count, columns, 0.6, seed), {}, {}};
  Random random(seed + 1);
  for (const auto& row : table.rows) {
    table.amounts.push_back(row[0] - row[1] / 2 + random.normal());
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c)
      if (row[c] + 3 * random.normal() > row[best]) best = c;
    table.classes.push_back(static_cast<std::int32_t>(best));
  }
  return table;
}

Dataset<double> dataset_of(const Table& table, bool regression, bool sparse) {
  Dataset<double> dataset;
  const auto columns = static_cast<std::int64_t>(table.rows[0].size());
  if (sparse)
    dataset.x = sparse_of<double>(table.rows, columns);
  else
    dataset.x = dense_of<double>(table.rows, columns);
  dataset.source = "table";
  if (regression) {
    dataset.target.values = table.amounts;
    return dataset;
  }
  dataset.target.classes = table.classes;
  const Strings names{"ant", "bee", "cat", "dog"};
  for (std::int32_t c = 0; c <= *std::max_element(table.classes.begin(), table.classes.end()); ++c)
    dataset.target.class_names.push_back(names[static_cast<std::size_t>(c)]);
  return dataset;
}

/// Copies of the rows of a table, as often as weights say.
Table taken(const Table& table, const SplitWeights& weights, std::int32_t split) {
  Table result;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (int k = 0; k < weights.train(static_cast<std::int64_t>(i), split); ++k) {
      result.rows.push_back(table.rows[i]);
      result.amounts.push_back(table.amounts[i]);
      result.classes.push_back(table.classes[i]);
    }
  return result;
}

Table tested(const Table& table, const std::vector<std::int32_t>& rows) {
  Table result;
  for (const auto row : rows) {
    const auto i = static_cast<std::size_t>(row);
    result.rows.push_back(table.rows[i]);
    result.amounts.push_back(table.amounts[i]);
    result.classes.push_back(table.classes[i]);
  }
  return result;
}

/// The class names of the whole table, so that classes keep their numbers in a part of it.
Dataset<double> part_of_table(const Table& part, const Dataset<double>& whole, bool sparse) {
  auto dataset = dataset_of(part, whole.target.classes.empty(), sparse);
  dataset.target.class_names = whole.target.class_names;
  return dataset;
}

struct Case {
  const char* name;
  Loss loss;
  std::uint64_t classes;
  SplitKind split;
  bool sparse;
  bool balanced = false;
};

class AgainstOneByOne : public testing::TestWithParam<Case> {};

TEST_P(AgainstOneByOne, ScoresAreTheSame) {
  const Case& c = GetParam();
  const bool regression = c.loss == Loss::squared_tube;
  const auto table = make_table(90, 12, c.classes, 17);
  const auto whole = dataset_of(table, regression, c.sparse);
  SearchOptions options;
  options.linear.loss = c.loss;
  options.linear.tolerance = 1e-10;
  options.linear.balanced = c.balanced;
  options.costs = {0.01, 0.1, 1};
  options.split = c.split;
  options.folds = 3;
  options.batch = 4;  // several batches, of parts of the splits
  SplitOptions split;
  split.kind = c.split;
  split.count = 3;
  split.seed = 3;
  const auto splits = make_splits(90, regression ? std::vector<std::int32_t>{} : table.classes, {}, split);
  const auto weights = splits.weights(0, splits.count());
  for (const auto device : devices()) {
    const auto context = context_on(device);
    const auto result = search_linear(context, whole, options);
    ASSERT_EQ(result.splits, splits.count());
    for (std::size_t k = 0; k < options.costs.size(); ++k)
      for (std::int32_t s = 0; s < splits.count(); ++s) {
        auto linear = options.linear;
        linear.cost = options.costs[k];
        const auto model = train_linear(context, part_of_table(taken(table, weights, s), whole, c.sparse), linear);
        const auto test = tested(table, splits.test_rows(s));
        const auto predictions = predict_linear(context, model, part_of_table(test, whole, c.sparse));
        const auto& found = result.models[k * 3 + static_cast<std::size_t>(s)];
        if (regression) {
          EXPECT_NEAR(found.score(Metric::r2), r_squared(predictions.decisions, test.amounts), 1e-9);
          EXPECT_NEAR(found.score(Metric::rmse), root_mean_squared_error(predictions.decisions, test.amounts), 1e-9);
          continue;
        }
        EXPECT_NEAR(found.score(Metric::accuracy), accuracy(test.classes, predictions.classes), 1e-9);
        EXPECT_NEAR(found.score(Metric::auc), auc_of_classes(predictions.decisions, model.columns, test.classes), 1e-9);
        if (c.loss == Loss::logistic)
          EXPECT_NEAR(found.score(Metric::log_loss), log_loss(predictions.decisions, model.columns, test.classes),
                      1e-9);
        else
          EXPECT_TRUE(std::isnan(found.score(Metric::log_loss)));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Search, AgainstOneByOne,
    testing::Values(Case{"TwoClasses", Loss::logistic, 2, SplitKind::stratified_k_fold, false},
                    Case{"TwoClassesSparse", Loss::logistic, 2, SplitKind::k_fold, true},
                    Case{"ThreeClasses", Loss::logistic, 3, SplitKind::stratified_k_fold, true},
                    Case{"Balanced", Loss::logistic, 3, SplitKind::stratified_shuffle, false, true},
                    Case{"SupportVectors", Loss::squared_hinge, 4, SplitKind::stratified_shuffle, false},
                    Case{"Amounts", Loss::squared_tube, 2, SplitKind::k_fold, false},
                    Case{"AmountsBootstrap", Loss::squared_tube, 2, SplitKind::bootstrap, true}),
    [](const auto& test) { return std::string(test.param.name); });

/// An outer fold's search is a search of a table that never had the fold's rows; its score is that of the model which
/// that search would choose.
TEST(Search, OuterFoldsNeverSeeTheirRows) {
  const auto table = make_table(120, 10, 2, 5);
  const auto whole = dataset_of(table, false, false);
  SearchOptions options;
  options.linear.tolerance = 1e-10;
  options.costs = {0.001, 0.1, 10};
  options.folds = 3;
  options.outer = 4;
  options.score = Metric::log_loss;
  const auto context = context_on(Device::cpu());
  const auto result = search_linear(context, whole, options);
  ASSERT_EQ(result.outer.size(), 4U);
  SplitOptions split;
  split.count = 4;
  split.seed = Random(3, 1).bits();
  const auto outer = make_splits(120, table.classes, {}, split);
  const auto weights = outer.weights(0, 4);
  for (std::int32_t k = 0; k < 4; ++k) {
    const auto& fold = result.outer[static_cast<std::size_t>(k)];
    const auto rest = part_of_table(taken(table, weights, k), whole, false);
    auto inner = options;
    inner.outer = 0;
    const auto alone =
        search_linear(context_on(Device::cpu(), Random(3, static_cast<std::uint64_t>(k) + 2).bits()), rest, inner);
    EXPECT_EQ(fold.chosen, alone.chosen.chosen);
    EXPECT_NEAR(fold.inner.mean, alone.summary(alone.chosen.chosen, Metric::log_loss).mean, 1e-9);
    const auto test = tested(table, outer.test_rows(k));
    const auto predictions = predict_linear(context, alone.model, part_of_table(test, whole, false));
    EXPECT_NEAR(fold.scores.score(Metric::log_loss), log_loss(predictions.decisions, 1, test.classes), 1e-9);
  }
}

TEST(Search, BatchesChangeNothing) {
  const auto whole = dataset_of(make_table(80, 9, 3, 8), false, true);
  SearchOptions options;
  options.linear.tolerance = 1e-10;
  options.costs = {0.01, 1};
  std::vector<double> means;
  for (const std::int32_t batch : {0, 1, 7}) {
    options.batch = batch;
    const auto result = search_linear(context_on(Device::cpu()), whole, options);
    means.push_back(result.summary(0, Metric::log_loss).mean);
    EXPECT_NEAR(means.back(), means.front(), 1e-9);
  }
}

TEST(Search, BatchesHoldEveryModelOnce) {
  for (const std::int32_t tasks : {1, 2, 7, 64, 1000})
    for (const std::int32_t most_splits : {1, 3, 100}) {
      std::vector<int> seen(6 * 11, 0);
      for (const auto& batch : search::plan_batches(11, 6, 3, tasks, most_splits)) {
        EXPECT_LE(batch.splits, most_splits);
        EXPECT_LE(batch.splits * batch.costs * 3, std::max(tasks, 3));
        for (std::int32_t c = batch.first_cost; c < batch.first_cost + batch.costs; ++c)
          for (std::int32_t s = batch.first_split; s < batch.first_split + batch.splits; ++s)
            ++seen[static_cast<std::size_t>(c * 11 + s)];
      }
      EXPECT_EQ(seen, std::vector<int>(6 * 11, 1)) << tasks << " tasks, " << most_splits << " splits";
    }
}

TEST(Search, TheFinalModelIsTrainedOnAllRowsAtTheChosenCost) {
  const auto whole = dataset_of(make_table(80, 9, 2, 8), false, false);
  SearchOptions options;
  options.costs = {0.5, 0.01};
  const auto context = context_on(Device::cpu());
  const auto result = search_linear(context, whole, options);
  EXPECT_EQ(result.options.costs, (std::vector<double>{0.01, 0.5})) << "ascending";
  auto linear = options.linear;
  linear.cost = result.cost();
  EXPECT_EQ(result.model.weights, train_linear(context, whole, linear).weights);
}

TEST(Search, ConfusionAndRocAreOfTheRowsLeftOut) {
  const auto table = make_table(100, 6, 2, 9);
  SearchOptions options;
  options.costs = {0.1};
  const auto result = search_linear(context_on(Device::cpu()), dataset_of(table, false, false), options);
  std::int64_t rows = 0;
  std::int64_t right = 0;
  double correct = 0;
  for (const auto& model : result.models) {
    ASSERT_EQ(model.confusion.size(), 4U);
    const auto sum = model.confusion[0] + model.confusion[1] + model.confusion[2] + model.confusion[3];
    rows += sum;
    right += model.confusion[0] + model.confusion[3];
    correct += model.score(Metric::accuracy) * static_cast<double>(sum);
    EXPECT_EQ(model.roc.size(), roc_points);
    EXPECT_EQ(model.roc.back(), 1);
  }
  EXPECT_EQ(rows, 100);
  EXPECT_NEAR(static_cast<double>(right), correct, 1e-9);
}

std::string message(const Dataset<double>& dataset, const SearchOptions& options) {
  try {
    search_linear(context_on(Device::cpu()), dataset, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Search, SplitsThatCannotBeTrainedOrJudgedAreErrors) {
  auto table = make_table(20, 4, 2, 1);
  for (std::size_t i = 0; i < 20; ++i) table.classes[i] = i == 7 ? 1 : 0;
  SearchOptions options;
  options.split = SplitKind::k_fold;
  EXPECT_NE(message(dataset_of(table, false, false), options).find("trains on no row of class bee"), std::string::npos);
  table.classes[8] = table.classes[9] = 1;
  options.split = SplitKind::leave_one_out;
  options.score = Metric::auc;
  EXPECT_NE(message(dataset_of(table, false, false), options).find("AUC is not defined"), std::string::npos);
  table.classes.assign(20, 0);
  EXPECT_NE(message(dataset_of(table, false, false), options).find("all rows are of class ant"), std::string::npos);
}

TEST(Search, ScoresMustSuitTheLoss) {
  SearchOptions options;
  options.score = Metric::rmse;
  EXPECT_THROW(decided(options), UsageError);
  options.linear.loss = Loss::squared_hinge;
  options.score = Metric::log_loss;
  EXPECT_THROW(decided(options), UsageError);
  options.linear.loss = Loss::squared_tube;
  options.score = {};
  EXPECT_EQ(decided(options).score, Metric::r2);
  EXPECT_EQ(decided(options).split, SplitKind::k_fold);
}

TEST(Search, TheSimplestWithinOneStandardErrorIsChosen) {
  // The best mean is 0.90 with a standard error of 0.03: 0.87 and more is good enough.
  const std::vector<Summarised> table{{0.80, 0, 0.10, 5}, {0.871, 0, 0.01, 5}, {0.89, 0, 0.02, 5}, {0.90, 0, 0.03, 5}};
  EXPECT_EQ(choose(table, true, Choice::best).chosen, 3U);
  EXPECT_EQ(choose(table, true, Choice::one_standard_error).chosen, 1U);
  EXPECT_EQ(choose(table, true, Choice::one_standard_error).best, 3U);
  // Where smaller is better: 0.50 + 0.05 lets 0.54 pass, not 0.56.
  const std::vector<Summarised> losses{{0.56, 0, 0.3, 5}, {0.54, 0, 0.3, 5}, {0.50, 0, 0.05, 5}, {0.50, 0, 0.3, 5}};
  EXPECT_EQ(choose(losses, false, Choice::best).chosen, 2U) << "of equals the smaller cost";
  EXPECT_EQ(choose(losses, false, Choice::one_standard_error).chosen, 1U);
}

TEST(Search, SummariesAreThoseOfASample) {
  const auto summary = summarise(std::vector<double>{2, 4, std::nan(""), 6});
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.deviation, 2);
  EXPECT_DOUBLE_EQ(summary.standard_error, 2 / std::sqrt(3));
  EXPECT_EQ(summary.splits, 3);
  EXPECT_EQ(summarise(std::vector<double>{5}).standard_error, 0);
}

TEST(Search, CostsAreListsOrRanges) {
  EXPECT_EQ(parse_costs("10,0.1,1,1"), (std::vector<double>{0.1, 1, 10}));
  EXPECT_EQ(parse_costs("1e-2:1e2:5"), (std::vector<double>{0.01, 0.1, 1, 10, 100}));
  for (const char* text : {"", "0", "-1", "1,", "x", "1:2", "1:2:1", "2:1:5", "1:2:3:4", "1:inf:3"})
    EXPECT_THROW(parse_costs(text), UsageError) << text;
}

/// On all levels of a nested search: what a split trains on and what it tests have no group in common.
TEST(SearchPlan, GroupsStayTogetherInNestedSplits) {
  linear::Problem problem;
  problem.sheaf.examples = 90;
  std::vector<std::int32_t> groups;
  for (std::int32_t i = 0; i < 90; ++i) {
    groups.push_back(i * 7 % 30);
    problem.classes.push_back(groups.back() % 2);
  }
  for (const auto kind : {SplitKind::group_k_fold, SplitKind::stratified_group_k_fold, SplitKind::group_shuffle}) {
    SearchOptions options;
    options.split = kind;
    options.folds = 3;
    options.outer = 4;
    const search::Plan plan(problem, groups, options, 1);
    for (std::int32_t s = 0; s < plan.all_splits(); ++s) {
      const auto weights = plan.weights(s, 1, 1);
      std::vector<bool> trained(30, false);
      for (std::size_t i = 0; i < 90; ++i)
        if (weights[i] > 0) trained[static_cast<std::size_t>(groups[i])] = true;
      for (const auto row : plan.test_rows(s))
        EXPECT_FALSE(trained[static_cast<std::size_t>(groups[static_cast<std::size_t>(row)])])
            << to_string(kind) << ", " << plan.name(s);
    }
  }
}

}  // namespace
}  // namespace sheaf::test
