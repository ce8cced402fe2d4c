// Elastic nets of several classes or targets in one model whose weights have limits: optimality conditions and the
// duality gap against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace class_limits_test {

using test::on;

using Rows = std::vector<std::vector<double>>;
constexpr double infinity = std::numeric_limits<double>::infinity();

double squares_of(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double number : numbers) squares += number * number;
  return squares;
}

/// Weights of each feature in all classes, and intercepts.
struct Weights {
  Rows w;
  std::vector<double> b;
};

/// A problem as plain vectors, all weights of rows 1.
struct Plain {
  Rows x;
  Rows y;                                 // of each row and class
  std::vector<double> p1, p2, low, high;  // of features
  Loss loss = Loss::softmax;
  bool grouped = false;
  bool intercept = true;

  std::size_t rows() const { return x.size(); }
  std::size_t features() const { return p1.size(); }
  std::size_t classes() const { return y[0].size(); }
  Weights zeros() const {
    return {Rows(features(), std::vector<double>(classes(), 0.0)), std::vector<double>(classes(), 0.0)};
  }

  /// The loss of row i, and minus its slopes.
  std::pair<double, std::vector<double>> terms(std::size_t i, const Weights& at) const {
    auto z = at.b;
    for (std::size_t j = 0; j < features(); ++j)
      for (std::size_t k = 0; k < classes(); ++k) z[k] += x[i][j] * at.w[j][k];
    const double largest = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (const double value : z) sum += std::exp(value - largest);
    double value = loss == Loss::softmax ? std::log(sum) + largest : 0.0;
    std::vector<double> left;
    for (std::size_t k = 0; k < classes(); ++k) {
      left.push_back(y[i][k] - (loss == Loss::softmax ? std::exp(z[k] - largest) / sum : z[k]));
      value += loss == Loss::softmax ? -y[i][k] * z[k] : left[k] * left[k] / 2;
    }
    return {value, left};
  }
  double penalty(std::size_t j, const std::vector<double>& row) const {
    double sizes = 0;
    for (const double w : row) sizes += std::abs(w);
    return p1[j] * (grouped ? std::sqrt(squares_of(row)) : sizes) + p2[j] / 2 * squares_of(row);
  }
  double objective(const Weights& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) sum += terms(i, at).first / double(rows());
    for (std::size_t j = 0; j < features(); ++j) sum += penalty(j, at.w[j]);
    return sum;
  }
  /// Minus the derivatives of the mean loss.
  Weights gradient(const Weights& at) const {
    Weights g = zeros();
    for (std::size_t i = 0; i < rows(); ++i) {
      const auto left = terms(i, at).second;
      for (std::size_t k = 0; k < classes(); ++k) {
        if (intercept) g.b[k] += left[k] / double(rows());
        for (std::size_t j = 0; j < features(); ++j) g.w[j][k] += left[k] * x[i][j] / double(rows());
      }
    }
    return g;
  }
  /// The row that makes |row - from|^2 / (2 step) and the penalty least, within limits. The length of a grouped row is
  /// found by halving an interval.
  std::vector<double> nearest(std::size_t j, const std::vector<double>& from, double step) const {
    const auto row_of = [&](double length) {
      std::vector<double> row;
      for (const double v : from) {
        const double size = grouped ? std::abs(v) / (1 + step * (p2[j] + (p1[j] > 0 ? p1[j] / length : 0)))
                                    : std::max(0.0, std::abs(v) - step * p1[j]) / (1 + step * p2[j]);
        row.push_back(std::clamp(v > 0 ? size : -size, low[j], high[j]));
      }
      return row;
    };
    double shortest = 0, longest = std::sqrt(squares_of(from));
    if (!grouped || longest == 0) return row_of(1);
    for (int turn = 0; turn < 100; ++turn) {
      const double middle = (shortest + longest) / 2;
      (squares_of(row_of(middle)) > middle * middle ? shortest : longest) = middle;
    }
    auto row = row_of(longest);
    if (longest < 1e-12)
      for (double& w : row) w = 0;
    return row;
  }
  /// A step along the gradient and to the nearest weights under the penalty.
  Weights step(const Weights& at, double size) const {
    Weights next = at;
    const auto g = gradient(at);
    for (std::size_t k = 0; k < classes(); ++k) next.b[k] += size * g.b[k];
    for (std::size_t j = 0; j < features(); ++j) {
      for (std::size_t k = 0; k < classes(); ++k) next.w[j][k] += size * g.w[j][k];
      next.w[j] = nearest(j, next.w[j], size);
    }
    return next;
  }
};

