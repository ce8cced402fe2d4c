// Crammer and Singer's multi-class SVM by what its users rely on: the optimum, in a block as alone, with any number of
// threads and on every device; one pass beside a plain one that sorts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear/dual/dual.hpp"
#include "linear/dual/tables.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace multiclass_test {

constexpr std::size_t features = 20;

/// Models of several costs, on all rows and on two thirds of them (some counted twice); the first class weighs 1.5.
Sheaf make_sheaf(const PlainTable& table, std::int32_t classes, const std::vector<double>& costs) {
  Sheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(table.rows.size());
  sheaf.target_columns = classes;
  sheaf.weight_columns = 2;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (std::int32_t c = 0; c < classes; ++c) sheaf.targets.push_back(table.labels[i] == c ? 1 : -1);
    sheaf.row_weights.insert(sheaf.row_weights.end(), {1.0F, i % 3 == 0 ? 0.0F : i % 3 == 1 ? 1.0F : 2.0F});
  }
  for (const double cost : costs)
    for (const std::int32_t rows : {0, 1})
      for (std::int32_t c = 0; c < classes; ++c) sheaf.tasks.push_back({rows, c, c == 0 ? 1.5 * cost : cost, cost});
  return sheaf;
}

/// Classes 0 .. classes - 1; the last one has a single row if there are more than two.
PlainTable table_of(std::size_t rows, int classes, std::uint64_t seed) {
  auto table = make_table(rows, features, 0, seed);
  for (double& label : table.labels) {
    const auto bin = static_cast<int>(std::floor(label * 1.5));
    const int among = classes > 2 ? classes - 1 : classes;
    label = (bin % among + among) % among;
  }
  if (classes > 2 && !table.labels.empty()) table.labels[0] = classes - 1;
  return table;
}

DualParams params_of(double tolerance, double bias = 0) {
  DualParams params;
  params.loss = Loss::crammer_singer;
  params.stop = StopRule::suboptimality;
  params.tolerance = tolerance;
  params.bias = bias;
  params.max_iterations = 100000;
  return params;
}

/// The weights of model m as a plain model.
template <class T>
PlainModel model_of(const Block<T>& weights, std::int32_t m, std::int32_t classes, double bias) {
  PlainModel model;
  model.solver = "MCSVM_CS";
  model.features = features;
  model.columns = static_cast<std::size_t>(classes);
  model.bias = bias > 0 ? bias : -1;
  for (std::int32_t c = 0; c < classes; ++c) model.labels.push_back(c);
  for (std::int64_t j = 0; j < weights.rows(); ++j)
    for (std::int32_t c = 0; c < classes; ++c) model.w.push_back(static_cast<double>(weights(j, m * classes + c)));
  return model;
}

Costs costs_of(const Sheaf& sheaf, std::int32_t m) {
  const auto& task = sheaf.tasks[static_cast<std::size_t>(m * sheaf.target_columns)];
  Costs costs;
  costs.c = task.cost_negative;
  costs.class_weights[0] = task.cost_positive / task.cost_negative;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    costs.row_weights.push_back(static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(2 * i + task.rows)]));
  return costs;
}

/// The gap bounds how far the objective is above the best; around the weights nothing is better by more.
TEST(MultiClass, ReachesTheOptimumOfEveryModel) {
  for (const Device device : devices())
    for (const int classes : {1, 2, 3, 40})
      for (const bool sparse : {true, false})
        for (const double bias : {0.0, 1.0}) {
          const double tolerance = device.is_cuda() ? 1e-4 : 1e-6;  // passes on a GPU take longer
          SCOPED_TRACE(fmt::format("{} {} classes, sparse {}, bias {}", to_string(device), classes, sparse, bias));
          const auto table = table_of(80, classes, 3);
          const auto dataset = dataset_of<double>(table, features, sparse);
          const auto sheaf = make_sheaf(table, classes, {0.01, 0.2});
          const auto fits = dual_descent(on(device), dataset, sheaf, params_of(tolerance, bias));
          Random random(9);
          for (std::int32_t m = 0; m < 4; ++m) {
            const auto costs = costs_of(sheaf, m);
            auto model = model_of(fits.weights, m, classes, bias);
            const auto& fit = fits.tasks[static_cast<std::size_t>(m * classes)];
            const double reached = coupled_objective(table, model, costs);
            EXPECT_TRUE(fit.converged) << m;
            ASSERT_NEAR(fit.objective, reached, 1e-9 * (1 + reached)) << m;
            for (std::int32_t c = 1; c < classes; ++c)
              EXPECT_EQ(fits.tasks[static_cast<std::size_t>(m * classes + c)].objective, fit.objective);
            const auto best = model.w;
            for (int trial = 0; trial < 30; ++trial) {
              model.w = best;
              for (double& weight : model.w) weight += std::pow(10, -1 - trial % 5) * random.normal();
              EXPECT_GE(coupled_objective(table, model, costs), reached - fit.gradient_norm - 1e-9 * reached) << m;
            }
          }
        }
}

