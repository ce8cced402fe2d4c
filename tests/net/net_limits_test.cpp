// Elastic nets whose weights have limits: optimality conditions and the duality gap against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace net_limits_test {

using test::on;

constexpr double threshold = 0.5;  // of the Huber loss
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A problem as plain vectors, all weights of rows 1.
struct Plain {
  std::vector<std::vector<double>> x;  // rows
  std::vector<double> y;
  std::vector<double> p1, p2, low, high;  // of features
  Loss loss = Loss::squared;
  bool intercept = true;

  std::size_t rows() const { return x.size(); }
  std::size_t features() const { return p1.size(); }
  /// The loss of a row and minus its derivative.
  std::pair<double, double> terms(std::size_t i, double z) const {
    if (loss == Loss::squared) return {std::pow(y[i] - z, 2) / 2, y[i] - z};
    if (loss == Loss::huber) {
      const double r = y[i] - z;
      const double slope = std::clamp(r, -threshold, threshold);
      return {slope * (r - slope / 2), slope};
    }
    if (loss == Loss::poisson) return {std::exp(z) - y[i] * z, y[i] - std::exp(z)};
    return {std::log1p(std::exp(-y[i] * z)), y[i] / (1 + std::exp(y[i] * z))};
  }
  double decision(std::size_t i, const std::vector<double>& w, double b) const {
    double z = b;
    for (std::size_t j = 0; j < features(); ++j) z += x[i][j] * w[j];
    return z;
  }
  double objective(const std::vector<double>& w, double b) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) sum += terms(i, decision(i, w, b)).first / double(rows());
    for (std::size_t j = 0; j < features(); ++j) sum += p1[j] * std::abs(w[j]) + p2[j] / 2 * w[j] * w[j];
    return sum;
  }
  /// Minus the derivative of the mean loss by each weight and, last, by the intercept.
  std::vector<double> gradient(const std::vector<double>& w, double b) const {
    std::vector<double> g(features() + 1, 0.0);
    for (std::size_t i = 0; i < rows(); ++i) {
      const double r = terms(i, decision(i, w, b)).second / double(rows());
      for (std::size_t j = 0; j < features(); ++j) g[j] += r * x[i][j];
      g[features()] += r;
    }
    return g;
  }
};

/// How far the weights are from the conditions of optimality: the largest entry of the gradient, or what is left of the
/// way to a limit if that is less.
double violation(const Plain& plain, const std::vector<double>& w, double b) {
  const auto g = plain.gradient(w, b);
  double worst = plain.intercept ? std::abs(g.back()) : 0.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double slope = g[j] - plain.p2[j] * w[j];
    const double rise = slope - (w[j] >= 0 ? plain.p1[j] : -plain.p1[j]);  // what a larger weight would gain
    const double fall = slope + (w[j] <= 0 ? plain.p1[j] : -plain.p1[j]);  // minus what a smaller one would
    worst = std::max({worst, std::min(rise, plain.high[j] - w[j]), std::min(-fall, w[j] - plain.low[j])});
  }
  return worst;
}

/// The least objective, by steps of one weight at a time with the largest second derivative that a loss may have.
double least_objective(const Plain& plain) {
  const double bend = plain.loss == Loss::logistic ? 0.25 : 1.0;
  std::vector<double> w(plain.features(), 0.0), z(plain.rows(), 0.0);
  double b = 0;
  const auto slope_of = [&](const auto& value) {
    double g = 0;
    for (std::size_t i = 0; i < plain.rows(); ++i) g += plain.terms(i, z[i]).second * value(i) / double(plain.rows());
    return g;
  };
  for (int turn = 0; turn < 3000; ++turn) {
    for (std::size_t j = 0; j < plain.features(); ++j) {
      double curvature = 0;
      for (const auto& row : plain.x) curvature += bend * row[j] * row[j] / double(plain.rows());
      const double pull = slope_of([&](std::size_t i) { return plain.x[i][j]; }) + curvature * w[j];
      const double rest = std::max(0.0, std::abs(pull) - plain.p1[j]) / (curvature + plain.p2[j]);
      const double best = std::clamp(pull > 0 ? rest : -rest, plain.low[j], plain.high[j]);
      for (std::size_t i = 0; i < plain.rows(); ++i) z[i] += (best - w[j]) * plain.x[i][j];
      w[j] = best;
    }
    const double step = plain.intercept ? slope_of([](std::size_t) { return 1.0; }) / bend : 0.0;
    b += step;
    for (double& one : z) one += step;
  }
  return plain.objective(w, b);
}

