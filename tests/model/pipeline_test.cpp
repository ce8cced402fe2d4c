// The pipeline of a model: what each step does, that it learns from training rows alone, that models carry it along,
// and that datasets whose columns or levels stand otherwise give the same predictions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace pipeline_test {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

Context context_on(Device device) {
  return Context({.device = device, .threads = 2, .memory = std::int64_t{1} << 30, .seed = 5});
}

Dataset<double> dataset_of(const Rows& rows, const std::vector<std::int32_t>& classes = {}, bool sparse = false) {
  Dataset<double> dataset;
  const auto columns = static_cast<std::int64_t>(rows[0].size());
  if (sparse)
    dataset.x = sparse_of<double>(rows, columns);
  else
    dataset.x = dense_of<double>(rows, columns);
  dataset.source = "table";
  dataset.target.classes = classes;
  if (!classes.empty()) dataset.target.class_names = {"a", "b"};
  for (std::int64_t j = 0; j < columns; ++j) dataset.feature_names.push_back("f" + std::to_string(j));
  return dataset;
}

Rows rows_of(const Dataset<double>& dataset) {
  Rows rows;
  const auto dense =
      is_sparse(dataset.x) ? to_dense(std::get<SparseMatrix<double>>(dataset.x), 1) : DenseMatrix<double>();
  const auto& x = is_sparse(dataset.x) ? dense : std::get<DenseMatrix<double>>(dataset.x);
  for (std::int64_t i = 0; i < x.rows; ++i)
    rows.emplace_back(x.values.data() + i * x.columns, x.values.data() + (i + 1) * x.columns);
  return rows;
}

/// The dataset after the steps that were learnt on it.
Rows prepared(const Dataset<double>& dataset, const PipelineOptions& options) {
  const Context context;
  return rows_of(apply_pipeline(context, learn_pipeline(context, dataset, options), dataset));
}

void expect_rows(const Rows& found, const Rows& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << "row " << i;
    for (std::size_t j = 0; j < found[i].size(); ++j) EXPECT_NEAR(found[i][j], expected[i][j], 1e-12) << i << ' ' << j;
  }
}

TEST(Pipeline, FillsInWhatIsMissing) {
  const auto dataset = dataset_of({{1, missing}, {2, 5}, {6, 5}, {missing, 8}});
  const auto with = [&](Imputation imputation) { return prepared(dataset, {.impute = imputation, .fill = -1}); };
  expect_rows(with(Imputation::mean), {{1, 6}, {2, 5}, {6, 5}, {3, 8}});
  expect_rows(with(Imputation::median), {{1, 5}, {2, 5}, {6, 5}, {2, 8}});
  expect_rows(with(Imputation::most_frequent), {{1, 5}, {2, 5}, {6, 5}, {1, 8}});
  expect_rows(with(Imputation::constant), {{1, -1}, {2, 5}, {6, 5}, {-1, 8}});
  expect_rows(prepared(dataset, {.impute = Imputation::mean, .indicate_missing = true}),
              {{1, 6, 0, 1}, {2, 5, 0, 0}, {6, 5, 0, 0}, {3, 8, 1, 0}});
}

TEST(Pipeline, TransformsEachRowByItself) {
  const Rows rows{{1, 0, 3}, {0, 0, 0}, {4, 4, 1}};
  for (const bool sparse : {false, true}) {
    const auto dataset = dataset_of(rows, {}, sparse);
    const auto with = [&](RowTransform transform) { return prepared(dataset, {.transforms = {transform}}); };
    const double l2 = std::log(2.0);
    const double l4 = std::log(4.0);
    const double l5 = std::log(5.0);
    expect_rows(with(RowTransform::log1p), {{l2, 0, l4}, {0, 0, 0}, {l5, l5, l2}});
    expect_rows(with(RowTransform::sqrt), {{1, 0, std::sqrt(3.0)}, {0, 0, 0}, {2, 2, 1}});
    expect_rows(with(RowTransform::share), {{0.25, 0, 0.75}, {0, 0, 0}, {4.0 / 9, 4.0 / 9, 1.0 / 9}});
    const double a = (l2 + l4) / 3;
    const double b = (2 * l5 + l2) / 3;
    expect_rows(with(RowTransform::clr), {{l2 - a, -a, l4 - a}, {0, 0, 0}, {l5 - b, l5 - b, l2 - b}});
    const double r = std::sqrt(10.0);
    const double s = std::sqrt(33.0);
    expect_rows(with(RowTransform::norm), {{1 / r, 0, 3 / r}, {0, 0, 0}, {4 / s, 4 / s, 1 / s}});
    expect_rows(with(RowTransform::rank), {{2, 1, 3}, {2, 2, 2}, {2.5, 2.5, 1}});
  }
  try {
    prepared(dataset_of({{1, -2}}), {.transforms = {RowTransform::sqrt}});
    ADD_FAILURE() << "a root of -2 is taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 1 has -2 in feature 'f1'"), std::string::npos) << error.what();
  }
}

