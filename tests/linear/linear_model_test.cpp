// Linear models as a library: the optimum by plain loops, class order, prediction.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>

#include "core/fail.hpp"
#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace linear_model_test {

PlainModel plain(const LinearModel& model) {
  PlainModel result{model.solver,
                    {},
                    static_cast<std::size_t>(model.features),
                    static_cast<std::size_t>(model.columns),
                    model.bias > 0 ? model.bias : -1,
                    model.weights};
  for (const auto& name : model.class_names) result.labels.push_back(std::stod(name));
  return result;
}

TEST(LinearModel, IsTheOptimumOfItsObjective) {
  for (const Device device : devices())
    for (const auto& [loss, classes] : kinds)
      for (const int bias : {0, 1, 2}) {
        SCOPED_TRACE(
            fmt::format("{} loss {} classes {} bias {}", to_string(device), static_cast<int>(loss), classes, bias));
        const auto table = make_table(160, 12, classes, 5);
        LinearOptions options;
        options.loss = loss;
        options.cost = 2;
        options.tolerance = 1e-9;
        options.bias = bias > 0 ? 1.5 : 0;
        options.penalise_bias = bias != 2;
        options.epsilon = 0.1;
        Costs costs{2, *options.epsilon, {}, bias != 2, {}};
        if (classes > 0) {
          options.class_weights = {{"1", 3}};
          costs.class_weights = {{1, 3}};
        }
        std::vector<float> weights;
        for (std::size_t i = 0; i < 160; ++i) weights.push_back(i % 5 == 0 ? 0.0F : i % 5 == 1 ? 2.5F : 1.0F);
        costs.row_weights.assign(weights.begin(), weights.end());
        const auto model = train_linear(on(device), dataset_of<double>(table, 12, bias == 1), options, weights);
        ASSERT_EQ(model.columns, classes > 2 ? classes : 1);
        ASSERT_EQ(model.fits.size(), static_cast<std::size_t>(model.columns));
        for (std::size_t c = 0; c < static_cast<std::size_t>(model.columns); ++c) {
          const auto truth = measure(table, plain(model), costs, c);
          EXPECT_TRUE(model.fits[c].converged);
          EXPECT_NEAR(model.fits[c].objective, truth.objective, 1e-9 * truth.objective);
          EXPECT_LE(truth.gradient, 1.01 * model.fits[c].tolerance + 1e-8);
        }
      }
}

TEST(LinearModel, SinglePrecisionComesCloseToTheOptimum) {
  for (const Device device : devices()) {
    const auto table = make_table(160, 12, 2, 6);
    LinearOptions options;
    options.tolerance = 1e-8;
    const auto exact = train_linear(on(device), dataset_of<double>(table, 12), options);
    options.tolerance = 1e-6;
    const auto model = train_linear(on(device), dataset_of<float>(table, 12), options);
    Costs costs;
    costs.penalise_bias = false;
    EXPECT_NEAR(measure(table, plain(model), costs, 0).objective, measure(table, plain(exact), costs, 0).objective,
                1e-5 * exact.fits[0].objective);
  }
}

