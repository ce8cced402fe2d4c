// Paths of few features: what neighbouring penalties have in common, how training ends, where paths begin and end.
#include <cmath>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/net_path.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace covariance_path_test {

using test::on;

struct Drawn {
  Dataset<double> data;
  NetSheaf sheaf;
};

/// Normal features with the mean 1; the target is the loss's own, of the first ten.
Drawn draw(std::int64_t rows, std::int64_t features, Loss loss, double noise) {
  std::mt19937_64 bits(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Drawn drawn;
  DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
  for (auto& value : x.values) value = 1 + normal(bits);
  for (std::int64_t i = 0; i < rows; ++i) {
    double z = 0;
    for (std::int64_t j = 0; j < std::min<std::int64_t>(10, features); ++j)
      z += (x.values[i * features + j] - 1) * (j % 2 == 0 ? 0.5 : -0.4);
    const double y = loss == Loss::squared    ? z + noise * normal(bits)
                     : loss == Loss::logistic ? (uniform(bits) < 1 / (1 + std::exp(-z)) ? 1.0 : -1.0)
                                              : static_cast<double>(std::poisson_distribution<int>(std::exp(z))(bits));
    drawn.sheaf.targets.push_back(y);
  }
  drawn.data.x = std::move(x);
  drawn.sheaf.examples = rows;
  return drawn;
}

/// Groups of features of which each row has one: as many linear dependences as there are groups.
Drawn draw_groups(std::int64_t rows, std::int32_t groups, std::int32_t levels) {
  std::mt19937_64 bits(9);
  Drawn drawn;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  for (std::int64_t i = 0; i < rows; ++i) {
    double z = 0;
    for (std::int32_t g = 0; g < groups; ++g) {
      const auto level = static_cast<std::int32_t>(bits() % static_cast<std::uint64_t>(levels));
      indices.push_back(g * levels + level);
      z += level % 4 == g % 4 ? 2.0 : -0.5;
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
    drawn.sheaf.targets.push_back(z > 0 ? 1 : -1);
  }
  const std::vector<double> values(indices.size(), 1.0);
  drawn.data.x = SparseMatrix<double>{rows, std::int64_t{groups} * levels, Array<std::int64_t>::copy_of(offsets),
                                      Array<std::int32_t>::copy_of(indices), Array<double>::copy_of(values)};
  drawn.sheaf.examples = rows;
  return drawn;
}

std::vector<double> predictions(const Drawn& drawn, const NetModel& model) {
  const auto& x = std::get<DenseMatrix<double>>(drawn.data.x);
  std::vector<double> z;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    z.push_back(model.intercept);
    for (std::size_t k = 0; k < model.features.size(); ++k)
      z.back() += model.weights[k] * x.values[i * x.columns + model.features[k]];
  }
  return z;
}

/// R2 is 0.9999 at the end: at a share of the deviance without features, half of the path would be copies.
TEST(CovariancePath, NeighboursDifferWhereNearlyAllIsExplained) {
  auto drawn = draw(300, 20, Loss::squared, 0.01);
  const auto context = Context();
  NetParams params;
  drawn.sheaf.paths = {{0, 0, 1.0, {}}};
  const double largest = largest_alphas(context, drawn.data, drawn.sheaf, params)[0];
  for (const int count : {100, 1000}) {
    drawn.sheaf.paths[0].alphas = alpha_path(largest, 1e-3, count);
    const auto found = elastic_nets(context, drawn.data, drawn.sheaf, params);
    auto precise = params;
    precise.tolerance = 1e-10;
    const auto exact = elastic_nets(context, drawn.data, drawn.sheaf, precise);
    ASSERT_EQ(found.size(), exact.size());
    for (std::size_t a = 1; a < found.size(); ++a) {
      EXPECT_NE(found[a].weights, found[a - 1].weights) << a;
      EXPECT_TRUE(found[a].fit.converged) << a;
      // A gap bounds half the mean square of what predictions are off.
      const auto z = predictions(drawn, found[a]);
      const auto best = predictions(drawn, exact[a]);
      double off = 0, left = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        off += std::pow(z[i] - best[i], 2);
        left += std::pow(drawn.sheaf.targets[i] - best[i], 2);
      }
      EXPECT_LE(off, 2.5 * params.tolerance * left) << a;
    }
  }
}

