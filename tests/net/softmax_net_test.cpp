// Elastic nets of several classes in one model against their own definition: gaps and optimality conditions found by
// plain loops, not by the solver.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace softmax_net_test {

using test::on;

using Rows = std::vector<std::vector<double>>;

/// A problem as plain vectors.
struct Plain {
  Rows x;
  Rows y;  // of each row and class, 1 or 0
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
  double violation = 0;  // of the optimality conditions, relative to the largest |gradient| without features
  double shift = 0;      // what a common change of a feature's weights in all classes could gain, at most
};

std::vector<double> shares_of(const std::vector<double>& z) {
  const double largest = *std::max_element(z.begin(), z.end());
  std::vector<double> p;
  double sum = 0;
  for (const double value : z) sum += p.emplace_back(std::exp(value - largest));
  for (double& value : p) value /= sum;
  return p;
}

/// `classes` are the models of one path and alpha.
Verdict measure(const Plain& plain, const Setting& set, std::span<const NetModel> classes) {
  const std::size_t n = plain.x.size();
  const std::size_t d = plain.factors.size();
  const std::size_t count = classes.size();
  Rows w(count, std::vector<double>(d, 0.0));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t f = 0; f < classes[k].features.size(); ++f)
      w[k][static_cast<std::size_t>(classes[k].features[f])] = classes[k].weights[f];
  double total = 0;
  for (const double s : plain.s) total += s;
  std::vector<double> mean(d, 0.0), unit(d, 1.0), share(count, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) mean[j] += plain.s[i] * plain.x[i][j] / total;
    for (std::size_t k = 0; k < count; ++k) share[k] += plain.s[i] * plain.y[i][k] / total;
  }
  for (std::size_t j = 0; j < d && set.standardise; ++j) {
    double variance = 0;
    for (std::size_t i = 0; i < n; ++i) variance += plain.s[i] * std::pow(plain.x[i][j] - mean[j], 2) / total;
    unit[j] = std::sqrt(variance);
  }
  if (!set.intercept) std::fill(share.begin(), share.end(), 1.0 / static_cast<double>(count));
  double loss = 0;
  double null_loss = 0;
  Rows r(n), r0(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> z;
    for (std::size_t k = 0; k < count; ++k) {
      z.push_back(classes[k].intercept);
      for (std::size_t j = 0; j < d; ++j) z[k] += plain.x[i][j] * w[k][j];
    }
    const auto p = shares_of(z);
    for (std::size_t k = 0; k < count; ++k) {
      if (plain.s[i] * plain.y[i][k] > 0) {
        loss -= plain.s[i] / total * std::log(p[k]);
        null_loss -= plain.s[i] / total * std::log(share[k]);
      }
      r[i].push_back(plain.s[i] / total * (plain.y[i][k] - p[k]));
      r0[i].push_back(plain.s[i] / total * (plain.y[i][k] - share[k]));
    }
  }
  Verdict verdict;
  double penalty = 0, largest = 1e-300, ratio = 0, excess = 0, ridge = 0, worst_balance = 0;
  std::vector<double> balance(count, 0.0);
  for (std::size_t k = 0; k < count && set.intercept; ++k) {
    for (std::size_t i = 0; i < n; ++i) balance[k] += r[i][k];
    worst_balance = std::max(worst_balance, std::abs(balance[k]));
  }
  for (std::size_t j = 0; j < d; ++j) {
    const double p1 = set.alpha * set.l1 * plain.factors[j] * unit[j];
    const double p2 = set.alpha * (1 - set.l1) * plain.factors[j] * unit[j] * unit[j];
    double at = 0, to_right = 0, to_left = 0;  // slopes of the penalty by a change of all classes, to both sides
    for (std::size_t k = 0; k < count; ++k) {
      double g = 0, g0 = 0;
      for (std::size_t i = 0; i < n; ++i) {
        g += r[i][k] * plain.x[i][j];
        g0 += r0[i][k] * plain.x[i][j];
      }
      if (unit[j] < 1e-12) {
        EXPECT_EQ(w[k][j], 0);
        continue;
      }
      penalty += p1 * std::abs(w[k][j]) + p2 / 2 * w[k][j] * w[k][j];
      ridge += p2 * w[k][j] * w[k][j];
      largest = std::max(largest, std::abs(g0));
      const double slope = g - p2 * w[k][j];
      const double miss =
          w[k][j] != 0 ? std::abs(slope - (w[k][j] > 0 ? p1 : -p1)) : std::max(0.0, std::abs(slope) - p1);
      verdict.violation = std::max(verdict.violation, miss);
      if (p1 > 0) ratio = std::max(ratio, std::abs(slope) / p1);
      const double over = std::max(0.0, std::abs(g) - p1);
      if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : std::numeric_limits<double>::infinity();
      at += p2 * w[k][j];
      to_right += w[k][j] >= 0 ? p1 : -p1;
      to_left += w[k][j] <= 0 ? p1 : -p1;
    }
    verdict.shift = std::max({verdict.shift, -(to_right + at), -(to_left - at)});
  }
  verdict.objective = loss + penalty;
  verdict.violation = std::max(verdict.violation, worst_balance) / largest;
  verdict.shift /= largest;
  const double scale = ratio > 1 ? 1 / ratio : 1;
  // Intercepts at their best have residuals of sum 0; until then they are offsets of a model that changes them.
  const auto dual_at = [&](double by) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < count && plain.s[i] > 0; ++k) {
        const double q = plain.y[i][k] - by * r[i][k] * total / plain.s[i];
        if (q > 0) sum -= plain.s[i] / total * q * std::log(q);
      }
    for (std::size_t k = 0; k < count; ++k) sum -= by * balance[k] * classes[k].intercept;
    return sum;
  };
  double dual = dual_at(1) - excess;
  if (set.l1 > 0 && set.alpha > 0) dual = std::max(dual, dual_at(scale) - scale * scale / 2 * ridge);
  verdict.gap = (verdict.objective - dual) / (2 * null_loss);
  return verdict;
}

