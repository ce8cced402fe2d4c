// Covariances of weights and likelihood-ratio tests beside R's sandwich and anova (tests/golden/r) and beside
// statsmodels (tests/golden/statsmodels); the errors shown if rows do not determine a weight.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/report.hpp>
#include <sheaf/solvers/glm.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "glm_cases.hpp"

namespace sheaf::test {
namespace glm_errors_test {

using Json = nlohmann::json;

void expect_errors(const LinearModel& model, const Json& wanted) {
  const auto rows = coefficient_table(model);
  ASSERT_EQ(rows.size(), wanted.size());
  for (std::size_t e = 0; e < rows.size(); ++e) expect_relative(rows[e].error, wanted[e], rows[e].label);
}

/// Elements beside the roots of their diagonal elements: some are near 0.
void expect_covariance(const LinearModel& model, const Json& wanted) {
  const auto& found = model.glm->statistics.covariance;
  ASSERT_EQ(found.size(), wanted.size());
  const auto rows = coefficient_table(model);
  const auto size = rows.size();
  for (std::size_t e = 0; e < found.size(); ++e)
    expect_relative(found[e], wanted[e], rows[e / size].label + ", " + rows[e % size].label,
                    rows[e / size].error * rows[e % size].error);
}

GlmOptions exact(GlmOptions options, StandardErrors errors) {
  options.tolerance = 1e-10;
  options.standard_errors = errors;
  return options;
}

TEST(GlmErrors, SandwichesAreThoseOfR) {
  const auto results = read_json(golden("r/results.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["family"].get<std::string>() +
                   (one["weighted"] ? ", weighted" : "") + " on " + to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
      const auto rows = static_cast<std::size_t>(dataset.rows());
      auto options = exact(options_of(one["family"]), StandardErrors::hc0);
      options.intercept = one["intercept"];
      options.offsets = offsets_of(one, rows);
      const auto hc0 = train_glm(on(device), dataset, options, weights_of(one, rows));
      expect_errors(hc0, one["hc0"]);
      if (!one["covariance"].is_null()) expect_covariance(hc0, one["covariance"]);
      options.standard_errors = StandardErrors::hc1;
      expect_errors(train_glm(on(device), dataset, options, weights_of(one, rows)), one["hc1"]);
    }
}

TEST(GlmErrors, ObservedInformationIsThatOfStatsmodels) {
  const auto results = read_json(golden("statsmodels/results.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["family"].get<std::string>() + " on " + to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
      const auto model = train_glm(on(device), dataset, exact(options_of(one["family"]), StandardErrors::observed));
      expect_errors(model, one["observed"]);
    }
}

TEST(GlmErrors, MultinomialCovariancesAreThoseOfStatsmodels) {
  const auto results = read_json(golden("statsmodels/results.json"));
  for (const auto& one : results["classes"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["limits"].dump() + " on " + to_string(device));
      auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
      dataset.target = classes_by(one["limits"], dataset.target.values);
      expect_errors(train_glm(on(device), dataset, exact({}, StandardErrors::expected)), one["nonrobust"]);
      const auto model = train_glm(on(device), dataset, exact({}, StandardErrors::hc0));
      expect_errors(model, one["HC0"]);
      if (one.contains("covariance")) expect_covariance(model, one["covariance"]);
      EXPECT_EQ(coefficient_table(model)[0].label, model.class_names[0] + ":1");
      // HC1 is HC0 times rows / (rows - weights).
      const auto rows = static_cast<double>(dataset.rows());
      const auto weights = static_cast<double>(one["HC0"].size());
      const auto hc1 = train_glm(on(device), dataset, exact({}, StandardErrors::hc1));
      expect_relative(hc1.glm->statistics.errors[0], one["HC0"][0].get<double>() * std::sqrt(rows / (rows - weights)),
                      "HC1");
    }
}

TEST(GlmErrors, CovariancesHoldTheStandardErrors) {
  for (const Device device : devices())
    for (const auto errors :
         {StandardErrors::expected, StandardErrors::observed, StandardErrors::hc0, StandardErrors::hc1}) {
      const auto dataset = dataset_of<double>(make_table(80, 5, 0, 3), 5, false);
      const auto model = train_glm(on(device), dataset, exact({}, errors));
      const auto& statistics = model.glm->statistics;
      ASSERT_EQ(statistics.errors.size(), 6U);
      ASSERT_EQ(statistics.covariance.size(), 36U);
      for (std::size_t j = 0; j < 6; ++j) {
        EXPECT_NEAR(statistics.covariance[j * 7], statistics.errors[j] * statistics.errors[j], 1e-12);
        for (std::size_t k = 0; k < 6; ++k)
          EXPECT_NEAR(statistics.covariance[j * 6 + k], statistics.covariance[k * 6 + j], 1e-12);
      }
      auto penalised = exact({}, errors);
      penalised.alpha = 0.1;
      EXPECT_TRUE(train_glm(on(device), dataset, penalised).glm->statistics.covariance.empty());
    }
}

/// Numbers, and the classes of their signs; the third feature is the sum of the first two.
Dataset<double> collinear(bool separated) {
  Random random(5);
  Rows rows;
  std::vector<double> labels;
  for (int i = 0; i < 60; ++i) {
    const double a = random.normal();
    const double b = random.normal();
    rows.push_back({a, b, a + b});
    labels.push_back(a + (separated ? 0.0 : random.normal()) > 0 ? 1 : 2);
  }
  Dataset<double> dataset;
  dataset.x = dense_of<double>(rows, 3);
  dataset.target = target_of(labels);
  dataset.feature_names = {"a", "b", "a, b"};
  dataset.source = "rows";
  return dataset;
}

TEST(GlmErrors, WeightsThatRowsDoNotDetermineHaveNoCovariance) {
  for (const Device device : devices()) {
    const auto model = train_glm(on(device), collinear(false), exact({}, StandardErrors::hc0));
    const auto& statistics = model.glm->statistics;
    EXPECT_EQ(statistics.parameters, 3);
    EXPECT_EQ(statistics.errors[2], 0);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(statistics.covariance[2 * 4 + k], 0);
    ASSERT_EQ(warnings_of(model).size(), 1U);
    EXPECT_NE(warnings_of(model)[0].find("not determined"), std::string::npos) << warnings_of(model)[0];
    const auto lines = lines_of(covariance_csv(weight_covariance(model)));
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0], "weight,a,b,\"a, b\",(intercept)");
    EXPECT_EQ(lines[3], "\"a, b\",NA,NA,NA,NA");
  }
}

TEST(GlmErrors, SandwichesDoNotHideSeparation) {
  // Scores of rows whose class is certain are near 0, and so are HC0's errors.
  for (const Device device : devices()) {
    const auto model = train_glm(on(device), collinear(true), exact({}, StandardErrors::hc0));
    EXPECT_TRUE(model.glm->separated);
    EXPECT_EQ(model.glm->statistics.errors[0], 0);
  }
}

/// Class 1 is separated from the others by the first feature; classes 2 and 3 overlap.
Dataset<double> one_class_apart() {
  Rows rows;
  std::vector<double> labels;
  for (int i = 0; i < 30; ++i) {
    rows.push_back({i < 20 ? i + 1.0 : i - 8.0, static_cast<double>(7 * i % 11)});
    labels.push_back(1 + i / 10);
  }
  Dataset<double> dataset;
  dataset.x = dense_of<double>(rows, 2);
  dataset.target = target_of(labels);
  dataset.source = "rows";
  return dataset;
}

TEST(GlmErrors, WeightsOfASeparatedClassHaveNoErrorsWhateverTheReference) {
  // R's glm on the rows of classes 2 and 3.
  const std::vector<std::pair<double, double>> wanted{
      {0.1133827144163, 0.158716971500}, {0.0624786860899, 0.147494798329}, {-2.1305528492665, 2.630543490938}};
  for (const Device device : devices())
    for (const std::string reference : {"1", "2", "3"}) {
      SCOPED_TRACE("reference " + reference + " on " + to_string(device));
      GlmOptions options;
      options.reference = reference;
      const auto model = train_glm(on(device), one_class_apart(), options);
      EXPECT_TRUE(model.glm->separated);
      EXPECT_EQ(model.glm->statistics.parameters, 6);
      EXPECT_NEAR(aic(*model.glm), 26.9510806956 + 12, 1e-4);
      for (const auto& row : coefficient_table(model)) {
        if (reference == "1" || row.versus == "1") {
          EXPECT_EQ(row.error, 0) << row.label;
          continue;
        }
        const auto& [estimate, error] = wanted[row.name == "1" ? 0 : row.name == "2" ? 1 : 2];
        EXPECT_NEAR(row.estimate, reference == "2" ? estimate : -estimate, 1e-4) << row.label;
        EXPECT_NEAR(row.error, error, 1e-4) << row.label;
      }
    }
}

TEST(GlmErrors, PenalisedModelsHaveEffectiveParameters) {
  // The trace of (X'WX + P)^-1 X'WX, computed by R.
  for (const Device device : devices()) {
    auto dataset = one_class_apart();
    GlmOptions options;
    options.alpha = 0.5;
    options.tolerance = 1e-10;
    EXPECT_NEAR(train_glm(on(device), dataset, options).glm->statistics.parameters, 5.06636746363, 1e-6);
    std::vector<double> numbers;
    for (int i = 0; i < 30; ++i) numbers.push_back(std::sin(i));
    dataset.target = target_of(numbers);
    options.family = GlmFamily::gaussian;
    const auto model = train_glm(on(device), dataset, options);
    EXPECT_NEAR(model.glm->statistics.parameters, 2.9377838488, 1e-8);
    EXPECT_NEAR(model.glm->statistics.dispersion, model.glm->statistics.deviance / (30 - 2.9377838488), 1e-8);
  }
}

/// 60 rows in six groups: x1 = sin(i), x2 = cos(2 i + 1), group i^2 mod 11.
Dataset<double> grouped_rows(const std::vector<double>& target) {
  Dataset<double> dataset;
  Rows rows;
  for (int i = 0; i < 60; ++i) {
    rows.push_back({std::sin(i), std::cos(2 * i + 1)});
    dataset.groups.push_back(i * i % 11);
  }
  dataset.x = dense_of<double>(rows, 2);
  dataset.target = target_of(target);
  dataset.source = "rows";
  return dataset;
}

std::vector<double> made_of(const std::function<double(int, double)>& value) {
  std::vector<double> target;
  for (int i = 0; i < 60; ++i) target.push_back(value(i, std::sin(i * i % 11)));
  return target;
}

void expect_errors_of(const LinearModel& model, const std::vector<double>& wanted) {
  const auto rows = coefficient_table(model);
  ASSERT_EQ(rows.size(), wanted.size());
  for (std::size_t e = 0; e < rows.size(); ++e) expect_relative(rows[e].error, wanted[e], rows[e].label);
}

// sqrt(diag(vcovCL(model, cluster = group))) of R's package sandwich 3.1 for glm(), and the robust variance of
// coxph(..., cluster = group) of survival 3.8.
TEST(GlmErrors, OfGroupsAreThoseOfR) {
  const auto classes =
      made_of([](int i, double g) { return std::sin(3 * i) + std::sin(i) + 0.5 * g > 0.2 ? 1.0 : 0.0; });
  const auto numbers =
      made_of([](int i, double g) { return std::sin(i) - 0.5 * std::cos(2 * i + 1) + std::sin(5 * i) + g; });
  const auto counts =
      made_of([](int i, double g) { return std::max(0.0, std::floor(2 + 2 * std::sin(7 * i) + std::sin(i) + g)); });
  std::vector<float> weights;
  for (int i = 0; i < 60; ++i) weights.push_back(i % 3 == 0 ? 1.0F : i % 3 == 1 ? 2.0F : 0.5F);
  for (const Device device : devices()) {
    SCOPED_TRACE(to_string(device));
    auto options = exact({}, StandardErrors::cluster);
    options.family = GlmFamily::binomial;
    expect_errors_of(train_glm(on(device), grouped_rows(classes), options),
                     {3.47346993932, 0.88192172958, 0.155067927088});
    options.family = GlmFamily::gaussian;
    expect_errors_of(train_glm(on(device), grouped_rows(numbers), options),
                     {0.341388363193, 0.0357794535754, 0.291639906544});
    expect_errors_of(train_glm(on(device), grouped_rows(numbers), options, weights),
                     {0.35161218385, 0.136884521359, 0.297797479075});
    options.family = GlmFamily::poisson;
    expect_errors_of(train_glm(on(device), grouped_rows(counts), options),
                     {0.29933522988, 0.0724901902821, 0.206950397414});
    auto survival = grouped_rows(made_of([](int i, double) { return 1 + i * 7 % 23 + 0.25 * (i * 5 % 4); }));
    for (int i = 0; i < 60; ++i) survival.target.events.push_back(i * i % 5 != 0 ? 1 : 0);
    options.family = GlmFamily::cox;
    expect_errors_of(train_glm(on(device), survival, options), {0.248494238192, 0.194248002341});
  }
}

TEST(GlmErrors, OfGroupsAreTheDefaultOfGroupedRows) {
  const auto numbers = made_of([](int i, double g) { return std::sin(5 * i) + g; });
  auto dataset = grouped_rows(numbers);
  GlmOptions options;
  options.family = GlmFamily::gaussian;
  const auto model = train_glm(on(Device::cpu()), dataset, options);
  EXPECT_EQ(model.glm->statistics.errors_from, StandardErrors::cluster);
  const auto again = Model::parse(format_model(model), "model");
  EXPECT_EQ(again.get_if<LinearModel>()->glm->statistics.errors_from, StandardErrors::cluster);
  dataset.groups.clear();
  EXPECT_EQ(train_glm(on(Device::cpu()), dataset, options).glm->statistics.errors_from, StandardErrors::expected);
  options.standard_errors = StandardErrors::cluster;
  EXPECT_THROW(train_glm(on(Device::cpu()), dataset, options), UsageError);
}

TEST(GlmErrors, ModelFilesSayWhatErrorsAreFrom) {
  const auto model = train_glm(on(Device::cpu()), collinear(false), exact({}, StandardErrors::hc1));
  const auto again = Model::parse(format_model(model), "model");
  EXPECT_EQ(again.get_if<LinearModel>()->glm->statistics.errors_from, StandardErrors::hc1);
  EXPECT_EQ(again.get_if<LinearModel>()->glm->statistics.errors, model.glm->statistics.errors);
  try {
    weight_covariance(*again.get_if<LinearModel>());
    FAIL() << "model files have no covariance";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("train the model again"), std::string::npos) << error.what();
  }
}

Dataset<double> first_features(const Dataset<double>& dataset, std::int64_t count) {
  std::vector<std::int64_t> features;
  for (std::int64_t j = 0; j < count; ++j) features.push_back(j);
  return take_features(dataset, features, 1);
}

TEST(LikelihoodRatio, TestsAreThoseOfR) {
  const auto results = read_json(golden("r/results.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["family"].get<std::string>() +
                   (one["weighted"] ? ", weighted" : "") + " on " + to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
      const auto rows = static_cast<std::size_t>(dataset.rows());
      auto options = exact(options_of(one["family"]), StandardErrors::expected);
      options.intercept = one["intercept"];
      options.offsets = offsets_of(one, rows);
      const auto larger = train_glm(on(device), dataset, options, weights_of(one, rows));
      const auto smaller = train_glm(on(device), first_features(dataset, 5), options, weights_of(one, rows));
      const auto test = likelihood_ratio_test(smaller, larger);
      EXPECT_FALSE(test.first_larger);
      expect_relative(test.statistic, one["fewer"][0], "statistic");
      EXPECT_EQ(test.freedom, one["fewer"][1].get<double>());
      expect_relative(test.p, one["fewer"][2], "p", 1e-3);
      EXPECT_EQ(likelihood_ratio_test(larger, smaller).statistic, test.statistic);
    }
}

std::string refusal(const LinearModel& first, const LinearModel& second) {
  try {
    likelihood_ratio_test(first, second);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(LikelihoodRatio, ModelsThatAreNotComparableAreErrors) {
  const auto context = on(Device::cpu());
  const auto dataset = dataset_of<double>(make_table(90, 6, 2, 8), 6);
  const auto all = train_glm(context, dataset, {});
  const auto few = train_glm(context, first_features(dataset, 3), {});
  EXPECT_EQ(refusal(few, all), "none");
  EXPECT_NE(refusal(all, all).find("both models have 7 parameters"), std::string::npos) << refusal(all, all);
  GlmOptions penalised;
  penalised.alpha = 0.5;
  EXPECT_NE(refusal(few, train_glm(context, dataset, penalised)).find("the second model has a penalty (alpha = 0.5)"),
            std::string::npos);
  GlmOptions probit;
  probit.link = GlmLink::probit;
  EXPECT_NE(refusal(few, train_glm(context, dataset, probit)).find("binomial (logit) and the second binomial (probit)"),
            std::string::npos);
  std::vector<float> weights(90, 1);
  weights[4] = 0;
  EXPECT_NE(refusal(few, train_glm(context, dataset, {}, weights)).find("90 and 89 rows"), std::string::npos);
  weights[4] = 2;
  EXPECT_NE(refusal(few, train_glm(context, dataset, {}, weights)).find("same target, row weights and offsets"),
            std::string::npos);
  auto named = first_features(dataset, 4);
  named.feature_names = {"1", "2", "x", "4"};
  const auto other = train_glm(context, named, {});
  EXPECT_NE(refusal(few, other).find("not nested: the one of fewer parameters has '3'"), std::string::npos)
      << refusal(few, other);
  EXPECT_NE(refusal(train_linear(context, dataset, {}), all).find("the first model is no generalised linear model"),
            std::string::npos);
}

}  // namespace glm_errors_test
}  // namespace sheaf::test