/// Rows of one-hot groups: few features, and as many as working sets serve.
TEST(CovariancePath, EndsAtEveryToleranceThoughFeaturesDepend) {
  for (const bool few : {true, false}) {
    auto drawn = few ? draw_groups(600, 12, 4) : draw_groups(120, 12, 45);
    const auto context = Context();
    NetParams params;
    params.loss = Loss::logistic;
    params.max_epochs = 100000;
    drawn.sheaf.paths = {{0, 0, 1.0, {}}};
    const auto alphas = alpha_path(largest_alphas(context, drawn.data, drawn.sheaf, params)[0], few ? 1e-3 : 1e-2, 100);
    for (const bool standardise : {false, true})
      for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10}) {
        params.tolerance = tolerance;
        params.standardise = standardise;
        drawn.sheaf.paths[0].alphas = alphas;
        for (const auto& model : elastic_nets(context, drawn.data, drawn.sheaf, params)) {
          EXPECT_TRUE(model.fit.converged) << model.alpha << ": " << model.fit.gap << " > " << model.fit.tolerance;
          EXPECT_LE(model.fit.gap, model.fit.tolerance);
          EXPECT_LT(model.fit.epochs, 3000) << model.alpha;
        }
      }
  }
}

/// Few rows have the feature: all second derivatives together differ much from its own, which goes to 0.
TEST(CovariancePath, RareFeaturesHaveTheirOwnSecondDerivatives) {
  constexpr std::int64_t rows = 300;
  Drawn drawn;
  DenseMatrix<double> x{rows, 2, Array<double>(rows * 2)};
  for (std::int64_t i = 0; i < rows; ++i) {
    x.values[i * 2] = i < 6 ? 1 : 0;
    x.values[i * 2 + 1] = static_cast<double>(i % 7) / 7;
    drawn.sheaf.targets.push_back(i < 6 ? 0.0 : static_cast<double>(i % 4));  // no counts where the feature is
  }
  drawn.data.x = std::move(x);
  drawn.sheaf.examples = rows;
  NetParams params;
  params.loss = Loss::poisson;
  params.tolerance = 1e-12;
  params.max_epochs = 100000;
  drawn.sheaf.paths = {{0, 0, 1.0, {0.0}}};
  const auto model = elastic_nets(Context(), drawn.data, drawn.sheaf, params)[0];
  EXPECT_TRUE(model.fit.converged) << model.fit.gap << " > " << model.fit.tolerance;
  EXPECT_LT(model.weights.at(0), -10);  // the rate there goes to 0
}

/// Survival of rows with many equal times.
Drawn draw_survival(std::int64_t rows, std::int64_t features) {
  auto drawn = draw(rows, features, Loss::squared, 1);
  std::mt19937_64 bits(8);
  std::uniform_real_distribution<double> uniform;
  for (auto& target : drawn.sheaf.targets) {
    drawn.sheaf.risk.times.push_back(std::ceil(20 * -std::log(uniform(bits)) * std::exp(-target)));
    target = uniform(bits) < 0.7 ? 1 : 0;
    drawn.sheaf.row_weights.push_back(static_cast<float>(bits() % 3));
    drawn.sheaf.offsets.push_back(uniform(bits) - 0.5);
  }
  return drawn;
}

/// Minus the slopes of the mean loss, by the definition of the partial likelihood.
std::vector<double> survival_slopes(const Drawn& drawn, const NetModel& model, bool efron) {
  const auto& x = std::get<DenseMatrix<double>>(drawn.data.x);
  const auto& sheaf = drawn.sheaf;
  auto z = predictions(drawn, model);
  const auto size = z.size();
  for (std::size_t i = 0; i < size; ++i) z[i] += sheaf.offsets[i];
  std::vector<double> slopes(static_cast<std::size_t>(x.columns), 0.0);
  double total = 0;
  std::set<double> times;
  for (std::size_t i = 0; i < size; ++i) {
    total += static_cast<double>(sheaf.row_weights[i]);
    times.insert(sheaf.risk.times[i]);
  }
  for (const double time : times)
    for (std::size_t j = 0; j < slopes.size(); ++j) {
      double risk = 0, risk_x = 0, tied = 0, tied_x = 0, events = 0, weight = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double s = sheaf.row_weights[i];
        const double value = x.values[static_cast<std::int64_t>(i) * x.columns + static_cast<std::int64_t>(j)];
        if (sheaf.risk.times[i] < time || s == 0) continue;
        risk += s * std::exp(z[i]);
        risk_x += s * std::exp(z[i]) * value;
        if (sheaf.risk.times[i] > time || sheaf.targets[i] == 0) continue;
        tied += s * std::exp(z[i]);
        tied_x += s * std::exp(z[i]) * value;
        events += 1;
        weight += s;
        slopes[j] += s * value / total;
      }
      for (double l = 0; l < events; l += 1) {
        const double fraction = efron ? l / events : 0;
        slopes[j] -= weight / events * (risk_x - fraction * tied_x) / (risk - fraction * tied) / total;
      }
    }
  return slopes;
}

