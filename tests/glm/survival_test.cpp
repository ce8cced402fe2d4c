// Cox's partial likelihood against its definition: losses, slopes, curvatures and dual values, the verbs of all
// devices, scores, and nets whose folds are row weights.
#include <cmath>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "linear_tables.hpp"
#include "linear_verbs.hpp"
#include "statistics/concordance.hpp"
#include "statistics/risk_sets.hpp"

#include <sheaf/memory.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/survival.hpp>

namespace sheaf::linear {
namespace survival_test {

/// What rows of survival may have besides a time.
struct Shape {
  bool efron, strata, entries;
};
std::vector<Shape> shapes() {
  std::vector<Shape> list;
  for (const bool efron : {false, true})
    for (const bool strata : {false, true})
      for (const bool entries : {false, true}) list.push_back({efron, strata, entries});
  return list;
}
std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << (shape.efron ? "Efron" : "Breslow") << (shape.strata ? ", strata" : "")
             << (shape.entries ? ", entries" : "");
}

/// Rows with ties, censored rows and rows of weight 0.
struct Rows {
  RiskTimes risk;
  std::vector<double> events, z;
  std::vector<float> weights;

  Rows(std::size_t count, const Shape& shape, std::uint64_t seed = 7) {
    Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      risk.times.push_back(static_cast<double>(random.below(1 + count / 3)));
      if (shape.entries) risk.entries.push_back(risk.times[i] - 1 - static_cast<double>(random.below(1 + count / 5)));
      if (shape.strata) risk.strata.push_back(static_cast<std::int32_t>(random.below(1 + count / 20)));
      events.push_back(random.below(3) > 0 ? 1 : 0);
      z.push_back(random.normal());
      weights.push_back(static_cast<float>(random.below(4)));
    }
  }
  std::size_t size() const { return events.size(); }
  bool same_stratum(std::size_t i, std::size_t j) const {
    return risk.strata.empty() || risk.strata[i] == risk.strata[j];
  }
  /// Whether row j is at risk at the time of row k.
  bool at_risk(std::size_t j, std::size_t k) const {
    return same_stratum(j, k) && risk.times[j] >= risk.times[k] &&
           (risk.entries.empty() || risk.entries[j] < risk.times[k]);
  }
};

/// By the definition, each risk set by itself.
double plain_loss(const Rows& rows, const std::vector<double>& z, bool efron) {
  double loss = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double at_risk = 0, tied = 0, sum = 0, count = 0, before = 0;
    if (rows.events[k] == 0 || !(rows.weights[k] > 0)) continue;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const double e = static_cast<double>(rows.weights[j]) * std::exp(z[j]);
      if (rows.at_risk(j, k)) at_risk += e;
      if (rows.risk.times[j] != rows.risk.times[k] || !rows.same_stratum(j, k)) continue;
      if (rows.events[j] == 0 || !(rows.weights[j] > 0)) continue;
      tied += e;
      sum += static_cast<double>(rows.weights[j]);
      count += 1;
      before += j < k ? 1 : 0;
    }
    const auto own = static_cast<double>(rows.weights[k]);
    loss += efron ? sum / count * std::log(at_risk - before / count * tied) : own * std::log(at_risk);
    loss -= own * z[k];
  }
  return loss;
}

/// The likelihood over the tables of some rows.
struct Likelihood {
  const Rows& rows;
  RiskArrays<double> risk;
  RiskSets<double> sets;
  std::vector<double> memory;
  OneThread team;
  PartialLikelihood<OneThread, double> value;

  Likelihood(const Rows& of, bool efron)
      : rows(of),
        risk(make_risk_tables(of.risk, of.events, of.weights, 1, efron), 1, Device::cpu()),
        sets(risk.sets()),
        memory(of.size() * PartialLikelihood<OneThread, double>::vectors),
        value(team, sets, memory.data()) {}