/// A transform of named features leaves the others as they are, and sums, lengths and ranks are over the named ones.
TEST(Pipeline, TransformsNamedFeatures) {
  const Rows rows{{1, 0, 3}, {0, 0, 0}, {4, 4, 1}};
  const double l2 = std::log(2.0), l4 = std::log(4.0), l5 = std::log(5.0);
  for (const bool sparse : {false, true}) {
    const auto dataset = dataset_of(rows, {}, sparse);
    const auto with = [&](RowTransform transform) {
      return prepared(dataset, {.transforms = {{transform, {"f2", "f0"}}}});
    };
    expect_rows(with(RowTransform::log1p), {{l2, 0, l4}, {0, 0, 0}, {l5, 4, l2}});
    expect_rows(with(RowTransform::sqrt), {{1, 0, std::sqrt(3.0)}, {0, 0, 0}, {2, 4, 1}});
    expect_rows(with(RowTransform::share), {{0.25, 0, 0.75}, {0, 0, 0}, {0.8, 4, 0.2}});
    const double a = (l2 + l4) / 2, b = (l5 + l2) / 2;
    expect_rows(with(RowTransform::clr), {{l2 - a, 0, l4 - a}, {0, 0, 0}, {l5 - b, 4, l2 - b}});
    const double r = std::sqrt(10.0), s = std::sqrt(17.0);
    expect_rows(with(RowTransform::norm), {{1 / r, 0, 3 / r}, {0, 0, 0}, {4 / s, 4, 1 / s}});
    expect_rows(with(RowTransform::rank), {{1, 0, 2}, {1.5, 0, 1.5}, {2, 4, 1}});
    const PipelineOptions several{.transforms = {{RowTransform::sqrt, {"f0"}}, {RowTransform::log1p, {"3"}}}};
    expect_rows(prepared(dataset, several), {{1, 0, l4}, {0, 0, 0}, {2, 4, l2}});
  }
  expect_rows(prepared(dataset_of({{1, -2}}), {.transforms = {{RowTransform::sqrt, {"f0"}}}}), {{1, -2}});
}

/// Named features are found behind steps that move them; indicators of their missing values and levels are not theirs.
TEST(Pipeline, NamedFeaturesAreFoundBehindOtherSteps) {
  auto dataset = dataset_of({{0, 3, missing}, {1, 0, 3}, {0, 8, 0}});
  dataset.levels = {{"red", "blue"}, {}, {}};
  const double l4 = std::log(4.0), l9 = std::log(9.0);
  PipelineOptions options{.impute = Imputation::constant,
                          .fill = 0,
                          .indicate_missing = true,
                          .transforms = {{RowTransform::log1p, {"f1", "f2"}}}};
  const Rows expected{{1, 0, l4, 0, 1}, {0, 1, 0, l4, 0}, {1, 0, l9, 0, 0}};
  expect_rows(prepared(dataset, options), expected);
  const Context context;
  LinearModel linear;
  linear.class_names = {"a", "b"};
  linear.features = 5;
  linear.weights = {1, 2, 3, 4, 5};
  linear.cost = 1;
  linear.fits.resize(1);
  Model kept{linear};
  kept.set_pipeline(learn_pipeline(context, dataset, options));
  const auto read = Model::parse(kept.text(), "kept");
  expect_rows(rows_of(apply_pipeline(context, read.pipeline(), dataset)), expected);
  using enum PipelineStage;
  options.order = {impute, encode, filter, transform, scale, select};
  options.min_variance = 1;  // leaves f1 and f2
  expect_rows(prepared(dataset, options), {{l4, 0}, {0, l4}, {l9, 0}});
  options.transforms = {{RowTransform::log1p, {"f2"}}};
  options.min_variance = 5;  // leaves f1 alone
  expect_rows(prepared(dataset, options), {{3}, {0}, {8}});
}

