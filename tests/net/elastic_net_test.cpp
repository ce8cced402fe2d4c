// Elastic nets against their own definition: gaps and optimality conditions found by plain loops, not by the solver.
#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace elastic_net_test {

using test::on;

/// A problem as plain vectors.
struct Plain {
  std::vector<std::vector<double>> x;  // rows
  std::vector<double> y;
  std::vector<double> s;
  std::vector<double> factors;
};

struct Setting {
  double alpha = 0;
  double l1 = 0.5;
  bool intercept = true;
  bool standardise = false;
  Loss loss = Loss::squared;
};

struct Verdict {
  double objective = 0;
  double gap = 0;        // over the deviance of the model without features
  double violation = 0;  // of the optimality conditions, relative to the largest |gradient| without features
};

/// Everything from the definition: no formula here is shared with the solver but the objective itself.
Verdict measure(const Plain& p, const Setting& set, const NetModel& model) {
  const std::size_t n = p.x.size();
  const std::size_t d = p.x.empty() ? 0 : p.x[0].size();
  std::vector<double> w(d, 0.0);
  for (std::size_t k = 0; k < model.features.size(); ++k)
    w[static_cast<std::size_t>(model.features[k])] = model.weights[k];
  double total = 0;
  for (const double s : p.s) total += s;
  std::vector<double> mean(d, 0.0), sd(d, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) mean[j] += p.s[i] * p.x[i][j] / total;
  if (set.standardise)
    for (std::size_t j = 0; j < d; ++j) {
      double v = 0;
      for (std::size_t i = 0; i < n; ++i) v += p.s[i] * std::pow(p.x[i][j] - mean[j], 2) / total;
      sd[j] = std::sqrt(v);
    }
  // The derivative of the loss by each decision value, and the same without features.
  double loss = 0, y_mean = 0, positive = 0;
  for (std::size_t i = 0; i < n; ++i) {
    y_mean += p.s[i] * p.y[i] / total;
    positive += p.y[i] > 0 ? p.s[i] / total : 0;
  }
  const double b0 = !set.intercept               ? 0
                    : set.loss == Loss::logistic ? std::log(positive / (1 - positive))
                    : set.loss == Loss::poisson  ? std::log(y_mean)
                                                 : y_mean;
  std::vector<double> r(n), r0(n);
  double null_loss = 0, least = 0, balance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double z = model.intercept;
    for (std::size_t j = 0; j < d; ++j) z += p.x[i][j] * w[j];
    const auto terms = [&](double at) -> std::pair<double, double> {
      if (set.loss == Loss::squared) return {std::pow(p.y[i] - at, 2) / 2, p.y[i] - at};
      if (set.loss == Loss::poisson) return {std::exp(at) - p.y[i] * at, p.y[i] - std::exp(at)};
      const double t = p.y[i] > 0 ? 1 : 0;
      return {std::log1p(std::exp(p.y[i] > 0 ? -at : at)), t - 1 / (1 + std::exp(-at))};
    };
    loss += p.s[i] * terms(z).first / total;
    null_loss += p.s[i] * terms(b0).first / total;
    if (set.loss == Loss::poisson && p.y[i] > 0) least += p.s[i] * terms(std::log(p.y[i])).first / total;
    r[i] = p.s[i] * terms(z).second / total;
    r0[i] = p.s[i] * terms(b0).second / total;
    balance += r[i];
  }
  Verdict verdict;
  double penalty = 0, largest = 1e-300, ratio = 0, excess = 0, ridge = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double g = 0, g0 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      g += r[i] * (p.x[i][j] - (set.intercept ? mean[j] : 0));
      g0 += r0[i] * (p.x[i][j] - (set.intercept ? mean[j] : 0));
    }
    if (sd[j] < 1e-12) {
      EXPECT_EQ(w[j], 0);
      continue;
    }
    const double p1 = set.alpha * set.l1 * p.factors[j] * sd[j];
    const double p2 = set.alpha * (1 - set.l1) * p.factors[j] * sd[j] * sd[j];
    penalty += p1 * std::abs(w[j]) + p2 / 2 * w[j] * w[j];
    ridge += p2 * w[j] * w[j];
    largest = std::max(largest, std::abs(g0));
    const double slope = g - p2 * w[j];
    const double miss = w[j] != 0 ? std::abs(slope - (w[j] > 0 ? p1 : -p1)) : std::max(0.0, std::abs(slope) - p1);
    verdict.violation = std::max(verdict.violation, miss);
    if (p1 > 0) ratio = std::max(ratio, std::abs(slope) / p1);
    const double over = std::max(0.0, std::abs(g) - p1);
    if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : std::numeric_limits<double>::infinity();
  }
  verdict.objective = loss + penalty;
  verdict.violation = std::max(verdict.violation, set.intercept ? std::abs(balance) : 0.0) / largest;
  const double k = ratio > 1 ? 1 / ratio : 1;
  double dual = -std::numeric_limits<double>::infinity();
  const auto value = [&](double scale) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (p.s[i] <= 0) continue;
      const double a = scale * r[i] * total / p.s[i];
      if (set.loss == Loss::squared) {
        sum += p.s[i] / total * (a * (p.y[i] - b0) - a * a / 2);
      } else if (set.loss == Loss::poisson) {
        const double left = p.y[i] - a;
        if (left > 0) sum += p.s[i] / total * (left - left * std::log(left));
      } else {
        const double q = std::abs(a);
        if (q > 0 && q < 1) sum -= p.s[i] / total * (q * std::log(q) + (1 - q) * std::log(1 - q));
      }
    }
    return sum;
  };
  if (set.l1 > 0 && set.alpha > 0) dual = value(k) - k * k / 2 * ridge;
  dual = std::max(dual, value(1) - excess);
  verdict.gap = (verdict.objective - dual) / (2 * (null_loss - least));
  return verdict;
}

