// Elastic nets with grouped penalties, of several classes and of several targets, against their own definition: gaps
// and optimality conditions found by plain loops, not by the solver.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace group_net_test {

using test::on;

using Rows = std::vector<std::vector<double>>;

/// A problem as plain vectors.
struct Plain {
  Loss loss = Loss::softmax;
  Rows x;
  Rows y;  // of each row and class, 1 or 0; of each target
  std::vector<double> s;
  std::vector<double> factors;
};

struct Setting {
  double alpha = 0;
  double l1 = 0.5;
  bool intercept = true;
  bool standardise = false;
};

struct Verdict {
  double objective = 0;
  double gap = 0;        // over the deviance of the model without features
  double violation = 0;  // of the optimality conditions, relative to the longest gradient without features
};

double length_of(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares);
}

std::vector<double> shares_of(const std::vector<double>& z) {
  const double largest = *std::max_element(z.begin(), z.end());
  std::vector<double> p;
  double sum = 0;
  for (const double value : z) sum += p.emplace_back(std::exp(value - largest));
  for (double& value : p) value /= sum;
  return p;
}

/// The loss of a row with the decision values z; `left` becomes minus its slopes.
double loss_of(Loss loss, const std::vector<double>& y, const std::vector<double>& z, std::vector<double>& left) {
  left.clear();
  double value = 0;
  const auto p = shares_of(z);
  for (std::size_t k = 0; k < y.size(); ++k) {
    left.push_back(y[k] - (loss == Loss::softmax ? p[k] : z[k]));
    if (loss == Loss::squared) value += left[k] * left[k] / 2;
    if (loss == Loss::softmax && y[k] > 0) value -= y[k] * std::log(p[k]);
  }
  return value;
}

/// The least that the loss of a row and `left` times its decision values can be together.
double dual_of(Loss loss, const std::vector<double>& y, const std::vector<double>& left, double scale) {
  double value = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double u = scale * left[k];
    if (loss == Loss::squared) value += u * (y[k] - u / 2);
    if (loss == Loss::softmax && y[k] - u > 0) value -= (y[k] - u) * std::log(y[k] - u);
  }
  return value;
}

/// `several` are the models of one path and alpha.
Verdict measure(const Plain& plain, const Setting& set, std::span<const NetModel> several) {
  const std::size_t n = plain.x.size();
  const std::size_t d = plain.factors.size();
  const std::size_t count = several.size();
  Rows w(d, std::vector<double>(count, 0.0));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t f = 0; f < several[k].features.size(); ++f)
      w[static_cast<std::size_t>(several[k].features[f])][k] = several[k].weights[f];
  double total = 0;
  for (const double s : plain.s) total += s;
  std::vector<double> without(count, 0.0), balance(count, 0.0);
  for (std::size_t k = 0; k < count && set.intercept; ++k) {
    for (std::size_t i = 0; i < n; ++i) without[k] += plain.s[i] * plain.y[i][k] / total;
    if (plain.loss == Loss::softmax) without[k] = std::log(without[k]);
  }
  double loss = 0, null_loss = 0;
  Rows left(n), left0(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> z;
    for (std::size_t k = 0; k < count; ++k) {
      z.push_back(several[k].intercept);
      for (std::size_t j = 0; j < d; ++j) z[k] += plain.x[i][j] * w[j][k];
    }
    loss += plain.s[i] / total * loss_of(plain.loss, plain.y[i], z, left[i]);
    null_loss += plain.s[i] / total * loss_of(plain.loss, plain.y[i], without, left0[i]);
    for (std::size_t k = 0; k < count && set.intercept; ++k) balance[k] += plain.s[i] / total * left[i][k];
  }
  Verdict verdict;
  double penalty = 0, longest = 1e-300, ratio = 0, excess = 0, ridge = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) mean += plain.s[i] * plain.x[i][j] / total;
    for (std::size_t i = 0; i < n; ++i) variance += plain.s[i] * std::pow(plain.x[i][j] - mean, 2) / total;
    const double unit = set.standardise ? std::sqrt(variance) : 1;
    if (unit < 1e-12) {
      EXPECT_EQ(length_of(w[j]), 0);
      continue;
    }
    const double p1 = set.alpha * set.l1 * plain.factors[j] * unit;
    const double p2 = set.alpha * (1 - set.l1) * plain.factors[j] * unit * unit;
    std::vector<double> g(count, 0.0), g0(count, 0.0), pull, miss;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        g[k] += plain.s[i] / total * left[i][k] * plain.x[i][j];
        g0[k] += plain.s[i] / total * left0[i][k] * plain.x[i][j];
      }
      pull.push_back(g[k] - p2 * w[j][k]);
    }
    const double length = length_of(w[j]);
    for (std::size_t k = 0; k < count; ++k) miss.push_back(length > 0 ? pull[k] - p1 * w[j][k] / length : 0);
    const double violation = length > 0 ? length_of(miss) : std::max(0.0, length_of(pull) - p1);
    verdict.violation = std::max(verdict.violation, violation);
    longest = std::max(longest, length_of(g0));
    penalty += p1 * length + p2 / 2 * length * length;
    ridge += p2 * length * length;
    if (p1 > 0) ratio = std::max(ratio, length_of(pull) / p1);
    const double over = std::max(0.0, length_of(g) - p1);
    if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : std::numeric_limits<double>::infinity();
  }
  verdict.objective = loss + penalty;
  verdict.violation = std::max(verdict.violation, length_of(balance)) / longest;
  // Intercepts at their best have residuals of sum 0; until then they are offsets of a model that changes them.
  const auto dual_at = [&](double scale) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += plain.s[i] / total * dual_of(plain.loss, plain.y[i], left[i], scale);
    for (std::size_t k = 0; k < count; ++k) sum -= scale * balance[k] * several[k].intercept;
    return sum;
  };
  const double scale = ratio > 1 ? 1 / ratio : 1;
  double dual = dual_at(1) - excess;
  if (set.l1 > 0 && set.alpha > 0) dual = std::max(dual, dual_at(scale) - scale * scale / 2 * ridge);
  verdict.gap = (verdict.objective - dual) / (2 * null_loss);
  return verdict;
}

