// What features add to predictions: sums to the decision value, by plain arithmetic, through every kind of step.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/linear.hpp>
#include <sheaf/model.hpp>
#include <sheaf/svm.hpp>

#include "devices.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace explain_test {

/// The last feature is nominal where there are levels.
Dataset<double> make_dataset(int classes, bool nominal, bool sparse) {
  auto rows = random_rows(60, 6, 0.7, 4);
  Dataset<double> dataset;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (nominal) rows[i][5] = static_cast<double>(i % 3);
    dataset.target.classes.push_back(static_cast<std::int32_t>((rows[i][0] > rows[i][1] ? 1 : 0) + (i % 5 == 0)) %
                                     classes);
  }
  if (sparse)
    dataset.x = sparse_of<double>(rows, 6);
  else
    dataset.x = dense_of<double>(rows, 6);
  for (int c = 0; c < classes; ++c) dataset.target.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  dataset.target.fixed_order = true;
  if (nominal) {
    dataset.levels.resize(6);
    dataset.levels[5] = {"red", "green", "blue"};
  }
  for (int j = 0; j < 6; ++j) dataset.feature_names.push_back("f" + std::to_string(j));
  return dataset;
}

void expect_sums(const Context& context, const Model& model, const Dataset<double>& dataset, std::size_t most) {
  const auto predictions = model.predict(context, dataset);
  const auto explanations = model.explain(context, dataset, most);
  ASSERT_EQ(std::ssize(explanations), dataset.rows());
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    const auto& one = explanations[i];
    double sum = one.intercept + one.rest;
    for (std::size_t k = 0; k < one.largest.size(); ++k) {
      sum += one.largest[k].amount;
      if (k > 0) {
        EXPECT_GE(std::abs(one.largest[k - 1].amount), std::abs(one.largest[k].amount));
      }
    }
    EXPECT_LE(one.largest.size(), most);
    EXPECT_NEAR(sum, one.decision, 1e-12 * (1 + std::abs(sum)));
    const auto columns = static_cast<std::size_t>(predictions.columns);
    const auto column = columns > 1 ? static_cast<std::size_t>(predictions.classes[i]) : 0;
    EXPECT_EQ(static_cast<std::size_t>(one.column), column);
    EXPECT_NEAR(one.decision, predictions.decisions[i * columns + column], 1e-9 * (1 + std::abs(one.decision)));
  }
}

TEST(Explain, ContributionsSumToTheDecisionValueThroughAnyPipeline) {
  for (const auto device : devices())
    for (const int classes : {2, 3})
      for (const bool nominal : {false, true})
        for (const bool sparse : {false, true}) {
          if (nominal && sparse) continue;
          const Context context({.device = device, .threads = 2});
          const auto dataset = make_dataset(classes, nominal, sparse);
          PipelineOptions steps;
          for (int k = 0; k < 4; ++k) {
            if (k == 1) steps.scale = ScaleMethod::standard;
            if (k == 2) steps.min_variance = 0.1;
            if (k == 3) {
              steps.select = "jmi";
              steps.counts = {3};
            }
            LinearOptions options;
            options.bias = 1;
            expect_sums(context, fit(context, dataset, options, {}, steps), dataset, k % 2 == 0 ? 100 : 2);
          }
        }
}

