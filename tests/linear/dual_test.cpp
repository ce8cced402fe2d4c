// Coordinate descent on the dual by what its users rely on: the optimum, in a block as alone, with any number of
// threads and on every device; one pass beside a plain one; what a visit of one row does beside a fine grid.
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear/dual/dual.hpp"
#include "linear/dual/losses.hpp"
#include "linear/dual/tables.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace dual_test {

const std::vector<Loss> losses{Loss::hinge, Loss::squared_hinge, Loss::logistic, Loss::tube, Loss::squared_tube};

bool is_numeric(Loss loss) { return loss == Loss::tube || loss == Loss::squared_tube; }

double loss_of(Loss loss, double z, double y, double epsilon) {
  const double slack = std::max(0.0, 1 - y * z);
  const double excess = std::max(0.0, std::abs(y - z) - epsilon);
  switch (loss) {
    case Loss::hinge:
      return slack;
    case Loss::squared_hinge:
      return slack * slack;
    case Loss::logistic:
      return std::log1p(std::exp(-std::abs(y * z))) + std::max(0.0, -y * z);
    case Loss::tube:
      return excess;
    default:
      return excess * excess;
  }
}

/// Two classes or numbers, two weightings of the rows (a third of the rows held out, some counted twice).
Sheaf make_sheaf(const PlainTable& table, const std::vector<double>& costs) {
  Sheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(table.rows.size());
  sheaf.targets = table.labels;
  sheaf.weight_columns = 2;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    sheaf.row_weights.insert(sheaf.row_weights.end(), {1.0F, i % 3 == 0 ? 0.0F : i % 3 == 1 ? 1.0F : 2.0F});
  for (const double cost : costs)
    for (const std::int32_t rows : {0, 1}) sheaf.tasks.push_back({rows, 0, cost, cost * 0.7, 0.1});
  return sheaf;
}

PlainTable table_for(Loss loss, std::size_t rows, std::size_t features, std::uint64_t seed) {
  return make_table(rows, features, is_numeric(loss) ? 0 : 2, seed);
}

double decision(const PlainTable& table, std::size_t i, double bias, const std::vector<double>& w) {
  double z = bias > 0 ? bias * w.back() : 0;
  for (const auto& [j, value] : table.rows[i]) z += value * w[j];
  return z;
}

/// w'w / 2 + sum of cost * loss, by plain loops.
double objective(const PlainTable& table, const Sheaf& sheaf, const Task& task, Loss loss, double bias,
                 const std::vector<double>& w) {
  double sum = 0;
  for (const double weight : w) sum += weight * weight / 2;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double y = table.labels[i];
    const double weight =
        sheaf.row_weights.empty()
            ? 1
            : static_cast<double>(sheaf.row_weights[i * static_cast<std::size_t>(sheaf.weight_columns) +
                                                    static_cast<std::size_t>(task.rows)]);
    const double cost = y > 0 ? task.cost_positive : task.cost_negative;
    sum += weight * cost * loss_of(loss, decision(table, i, bias, w), y, task.loss_parameter);
  }
  return sum;
}

template <class T>
std::vector<double> column_of(const Block<T>& block, std::int32_t t) {
  std::vector<double> column;
  for (std::int64_t j = 0; j < block.rows(); ++j) column.push_back(static_cast<double>(block(j, t)));
  return column;
}

DualParams params_of(Loss loss, double tolerance, double bias = 0) {
  DualParams params;
  params.loss = loss;
  params.stop = StopRule::suboptimality;
  params.tolerance = tolerance;
  params.bias = bias;
  params.max_iterations = 100000;
  return params;
}

constexpr std::size_t features = 30;

/// A pass on a GPU takes its rows one after another, each as long as a thousand rows on a core: fewer rows and passes
/// there.
std::size_t rows_on(Device device, std::size_t rows) { return device.is_cuda() ? rows / 3 : rows; }
double tolerance_on(Device device, double tolerance) {
  return device.is_cuda() ? std::sqrt(tolerance) / 10 : tolerance;
}