/// How far weights are from being best: a step from the best leads nowhere.
double violation(const Plain& plain, const Weights& at) {
  const auto next = plain.step(at, 1);
  double worst = 0;
  for (std::size_t k = 0; k < plain.classes(); ++k) {
    worst = std::max(worst, std::abs(next.b[k] - at.b[k]));
    for (std::size_t j = 0; j < plain.features(); ++j) worst = std::max(worst, std::abs(next.w[j][k] - at.w[j][k]));
  }
  return worst;
}

/// The least objective, by such steps with momentum (Beck, Teboulle 2009), which ends when the objective rises.
double least_objective(const Plain& plain) {
  double length = 1;  // of second derivatives, at most
  for (std::size_t j = 0; j < plain.features(); ++j)
    for (const auto& row : plain.x) length += row[j] * row[j] / double(plain.rows());
  auto at = plain.zeros();
  auto before = at;
  double momentum = 1, least = plain.objective(at);
  for (int turn = 0; turn < 4000; ++turn) {
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const double share = (momentum - 1) / next;
    auto ahead = at;
    for (std::size_t k = 0; k < plain.classes(); ++k) {
      ahead.b[k] += share * (at.b[k] - before.b[k]);
      for (std::size_t j = 0; j < plain.features(); ++j) ahead.w[j][k] += share * (at.w[j][k] - before.w[j][k]);
    }
    before = at;
    at = plain.step(ahead, 1 / length);
    const double objective = plain.objective(at);
    momentum = objective > least ? 1 : next;
    least = std::min(least, objective);
  }
  return least;
}

/// Limits of many kinds: none, one side, both, wide ones that nothing comes to.
void set_limits(NetSheaf& sheaf, std::size_t features, double size) {
  const std::vector<std::pair<double, double>> kinds{
      {0, infinity},     {-size, size / 2}, {-infinity, 0}, {-size, size},        {0, 0},
      {-infinity, size}, {-1e9, 1e9},       {0, size / 4},  {-infinity, infinity}};
  for (std::size_t j = 0; j < features; ++j) {
    sheaf.lower_limits.push_back(kinds[j % kinds.size()].first);
    sheaf.upper_limits.push_back(kinds[j % kinds.size()].second);
  }
}

enum class Kind { classes, grouped_classes, targets };

struct Problem {
  test::PlainTable table;
  Rows y;
  NetSheaf sheaf;
  NetParams params;
};