/// Limits of many kinds: none, one side, both, wide ones that nothing comes to.
void set_limits(NetSheaf& sheaf, std::size_t features, double size) {
  const std::vector<std::pair<double, double>> kinds{{0, infinity}, {-size, size / 2}, {-infinity, 0},
                                                     {0, 0},        {-infinity, size}, {-1e9, 1e9},
                                                     {0, size / 4}, {-size, 0},        {-infinity, infinity}};
  for (std::size_t j = 0; j < features; ++j) {
    sheaf.lower_limits.push_back(kinds[j % kinds.size()].first);
    sheaf.upper_limits.push_back(kinds[j % kinds.size()].second);
  }
}

struct Problem {
  test::PlainTable table;
  NetSheaf sheaf;
  NetParams params;
};

class NetLimits : public testing::TestWithParam<std::tuple<Device, bool, Loss>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }
  Loss loss() const { return std::get<2>(GetParam()); }

  Problem make(std::size_t rows, std::size_t features, std::uint64_t seed) const {
    Problem problem;
    auto& table = problem.table;
    table = test::make_table(rows, features, loss() == Loss::logistic ? 2 : 0, seed);
    if (loss() == Loss::poisson)
      for (double& label : table.labels) label = std::floor(std::exp(1 + 0.5 * label));
    problem.sheaf.examples = static_cast<std::int64_t>(rows);
    problem.sheaf.targets = table.labels;
    problem.params.loss = loss();
    if (loss() == Loss::huber) problem.params.loss_parameter = threshold;
    problem.params.tolerance = 1e-9;
    problem.params.max_epochs = 100000;
    return problem;
  }
  template <class T = double>
  std::vector<NetModel> train(const Problem& problem, std::size_t features) const {
    const auto dataset = test::dataset_of<T>(problem.table, features, sparse());
    return elastic_nets<T>(on(device()), dataset, problem.sheaf, problem.params);
  }
  static Plain plain_of(const Problem& problem, std::size_t features, const NetModel& model) {
    Plain plain;
    const auto& sheaf = problem.sheaf;
    plain.x.assign(problem.table.rows.size(), std::vector<double>(features, 0.0));
    for (std::size_t i = 0; i < plain.x.size(); ++i)
      for (const auto& [j, value] : problem.table.rows[i]) plain.x[i][j] = value;
    plain.y = sheaf.targets;
    plain.loss = problem.params.loss;
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
      plain.low.push_back(sheaf.lower_limits.empty() ? -infinity : sheaf.lower_limits[j]);
      plain.high.push_back(sheaf.upper_limits.empty() ? infinity : sheaf.upper_limits[j]);
    }
    return plain;
  }
  static std::vector<double> weights_of(const NetModel& model, std::size_t features) {
    std::vector<double> w(features, 0.0);
    for (std::size_t k = 0; k < model.features.size(); ++k)
      w[static_cast<std::size_t>(model.features[k])] = model.weights[k];
    return w;
  }

  /// `most` is the violation of the conditions that is allowed. Returns how many weights are at limits that are not 0.
  static int expect_optimal(const Problem& problem, std::size_t features, const std::vector<NetModel>& models,
                            double most) {
    constexpr double rounding = 1e-13;
    int at_limits = 0;
    for (const auto& model : models) {
      const auto plain = plain_of(problem, features, model);
      const auto w = weights_of(model, features);
      SCOPED_TRACE(testing::Message() << "path " << model.path << ", alpha " << model.alpha);
      EXPECT_TRUE(model.fit.converged) << model.fit.gap << " of " << model.fit.tolerance;
      for (std::size_t j = 0; j < features; ++j) {
        EXPECT_GE(w[j], plain.low[j]);
        EXPECT_LE(w[j], plain.high[j]);
        const double way = std::min(w[j] - plain.low[j], plain.high[j] - w[j]);
        EXPECT_FALSE(way > 0 && way < rounding) << "weight " << j << " is beside its limit, not at it";
        at_limits += w[j] != 0 && way == 0 ? 1 : 0;
      }
      EXPECT_LT(violation(plain, w, model.intercept), most);
      const double objective = plain.objective(w, model.intercept);
      EXPECT_NEAR(model.fit.objective, objective, most * (1 + std::abs(objective)));
    }
    return at_limits;
  }
};