TEST(CovariancePath, SurvivalIsOptimalWithEqualTimesWeightsAndOffsets) {
  auto drawn = draw_survival(150, 9);
  drawn.sheaf.paths = {{0, 0, 0.8, {0.2, 0.05, 0.01, 0.001}}};
  for (const auto ties : {Ties::breslow, Ties::efron}) {
    NetParams params;
    params.loss = Loss::cox;
    params.ties = ties;
    params.tolerance = 1e-13;
    params.max_epochs = 100000;
    for (const auto& model : elastic_nets(Context(), drawn.data, drawn.sheaf, params)) {
      EXPECT_TRUE(model.fit.converged) << model.fit.gap << " > " << model.fit.tolerance;
      const double alpha = drawn.sheaf.paths[0].alphas[static_cast<std::size_t>(model.alpha)];
      const auto slopes = survival_slopes(drawn, model, ties == Ties::efron);
      std::vector<double> weights(slopes.size(), 0.0);
      for (std::size_t k = 0; k < model.features.size(); ++k)
        weights[static_cast<std::size_t>(model.features[k])] = model.weights[k];
      for (std::size_t j = 0; j < slopes.size(); ++j) {
        if (weights[j] == 0)
          EXPECT_LE(std::abs(slopes[j]), 0.8 * alpha + 1e-6);
        else
          EXPECT_NEAR(slopes[j], alpha * (0.8 * (weights[j] > 0 ? 1 : -1) + 0.2 * weights[j]), 1e-6);
      }
    }
  }
}

/// Classes of rows by the largest of their first features, with weights, offsets and means of 1. Rows of the last class
/// have no weight: the model is not trained on it.
Drawn draw_classes(std::int64_t rows, std::int64_t features, std::int32_t classes, bool sparse, bool unknown) {
  std::mt19937_64 bits(11);
  std::normal_distribution<double> normal;
  Drawn drawn;
  DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
  for (auto& value : x.values) value = sparse && bits() % 3 != 0 ? 0 : 1 + normal(bits);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int32_t own = 0;
    double most = -HUGE_VAL;
    for (std::int32_t k = 0; k < classes; ++k) {
      const double z = 0.7 * x.values[i * features + k] + normal(bits);
      if (z > most) own = k;
      most = std::max(most, z);
    }
    for (std::int32_t k = 0; k < classes; ++k) {
      drawn.sheaf.targets.push_back(k == own ? 1 : 0);
      drawn.sheaf.offsets.push_back(0.3 * normal(bits));
    }
    drawn.sheaf.row_weights.push_back(unknown && own == classes - 1 ? 0.0F : static_cast<float>(1 + bits() % 2));
  }
  drawn.data.x = x.to(Device::cpu());
  if (sparse) drawn.data.x = to_sparse(x, 1);
  drawn.sheaf.examples = rows;
  drawn.sheaf.classes = drawn.sheaf.target_columns = classes;
  return drawn;
}