/// The gap bounds how far the objective is above the best; around the weights nothing is better by more.
TEST(Dual, ReachesTheOptimumOfEveryTask) {
  for (const Device device : devices())
    for (const Loss loss : losses)
      for (const bool sparse : {true, false})
        for (const double bias : {0.0, 1.0}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", to_string(device), to_string(loss), sparse, bias));
          const auto table = table_for(loss, rows_on(device, 120), features, 3);
          const auto dataset = dataset_of<double>(table, features, sparse);
          const auto sheaf = make_sheaf(table, {0.01, 0.1, 1});
          const double tolerance = tolerance_on(device, 1e-7);
          const auto fits = dual_descent(on(device), dataset, sheaf, params_of(loss, tolerance, bias));
          Random random(9);
          for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
            const auto w = column_of(fits.weights, static_cast<std::int32_t>(t));
            const auto& fit = fits.tasks[t];
            const auto value = [&](const std::vector<double>& at) {
              return objective(table, sheaf, sheaf.tasks[t], loss, bias, at);
            };
            EXPECT_TRUE(fit.converged) << t;
            EXPECT_LE(fit.gradient_norm, tolerance * value(std::vector<double>(w.size(), 0.0)));
            ASSERT_NEAR(fit.objective, value(w), 1e-9 * value(w)) << t;
            for (int trial = 0; trial < 30; ++trial) {
              auto moved = w;
              for (double& weight : moved) weight += std::pow(10, -1 - trial % 5) * random.normal();
              EXPECT_GE(value(moved), value(w) - fit.gradient_norm - 1e-9 * value(w)) << t;
            }
          }
        }
}

TEST(Dual, EndsWhereNewtonEnds) {
  for (const Device device : devices())
    for (const Loss loss : {Loss::squared_hinge, Loss::logistic, Loss::squared_tube}) {
      SCOPED_TRACE(to_string(loss));
      const auto table = table_for(loss, rows_on(device, 200), features, 4);
      const auto dataset = dataset_of<double>(table, features);
      const auto sheaf = make_sheaf(table, {0.1, 1});
      NewtonParams newton_params;
      newton_params.loss = loss;
      newton_params.tolerance = 1e-10;
      newton_params.bias = 1;
      const auto wanted = newton(on(device), dataset, sheaf, newton_params);
      const double tolerance = device.is_cuda() ? 1e-7 : 1e-9;
      const auto fits = dual_descent(on(device), dataset, sheaf, params_of(loss, tolerance, 1));
      for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
        // The rule allows a share of the objective without weights.
        const std::vector<double> zeros(static_cast<std::size_t>(fits.weights.rows()), 0.0);
        const double allowed = tolerance * objective(table, sheaf, sheaf.tasks[t], loss, 1, zeros);
        EXPECT_NEAR(fits.tasks[t].objective, wanted.tasks[t].objective, allowed);
        for (std::int64_t j = 0; j < fits.weights.rows(); ++j)
          EXPECT_NEAR(fits.weights(j, static_cast<std::int32_t>(t)), wanted.weights(j, static_cast<std::int32_t>(t)),
                      1e-3);
      }
    }
}

TEST(Dual, ABlockAndASingleModelAgree) {
  for (const Device device : devices())
    for (const Loss loss : losses) {
      SCOPED_TRACE(to_string(loss));
      const auto table = table_for(loss, rows_on(device, 150), features, 5);
      const auto dataset = dataset_of<double>(table, features);
      const auto sheaf = make_sheaf(table, {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5});
      const auto params = params_of(loss, tolerance_on(device, 1e-6));
      const auto together = dual_descent(on(device), dataset, sheaf, params);
      for (std::size_t t = 0; t < sheaf.tasks.size(); t += device.is_cuda() ? 7 : 1) {
        auto alone = sheaf;
        alone.tasks = {sheaf.tasks[t]};
        const auto single = dual_descent(on(device), dataset, alone, params);
        EXPECT_TRUE(together.tasks[t].converged && single.tasks[0].converged);
        EXPECT_NEAR(together.tasks[t].objective, single.tasks[0].objective,
                    together.tasks[t].gradient_norm + single.tasks[0].gradient_norm + 1e-12);
      }
    }
}

TEST(Dual, ThreadsChangeNoBit) {
  for (const Loss loss : losses)
    for (const StopRule stop : {StopRule::gradient, StopRule::suboptimality}) {
      const auto table = table_for(loss, 150, features, 6);
      const auto dataset = dataset_of<double>(table, features);
      const auto sheaf = make_sheaf(table, {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10});
      auto params = params_of(loss, 0.01);
      params.max_iterations = 300;
      params.stop = stop;
      const auto with = [&](int threads) {
        Context::Options options;
        options.device = Device::cpu();
        options.threads = threads;
        return dual_descent(Context(options), dataset, sheaf, params);
      };
      const auto one = with(1);
      const auto three = with(3);
      for (std::int32_t t = 0; t < one.weights.tasks(); ++t)
        ASSERT_EQ(column_of(one.weights, t), column_of(three.weights, t)) << to_string(loss) << ' ' << t;
    }
}