  double weight(std::int64_t i) const { return static_cast<double>(rows.weights[static_cast<std::size_t>(i)]); }
  double load(const std::vector<double>& z) {
    return value.load([&](std::int64_t i) { return z[static_cast<std::size_t>(i)]; },
                      [&](std::int64_t i) { return weight(i); });
  }
  double dual(double scale, const std::vector<double>& z) {
    return value.dual_value(
        scale, [&](std::int64_t i) { return z[static_cast<std::size_t>(i)]; },
        [&](std::int64_t i) { return weight(i); });
  }
  std::vector<double> slopes(const std::vector<double>& z) {
    load(z);
    std::vector<double> result(rows.size());
    for (std::int64_t k = 0; k < sets.rows; ++k)
      result[static_cast<std::size_t>(sets.order[k])] =
          value.expected(k) - (sets.share(k) > 0 ? weight(sets.order[k]) : 0.0);
    return result;
  }
};

TEST(PartialLikelihood, IsItsDefinition) {
  for (const std::size_t size : {1, 2, 31, 33, 200})
    for (const auto& shape : shapes()) {
      const Rows rows(size, shape);
      Likelihood likelihood(rows, shape.efron);
      const double wanted = plain_loss(rows, rows.z, shape.efron);
      EXPECT_NEAR(likelihood.load(rows.z), wanted, 1e-11 * (1 + std::abs(wanted))) << size << " " << shape;
    }
}

/// Strata whose hazards are of different sizes do not take digits from each other.
TEST(PartialLikelihood, AddsThatOfEachStratum) {
  Rows rows(90, {true, true, true});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.z[i] += 12 * rows.risk.strata[i];
  double wanted = 0;
  for (std::int32_t stratum = 0; stratum < 5; ++stratum) {
    Rows alone(0, {true, false, true});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.risk.strata[i] != stratum) continue;
      alone.risk.times.push_back(rows.risk.times[i]);
      alone.risk.entries.push_back(rows.risk.entries[i]);
      alone.events.push_back(rows.events[i]);
      alone.weights.push_back(rows.weights[i]);
      alone.z.push_back(rows.z[i]);
    }
    if (alone.size() > 0) wanted += Likelihood(alone, true).load(alone.z);
  }
  EXPECT_NEAR(Likelihood(rows, true).load(rows.z), wanted, 1e-12 * std::abs(wanted));
}

TEST(PartialLikelihood, HasTheDerivativesOfItsLoss) {
  constexpr double step = 1e-5;
  for (const auto& shape : shapes()) {
    const bool efron = shape.efron;
    const Rows rows(60, shape);
    Likelihood likelihood(rows, efron);
    const auto slopes = likelihood.slopes(rows.z);
    EXPECT_NEAR(std::accumulate(slopes.begin(), slopes.end(), 0.0), 0, 1e-12) << "a shift of all z changes nothing";
    std::vector<double> curvatures(rows.size()), product(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      curvatures[i] =
          likelihood.value.quadratic([&](std::int64_t k) { return static_cast<std::size_t>(k) == i ? 1.0 : 0.0; });
    Random random(3);
    std::vector<double> direction;
    for (std::size_t i = 0; i < rows.size(); ++i) direction.push_back(random.normal());
    likelihood.value.multiply([&](std::int64_t i) { return direction[static_cast<std::size_t>(i)]; },
                              [&](std::int64_t i, double value) { product[static_cast<std::size_t>(i)] = value; });
    auto up = rows.z, down = rows.z;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      up[i] += step * direction[i];
      down[i] -= step * direction[i];
    }
    const auto above = likelihood.slopes(up), below = likelihood.slopes(down);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(product[i], (above[i] - below[i]) / (2 * step), 1e-7);
      auto more = rows.z, less = rows.z;
      more[i] += step;
      less[i] -= step;
      EXPECT_NEAR(slopes[i], (plain_loss(rows, more, efron) - plain_loss(rows, less, efron)) / (2 * step), 1e-6);
      EXPECT_NEAR(curvatures[i], (likelihood.slopes(more)[i] - likelihood.slopes(less)[i]) / (2 * step), 1e-6);
    }
  }
}