TEST(Pipeline, TransformsOfFeaturesThatAreNotThereAreRefused) {
  const auto refuses = [](const Dataset<double>& dataset, const TransformOption& option, const std::string& part) {
    try {
      prepared(dataset, {.transforms = {option}});
      ADD_FAILURE() << "taken: " << part;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  auto dataset = dataset_of({{1, 0}, {2, 1}});
  refuses(dataset, {RowTransform::sqrt, {"f0", "weight"}}, "transform sqrt: there is no feature 'weight'");
  refuses(dataset, {RowTransform::sqrt, {"f0", "f0"}}, "named twice");
  refuses(dataset, {RowTransform::sqrt, {"f0", "log1p"}}, "write log1p:");
  dataset.levels = {{}, {"red", "blue"}};
  refuses(dataset, {RowTransform::log1p, {"f1"}}, "'f1' holds levels (red, blue)");
}

/// Transforms written as text are read back unchanged.
TEST(Pipeline, TransformsAreReadAsTheyAreWritten) {
  const auto& rows = parameters<PipelineOptions>();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& one) { return one.name == "transform"; });
  const auto read = [&](const std::vector<std::string>& texts) {
    PipelineOptions options;
    for (const auto& text : texts) row->set(options, text);
    return options;
  };
  using enum RowTransform;
  const std::vector<std::pair<std::vector<std::string>, std::vector<TransformOption>>> cases{
      {{"log1p,norm"}, {log1p, norm}},
      {{"log1p:a,b"}, {{log1p, {"a", "b"}}}},
      {{"log1p:a,b", "sqrt:c"}, {{log1p, {"a", "b"}}, {sqrt, {"c"}}}},
      {{"norm,log1p:a,rank:b,share"}, {norm, {log1p, {"a"}}, {rank, {"b", "share"}}}},
      {{"log1p:a:b,c"}, {{log1p, {"a:b", "c"}}}},
      {{"log1p:a", "share"}, {{log1p, {"a"}}, share}},
  };
  for (const auto& [texts, expected] : cases) {
    const auto options = read(texts);
    EXPECT_EQ(options.transforms, expected) << texts.front();
    EXPECT_EQ(read({row->get(options)}).transforms, expected) << row->get(options);
  }
  EXPECT_THROW(read({"lg:a"}), UsageError);
}

Dataset<double> with_levels(const Rows& rows, std::vector<std::string> levels) {
  auto dataset = dataset_of(rows);
  dataset.levels = {{}, std::move(levels)};
  return dataset;
}

TEST(Pipeline, EncodesLevelsAndPoolsRareOnes) {
  const auto dataset = with_levels({{7, 0}, {8, 2}, {9, 0}, {5, 1}}, {"red", "green", "blue"});
  expect_rows(prepared(dataset, {}), {{7, 1, 0, 0}, {8, 0, 0, 1}, {9, 1, 0, 0}, {5, 0, 1, 0}});
  expect_rows(prepared(dataset, {.min_level_rows = 2}), {{7, 1, 0}, {8, 0, 1}, {9, 1, 0}, {5, 0, 1}});
  const Context context;
  const auto named = apply_pipeline(context, learn_pipeline(context, dataset, {.min_level_rows = 2}), dataset);
  EXPECT_EQ(named.feature_names, (std::vector<std::string>{"f0", "f1=red", "f1=other"}));
}

TEST(Pipeline, LeavesOutRareAndConstantFeatures) {
  const auto dataset = dataset_of({{1, 0, 2}, {1, 0, 3}, {1, 5, 0}, {1, 0, 1}});
  expect_rows(prepared(dataset, {.min_prevalence = 0.5}), {{1, 2}, {1, 3}, {1, 0}, {1, 1}});
  expect_rows(prepared(dataset, {.min_variance = 1e-9}), {{0, 2}, {0, 3}, {5, 0}, {0, 1}});
  EXPECT_THROW(prepared(dataset, {.min_variance = 1e9}), Error);
}

TEST(Pipeline, StepsComeInTheOrderAsked) {
  using enum PipelineStage;
  const auto dataset = dataset_of({{1, 3}, {3, 1}});
  PipelineOptions options{.transforms = {RowTransform::share}, .scale = ScaleMethod::max_abs};
  expect_rows(prepared(dataset, options), {{1.0 / 3, 1}, {1, 1.0 / 3}});
  options.order = {impute, encode, filter, scale, transform, select};
  expect_rows(prepared(dataset, options), {{0.25, 0.75}, {0.75, 0.25}});
}

/// Rows whose class follows the first features; some values are missing, and scales differ widely.
Dataset<double> table_with_truth(std::int64_t count, std::int64_t columns, std::uint64_t seed, bool gaps) {
  Random random(seed);
  Rows rows;
  std::vector<std::int32_t> classes;
  for (std::int64_t i = 0; i < count; ++i) {
    auto& row = rows.emplace_back();
    for (std::int64_t j = 0; j < columns; ++j) row.push_back(random.normal());
    classes.push_back(row[0] + row[1] + 0.5 * random.normal() > 0 ? 0 : 1);
    for (std::int64_t j = 0; j < columns; ++j) {
      row[static_cast<std::size_t>(j)] *= std::pow(10.0, static_cast<double>(j % 4));
      if (gaps && random.uniform() < 0.1) row[static_cast<std::size_t>(j)] = missing;
    }
  }
  return dataset_of(rows, classes);
}