Plain plain_of(const test::PlainTable& table, std::size_t features) {
  Plain plain;
  plain.x.assign(table.rows.size(), std::vector<double>(features, 0.0));
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const auto& [j, value] : table.rows[i]) plain.x[i][j] = value;
  plain.y = table.labels;
  plain.s.assign(table.rows.size(), 1.0);
  plain.factors.assign(features, 1.0);
  return plain;
}

NetSheaf sheaf_of(const Plain& plain) {
  NetSheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(plain.x.size());
  sheaf.targets = plain.y;
  sheaf.row_weights.assign(plain.s.begin(), plain.s.end());
  sheaf.penalty_factors = plain.factors;
  return sheaf;
}

struct Shape {
  std::size_t rows, features;
};

class Nets : public testing::TestWithParam<std::tuple<Device, bool, Loss>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }
  Loss loss() const { return std::get<2>(GetParam()); }
  bool logistic() const { return loss() == Loss::logistic; }
  /// Targets of the loss: numbers, signs or counts.
  test::PlainTable make_table(std::size_t rows, std::size_t features, std::uint64_t seed) const {
    auto table = test::make_table(rows, features, logistic() ? 2 : 0, seed);
    if (loss() == Loss::poisson)
      for (double& label : table.labels) label = std::floor(std::exp(1 + 0.5 * label));
    return table;
  }

  template <class T = double>
  std::vector<NetModel> train(const test::PlainTable& table, std::size_t features, const NetSheaf& sheaf,
                              NetParams params) {
    const auto dataset = test::dataset_of<T>(table, features, sparse());
    params.loss = loss();
    return elastic_nets<T>(on(device()), dataset, sheaf, params);
  }
};

