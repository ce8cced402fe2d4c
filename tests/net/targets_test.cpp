// Elastic nets of several targets beside those that glmnet found (tests/golden/targets): trained, kept, applied,
// searched.
#include <algorithm>
#include <cmath>
#include <functional>

#include <sheaf/model.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"
#include "model_text.hpp"
#include "net_results.hpp"

namespace sheaf::test {
namespace targets_test {

Dataset<double> cars(const std::string& label = "mpg,disp,qsec") {
  ReadOptions reading;
  reading.label = label;
  return read_dataset<double>(Context(), golden("targets/mtcars.csv"), reading);
}

NetOptions close_options(double alpha, double l1_ratio = 0.5) {
  NetOptions options;
  options.alpha = alpha;
  options.l1_ratio = l1_ratio;
  options.relative_l2 = false;
  options.tolerance = 1e-13;
  options.max_epochs = 100000;
  return options;
}

/// Weights and intercepts of a target as far apart as one in 1e5 of the largest of them.
void expect_weights(const LinearModel& model, const nlohmann::json& found) {
  for (std::int32_t c = 0; c < model.columns; ++c) {
    const auto target = static_cast<std::size_t>(c);
    const auto weights = found["weights"][target].get<std::vector<double>>();
    const double intercept = found["intercepts"][target];
    double largest = 0;
    for (const double weight : weights) largest = std::max(largest, std::abs(weight));
    ASSERT_EQ(std::ssize(weights), model.features);
    for (std::int64_t j = 0; j < model.features; ++j) {
      const double weight = weights[static_cast<std::size_t>(j)];
      EXPECT_NEAR(model.weight(j, c), weight, 1e-5 * largest) << model.feature_name(j);
      EXPECT_EQ(model.weight(j, c) != 0, weight != 0) << model.feature_name(j);
    }
    EXPECT_NEAR(model.weight(model.features, c), intercept, 1e-5 * std::abs(intercept));
  }
}

TEST(SeveralTargets, GlmnetFoundTheSameWeightsAndPredictions) {
  const auto results = read_json(golden("targets/results.json"));
  const auto dataset = cars();
  ASSERT_EQ(dataset.target.target_names(), results["targets"].get<std::vector<std::string>>());
  ASSERT_EQ(dataset.feature_names, results["features"].get<std::vector<std::string>>());
  for (const Device device : devices())
    for (const auto& one : results["cases"])
      for (const auto& found : one["path"]) {
        SCOPED_TRACE("l1-ratio " + one["l1_ratio"].dump() + ", alpha " + found["alpha"].dump() + ", on " +
                     to_string(device));
        auto options = close_options(found["alpha"], one["l1_ratio"]);
        options.standardise = one["standardise"];
        options.relax = one["relaxed"].get<bool>() ? 0 : 1;
        const auto context = Context().with({.device = device});
        const auto model = train_net(context, dataset, options);
        EXPECT_TRUE(warnings_of(model).empty());
        expect_weights(model, found);
        const auto predictions = predict_linear(context, model, dataset);
        ASSERT_EQ(predictions.columns, 3);
        for (std::size_t c = 0; c < 3; ++c) {
          const double expected = found["first_row"][c];
          EXPECT_NEAR(predictions.decisions[c], expected, 1e-5 * std::abs(expected));
        }
      }
}

/// Squares of cv.glmnet are sums over the targets; its folds are of equal size.
TEST(SeveralTargets, SearchesFindTheSquaresOfCvGlmnet) {
  const auto results = read_json(golden("targets/results.json"));
  const auto dataset = cars();
  std::vector<std::int32_t> folds;
  for (std::int32_t i = 0; i < dataset.rows(); ++i) folds.push_back(i % 4);
  for (const Device device : devices())
    for (const auto& one : results["cases"]) {
      if (one["relaxed"].get<bool>()) continue;
      SearchSpace family(NetOptions{});
      family.get<NetOptions>() = close_options(1);
      family.get<NetOptions>().standardise = one["standardise"];
      family["l1-ratio"] = {one["l1_ratio"].get<double>()};
      for (const auto& found : one["path"]) family["alpha"].numbers.push_back(found["alpha"]);
      SearchOptions options;
      options.splits = custom_splits(folds);
      options.score = Metric::mean_squared_error;
      options.predictions = true;
      const auto result = search(Context().with({.device = device}), dataset, family, options);
      ASSERT_EQ(result.points.size(), one["path"].size());
      std::size_t best = 0;
      for (std::size_t p = 0; p < result.points.size(); ++p) {
        const auto& path = one["path"];
        const auto at = static_cast<std::size_t>(
            std::find_if(path.begin(), path.end(),
                         [&](const auto& f) { return f["alpha"].template get<double>() == result.points[p][1]; }) -
            path.begin());
        ASSERT_LT(at, path.size());
        const double squares = path[at]["squares"];
        EXPECT_NEAR(3 * result.summary(p, Metric::mean_squared_error).mean, squares, 1e-5 * squares);
        if (squares < path[best]["squares"].get<double>()) best = at;
      }
      EXPECT_EQ(result.point(result.level, result.level.chosen.best)[1], one["path"][best]["alpha"].get<double>());
      EXPECT_EQ(result.target_names, dataset.target.target_names());
      ASSERT_TRUE(result.model);
      EXPECT_EQ(result.model->target_names(), dataset.target.target_names());
      const auto& held_out = *result.held_out;
      EXPECT_EQ(held_out.decisions.size(), held_out.size() * 3);
      EXPECT_EQ(held_out.values.size(), held_out.size() * 3);
    }
}

/// Scores of several targets are means over them, by the plain definitions of each.
TEST(SeveralTargets, ScoresAreMeansOverTheTargets) {
  const auto dataset = cars();
  const Model model(train_net(Context(), dataset, close_options(10)));
  const auto predictions = model.predict(Context(), dataset);
  const auto scores = model.scores(Context(), predictions, dataset.target);
  ASSERT_TRUE(scores);
  const auto table = dataset.target.table();
  std::vector<double> r2, squares, absolute;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> truth, predicted;
    for (std::size_t e = c; e < table.size(); e += 3) {
      truth.push_back(table[e]);
      predicted.push_back(predictions.decisions[e]);
    }
    r2.push_back(r_squared(predicted, truth));
    squares.push_back(mean_squared_error(predicted, truth));
    absolute.push_back(mean_absolute_error(predicted, truth));
  }
  const auto mean = [](const std::vector<double>& values) { return (values[0] + values[1] + values[2]) / 3; };
  EXPECT_NEAR(scores->score(Metric::r2), mean(r2), 1e-12);
  EXPECT_NEAR(scores->score(Metric::mean_squared_error), mean(squares), 1e-10);
  EXPECT_NEAR(scores->score(Metric::mean_absolute_error), mean(absolute), 1e-12);
  const auto score = model.score(predictions, dataset.target);
  ASSERT_TRUE(score);
  EXPECT_NEAR(score->squared_error, mean(squares), 1e-10);
  EXPECT_FALSE(model.scores(Context(), predictions, cars("mpg").target)) << "other targets than the model's";
  EXPECT_FALSE(model.score(predictions, cars("mpg").target));
}

TEST(SeveralTargets, ModelsAreTheSameAfterAFile) {
  const auto dataset = cars();
  PipelineOptions pipeline;
  pipeline.scale = ScaleMethod::standard;
  auto options = close_options(0.5);
  options.relax = 0.5;
  const auto model = fit(Context(), dataset, options, {}, pipeline);
  const auto text = model.text();
  const auto again = Model::parse(text, "model");
  EXPECT_EQ(again.text(), text);
  EXPECT_EQ(again.target_names(), dataset.target.target_names());
  EXPECT_EQ(again.predict(Context(), dataset).decisions, model.predict(Context(), dataset).decisions);
  const auto weights = again.coefficients();
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->columns, dataset.target.target_names());
  EXPECT_EQ(weights->intercepts.size(), 3U);
  const auto known = again.known_columns();
  EXPECT_EQ(known.label, "mpg");
  EXPECT_EQ(known.further_labels, (std::vector<std::string>{"disp", "qsec"}));
  EXPECT_THROW(static_cast<void>(model.text(ModelFile::liblinear)), UsageError);
  EXPECT_FALSE(model.peer_text());
}

