// Newton's method by what its users rely on: the optimum, checked by an independent gradient in double; the same
// optimum alone, in a sheaf, in rounds, from a warm start, by either step rule, on every device.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sheaf/solvers/linear.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "linear/newton/row_space.hpp"

namespace sheaf {
namespace newton_test {

struct Table {
  std::int64_t rows, columns;
  std::vector<double> x;
  double at(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i * columns + j)]; }
};

Table make_table(std::int64_t rows, std::int64_t columns, double density) {
  Table table{rows, columns, {}};
  Random random(11, static_cast<std::uint64_t>(rows + columns));
  for (std::int64_t e = 0; e < rows * columns; ++e)
    table.x.push_back(random.uniform() < density ? static_cast<double>(static_cast<float>(random.normal())) : 0.0);
  return table;
}

template <class T>
Dataset<T> make_dataset(const Table& table, bool sparse) {
  DenseMatrix<T> dense{table.rows, table.columns, Array<T>(table.rows * table.columns)};
  for (std::int64_t e = 0; e < dense.values.size(); ++e)
    dense.values[e] = static_cast<T>(table.x[static_cast<std::size_t>(e)]);
  Dataset<T> dataset;
  if (sparse)
    dataset.x = to_sparse(dense, 1);
  else
    dataset.x = std::move(dense);
  return dataset;
}

/// Classes from a hidden linear rule with noise, two weightings of the rows, tasks over costs x weightings.
Sheaf make_sheaf(const Table& table, bool regression, const std::vector<double>& costs) {
  Random random(12);
  Sheaf sheaf;
  sheaf.examples = table.rows;
  sheaf.weight_columns = 2;
  for (std::int64_t i = 0; i < table.rows; ++i) {
    double score = 0.3;
    for (std::int64_t j = 0; j < std::min<std::int64_t>(5, table.columns); ++j) score += table.at(i, j);
    score += random.normal();
    sheaf.targets.push_back(regression ? score : score > 0 ? 1 : -1);
    sheaf.row_weights.push_back(1);
    sheaf.row_weights.push_back(i % 3 == 0 ? 0.0F : i % 3 == 1 ? 1.0F : 2.0F);
  }
  for (const double cost : costs)
    for (const std::int32_t rows : {0, 1}) sheaf.tasks.push_back({rows, 0, cost, cost * 0.7, 0.1});
  return sheaf;
}

struct Optimality {
  double objective = 0;
  double gradient = 0;
};

/// Objective and gradient norm once more, by plain loops.
template <class T>
Optimality measure(const Table& table, const Sheaf& sheaf, const Task& task, const NewtonParams& params,
                   const Block<T>& w, std::int32_t column) {
  const bool bias = params.bias > 0;
  const auto weight = [&](std::int64_t j) { return static_cast<double>(w(j, column)); };
  std::vector<double> gradient(static_cast<std::size_t>(table.columns + (bias ? 1 : 0)), 0.0);
  Optimality result;
  for (std::int64_t i = 0; i < table.rows; ++i) {
    double z = bias ? params.bias * weight(table.columns) : 0;
    for (std::int64_t j = 0; j < table.columns; ++j) z += table.at(i, j) * weight(j);
    const double y = sheaf.targets[static_cast<std::size_t>(i)];
    const double cost = static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(2 * i + task.rows)]) *
                        (y > 0 ? task.cost_positive : task.cost_negative);
    double loss = 0;
    double slope = 0;
    if (params.loss == Loss::logistic) {
      loss = std::log1p(std::exp(-std::abs(y * z))) + std::max(0.0, -y * z);
      slope = -y / (1 + std::exp(y * z));
    } else if (params.loss == Loss::squared_hinge) {
      const double slack = std::max(0.0, 1 - y * z);
      loss = slack * slack;
      slope = -2 * y * slack;
    } else if (params.loss == Loss::squared_tube) {
      const double excess = std::max(0.0, std::abs(z - y) - task.loss_parameter);
      loss = excess * excess;
      slope = 2 * (z > y ? excess : -excess);
    } else {
      loss = (z - y) * (z - y) / 2;
      slope = z - y;
    }
    result.objective += cost * loss;
    for (std::int64_t j = 0; j < table.columns; ++j)
      gradient[static_cast<std::size_t>(j)] += cost * slope * table.at(i, j);
    if (bias) gradient.back() += cost * slope * params.bias;
  }
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    const bool free = bias && !params.penalise_bias && j + 1 == gradient.size();
    const double value = weight(static_cast<std::int64_t>(j));
    if (!free) {
      gradient[j] += value;
      result.objective += value * value / 2;
    }
    result.gradient += gradient[j] * gradient[j];
  }
  result.gradient = std::sqrt(result.gradient);
  return result;
}