TEST(MultiClass, ABlockAndASingleModelAgree) {
  for (const Device device : devices()) {
    const int classes = 5;
    const auto table = table_of(90, classes, 5);
    const auto dataset = dataset_of<double>(table, features);
    const auto sheaf = make_sheaf(table, classes, {0.002, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5});  // two blocks
    const auto together = dual_descent(on(device), dataset, sheaf, params_of(1e-5));
    for (std::int32_t m = 0; m < 14; m += 5) {
      auto alone = sheaf;
      const auto begin = sheaf.tasks.begin() + m * classes;
      alone.tasks.assign(begin, begin + classes);
      const auto single = dual_descent(on(device), dataset, alone, params_of(1e-5));
      const auto& fit = together.tasks[static_cast<std::size_t>(m * classes)];
      EXPECT_TRUE(fit.converged && single.tasks[0].converged);
      EXPECT_NEAR(fit.objective, single.tasks[0].objective, fit.gradient_norm + single.tasks[0].gradient_norm + 1e-12);
    }
  }
}

TEST(MultiClass, ThreadsChangeNoBit) {
  for (const StopRule stop : {StopRule::gradient, StopRule::suboptimality}) {
    const auto table = table_of(120, 7, 6);
    const auto dataset = dataset_of<double>(table, features);
    const auto sheaf = make_sheaf(table, 7, {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2});
    auto params = params_of(0.01);
    params.stop = stop;
    const auto with = [&](int threads) {
      Context::Options options;
      options.device = Device::cpu();
      options.threads = threads;
      return dual_descent(Context(options), dataset, sheaf, params).weights;
    };
    const auto one = with(1);
    const auto three = with(3);
    for (std::int32_t m = 0; m < 16; ++m) ASSERT_EQ(model_of(one, m, 7, 0).w, model_of(three, m, 7, 0).w) << m;
  }
}

/// With two classes, the weights are u / 2 and -u / 2, with u those of the hinge loss at twice the cost.
TEST(MultiClass, TwoClassesAreTheHingeAtTwiceTheCost) {
  for (const Device device : devices()) {
    const auto table = table_of(100, 2, 7);
    const auto dataset = dataset_of<double>(table, features);
    const auto sheaf = make_sheaf(table, 2, {0.1});
    auto binary = sheaf;
    binary.target_columns = 1;
    binary.targets.clear();
    for (const double label : table.labels) binary.targets.push_back(label == 0 ? 1 : -1);
    binary.tasks = {{0, 0, 0.3, 0.2}, {1, 0, 0.3, 0.2}};
    const auto coupled = dual_descent(on(device), dataset, sheaf, params_of(1e-8, 1));
    auto params = params_of(1e-8, 1);
    params.loss = Loss::hinge;
    const auto hinge = dual_descent(on(device), dataset, binary, params);
    for (std::int32_t m = 0; m < 2; ++m)
      for (std::int64_t j = 0; j < coupled.weights.rows(); ++j) {
        EXPECT_NEAR(coupled.weights(j, 2 * m), hinge.weights(j, m) / 2, 1e-3) << j;
        EXPECT_NEAR(coupled.weights(j, 2 * m + 1), -hinge.weights(j, m) / 2, 1e-3) << j;
      }
  }
}

TEST(MultiClass, SinglePrecisionComesClose) {
  for (const Device device : devices()) {
    const auto table = table_of(100, 4, 8);
    const auto sheaf = make_sheaf(table, 4, {0.01, 0.1});
    const auto exact = dual_descent(on(Device::cpu()), dataset_of<double>(table, features), sheaf, params_of(1e-6));
    const auto fits = dual_descent(on(device), dataset_of<float>(table, features), sheaf, params_of(1e-3));
    for (std::int32_t m = 0; m < 4; ++m) {
      const auto costs = costs_of(sheaf, m);
      const double reached = coupled_objective(table, model_of(fits.weights, m, 4, 0), costs);
      EXPECT_TRUE(fits.tasks[static_cast<std::size_t>(4 * m)].converged) << m;
      EXPECT_LE(reached - exact.tasks[static_cast<std::size_t>(4 * m)].objective, 2e-3 * 100 * costs.c) << m;
    }
  }
}