TEST_P(Nets, EveryModelOfAGridIsOptimal) {
  std::vector<std::pair<bool, NetSolver>> kinds{{false, NetSolver::automatic}, {true, NetSolver::automatic}};
  if (device().is_cpu()) kinds.emplace_back(true, NetSolver::cyclic);  // plain passes, which are many for a GPU
  for (const auto& shape : {Shape{40, 150}, Shape{200, 12}, Shape{33, 33}}) {
    const auto table = make_table(shape.rows, shape.features, 7);
    const auto plain = plain_of(table, shape.features);
    for (const bool intercept : {true, false})
      for (const auto& [standardise, solver] : kinds) {
        auto sheaf = sheaf_of(plain);
        NetParams params;
        params.loss = loss();
        params.tolerance = 1e-8;
        params.solver = solver;
        params.max_epochs = 200000;
        params.intercept = intercept;
        params.standardise = standardise;
        for (const double l1 : {1.0, 0.5, 0.05}) sheaf.paths.push_back({0, 0, l1, {}});
        const auto dataset = test::dataset_of<double>(table, shape.features, sparse());
        const auto largest = largest_alphas<double>(on(device()), dataset, sheaf, params);
        for (std::size_t p = 0; p < 3; ++p) sheaf.paths[p].alphas = alpha_path(largest[p] * 1.0001, 1e-2, 6);
        const auto models = train(table, shape.features, sheaf, params);
        ASSERT_EQ(models.size(), 18U);
        for (const auto& model : models) {
          const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
          const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
          const auto verdict = measure(plain, {alpha, path.l1_ratio, intercept, standardise, loss()}, model);
          EXPECT_TRUE(model.fit.converged) << model.fit.gap << " > " << model.fit.tolerance;
          EXPECT_LT(verdict.gap, 1.01e-8);
          EXPECT_LT(verdict.violation, 2e-3);
          EXPECT_NEAR(model.fit.objective, verdict.objective, 1e-10 * (1 + std::abs(verdict.objective)));
          EXPECT_EQ(model.features.empty(), model.alpha == 0) << "the first alpha is above the largest";
        }
      }
  }
}

TEST_P(Nets, EverySolverReachesTheSameObjective) {
  constexpr std::size_t features = 60;
  const auto table = make_table(50, features, 3);
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.9, {0.1, 0.03}}, {0, 0, 0.3, {0.05}}};
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun})
    for (const std::int32_t parallel : {0, 1, 60}) {
      NetParams params;
      params.solver = solver;
      params.parallel = parallel;
      params.tolerance = 1e-8;
      const auto models = train(table, features, sheaf, params);
      ASSERT_EQ(models.size(), 3U);
      for (const auto& model : models) {
        const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
        const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
        const auto verdict = measure(plain, {alpha, path.l1_ratio, true, false, loss()}, model);
        EXPECT_LT(verdict.gap, 1.01e-8) << to_string(solver) << " P " << parallel;
        EXPECT_TRUE(model.fit.converged);
      }
      const auto again = train(table, features, sheaf, params);
      for (std::size_t m = 0; m < models.size(); ++m) {
        EXPECT_EQ(models[m].features, again[m].features) << "the same seed, another model";
        EXPECT_EQ(models[m].weights, again[m].weights) << "the same seed, other weights";
      }
    }
}

/// Sixty copies of four features: steps of all at once go much too far.
TEST_P(Nets, ShotgunComesBackFromDivergence) {
  constexpr std::size_t copies = 15;
  auto table = make_table(60, 4, 5);
  for (auto& row : table.rows) {
    std::vector<std::pair<std::size_t, double>> wide;
    for (const auto& [j, value] : row)
      for (std::size_t c = 0; c < copies; ++c) wide.emplace_back(j * copies + c, value);
    row = wide;
  }
  const auto plain = plain_of(table, 4 * copies);
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.5, {0.1}}};
  NetParams params;
  params.solver = NetSolver::shotgun;
  params.parallel = 60;
  params.tolerance = 1e-7;
  const auto model = train(table, 4 * copies, sheaf, params).at(0);
  EXPECT_LT(measure(plain, {0.1, 0.5, true, false, loss()}, model).gap, 1.01e-7);
  EXPECT_LT(model.fit.parallel, 60);
  params.parallel = 0;
  EXPECT_LE(train(table, 4 * copies, sheaf, params).at(0).fit.parallel, 8) << "15 copies of each feature";
}