TEST_P(NetLimits, EveryModelOfAGridIsOptimal) {
  for (const auto& [rows, features] : {std::pair<std::size_t, std::size_t>{40, 150}, {200, 12}, {33, 33}})
    for (const bool intercept : {true, false})
      for (const bool standardise : {false, true}) {
        auto problem = make(rows, features, 7);
        problem.params.intercept = intercept;
        problem.params.standardise = standardise;
        set_limits(problem.sheaf, features, 0.25);
        for (const double l1 : {1.0, 0.5, 0.05}) problem.sheaf.paths.push_back({0, 0, l1, {0.5, 0.2, 0.05, 0.01}});
        problem.sheaf.paths.push_back({0, 0, 0, {0.2, 0.01}});
        EXPECT_GT(expect_optimal(problem, features, train(problem, features), 1e-4), 5);
      }
}

TEST_P(NetLimits, EverySolverStaysWithinLimits) {
  constexpr std::size_t features = 60;
  auto problem = make(50, features, 3);
  set_limits(problem.sheaf, features, 0.2);
  problem.sheaf.paths = {{0, 0, 0.9, {0.1, 0.03}}, {0, 0, 0.3, {0.05}}};
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun}) {
    SCOPED_TRACE(to_string(solver));
    problem.params.solver = solver;
    EXPECT_GT(expect_optimal(problem, features, train(problem, features), 1e-4), 5);
  }
}

TEST_P(NetLimits, SinglePrecision) {
  constexpr std::size_t features = 80;
  auto problem = make(60, features, 19);
  problem.params.tolerance = 1e-5;
  set_limits(problem.sheaf, features, 0.25);  // the halves of which are floats
  problem.sheaf.paths = {{0, 0, 1, {0.2, 0.05}}, {0, 0, 0.5, {0.2, 0.05}}};
  EXPECT_GT(expect_optimal(problem, features, train<float>(problem, features), 2e-2), 5);
}

TEST_P(NetLimits, FeaturesWithoutAPenalty) {
  constexpr std::size_t features = 18;
  auto problem = make(90, features, 23);
  set_limits(problem.sheaf, features, 0.25);
  for (std::size_t j = 0; j < features; ++j) problem.sheaf.penalty_factors.push_back(j < 10 ? 0 : 1 + 0.1 * double(j));
  problem.sheaf.paths = {{0, 0, 0.8, {1, 0.1, 0.01}}};
  EXPECT_GT(expect_optimal(problem, features, train(problem, features), 1e-4), 3);
}

/// The gap is that of the objective from the least possible one, or more, however early training ends.
TEST_P(NetLimits, GapsAreBounds) {
  if (loss() == Loss::poisson) GTEST_SKIP() << "its second derivative has no largest value";
  constexpr std::size_t features = 24;
  auto problem = make(40, features, 29);
  set_limits(problem.sheaf, features, 0.15);
  problem.sheaf.paths = {{0, 0, 1, {0.05}}, {0, 0, 0.5, {0.05}}, {0, 0, 0, {0.05}}};
  std::vector<double> least;
  for (const double tolerance : {1e-10, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1}) {
    problem.params.tolerance = tolerance;
    for (const auto& model : train(problem, features)) {
      const auto plain = plain_of(problem, features, model);
      if (least.size() < problem.sheaf.paths.size()) least.push_back(least_objective(plain));
      const double best = least[static_cast<std::size_t>(model.path)];
      const double objective = plain.objective(weights_of(model, features), model.intercept);
      EXPECT_TRUE(model.fit.converged);
      EXPECT_LE(objective - best, model.fit.gap + 1e-12) << "path " << model.path << ", tolerance " << tolerance;
      EXPECT_LE(best - objective, 1e-9) << "the plain loops end where training does";
    }
  }
}