class GroupNets : public testing::TestWithParam<std::tuple<Device, bool, Loss>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }
  Loss loss() const { return std::get<2>(GetParam()); }
  bool classes() const { return loss() == Loss::softmax; }

  /// Targets of regressions are sums of some features, the first far from 0, and of what the class of a row is.
  void make(std::size_t rows, std::size_t features, std::size_t columns, std::uint64_t seed) {
    table_ = test::make_table(rows, features, static_cast<int>(columns), seed);
    if (columns == 2)
      for (double& label : table_.labels) label = label > 0 ? 1 : 2;
    features_ = features;
    plain_ = {};
    plain_.loss = loss();
    plain_.x.assign(rows, std::vector<double>(features, 0.0));
    plain_.y.assign(rows, std::vector<double>(columns, 0.0));
    for (std::size_t i = 0; i < rows; ++i) {
      for (const auto& [j, value] : table_.rows[i]) plain_.x[i][j] = value;
      const auto own = static_cast<std::size_t>(table_.labels[i]) - 1;
      for (std::size_t k = 0; k < columns; ++k) {
        const double sum = plain_.x[i][k % features] - 0.5 * plain_.x[i][(k + 1) % features] + 0.3 * plain_.x[i][0];
        plain_.y[i][k] = classes() ? (k == own ? 1 : 0) : sum + (k == own ? 1 : 0) + (k == 0 ? 20 : 0);
      }
    }
    plain_.s.assign(rows, 1.0);
    plain_.factors.assign(features, 1.0);
    fill_sheaf();
  }
  void fill_sheaf() {
    sheaf_ = {};
    sheaf_.examples = static_cast<std::int64_t>(plain_.x.size());
    sheaf_.classes = sheaf_.target_columns = static_cast<std::int32_t>(plain_.y[0].size());
    for (const auto& row : plain_.y) sheaf_.targets.insert(sheaf_.targets.end(), row.begin(), row.end());
    sheaf_.row_weights.assign(plain_.s.begin(), plain_.s.end());
    sheaf_.penalty_factors = plain_.factors;
  }
  NetParams params(double tolerance) const {
    NetParams made;
    made.loss = loss();
    made.grouped = true;
    made.tolerance = tolerance;
    return made;
  }

  template <class T = double>
  std::vector<NetModel> train(const NetParams& params) const {
    return elastic_nets<T>(on(device()), test::dataset_of<T>(table_, features_, sparse()), sheaf_, params);
  }

  /// check(verdict, models of one alpha, alpha) for every model.
  template <class Check>
  void each(const std::vector<NetModel>& models, const NetParams& params, const Check& check) const {
    const auto columns = static_cast<std::size_t>(sheaf_.classes);
    std::size_t expected = 0;
    for (const auto& path : sheaf_.paths) expected += path.alphas.size() * columns;
    ASSERT_EQ(models.size(), expected);
    auto plain = plain_;
    for (std::size_t at = 0; at < models.size(); at += columns) {
      const auto all = std::span(models).subspan(at, columns);
      const auto& path = sheaf_.paths[static_cast<std::size_t>(all[0].path)];
      const double alpha = path.alphas[static_cast<std::size_t>(all[0].alpha)];
      const auto row = static_cast<std::size_t>(path.rows);
      for (std::size_t i = 0; i < plain.s.size(); ++i)
        plain.s[i] = sheaf_.row_weights[i * static_cast<std::size_t>(sheaf_.weight_columns) + row];
      for (std::size_t k = 0; k < columns; ++k) {
        ASSERT_EQ(all[k].column, static_cast<std::int32_t>(k));
        EXPECT_EQ(all[k].fit.nonzeros, all[0].fit.nonzeros) << "features are chosen for all";
      }
      check(measure(plain, {alpha, path.l1_ratio, params.intercept, params.standardise}, all), all, alpha);
    }
  }

  test::PlainTable table_;
  std::size_t features_ = 0;
  Plain plain_;
  NetSheaf sheaf_;
};