class SoftmaxNets : public testing::TestWithParam<std::tuple<Device, bool>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }

  void make(std::size_t rows, std::size_t features, std::size_t classes, std::uint64_t seed) {
    table_ = test::make_table(rows, features, static_cast<int>(classes), seed);
    if (classes == 2)
      for (double& label : table_.labels) label = label > 0 ? 1 : 2;
    features_ = features;
    plain_ = {};
    plain_.x.assign(rows, std::vector<double>(features, 0.0));
    plain_.y.assign(rows, std::vector<double>(classes, 0.0));
    for (std::size_t i = 0; i < rows; ++i) {
      for (const auto& [j, value] : table_.rows[i]) plain_.x[i][j] = value;
      plain_.y[i][static_cast<std::size_t>(table_.labels[i]) - 1] = 1;
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

  template <class T = double>
  std::vector<NetModel> train(NetParams params) const {
    params.loss = Loss::softmax;
    return elastic_nets<T>(on(device()), test::dataset_of<T>(table_, features_, sparse()), sheaf_, params);
  }

  /// check(verdict, models of the classes, alpha) for every model.
  template <class Check>
  void each(const std::vector<NetModel>& models, bool intercept, bool standardise, const Check& check) const {
    const auto classes = static_cast<std::size_t>(sheaf_.classes);
    std::size_t expected = 0;
    for (const auto& path : sheaf_.paths) expected += path.alphas.size() * classes;
    ASSERT_EQ(models.size(), expected);
    auto plain = plain_;
    for (std::size_t at = 0; at < models.size(); at += classes) {
      const auto all = std::span(models).subspan(at, classes);
      const auto& path = sheaf_.paths[static_cast<std::size_t>(all[0].path)];
      const double alpha = path.alphas[static_cast<std::size_t>(all[0].alpha)];
      for (std::size_t i = 0; i < plain.s.size(); ++i)
        plain.s[i] =
            sheaf_
                .row_weights[i * static_cast<std::size_t>(sheaf_.weight_columns) + static_cast<std::size_t>(path.rows)];
      for (std::size_t k = 0; k < classes; ++k) ASSERT_EQ(all[k].column, static_cast<std::int32_t>(k));
      check(measure(plain, {alpha, path.l1_ratio, intercept, standardise}, all), all, alpha);
    }
  }

  test::PlainTable table_;
  std::size_t features_ = 0;
  Plain plain_;
  NetSheaf sheaf_;
};

TEST_P(SoftmaxNets, EveryModelOfAGridIsOptimal) {
  struct Shape {
    std::size_t rows, features, classes;
  };
  for (const auto& shape : {Shape{45, 120, 3}, Shape{200, 12, 4}, Shape{60, 33, 2}}) {
    make(shape.rows, shape.features, shape.classes, 7);
    for (const bool intercept : {true, false})
      for (const bool standardise : {false, true}) {
        fill_sheaf();
        NetParams params;
        params.loss = Loss::softmax;
        params.tolerance = 1e-8;
        params.intercept = intercept;
        params.standardise = standardise;
        for (const double l1 : {1.0, 0.5, 0.05}) sheaf_.paths.push_back({0, 0, l1, {}});
        const auto dataset = test::dataset_of<double>(table_, features_, sparse());
        const auto largest = largest_alphas<double>(on(device()), dataset, sheaf_, params);
        ASSERT_EQ(largest.size(), 3U);
        for (std::size_t p = 0; p < 3; ++p) sheaf_.paths[p].alphas = alpha_path(largest[p] * 1.0001, 1e-2, 5);
        each(train(params), intercept, standardise, [&](const Verdict& verdict, auto classes, double alpha) {
          SCOPED_TRACE(testing::Message() << shape.rows << " rows, alpha " << alpha << ", path " << classes[0].path);
          EXPECT_TRUE(classes[0].fit.converged);
          EXPECT_LT(verdict.gap, 1.05e-8);
          EXPECT_LT(verdict.violation, 3e-3);
          EXPECT_LT(verdict.shift, 3e-3);
          EXPECT_NEAR(classes[0].fit.objective, verdict.objective, 1e-10 * (1 + verdict.objective));
          double sum = 0;
          for (const auto& one : classes) {
            EXPECT_TRUE(one.alpha > 0 || one.features.empty()) << "the first alpha is above the largest";
            sum += one.intercept;
          }
          EXPECT_NEAR(sum, 0, 1e-9);
          for (const auto& one : classes) EXPECT_TRUE(intercept || one.intercept == 0);
        });
      }
  }
}

/// Two classes that share a lasso's weight pay what one logistic weight of the same log odds does; of a ridge half.
TEST_P(SoftmaxNets, TwoClassesAreALogisticModel) {
  make(80, 25, 2, 3);
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  for (const double l1 : {1.0, 0.0}) {
    sheaf_.paths = {{0, 0, l1, {0.1, 0.02}}};
    NetParams params;
    params.tolerance = 1e-9;
    const auto models = train(params);
    NetSheaf binary = sheaf_;
    binary.classes = binary.target_columns = 1;
    binary.targets.clear();
    for (const auto& row : plain_.y) binary.targets.push_back(row[0] > 0 ? 1 : -1);
    for (double& alpha : binary.paths[0].alphas) alpha *= l1 == 1 ? 1 : 0.5;
    params.loss = Loss::logistic;
    const auto logistic = elastic_nets<double>(on(device()), dataset, binary, params);
    for (std::size_t a = 0; a < 2; ++a) {
      EXPECT_NEAR(models[2 * a].fit.objective, logistic[a].fit.objective, 1e-8);
      EXPECT_NEAR(models[2 * a].intercept - models[2 * a + 1].intercept, logistic[a].intercept, 1e-3);
    }
  }
}

/// Folds and case weights of one table, some of them without a class.
TEST_P(SoftmaxNets, RowWeightsStandForRows) {
  make(90, 40, 3, 11);
  constexpr std::int32_t columns = 6;
  sheaf_.weight_columns = columns;
  sheaf_.row_weights.clear();
  for (std::size_t i = 0; i < plain_.x.size(); ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      sheaf_.row_weights.push_back(c < 4                ? (i % 4 == static_cast<std::size_t>(c) ? 0.0F : 1.0F)
                                   : c < 5              ? 0.25F + 0.5F * static_cast<float>(i % 3)
                                   : plain_.y[i][2] > 0 ? 0.0F
                                                        : 1.0F);
  for (std::int32_t c = 0; c < columns; ++c)
    for (const double l1 : {0.3, 1.0}) sheaf_.paths.push_back({c, 0, l1, {0.1, 0.03, 0.01}});
  NetParams params;
  params.tolerance = 1e-7;
  each(train(params), true, false, [&](const Verdict& verdict, auto classes, double alpha) {
    EXPECT_TRUE(classes[0].fit.converged);
    const bool missing = sheaf_.paths[static_cast<std::size_t>(classes[0].path)].rows == columns - 1;
    EXPECT_LT(verdict.gap, missing ? 2e-7 : 1.05e-7) << "path " << classes[0].path << " alpha " << alpha;
  });
}

/// Whatever the order of visits, the number of models at once and the segments of a path on a GPU.
TEST_P(SoftmaxNets, EverySolverAndBlockReachesTheSameObjective) {
  make(60, 50, 3, 29);
  sheaf_.paths = {{0, 0, 0.9, alpha_path(0.2, 0.05, 21)}, {0, 0, 0.4, {0.1, 0.01}}, {0, 0, 0.5, {}}};
  NetParams params;
  params.tolerance = 1e-7;
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun})
    for (const std::int32_t at_once : {0, 1, 7}) {
      params.solver = solver;
      params.models_at_once = at_once;
      each(train(params), true, false, [&](const Verdict& verdict, auto classes, double alpha) {
        EXPECT_TRUE(classes[0].fit.converged) << to_string(solver) << " alpha " << alpha;
        EXPECT_LT(verdict.gap, 1.05e-7) << to_string(solver) << " alpha " << alpha;
      });
    }
}