/// Limits that are no limits, and limits that no weight comes to, change nothing but the way there.
TEST_P(NetLimits, WideLimitsChangeNothing) {
  constexpr std::size_t features = 70;
  auto problem = make(50, features, 37);
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
  const auto dataset = test::dataset_of<double>(problem.table, features, sparse());
  const auto largest = largest_alphas<double>(on(device()), dataset, problem.sheaf, problem.params);
  problem.sheaf.lower_limits.assign(features, 0);
  problem.sheaf.upper_limits.assign(features, 0);
  EXPECT_EQ(largest_alphas<double>(on(device()), dataset, problem.sheaf, problem.params), largest);
  for (const auto& model : train(problem, features)) EXPECT_TRUE(model.features.empty());
}

/// If features have column factors, limits apply to the weights of the products.
TEST_P(NetLimits, ColumnFactorsScaleLimits) {
  constexpr std::size_t features = 20;
  auto problem = make(60, features, 41);
  set_limits(problem.sheaf, features, 0.2);
  problem.sheaf.paths = {{0, 0, 0.7, {0.1, 0.02}}};
  auto scaled = problem;
  for (auto& row : scaled.table.rows)
    for (auto& [j, value] : row) value *= j % 2 == 0 ? 4.0 : 0.5;
  for (std::size_t j = 0; j < features; ++j) problem.sheaf.column_factors.push_back(j % 2 == 0 ? 4.0 : 0.5);
  const auto seen = train(problem, features);
  const auto direct = train(scaled, features);
  EXPECT_GT(expect_optimal(scaled, features, direct, 1e-4), 0);
  for (std::size_t m = 0; m < seen.size(); ++m) {
    const auto ours = weights_of(seen[m], features);
    const auto theirs = weights_of(direct[m], features);
    for (std::size_t j = 0; j < features; ++j)
      EXPECT_NEAR(ours[j] / problem.sheaf.column_factors[j], theirs[j], 1e-4) << j;
  }
}

TEST_P(NetLimits, WrongLimitsAreRefused) {
  constexpr std::size_t features = 5;
  const auto refuses = [&](const auto& spoil, const std::string& why) {
    auto problem = make(20, features, 31);
    problem.sheaf.paths = {{0, 0, 0.5, {0.1}}};
    spoil(problem.sheaf);
    try {
      train(problem, features);
      ADD_FAILURE() << "nobody said: " << why;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuses([](NetSheaf& s) { s.lower_limits = {0, 0}; }, "2 lower limits of weights for 5 features");
  refuses([](NetSheaf& s) { s.upper_limits = {1}; }, "1 upper limits of weights for 5 features");
  refuses(
      [](NetSheaf& s) {
        s.lower_limits = {0, -1, 0.5, 0, 0};
      },
      "the lower limit of the weight of feature 3 is 0.5, not 0 or less");
  refuses(
      [](NetSheaf& s) {
        s.upper_limits = {0, -1, 0, 0, 0};
      },
      "the upper limit of the weight of feature 2 is -1, not 0 or more");
  refuses([nan](NetSheaf& s) { s.upper_limits = {nan, 1, 0, 0, 0}; }, "feature 1 is nan");
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool, Loss>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  const Loss loss = std::get<2>(info.param);
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense") +
         (loss == Loss::logistic  ? "Logistic"
          : loss == Loss::poisson ? "Poisson"
          : loss == Loss::huber   ? "Huber"
                                  : "Squared");
}
INSTANTIATE_TEST_SUITE_P(Devices, NetLimits,
                         testing::Combine(testing::ValuesIn(test::devices()), testing::Bool(),
                                          testing::Values(Loss::squared, Loss::logistic, Loss::poisson, Loss::huber)),
                         name_of);

}  // namespace net_limits_test
}  // namespace sheaf