TEST_P(GroupNets, EveryModelOfAGridIsOptimal) {
  struct Shape {
    std::size_t rows, features, columns;
  };
  for (const auto& shape : {Shape{45, 120, 3}, Shape{200, 12, 5}, Shape{60, 33, 2}}) {
    make(shape.rows, shape.features, shape.columns, 7);
    for (const bool intercept : {true, false})
      for (const bool standardise : {false, true}) {
        fill_sheaf();
        auto how = params(1e-8);
        how.intercept = intercept;
        how.standardise = standardise;
        for (const double l1 : {1.0, 0.5, 0.05}) sheaf_.paths.push_back({0, 0, l1, {}});
        const auto dataset = test::dataset_of<double>(table_, features_, sparse());
        const auto largest = largest_alphas<double>(on(device()), dataset, sheaf_, how);
        ASSERT_EQ(largest.size(), 3U);
        for (std::size_t p = 0; p < 3; ++p) sheaf_.paths[p].alphas = alpha_path(largest[p] * 1.0001, 1e-2, 5);
        each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
          SCOPED_TRACE(testing::Message() << shape.rows << " rows, alpha " << alpha << ", path " << several[0].path);
          EXPECT_TRUE(several[0].fit.converged);
          EXPECT_LT(verdict.gap, 1.05e-8);
          EXPECT_LT(verdict.violation, 3e-3);
          EXPECT_NEAR(several[0].fit.objective, verdict.objective, 1e-10 * (1 + verdict.objective));
          double sum = 0;
          for (const auto& one : several) {
            EXPECT_TRUE(one.alpha > 0 || one.features.empty()) << "the first alpha is above the largest";
            EXPECT_TRUE(intercept || one.intercept == 0);
            sum += one.intercept;
          }
          if (classes()) {
            EXPECT_NEAR(sum, 0, 1e-9);
          }
        });
        // Just below the largest alpha one feature has weights.
        for (std::size_t p = 0; p < 3; ++p) sheaf_.paths[p].alphas = {largest[p] * 0.98};
        for (const auto& one : train(how)) EXPECT_GE(one.features.size(), 1U) << "path " << one.path;
      }
  }
}

/// Far down a path of a lasso nearly as many features have weights as rows have residuals, and the objective is nearly
/// flat in some directions.
TEST_P(GroupNets, LassosOfFewRowsAreOptimalWhereNearlyAllIsExplained) {
  make(20, 90, 3, 11);
  sheaf_.paths = {{0, 0, 1.0, {}}};
  const auto how = params(1e-6);
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  sheaf_.paths[0].alphas = alpha_path(largest_alphas<double>(on(device()), dataset, sheaf_, how)[0], 1e-3, 60);
  each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
    SCOPED_TRACE(alpha);
    EXPECT_TRUE(several[0].fit.converged);
    EXPECT_LT(verdict.gap, 1.05e-6);
  });
}