/// Folds, resamples and case weights of one table are row weights; each model is that of its rows alone.
TEST_P(Nets, RowWeightsStandForRows) {
  constexpr std::size_t features = 80;
  const auto table = make_table(70, features, 11);
  auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  constexpr std::int32_t columns = 9;
  sheaf.weight_columns = columns;
  sheaf.row_weights.clear();
  for (std::size_t i = 0; i < plain.x.size(); ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      sheaf.row_weights.push_back(c < 5   ? (i % 5 == static_cast<std::size_t>(c) ? 0.0F : 1.0F)
                                  : c < 8 ? static_cast<float>((i * 7 + static_cast<std::size_t>(c)) % 4)
                                          : 0.25F + 0.5F * static_cast<float>(i % 3));
  for (std::int32_t c = 0; c < columns; ++c)
    for (const double l1 : {0.2, 1.0}) sheaf.paths.push_back({c, 0, l1, {0.2, 0.1, 0.05, 0.02}});
  NetParams params;
  params.tolerance = 1e-8;
  const auto models = train(table, features, sheaf, params);
  ASSERT_EQ(models.size(), 72U);
  for (const auto& model : models) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    for (std::size_t i = 0; i < plain.x.size(); ++i)
      plain.s[i] = sheaf.row_weights[i * columns + static_cast<std::size_t>(path.rows)];
    const Setting setting{path.alphas[static_cast<std::size_t>(model.alpha)], path.l1_ratio, true, false, loss()};
    EXPECT_LT(measure(plain, setting, model).gap, 1.01e-8);
  }
}

/// Thousands of features of one or two entries, all equally near to their bounds: sets must grow all the same.
TEST_P(Nets, FeaturesOfSingleEntries) {
  constexpr std::size_t rows = 400, features = 3000;
  test::PlainTable table;
  Random random(5);
  for (std::size_t i = 0; i < rows; ++i) {
    auto& row = table.rows.emplace_back();
    for (const auto j : {i, 400 + 2 * i, 1300 + 4 * i}) row.emplace_back(j, 1.0);
    table.labels.push_back(random.uniform() < 0.5 ? 1 : loss() == Loss::poisson ? 0 : -1);
  }
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.5, {1e-4}}, {0, 0, 1, {1e-4}}};
  for (const auto& model : train(table, features, sheaf, {})) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    EXPECT_TRUE(model.fit.converged);
    EXPECT_LT(measure(plain, {1e-4, path.l1_ratio, true, false, loss()}, model).gap, 1.01e-4);
  }
}

/// Decision values are returned besides the models: on all rows, including those left out.
TEST_P(Nets, DecisionsCoverEveryRow) {
  constexpr std::size_t features = 50;
  const auto table = make_table(45, features, 13);
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  for (std::size_t i = 0; i < plain.x.size(); i += 3) sheaf.row_weights[i] = 0;
  sheaf.paths = {{0, 0, 0.7, {0.2, 0.1, 0.05}}, {0, 0, 0.4, {0.1}}};
  NetParams params;
  params.loss = loss();
  const auto dataset = test::dataset_of<double>(table, features, sparse());
  std::size_t seen = 0;
  elastic_nets<double>(
      on(device()), dataset, sheaf, params, true, [&](std::span<NetModel> models, BlockView<const double> decisions) {
        Array<double> z(decisions.rows * decisions.stride);
        copy_bytes(z.data(), Device::cpu(), decisions.data, decisions.device, z.bytes());
        for (std::size_t m = 0; m < models.size(); ++m, ++seen)
          for (std::size_t i = 0; i < plain.x.size(); ++i) {
            double value = models[m].intercept;
            for (std::size_t k = 0; k < models[m].features.size(); ++k)
              value += plain.x[i][static_cast<std::size_t>(models[m].features[k])] * models[m].weights[k];
            EXPECT_NEAR(z[static_cast<std::int64_t>(i) * decisions.stride + static_cast<std::int64_t>(m)], value,
                        1e-12);
          }
      });
  EXPECT_EQ(seen, 4U);
}

TEST_P(Nets, CornersOfThePenalty) {
  constexpr std::size_t features = 20;
  const auto table = make_table(90, features, 17);
  auto plain = plain_of(table, features);
  for (std::size_t j = 0; j < features; ++j) plain.factors[j] = static_cast<double>(j % 4) / 2;  // some are free
  for (const double l1 : {0.0, 1.0}) {
    auto sheaf = sheaf_of(plain);
    sheaf.paths = {{0, 0, l1, {0.3, 0.03}}};
    NetParams params;
    params.tolerance = 1e-9;
    for (const auto& model : train(table, features, sheaf, params)) {
      const double alpha = sheaf.paths[0].alphas[static_cast<std::size_t>(model.alpha)];
      EXPECT_LT(measure(plain, {alpha, l1, true, false, loss()}, model).violation, 1e-3) << "l1-ratio " << l1;
    }
  }
  // Least squares, and the likelihood alone: the gradient vanishes.
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.5, {0}}, {0, 0, 0.5, {0.2, 0}}};
  NetParams params;
  params.tolerance = 1e-10;
  const auto models = train(table, features, sheaf, params);
  for (const std::size_t k : {0, 2})
    EXPECT_LT(measure(plain, {0, 0.5, true, false, loss()}, models.at(k)).violation, 1e-3);
}