TEST(LinearModel, ClassesStandInLiblinearsOrder) {
  const auto order = [](const std::vector<double>& labels) {
    PlainTable table{labels, {}};
    for (std::size_t i = 0; i < labels.size(); ++i) table.rows.push_back({{0, static_cast<double>(i)}});
    LinearOptions logistic;
    logistic.loss = Loss::logistic;
    return train_linear(on(Device::cpu()), dataset_of<double>(table, 1), logistic).class_names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(order({-1, 1, -1}), (Names{"1", "-1"})) << "the one exception";
  EXPECT_EQ(order({1, -1}), (Names{"1", "-1"}));
  EXPECT_EQ(order({-2, 1}), (Names{"-2", "1"}));
  EXPECT_EQ(order({0, 1, 0}), (Names{"0", "1"}));
  EXPECT_EQ(order({-1, 1, 0}), (Names{"-1", "1", "0"}));
  EXPECT_EQ(order({7, 3, 5, 3}), (Names{"7", "3", "5"}));
  EXPECT_EQ(order({4, 4}), (Names{"4"}));
}

TEST(LinearModel, NamesOfClassesAreKeptAsSpelled) {
  auto dataset = dataset_of<double>(make_table(20, 3, 2, 1), 3);
  dataset.target.values.clear();
  dataset.target.class_names = {"-1", "+1.0"};
  EXPECT_EQ(train_linear(on(Device::cpu()), dataset, {}).class_names, (std::vector<std::string>{"+1.0", "-1"}));
  dataset.target.class_names = {"well", "ill"};
  EXPECT_EQ(train_linear(on(Device::cpu()), dataset, {}).class_names, (std::vector<std::string>{"well", "ill"}));
}

TEST(LinearModel, BalancedWeightsMakeClassesCountAlike) {
  const auto table = make_table(120, 6, 2, 9);
  double positive = 0;
  for (const double label : table.labels) positive += label > 0 ? 1 : 0;
  LinearOptions options;
  options.balanced = true;
  const auto model = train_linear(on(Device::cpu()), dataset_of<double>(table, 6), options);
  EXPECT_EQ(model.class_weights, (std::vector<double>{120 / (2 * positive), 120 / (2 * (120 - positive))}));
}

TEST(LinearModel, WhatDoesNotConvergeIsNamed) {
  const auto table = make_table(100, 8, 3, 2);
  LinearOptions options;
  options.cost = 64;
  options.tolerance = 1e-9;
  options.max_iterations = 1;
  const auto model = train_linear(on(Device::cpu()), dataset_of<double>(table, 8), options);
  const auto warnings = warnings_of(model);
  ASSERT_EQ(warnings.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NE(warnings[c].find("class " + model.class_names[c]), std::string::npos) << warnings[c];
    EXPECT_NE(warnings[c].find("C = 64"), std::string::npos) << warnings[c];
  }
  options.max_iterations = 1000;
  EXPECT_TRUE(warnings_of(train_linear(on(Device::cpu()), dataset_of<double>(table, 8), options)).empty());
}

TEST(LinearModel, LabelsMustSuitTheLoss) {
  auto dataset = dataset_of<double>(make_table(20, 3, 2, 1), 3);
  LinearOptions svr;
  svr.loss = Loss::squared_tube;
  dataset.target.values.clear();
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, svr), Error);
  dataset.target.classes.clear();
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, {}), Error);
  dataset.target.values.assign(20, 1.5);
  LinearOptions logistic;
  logistic.loss = Loss::logistic;
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, logistic), Error) << "a numeric target has no classes";
  EXPECT_NO_THROW(train_linear(on(Device::cpu()), dataset, svr));
  svr.balanced = true;
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, svr), UsageError);
}

/// Least squares with a ridge: min w'w / 2 + C sum (y - x w - b)^2 has (X'X + R / 2C) w = X'y, with R = 1 but for the
/// bias.
TEST(LinearModel, ANumericTargetMeansLeastSquares) {
  Dataset<double> dataset;
  const Rows rows{{1}, {2}, {4}};
  dataset.x = dense_of<double>(rows, 1);
  dataset.target.values = {1.5, 2.25, 5.125};
  LinearOptions options;
  options.tolerance = 1e-12;
  const auto model = train_linear(on(Device::cpu()), dataset, options);
  ASSERT_TRUE(model.is_regression());
  // X with a column of ones: X'X + R / 2 = [[21.5, 7], [7, 3]], X'y = [26.5, 8.875].
  const double determinant = 21.5 * 3 - 49;
  EXPECT_NEAR(model.weight(0, 0), (26.5 * 3 - 7 * 8.875) / determinant, 1e-6);
  EXPECT_NEAR(model.weight(1, 0), (21.5 * 8.875 - 7 * 26.5) / determinant, 1e-6);
  EXPECT_FALSE(train_linear(on(Device::cpu()), dataset_of<double>(make_table(20, 3, 2, 1), 3), {}).is_regression());
}

TEST(LinearModel, UnknownClassesAndRowWeightsThatDoNotSuitAreErrors) {
  const auto dataset = dataset_of<double>(make_table(20, 3, 2, 1), 3);
  LinearOptions options;
  options.class_weights = {{"2", 1}};
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, options), UsageError);
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, {}, std::vector<float>(19, 1.0F)), Error);
  EXPECT_THROW(train_linear(on(Device::cpu()), dataset, {}, std::vector<float>(20, -1.0F)), Error);
}

LinearModel hand_model(std::vector<std::string> classes, std::int32_t columns) {
  LinearModel model;
  model.class_names = std::move(classes);
  model.features = 3;
  model.columns = columns;
  model.bias = 2;
  for (int k = 0; k < 4 * columns; ++k) model.weights.push_back(std::sin(1.7 * k));
  return model;
}

TEST(Prediction, IsTheSumOfWeightedFeatures) {
  const Rows rows{{1, 0, 2}, {0, -1, 0}, {0.5, 4, -3}};
  for (const Device device : devices())
    for (const bool sparse : {false, true}) {
      const auto model = hand_model({"a", "b", "c"}, 3);
      Dataset<double> dataset;
      if (sparse)
        dataset.x = sparse_of<double>(rows, 3);
      else
        dataset.x = dense_of<double>(rows, 3);
      const auto predictions = predict_linear(on(device), model, dataset, true);
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<double> z(3);
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          z[c] = 2 * model.weights[9 + c];
          for (std::size_t j = 0; j < 3; ++j) z[c] += rows[i][j] * model.weights[3 * j + c];
          EXPECT_NEAR(predictions.decisions[3 * i + c], z[c], 1e-14);
          sum += 1 / (1 + std::exp(-z[c]));
        }
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(predictions.probabilities[3 * i + c], 1 / (1 + std::exp(-z[c])) / sum, 1e-14);
        EXPECT_EQ(predictions.classes[i], std::max_element(z.begin(), z.end()) - z.begin());
      }
    }
}

