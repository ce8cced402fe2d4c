// The search against models trained one by one on tables whose left-out rows are really gone.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "forgetful_log.hpp"
#include "search/batches.hpp"
#include "search/plan/plan.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace search_test {

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
  std::vector<double> values;
};

/// Labels follow the first features, with noise.
Table make_table(std::int64_t count, std::int64_t columns, std::uint64_t classes, std::uint64_t seed) {
  Table table{random_rows(count, columns, 0.6, seed), {}, {}};
  Random random(seed + 1);
  for (const auto& row : table.rows) {
    table.values.push_back(row[0] - row[1] / 2 + random.normal());
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
    dataset.target.values = table.values;
    return dataset;
  }
  dataset.target.classes = table.classes;
  const Strings names{"ant", "bee", "cat", "dog"};
  for (std::int32_t c = 0; c <= *std::max_element(table.classes.begin(), table.classes.end()); ++c)
    dataset.target.class_names.push_back(names[static_cast<std::size_t>(c)]);
  return dataset;
}

/// Copies of the rows of a table, as often as their weights.
Table taken(const Table& table, const SplitWeights& weights, std::int32_t split) {
  Table result;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (int k = 0; k < weights.train(static_cast<std::int64_t>(i), split); ++k) {
      result.rows.push_back(table.rows[i]);
      result.values.push_back(table.values[i]);
      result.classes.push_back(table.classes[i]);
    }
  return result;
}

Table tested(const Table& table, const std::vector<std::int32_t>& rows) {
  Table result;
  for (const auto row : rows) {
    const auto i = static_cast<std::size_t>(row);
    result.rows.push_back(table.rows[i]);
    result.values.push_back(table.values[i]);
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
  LinearMethod method = LinearMethod::automatic;
};

class AgainstOneByOne : public testing::TestWithParam<Case> {};

/// Probabilities of classes against the rest, shared out over the classes: what models of log odds are ranked by.
std::vector<double> shares_of_classes(const std::vector<double>& decisions, std::size_t columns) {
  std::vector<double> result;
  for (std::size_t i = 0; i < decisions.size(); i += columns) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += 1 / (1 + std::exp(-decisions[i + c]));
    for (std::size_t c = 0; c < columns; ++c) result.push_back(1 / (1 + std::exp(-decisions[i + c])) / sum);
  }
  return result;
}

TEST_P(AgainstOneByOne, ScoresAreTheSame) {
  const Case& c = GetParam();
  const bool regression = c.loss == Loss::squared_tube;
  const auto table = make_table(90, 12, c.classes, 17);
  const auto whole = dataset_of(table, regression, c.sparse);
  SearchSpace family(LinearOptions{});
  SearchOptions options;
  family.get<LinearOptions>().loss = c.loss;
  family.get<LinearOptions>().method = c.method;
  family.get<LinearOptions>().tolerance = 1e-10;
  family.get<LinearOptions>().max_iterations = 100000;
  family.get<LinearOptions>().balanced = c.balanced;
  // What follows from the target follows from all of its rows, also for single models.
  family.get<LinearOptions>() = with_defaults(family.get<LinearOptions>(), whole.target);
  family["cost"] = {0.01, 0.1, 1};
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
    const auto result = search(context, whole, family, options);
    ASSERT_EQ(result.splits, splits.count());
    for (std::size_t k = 0; k < family.numbers("cost").size(); ++k)
      for (std::int32_t s = 0; s < splits.count(); ++s) {
        auto linear = family.get<LinearOptions>();
        linear.cost = family.numbers("cost")[k];
        const auto model = train_linear(context, part_of_table(taken(table, weights, s), whole, c.sparse), linear);
        const auto test = tested(table, splits.test_rows(s));
        const auto predictions = predict_linear(context, model, part_of_table(test, whole, c.sparse));
        const auto& found = result.level.models[k * 3 + static_cast<std::size_t>(s)];
        if (regression) {
          EXPECT_NEAR(found.score(Metric::r2), r_squared(predictions.decisions, test.values), 1e-9);
          EXPECT_NEAR(found.score(Metric::rmse), root_mean_squared_error(predictions.decisions, test.values), 1e-9);
          continue;
        }
        EXPECT_NEAR(found.score(Metric::accuracy), accuracy(test.classes, predictions.classes), 1e-9);
        const auto& z = predictions.decisions;
        const bool probable = c.loss == Loss::logistic && model.columns > 1;
        const auto ranked = probable ? shares_of_classes(z, static_cast<std::size_t>(model.columns)) : z;
        EXPECT_NEAR(found.score(Metric::auc), auc_of_classes(ranked, model.columns, test.classes), 1e-9);
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
                    Case{"Hinge", Loss::hinge, 3, SplitKind::stratified_k_fold, true},
                    Case{"CrammerSinger", Loss::crammer_singer, 3, SplitKind::stratified_k_fold, true},
                    Case{"CrammerSingerOfTwo", Loss::crammer_singer, 2, SplitKind::k_fold, false, true},
                    Case{"Dual", Loss::squared_hinge, 3, SplitKind::k_fold, true, false, LinearMethod::dual},
                    Case{"DualBalanced", Loss::squared_hinge, 2, SplitKind::bootstrap, false, true, LinearMethod::dual},
                    Case{"Numbers", Loss::squared_tube, 2, SplitKind::k_fold, false},
                    Case{"NumbersBootstrap", Loss::squared_tube, 2, SplitKind::bootstrap, true}),
    [](const auto& test) { return std::string(test.param.name); });