/// Decades between the alphas of a path, and before its first.
TEST_P(Nets, AlphasFarApart) {
  constexpr std::size_t features = 90;
  const auto table = make_table(60, features, 31);
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.9, {0.3, 0.01, 0.001}}, {0, 0, 0.5, {0.002}}, {0, 0, 0.05, {100, 0.004}}};
  NetParams params;
  params.tolerance = 1e-7;
  const auto models = train(table, features, sheaf, params);
  ASSERT_EQ(models.size(), 6U);
  for (const auto& model : models) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
    EXPECT_LT(measure(plain, {alpha, path.l1_ratio, true, false, loss()}, model).gap, 1.01e-7) << "alpha " << alpha;
    EXPECT_TRUE(alpha < 100 || model.features.empty());
  }
}

TEST_P(Nets, OddColumnsDoNoHarm) {
  constexpr std::size_t features = 40;
  auto table = make_table(30, features, 19);
  for (auto& row : table.rows) {
    std::erase_if(row, [](const auto& entry) { return entry.first >= 30; });
    row.emplace_back(30, 7.0);  // constant; 31 to 34 are empty; 35 to 39 repeat the first
    const auto copies = row;
    for (const auto& [j, value] : copies)
      if (j < 5) row.emplace_back(35 + j, value);
  }
  const auto plain = plain_of(table, features);
  for (const bool standardise : {false, true}) {
    auto sheaf = sheaf_of(plain);
    sheaf.paths = {{0, 0, 1.0, {0.1, 0.01}}, {0, 0, 0.5, {0.1, 0.01}}};
    NetParams params;
    params.tolerance = 1e-8;
    params.standardise = standardise;
    for (const auto& model : train(table, features, sheaf, params)) {
      const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
      const Setting setting{path.alphas[static_cast<std::size_t>(model.alpha)], path.l1_ratio, true, standardise,
                            loss()};
      EXPECT_LT(measure(plain, setting, model).gap, 1.01e-8);
      for (const auto j : model.features) EXPECT_TRUE(j < 30 || j > 34) << "feature " << j << " says nothing";
    }
  }
}

TEST_P(Nets, FloatReachesItsTolerance) {
  constexpr std::size_t features = 120;
  const auto table = make_table(100, features, 23);
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.9, {0.2, 0.1, 0.05, 0.02}}, {0, 0, 0.2, {0.2, 0.1, 0.05, 0.02}}};
  NetParams params;
  params.tolerance = 1e-4;
  for (const auto& model : train<float>(table, features, sheaf, params)) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    const Setting setting{path.alphas[static_cast<std::size_t>(model.alpha)], path.l1_ratio, true, false, loss()};
    EXPECT_LT(measure(plain, setting, model).gap, 1.02e-4);
  }
}

/// Long paths are cut into segments on a GPU, and models come and go.
TEST_P(Nets, LongPathsAndManyLanes) {
  constexpr std::size_t features = 90;
  const auto table = make_table(60, features, 29);
  const auto plain = plain_of(table, features);
  auto sheaf = sheaf_of(plain);
  for (const double l1 : {0.95, 0.6, 0.3}) sheaf.paths.push_back({0, 0, l1, alpha_path(0.3, 0.05, 37)});
  sheaf.paths.push_back({0, 0, 0.5, {0.1}});
  sheaf.paths.push_back({0, 0, 0.5, {}});
  for (const std::int32_t at_once : {0, 1, 2, 33}) {
    NetParams params;
    params.tolerance = 1e-6;
    params.models_at_once = at_once;
    const auto models = train(table, features, sheaf, params);
    ASSERT_EQ(models.size(), 112U);
    std::size_t at = 0;
    for (std::int32_t p = 0; p < 4; ++p)
      for (std::size_t a = 0; a < sheaf.paths[static_cast<std::size_t>(p)].alphas.size(); ++a, ++at) {
        ASSERT_EQ(models[at].path, p);
        ASSERT_EQ(models[at].alpha, static_cast<std::int32_t>(a));
        const auto& path = sheaf.paths[static_cast<std::size_t>(p)];
        EXPECT_LT(measure(plain, {path.alphas[a], path.l1_ratio, true, false, loss()}, models[at]).gap, 1.01e-6);
      }
  }
}