/// With two classes, a feature's weights are opposites: the penalty of the row is that of one logistic weight v = 2 w:
/// |v| / sqrt 2, and v^2 / 4 for a ridge.
TEST_P(GroupNets, TwoClassesAreALogisticModel) {
  if (!classes()) return;
  make(80, 25, 2, 3);
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  for (const double l1 : {1.0, 0.0}) {
    sheaf_.paths = {{0, 0, l1, {0.1, 0.02}}};
    auto how = params(1e-9);
    const auto models = train(how);
    NetSheaf binary = sheaf_;
    binary.classes = binary.target_columns = 1;
    binary.targets.clear();
    for (const auto& row : plain_.y) binary.targets.push_back(row[0] > 0 ? 1 : -1);
    for (double& alpha : binary.paths[0].alphas) alpha *= l1 == 1 ? std::sqrt(0.5) : 0.5;
    how.loss = Loss::logistic;
    how.grouped = false;
    const auto logistic = elastic_nets<double>(on(device()), dataset, binary, how);
    for (std::size_t a = 0; a < 2; ++a) {
      EXPECT_NEAR(models[2 * a].fit.objective, logistic[a].fit.objective, 1e-8);
      EXPECT_NEAR(models[2 * a].intercept - models[2 * a + 1].intercept, logistic[a].intercept, 1e-3);
      EXPECT_EQ(models[2 * a].features, models[2 * a + 1].features);
      for (std::size_t k = 0; k < models[2 * a].weights.size(); ++k)
        EXPECT_NEAR(models[2 * a].weights[k], -models[2 * a + 1].weights[k], 1e-9) << "symmetric";
    }
  }
}

/// The squares of a row's length are those of its weights, so that at an l1-ratio of 0 groups are no matter.
TEST_P(GroupNets, WithoutAnL1PartTheyAreRidgeRegressions) {
  make(60, 15, 3, 5);
  sheaf_.paths = {{0, 0, 0, {1, 0.1}}};
  auto how = params(1e-10);
  const auto grouped = train(how);
  how.grouped = false;
  auto apart = sheaf_;
  if (!classes()) {
    apart.classes = 1;
    apart.paths = {{0, 0, 0, {1, 0.1}}, {0, 1, 0, {1, 0.1}}, {0, 2, 0, {1, 0.1}}};
  }
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  const auto single = elastic_nets<double>(on(device()), dataset, apart, how);
  ASSERT_EQ(grouped.size(), single.size());
  for (std::size_t a = 0; a < 2; ++a) {
    double objective = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& one = classes() ? single[a * 3 + k] : single[k * 2 + a];
      if (!classes() || k == 0) objective += one.fit.objective;
      ASSERT_EQ(grouped[a * 3 + k].features, one.features);
      for (std::size_t j = 0; j < one.weights.size(); ++j)
        EXPECT_NEAR(grouped[a * 3 + k].weights[j], one.weights[j], 1e-4);
    }
    EXPECT_NEAR(grouped[a * 3].fit.objective, objective, 1e-8 * objective);
  }
}

/// Folds and case weights of one table.
TEST_P(GroupNets, RowWeightsStandForRows) {
  make(90, 40, 3, 11);
  constexpr std::int32_t columns = 5;
  sheaf_.weight_columns = columns;
  sheaf_.row_weights.clear();
  for (std::size_t i = 0; i < plain_.x.size(); ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      sheaf_.row_weights.push_back(c < 4 ? (i % 4 == static_cast<std::size_t>(c) ? 0.0F : 1.0F)
                                         : 0.25F + 0.5F * static_cast<float>(i % 3));
  for (std::int32_t c = 0; c < columns; ++c)
    for (const double l1 : {0.3, 1.0}) sheaf_.paths.push_back({c, 0, l1, {0.1, 0.03, 0.01}});
  const auto how = params(1e-7);
  each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
    EXPECT_TRUE(several[0].fit.converged);
    EXPECT_LT(verdict.gap, 1.05e-7) << "path " << several[0].path << " alpha " << alpha;
  });
}

/// Whatever the order of visits, the number of models at once and the segments of a path on a GPU.
TEST_P(GroupNets, EverySolverAndBlockReachesTheSameObjective) {
  make(60, 50, 3, 29);
  sheaf_.paths = {{0, 0, 0.9, alpha_path(0.2, 0.05, 21)}, {0, 0, 0.4, {0.1, 0.01}}, {0, 0, 0.5, {}}};
  auto how = params(1e-7);
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting})
    for (const std::int32_t at_once : {0, 1, 7}) {
      how.solver = solver;
      how.models_at_once = at_once;
      each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
        EXPECT_TRUE(several[0].fit.converged) << to_string(solver) << " alpha " << alpha;
        EXPECT_LT(verdict.gap, 1.05e-7) << to_string(solver) << " alpha " << alpha;
      });
    }
}

