// Results from the chosen models of a search beyond scores: learning curves, permutation importance, calibrated
// probabilities and thresholds, each compared with the same done by hand on rows that are really gone.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/report.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "search/results/importance.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace search_extras_test {

Context context_on(Device device) {
  return Context({.device = device, .threads = 2, .memory = std::int64_t{1} << 30, .seed = 3});
}

/// The first two of eight features decide the label, with noise.
Dataset<double> make_dataset(std::int64_t rows, int classes, bool sparse = false) {
  const auto table = random_rows(rows, 8, 0.7, 12);
  Random random(5);
  Dataset<double> dataset;
  for (const auto& row : table) {
    const double value = row[0] - row[1] + 2 * random.normal();
    dataset.target.values.push_back(value);
    if (classes > 0) dataset.target.classes.push_back(value < -3 && classes > 2 ? 2 : value < 0.5 ? 1 : 0);
  }
  if (classes > 0) dataset.target.values.clear();
  for (int c = 0; c < classes; ++c) dataset.target.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  dataset.target.fixed_order = true;
  if (sparse)
    dataset.x = sparse_of<double>(table, 8);
  else
    dataset.x = dense_of<double>(table, 8);
  dataset.source = "table";
  return dataset;
}

std::vector<std::pair<std::string, SearchSpace>> families(bool regression) {
  SearchSpace linear(LinearOptions{});
  linear["cost"] = {0.01, 1};
  SearchSpace net(NetOptions{});
  net["l1-ratio"] = {0.5};
  net.get<NetOptions>().alpha_count = 3;
  net.get<NetOptions>().tolerance = 1e-9;  // paths that begin elsewhere end at the same weights
  SearchSpace svm(SvmOptions{});
  svm["cost"] = {1, 10};
  svm["gamma"] = {0.05};
  SearchSpace knn(KnnOptions{});
  knn["k"] = {3, 5};
  SearchSpace glm(GlmOptions{});
  glm["alpha"] = {0.1, 1};
  if (regression) {
    linear.get<LinearOptions>().loss = Loss::squared_tube;
    svm.get<SvmOptions>().kind = SvmKind::epsilon_svr;
    glm.get<GlmOptions>().family = GlmFamily::gaussian;
  } else {
    net.get<NetOptions>().loss = Loss::logistic;
    glm.get<GlmOptions>().family = GlmFamily::binomial;
  }
  return {{"linear", linear}, {"net", net}, {"svm", svm}, {"knn", knn}, {"glm", glm}};
}

TEST(LearningCurve, EndsWithTheScoresOfTheSearchAndGrowsBefore) {
  for (const auto device : devices())
    for (const bool scaled : {false, true})
      for (const auto& [name, family] : families(false)) {
        const auto dataset = make_dataset(150, 2);
        SearchOptions options;
        options.folds = 3;
        options.learning_curve = true;
        if (scaled) options.pipeline.scale = ScaleMethod::standard;
        const auto result = search(context_on(device), dataset, family, options);
        ASSERT_TRUE(result.learning_curve) << name;
        const auto& curve = *result.learning_curve;
        const auto splits = static_cast<std::size_t>(result.splits);
        const auto shares = curve.shares.size();
        for (std::size_t s = 0; s < splits; ++s) {
          const auto last = (shares - 1) * splits + s;
          const auto& whole = result.level.models[result.level.chosen.chosen * splits + s];
          for (const auto metric : {Metric::accuracy, Metric::auc})
            EXPECT_NEAR(curve.held_out[last].score(metric), whole.score(metric), 1e-6) << name << " " << scaled;
          EXPECT_NEAR(static_cast<double>(curve.rows[last]), 100, 1);
          for (std::size_t k = 1; k < shares; ++k)
            EXPECT_LT(curve.rows[(k - 1) * splits + s], curve.rows[k * splits + s]);
          EXPECT_NEAR(static_cast<double>(curve.rows[s]), 10, 1);
        }
      }
}