/// An outer fold's search is a search of a table that never had the fold's rows; its score is that of the model which
/// that search would choose.
TEST(Search, OuterFoldsNeverSeeTheirRows) {
  const auto table = make_table(120, 10, 2, 5);
  const auto whole = dataset_of(table, false, false);
  SearchSpace family(LinearOptions{});
  SearchOptions options;
  family.get<LinearOptions>().tolerance = 1e-10;
  family["cost"] = {0.001, 0.1, 10};
  options.folds = 3;
  options.outer = 4;
  options.score = Metric::log_loss;
  const auto context = context_on(Device::cpu());
  const auto result = search(context, whole, family, options);
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
        search(context_on(Device::cpu(), Random(3, static_cast<std::uint64_t>(k) + 2).bits()), rest, family, inner);
    EXPECT_EQ(fold.level.chosen.chosen, alone.level.chosen.chosen);
    EXPECT_NEAR(result.summary(fold.level, fold.level.chosen.chosen, Metric::log_loss).mean,
                alone.summary(alone.level.chosen.chosen, Metric::log_loss).mean, 1e-9);
    const auto test = tested(table, outer.test_rows(k));
    const auto predictions = alone.model->predict(context, part_of_table(test, whole, false));
    EXPECT_NEAR(fold.scores.score(Metric::log_loss), log_loss(predictions.decisions, 1, test.classes), 1e-9);
  }
}

TEST(Search, BatchesChangeNothing) {
  const auto whole = dataset_of(make_table(80, 9, 3, 8), false, true);
  SearchSpace family(LinearOptions{});
  SearchOptions options;
  family.get<LinearOptions>().tolerance = 1e-10;
  family["cost"] = {0.01, 1};
  std::vector<double> means;
  for (const std::int32_t batch : {0, 1, 7}) {
    options.batch = batch;
    const auto result = search(context_on(Device::cpu()), whole, family, options);
    means.push_back(result.summary(0, Metric::log_loss).mean);
    EXPECT_NEAR(means.back(), means.front(), 1e-9);
  }
}

/// Models start from those of smaller costs, in the same batch and no other.
TEST(Search, GoesOnWhereItEnded) {
  const auto whole = dataset_of(make_table(120, 9, 2, 8), false, true);
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge})
    for (const auto strategy : {Strategy::grid, Strategy::refine, Strategy::halving}) {
      SearchSpace family(LinearOptions{});
      family.get<LinearOptions>().loss = loss;
      family.get<LinearOptions>().method = LinearMethod::newton;
      family["cost"] = {0.01, 0.1, 1, 10, 100};
      family.get<LinearOptions>().warm_starts = true;
      SearchOptions options;
      options.strategy = strategy;
      options.folds = 10;
      options.outer = 3;
      Context::Options one;
      one.seed = 3;
      one.threads = 1;
      one.memory = std::int64_t{1} << 30;
      const auto expected = search(context_on(Device::cpu()), whole, family, options);
      for (const int batches : {0, 1, 2}) {
        Forgetful log(batches);
        EXPECT_THROW(search(context_on(Device::cpu()), whole, family, options, &log), Error);
        log.go_on();
        const auto found = search(Context(one), whole, family, options, &log);
        ASSERT_EQ(found.level.models.size(), expected.level.models.size());
        for (std::size_t k = 0; k < found.level.models.size(); ++k)
          EXPECT_EQ(found.level.models[k].score(Metric::auc), expected.level.models[k].score(Metric::auc));
        for (std::size_t k = 0; k < found.outer.size(); ++k)
          EXPECT_EQ(found.outer[k].scores.score(Metric::accuracy), expected.outer[k].scores.score(Metric::accuracy));
        EXPECT_EQ(found.model->get_if<LinearModel>()->weights, expected.model->get_if<LinearModel>()->weights);
      }
    }
}