TEST_P(SoftmaxNets, FeaturesWithoutAPenalty) {
  make(120, 14, 3, 17);
  for (std::size_t j = 0; j < features_; ++j) plain_.factors[j] = static_cast<double>(j % 4) / 2;
  fill_sheaf();
  sheaf_.paths = {{0, 0, 0.5, {0.3, 0.03}}, {0, 0, 1, {0.1}}};
  NetParams params;
  params.tolerance = 1e-10;
  each(train(params), true, false, [&](const Verdict& verdict, auto classes, double alpha) {
    EXPECT_TRUE(classes[0].fit.converged);
    EXPECT_LT(verdict.violation, 1e-3) << "alpha " << alpha;
  });
}

/// Intercepts make up for large means, and are not at their best until the end.
TEST_P(SoftmaxNets, FeaturesFarFromZero) {
  make(80, 150, 3, 19);
  for (std::size_t i = 0; i < table_.rows.size(); ++i) {
    table_.rows[i].clear();
    for (std::size_t j = 0; j < features_; ++j) {
      plain_.x[i][j] += j % 3 == 0 ? 50 : 0;
      if (plain_.x[i][j] != 0) table_.rows[i].emplace_back(j, plain_.x[i][j]);
    }
  }
  sheaf_.paths = {{0, 0, 0.9, {0.1, 0.05, 0.02}}, {0, 0, 0.3, {0.2, 0.05}}};
  NetParams params;
  params.tolerance = 1e-7;
  each(train(params), true, false, [&](const Verdict& verdict, auto classes, double alpha) {
    EXPECT_TRUE(classes[0].fit.converged) << "alpha " << alpha;
    EXPECT_LT(verdict.gap, 1.05e-7) << "alpha " << alpha;
  });
}