/// The slopes of all weights and intercepts, by the definition of the loss, are those of the penalty.
void expect_optimal_classes(const Drawn& drawn, const DenseMatrix<double>& x, std::span<const NetModel> models,
                            const NetPath& path, bool intercept, double near) {
  const auto& sheaf = drawn.sheaf;
  const auto classes = static_cast<std::size_t>(sheaf.classes);
  const auto features = static_cast<std::size_t>(x.columns);
  std::vector<double> weights(classes * features, 0.0), slopes(classes * features, 0.0), sums(classes, 0.0);
  double total = 0;
  for (std::size_t k = 0; k < classes; ++k)
    for (std::size_t f = 0; f < models[k].features.size(); ++f)
      weights[k * features + static_cast<std::size_t>(models[k].features[f])] = models[k].weights[f];
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.rows); ++i) {
    const double* row = x.values.data() + i * features;
    std::vector<double> e(classes);
    double all = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      double z = models[k].intercept + sheaf.offsets[i * classes + k];
      for (std::size_t j = 0; j < features; ++j) z += weights[k * features + j] * row[j];
      all += e[k] = std::exp(z);
    }
    const double s = sheaf.row_weights[i];
    total += s;
    for (std::size_t k = 0; k < classes; ++k) {
      const double u = s * (sheaf.targets[i * classes + k] - e[k] / all);
      sums[k] += u;
      for (std::size_t j = 0; j < features; ++j) slopes[k * features + j] += u * row[j];
    }
  }
  const double alpha = path.alphas[static_cast<std::size_t>(models[0].alpha)];
  for (std::size_t k = 0; k < classes && intercept; ++k) EXPECT_NEAR(sums[k] / total, 0, near) << k;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    const double slope = slopes[w] / total;
    if (weights[w] == 0)
      EXPECT_LE(std::abs(slope), path.l1_ratio * alpha + near) << w;
    else
      EXPECT_NEAR(slope, alpha * (path.l1_ratio * (weights[w] > 0 ? 1 : -1) + (1 - path.l1_ratio) * weights[w]), near)
          << w;
  }
}

/// More weights than are always in work, and fewer.
TEST(CovariancePath, SoftmaxIsOptimalWithWeightsAndOffsets) {
  for (const std::int64_t features : {6, 24})
    for (const bool sparse : {false, true})
      for (const bool intercept : {false, true})
        for (const double l1_ratio : {1.0, 0.6}) {
          auto drawn = draw_classes(200, features, 4, sparse, intercept);
          const auto x = sparse ? to_dense(std::get<SparseMatrix<double>>(drawn.data.x), 1)
                                : std::get<DenseMatrix<double>>(drawn.data.x).to(Device::cpu());
          drawn.sheaf.paths = {{0, 0, l1_ratio, {0.1, 0.03, 0.01, 0.001}}};
          NetParams params;
          params.loss = Loss::softmax;
          params.intercept = intercept;
          params.tolerance = 1e-13;
          params.max_epochs = 100000;
          const auto models = elastic_nets(Context(), drawn.data, drawn.sheaf, params);
          ASSERT_EQ(models.size(), 16U);
          for (std::size_t first = 0; first < models.size(); first += 4) {
            EXPECT_TRUE(models[first].fit.converged) << models[first].fit.gap << " > " << models[first].fit.tolerance;
            expect_optimal_classes(drawn, x, std::span(models).subspan(first, 4), drawn.sheaf.paths[0], intercept,
                                   1e-6);
          }
        }
}

/// Features come and go along the path, and a factor of their products with them.
TEST(CovariancePath, LassoIsOptimalWhereFeaturesLeave) {
  auto drawn = draw(120, 90, Loss::squared, 1);
  auto& x = std::get<DenseMatrix<double>>(drawn.data.x);
  for (std::int64_t i = 0; i < x.rows; ++i)  // neighbours are nearly equal, two are exactly equal
    for (std::int64_t j = 1; j < x.columns; ++j)
      x.values[i * x.columns + j] = j == 40 ? x.values[i * x.columns + 39]
                                            : 0.8 * x.values[i * x.columns + j - 1] + 0.4 * x.values[i * x.columns + j];
  NetParams params;
  params.tolerance = 1e-12;
  params.max_epochs = 100000;
  drawn.sheaf.paths = {{0, 0, 1.0, {}}};
  const double largest = largest_alphas(Context(), drawn.data, drawn.sheaf, params)[0];
  drawn.sheaf.paths[0].alphas = alpha_path(largest, 1e-4, 100);
  std::set<std::int32_t> before;
  int left = 0;
  for (const auto& model : elastic_nets(Context(), drawn.data, drawn.sheaf, params)) {
    EXPECT_TRUE(model.fit.converged) << model.fit.gap << " > " << model.fit.tolerance;
    const double alpha = drawn.sheaf.paths[0].alphas[static_cast<std::size_t>(model.alpha)];
    const auto z = predictions(drawn, model);
    std::map<std::int32_t, double> weights;
    for (std::size_t k = 0; k < model.features.size(); ++k) weights[model.features[k]] = model.weights[k];
    for (std::int64_t j = 0; j < x.columns; ++j) {
      double slope = 0;
      for (std::int64_t i = 0; i < x.rows; ++i)
        slope += (drawn.sheaf.targets[static_cast<std::size_t>(i)] - z[static_cast<std::size_t>(i)]) *
                 x.values[i * x.columns + j] / static_cast<double>(x.rows);
      const auto found = weights.find(static_cast<std::int32_t>(j));
      if (found == weights.end())
        EXPECT_LE(std::abs(slope), alpha + 1e-5 * largest) << j;
      else
        EXPECT_NEAR(slope, found->second > 0 ? alpha : -alpha, 1e-5 * largest) << j;
    }
    for (const auto j : before) left += weights.count(j) == 0 ? 1 : 0;
    before.clear();
    for (const auto& [j, weight] : weights) before.insert(j);
  }
  EXPECT_GT(left, 5);
}