TEST(Search, WarmStartsFindTheSameScores) {
  const auto whole = dataset_of(make_table(120, 9, 2, 8), false, true);
  for (const auto device : devices())
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
      SearchSpace family(LinearOptions{});
      family.get<LinearOptions>().loss = loss;
      family.get<LinearOptions>().method = LinearMethod::newton;
      family.get<LinearOptions>().tolerance = 1e-18;  // |gradient| to 1e-9, so that any start ends at the same
      family["cost"] = {0.01, 10, 0.1, 1};
      const auto cold = search(context_on(device), whole, family, {});
      family.get<LinearOptions>().warm_starts = true;
      const auto warm = search(context_on(device), whole, family, {});
      for (std::size_t k = 0; k < cold.level.models.size(); ++k)
        for (const auto metric : {Metric::auc, Metric::accuracy})
          EXPECT_NEAR(warm.level.models[k].score(metric), cold.level.models[k].score(metric), 1e-9);
    }
}

TEST(Search, WarmStartsAreForNewtonAlone) {
  const auto whole = dataset_of(make_table(40, 5, 2, 8), false, true);
  SearchSpace family(LinearOptions{});
  family.get<LinearOptions>().warm_starts = true;
  family.get<LinearOptions>().method = LinearMethod::dual;
  EXPECT_THROW(search(context_on(Device::cpu()), whole, family, {}), UsageError);
  family.get<LinearOptions>().method = LinearMethod::automatic;
  family.get<LinearOptions>().loss = Loss::hinge;
  EXPECT_THROW(search(context_on(Device::cpu()), whole, family, {}), UsageError);
}

TEST(Search, BatchesHoldEveryModelOnce) {
  for (const std::int32_t tasks : {1, 2, 7, 64, 1000})
    for (const std::int32_t most_splits : {1, 3, 100}) {
      std::vector<engine::Cell> cells;
      for (std::int32_t p = 0; p < 6; ++p)
        for (std::int32_t s = 0; s < 11; ++s)
          if (p + s != 7) cells.push_back({p, s});
      for (const bool whole : {false, true}) {
        std::vector<int> seen(6 * 11, 0);
        for (const auto& batch : engine::plan_batches(cells, {0, 1, 0, 1, 0, 1}, {0, tasks, most_splits, whole}, 3)) {
          EXPECT_LE(std::ssize(batch.splits), most_splits);
          EXPECT_TRUE(whole || std::ssize(batch.cells) * 3 <= std::max(tasks, 3));
          for (const auto& cell : batch.cells) {
            EXPECT_EQ(cell.point % 2, batch.cells.front().point % 2) << "of one group";
            ++seen[static_cast<std::size_t>(cell.point * 11 + cell.split)];
          }
        }
        for (std::int32_t p = 0; p < 6; ++p)
          for (std::int32_t s = 0; s < 11; ++s)
            EXPECT_EQ(seen[static_cast<std::size_t>(p * 11 + s)], p + s == 7 ? 0 : 1);
      }
    }
}

TEST(Search, TheFinalModelIsTrainedOnAllRowsAtTheChosenCost) {
  const auto whole = dataset_of(make_table(80, 9, 2, 8), false, false);
  SearchSpace family(LinearOptions{});
  const SearchOptions options;
  family["cost"] = {0.5, 0.01};
  const auto context = context_on(Device::cpu());
  const auto result = search(context, whole, family, options);
  EXPECT_EQ(result.space.numbers("cost"), (std::vector<double>{0.01, 0.5})) << "ascending";
  auto linear = family.get<LinearOptions>();
  linear.cost = result.chosen().front();
  EXPECT_EQ(result.model->get_if<LinearModel>()->weights, train_linear(context, whole, linear).weights);
}