TEST(PartialLikelihood, DualValuesAreLowerBounds) {
  for (const auto& shape : shapes()) {
    const bool efron = shape.efron;
    const Rows rows(40, shape);
    Likelihood likelihood(rows, efron);
    const auto u = likelihood.slopes(rows.z);  // with the other sign
    for (const double scale : {0.0, 0.3, 0.9, 0.999, 1.0}) {
      likelihood.load(rows.z);
      const double dual = likelihood.dual(scale, rows.z);
      const auto primal = [&](const std::vector<double>& z) {
        double value = plain_loss(rows, z, efron);
        for (std::size_t i = 0; i < z.size(); ++i) value -= scale * u[i] * z[i];
        return value;
      };
      auto z = rows.z;
      if (scale == 1) {
        EXPECT_NEAR(dual, primal(z), 1e-10 * std::abs(dual)) << "exact where residuals are as they are";
      }
      for (int turn = 0; turn < 500; ++turn) {
        const auto slopes = likelihood.slopes(z);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] -= 0.05 * (slopes[i] - scale * u[i]);
        ASSERT_LE(dual, primal(z) + 1e-9) << scale;
      }
    }
  }
}

template <class T>
class SurvivalVerbs : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(SurvivalVerbs, Elements);

TYPED_TEST(SurvivalVerbs, AreThePartialLikelihood) {
  using T = TypeParam;
  const double tolerance = std::is_same_v<T, float> ? 2e-4 : 1e-9;
  for_cases<T>(cases(), task_counts(), [&](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const std::int32_t tasks = 1 + size % 5;
    for (const auto& shape : shapes()) {
      const bool efron = shape.efron;
      const auto count = static_cast<std::size_t>(ops.examples());
      const Rows rows(count, shape);
      Sheaf sheaf;
      sheaf.examples = ops.examples();
      sheaf.weight_columns = 2;
      for (std::size_t i = 0; i < count; ++i) {
        sheaf.row_weights.push_back(rows.weights[i]);
        sheaf.row_weights.push_back(1);
      }
      sheaf.targets = rows.events;
      for (std::int32_t t = 0; t < tasks; ++t) sheaf.tasks.push_back({t % 2, 0, 0.5 + t, 0.5 + t, 0});
      ops.load_tables(sheaf);
      ops.load_risks(make_risk_tables(rows.risk, rows.events, sheaf.row_weights, 2, efron));
      ops.choose_tasks(sheaf.tasks);
      Random random(5);
      Guarded<T> z(ops.examples(), tasks, ops.device()), step(ops.examples(), tasks, ops.device());
      Guarded<T> slopes(ops.examples(), tasks, ops.device()), second(ops.examples(), tasks, ops.device());
      Guarded<T> q(ops.examples(), tasks, ops.device());
      for (auto* block : {&z, &step, &q}) block->fill(random);
      const auto direction = q.snapshot();
      for (auto* block : {&z, &step, &slopes, &second, &q}) block->send();
      std::vector<double> values(static_cast<std::size_t>(tasks), -1.0);
      ops.partial_likelihood(z.view(), step.view(), {}, values, slopes.view(), second.view());
      ops.partial_curvature(second.view(), q.view());
      ops.synchronize();
      slopes.fetch();
      q.fetch();
      for (std::int32_t t = 0; t < tasks; ++t) {
        auto own = rows;
        if (t % 2 == 1) own.weights.assign(count, 1.0F);
        std::vector<double> at;
        for (std::int64_t i = 0; i < ops.examples(); ++i) at.push_back(z(i, t) + step(i, t));
        Likelihood likelihood(own, efron);
        const double cost = 0.5 + t;
        const double loss = cost * likelihood.load(at);
        EXPECT_NEAR(values[static_cast<std::size_t>(t)], loss, tolerance * (1 + std::abs(loss)));
        const auto wanted = likelihood.slopes(at);
        std::vector<double> product(count);
        likelihood.value.multiply([&](std::int64_t i) { return direction(i, t); },
                                  [&](std::int64_t i, double value) { product[static_cast<std::size_t>(i)] = value; });
        for (std::size_t i = 0; i < count; ++i) {
          const auto row = static_cast<std::int64_t>(i);
          EXPECT_NEAR(slopes(row, t), cost * wanted[i], 10 * tolerance * (1 + std::abs(cost * wanted[i])));
          EXPECT_NEAR(q(row, t), cost * product[i], 100 * tolerance * (1 + std::abs(cost * product[i])));
        }
      }
    }
  });
}

}  // namespace survival_test
}  // namespace sheaf::linear