TEST_P(GroupNets, FeaturesWithoutAPenalty) {
  make(120, 14, 3, 17);
  for (std::size_t j = 0; j < features_; ++j) plain_.factors[j] = static_cast<double>(j % 4) / 2;
  fill_sheaf();
  sheaf_.paths = {{0, 0, 0.5, {0.3, 0.03}}, {0, 0, 1, {0.1}}};
  const auto how = params(1e-10);
  each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
    EXPECT_TRUE(several[0].fit.converged);
    EXPECT_LT(verdict.violation, 1e-3) << "alpha " << alpha;
  });
}

/// Intercepts make up for large means.
TEST_P(GroupNets, FeaturesFarFromZero) {
  make(80, 150, 3, 19);
  for (std::size_t i = 0; i < table_.rows.size(); ++i) {
    table_.rows[i].clear();
    for (std::size_t j = 0; j < features_; ++j) {
      plain_.x[i][j] += j % 3 == 0 ? 50 : 0;
      if (plain_.x[i][j] != 0) table_.rows[i].emplace_back(j, plain_.x[i][j]);
    }
  }
  sheaf_.paths = {{0, 0, 0.9, {0.1, 0.05, 0.02}}, {0, 0, 0.3, {0.2, 0.05}}};
  const auto how = params(1e-7);
  each(train(how), how, [&](const Verdict& verdict, auto several, double alpha) {
    EXPECT_TRUE(several[0].fit.converged) << "alpha " << alpha;
    EXPECT_LT(verdict.gap, 1.05e-7) << "alpha " << alpha;
  });
}

TEST_P(GroupNets, SinglePrecisionReachesItsTolerance) {
  make(70, 60, 3, 23);
  sheaf_.paths = {{0, 0, 0.9, {0.1, 0.05, 0.02}}, {0, 0, 0.2, {0.1, 0.05, 0.02}}};
  const auto how = params(1e-4);
  each(train<float>(how), how,
       [&](const Verdict& verdict, auto, double alpha) { EXPECT_LT(verdict.gap, 1.05e-4) << "alpha " << alpha; });
}

TEST_P(GroupNets, TheNumberOfThreadsChangesNothing) {
  make(70, 60, 3, 31);
  for (const double l1 : {0.2, 0.5, 0.8, 1.0}) sheaf_.paths.push_back({0, 0, l1, {0.1, 0.02}});
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  std::vector<NetModel> before;
  for (const int threads : {1, 3}) {
    Context::Options options;
    options.device = device();
    options.threads = threads;
    const auto models = elastic_nets<double>(Context(options), dataset, sheaf_, params(1e-4));
    for (std::size_t m = 0; m < before.size(); ++m) {
      EXPECT_EQ(models[m].features, before[m].features);
      EXPECT_EQ(models[m].weights, before[m].weights);
      EXPECT_EQ(models[m].intercept, before[m].intercept);
    }
    before = models;
  }
}

TEST_P(GroupNets, AConstantTargetHasNoFeatures) {
  if (classes()) return;
  make(30, 6, 2, 37);
  for (auto& row : plain_.y) row = {3, row[1]};
  fill_sheaf();
  sheaf_.paths = {{0, 0, 0.5, {0.05}}};
  const auto models = train(params(1e-9));
  EXPECT_NEAR(models[0].intercept, 3, 1e-9);
  for (const double weight : models[0].weights) EXPECT_NEAR(weight, 0, 1e-9);
  EXPECT_FALSE(models[1].features.empty());
}

TEST_P(GroupNets, WhatIsRefused) {
  make(20, 5, 3, 31);
  sheaf_.paths = {{0, 0, 0.5, {0.1}}};
  const auto refuses = [&](const NetParams& how, const std::string& words) {
    try {
      train(how);
      ADD_FAILURE() << "trained, expected: " << words;
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  auto how = params(1e-4);
  how.solver = NetSolver::shotgun;
  refuses(how, "shotgun updates single weights");
  how = params(1e-4);
  sheaf_.penalty_factors.pop_back();
  refuses(how, "4 penalty factors for 5 features");
  fill_sheaf();
  sheaf_.paths = {{0, 0, 1.5, {0.1}}};
  refuses(how, "l1-ratio 1.5");
  sheaf_.paths = {{0, 1, 0.5, {0.1}}};
  refuses(how, "a target that is not there");
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool, Loss>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense") +
         (std::get<2>(info.param) == Loss::softmax ? "Classes" : "Targets");
}
INSTANTIATE_TEST_SUITE_P(Devices, GroupNets,
                         testing::Combine(testing::ValuesIn(test::devices()), testing::Bool(),
                                          testing::Values(Loss::softmax, Loss::squared)),
                         name_of);

}  // namespace group_net_test
}  // namespace sheaf