/// Rows of weight 0 have no effect; weight 2 is a row twice.
TEST(Dual, RowWeightsAreRepeatedRows) {
  for (const Loss loss : losses) {
    SCOPED_TRACE(to_string(loss));
    const auto table = table_for(loss, 90, features, 7);
    const auto sheaf = make_sheaf(table, {1});
    const auto weighted =
        dual_descent(on(Device::cpu()), dataset_of<double>(table, features), sheaf, params_of(loss, 1e-9, 1));
    PlainTable repeated;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      for (std::size_t k = 0; k < i % 3; ++k) {
        repeated.rows.push_back(table.rows[i]);
        repeated.labels.push_back(table.labels[i]);
      }
    Sheaf plain;
    plain.examples = static_cast<std::int64_t>(repeated.rows.size());
    plain.targets = repeated.labels;
    plain.tasks = {sheaf.tasks[1]};
    plain.tasks[0].rows = 0;
    const auto copied =
        dual_descent(on(Device::cpu()), dataset_of<double>(repeated, features), plain, params_of(loss, 1e-9, 1));
    EXPECT_NEAR(weighted.tasks[1].objective, copied.tasks[0].objective, 1e-8 * copied.tasks[0].objective);
  }
}

TEST(Dual, SinglePrecisionComesClose) {
  for (const Device device : devices())
    for (const Loss loss : losses) {
      SCOPED_TRACE(to_string(loss));
      const auto table = table_for(loss, rows_on(device, 200), features, 8);
      const auto sheaf = make_sheaf(table, {0.01, 0.1, 1});
      const auto exact =
          dual_descent(on(Device::cpu()), dataset_of<double>(table, features), sheaf, params_of(loss, 1e-9));
      auto params = params_of(loss, 1e-3);
      params.max_iterations = 1000;
      const auto fits = dual_descent(on(device), dataset_of<float>(table, features), sheaf, params);
      for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
        const auto w = column_of(fits.weights, static_cast<std::int32_t>(t));
        const double reached = objective(table, sheaf, sheaf.tasks[t], loss, 0, w);
        const double start = objective(table, sheaf, sheaf.tasks[t], loss, 0, std::vector<double>(w.size(), 0.0));
        EXPECT_TRUE(fits.tasks[t].converged) << t;
        EXPECT_LE(reached - exact.tasks[t].objective, 2e-3 * start) << t;
      }
    }
}

TEST(Dual, DecisionValuesAreThoseOfTheWeights) {
  for (const Device device : devices()) {
    const auto table = table_for(Loss::squared_hinge, 70, features, 9);
    const auto dataset = dataset_of<double>(table, features);
    const auto sheaf = make_sheaf(table, {0.1, 1, 2, 4, 8});
    const auto params = params_of(Loss::squared_hinge, 1e-4, 1);
    const auto fits = dual_descent(on(device), dataset, sheaf, params);
    Block<double> z(dataset.rows(), static_cast<std::int32_t>(sheaf.tasks.size()), device);
    linear::train_dual<double>(on(device), dataset, sheaf, params, {{}, z.view()});
    const auto here = z.to(Device::cpu());
    for (std::int32_t t = 0; t < here.tasks(); ++t)
      for (std::size_t i = 0; i < table.rows.size(); ++i)
        ASSERT_NEAR(here(static_cast<std::int64_t>(i), t), decision(table, i, 1, column_of(fits.weights, t)), 1e-12);
  }
}

TEST(Dual, StopsWhereItIsTold) {
  const auto table = table_for(Loss::hinge, 100, features, 10);
  const auto dataset = dataset_of<double>(table, features);
  const auto sheaf = make_sheaf(table, {100});
  for (const Device device : devices())
    for (const StopRule stop : {StopRule::gradient, StopRule::suboptimality}) {
      auto params = params_of(Loss::hinge, 1e-9);
      params.stop = stop;
      params.max_iterations = 2;
      for (const auto& fit : dual_descent(on(device), dataset, sheaf, params).tasks) {
        EXPECT_FALSE(fit.converged);
        EXPECT_EQ(fit.iterations, 2);
        EXPECT_GT(fit.gradient_norm, fit.tolerance);
      }
    }
}