std::vector<std::int32_t> others(std::int64_t rows, const std::vector<std::int32_t>& tests) {
  std::vector<std::int32_t> result;
  for (std::int32_t i = 0; i < rows; ++i)
    if (!std::binary_search(tests.begin(), tests.end(), i)) result.push_back(i);
  return result;
}

/// The share of a split's test rows that a model of its training rows gets right, the held-out rows really being gone.
double accuracy_alone(const Context& context, const Dataset<double>& dataset, const std::vector<std::int32_t>& tests,
                      const ModelOptions& options, const PipelineOptions& pipeline) {
  const auto train = take_rows(dataset, others(dataset.rows(), tests), 1);
  const auto test = take_rows(dataset, tests, 1);
  const auto model = fit(context, train, options, {}, pipeline);
  return model.score(model.predict(context, test), test.target)->accuracy();
}

TEST(PipelineSearch, LearnsOnTheTrainingRowsOfEachSplitAlone) {
  const auto dataset = table_with_truth(90, 12, 3, true);
  const PipelineOptions pipeline{
      .impute = Imputation::median, .scale = ScaleMethod::standard, .select = "jmi", .counts = {4}};
  std::vector<std::int32_t> folds;
  for (std::int32_t i = 0; i < 90; ++i) folds.push_back(i % 3);
  SearchSpace linear(LinearOptions{});
  linear.get<LinearOptions>().tolerance = 1e-6;
  linear["cost"] = {0.01, 1};
  SearchSpace svm(SvmOptions{});
  svm["cost"] = {1, 10};
  svm["gamma"] = {0.01, 0.1, 1};
  svm.get<SvmOptions>().tolerance = 1e-6;
  SearchSpace net(NetOptions{});
  net["alpha"] = {0.2, 0.02};
  net["l1-ratio"] = {0.5};
  net.get<NetOptions>().loss = Loss::logistic;
  net.get<NetOptions>().tolerance = 1e-7;
  for (const auto device : devices())
    for (const SearchSpace& family : {SearchSpace(linear), SearchSpace(svm), SearchSpace(net)}) {
      const auto context = context_on(device);
      SearchOptions options;
      options.splits = custom_splits(folds);
      options.pipeline = pipeline;
      options.score = Metric::accuracy;
      const auto result = search(context, dataset, family, options);
      for (std::size_t p = 0; p < result.level.points.size(); ++p)
        for (std::int32_t s = 0; s < 3; ++s) {
          ModelOptions one = linear.get<LinearOptions>();
          const auto& point = result.point(result.level, p);
          if (family.options.get_if<LinearOptions>() != nullptr) {
            auto with = linear.get<LinearOptions>();
            with.cost = result.value(point, "cost");
            one = with;
          } else if (family.options.get_if<SvmOptions>() != nullptr) {
            auto with = svm.get<SvmOptions>();
            with.cost = result.value(point, "cost");
            with.gamma = result.value(point, "gamma");
            one = with;
          } else {
            auto with = net.get<NetOptions>();
            with.alpha = result.value(point, "alpha");
            with.l1_ratio = 0.5;
            one = with;
          }
          const double found = result.level.models[p * 3 + static_cast<std::size_t>(s)].score(Metric::accuracy);
          EXPECT_DOUBLE_EQ(found, accuracy_alone(context, dataset, options.splits->test_rows(s), one, pipeline))
              << result.title << ' ' << result.point_text(point) << " split " << s;
        }
      ASSERT_TRUE(result.model);
      EXPECT_EQ(result.model->features(), 4);
      EXPECT_EQ(result.model->pipeline().features, 12);
    }
}

/// The log loss of a split's test rows, the held-out rows really being gone.
double loss_alone(const Context& context, const Dataset<double>& dataset, const std::vector<std::int32_t>& tests,
                  const ModelOptions& options, const PipelineOptions& pipeline) {
  const auto test = take_rows(dataset, tests, 1);
  const auto model = fit(context, take_rows(dataset, others(dataset.rows(), tests), 1), options, {}, pipeline);
  return log_loss(model.predict(context, test).decisions, 1, test.target.classes);
}

