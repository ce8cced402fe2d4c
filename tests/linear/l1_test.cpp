// LIBLINEAR's models with an L1 penalty: the optimality conditions, by plain loops, on every device.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace l1_test {

constexpr std::size_t features = 25;

PlainModel plain_of(const LinearModel& model) {
  PlainModel plain;
  plain.solver = model.solver;
  plain.features = static_cast<std::size_t>(model.features);
  plain.columns = static_cast<std::size_t>(model.columns);
  plain.bias = model.bias > 0 ? model.bias : -1;
  plain.w = model.weights;
  for (const auto& name : model.class_names) plain.labels.push_back(std::stod(name));
  return plain;
}

/// Slopes of the losses by each weight, the bias included.
std::vector<double> slopes_of(const PlainTable& table, const PlainModel& model, const Costs& costs,
                              std::size_t column) {
  std::vector<double> slopes(model.features + (model.bias > 0 ? 1 : 0), 0.0);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    double z = model.bias > 0 ? model.bias * model.w[model.features * model.columns + column] : 0;
    for (const auto& [j, value] : table.rows[i]) z += value * model.w[j * model.columns + column];
    const bool positive = table.labels[i] == model.labels[column];
    double cost = costs.c * (costs.row_weights.empty() ? 1 : costs.row_weights[i]);
    if (positive || model.labels.size() == 2) cost *= class_weight(costs, table.labels[i]);
    const double slope = cost * loss_and_slope(model.solver, z, positive ? 1 : -1, 0).slope;
    for (const auto& [j, value] : table.rows[i]) slopes[j] += slope * value;
    if (model.bias > 0) slopes.back() += slope * model.bias;
  }
  return slopes;
}

TEST(L1, WeightsAreAtTheOptimum) {
  for (const Device device : devices())
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge})
      for (const int classes : {2, 3})
        for (const double bias : {0.0, 2.0})
          for (const bool penalised : {true, false})
            for (const bool sparse : {true, false}) {
              if (bias == 0 && !penalised) continue;
              SCOPED_TRACE(fmt::format("{} {} {} classes, bias {} {}", to_string(device), to_string(loss), classes,
                                       bias, penalised));
              const auto table = make_table(120, features, classes, 4);
              LinearOptions options;
              options.loss = loss;
              options.penalty = LinearPenalty::l1;
              options.bias = bias;
              options.penalise_bias = penalised;
              options.cost = 0.5;
              options.tolerance = 1e-9;
              options.max_iterations = 100000;
              options.class_weights = {{"1", 3.0}};
              Costs costs;
              costs.c = 0.5;
              costs.class_weights[1] = 3;
              costs.penalise_bias = penalised;
              std::vector<float> row_weights;
              for (std::size_t i = 0; i < table.rows.size(); ++i) {
                row_weights.push_back(i % 5 == 0 ? 0.0F : i % 5 == 1 ? 2.0F : 1.0F);
                costs.row_weights.push_back(static_cast<double>(row_weights.back()));
              }
              const auto model =
                  train_linear(on(device), dataset_of<double>(table, features, sparse), options, row_weights);
              EXPECT_EQ(model.solver, loss == Loss::logistic ? "L1R_LR" : "L1R_L2LOSS_SVC");
              EXPECT_TRUE(warnings_of(model).empty());
              const auto plain = plain_of(model);
              for (std::size_t c = 0; c < plain.columns; ++c) {
                EXPECT_NEAR(model.fits[c].objective, measure(table, plain, costs, c).objective,
                            1e-7 * model.fits[c].objective);
                const auto slopes = slopes_of(table, plain, costs, c);
                std::size_t zeros = 0;
                for (std::size_t j = 0; j < slopes.size(); ++j) {
                  const double weight = plain.w[j * plain.columns + c];
                  const bool free = j == features && !penalised;
                  zeros += weight == 0 ? 1 : 0;
                  const double wanted = free ? 0 : weight > 0 ? -1 : 1;
                  if (weight != 0 || free) {
                    EXPECT_NEAR(slopes[j], wanted, 1e-3) << j;
                  } else {
                    EXPECT_LE(std::abs(slopes[j]), 1 + 1e-3) << j;
                  }
                }
                EXPECT_GT(zeros, 0U) << "the penalty leaves features out";
              }
            }
}

TEST(L1, IsForTwoLosses) {
  LinearOptions options;
  options.penalty = LinearPenalty::l1;
  for (const Loss loss : {Loss::hinge, Loss::crammer_singer}) {
    options.loss = loss;
    EXPECT_THROW(train_linear(on(Device::cpu()), dataset_of<double>(make_table(30, 4, 2, 1), 4), options), UsageError);
  }
}

TEST(L1, CrossValidationTrainsEachFold) {
  for (const Device device : devices())
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
      auto table = make_table(150, features, 0, 6);
      for (double& label : table.labels) label = std::clamp(std::floor(label) + 1, 0.0, 2.0);
      LinearOptions options;
      options.loss = loss;
      options.penalty = LinearPenalty::l1;
      options.max_iterations = 10000;
      const auto dataset = dataset_of<double>(table, features);
      const auto result = cross_validate_linear(on(device), dataset, options, 5);
      EXPECT_EQ(result.unconverged, 0);
      EXPECT_GT(result.score.accuracy(), 0.45);
    }
}

}  // namespace l1_test
}  // namespace sheaf::test