TEST(Dual, OddTablesAreTrained) {
  for (const Device device : devices())
    for (const Loss loss : losses) {
      PlainTable table{{1, 1, -1}, {{}, {{0, 1.0}}, {}}};  // rows without entries
      auto sheaf = make_sheaf(table, {1});
      const auto fits = dual_descent(on(device), dataset_of<double>(table, 2), sheaf, params_of(loss, 1e-6));
      for (std::size_t t = 0; t < fits.tasks.size(); ++t)
        EXPECT_NEAR(
            fits.tasks[t].objective,
            objective(table, sheaf, sheaf.tasks[t], loss, 0, column_of(fits.weights, static_cast<std::int32_t>(t))),
            1e-9);
      std::fill(sheaf.row_weights.begin(), sheaf.row_weights.end(), 0.0F);  // no rows at all
      for (const auto& fit : dual_descent(on(device), dataset_of<double>(table, 2), sheaf, params_of(loss, 1e-6)).tasks)
        EXPECT_EQ(fit.objective, 0);
    }
}

TEST(Dual, TooLittleMemoryIsAnError) {
  const auto table = table_for(Loss::hinge, 100, features, 11);
  Context::Options options;
  options.device = Device::cpu();
  options.memory = 1000;
  EXPECT_THROW(
      dual_descent(Context(options), dataset_of<double>(table, features), make_sheaf(table, {1}), DualParams{}), Error);
}

/// q / 2 (b - b_old)^2 + z b + conjugate(b): what a visit makes small, up to a constant.
double one_variable(Loss loss, double b, double old, double z, double q, double y, double c, double epsilon) {
  const double start = q / 2 * (b - old) * (b - old) + z * b;
  const auto part = [&](double a) { return a > 0 ? a * std::log(a / c) : 0; };
  switch (loss) {
    case Loss::hinge:
      return start - y * b;
    case Loss::squared_hinge:
      return start - y * b + b * b / (4 * c);
    case Loss::logistic:
      return start + part(y * b) + part(c - y * b);
    case Loss::tube:
      return start - y * b + epsilon * std::abs(b);
    default:
      return start - y * b + epsilon * std::abs(b) + b * b / (4 * c);
  }
}

/// No feasible value of the variable is better than the one a visit chooses.
TEST(Dual, AVisitIsTheBestStepOfOneVariable) {
  Random random(12);
  for (const Loss loss : losses)
    for (int trial = 0; trial < 200; ++trial) {
      const double y = is_numeric(loss) ? random.normal() : trial % 2 == 0 ? 1 : -1;
      const double c = std::exp(random.normal());
      const double q = 0.1 + random.uniform();
      const double z = 2 * random.normal();
      const double low = is_numeric(loss) ? -c : 0;
      const bool free = loss == Loss::squared_hinge || loss == Loss::squared_tube;
      double old = trial % 4 == 0 ? 0 : random.uniform(low, c);  // of y b, or of b
      if (!is_numeric(loss)) old *= y;
      linear::dual::with_dual(loss, [&](auto functor) {
        double kept = old;
        if (loss == Loss::logistic && old != 0) kept = y * old <= c / 2 ? y * old : y * old - c;
        const linear::dual::DualRow<double> row{
            z, kept, is_numeric(loss) ? c : y * c, y, 0.1, loss == Loss::logistic ? 1e-10 : HUGE_VAL, -HUGE_VAL};
        const auto visit = functor.template visit<double>(row, q);
        const double b = old + visit.step;
        const double found = one_variable(loss, b, old, z, q, y, c, 0.1);
        for (int k = 0; k <= 2000; ++k) {
          const double far = free ? 20 : c;
          const double at = is_numeric(loss) ? -far + far * k / 1000 : y * far * k / 2000;
          ASSERT_LE(found, one_variable(loss, at, old, z, q, y, c, 0.1) + 1e-9)
              << to_string(loss) << " b " << b << " beaten by " << at;
        }
        // The gap is 0 if no step is left, and never below.
        linear::dual::DualRow<double> after = row;
        EXPECT_GE(functor.template gap<double>(row), -1e-12);
        after.b = visit.b;
        after.z = z + q * visit.step;
        EXPECT_NEAR(functor.template gap<double>(after), 0, 1e-8) << to_string(loss);
      });
    }
}