/// Rows without gaps, some features mostly 0, one constant but in the last fold, one constant throughout.
Dataset<double> table_to_scale(bool sparse) {
  const auto dense = table_with_truth(90, 12, 3, false);
  auto rows = rows_of(dense);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::size_t j : {4U, 5U, 6U})
      if (i % (j + 3) != 0) rows[i][j] = 0;
    rows[i][7] = i % 3 == 2 ? rows[i][7] : 5;
    rows[i][8] = 3;
    rows[i][9] += 500;  // far from 0, beside a standard deviation of 10
  }
  return dataset_of(rows, dense.target.classes, sparse);
}

/// The first three of 30 features decide, whatever their units are.
Dataset<double> three_of_thirty(bool regression, bool sparse) {
  auto rows = random_rows(200, 30, sparse ? 0.6 : 1.0, 6);
  Random random(8);
  std::vector<std::int32_t> classes;
  std::vector<double> values;
  for (auto& row : rows) {
    const double value = row[0] + row[1] - row[2] + random.normal();
    values.push_back(value);
    classes.push_back(value > 0 ? 1 : 0);
    row[1] *= 1000;
    row[2] /= 1000;
    row[9] *= 1000;
  }
  auto dataset = dataset_of(rows, regression ? std::vector<std::int32_t>() : classes, sparse);
  if (regression) dataset.target.values = values;
  return dataset;
}

/// The options of the model that a point of a search over costs or alphas stands for.
ModelOptions options_at(const SearchSpace& family, const SearchResult& result, const Point& point) {
  if (const auto* linear = family.options.get_if<LinearOptions>()) {
    auto options = *linear;
    options.cost = result.value(point, "cost");
    return options;
  }
  auto options = family.get<NetOptions>();
  options.alpha = result.value(point, "alpha");
  options.l1_ratio = result.value(point, "l1-ratio");
  return options;
}

/// The same with the number of features that a point has, if several are searched over.
PipelineOptions pipeline_at(const SearchResult& result, const Point& point) {
  auto pipeline = result.options.pipeline;
  if (pipeline.counts.size() > 1) pipeline.counts = {static_cast<std::int64_t>(result.value(point, "features"))};
  return pipeline;
}

/// Linear models with a bias and without, and nets, all trained closely.
std::vector<SearchSpace> close_families() {
  SearchSpace linear(LinearOptions{});
  linear.get<LinearOptions>().tolerance = 1e-9;
  linear["cost"] = {0.01, 1};
  auto without_bias = linear;
  without_bias.get<LinearOptions>().bias = 0;
  SearchSpace net(NetOptions{});
  net["alpha"] = {0.2, 0.02};
  net["l1-ratio"] = {0.5};
  net.get<NetOptions>().loss = Loss::logistic;
  net.get<NetOptions>().tolerance = 1e-12;
  return {linear, without_bias, net};
}

/// Every score of a search over three folds beside that of a model which is trained on a copy of the training rows.
void expect_scores_of_copies(const Context& context, const Dataset<double>& dataset, const SearchSpace& family,
                             const PipelineOptions& pipeline) {
  std::vector<std::int32_t> folds;
  for (std::int32_t i = 0; i < dataset.rows(); ++i) folds.push_back(i % 3);
  SearchOptions options;
  options.splits = custom_splits(folds);
  options.pipeline = pipeline;
  options.score = Metric::log_loss;
  const auto result = search(context, dataset, family, options);
  const auto where = [&](const auto& point) {
    return fmt::format("{} {}, sparse {}, {}, {}", result.title, result.point_text(point), is_sparse(dataset.x),
                       pipeline.scale ? to_string(*pipeline.scale) : "not scaled", pipeline.select);
  };
  for (std::size_t p = 0; p < result.level.points.size(); ++p)
    for (std::int32_t s = 0; s < 3; ++s) {
      const auto& point = result.point(result.level, p);
      const double found = result.level.models[p * 3 + static_cast<std::size_t>(s)].score(Metric::log_loss);
      const double alone = loss_alone(context, dataset, options.splits->test_rows(s), options_at(family, result, point),
                                      pipeline_at(result, point));
      EXPECT_NEAR(found, alone, 2e-6 * (1 + alone)) << where(point) << " split " << s;
    }
  const auto& chosen = result.point(result.level, result.level.chosen.chosen);
  const auto copied = fit(context, dataset, options_at(family, result, chosen), {}, pipeline_at(result, chosen));
  ASSERT_TRUE(result.model);
  EXPECT_EQ(result.model->features(), copied.features());
  EXPECT_EQ(result.model->pipeline().steps.size(), copied.pipeline().steps.size());
  const auto found = result.model->predict(context, dataset).decisions;
  const auto wanted = copied.predict(context, dataset).decisions;
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << where(chosen) << " row " << i;
}