TEST(MultiClass, AThousandClassesAndRowsWithoutEntriesAreTrained) {
  for (const Device device : devices()) {
    PlainTable table;
    for (std::size_t i = 0; i < 1000; ++i) {
      table.labels.push_back(static_cast<double>(i));
      table.rows.emplace_back();
      if (i % 100 != 7)
        table.rows.back() = {{i % features, 1.0}, {(i + 1 + (i / features) % (features - 1)) % features, 0.5}};
    }
    const auto sheaf = make_sheaf(table, 1000, {1});
    const auto fits = dual_descent(on(device), dataset_of<double>(table, features), sheaf, params_of(0.05));
    for (std::int32_t m = 0; m < 2; ++m) {
      const double reached = coupled_objective(table, model_of(fits.weights, m, 1000, 0), costs_of(sheaf, m));
      EXPECT_NEAR(fits.tasks[static_cast<std::size_t>(1000 * m)].objective, reached, 1e-9 * reached);
      EXPECT_TRUE(fits.tasks[static_cast<std::size_t>(1000 * m)].converged);
    }
  }
}

TEST(MultiClass, DecisionValuesAreThoseOfTheWeights) {
  for (const Device device : devices()) {
    const auto table = table_of(50, 3, 9);
    const auto dataset = dataset_of<double>(table, features);
    const auto sheaf = make_sheaf(table, 3, {0.1, 1});
    const auto fits = dual_descent(on(device), dataset, sheaf, params_of(1e-3, 1));
    Block<double> z(dataset.rows(), static_cast<std::int32_t>(sheaf.tasks.size()), device);
    linear::train_dual<double>(on(device), dataset, sheaf, params_of(1e-3, 1), {{}, z.view()});
    const auto here = z.to(Device::cpu());
    for (std::int32_t t = 0; t < here.tasks(); ++t)
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        double wanted = fits.weights(features, t);
        for (const auto& [j, value] : table.rows[i]) wanted += value * fits.weights(static_cast<std::int64_t>(j), t);
        ASSERT_NEAR(here(static_cast<std::int64_t>(i), t), wanted, 1e-12);
      }
  }
}

/// The dual variables of one row by sorting, as Keerthi et al. solve its problem; `a` are those of before.
std::vector<double> solve_by_sorting(const std::vector<double>& g, const std::vector<double>& a, std::size_t own,
                                     double q, double cost) {
  std::vector<double> levels;
  for (std::size_t c = 0; c < g.size(); ++c) levels.push_back(g[c] - q * a[c] + (c == own ? q * cost : 0));
  auto sorted = levels;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = -q * cost;
  double b = 0;
  for (std::size_t r = 0; r < sorted.size() && (r == 0 || b < sorted[r]); ++r) {
    sum += sorted[r];
    b = sum / static_cast<double>(r + 1);
  }
  std::vector<double> result;
  for (std::size_t c = 0; c < g.size(); ++c) result.push_back(std::min(c == own ? cost : 0.0, (b - g[c]) / q + a[c]));
  return result;
}