TEST(Prediction, OfTwoClassesGoesByTheSign) {
  auto model = hand_model({"a", "b"}, 1);
  model.bias = 0;
  model.weights = {1, 0, 0};
  Dataset<double> dataset;
  dataset.x = dense_of<double>({{3, 0, 0}, {-3, 0, 0}, {0, 1, 0}}, 3);
  const auto predictions = predict_linear(on(Device::cpu()), model, dataset, true);
  EXPECT_EQ(predictions.classes, (std::vector<std::int32_t>{0, 1, 1})) << "a decision of 0 is the second class";
  EXPECT_NEAR(predictions.probabilities[0], 1 / (1 + std::exp(-3.0)), 1e-15);
  EXPECT_NEAR(predictions.probabilities[1], 1 / (1 + std::exp(3.0)), 1e-15);
  model.solver = "L2R_L2LOSS_SVC";
  EXPECT_THROW(predict_linear(on(Device::cpu()), model, dataset, true), UsageError);
}

TEST(Prediction, TakesTablesWithFewerOrMoreFeatures) {
  for (const Device device : devices()) {
    const auto model = hand_model({"a", "b"}, 1);
    const auto decision = [&](std::vector<double> row) {
      Dataset<double> dataset;
      const auto columns = static_cast<std::int64_t>(row.size());
      dataset.x = sparse_of<double>({std::move(row)}, columns);
      return predict_linear(on(device), model, dataset).decisions[0];
    };
    const double two = decision({1, 5});
    EXPECT_NEAR(two, model.weights[0] + 5 * model.weights[1] + 2 * model.weights[3], 1e-14);
    EXPECT_EQ(decision({1, 5, 0}), two);
    EXPECT_EQ(decision({1, 5, 0, 100, -7}), two);
  }
}

TEST(Prediction, ChecksNamesWhereBothAreNamed) {
  auto model = hand_model({"a", "b"}, 1);
  Dataset<double> dataset;
  dataset.x = dense_of<double>({{1, 2, 3}}, 3);
  dataset.feature_names = {"x", "y", "z"};
  EXPECT_NO_THROW(predict_linear(on(Device::cpu()), model, dataset)) << "the model has no names";
  model.feature_names = {"x", "y", "z"};
  EXPECT_NO_THROW(predict_linear(on(Device::cpu()), model, dataset));
  dataset.feature_names = {"x", "z", "y"};
  EXPECT_THROW(predict_linear(on(Device::cpu()), model, dataset), Error);
  dataset.x = dense_of<double>({{1, 2}}, 2);
  dataset.feature_names = {"x", "y"};
  EXPECT_THROW(predict_linear(on(Device::cpu()), model, dataset), Error);
  dataset.x = dense_of<double>({{1, 2, 3, 4}}, 4);
  dataset.feature_names = {"x", "y", "z", "more"};
  EXPECT_NO_THROW(predict_linear(on(Device::cpu()), model, dataset));
}

TEST(Prediction, ScoresGoByTheValueOfLabels) {
  auto model = hand_model({"1", "-1", "x"}, 3);
  Predictions predictions;
  predictions.rows = 4;
  predictions.classes = {0, 1, 2, 0};
  Target target;
  target.class_names = {"+1.0", "-1", "x", "other"};
  target.classes = {0, 1, 2, 3};
  const auto score = score_of(model, predictions, target);
  ASSERT_TRUE(score);
  EXPECT_EQ(score->correct, 3);
  EXPECT_EQ(score->rows, 4);
  EXPECT_FALSE(score_of(model, predictions, {}));
}

TEST(Prediction, OfAmountsIsScoredByErrorAndCorrelation) {
  const std::vector<double> predicted{1, 2, 4};
  const std::vector<double> truth{1, 3, 3};
  const auto score = score_values(predicted, truth);
  EXPECT_NEAR(score.squared_error, 2.0 / 3, 1e-15);
  // Both have the mean 7/3; sums of products of the differences from it, in ninths: 24, of squares 42 and 24.
  EXPECT_NEAR(score.squared_correlation, 24.0 * 24 / (42 * 24), 1e-14);
}

}  // namespace linear_model_test
}  // namespace sheaf::test
