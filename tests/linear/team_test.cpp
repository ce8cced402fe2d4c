// Models whose rows several processes share: the same bits for any number of them, and the optimum that one process
// finds without a team.
#include <cmath>
#include <functional>
#include <stop_token>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/model.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear/newton/newton.hpp"
#include "linear_tables.hpp"
#include "thread_team.hpp"

namespace sheaf {
namespace team_test {

using Train = std::function<LinearModel(const Context&)>;

/// The model of a team of so many processes, which all have the same.
LinearModel trained_by(int processes, Device device, const Train& train) {
  std::vector<LinearModel> models(static_cast<std::size_t>(processes));
  test::as_team(processes, [&](Team& team) {
    models[static_cast<std::size_t>(team.rank())] =
        train(test::on(device).with({.memory = std::int64_t{1} << 30, .team = &team}));
  });
  for (const auto& model : models) EXPECT_EQ(model.weights, models.front().weights);
  return models.front();
}

/// `near`: how far weights may be from those of one process without a team, which sums in another order.
void expect_same(const Train& train, double near) {
  for (const Device device : test::devices()) {
    const auto alone = train(test::on(device));
    const auto one = trained_by(1, device, train);
    ASSERT_EQ(one.weights.size(), alone.weights.size());
    double largest = 0;
    for (const double weight : alone.weights) largest = std::max(largest, std::abs(weight));
    for (std::size_t e = 0; e < one.weights.size(); ++e) EXPECT_NEAR(one.weights[e], alone.weights[e], near * largest);
    for (const int processes : {2, 3, 4}) {
      const auto several = trained_by(processes, device, train);
      EXPECT_EQ(several.weights, one.weights) << processes << " processes";
      ASSERT_EQ(several.glm.has_value(), one.glm.has_value());
      if (!one.glm) continue;
      EXPECT_EQ(several.glm->statistics.errors, one.glm->statistics.errors);
      EXPECT_EQ(several.glm->statistics.deviance, one.glm->statistics.deviance);
      for (std::size_t e = 0; e < one.glm->statistics.errors.size(); ++e)
        EXPECT_NEAR(one.glm->statistics.errors[e], alone.glm->statistics.errors[e],
                    1e-5 * (1 + alone.glm->statistics.errors[e]));
    }
  }
}

TEST(Team, LinearModelsOfEveryLoss) {
  for (const auto& kind : test::kinds)
    for (const bool sparse : {false, true}) {
      const auto table = test::make_table(900, 12, kind.classes, 3);
      const auto dataset = test::dataset_of<double>(table, 12, sparse);
      LinearOptions options;
      options.loss = kind.loss;
      options.method = LinearMethod::newton;
      options.tolerance = 1e-8;
      options.stop = StopRule::suboptimality;
      expect_same([&](const Context& context) { return train_linear(context, dataset, options); }, 1e-4);
    }
}

TEST(Team, RowsOfSinglePrecision) {
  const auto table = test::make_table(2000, 20, 2, 4);
  const auto dataset = test::dataset_of<float>(table, 20, false);
  LinearOptions options;
  options.method = LinearMethod::newton;
  expect_same([&](const Context& context) { return train_linear(context, dataset, options); }, 2e-2);
}

/// Features of very different scales: the preconditioner becomes the whole Hessian, of some of the rows.
TEST(Team, BadlyScaledFeatures) {
  auto table = test::make_table(6000, 12, 2, 5);
  for (auto& row : table.rows)
    for (auto& [feature, value] : row)
      value = (value + static_cast<double>(feature)) * std::pow(10.0, static_cast<double>(feature % 6) - 2);
  const auto dataset = test::dataset_of<double>(table, 12, false);
  LinearOptions options;
  options.loss = Loss::logistic;
  options.method = LinearMethod::newton;
  options.cost = 100;
  options.tolerance = 1e-10;
  options.stop = StopRule::suboptimality;
  expect_same([&](const Context& context) { return train_linear(context, dataset, options); }, 1e-3);
}

TEST(Team, FewerRowsThanSlices) {
  const auto table = test::make_table(7, 3, 2, 6);
  const auto dataset = test::dataset_of<double>(table, 3, true);
  LinearOptions options;
  options.method = LinearMethod::newton;
  options.tolerance = 1e-8;
  options.stop = StopRule::suboptimality;
  expect_same([&](const Context& context) { return train_linear(context, dataset, options); }, 1e-3);
}

TEST(Team, GeneralisedLinearModelsOfEverySolver) {
  const auto table = test::make_table(800, 6, 3, 8);
  auto dataset = test::dataset_of<double>(table, 6, false);
  std::vector<float> row_weights;
  for (std::size_t i = 0; i < 800; ++i) row_weights.push_back(static_cast<float>(1 + i % 3));
  for (const auto solver :
       {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs, GlmSolver::gradient, GlmSolver::accelerated})
    for (const auto family : {GlmFamily::multinomial, GlmFamily::poisson, GlmFamily::gaussian}) {
      GlmOptions options;
      options.family = family;
      options.solver = solver;
      options.alpha = solver == GlmSolver::newton ? 0 : 0.01;
      options.tolerance = 1e-9;
      SCOPED_TRACE(fmt::format("solver {} family {}", static_cast<int>(solver), static_cast<int>(family)));
      expect_same([&](const Context& context) { return train_glm(context, dataset, options, row_weights); }, 1e-4);
    }
}

TEST(Team, OffsetsAndClusters) {
  const auto table = test::make_table(700, 4, 3, 9);
  auto dataset = test::dataset_of<double>(table, 4, false);
  for (std::int32_t i = 0; i < 700; ++i) dataset.groups.push_back(i / 7);
  for (std::int32_t g = 0; g < 100; ++g) dataset.group_names.push_back(std::to_string(g));
  GlmOptions options;
  options.family = GlmFamily::poisson;
  for (int i = 0; i < 700; ++i) options.offsets.push_back(0.01 * (i % 50));
  expect_same([&](const Context& context) { return train_glm(context, dataset, options); }, 1e-6);
}

TEST(Team, ASearchsModelsOfColumnTransforms) {
  const auto table = test::make_table(1200, 8, 2, 10);
  const auto dataset = test::dataset_of<double>(table, 8, false);
  Sheaf sheaf;
  sheaf.examples = 1200;
  sheaf.targets = table.labels;
  sheaf.weight_columns = 3;
  sheaf.column_transforms = 3;
  for (int i = 0; i < 1200; ++i)
    for (int s = 0; s < 3; ++s) sheaf.row_weights.push_back(i % 3 == s ? 0.0F : 1.0F);
  for (int j = 0; j < 8; ++j)
    for (int s = 0; s < 3; ++s) {
      sheaf.shifts.push_back(0.1 * j + 0.01 * s);
      sheaf.factors.push_back(1 + 0.2 * s);
    }
  for (std::int32_t s = 0; s < 3; ++s)
    for (const double cost : {0.1, 1.0, 10.0}) sheaf.tasks.push_back({s, 0, cost, cost, 0.0, s});
  NewtonParams params;
  params.bias = 1;
  params.penalise_bias = false;
  params.tolerance = 1e-8;
  params.stop = StopRule::suboptimality;
  for (const bool along : {false, true}) {
    params.along_costs = along;
    expect_same(
        [&](const Context& context) {
          const auto fits = newton(context, dataset, sheaf, params);
          LinearModel model;
          for (std::int64_t j = 0; j < fits.weights.rows(); ++j)
            for (std::int32_t t = 0; t < fits.weights.tasks(); ++t) model.weights.push_back(fits.weights(j, t));
          return model;
        },
        1e-4);
  }
}

TEST(Team, AllProcessesStopTogether) {
  const auto table = test::make_table(3000, 30, 2, 11);
  const auto dataset = test::dataset_of<double>(table, 30, false);
  std::vector<int> stopped(3, 0);
  std::stop_source source;
  source.request_stop();
  test::as_team(3, [&](Team& team) {
    auto context = test::on(Device::cpu()).with({.team = &team});
    if (team.rank() == 1) context = context.with({.stop = source.get_token()});  // this process alone was told to stop
    LinearOptions options;
    options.method = LinearMethod::newton;
    try {
      train_linear(context, dataset, options);
    } catch (const Stopped&) {
      stopped[static_cast<std::size_t>(team.rank())] = 1;
    }
  });
  EXPECT_EQ(stopped, (std::vector<int>{1, 1, 1}));
}

TEST(Team, ModelsOfOneProcessAreRefused) {
  const auto table = test::make_table(60, 3, 2, 12);
  const auto dataset = test::dataset_of<double>(table, 3, false);
  test::as_team(2, [&](Team& team) {
    const auto context = test::on(Device::cpu()).with({.team = &team});
    for (const auto* kind : {"svm", "knn", "elastic-net"})
      EXPECT_THROW(fit(context, dataset, find_model_kind(kind).options), UsageError) << kind;
  });
}

}  // namespace team_test
}  // namespace sheaf