Context context_on(Device device, std::int64_t memory = 0) {
  Context::Options options;
  options.device = device;
  options.threads = 2;
  options.memory = memory;
  return Context(options);
}

struct Setting {
  Loss loss;
  StepRule rule;
  bool sparse;
  double bias;
  bool penalise_bias;
};

template <class Check>
void for_settings(Check&& check) {
  for (const Device device : test::devices())
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::squared_tube, Loss::squared})
      for (const StepRule rule : {StepRule::trust_region, StepRule::line_search})
        for (const bool sparse : {false, true})
          for (const int bias : {0, 1, 2}) {
            SCOPED_TRACE(fmt::format("{} loss {} rule {} sparse {} bias {}", to_string(device), static_cast<int>(loss),
                                     static_cast<int>(rule), sparse, bias));
            check(device, Setting{loss, rule, sparse, bias > 0 ? 1.0 : 0.0, bias != 2});
          }
}

NewtonParams params_of(const Setting& setting, double tolerance) {
  NewtonParams params;
  params.loss = setting.loss;
  params.rule = setting.rule;
  params.tolerance = tolerance;
  params.bias = setting.bias;
  params.penalise_bias = setting.penalise_bias;
  return params;
}
bool is_regression(Loss loss) { return loss == Loss::squared_tube || loss == Loss::squared; }

TEST(Newton, ReachesTheOptimumOfEveryTask) {
  const Table table = make_table(150, 40, 0.4);
  for_settings([&](Device device, const Setting& setting) {
    const auto dataset = make_dataset<double>(table, setting.sparse);
    const Sheaf sheaf = make_sheaf(table, is_regression(setting.loss), {0.01, 1, 100});
    const auto params = params_of(setting, 1e-8);
    const auto fits = newton(context_on(device), dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      const auto truth = measure(table, sheaf, sheaf.tasks[t], params, fits.weights, static_cast<std::int32_t>(t));
      EXPECT_TRUE(fits.tasks[t].converged) << t;
      EXPECT_NEAR(fits.tasks[t].objective, truth.objective, 1e-9 * truth.objective);
      EXPECT_LE(truth.gradient, fits.tasks[t].tolerance * 1.01 + 1e-9);
    }
  });
}

TEST(Newton, SinglePrecisionReachesItsOwnLimit) {
  const Table table = make_table(150, 40, 0.4);
  for_settings([&](Device device, const Setting& setting) {
    const Sheaf sheaf = make_sheaf(table, is_regression(setting.loss), {0.01, 1, 100});
    const auto exact =
        newton(context_on(device), make_dataset<double>(table, setting.sparse), sheaf, params_of(setting, 1e-8));
    const auto params = params_of(setting, 1e-3);
    const auto fits = newton(context_on(device), make_dataset<float>(table, setting.sparse), sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      const auto truth = measure(table, sheaf, sheaf.tasks[t], params, fits.weights, static_cast<std::int32_t>(t));
      EXPECT_TRUE(fits.tasks[t].converged) << t;
      EXPECT_LE(truth.gradient, 1.1 * fits.tasks[t].tolerance) << "single precision must not hide a gradient";
      // The penalty makes f strongly convex: f(w) - f* <= |g|^2 / 2.
      if (setting.penalise_bias) {
        EXPECT_LE(truth.objective - exact.tasks[t].objective,
                  truth.gradient * truth.gradient / 2 + 1e-6 * exact.tasks[t].objective);
      }
    }
  });
}