/// If X does not fit the GPU, products stream it and models get the columns of their working sets.
TEST_P(Nets, TablesLargerThanTheMemory) {
  constexpr std::size_t features = 400;
  const auto table = make_table(150, features, 37);
  const auto plain = plain_of(table, features);
  const auto dataset = test::dataset_of<double>(table, features, sparse());
  auto sheaf = sheaf_of(plain);
  sheaf.paths = {{0, 0, 0.9, {0.2, 0.1, 0.05}}, {0, 0, 0.4, {0.2, 0.1, 0.05}}, {0, 0, 1, {0.1}}};
  NetParams params;
  params.loss = loss();
  params.tolerance = 1e-7;
  params.models_at_once = 3;
  Context::Options options;
  options.device = device();
  options.threads = 2;
  options.memory = matrix_bytes(dataset.x) * 2;
  const auto models = elastic_nets<double>(Context(options), dataset, sheaf, params);
  ASSERT_EQ(models.size(), 7U);
  for (const auto& model : models) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
    const Setting setting{path.alphas[static_cast<std::size_t>(model.alpha)], path.l1_ratio, true, false, loss()};
    EXPECT_LT(measure(plain, setting, model).gap, 1.01e-7);
  }
}

/// Every model is trained once, by whichever device, and is the same optimum.
TEST_P(Nets, SeveralDevicesShareThePaths) {
  constexpr std::size_t features = 60;
  const auto table = make_table(50, features, 41);
  const auto plain = plain_of(table, features);
  const auto dataset = test::dataset_of<double>(table, features, sparse());
  auto sheaf = sheaf_of(plain);
  for (int p = 0; p < 40; ++p) sheaf.paths.push_back({0, 0, 0.3 + 0.01 * p, {0.2, 0.1, 0.05}});
  NetParams params;
  params.loss = loss();
  params.tolerance = 1e-7;
  const std::vector<Context> contexts{on(device()), on(Device::cpu())};
  std::vector<int> times(120, 0);
  elastic_nets<double>(contexts, dataset, sheaf, params, true,
                       [&](std::size_t context, std::span<NetModel> models, BlockView<const double> decisions) {
                         EXPECT_EQ(decisions.device, contexts.at(context).device());
                         for (const auto& model : models) {
                           const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
                           const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
                           ++times[static_cast<std::size_t>(model.path * 3 + model.alpha)];
                           EXPECT_LT(measure(plain, {alpha, path.l1_ratio, true, false, loss()}, model).gap, 1.01e-7);
                         }
                       });
  for (const int count : times) EXPECT_EQ(count, 1);
}

TEST_P(Nets, RealTablesOfFewRowsAndManyFeatures) {
  const std::string folder = std::string(SHEAF_TESTS_DIR) + "/../../shared/data/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real tables beside the checkout";
  for (const std::string name : {"colon-cancer", "leukemia", "duke", "breastcancer_vantveer", "riboflavin"}) {
    if (logistic() && name == "riboflavin") continue;  // numbers
    if (loss() == Loss::poisson) continue;             // no counts among them
    ReadOptions options;
    options.storage = sparse() ? Storage::sparse : Storage::dense;
    const auto dataset = read_dataset<double>(on(device()), folder + name + "/train.libsvm.xz", options);
    Plain plain;
    plain.y = dataset.target.values;
    plain.s.assign(plain.y.size(), 1.0);
    plain.factors.assign(static_cast<std::size_t>(dataset.features()), 1.0);
    const auto dense = sparse() ? to_dense(std::get<SparseMatrix<double>>(dataset.x), 2) : DenseMatrix<double>{};
    const auto& x = sparse() ? dense : std::get<DenseMatrix<double>>(dataset.x);
    for (std::int64_t i = 0; i < x.rows; ++i)
      plain.x.emplace_back(x.values.data() + i * x.columns, x.values.data() + (i + 1) * x.columns);
    auto sheaf = sheaf_of(plain);
    NetParams params;
    params.loss = loss();
    params.tolerance = 1e-6;
    params.standardise = true;
    sheaf.paths = {{0, 0, 1, {}}, {0, 0, 0.5, {}}};
    const auto largest = largest_alphas<double>(on(device()), dataset, sheaf, params);
    for (std::size_t p = 0; p < 2; ++p) sheaf.paths[p].alphas = alpha_path(largest[p], 0.05, 4);
    for (const auto& model : elastic_nets<double>(on(device()), dataset, sheaf, params)) {
      const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
      const Setting setting{path.alphas[static_cast<std::size_t>(model.alpha)], path.l1_ratio, true, true, loss()};
      EXPECT_TRUE(model.fit.converged) << name;
      EXPECT_LT(measure(plain, setting, model).gap, 1.01e-6) << name;
    }
  }
}