/// Linear models and nets see the features of each split through shifts and factors over one dataset.
TEST(PipelineSearch, ScalesWithinEachSplitWithoutACopy) {
  const std::vector<PipelineOptions> pipelines{
      {.scale = ScaleMethod::standard},
      {.scale = ScaleMethod::max_abs},
      {.min_prevalence = 0.2, .scale = ScaleMethod::unit_interval},
      {.transforms = {RowTransform::norm}, .min_variance = 1e-12, .scale = ScaleMethod::symmetric_interval},
      {.min_prevalence = 0.2}};
  for (const auto device : devices())
    for (const bool sparse : {false, true})
      for (const auto& pipeline : pipelines)
        for (const auto& family : close_families())
          expect_scores_of_copies(context_on(device), table_to_scale(sparse), family, pipeline);
}

/// All splits select as one request, and their models and those of all counts see the features that any of them
/// selected.
TEST(PipelineSearch, SelectsWithinEachSplitWithoutACopy) {
  const std::vector<PipelineOptions> pipelines{
      {.select = "jmi", .counts = {3}},
      {.scale = ScaleMethod::standard, .select = "jmi", .counts = {2, 5, 12}},
      {.min_prevalence = 0.2, .scale = ScaleMethod::max_abs, .select = "mrmr", .counts = {1, 4}},
      {.transforms = {RowTransform::norm}, .min_variance = 1e-12, .select = "fcbf", .counts = {6}},
      {.min_prevalence = 0.2, .scale = ScaleMethod::standard, .select = "lasso", .counts = {2, 4}},
      {.select = "relieff", .counts = {3}}};
  for (const auto device : devices())
    for (const bool sparse : {false, true})
      for (const auto& pipeline : pipelines)
        for (const auto& family : close_families())
          expect_scores_of_copies(context_on(device), table_to_scale(sparse), family, pipeline);
}

/// Models that an outer fold keeps name the features of the dataset, whichever columns they were trained on.
TEST(PipelineSearch, SelectedFeaturesKeepTheirPlaces) {
  std::vector<std::int64_t> reversed(30);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const auto dataset = take_features(three_of_thirty(false, false), reversed, 1);
  SearchSpace net(NetOptions{});
  net["alpha"] = {0.02};
  net["l1-ratio"] = {0.5};
  net.get<NetOptions>().loss = Loss::logistic;
  SearchOptions options;
  options.outer = 3;
  options.pipeline = {.scale = ScaleMethod::standard, .select = "lasso", .counts = {3}};
  const auto result = search(context_on(Device::cpu()), dataset, net, options);
  ASSERT_EQ(result.outer.size(), 3U);
  for (const auto& fold : result.outer)
    EXPECT_EQ(fold.scores.weights.at(0).features, (std::vector<std::int32_t>{27, 28, 29}));
}

TEST(PipelineSearch, FindsTheNumberOfFeatures) {
  const auto dataset = table_with_truth(120, 40, 9, false);
  SearchSpace linear(LinearOptions{});
  linear["cost"] = {0.1, 1};
  SearchOptions options;
  options.pipeline = {.scale = ScaleMethod::standard, .select = "jmi", .counts = {2, 10, 40}};
  const auto result = search(Context(), dataset, linear, options);
  EXPECT_EQ(result.points.size(), 6U);
  EXPECT_EQ(result.axes.front().name, "features");
  ASSERT_TRUE(result.model);
  EXPECT_EQ(static_cast<double>(result.model->features()), result.value(result.chosen(), "features"));
}

/// Selection outside the folds finds features that suit the noise of the test rows too; inside, nothing is to be found.
TEST(PipelineSearch, FindsNothingInShuffledLabels) {
  Random random(1);
  Rows rows;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 60; ++i) {
    auto& row = rows.emplace_back();
    for (int j = 0; j < 2000; ++j) row.push_back(random.normal());
    classes.push_back(i % 2);
  }
  const auto dataset = dataset_of(rows, classes);
  SearchSpace linear(LinearOptions{});
  linear["cost"] = {0.1};
  SearchOptions options;
  options.folds = 10;
  options.score = Metric::auc;
  options.pipeline = {.scale = ScaleMethod::standard, .select = "relieff", .counts = {10}};
  const auto inside = search(Context(), dataset, linear, options);
  const auto inside_auc = inside.summary(0, Metric::auc).mean;
  const auto selected = apply_pipeline(Context(), learn_pipeline(Context(), dataset, options.pipeline), dataset);
  options.pipeline = {};
  const auto outside = search(Context(), selected, linear, options);
  EXPECT_GT(outside.summary(0, Metric::auc).mean, 0.85);
  EXPECT_LT(std::abs(inside_auc - 0.5), 0.2);  // 30 + 30 rows at chance: standard error 0.075
}