namespace sheaf::test {
namespace survival_test {

TEST(Times, TieIfTheyDifferByRoundingAlone) {
  // survival::aeqSurv of R.
  EXPECT_EQ(tie_times(std::vector{1.0, 1 + 1e-9, 2.0, 3.0, 0.1 + 0.2, 0.3, 5.0}),
            (std::vector{1.0, 1.0, 2.0, 3.0, 0.3, 0.3, 5.0}));
  EXPECT_EQ(tie_times(std::vector{1.0, 1 + 1e-6}), (std::vector{1.0, 1 + 1e-6}));
  EXPECT_TRUE(tie_times({}).empty());
}

TEST(Concordance, CountsPairsByItsDefinition) {
  for (const std::size_t size : {0, 1, 2, 33, 300}) {
    Random random(size);
    std::vector<double> values, weights;
    RiskTimes risk;
    std::vector<std::uint8_t> events;
    for (std::size_t i = 0; i < size; ++i) {
      values.push_back(static_cast<double>(random.below(20)));
      risk.times.push_back(static_cast<double>(random.below(15)));
      if (size % 2 == 0) risk.entries.push_back(risk.times[i] - 1 - static_cast<double>(random.below(9)));
      if (size > 2) risk.strata.push_back(static_cast<std::int32_t>(random.below(3)));
      weights.push_back(static_cast<double>(random.below(3)));
      events.push_back(static_cast<std::uint8_t>(random.below(2)));
    }
    double pairs = 0, concordant = 0, tied = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const auto& times = risk.times;
        const bool first = events[i] == 1 && (times[i] < times[j] || (times[i] == times[j] && events[j] == 0));
        const bool entered = risk.entries.empty() || risk.entries[j] < times[i];
        if (!first || !entered || (!risk.strata.empty() && risk.strata[i] != risk.strata[j])) continue;
        const double both = weights[i] * weights[j];
        pairs += both;
        concordant += values[i] > values[j] ? both : 0;
        tied += values[i] == values[j] ? both : 0;
      }
    const auto found = concordant_pairs(values, risk, events, weights);
    EXPECT_EQ(found.pairs, pairs);
    EXPECT_EQ(found.concordant, concordant);
    EXPECT_EQ(found.tied, tied);
  }
  EXPECT_TRUE(
      std::isnan(concordance(std::vector<double>{1, 2}, std::vector<double>{1, 2}, std::vector<std::uint8_t>{0, 0})));
}

/// Columns of normal numbers, of which the first two speed events up.
struct Study {
  Dataset<double> dataset;
  NetSheaf sheaf;