TEST_P(Nets, WrongRequestsAreToldApart) {
  constexpr std::size_t features = 5;
  const auto table = make_table(20, features, 31);
  const auto plain = plain_of(table, features);
  const auto refuses = [&](const auto& spoil, const std::string& why) {
    auto sheaf = sheaf_of(plain);
    sheaf.paths = {{0, 0, 0.5, {0.1}}};
    NetParams params;
    spoil(sheaf, params);
    try {
      train(table, features, sheaf, params);
      ADD_FAILURE() << "nobody said: " << why;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refuses([](NetSheaf& s, NetParams&) { s.paths[0].l1_ratio = 1.5; }, "l1-ratio 1.5");
  refuses([](NetSheaf& s, NetParams&) { s.paths[0].alphas = {-1}; }, "alpha -1");
  refuses([](NetSheaf&, NetParams& p) { p.tolerance = 0; }, "tolerance");
  refuses([](NetSheaf& s, NetParams&) { s.penalty_factors.pop_back(); }, "4 penalty factors for 5 features");
  refuses([](NetSheaf& s, NetParams&) { s.penalty_factors[1] = -2; }, "penalty factor is -2");
  refuses([](NetSheaf& s, NetParams&) { std::fill(s.row_weights.begin(), s.row_weights.end(), 0.0F); }, "no rows");
  if (logistic())
    refuses([](NetSheaf& s, NetParams&) { std::fill(s.targets.begin(), s.targets.end(), 1.0); }, "one class");
  if (loss() == Loss::poisson) {
    refuses([](NetSheaf& s, NetParams&) { s.targets[2] = -1; }, "the target of row 3 is -1");
    refuses([](NetSheaf& s, NetParams&) { std::fill(s.targets.begin(), s.targets.end(), 0.0); }, "all 0");
  }
}

/// The intercept of rare counts and of large ones, from which Newton's method alone would start far off.
TEST_P(Nets, CountsOfAnySize) {
  if (loss() != Loss::poisson) GTEST_SKIP() << "of counts";
  constexpr std::size_t features = 10;
  for (const double size : {1e-3, 1.0, 1e6}) {
    auto table = make_table(80, features, 43);
    for (double& label : table.labels) label *= size;
    const auto plain = plain_of(table, features);
    auto sheaf = sheaf_of(plain);
    sheaf.paths = {{0, 0, 0.9, {0.1 * size, 0.01 * size, 0}}};
    NetParams params;
    params.tolerance = 1e-8;
    for (const auto& model : train(table, features, sheaf, params)) {
      const double alpha = sheaf.paths[0].alphas[static_cast<std::size_t>(model.alpha)];
      const auto verdict = measure(plain, {alpha, 0.9, true, false, loss()}, model);
      EXPECT_TRUE(model.fit.converged);
      EXPECT_LT(verdict.violation, 1e-3) << "counts times " << size << ", alpha " << alpha;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool, Loss>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense") +
         (std::get<2>(info.param) == Loss::logistic  ? "Logistic"
          : std::get<2>(info.param) == Loss::poisson ? "Poisson"
                                                     : "Squared");
}
INSTANTIATE_TEST_SUITE_P(Devices, Nets,
                         testing::Combine(testing::ValuesIn(test::devices()), testing::Bool(),
                                          testing::Values(Loss::squared, Loss::logistic, Loss::poisson)),
                         name_of);

}  // namespace elastic_net_test
}  // namespace sheaf