TEST(Newton, NeverEndsWhereItCannotConverge) {
  const Table table = make_table(60, 20, 0.5);
  for (const StepRule rule : {StepRule::trust_region, StepRule::line_search}) {
    const Sheaf sheaf = make_sheaf(table, false, {1, 1000});
    auto params = params_of({Loss::logistic, rule, true, 0, true}, 1e-30);
    const auto fits = newton(context_on(Device::cpu()), make_dataset<float>(table, true), sheaf, params);
    for (const auto& fit : fits.tasks) EXPECT_FALSE(fit.converged) << "a tolerance below rounding can't be met";
    params.tolerance = 1e-8;
    params.max_iterations = 1;
    const auto early = newton(context_on(Device::cpu()), make_dataset<double>(table, true), sheaf, params);
    for (const auto& fit : early.tasks) {
      EXPECT_FALSE(fit.converged);
      EXPECT_EQ(fit.iterations, 1);
    }
  }
}

TEST(Newton, ASheafASingleTaskAndRoundsAgree) {
  const Table table = make_table(120, 50, 0.3);
  for (const Device device : test::devices()) {
    const auto dataset = make_dataset<double>(table, true);
    const Sheaf sheaf = make_sheaf(table, false, {0.01, 0.1, 1, 10, 100, 1000});
    const auto params = params_of({Loss::logistic, StepRule::line_search, true, 1, true}, 1e-9);
    const auto together = newton(context_on(device), dataset, sheaf, params);
    // Room for the data and two tasks.
    const std::int64_t tight = 2 * matrix_bytes(dataset.x) + 2 * (6 * 120 + 8 * 51) * 8;
    const auto rounds = newton(context_on(device, tight), dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      Sheaf alone = sheaf;
      alone.tasks = {sheaf.tasks[t]};
      const auto single = newton(context_on(device), dataset, alone, params);
      const auto column = static_cast<std::int32_t>(t);
      EXPECT_NEAR(together.tasks[t].objective, single.tasks[0].objective, 1e-10 * single.tasks[0].objective);
      for (std::int64_t j = 0; j < 51; ++j) {
        EXPECT_NEAR(together.weights(j, column), single.weights(j, 0), 1e-6);
        EXPECT_NEAR(rounds.weights(j, column), single.weights(j, 0), 1e-6);
      }
    }
  }
}

TEST(Newton, DataThatDoNotFitTheGpuGiveTheSameModels) {
  const Table table = make_table(2000, 40, 0.5);
  const Sheaf sheaf = make_sheaf(table, false, {0.1, 10});
  bool tried = false;
  for (const Device device : test::devices())
    for (const bool sparse : {false, true})
      for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
        if (device.is_cpu()) continue;
        tried = true;
        const auto dataset = make_dataset<double>(table, sparse);
        const auto params = params_of({loss, StepRule::trust_region, true, 1, true}, 1e-9);
        const auto fitting = newton(context_on(device), dataset, sheaf, params);
        const std::int64_t blocks =
            (6 * 2000 + 9 * 41) * 8 * block_stride(static_cast<std::int32_t>(sheaf.tasks.size()));
        const auto tight = context_on(device, blocks + matrix_bytes(dataset.x) / 2);
        const auto streamed = newton(tight, dataset, sheaf, params);
        const auto again = newton(tight, dataset, sheaf, params);
        for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
          const auto column = static_cast<std::int32_t>(t);
          EXPECT_TRUE(streamed.tasks[t].converged);
          EXPECT_NEAR(streamed.tasks[t].objective, fitting.tasks[t].objective, 1e-10 * fitting.tasks[t].objective);
          for (std::int64_t j = 0; j < 41; ++j) {
            EXPECT_NEAR(streamed.weights(j, column), fitting.weights(j, column), 1e-6);
            EXPECT_EQ(streamed.weights(j, column), again.weights(j, column));
          }
        }
      }
  if (!tried) GTEST_SKIP() << "no GPU among the devices";
}

TEST(Newton, AWarmStartEndsAtTheSameOptimumSooner) {
  const Table table = make_table(200, 60, 0.3);
  for (const Device device : test::devices()) {
    const auto dataset = make_dataset<double>(table, true);
    const Sheaf sheaf = make_sheaf(table, false, {10});
    const auto params = params_of({Loss::squared_hinge, StepRule::trust_region, true, 0, true}, 1e-8);
    const auto cold = newton(context_on(device), dataset, sheaf, params);
    const auto warm = newton(context_on(device), dataset, sheaf, params, &cold.weights);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      EXPECT_NEAR(warm.tasks[t].objective, cold.tasks[t].objective, 1e-10 * cold.tasks[t].objective);
      EXPECT_LT(warm.tasks[t].products, cold.tasks[t].products);
      EXPECT_NEAR(warm.tasks[t].tolerance, cold.tasks[t].tolerance, 1e-9 * cold.tasks[t].tolerance)
          << "the tolerance refers to w = 0 however training starts";
    }
  }
}