/// Rows are taken with all of their targets.
TEST(SeveralTargets, RowsTakeAllTargetsAlong) {
  const auto dataset = cars();
  const std::vector<std::int32_t> rows{5, 2, 2};
  const auto some = take_rows(dataset, std::span<const std::int32_t>(rows), 1);
  const auto all = dataset.target.table(), taken = some.target.table();
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(taken[k * 3 + c], all[static_cast<std::size_t>(rows[k]) * 3 + c]);
}

/// The sum over features and the intercept is each target's prediction.
TEST(SeveralTargets, EachTargetIsExplained) {
  const auto dataset = cars();
  const Model model(train_net(Context(), dataset, close_options(10)));
  const auto predictions = model.predict(Context(), dataset);
  const auto reasons = model.explain(Context(), dataset, {.most = 2});
  ASSERT_EQ(reasons.size(), predictions.decisions.size());
  for (std::size_t e = 0; e < reasons.size(); ++e) {
    EXPECT_EQ(reasons[e].column, static_cast<std::int32_t>(e % 3));
    EXPECT_NEAR(reasons[e].decision, predictions.decisions[e], 1e-9 * std::abs(predictions.decisions[e]));
  }
}

/// Fold scores of scaled features equal those of models that are trained and applied by hand.
TEST(SeveralTargets, PipelinesAreLearntInsideTheSplits) {
  const auto dataset = cars();
  std::vector<std::int32_t> folds;
  for (std::int32_t i = 0; i < dataset.rows(); ++i) folds.push_back(i % 4);
  SearchSpace family(NetOptions{});
  family.get<NetOptions>() = close_options(1);
  family["l1-ratio"] = {0.5};
  family["alpha"] = {2.0};
  SearchOptions options;
  options.splits = custom_splits(folds);
  options.pipeline.scale = ScaleMethod::standard;
  for (const Device device : devices()) {
    const auto result = search(Context().with({.device = device}), dataset, family, options);
    double mean = 0;
    for (std::int32_t fold = 0; fold < 4; ++fold) {
      std::vector<std::int32_t> train, test;
      for (std::int32_t i = 0; i < dataset.rows(); ++i) (i % 4 == fold ? test : train).push_back(i);
      const auto held_out = take_rows(dataset, std::span<const std::int32_t>(test), 1);
      const auto model = fit(Context(), take_rows(dataset, std::span<const std::int32_t>(train), 1),
                             close_options(2, 0.5), {}, options.pipeline);
      mean += model.scores(Context(), model.predict(Context(), held_out), held_out.target)->score(Metric::r2) / 4;
    }
    EXPECT_NEAR(result.summary(0, Metric::r2).mean, mean, 1e-7);
  }
}