TEST(PipelineModel, IsReadBackWithItsSteps) {
  auto dataset = table_with_truth(60, 6, 4, true);
  dataset.levels = std::vector<std::vector<std::string>>(6);
  dataset.levels[5] = {"low", "high \\ very", "x"};
  for (std::int64_t i = 0; i < 60; ++i)
    std::get<DenseMatrix<double>>(dataset.change_x()).values[i * 6 + 5] = double(i % 3);
  NetOptions net;
  net.alpha = 0.05;
  const PipelineOptions pipeline{.impute = Imputation::mean,
                                 .indicate_missing = true,
                                 .transforms = {RowTransform::norm},
                                 .min_variance = 1e-12,
                                 .scale = ScaleMethod::standard,
                                 .select = "mrmr",
                                 .counts = {5}};
  for (const ModelOptions& options : {ModelOptions(LinearOptions{}), ModelOptions(SvmOptions{}), ModelOptions(net)}) {
    const auto model = fit(Context(), dataset, options, {}, pipeline);
    const auto text = model.text();
    const auto again = Model::parse(text, "m");
    EXPECT_EQ(again.text(), text);
    const auto before = model.predict(Context(), dataset);
    const auto after = again.predict(Context(), dataset);
    ASSERT_EQ(before.decisions.size(), after.decisions.size());
    for (std::size_t k = 0; k < before.decisions.size(); ++k)
      EXPECT_NEAR(before.decisions[k], after.decisions[k], 1e-9 * (1 + std::abs(before.decisions[k])));
    EXPECT_THROW(model.text(model.get_if<SvmModel>() != nullptr ? ModelFile::libsvm : ModelFile::liblinear),
                 UsageError);
    for (std::size_t size = 0; size < text.find("\nclasses"); size += 13)
      EXPECT_THROW(Model::parse(text.substr(0, size), "m"), ParseError) << size;
  }
}

TEST(PipelineModel, FindsColumnsByNameInAnyOrder) {
  const auto dataset = table_with_truth(80, 6, 8, false);
  const auto model = fit(Context(), dataset, LinearOptions{}, {}, {.scale = ScaleMethod::standard});
  const auto expected = model.predict(Context(), dataset);
  std::vector<std::int64_t> order{3, 0, 5, 1, 4, 2, 2};
  auto shuffled = take_features(dataset, order, 1);
  shuffled.feature_names.back() = "extra";
  const auto found = model.predict(Context(), shuffled);
  EXPECT_EQ(found.decisions, expected.decisions);
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_NE(found.warnings[0].find("1 column is not in the model"), std::string::npos) << found.warnings[0];
  order = {3, 0, 5};
  const auto narrow = take_features(dataset, order, 1);
  try {
    model.predict(Context(), narrow);
    ADD_FAILURE() << "a table without some features is taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("3 features of the model are missing: f1, f2, f4"), std::string::npos)
        << error.what();
  }
  auto capital = dataset.borrowed();
  capital.feature_names[0] = "F0";
  try {
    model.predict(Context(), capital);
    ADD_FAILURE() << "a name in other letters is taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'f0' is there as 'F0'"), std::string::npos) << error.what();
  }
}

TEST(PipelineModel, FindsColumnsByNameWithoutAnyStepToo) {
  const auto dataset = table_with_truth(80, 6, 8, false);
  const std::vector<std::int64_t> order{3, 0, 5, 1, 4, 2};
  const auto shuffled = take_features(dataset, order, 1);
  for (const ModelOptions& options :
       {ModelOptions(LinearOptions{}), ModelOptions(SvmOptions{}), ModelOptions(KnnOptions{})}) {
    const auto model = fit(Context(), dataset, options);
    EXPECT_EQ(model.predict(Context(), shuffled).decisions, model.predict(Context(), dataset).decisions);
  }
}

/// Features that were not selected need not be there.
TEST(PipelineModel, NeedsOnlyTheFeaturesThatItUses) {
  const auto dataset = table_with_truth(80, 8, 8, false);
  const auto model =
      fit(Context(), dataset, LinearOptions{}, {}, {.scale = ScaleMethod::standard, .select = "jmi", .counts = {2}});
  const auto expected = model.predict(Context(), dataset);
  std::vector<std::int64_t> used;
  const auto coefficients = model.coefficients();
  for (const auto& name : coefficients->feature_names)
    used.push_back(std::find(dataset.feature_names.begin(), dataset.feature_names.end(), name) -
                   dataset.feature_names.begin());
  ASSERT_EQ(used.size(), 2U);
  EXPECT_EQ(model.predict(Context(), take_features(dataset, used, 1)).decisions, expected.decisions);
}