/// In every family, the scores follow from the decision values and classes that are kept, whose rows are test_rows().
TEST(Search, DecisionsAreKeptWhereTheyAreAskedFor) {
  for (const auto device : devices())
    for (const std::uint64_t classes : {0, 2, 3}) {
      const auto table = make_table(90, 6, std::max<std::uint64_t>(classes, 2), 21);
      const auto dataset = dataset_of(table, classes == 0, false);
      SearchSpace linear(LinearOptions{});
      if (classes == 0) linear.get<LinearOptions>().loss = Loss::squared_tube;
      SearchSpace svm(SvmOptions{});
      if (classes == 0) svm.get<SvmOptions>().kind = SvmKind::epsilon_svr;
      svm["cost"] = {1, 10};
      SearchSpace net(NetOptions{});
      net.get<NetOptions>().loss = classes == 0 ? Loss::squared : Loss::logistic;
      net["alpha"] = {0.1, 0.01};
      SearchSpace knn(KnnOptions{});
      knn["k"] = {1, 5};
      for (const SearchSpace& family : {SearchSpace(linear), SearchSpace(svm), SearchSpace(net), SearchSpace(knn)}) {
        SearchOptions options;
        options.keep_decisions = true;
        options.refit = false;
        const auto splits = make_splits(90, classes == 0 ? std::vector<std::int32_t>(90, 0) : table.classes, {}, {});
        options.splits = splits;
        const auto result = search(context_on(device), dataset, family, options);
        EXPECT_FALSE(result.model);
        const auto columns = static_cast<std::size_t>(result.columns);
        for (std::size_t m = 0; m < result.level.models.size(); ++m) {
          const auto& model = result.level.models[m];
          const auto rows = splits.test_rows(static_cast<std::int32_t>(m) % result.splits);
          const auto truth = tested(table, rows);
          ASSERT_EQ(model.decisions.size(), rows.size() * columns);
          if (classes == 0) {
            EXPECT_NEAR(model.score(Metric::mean_squared_error), mean_squared_error(model.decisions, truth.values),
                        1e-9);
            EXPECT_TRUE(model.predicted.empty());
          } else {
            EXPECT_NEAR(model.score(Metric::accuracy), accuracy(truth.classes, model.predicted), 1e-12);
            const bool probable =
                classes == 3 && (family.options.get_if<LinearOptions>() || family.options.get_if<NetOptions>());
            const auto values = probable ? shares_of_classes(model.decisions, columns) : model.decisions;
            EXPECT_NEAR(model.score(Metric::auc), auc_of_classes(values, result.columns, truth.classes), 1e-9);
          }
        }
        options.keep_decisions = false;
        EXPECT_TRUE(search(context_on(device), dataset, family, options).level.models.front().decisions.empty());
      }
    }
}