TEST(LearningCurve, ScoresOfTrainingRowsAreThoseOfAModelOnThem) {
  const auto dataset = make_dataset(90, 0);
  SearchSpace family(LinearOptions{});
  family["cost"] = {1};
  family.get<LinearOptions>().loss = Loss::squared_tube;
  family.get<LinearOptions>() = with_defaults(family.get<LinearOptions>(), dataset.target);
  SearchOptions options;
  std::vector<std::int32_t> fold(90, -1);
  std::fill_n(fold.begin(), 10, 0);
  options.splits = custom_splits(fold);
  options.learning_curve = true;
  const auto context = context_on(Device::cpu());
  const auto result = search(context, dataset, family, options);
  std::vector<std::int32_t> rows(80);
  std::iota(rows.begin(), rows.end(), 10);
  const auto train = take_rows(dataset, rows, 1);
  auto alone = family.get<LinearOptions>();
  alone.cost = 1;
  const auto model = fit(context, train, alone);
  const auto scores = model.scores(context, model.predict(context, train), train.target);
  EXPECT_NEAR(result.learning_curve->training.back().score(Metric::r2), scores->score(Metric::r2), 1e-5);
}

TEST(LearningCurve, KeepsGroupsWholeAndAllClasses) {
  auto dataset = make_dataset(200, 2);
  for (std::int32_t i = 0; i < 200; ++i) dataset.groups.push_back(i / 4);
  for (int g = 0; g < 50; ++g) dataset.group_names.push_back(std::to_string(g));
  SearchSpace family(LinearOptions{});
  family["cost"] = {1};
  SearchOptions options;
  options.learning_curve = true;
  const auto result = search(context_on(Device::cpu()), dataset, family, options);
  for (const auto rows : result.learning_curve->rows) EXPECT_EQ(rows % 4, 0);
  for (const auto& model : result.learning_curve->training) EXPECT_GT(model.score(Metric::accuracy), 0.5);
}

/// The same shuffles, predicted one by one.
std::vector<double> drops_by_hand(const Context& context, const Model& model, const Dataset<double>& test,
                                  Metric metric, std::uint64_t seed, int repeats) {
  std::vector<double> drops;
  const auto score = [&](const Dataset<double>& rows) {
    return model.scores(context, model.predict(context, rows), rows.target)->score(metric);
  };
  const double before = score(test);
  for (std::int64_t j = 0; j < test.features(); ++j) {
    Random random(seed, std::uint64_t{1} << 20U);
    double sum = 0;
    for (int r = 0; r < repeats; ++r) {
      std::vector<std::int32_t> order(static_cast<std::size_t>(test.rows()));
      std::iota(order.begin(), order.end(), 0);
      random.shuffle(std::span(order));
      auto rows = rows_of(test.x);
      auto moved = rows;
      for (std::size_t i = 0; i < order.size(); ++i)
        moved[i][static_cast<std::size_t>(j)] = rows[static_cast<std::size_t>(order[i])][static_cast<std::size_t>(j)];
      auto shuffled = test.borrowed();
      shuffled.replace_x(dense_of<double>(moved, test.features()));
      sum += score(shuffled);
    }
    drops.push_back((info(metric).larger_is_better ? 1 : -1) * (before - sum / repeats));
  }
  return drops;
}