TEST(SeveralTargets, ColumnsAreFoundByNameAndPosition) {
  const auto target = [](const std::string& text, const std::string& label) {
    ReadOptions reading;
    reading.format = "csv";
    reading.label = label;
    return parse_dataset<double>(Context(), text, "t.csv", reading);
  };
  const std::string named = "a,b,c,d\n1,2,3,4\n5,6,7,8\n";
  for (const auto* label : {"d,b", "4,2", "-1,b", "d,-3"}) {
    const auto found = target(named, label);
    EXPECT_EQ(found.target.target_names(), (std::vector<std::string>{"d", "b"})) << label;
    EXPECT_EQ(found.target.table(), (std::vector<double>{4, 2, 8, 6}));
    EXPECT_EQ(found.feature_names, (std::vector<std::string>{"a", "c"}));
    EXPECT_FALSE(found.target.looks_like_classes()) << "few whole numbers are numbers all the same";
  }
  const auto unnamed = target("1,2,3,4\n5,6,7,8\n", "4,2");
  EXPECT_EQ(unnamed.target.target_names(), (std::vector<std::string>{"4", "2"}));
  const auto comma = target("\"a,b\",a,b\n1,2,3\n4,5,6\n", "a,b");
  EXPECT_FALSE(comma.target.several()) << "a column of that name is one target";
  EXPECT_EQ(comma.target.values, (std::vector<double>{1, 4}));
  ReadOptions arff;
  arff.format = "arff";
  arff.label = "x,z";
  const auto sparse = parse_dataset<double>(
      Context(),
      "@relation r\n@attribute x numeric\n@attribute y numeric\n@attribute z numeric\n@data\n{0 2,1 3}\n{2 5}\n",
      "t.arff", arff);
  EXPECT_EQ(sparse.target.table(), (std::vector<double>{2, 0, 0, 5}));
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(SeveralTargets, OtherModelsRefuseThem) {
  const auto dataset = cars();
  for (const auto& kind : model_kinds()) {
    const auto* net = kind.options.get_if<NetOptions>();
    if (net != nullptr && net->loss == Loss::squared) continue;
    auto options = kind.options;
    if (net != nullptr) options.get<NetOptions>().alpha = 1;
    const auto error = error_of([&] { fit(Context(), dataset, options); });
    EXPECT_NE(error.find("--label names 3 targets (mpg, disp and qsec), and only the models elastic-net, lasso and"),
              std::string::npos)
        << kind.name << ": " << error;
  }
}

TEST(SeveralTargets, DamagedModelFilesAreRefused) {
  const auto text = without_checksum(Model(train_net(Context(), cars(), close_options(10))).text());
  const auto changed = [&](const std::string& from, const std::string& to) {
    auto copy = text;
    const auto at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    copy.replace(at, from.size(), to);
    return error_of([&] { Model::parse(copy, "model"); });
  };
  EXPECT_NE(changed("targets 3", "targets 1").find("expected 2 or more, not 1"), std::string::npos);
  EXPECT_NE(changed("targets 3", "targets 4").find("'target'"), std::string::npos);
  EXPECT_NE(changed("target disp\n", "").find("'target'"), std::string::npos);
  EXPECT_NE(changed("targets 3\ntarget mpg\ntarget disp\ntarget qsec\n", "").find("one for each decision value"),
            std::string::npos);
  EXPECT_NE(changed("ELASTIC_NET_REGRESSION", "ELASTIC_NET_POISSON").find("does not suit several targets"),
            std::string::npos);
}

}  // namespace targets_test
}  // namespace sheaf::test