/// Features of very different scales, some of which nearly follow from others.
Table make_badly_scaled_table() {
  Table table = make_table(1500, 90, 1);
  for (std::int64_t i = 0; i < table.rows; ++i) {
    double* row = &table.x[static_cast<std::size_t>(i * table.columns)];
    for (std::int64_t j = 0; j < table.columns; ++j) {
      if (j % 3 == 2) row[j] = row[j - 1] + 0.01 * row[j];
      row[j] *= std::pow(10.0, static_cast<double>(j % 5) - 2);
    }
  }
  return table;
}

TEST(Newton, TakesFewProductsForBadlyScaledFeatures) {
  const Table table = make_badly_scaled_table();
  for_settings([&](Device device, const Setting& setting) {
    if (setting.loss != Loss::logistic && setting.loss != Loss::squared) return;
    const auto dataset = make_dataset<double>(table, setting.sparse);
    const Sheaf sheaf = make_sheaf(table, is_regression(setting.loss), {0.1, 10});
    auto params = params_of(setting, 1e-9);
    params.stop = StopRule::suboptimality;
    const auto fits = newton(context_on(device), dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      SCOPED_TRACE(t);
      const auto end = measure(table, sheaf, sheaf.tasks[t], params, fits.weights, static_cast<std::int32_t>(t));
      EXPECT_TRUE(fits.tasks[t].converged);
      EXPECT_NEAR(fits.tasks[t].objective, end.objective, 1e-9 * end.objective);
      EXPECT_LE(end.gradient, fits.tasks[t].tolerance * 1.01);
      EXPECT_LT(fits.tasks[t].products, 120) << fits.tasks[t].iterations << " iterations";
    }
  });
}

TEST(Newton, AlongCostsEveryTaskEndsAtItsOptimum) {
  const Table table = make_table(150, 40, 0.4);
  for_settings([&](Device device, const Setting& setting) {
    const auto dataset = make_dataset<double>(table, setting.sparse);
    Sheaf sheaf = make_sheaf(table, is_regression(setting.loss), {1, 0.01, 100, 0.1, 10, 0.1});
    sheaf.tasks[7].cost_negative *= 2;  // belongs to no other
    auto params = params_of(setting, 1e-8);
    const auto cold = newton(context_on(device), dataset, sheaf, params);
    params.along_costs = true;
    const auto warm = newton(context_on(device), dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      const auto truth = measure(table, sheaf, sheaf.tasks[t], params, warm.weights, static_cast<std::int32_t>(t));
      EXPECT_TRUE(warm.tasks[t].converged) << t;
      EXPECT_NEAR(warm.tasks[t].objective, truth.objective, 1e-9 * truth.objective);
      EXPECT_NEAR(warm.tasks[t].objective, cold.tasks[t].objective, 1e-9 * truth.objective);
      EXPECT_NEAR(warm.tasks[t].tolerance, cold.tasks[t].tolerance, 1e-9 * cold.tasks[t].tolerance);
      EXPECT_LE(truth.gradient, warm.tasks[t].tolerance * 1.01 + 1e-9);
    }
  });
}

TEST(Newton, AlongCostsTakesFewerProducts) {
  const Table table = make_table(200, 60, 0.3);
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::squared_tube}) {
    const Sheaf sheaf = make_sheaf(table, is_regression(loss), {0.01, 0.1, 1, 10, 100, 1000});
    auto params = params_of({loss, StepRule::trust_region, true, 1, true}, 1e-4);
    const auto products = [&] {
      int sum = 0;
      for (const auto& fit : newton(context_on(Device::cpu()), make_dataset<double>(table, true), sheaf, params).tasks)
        sum += fit.products;
      return sum;
    };
    const int cold = products();
    params.along_costs = true;
    EXPECT_LT(products(), cold) << static_cast<int>(loss);
  }
}