TEST(PermutationImportance, IsTheLossOfScoreOfPredictionsForShuffledRows) {
  constexpr int repeats = 3;
  for (const auto device : devices())
    for (const int classes : {0, 2, 3})
      for (const bool sparse : {false, true}) {
        const auto context = context_on(device);
        const auto dataset = make_dataset(120, classes, sparse);
        std::vector<std::int32_t> rows(50);
        std::iota(rows.begin(), rows.end(), 60);
        const auto test = take_rows(dataset, rows, 1);
        Labels labels;
        labels.class_names = dataset.target.class_names;
        labels.classes = dataset.target.classes;
        if (classes == 0) labels.values = dataset.target.values;
        labels.positive = classes == 2 ? 1 : -1;
        labels.rows = 120;
        LinearOptions linear;
        if (classes == 0) linear.loss = Loss::squared_tube;
        SvmOptions svm;
        svm.multi_class = MultiClass::one_vs_rest;
        if (classes == 0) svm.kind = SvmKind::epsilon_svr;
        PipelineOptions scaled;
        scaled.scale = ScaleMethod::max_abs;
        PipelineOptions shares;
        shares.transforms = {RowTransform::norm};
        std::vector<Model> models;
        models.push_back(fit(context, dataset, linear));
        models.push_back(fit(context, dataset, linear, {}, scaled));
        models.push_back(fit(context, dataset, linear, {}, shares));
        models.push_back(fit(context, dataset, svm));
        models.push_back(fit(context, dataset, KnnOptions{}));
        if (classes == 3) {
          NetOptions net;
          net.loss = Loss::softmax;
          net.alpha = 0.05;
          models.push_back(fit(context, dataset, net));
        }
        for (const auto& model : models)
          for (const auto metric : classes == 0   ? std::vector{Metric::r2, Metric::rmse}
                                   : classes == 2 ? std::vector{Metric::accuracy, Metric::auc}
                                                  : std::vector{Metric::accuracy}) {
            SearchResult result;
            result.seed = 8;
            result.options.permutation_importance = repeats;
            result.options.score = metric;
            engine::Importance<double> importance(dataset, labels, result);
            importance.add(context, model, test, rows, 0);
            const auto expected = drops_by_hand(context, model, test, metric, 8, repeats);
            const auto found = importance.finish();
            ASSERT_EQ(found.size(), 8U);
            for (const auto& feature : found)
              EXPECT_NEAR(feature.drop.mean, expected[static_cast<std::size_t>(feature.index)], 1e-9)
                  << model.family() << " " << info(metric).name << " " << classes << " " << feature.index;
          }
      }
}

TEST(PermutationImportance, FindsTheFeaturesThatDecide) {
  const auto dataset = make_dataset(300, 2);
  for (const auto& [name, family] : families(false)) {
    SearchOptions options;
    options.permutation_importance = 5;
    options.score = Metric::auc;
    const auto result = search(context_on(Device::cpu()), dataset, family, options);
    ASSERT_EQ(result.importance.size(), 8U) << name;
    std::set<std::int64_t> first{result.importance[0].index, result.importance[1].index};
    EXPECT_EQ(first, (std::set<std::int64_t>{0, 1})) << name;
    EXPECT_LT(result.importance[2].drop.mean, 0.05) << name;
  }
}

TEST(PermutationImportance, IsTheSameForAnyNumberOfThreads) {
  const auto dataset = make_dataset(100, 2);
  SearchSpace family(LinearOptions{});
  family["cost"] = {1};
  SearchOptions options;
  options.permutation_importance = 2;
  options.learning_curve = true;
  const auto one = search(with_threads(1), dataset, family, options);
  const auto three = search(with_threads(3), dataset, family, options);
  EXPECT_EQ(importance_csv(one), importance_csv(three));
  EXPECT_EQ(learning_curve_csv(one), learning_curve_csv(three));
}

/// Entries of the split, and of all others.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> sides(const HeldOutPredictions& found, int split) {
  std::pair<std::vector<std::size_t>, std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < found.size(); ++i) (found.splits[i] == split ? result.first : result.second).push_back(i);
  return result;
}

TEST(HeldOut, ProbabilitiesAndThresholdsOfASplitAreLearntWithoutIt) {
  const auto dataset = make_dataset(160, 2);
  for (const auto& [name, family] : families(false))
    for (const auto method : {CalibrationMethod::platt, CalibrationMethod::isotonic}) {
      SearchOptions options;
      options.folds = 4;
      options.calibrate = method;
      options.threshold = parse_threshold("youden");
      const auto result = search(context_on(Device::cpu()), dataset, family, options);
      const auto& found = *result.held_out;
      ASSERT_EQ(found.probabilities.size(), 320U) << name;
      ASSERT_EQ(found.by_threshold.size(), 160U) << name;
      ASSERT_TRUE(result.model->threshold());
      ASSERT_TRUE(result.model->calibration());
      for (int split = 0; split < 4; ++split) {
        const auto [own, others] = sides(found, split);
        std::vector<double> decisions, values;
        std::vector<std::int32_t> classes;
        std::vector<std::uint8_t> positive;
        for (const auto i : others) {
          decisions.push_back(found.decisions[i]);
          classes.push_back(found.truth[i]);
          values.push_back((result.positive == 0 ? 1 : -1) * found.decisions[i]);
          positive.push_back(found.truth[i] == result.positive ? 1 : 0);
        }
        const auto calibration = learn_calibration(method, decisions, 1, classes);
        const auto threshold = choose_threshold(*options.threshold, values, positive);
        for (const auto i : own) {
          const std::vector<double> mine{found.decisions[i]};
          EXPECT_DOUBLE_EQ(found.probabilities[2 * i], calibration.probabilities(mine)[0]) << name;
          const bool taken = (result.positive == 0 ? 1 : -1) * found.decisions[i] >= threshold.value;
          EXPECT_EQ(found.by_threshold[i] == result.positive, taken) << name;
        }
      }
    }
}