TEST(Search, ConfusionAndRocAreOfHeldOutRows) {
  const auto table = make_table(100, 6, 2, 9);
  SearchSpace family(LinearOptions{});
  const SearchOptions options;
  family["cost"] = {0.1};
  const auto result = search(context_on(Device::cpu()), dataset_of(table, false, false), family, options);
  std::int64_t rows = 0;
  std::int64_t right = 0;
  double correct = 0;
  for (const auto& model : result.level.models) {
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
    search(context_on(Device::cpu()), dataset, LinearOptions{}, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Search, SplitsThatCannotBeTrainedOrScoredAreErrors) {
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
  EXPECT_NE(message(dataset_of(table, false, false), options).find("all rows have class ant"), std::string::npos);
}

TEST(Search, ScoresMustSuitTheLoss) {
  const auto dataset = dataset_of(make_table(20, 4, 2, 1), false, false);
  const auto decided = [&](Loss loss, std::optional<Metric> score) {
    SearchSpace linear(LinearOptions{});
    linear.get<LinearOptions>().loss = loss;
    SearchOptions options;
    options.score = score;
    SearchSpace family = linear;
    decide(dataset, family, options);
    return options;
  };
  EXPECT_THROW(decided(Loss::logistic, Metric::rmse), UsageError);
  EXPECT_THROW(decided(Loss::squared_hinge, Metric::log_loss), UsageError);
  EXPECT_EQ(decided(Loss::squared_tube, {}).score, Metric::r2);
  EXPECT_EQ(decided(Loss::squared_tube, {}).split, SplitKind::k_fold);
}

/// A table with groups is split by them unless another split is requested.
TEST(Search, GroupsStayTogetherByDefault) {
  auto dataset = dataset_of(make_table(60, 4, 2, 1), false, false);
  for (int i = 0; i < 60; ++i) dataset.groups.push_back(i / 3);
  SearchSpace family = LinearOptions{};
  SearchOptions options;
  decide(dataset, family, options);
  EXPECT_EQ(options.split, SplitKind::stratified_group_k_fold);
  EXPECT_EQ(search(context_on(Device::cpu()), dataset, LinearOptions{}).groups, 20);
  options.split = SplitKind::stratified_k_fold;
  const auto mixed = search(context_on(Device::cpu()), dataset, LinearOptions{}, options);
  ASSERT_FALSE(mixed.notes.empty());
  EXPECT_NE(mixed.notes.back().find("not kept together"), std::string::npos);
}

/// If one class is frequent, a note reports how little accuracy means, or that another score was taken for it.
TEST(Search, FrequentClassesAreNoted) {
  auto dataset = dataset_of(make_table(60, 4, 2, 1), false, false);
  for (std::size_t i = 0; i < 60; ++i) dataset.target.classes[i] = i % 6 == 0 ? 1 : 0;
  const auto noted = [&](Metric score) {
    SearchOptions options;
    options.score = score;
    SearchSpace family(LinearOptions{});
    family["cost"] = {1};
    std::string notes;
    for (const auto& note : search(context_on(Device::cpu()), dataset, family, options).notes) notes += note;
    EXPECT_EQ(notes.find("83 % of the rows are of class " + dataset.target.class_names[0]) == std::string::npos,
              score == Metric::f1);
    return notes;
  };
  EXPECT_NE(noted(Metric::accuracy).find("ask for more"), std::string::npos);
  EXPECT_NE(noted(Metric::auc).find("models are chosen by AUC"), std::string::npos);
  noted(Metric::f1);
}

/// Every strategy of every family tries points whose scores are those of the grid.
TEST(Search, StrategiesScoreAsTheGridDoes) {
  const auto dataset = dataset_of(make_table(80, 6, 2, 4), false, false);
  SearchSpace linear(LinearOptions{});
  linear["cost"] = {0.001, 0.01, 0.1, 1, 10, 100};
  linear.get<LinearOptions>().tolerance = 1e-10;
  SearchSpace svm(SvmOptions{});
  svm["cost"] = {0.25, 1, 4, 16};
  svm["gamma"] = {0.01, 0.1, 1};
  SearchSpace net(NetOptions{});
  net["alpha"] = {0.3, 0.1, 0.03, 0.01};
  net.get<NetOptions>().tolerance = 1e-10;
  for (const SearchSpace& family : {SearchSpace(linear), SearchSpace(svm), SearchSpace(net)}) {
    SearchOptions options;
    options.folds = 4;
    options.strategy = Strategy::grid;
    options.score = Metric::auc;
    const auto grid = search(context_on(Device::cpu()), dataset, family, options);
    for (const auto strategy : {Strategy::random, Strategy::descent, Strategy::halving}) {
      options.strategy = strategy;
      options.trials = strategy == Strategy::random ? 5 : 0;
      const auto some = search(context_on(Device::cpu()), dataset, family, options);
      EXPECT_LT(some.level.points.size(), grid.level.points.size());
      for (std::size_t p = 0; p < some.level.points.size(); ++p) {
        const auto& point = some.point(some.level, p);
        const auto found = std::find(grid.points.begin(), grid.points.end(), point);
        ASSERT_NE(found, grid.points.end());
        const auto q = static_cast<std::size_t>(found - grid.points.begin());
        EXPECT_NEAR(some.summary(p, Metric::auc).mean, grid.summary(q, Metric::auc).mean, 1e-3) << some.title;
      }
    }
  }
}

TEST(Search, NoMorePointsAreBegunWhenTheTimeIsOver) {
  const auto dataset = dataset_of(make_table(80, 6, 2, 4), false, false);
  SearchOptions options;
  options.strategy = Strategy::refine;
  options.time = 1e-9;
  const auto result = search(context_on(Device::cpu()), dataset, LinearOptions{}, options);
  EXPECT_EQ(result.level.points.size(), 7U) << "the first round alone";
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes.front().find("was over before the search was"), std::string::npos);
}

TEST(Search, AStopEndsItBetweenBatches) {
  const auto dataset = dataset_of(make_table(80, 6, 2, 4), false, false);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(search(context_on(Device::cpu()).with({.stop = source.get_token()}), dataset, LinearOptions{}), Stopped);
}

TEST(Search, TheSimplestWithinOneStandardErrorIsChosen) {
  // The best mean is 0.90 with a standard error of 0.03: 0.87 and more is good enough.
  const std::vector<ScoreSummary> table{
      {0.80, 0, 0.10, 5}, {0.871, 0, 0.01, 5}, {0.89, 0, 0.02, 5}, {0.90, 0, 0.03, 5}};
  EXPECT_EQ(choose(table, true, Choice::best).chosen, 3U);
  EXPECT_EQ(choose(table, true, Choice::one_standard_error).chosen, 1U);
  EXPECT_EQ(choose(table, true, Choice::one_standard_error).best, 3U);
  // Smaller is better: 0.50 + 0.05 lets 0.54 pass, not 0.56.
  const std::vector<ScoreSummary> losses{{0.56, 0, 0.3, 5}, {0.54, 0, 0.3, 5}, {0.50, 0, 0.05, 5}, {0.50, 0, 0.3, 5}};
  EXPECT_EQ(choose(losses, false, Choice::best).chosen, 2U) << "of equals the smaller cost";
  EXPECT_EQ(choose(losses, false, Choice::one_standard_error).chosen, 1U);
}

TEST(Search, SummariesAreThoseOfASample) {
  const auto summary = summarise(std::vector<double>{2, 4, std::nan(""), 6});
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.standard_deviation, 2);
  EXPECT_DOUBLE_EQ(summary.standard_error, 2 / std::sqrt(3));
  EXPECT_EQ(summary.splits, 3);
  EXPECT_EQ(summarise(std::vector<double>{5}).standard_error, 0);
}