TEST(Newton, AlongCostsNeitherThreadsNorRoundsMatter) {
  const Table table = make_table(120, 50, 0.3);
  const auto dataset = make_dataset<double>(table, true);
  const Sheaf sheaf = make_sheaf(table, false, {0.01, 0.1, 1, 10, 100, 1000});
  auto params = params_of({Loss::logistic, StepRule::trust_region, true, 1, true}, 1e-9);
  params.along_costs = true;
  const auto fits = newton(context_on(Device::cpu()), dataset, sheaf, params);
  Context::Options one;
  one.threads = 1;
  const auto alone = newton(Context(one), dataset, sheaf, params);
  // Room for the data and one of the two chains.
  const std::int64_t tight = 2 * matrix_bytes(dataset.x) + (8 * 120 + 16 * 51) * 8;
  const auto rounds = newton(context_on(Device::cpu(), tight), dataset, sheaf, params);
  for (std::int32_t t = 0; t < std::ssize(sheaf.tasks); ++t)
    for (std::int64_t j = 0; j < 51; ++j) {
      EXPECT_EQ(fits.weights(j, t), alone.weights(j, t));
      EXPECT_NEAR(fits.weights(j, t), rounds.weights(j, t), 1e-6);
    }
}

TEST(Newton, ARowOfWeightTwoIsTwoRowsAndOfWeightZeroNone) {
  const Table table = make_table(90, 15, 0.6);
  const Sheaf sheaf = make_sheaf(table, false, {1});
  const auto params = params_of({Loss::logistic, StepRule::line_search, false, 1, true}, 1e-10);
  const auto weighted = newton(context_on(Device::cpu()), make_dataset<double>(table, false), sheaf, params);
  Table repeated{0, 15, {}};
  Sheaf plain;
  for (std::int64_t i = 0; i < 90; ++i)
    for (int copy = 0; copy < static_cast<int>(sheaf.row_weights[static_cast<std::size_t>(2 * i + 1)]); ++copy) {
      for (std::int64_t j = 0; j < 15; ++j) repeated.x.push_back(table.at(i, j));
      plain.targets.push_back(sheaf.targets[static_cast<std::size_t>(i)]);
      ++repeated.rows;
    }
  plain.examples = repeated.rows;
  plain.tasks = {sheaf.tasks[1]};
  plain.tasks[0].rows = 0;
  const auto copied = newton(context_on(Device::cpu()), make_dataset<double>(repeated, false), plain, params);
  for (std::int64_t j = 0; j < 16; ++j) EXPECT_NEAR(weighted.weights(j, 1), copied.weights(j, 0), 1e-7);
}

TEST(Newton, TooLittleMemoryForOneTaskIsAnError) {
  const Table table = make_table(50, 10, 0.5);
  const Sheaf sheaf = make_sheaf(table, false, {1});
  EXPECT_THROW(newton(context_on(Device::cpu(), 1000), make_dataset<double>(table, true), sheaf, NewtonParams{}),
               Error);
}

/// Rows of which some are equal, so that they do not span as many coordinates; a feature that no row has.
Table make_wide_table() {
  Table table = make_table(30, 800, 0.5);
  for (std::int64_t j = 0; j < table.columns; ++j) {
    for (const std::int64_t copy : {7, 19})
      table.x[static_cast<std::size_t>(copy * table.columns + j)] = table.at(copy - 1, j);
    if (j == 5)
      for (std::int64_t i = 0; i < table.rows; ++i) table.x[static_cast<std::size_t>(i * table.columns + j)] = 0;
  }
  return table;
}

TEST(RowSpace, ReachesTheOptimumOfTheFeatures) {
  const Table table = make_wide_table();
  for_settings([&](Device device, const Setting& setting) {
    const auto dataset = make_dataset<double>(table, setting.sparse);
    const Sheaf sheaf = make_sheaf(table, is_regression(setting.loss), {0.001, 0.01, 0.1});
    ASSERT_TRUE(linear::row_space_pays(dataset, StopRule::suboptimality, static_cast<double>(sheaf.tasks.size())));
    auto params = params_of(setting, 1e-12);
    params.stop = StopRule::suboptimality;
    const auto fits = linear::newton_by_row_space(context_on(device), dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      SCOPED_TRACE(t);
      const Block<double> zero(fits.weights.rows(), 1);
      const auto start = measure(table, sheaf, sheaf.tasks[t], params, zero, 0);
      const auto end = measure(table, sheaf, sheaf.tasks[t], params, fits.weights, static_cast<std::int32_t>(t));
      EXPECT_TRUE(fits.tasks[t].converged);
      EXPECT_LT(end.gradient * end.gradient / 2, 1.1e-12 * (start.objective - end.objective));
      EXPECT_NEAR(fits.tasks[t].objective, end.objective, 1e-9 * start.objective);
    }
  });
}