TEST(HeldOut, ThresholdsAreForTwoClasses) {
  SearchOptions options;
  options.threshold = parse_threshold("youden");
  SearchSpace family(LinearOptions{});
  family["cost"] = {1};
  EXPECT_THROW(search(context_on(Device::cpu()), make_dataset(60, 3), family, options), UsageError);
  family.get<LinearOptions>().loss = Loss::squared_tube;
  EXPECT_THROW(search(context_on(Device::cpu()), make_dataset(60, 0), family, options), UsageError);
}

TEST(Reliability, BinsHoldMeansAndShares) {
  Random random(4);
  std::vector<double> probabilities;
  std::vector<std::uint8_t> positive;
  for (int i = 0; i < 500; ++i) {
    probabilities.push_back(i % 50 == 0 ? static_cast<double>(i % 100) / 50 : random.uniform());
    positive.push_back(random.uniform() < probabilities.back() ? 1 : 0);
  }
  const auto bins = reliability(probabilities, positive, 7);
  ASSERT_EQ(bins.size(), 7U);
  std::int64_t rows = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    double count = 0, sum = 0, hits = 0;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      const double low = static_cast<double>(b) / 7;
      if (probabilities[i] > low + 1.0 / 7 || (probabilities[i] <= low && b > 0)) continue;
      ++count;
      sum += probabilities[i];
      hits += positive[i];
    }
    EXPECT_EQ(static_cast<double>(bins[b].rows), count);
    EXPECT_NEAR(bins[b].probability, sum / count, 1e-12);
    EXPECT_NEAR(bins[b].share, hits / count, 1e-12);
    rows += bins[b].rows;
  }
  EXPECT_EQ(rows, 500);
  const auto edges = reliability(std::vector<double>{0, 0.5, 1}, std::vector<std::uint8_t>{0, 1, 1}, 2);
  EXPECT_EQ(edges[0].rows, 2) << "as scikit-learn's calibration_curve: the upper end belongs to a bin";
  EXPECT_TRUE(std::isnan(reliability(std::vector<double>{0.9}, std::vector<std::uint8_t>{1}, 2)[0].share));
  EXPECT_NEAR(expected_calibration_error(reliability(std::vector<double>{0.9}, std::vector<std::uint8_t>{1}, 2)), 0.1,
              1e-12);
}

TEST(Coefficients, AreStandardisedByTheFeaturesThatTheModelSees) {
  const auto dataset = make_dataset(80, 2);
  SearchSpace family(LinearOptions{});
  family["cost"] = {1};
  for (const bool scaled : {false, true}) {
    SearchOptions options;
    if (scaled) options.pipeline.scale = ScaleMethod::standard;
    const auto result = search(context_on(Device::cpu()), dataset, family, options);
    ASSERT_EQ(result.standard_deviations.size(), 8U);
    const auto rows = rows_of(dataset.x);
    for (std::size_t j = 0; j < 8; ++j) {
      double mean = 0, squares = 0;
      for (const auto& row : rows) mean += row[j] / 80;
      for (const auto& row : rows) squares += (row[j] - mean) * (row[j] - mean) / 80;
      EXPECT_NEAR(result.standard_deviations[j], scaled ? 1 : std::sqrt(squares), 1e-9);
    }
  }
}

}  // namespace search_extras_test
}  // namespace sheaf::test