  Study(std::size_t rows, std::int64_t features) {
    Random random(11);
    DenseMatrix<double> x{static_cast<std::int64_t>(rows), features,
                          Array<double>(static_cast<std::int64_t>(rows) * features)};
    for (auto& value : x.values) value = random.normal();
    for (std::size_t i = 0; i < rows; ++i) {
      const auto* row = x.values.data() + static_cast<std::int64_t>(i) * features;
      sheaf.risk.times.push_back(std::ceil(-std::log(random.uniform()) * 20 * std::exp(row[1] - row[0])));
      sheaf.targets.push_back(random.below(4) > 0 ? 1 : 0);
    }
    dataset.x = std::move(x);
    sheaf.examples = static_cast<std::int64_t>(rows);
  }
};

NetParams cox_params(Ties ties) {
  NetParams params;
  params.loss = Loss::cox;
  params.ties = ties;
  params.tolerance = 1e-9;
  return params;
}

TEST(CoxNets, FoldsAreRowWeights) {
  for (const Device device : devices())
    for (const Ties ties : {Ties::breslow, Ties::efron}) {
      Study study(90, 40);
      auto& sheaf = study.sheaf;
      sheaf.weight_columns = 3;
      for (std::size_t i = 0; i < 90; ++i)
        for (std::size_t c = 0; c < 3; ++c) sheaf.row_weights.push_back(i % 3 == c ? 0.0F : 1.0F);
      const std::vector<double> alphas{0.1, 0.05, 0.02};
      for (std::int32_t c = 0; c < 3; ++c) sheaf.paths.push_back({c, 0, 0.7, alphas});
      const auto together = elastic_nets(on(device), study.dataset, sheaf, cox_params(ties));
      for (std::int32_t c = 0; c < 3; ++c) {
        std::vector<std::int32_t> kept;
        NetSheaf alone;
        for (std::int32_t i = 0; i < 90; ++i) {
          if (i % 3 == c) continue;
          kept.push_back(i);
          alone.risk.times.push_back(sheaf.risk.times[static_cast<std::size_t>(i)]);
          alone.targets.push_back(sheaf.targets[static_cast<std::size_t>(i)]);
        }
        alone.examples = 60;
        alone.paths = {{0, 0, 0.7, alphas}};
        const auto models = elastic_nets(on(device), take_rows(study.dataset, kept, 1), alone, cox_params(ties));
        for (std::size_t a = 0; a < alphas.size(); ++a) {
          const auto& one = together[static_cast<std::size_t>(c) * alphas.size() + a];
          EXPECT_TRUE(one.fit.converged);
          EXPECT_NEAR(one.fit.objective, models[a].fit.objective, 2 * one.fit.tolerance + 1e-12);
          EXPECT_EQ(one.features, models[a].features);
          EXPECT_EQ(one.intercept, 0);
        }
      }
    }
}

/// The gap is measured against the likelihood of strata and entries, so that a small one proves the optimum; here the
/// gradient of the partial likelihood by its definition is within the penalty, and equal to it for features in use.
TEST(CoxNets, OfStrataAndEntriesMeetTheConditionsOfTheOptimum) {
  for (const Device device : devices())
    for (const std::size_t rows : {120, 500}) {
      Study study(rows, 12);
      auto& sheaf = study.sheaf;
      Random random(5);
      for (std::size_t i = 0; i < rows; ++i) {
        sheaf.risk.entries.push_back(sheaf.risk.times[i] - 1 - static_cast<double>(random.below(20)));
        sheaf.risk.strata.push_back(static_cast<std::int32_t>(random.below(4)));
      }
      const double alpha = 0.05;
      sheaf.paths = {{0, 0, 1, {alpha}}};
      const auto model = elastic_nets(on(device), study.dataset, sheaf, cox_params(Ties::breslow)).front();
      ASSERT_TRUE(model.fit.converged);
      const auto& x = std::get<DenseMatrix<double>>(study.dataset.x);
      std::vector<double> z(rows, 0.0), weights(12, 0.0);
      for (std::size_t k = 0; k < model.features.size(); ++k)
        weights[static_cast<std::size_t>(model.features[k])] = model.weights[k];
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < 12; ++j) z[i] += x.values[static_cast<std::int64_t>(i * 12 + j)] * weights[j];
      std::vector<double> slopes(rows, 0.0);  // of the loss in z
      for (std::size_t k = 0; k < rows; ++k) {
        if (sheaf.targets[k] == 0) continue;
        slopes[k] -= 1;
        std::vector<std::size_t> at_risk;
        double sum = 0;
        for (std::size_t j = 0; j < rows; ++j) {
          if (sheaf.risk.strata[j] != sheaf.risk.strata[k] || sheaf.risk.times[j] < sheaf.risk.times[k]) continue;
          if (!(sheaf.risk.entries[j] < sheaf.risk.times[k])) continue;
          at_risk.push_back(j);
          sum += std::exp(z[j]);
        }
        for (const auto j : at_risk) slopes[j] += std::exp(z[j]) / sum;
      }
      for (std::size_t j = 0; j < 12; ++j) {
        double gradient = 0;
        for (std::size_t i = 0; i < rows; ++i)
          gradient += slopes[i] * x.values[static_cast<std::int64_t>(i * 12 + j)] / static_cast<double>(rows);
        EXPECT_LE(std::abs(gradient), alpha * (1 + 1e-3));
        if (weights[j] != 0) {
          EXPECT_NEAR(gradient, weights[j] > 0 ? -alpha : alpha, 1e-3 * alpha);
        }
      }
    }
}