TEST_P(SoftmaxNets, ManyClassesAndClassesOfOneRow) {
  make(150, 20, 12, 5);
  for (std::size_t i = 0; i < plain_.y.size(); ++i) {  // forty classes: the last ones have a row each
    plain_.y[i].assign(40, 0.0);
    plain_.y[i][i < 28 ? 12 + i : static_cast<std::size_t>(table_.labels[i]) - 1] = 1;
  }
  fill_sheaf();
  sheaf_.paths = {{0, 0, 0.5, {0.02, 0.005}}};
  NetParams params;
  params.tolerance = 1e-6;
  each(train(params), true, false, [&](const Verdict& verdict, auto classes, double alpha) {
    EXPECT_TRUE(classes[0].fit.converged) << "alpha " << alpha;
    EXPECT_LT(verdict.gap, 1.05e-6) << "alpha " << alpha;
  });
}

TEST_P(SoftmaxNets, FloatReachesItsTolerance) {
  make(100, 80, 3, 23);
  sheaf_.paths = {{0, 0, 0.9, {0.1, 0.05, 0.02}}, {0, 0, 0.2, {0.1, 0.05, 0.02}}};
  NetParams params;
  params.tolerance = 1e-4;
  each(train<float>(params), true, false,
       [&](const Verdict& verdict, auto, double alpha) { EXPECT_LT(verdict.gap, 1.05e-4) << "alpha " << alpha; });
}