/// Rows that differ only in features without a weight must tie, or areas under curves and concordances are others.
TEST(CovariancePath, RowsWithTheSameActiveFeaturesHaveTheSameDecisionValues) {
  constexpr std::int64_t rows = 150;
  constexpr std::int64_t features = 7;
  std::mt19937_64 bits(4);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Drawn drawn;
  DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
  for (std::int64_t i = 0; i < rows; ++i) {
    double* row = x.values.data() + i * features;
    for (std::int64_t j = 0; j < 2; ++j) row[j] = static_cast<double>(bits() % 4);  // these decide
    for (std::int64_t j = 2; j < features; ++j) row[j] = (row[0] - row[1] + normal(bits)) / 4;
    drawn.sheaf.risk.times.push_back(-std::log(uniform(bits)) * std::exp(row[1] - row[0]));
    drawn.sheaf.targets.push_back(uniform(bits) < 0.8 ? 1 : 0);
  }
  drawn.sheaf.examples = rows;
  NetParams params;
  params.loss = Loss::cox;
  params.tolerance = 1e-9;
  drawn.data.x = x.to(Device::cpu());
  drawn.sheaf.paths = {{0, 0, 1.0, {}}};
  const double largest = largest_alphas(Context(), drawn.data, drawn.sheaf, params)[0];
  drawn.sheaf.paths[0].alphas = alpha_path(largest * 0.9, 0.2, 25);
  int compared = 0;
  const auto compare = [&](std::span<NetModel> models, BlockView<const double> z) {
    for (std::size_t m = 0; m < models.size(); ++m) {
      std::map<std::vector<double>, double> seen;
      for (std::int64_t i = 0; i < x.rows; ++i) {
        std::vector<double> active;
        for (const auto j : models[m].features) active.push_back(x.values[i * x.columns + j]);
        const double value = z.data[i * z.stride + static_cast<std::int64_t>(m)];
        const auto [at, first] = seen.try_emplace(active, value);
        if (first) continue;
        EXPECT_EQ(at->second, value);
        ++compared;
      }
    }
  };
  elastic_nets<double>(Context(), drawn.data, drawn.sheaf, params, true, compare);
  EXPECT_GT(compared, 100);
}

/// A tolerance that no floating-point number reaches is reported, and soon.
TEST(CovariancePath, SaysWhatItCannotReach) {
  auto drawn = draw(200, 12, Loss::logistic, 0);
  const auto context = Context();
  NetParams params;
  params.loss = Loss::logistic;
  params.tolerance = 1e-30;
  params.max_epochs = 1000000;
  drawn.sheaf.paths = {{0, 0, 0.9, {0.05, 0.02, 0.01}}};
  for (const auto& model : elastic_nets(context, drawn.data, drawn.sheaf, params)) {
    EXPECT_EQ(model.fit.converged, model.fit.gap <= model.fit.tolerance);
    EXPECT_LT(model.fit.gap, 1e-11);
    EXPECT_LT(model.fit.epochs, 20000);
  }
}

class NetPaths : public ::testing::TestWithParam<Device> {};