/// The first pass of every device beside one by plain loops. Nothing is left out in it: all variables are 0, and the
/// gradients of those that may not grow are the largest.
TEST(MultiClass, APassIsWhatItIsOnPaper) {
  for (const Device device : devices())
    for (const int classes : {2, 3, 31, 32, 33, 70}) {
      SCOPED_TRACE(fmt::format("{} {}", to_string(device), classes));
      const std::size_t rows = 60;
      const auto table = table_of(rows, classes, 13);
      const auto dataset = dataset_of<double>(table, features);
      const auto sheaf = make_sheaf(table, classes, {0.1, 2});
      const auto ops = linear::dual::make_dual_ops<double>(on(device, 5), dataset, sheaf, Loss::crammer_singer, 0.5,
                                                           static_cast<std::int32_t>(sheaf.tasks.size()));
      const auto width = static_cast<std::size_t>(ops->width());
      const std::size_t models = std::min<std::size_t>(width, 4);
      ops->reserve(1);
      std::vector<linear::dual::Start> starts(width);
      ops->start(0, std::span(sheaf.tasks).first(models * static_cast<std::size_t>(classes)), starts);
      std::vector<linear::dual::PassBounds> bounds(width);
      for (std::size_t m = 0; m < models; ++m) bounds[m].visited = true;
      std::vector<linear::dual::PassSums> sums(width);
      ops->pass(std::vector<std::int32_t>{0}, 0, true, bounds, sums);
      std::vector<std::int32_t> columns(width, -1);
      for (std::size_t m = 0; m < models; ++m) columns[m] = static_cast<std::int32_t>(m) * classes;
      Block<double> weights(features + 1, static_cast<std::int32_t>(models) * classes);
      ops->copy_weights(0, columns, weights.view());

      const auto shuffled = linear::dual::shuffled_rows(5, static_cast<std::int64_t>(rows));
      const auto order = linear::dual::draw_order(5, 0, static_cast<std::int64_t>(rows));
      for (std::size_t m = 0; m < models; ++m) {
        const auto& task = sheaf.tasks[m * static_cast<std::size_t>(classes)];
        std::vector<std::vector<double>> w(static_cast<std::size_t>(classes), std::vector<double>(features + 1, 0.0));
        double gap = 0;
        double visits = 0;
        double largest = 0;
        for (std::uint64_t n = 0; n < rows; ++n) {
          const auto i = static_cast<std::size_t>(shuffled[static_cast<std::int64_t>(order.at(n))]);
          const auto own = static_cast<std::size_t>(table.labels[i]);
          const double cost = static_cast<double>(sheaf.row_weights[2 * i + static_cast<std::size_t>(task.rows)]) *
                              sheaf.tasks[m * static_cast<std::size_t>(classes) + own].cost_positive;
          if (cost == 0) continue;
          ++visits;
          double q = 0.25;
          for (const auto& [j, value] : table.rows[i]) q += value * value;
          std::vector<double> g;
          for (std::size_t c = 0; c < w.size(); ++c) {
            double z = 0.5 * w[c].back();
            for (const auto& [j, value] : table.rows[i]) z += value * w[c][j];
            g.push_back(c == own ? z : z + 1);
          }
          const double most = *std::max_element(g.begin(), g.end());
          gap += cost * (most - g[own]);
          largest = std::max(largest, most - g[own]);  // only the row's own class may grow from 0
          const auto a = solve_by_sorting(g, std::vector<double>(g.size(), 0.0), own, q, cost);
          for (std::size_t c = 0; c < w.size() && most - g[own] > 0; ++c) {
            for (const auto& [j, value] : table.rows[i]) w[c][j] += a[c] * value;
            w[c].back() += 0.5 * a[c];
          }
        }
        EXPECT_EQ(sums[m].visits, visits);
        EXPECT_NEAR(sums[m].gap, gap, 1e-9 * (1 + gap));
        EXPECT_NEAR(sums[m].largest, largest, 1e-9);
        for (std::size_t c = 0; c < w.size(); ++c)
          for (std::size_t j = 0; j <= features; ++j)
            ASSERT_NEAR(weights(static_cast<std::int64_t>(j), columns[m] + static_cast<std::int32_t>(c)), w[c][j], 1e-9)
                << m << ' ' << c;
      }
    }
}

/// Through train_linear and cross_validate_linear: labels, class weights and two columns for two classes.
TEST(MultiClass, ModelsHaveADecisionValueForEachClass) {
  for (const Device device : devices())
    for (const int classes : {2, 3}) {
      auto table = make_table(150, features, 0, 21);
      for (double& label : table.labels) label = std::clamp(std::floor(label) + 1, 0.0, classes - 1.0);
      LinearOptions options;
      options.loss = Loss::crammer_singer;
      options.tolerance = 1e-6;
      options.class_weights = {{"0", 2.0}};
      options.cost = 0.1;
      options.max_iterations = 100000;
      const auto dataset = dataset_of<double>(table, features);
      const auto model = train_linear(on(device), dataset, options);
      EXPECT_EQ(model.columns, classes);
      EXPECT_TRUE(model.is_coupled() && model.is_dual() && warnings_of(model).empty());
      PlainModel plain;
      plain.solver = model.solver;
      plain.features = features;
      plain.columns = static_cast<std::size_t>(classes);
      plain.bias = 1;
      plain.w = model.weights;
      for (const auto& name : model.class_names) plain.labels.push_back(std::stod(name));
      Costs costs;
      costs.c = 0.1;
      costs.class_weights[0] = 2;
      EXPECT_NEAR(coupled_objective(table, plain, costs), model.fits[0].objective, 1e-9 * model.fits[0].objective);
      const auto predictions = predict_linear(on(device), model, dataset);
      const auto score = score_of(model, predictions, dataset.target);
      EXPECT_GT(score->accuracy(), classes == 2 ? 0.8 : 0.5);
      const auto validated = cross_validate_linear(on(device), dataset, options, 3);
      EXPECT_EQ(validated.unconverged, 0);
      EXPECT_GT(validated.score.accuracy(), classes == 2 ? 0.7 : 0.4);
      options.method = LinearMethod::newton;
      EXPECT_THROW(train_linear(on(device), dataset, options), UsageError);
    }
}

}  // namespace multiclass_test
}  // namespace sheaf::test