TEST(Search, CostsAreListsOrRanges) {
  EXPECT_EQ(parse_numbers("10,0.1,1,1", "cost"), (std::vector<double>{0.1, 1, 10}));
  EXPECT_EQ(parse_numbers("1e-2:1e2:5", "cost"), (std::vector<double>{0.01, 0.1, 1, 10, 100}));
  for (const char* text : {"", "0", "-1", "1,", "x", "1:2", "1:2:1", "2:1:5", "1:2:3:4", "1:inf:3"})
    EXPECT_THROW(parse_numbers(text, "cost"), UsageError) << text;
}

/// On all levels of a nested search: what a split trains on and what it tests have no group in common.
TEST(SearchPlan, GroupsStayTogetherInNestedSplits) {
  Labels labels;
  labels.rows = 90;
  labels.class_names = {"ant", "bee"};
  std::vector<std::int32_t> groups;
  for (std::int32_t i = 0; i < 90; ++i) {
    groups.push_back(i * 7 % 30);
    labels.classes.push_back(groups.back() % 2);
  }
  for (const auto kind : {SplitKind::group_k_fold, SplitKind::stratified_group_k_fold, SplitKind::group_shuffle}) {
    SearchOptions options;
    options.split = kind;
    options.folds = 3;
    options.outer = 4;
    options.score = Metric::accuracy;
    options.outer_split = SplitKind::stratified_group_k_fold;
    const engine::Plan plan(labels, {groups, {}}, options, 1, 1);
    for (std::int32_t s = 0; s < plan.all_splits(); ++s) {
      const auto weights = plan.table({s}, 1).weights;
      std::vector<bool> trained(30, false);
      for (std::size_t i = 0; i < 90; ++i)
        if (weights[i] > 0) trained[static_cast<std::size_t>(groups[i])] = true;
      for (const auto row : plan.test_rows(s))
        EXPECT_FALSE(trained[static_cast<std::size_t>(groups[static_cast<std::size_t>(row)])])
            << to_string(kind) << ", " << plan.name(s);
    }
  }
}

}  // namespace search_test
}  // namespace sheaf::test