/// The slope of every penalised feature at the least squares of the features without a penalty.
TEST_P(NetPaths, PathsBeginBesideFeaturesWithoutPenalty) {
  constexpr std::int64_t rows = 80;
  auto drawn = draw(rows, 6, Loss::squared, 1);
  auto& x = std::get<DenseMatrix<double>>(drawn.data.x);
  for (std::int64_t i = 0; i < rows; ++i) {  // the first feature hides what the third explains
    x.values[i * 6 + 2] = x.values[i * 6] + 0.3 * x.values[i * 6 + 2];
    drawn.sheaf.targets[static_cast<std::size_t>(i)] = 3 * (x.values[i * 6] - x.values[i * 6 + 2]);
  }
  drawn.sheaf.penalty_factors = {0, 1, 1, 2, 1, 1};
  drawn.sheaf.paths = {{0, 0, 1.0, {}}};
  const auto context = on(GetParam());
  double mean_x = 0, mean_y = 0, products = 0, squares = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    mean_x += x.values[i * 6] / rows;
    mean_y += drawn.sheaf.targets[static_cast<std::size_t>(i)] / rows;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    products += (x.values[i * 6] - mean_x) * (drawn.sheaf.targets[static_cast<std::size_t>(i)] - mean_y);
    squares += std::pow(x.values[i * 6] - mean_x, 2);
  }
  double expected = 0;
  for (std::int64_t j = 1; j < 6; ++j) {
    double slope = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      slope += x.values[i * 6 + j] *
               (drawn.sheaf.targets[static_cast<std::size_t>(i)] - mean_y -
                products / squares * (x.values[i * 6] - mean_x)) /
               rows;
    expected = std::max(expected, std::abs(slope) / drawn.sheaf.penalty_factors[static_cast<std::size_t>(j)]);
  }
  NetParams params;
  const double largest = largest_alphas(context, drawn.data, drawn.sheaf, params)[0];
  EXPECT_NEAR(largest, expected, 1e-6 * expected);
  params.tolerance = 1e-10;
  drawn.sheaf.paths[0].alphas = {1.001 * largest, 0.98 * largest};
  const auto models = elastic_nets(context, drawn.data, drawn.sheaf, params);
  EXPECT_EQ(models[0].features, std::vector<std::int32_t>{0});
  EXPECT_GT(models[1].features.size(), 1U);
}

/// Counts have a loss below 0 at some alphas, where the objective, the penalty in it, is next to 0.
TEST_P(NetPaths, ConvergeWhereTheObjectiveOfCountsVanishes) {
  constexpr std::int64_t rows = 1000;
  constexpr std::int64_t features = 100;
  constexpr std::int32_t folds = 40;
  const auto context = on(GetParam());
  for (const double shift : {0.1, 0.2}) {
    std::mt19937_64 bits(7);
    std::normal_distribution<double> normal;
    Drawn drawn;
    DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
    for (std::int64_t i = 0; i < rows; ++i) {
      double z = shift;
      for (std::int64_t j = 0; j < features; ++j) {
        const double value = x.values[i * features + j] = normal(bits);
        if (j < 10) z += (j % 2 == 0 ? 0.3 : -0.3) * value;
      }
      drawn.sheaf.targets.push_back(static_cast<double>(std::poisson_distribution<int>(std::exp(z))(bits)));
    }
    drawn.data.x = std::move(x);
    drawn.sheaf.examples = rows;
    NetParams params;
    params.loss = Loss::poisson;
    params.tolerance = 1e-9;
    drawn.sheaf.paths = {{0, 0, 1.0, {}}};
    const auto alphas = alpha_path(largest_alphas(context, drawn.data, drawn.sheaf, params)[0], 1e-2, 50);
    drawn.sheaf.weight_columns = folds;
    for (std::int64_t e = 0; e < rows * folds; ++e) drawn.sheaf.row_weights.push_back(bits() % 10 != 0 ? 1.0F : 0.0F);
    drawn.sheaf.paths.clear();
    for (std::int32_t fold = 0; fold < folds; ++fold) drawn.sheaf.paths.push_back({fold, 0, 1.0, alphas});
    double lowest = HUGE_VAL;
    for (const auto& model : elastic_nets(context, drawn.data, drawn.sheaf, params)) {
      EXPECT_TRUE(model.fit.converged) << "fold " << model.path << ", alpha " << model.alpha << ", objective "
                                       << model.fit.objective;
      lowest = std::min(lowest, std::abs(model.fit.objective));
    }
    EXPECT_LT(lowest, 1e-3);
  }
}