TEST(PipelineModel, KnowsLevelsByName) {
  const std::string rows = "@data\n1,red,a\n2,green,b\n1,blue,a\n3,green,b\n1,red,a\n2,green,b\n2,blue,a\n1,green,b\n";
  ReadOptions reading;
  reading.format = "arff";
  const auto arff = [&](const std::string& levels) {
    const auto header =
        "@relation t\n@attribute size numeric\n@attribute colour {" + levels + "}\n@attribute class {a,b}\n";
    return parse_dataset<double>(Context(), header + rows, "t.arff", reading);
  };
  const auto dataset = arff("red,green,blue");
  const auto model = fit(Context(), dataset, LinearOptions{});
  const auto expected = model.predict(Context(), dataset);
  EXPECT_EQ(model.score(expected, dataset.target)->accuracy(), 1.0);
  EXPECT_EQ(model.predict(Context(), arff("blue,red,green")).decisions, expected.decisions);
  const auto wider = model.predict(Context(), arff("blue,red,green,violet"));
  EXPECT_EQ(wider.decisions, expected.decisions);
  ASSERT_EQ(wider.warnings.size(), 1U);
  EXPECT_NE(wider.warnings[0].find("violet"), std::string::npos);
}

TEST(PipelineModel, FillsInFromTrainingWhenOneRowIsPredicted) {
  const auto dataset = table_with_truth(80, 4, 2, true);
  const auto model =
      fit(Context(), dataset, LinearOptions{}, {}, {.impute = Imputation::mean, .scale = ScaleMethod::standard});
  const auto all = model.predict(Context(), dataset);
  for (std::int32_t i = 0; i < 80; ++i) {
    const auto one = model.predict(Context(), take_rows(dataset, std::vector{i}, 1));
    EXPECT_EQ(one.decisions[0], all.decisions[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(Pipeline, ModelsSelectTheFeaturesThatDecideWhateverTheirUnits) {
  for (const auto device : devices())
    for (const char* model : {"linear", "elastic-net", "lasso"})
      for (const bool regression : {false, true})
        for (const bool sparse : {false, true}) {
          PipelineOptions options;
          options.select = model;
          options.counts = {3};
          const auto pipeline = learn_pipeline(context_on(device), three_of_thirty(regression, sparse), options);
          auto taken = std::get<TakeStep>(pipeline.steps.back()).features;
          std::sort(taken.begin(), taken.end());
          EXPECT_EQ(taken, (std::vector<std::int64_t>{0, 1, 2})) << model << regression << sparse;
        }
}

/// Features without a weight at one alpha and with one at the next, by nets that are trained one by one.
TEST(Pipeline, ALassoSelectsInTheOrderOfItsPath) {
  const Context context;
  const auto dataset = three_of_thirty(true, false);
  PipelineOptions options;
  options.select = "lasso";
  options.counts = {12};
  const auto taken = std::get<TakeStep>(learn_pipeline(context, dataset, options).steps.back()).features;
  ASSERT_EQ(taken.size(), 12U);
  NetOptions net;
  net.l1_ratio = 1;
  net.standardise = true;
  net.tolerance = 1e-8;
  const auto entry = [&](std::int64_t feature) {  // the largest alpha at which the feature has a weight
    double low = 1e-3, high = 100;
    for (int k = 0; k < 40; ++k) {
      net.alpha = std::sqrt(low * high);
      (train_net(context, dataset, net).weight(feature, 0) != 0 ? low : high) = *net.alpha;
    }
    return low;
  };
  for (std::size_t k = 1; k < taken.size(); ++k)
    EXPECT_GE(entry(taken[k - 1]) * 1.08, entry(taken[k])) << "steps of the path are a factor of 1.07";
}

TEST(Pipeline, SelectingByNoiseInsideTheFoldsIsNoBetterThanChance) {
  const auto rows = random_rows(60, 500, 1.0, 3);
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 60; ++i) classes.push_back(i % 2);
  const auto dataset = dataset_of(rows, classes);
  for (const char* model : {"linear", "lasso"}) {
    SearchSpace family(LinearOptions{});
    family["cost"] = {1};
    SearchOptions options;
    options.score = Metric::auc;
    options.pipeline.select = model;
    options.pipeline.counts = {10};
    const auto result = search(context_on(Device::cpu()), dataset, family, options);
    EXPECT_NEAR(result.summary(0, Metric::auc).mean, 0.5, 0.2) << model;
  }
}

}  // namespace pipeline_test
}  // namespace sheaf::test