/// The first pass of every device beside one by plain loops, at sizes around those of a block.
TEST(Dual, APassIsWhatItIsOnPaper) {
  for (const Device device : devices())
    for (const Loss loss : losses)
      for (const std::size_t rows : {1, 31, 32, 33, 200}) {
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(device), to_string(loss), rows));
        const auto table = table_for(loss, rows, features, 13);
        const auto dataset = dataset_of<double>(table, features);
        const auto sheaf = make_sheaf(table, {0.1, 1, 2, 4, 8});
        const auto context = on(device, 5);
        const auto ops = linear::dual::make_dual_ops<double>(context, dataset, sheaf, loss, 0.5,
                                                             static_cast<std::int32_t>(sheaf.tasks.size()));
        const auto width = static_cast<std::size_t>(ops->width());
        const std::size_t models = std::min(width, sheaf.tasks.size());
        const auto tasks = std::span(sheaf.tasks).first(models);
        ops->reserve(1);
        std::vector<linear::dual::Start> starts(width);
        ops->start(0, tasks, starts);
        std::vector<linear::dual::PassBounds> bounds(width);
        for (std::size_t t = 0; t < models; ++t) {
          bounds[t].visited = true;
          if (loss == Loss::logistic) bounds[t].upper = 1e-9;
        }
        std::vector<linear::dual::PassSums> sums(width);
        ops->pass(std::vector<std::int32_t>{0}, 0, true, bounds, sums);
        std::vector<std::int32_t> columns(width, -1);
        std::iota(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(models), 0);
        Block<double> weights(features + 1, static_cast<std::int32_t>(models));
        ops->copy_weights(0, columns, weights.view());

        const auto shuffled = linear::dual::shuffled_rows(5, static_cast<std::int64_t>(rows));
        const auto order = linear::dual::draw_order(5, 0, static_cast<std::int64_t>(rows));
        for (std::size_t t = 0; t < models; ++t) {
          std::vector<double> w(features + 1, 0.0);
          double gap = 0;
          double visits = 0;
          for (std::uint64_t n = 0; n < rows; ++n) {
            const auto i = static_cast<std::size_t>(shuffled[static_cast<std::int64_t>(order.at(n))]);
            const double y = table.labels[i];
            const double weight =
                static_cast<double>(sheaf.row_weights[2 * i + static_cast<std::size_t>(tasks[t].rows)]);
            const double cost = weight * (y > 0 ? tasks[t].cost_positive : tasks[t].cost_negative);
            if (cost == 0) continue;
            double q = 0.25;
            for (const auto& [j, value] : table.rows[i]) q += value * value;
            linear::dual::with_dual(loss, [&](auto functor) {
              const linear::dual::DualRow<double> row{decision(table, i, 0.5, w),
                                                      0,
                                                      is_numeric(loss) ? cost : y * cost,
                                                      y,
                                                      0.1,
                                                      bounds[t].upper,
                                                      bounds[t].lower};
              gap += functor.template gap<double>(row);
              const double step = functor.template visit<double>(row, q).step;
              for (const auto& [j, value] : table.rows[i]) w[j] += step * value;
              w.back() += step * 0.5;
            });
            ++visits;
          }
          EXPECT_EQ(sums[t].visits, visits);
          EXPECT_NEAR(sums[t].gap, gap, 1e-9 * (1 + gap));
          for (std::size_t j = 0; j < w.size(); ++j)
            ASSERT_NEAR(weights(static_cast<std::int64_t>(j), static_cast<std::int32_t>(t)), w[j], 1e-9) << t;
        }
      }
}

/// Every row once, whatever their number.
TEST(Dual, APassVisitsEveryRowOnce) {
  for (const std::int64_t rows : {1, 2, 3, 7, 64, 1000})
    for (int pass = 0; pass < 20; ++pass) {
      const auto order = linear::dual::draw_order(3, pass, rows);
      std::vector<int> seen(static_cast<std::size_t>(rows), 0);
      for (std::int64_t n = 0; n < rows; ++n) ++seen[order.at(static_cast<std::uint64_t>(n))];
      EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(rows), 1)) << rows;
    }
}

}  // namespace dual_test
}  // namespace sheaf::test