TEST_P(NetPaths, EndsWhereItsRuleSays) {
  auto drawn = draw(400, 12, Loss::poisson, 0);
  const auto context = on(GetParam());
  NetParams params;
  params.loss = Loss::poisson;
  params.tolerance = 1e-8;
  drawn.sheaf.paths = {{0, 0, 1.0, {}}};
  drawn.sheaf.paths[0].alphas = alpha_path(largest_alphas(context, drawn.data, drawn.sheaf, params)[0], 1e-4, 100);
  const auto all = elastic_nets(context, drawn.data, drawn.sheaf, params);
  const PathEnd end{.least_gain = 1e-4, .relative = true, .models = 4, .most_explained = 0.999};
  const auto ended = elastic_net_path(context, drawn.data, drawn.sheaf, params, end);
  ASSERT_EQ(ended.models.size(), ended.explained.size());
  ASSERT_GT(ended.models.size(), 20U);
  ASSERT_LT(ended.models.size(), 90U);
  double mean = 0;
  for (const double y : drawn.sheaf.targets) mean += y / 400;
  for (std::size_t a = 0; a < ended.models.size(); ++a) {
    double left = 0, null = 0;
    const auto z = predictions(drawn, ended.models[a]);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double y = drawn.sheaf.targets[i];
      const double least = y > 0 ? y - y * std::log(y) : 0;
      left += std::exp(z[i]) - y * z[i] - least;
      null += mean - y * std::log(mean) - least;
    }
    EXPECT_NEAR(ended.explained[a], 1 - left / null, 1e-8);
    EXPECT_NEAR(ended.models[a].fit.objective, all[a].fit.objective, 1e-7);
    const bool last = a + 1 == ended.models.size();
    if (a >= 4) {
      const double gain = ended.explained[a] - ended.explained[a - 4];
      EXPECT_EQ(last, gain < 1e-4 * ended.explained[a]) << a;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NetPaths, ::testing::ValuesIn(test::devices()),
                         [](const auto& tested) { return std::string(tested.param.is_cuda() ? "cuda" : "cpu"); });

/// Folds share products of features: each is as good as if it were trained on its rows alone.
TEST(CovariancePath, FoldsAreThoseOfTheirRows) {
  for (const auto loss : {Loss::squared, Loss::logistic, Loss::poisson}) {
    auto drawn = draw(90, 8, loss, 1);
    NetParams params;
    params.loss = loss;
    params.tolerance = 1e-11;
    params.standardise = true;
    constexpr std::int32_t folds = 3;
    drawn.sheaf.weight_columns = folds;
    drawn.sheaf.row_weights.assign(90 * folds, 1.0F);
    for (std::size_t i = 0; i < 90; ++i) drawn.sheaf.row_weights[i * folds + i % folds] = 0;
    for (std::int32_t f = 0; f < folds; ++f) drawn.sheaf.paths.push_back({f, 0, 0.8, {0.2, 0.1, 0.05}});
    const auto together = elastic_nets(Context({.threads = 2}), drawn.data, drawn.sheaf, params);
    const auto again = elastic_nets(Context({.threads = 1}), drawn.data, drawn.sheaf, params);
    const auto& x = std::get<DenseMatrix<double>>(drawn.data.x);
    for (std::int32_t f = 0; f < folds; ++f) {
      Drawn part;
      DenseMatrix<double> rows{60, 8, Array<double>(60 * 8)};
      std::int64_t to = 0;
      for (std::int64_t i = 0; i < 90; ++i) {
        if (i % folds == f) continue;
        for (std::int64_t j = 0; j < 8; ++j) rows.values[to * 8 + j] = x.values[i * 8 + j];
        ++to;
        part.sheaf.targets.push_back(drawn.sheaf.targets[static_cast<std::size_t>(i)]);
      }
      part.data.x = std::move(rows);
      part.sheaf.examples = 60;
      part.sheaf.paths = {{0, 0, 0.8, {0.2, 0.1, 0.05}}};
      const auto alone = elastic_nets(Context(), part.data, part.sheaf, params);
      for (std::size_t a = 0; a < 3; ++a) {
        const auto& fold = together[static_cast<std::size_t>(f) * 3 + a];
        EXPECT_EQ(fold.weights, again[static_cast<std::size_t>(f) * 3 + a].weights);
        ASSERT_EQ(fold.features, alone[a].features);
        for (std::size_t k = 0; k < fold.weights.size(); ++k) EXPECT_NEAR(fold.weights[k], alone[a].weights[k], 1e-5);
        EXPECT_NEAR(fold.fit.objective, alone[a].fit.objective, 1e-9);
      }
    }
  }
}

}  // namespace covariance_path_test
}  // namespace sheaf