TEST(Explain, IsWeightTimesValueOfTheFeaturesAsTheyAre) {
  LinearModel linear;
  linear.class_names = {"a", "b"};
  linear.features = 3;
  linear.bias = 1;
  linear.weights = {2, -3, 0.5, 7};
  linear.cost = 1;
  linear.fits.resize(1);
  linear.feature_names = {"x", "y", "z"};
  Model model{linear};
  Pipeline pipeline;
  pipeline.features = 3;
  pipeline.feature_names = linear.feature_names;
  pipeline.steps.emplace_back(Scaling{ScaleMethod::standard, {10, 0, 0}, {0.5, 1, 1}, {}});
  model.set_pipeline(pipeline);
  Dataset<double> dataset;  // columns in another order, and one that the model does not know
  dataset.x = dense_of<double>({{1, 99, 4, 16}}, 4);
  dataset.feature_names = {"y", "other", "z", "x"};
  const auto one = model.explain(Context(), dataset, 2).front();
  EXPECT_EQ(one.intercept, 7);
  ASSERT_EQ(one.largest.size(), 2U);
  EXPECT_EQ(one.largest[0].feature, 0);
  EXPECT_EQ(one.largest[0].value, 16) << "as it is in the dataset";
  EXPECT_EQ(one.largest[0].amount, 2 * (16 - 10) * 0.5);
  EXPECT_EQ(one.largest[1].feature, 1);
  EXPECT_EQ(one.largest[1].amount, -3);
  EXPECT_EQ(one.rest, 2);
  EXPECT_EQ(one.decision, 12);
}

/// A value below the mean of a feature with a positive weight speaks against the class, whatever its sign: a row of
/// means has no contributions, and contributions of all training rows cancel out.
TEST(Explain, SpeaksAgainstTheMeanOfTheTrainingRows) {
  const Context context;
  auto dataset = make_dataset(2, false, false);
  auto& x = std::get<DenseMatrix<double>>(dataset.x);
  for (auto& value : x.values) value += 28;  // ages, say
  for (const bool scaled : {false, true}) {
    PipelineOptions steps;
    if (scaled) steps.scale = ScaleMethod::standard;
    const auto model = fit(context, dataset, LinearOptions{}, {}, steps);
    std::vector<double> sums(6, 0.0);
    double largest = 0;
    for (const auto& one : model.explain(context, dataset, 100))
      for (const auto& part : one.largest) {
        sums[static_cast<std::size_t>(part.feature)] += part.amount;
        largest = std::max(largest, std::abs(part.amount));
      }
    for (const double sum : sums) EXPECT_NEAR(sum, 0, 0.01 * 60 * largest) << "means are kept to four digits";
  }
}

TEST(Explain, LevelsOfANominalFeatureAreThatFeature) {
  const auto dataset = make_dataset(2, true, false);
  const Context context;
  const auto model = fit(context, dataset, LinearOptions{});
  const auto explanations = model.explain(context, dataset, 100);
  for (const auto& one : explanations)
    for (const auto& part : one.largest) EXPECT_LT(part.feature, 6) << "of the dataset, not of its levels";
}

TEST(Explain, ModelsWithoutWeightsSayWhatToDo) {
  const auto dataset = make_dataset(2, false, false);
  const Context context;
  try {
    fit(context, dataset, SvmOptions{}).explain(context, dataset, 3);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("permutation-importance"), std::string::npos);
  }
}

TEST(Coefficients, BeforeScalingGiveTheSameDecisions) {
  const Context context;
  const auto dataset = make_dataset(3, false, false);
  for (const auto method : {ScaleMethod::standard, ScaleMethod::unit_interval, ScaleMethod::robust}) {
    PipelineOptions steps;
    steps.scale = method;
    steps.select = "jmi";
    steps.counts = {4};
    const auto model = fit(context, dataset, LinearOptions{}, {}, steps);
    const auto weights = *model.coefficients();
    ASSERT_EQ(weights.unscaled_values.size(), weights.values.size());
    const auto predictions = model.predict(context, dataset);
    const auto& x = std::get<DenseMatrix<double>>(dataset.x);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = weights.unscaled_intercepts[c];
        for (std::size_t j = 0; j < weights.feature_names.size(); ++j) {
          const auto place = std::stoll(weights.feature_names[j].substr(1));
          sum += weights.unscaled_values[j * 3 + c] * x.values[i * x.columns + place];
        }
        EXPECT_NEAR(sum, predictions.decisions[static_cast<std::size_t>(i) * 3 + c], 1e-9);
      }
  }
  EXPECT_TRUE(fit(context, dataset, LinearOptions{}).coefficients()->unscaled_values.empty());
}

}  // namespace explain_test
}  // namespace sheaf::test