TEST_P(SoftmaxNets, DecisionsOfAllClassesCoverEveryRow) {
  make(45, 30, 3, 13);
  for (std::size_t i = 0; i < plain_.x.size(); i += 3) sheaf_.row_weights[i] = 0;
  sheaf_.paths = {{0, 0, 0.7, {0.1, 0.05}}, {0, 0, 0.4, {0.1}}};
  NetParams params;
  params.loss = Loss::softmax;
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  std::size_t seen = 0;
  elastic_nets<double>(
      on(device()), dataset, sheaf_, params, true, [&](std::span<NetModel> models, BlockView<const double> decisions) {
        Array<double> z(decisions.rows * decisions.stride);
        copy_bytes(z.data(), Device::cpu(), decisions.data, decisions.device, z.bytes());
        for (std::size_t m = 0; m < models.size(); ++m, ++seen) {
          EXPECT_EQ(models[m].column, static_cast<std::int32_t>(m % 3)) << "classes are side by side";
          for (std::size_t i = 0; i < plain_.x.size(); ++i) {
            double value = models[m].intercept;
            for (std::size_t k = 0; k < models[m].features.size(); ++k)
              value += plain_.x[i][static_cast<std::size_t>(models[m].features[k])] * models[m].weights[k];
            EXPECT_NEAR(z[static_cast<std::int64_t>(i) * decisions.stride + static_cast<std::int64_t>(m)], value,
                        1e-12);
          }
        }
      });
  EXPECT_EQ(seen, 9U);
}

TEST_P(SoftmaxNets, TheNumberOfThreadsChangesNothing) {
  make(70, 60, 3, 31);
  for (const double l1 : {0.2, 0.5, 0.8, 1.0}) sheaf_.paths.push_back({0, 0, l1, {0.1, 0.02}});
  const auto dataset = test::dataset_of<double>(table_, features_, sparse());
  NetParams params;
  params.loss = Loss::softmax;
  std::vector<NetModel> before;
  for (const int threads : {1, 3}) {
    Context::Options options;
    options.device = device();
    options.threads = threads;
    const auto models = elastic_nets<double>(Context(options), dataset, sheaf_, params);
    for (std::size_t m = 0; m < before.size(); ++m) {
      EXPECT_EQ(models[m].features, before[m].features);
      EXPECT_EQ(models[m].weights, before[m].weights);
      EXPECT_EQ(models[m].intercept, before[m].intercept);
    }
    before = models;
  }
}

TEST_P(SoftmaxNets, RowsOfOneClassAreRefused) {
  make(20, 5, 3, 31);
  for (std::size_t i = 0; i < plain_.y.size(); ++i) plain_.y[i] = {0, 1, 0};
  fill_sheaf();
  sheaf_.paths = {{0, 0, 0.5, {0.1}}};
  try {
    train({});
    FAIL() << "one class was trained";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("one class"), std::string::npos) << error.what();
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense");
}
INSTANTIATE_TEST_SUITE_P(Devices, SoftmaxNets, testing::Combine(testing::ValuesIn(test::devices()), testing::Bool()),
                         name_of);

}  // namespace softmax_net_test
}  // namespace sheaf