/// Weights and decision values of transformed features are those of the features after the transform.
TEST(RowSpace, SeesFeaturesThroughTheirTransform) {
  const Table table = make_wide_table();
  Table seen = table;
  Sheaf sheaf = make_sheaf(table, false, {0.01, 1});
  sheaf.column_transforms = 1;
  Random random(3);
  for (std::int64_t j = 0; j < table.columns; ++j) {
    sheaf.shifts.push_back(random.normal());
    sheaf.factors.push_back(j % 7 == 3 ? 0.0 : 0.5 + random.uniform());
    for (std::int64_t i = 0; i < table.rows; ++i)
      seen.x[static_cast<std::size_t>(i * table.columns + j)] =
          (table.at(i, j) - sheaf.shifts.back()) * sheaf.factors.back();
  }
  for (const Device device : test::devices())
    for (const bool sparse : {false, true}) {
      SCOPED_TRACE(fmt::format("{} sparse {}", to_string(device), sparse));
      auto own = sheaf;
      Table own_seen = seen;
      if (sparse) {  // which is only scaled
        own.shifts.assign(own.shifts.size(), 0.0);
        for (std::int64_t e = 0; e < table.rows * table.columns; ++e)
          own_seen.x[static_cast<std::size_t>(e)] =
              table.x[static_cast<std::size_t>(e)] * own.factors[static_cast<std::size_t>(e % table.columns)];
      }
      const auto dataset = make_dataset<double>(table, sparse);
      linear::RowSpaces<double> spaces(dataset);
      ASSERT_TRUE(spaces.take(own));
      const auto& space = spaces.of(context_on(device), own, 0);
      const auto& rows = std::get<DenseMatrix<double>>(space.rows.x);
      EXPECT_EQ(rows.columns, table.rows - 2);
      for (std::int64_t a = 0; a < table.rows; ++a)
        for (std::int64_t b = 0; b < table.rows; ++b) {
          double wanted = 0;
          double product = 0;
          for (std::int64_t j = 0; j < table.columns; ++j) wanted += own_seen.at(a, j) * own_seen.at(b, j);
          for (std::int64_t k = 0; k < rows.columns; ++k)
            product += rows.values[a * rows.columns + k] * rows.values[b * rows.columns + k];
          ASSERT_NEAR(product, wanted, 1e-9);
        }
      auto params = params_of({Loss::logistic, StepRule::trust_region, sparse, 1.0, false}, 1e-12);
      params.stop = StopRule::suboptimality;
      const auto fits = linear::newton_by_row_space(context_on(device), dataset, own, params);
      for (std::size_t t = 0; t < own.tasks.size(); ++t) {
        const auto end = measure(own_seen, own, own.tasks[t], params, fits.weights, static_cast<std::int32_t>(t));
        const Block<double> zero(fits.weights.rows(), 1);
        const auto start = measure(own_seen, own, own.tasks[t], params, zero, 0);
        EXPECT_LT(end.gradient * end.gradient / 2, 1.1e-12 * (start.objective - end.objective));
      }
    }
}

TEST(RowSpace, IsNotForTallOrShiftedSparseData) {
  EXPECT_FALSE(
      linear::row_space_pays(make_dataset<double>(make_table(200, 300, 1), false), StopRule::suboptimality, 100));
  const Table table = make_wide_table();
  Sheaf sheaf = make_sheaf(table, false, {1});
  sheaf.column_transforms = 1;
  sheaf.shifts.assign(static_cast<std::size_t>(table.columns), 1.0);
  sheaf.factors = sheaf.shifts;
  const auto sparse = make_dataset<double>(table, true);
  EXPECT_FALSE(linear::RowSpaces<double>(sparse).take(sheaf));
}

}  // namespace newton_test
}  // namespace sheaf
