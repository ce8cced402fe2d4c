// When linear models stop: by default at most a ten-thousandth of what training gains is left, at every cost.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/generate.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"

namespace sheaf::test {
namespace stop_rule_test {

Context context_on(Device device) { return Context({.device = device, .threads = 2, .seed = 7}); }

Dataset<double> microbes(std::int64_t rows = 60, std::int64_t features = 200) {
  GenerateOptions options;
  options.rows = rows;
  options.features = features;
  return generate<double>(Context({.threads = 2, .seed = 7}), options).dataset;
}

/// The objective without any weight: each row costs C log 2, or C for the squared hinge, or C y^2.
double at_zero(const Dataset<double>& dataset, const LinearOptions& options) {
  if (options.loss == Loss::logistic)
    return options.cost.value_or(1) * static_cast<double>(dataset.rows()) * std::log(2.0);
  if (options.loss == Loss::squared_hinge) return options.cost.value_or(1) * static_cast<double>(dataset.rows());
  double sum = 0;
  for (const double y : dataset.target.values) sum += options.cost.value_or(1) * y * y;
  return sum;
}

TEST(StopRule, LeavesAtMostTheWantedShareOfTheGain) {
  const auto counts = microbes();
  GenerateOptions of_numbers;
  of_numbers.kind = "regression";
  of_numbers.rows = 60;
  of_numbers.features = 20;
  const auto numbers = generate<double>(Context({.seed = 3}), of_numbers).dataset;
  auto of_classes = of_numbers;
  of_classes.kind = "classification";
  const auto classes = generate<double>(Context({.seed = 3}), of_classes).dataset;
  for (const Device device : devices())
    for (const auto loss : {Loss::logistic, Loss::squared_hinge, Loss::squared_tube})
      for (const double cost : {1e-4, 1.0, 100.0}) {
        const auto& dataset = loss == Loss::squared_tube ? numbers : loss == Loss::logistic ? counts : classes;
        LinearOptions options;
        options.loss = loss;
        options.cost = cost;
        options.epsilon = 0;
        const auto usual = train_linear(context_on(device), dataset, options);
        options.tolerance = 1e-13;
        const auto best = train_linear(context_on(device), dataset, options);
        ASSERT_TRUE(usual.fits[0].converged) << to_string(loss) << ", C = " << cost;
        const double start = at_zero(dataset, options);
        EXPECT_LE(usual.fits[0].objective - best.fits[0].objective, 1e-4 * (start - best.fits[0].objective))
            << to_string(loss) << ", C = " << cost << " on " << to_string(device);
      }
}

/// A bias without a penalty is determined by few rows alone, or by none at a small cost: what is left is bounded there
/// too, also where features are far from 0.
TEST(StopRule, HoldsWithABiasWithoutPenalty) {
  GenerateOptions of_classes;
  of_classes.kind = "classification";
  of_classes.rows = 400;
  of_classes.features = 5;
  auto dataset = generate<double>(Context({.seed = 3}), of_classes).dataset;
  std::vector<float> weights(400, 1.0F);
  std::int32_t kept = 0;
  for (std::size_t i = 0; i < 400; ++i)
    if (dataset.target.classes[i] == 0 && ++kept > 6) weights[i] = 0;
  for (const double far : {0.0, 30.0}) {
    auto& x = std::get<DenseMatrix<double>>(dataset.x);
    for (auto& value : x.values) value += far;
    for (const Device device : devices())
      for (const auto loss : {Loss::logistic, Loss::squared_hinge})
        for (const double cost : {1e-6, 1e-3, 1.0, 100.0}) {
          LinearOptions options;
          options.loss = loss;
          options.cost = cost;
          const auto usual = train_linear(context_on(device), dataset, options, weights);
          options.tolerance = 1e-13;
          const auto best = train_linear(context_on(device), dataset, options, weights);
          ASSERT_TRUE(usual.fits[0].converged) << to_string(loss) << ", C = " << cost;
          double start = 0;
          for (const float weight : weights)
            start += cost * double(weight) * (loss == Loss::logistic ? std::log(2.0) : 1);
          EXPECT_LE(usual.fits[0].objective - best.fits[0].objective, 1e-4 * (start - best.fits[0].objective))
              << to_string(loss) << ", C = " << cost << ", features at " << far << " on " << to_string(device);
        }
  }
}

TEST(StopRule, CurvesOverTheCostAreThoseOfConvergedModels) {
  const auto dataset = microbes(120, 1500);
  SearchOptions options;
  options.score = Metric::auc;
  SearchSpace family(LinearOptions{});
  family["cost"] = {1, 100};
  const auto usual = search(context_on(Device::cpu()), dataset, family, options);
  family.get<LinearOptions>().tolerance = 1e-12;
  const auto best = search(context_on(Device::cpu()), dataset, family, options);
  for (std::size_t p = 0; p < 2; ++p)
    EXPECT_NEAR(usual.summary(p, Metric::auc).mean, best.summary(p, Metric::auc).mean, 0.05)
        << "C = " << family.numbers("cost")[p];
}

TEST(StopRule, LiblinearsRuleStaysToBeAskedFor) {
  const auto dataset = microbes();
  LinearOptions options;
  options.stop = StopRule::gradient;
  const auto loose = train_linear(Context(), dataset, options);
  EXPECT_LE(loose.fits[0].gradient_norm, loose.fits[0].tolerance);
  LinearOptions bound;
  EXPECT_LT(train_linear(Context(), dataset, bound).fits[0].objective, loose.fits[0].objective);
}

TEST(StopRule, SinglePrecisionEndsWhereItCanResolveNoMore) {
  auto counts = microbes();
  const auto dataset = convert_precision<float>(std::move(counts), 2);
  LinearOptions options;
  options.cost = 100;
  EXPECT_TRUE(train_linear(Context(), dataset, options).fits[0].converged);
}

/// With a large cost, rows that can be separated leave an objective that is a small share of that at the start.
TEST(StopRule, ByTheObjectiveGoesOnWhereSeparableRowsLeaveLittle) {
  const auto dataset = microbes();
  for (const Device device : devices()) {
    LinearOptions options;
    options.loss = Loss::logistic;
    options.cost = 1e4;
    options.stop = StopRule::objective;
    options.tolerance = 1e-4;
    const auto usual = train_linear(context_on(device), dataset, options);
    options.tolerance = 1e-12;
    const auto best = train_linear(context_on(device), dataset, options);
    ASSERT_TRUE(usual.fits[0].converged);
    EXPECT_LE(usual.fits[0].objective, (1 + 1e-4) * best.fits[0].objective) << to_string(device);
  }
}

}  // namespace stop_rule_test
}  // namespace sheaf::test