TEST(CoxNets, SparseAndDenseAgree) {
  for (const Device device : devices()) {
    Study study(60, 150);
    study.sheaf.paths = {{0, 0, 1, {0.2, 0.1, 0.05, 0.01}}};
    const auto dense = elastic_nets(on(device), study.dataset, study.sheaf, cox_params(Ties::breslow));
    const auto& x = std::get<DenseMatrix<double>>(study.dataset.x);
    SparseMatrix<double> sparse{60, 150, Array<std::int64_t>(61), Array<std::int32_t>(60 * 150),
                                Array<double>(60 * 150)};
    for (std::int64_t i = 0; i <= 60; ++i) sparse.offsets[i] = i * 150;
    for (std::int64_t e = 0; e < 60 * 150; ++e) {
      sparse.indices[e] = static_cast<std::int32_t>(e % 150);
      sparse.values[e] = x.values[e];
    }
    Dataset<double> same;
    same.x = std::move(sparse);
    const auto other = elastic_nets(on(device), same, study.sheaf, cox_params(Ties::breslow));
    for (std::size_t a = 0; a < dense.size(); ++a)
      EXPECT_NEAR(dense[a].fit.objective, other[a].fit.objective, 2 * dense[a].fit.tolerance + 1e-12);
  }
}

TEST(SurvivalTargets, FromMemoryAreChecked) {
  const std::vector<double> times{3, 1, 2};
  const auto target = make_target(times, {.events = {1, 0, 1}});
  EXPECT_TRUE(target.survival());
  EXPECT_FALSE(target.looks_like_classes());
  EXPECT_EQ(target.events, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_THROW(make_target(times, {.events = {1, 0}}), UsageError);
  EXPECT_THROW(make_target(times, {.events = {1, 2, 0}}), UsageError);
  EXPECT_THROW(make_target(std::vector<double>{1, -1, 2}, {.events = {1, 0, 1}}), UsageError);
  const std::vector<std::string> strata{"b", "a", "b"};
  const auto late = make_target(times, {.events = {1, 0, 1}, .entries = {-1, 0, 1.5}, .strata = strata});
  EXPECT_EQ(late.entries, (std::vector<double>{-1, 0, 1.5}));
  EXPECT_EQ(late.strata, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_THROW(make_target(times, {.events = {1, 0, 1}, .entries = {0, 1, 0}}), UsageError);
  EXPECT_THROW(make_target(times, {.events = {1, 0, 1}, .entries = {0, 0}}), UsageError);
  EXPECT_THROW(make_target(times, {.events = {1, 0, 1}, .strata = std::vector<double>{1, 2}}), UsageError);
}

}  // namespace survival_test
}  // namespace sheaf::test