class ClassLimits : public testing::TestWithParam<std::tuple<Device, bool, Kind>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }
  Kind kind() const { return std::get<2>(GetParam()); }

  /// Targets of regressions are sums of some features and of what the class of a row is.
  Problem make(std::size_t rows, std::size_t features, std::size_t classes, std::uint64_t seed) const {
    Problem problem;
    problem.table = test::make_table(rows, features, static_cast<int>(classes), seed);
    problem.params.loss = kind() == Kind::targets ? Loss::squared : Loss::softmax;
    problem.params.grouped = kind() != Kind::classes;
    problem.params.tolerance = 1e-9;
    problem.params.max_epochs = 100000;
    auto& sheaf = problem.sheaf;
    sheaf.examples = static_cast<std::int64_t>(rows);
    sheaf.classes = sheaf.target_columns = static_cast<std::int32_t>(classes);
    for (std::size_t i = 0; i < rows; ++i) {
      auto& y = problem.y.emplace_back(classes, 0.0);
      y[static_cast<std::size_t>(problem.table.labels[i]) - 1] = 1;
      if (kind() == Kind::targets)
        for (const auto& [j, value] : problem.table.rows[i])
          for (std::size_t k = 0; k < classes; ++k) y[k] += (j == k ? value : 0) - (j == k + 1 ? value / 2 : 0);
      sheaf.targets.insert(sheaf.targets.end(), y.begin(), y.end());
    }
    return problem;
  }
  template <class T = double>
  std::vector<NetModel> train(const Problem& problem, std::size_t features) const {
    const auto dataset = test::dataset_of<T>(problem.table, features, sparse());
    return elastic_nets<T>(on(device()), dataset, problem.sheaf, problem.params);
  }
  Plain plain_of(const Problem& problem, std::size_t features, const NetModel& model) const {
    Plain plain;
    const auto& sheaf = problem.sheaf;
    plain.x.assign(problem.y.size(), std::vector<double>(features, 0.0));
    for (std::size_t i = 0; i < plain.x.size(); ++i)
      for (const auto& [j, value] : problem.table.rows[i]) plain.x[i][j] = value;
    plain.y = problem.y;
    plain.loss = problem.params.loss;
    plain.grouped = problem.params.grouped;
    plain.intercept = problem.params.intercept;
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
    for (std::size_t j = 0; j < features; ++j) {
      double mean = 0, squares = 0;
      for (const auto& row : plain.x) mean += row[j] / double(plain.rows());
      for (const auto& row : plain.x) squares += std::pow(row[j] - mean, 2) / double(plain.rows());
      const double unit = problem.params.standardise ? std::sqrt(squares) : 1.0;
      const double factor = sheaf.penalty_factors.empty() ? 1.0 : sheaf.penalty_factors[j];
      plain.p1.push_back(alpha * path.l1_ratio * factor * unit);
      plain.p2.push_back(alpha * (1 - path.l1_ratio) * factor * unit * unit);
      plain.low.push_back(sheaf.lower_limits[j]);
      plain.high.push_back(sheaf.upper_limits[j]);
    }
    return plain;
  }
  /// check(plain, weights, fit) for the model of each path and alpha.
  template <class Check>
  void each(const Problem& problem, std::size_t features, const std::vector<NetModel>& models,
            const Check& check) const {
    const auto classes = static_cast<std::size_t>(problem.sheaf.classes);
    for (std::size_t at = 0; at < models.size(); at += classes) {
      const auto plain = plain_of(problem, features, models[at]);
      auto weights = plain.zeros();
      for (std::size_t k = 0; k < classes; ++k) {
        const auto& model = models[at + k];
        weights.b[k] = model.intercept;
        for (std::size_t f = 0; f < model.features.size(); ++f)
          weights.w[static_cast<std::size_t>(model.features[f])][k] = model.weights[f];
      }
      SCOPED_TRACE(testing::Message() << "path " << models[at].path << ", alpha " << models[at].alpha);
      check(plain, weights, models[at]);
    }
  }

  /// `most` is the violation of the conditions that is allowed. Returns how many weights are at limits that are not 0.
  int expect_optimal(const Problem& problem, std::size_t features, const std::vector<NetModel>& models,
                     double most) const {
    int at_limits = 0;
    each(problem, features, models, [&](const Plain& plain, const Weights& weights, const NetModel& model) {
      EXPECT_TRUE(model.fit.converged) << model.fit.gap << " of " << model.fit.tolerance;
      for (std::size_t j = 0; j < features; ++j)
        for (const double w : weights.w[j]) {
          EXPECT_GE(w, plain.low[j]);
          EXPECT_LE(w, plain.high[j]);
          at_limits += w != 0 && (w == plain.low[j] || w == plain.high[j]) ? 1 : 0;
        }
      EXPECT_LT(violation(plain, weights), most);
      const double objective = plain.objective(weights);
      EXPECT_NEAR(model.fit.objective, objective, most * (1 + std::abs(objective)));
    });
    return at_limits;
  }
};

TEST_P(ClassLimits, EveryModelOfAGridIsOptimal) {
  struct Shape {
    std::size_t rows, features, classes;
  };
  for (const auto& [rows, features, classes] : {Shape{45, 100, 3}, Shape{150, 12, 5}})
    for (const bool intercept : {true, false})
      for (const bool standardise : {false, true}) {
        auto problem = make(rows, features, classes, 7);
        problem.params.intercept = intercept;
        problem.params.standardise = standardise;
        set_limits(problem.sheaf, features, 0.25);
        for (const double l1 : {1.0, 0.5, 0.05}) problem.sheaf.paths.push_back({0, 0, l1, {0.2, 0.05, 0.01}});
        problem.sheaf.paths.push_back({0, 0, 0, {0.2, 0.01}});
        EXPECT_GT(expect_optimal(problem, features, train(problem, features), 2e-4), 5);
      }
}

TEST_P(ClassLimits, EverySolverStaysWithinLimits) {
  constexpr std::size_t features = 40;
  auto problem = make(50, features, 3, 3);
  set_limits(problem.sheaf, features, 0.2);
  problem.sheaf.paths = {{0, 0, 0.9, {0.1, 0.03}}, {0, 0, 0.3, {0.05}}};
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun}) {
    if (solver == NetSolver::shotgun && kind() != Kind::classes) continue;  // of single weights
    SCOPED_TRACE(to_string(solver));
    problem.params.solver = solver;
    EXPECT_GT(expect_optimal(problem, features, train(problem, features), 2e-4), 5);
  }
}

TEST_P(ClassLimits, SinglePrecision) {
  constexpr std::size_t features = 60;
  auto problem = make(60, features, 3, 19);
  problem.params.tolerance = 1e-5;
  set_limits(problem.sheaf, features, 0.25);  // the halves of which are floats
  problem.sheaf.paths = {{0, 0, 1, {0.1, 0.03}}, {0, 0, 0.5, {0.1, 0.03}}};
  EXPECT_GT(expect_optimal(problem, features, train<float>(problem, features), 2e-2), 5);
}

TEST_P(ClassLimits, FeaturesWithoutAPenalty) {
  constexpr std::size_t features = 18;
  auto problem = make(90, features, 3, 23);
  set_limits(problem.sheaf, features, 0.25);
  for (std::size_t j = 0; j < features; ++j) problem.sheaf.penalty_factors.push_back(j < 9 ? 0 : 1 + 0.1 * double(j));
  problem.sheaf.paths = {{0, 0, 0.8, {1, 0.1, 0.01}}};
  EXPECT_GT(expect_optimal(problem, features, train(problem, features), 2e-4), 3);
}

/// The gap is that of the objective from the least possible one, or more, however early training ends.
TEST_P(ClassLimits, GapsAreBounds) {
  constexpr std::size_t features = 20;
  auto problem = make(40, features, 3, 29);
  set_limits(problem.sheaf, features, 0.15);
  problem.sheaf.paths = {{0, 0, 1, {0.05}}, {0, 0, 0.5, {0.05}}, {0, 0, 0, {0.05}}};
  std::vector<double> least;
  for (const double tolerance : {1e-10, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1}) {
    problem.params.tolerance = tolerance;
    each(problem, features, train(problem, features),
         [&](const Plain& plain, const Weights& weights, const NetModel& model) {
           if (least.size() < problem.sheaf.paths.size()) least.push_back(least_objective(plain));
           const double best = least[static_cast<std::size_t>(model.path)];
           const double objective = plain.objective(weights);
           EXPECT_TRUE(model.fit.converged);
           EXPECT_LE(objective - best, model.fit.gap + 1e-12) << "tolerance " << tolerance;
           EXPECT_LE(best - objective, 1e-9) << "the plain loops end where training does";
         });
  }
}

/// Limits that are no limits, and limits that no weight comes to, change nothing but the way there.
TEST_P(ClassLimits, WideLimitsChangeNothing) {
  constexpr std::size_t features = 50;
  auto problem = make(50, features, 3, 37);
  problem.sheaf.paths = {{0, 0, 1, {0.1, 0.02}}, {0, 0, 0.4, {0.1, 0.02}}};
  const auto free = train(problem, features);
  for (const double size : {infinity, 1e3, 1e12}) {
    problem.sheaf.lower_limits.assign(features, -size);
    problem.sheaf.upper_limits.assign(features, size);
    const auto limited = train(problem, features);
    for (std::size_t m = 0; m < free.size(); ++m) {
      EXPECT_TRUE(limited[m].fit.converged) << size;
      EXPECT_NEAR(limited[m].fit.objective, free[m].fit.objective, 1e-8);
    }
  }
  problem.sheaf.lower_limits.assign(features, 0);
  problem.sheaf.upper_limits.assign(features, 0);
  for (const auto& model : train(problem, features)) EXPECT_TRUE(model.features.empty());
}

/// A number taken off all classes changes no prediction: of a lasso's weights at 0 or above it is their smallest.
TEST_P(ClassLimits, WeightsAreShiftedWithinLimits) {
  if (kind() != Kind::classes) return;
  constexpr std::size_t features = 15;
  auto problem = make(80, features, 4, 43);
  problem.sheaf.lower_limits.assign(features, 0);
  problem.sheaf.upper_limits.assign(features, infinity);
  problem.sheaf.paths = {{0, 0, 1, {0.02, 0.005}}, {0, 0, 0.5, {0.02, 0.005}}};
  each(problem, features, train(problem, features), [&](const Plain&, const Weights& weights, const NetModel&) {
    for (const auto& row : weights.w) EXPECT_EQ(*std::min_element(row.begin(), row.end()), 0);
  });
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool, Kind>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  const Kind kind = std::get<2>(info.param);
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense") +
         (kind == Kind::classes           ? "Classes"
          : kind == Kind::grouped_classes ? "GroupedClasses"
                                          : "Targets");
}
INSTANTIATE_TEST_SUITE_P(Devices, ClassLimits,
                         testing::Combine(testing::ValuesIn(test::devices()), testing::Bool(),
                                          testing::Values(Kind::classes, Kind::grouped_classes, Kind::targets)),
                         name_of);

}  // namespace class_limits_test
}  // namespace sheaf
