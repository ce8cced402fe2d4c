// Cox models beside R's coxph, and elastic nets of them beside glmnet (tests/golden/survival): weights, standard
// errors, tests, likelihoods, concordance; objectives along paths.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "linear_tables.hpp"
#include "net_results.hpp"

namespace sheaf::test {
namespace survival_golden_test {

using Json = nlohmann::json;

constexpr double near_enough = 1e-6;

void expect_relative(double got, double wanted, const std::string& what, double magnitude = 0) {
  EXPECT_NEAR(got, wanted, near_enough * std::max({std::abs(wanted), magnitude, 1e-300})) << what;
}

Dataset<double> read_survival(Device device, const std::string& name) {
  ReadOptions options;
  options.label = "time";
  options.event = "event";
  return read_dataset<double>(on(device), golden("survival/" + name + ".csv"), options);
}

std::vector<float> weights_of(const Json& one, std::size_t rows) {
  std::vector<float> weights;
  for (std::size_t i = 1; i <= rows && one["weighted"]; ++i) weights.push_back(static_cast<float>(1 + i % 3));
  return weights;
}

std::vector<double> offsets_of(const Json& one, std::size_t rows) {
  std::vector<double> offsets;
  for (std::size_t i = 1; i <= rows && one["shifted"]; ++i) offsets.push_back(std::log(static_cast<double>(1 + i % 4)));
  return offsets;
}

void expect_statistics(const LinearModel& model, const Json& one) {
  const auto rows = coefficient_table(model);
  ASSERT_EQ(rows.size(), one["weights"].size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const double error = one["errors"][j];
    expect_relative(rows[j].estimate, one["weights"][j], rows[j].name, error);
    expect_relative(rows[j].error, error, "error of " + rows[j].name);
    expect_relative(rows[j].statistic, one["z"][j], "z of " + rows[j].name, 1);
    expect_relative(rows[j].p, one["p"][j], "p of " + rows[j].name, 1e-3);
    expect_relative(rows[j].low, one["low"][j], "interval of " + rows[j].name, error);
    expect_relative(rows[j].high, one["high"][j], "interval of " + rows[j].name, error);
  }
  const auto& statistics = model.glm->statistics;
  expect_relative(statistics.log_likelihood, one["likelihood"], "log-likelihood");
  expect_relative(-statistics.null_deviance / 2, one["null"], "log-likelihood without features");
  expect_relative(statistics.survival.wald, one["wald"], "Wald test");
  expect_relative(statistics.survival.score, one["score"], "score test");
  expect_relative(statistics.survival.concordance, one["concordance"], "concordance");
  expect_relative(aic(*model.glm), one["aic"], "AIC");
  if (!one["weighted"]) expect_relative(bic(*model.glm), one["bic"], "BIC");
}

TEST(SurvivalGolden, ModelsAreThoseOfCoxph) {
  const auto results = read_json(golden("survival/results.json"));
  ASSERT_FALSE(results["models"].empty());
  for (const auto& one : results["models"])
    for (const Device device : devices())
      for (const GlmSolver solver : {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs}) {
        SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["ties"].get<std::string>() +
                     (one["weighted"] ? ", weighted" : "") + (one["shifted"] ? ", shifted" : "") + ", " +
                     std::string(to_string(solver)) + " on " + to_string(device));
        const auto dataset = read_survival(device, one["data"]);
        const auto rows = static_cast<std::size_t>(dataset.rows());
        GlmOptions options;
        options.ties = one["ties"] == "efron" ? Ties::efron : Ties::breslow;
        options.solver = solver;
        options.tolerance = 1e-10;
        options.offsets = offsets_of(one, rows);
        const auto model = train_glm(on(device), dataset, options, weights_of(one, rows));
        EXPECT_EQ(model.glm->family, GlmFamily::cox) << "the target says so";
        EXPECT_TRUE(model.glm->fit.converged) << model.glm->fit.gradient_norm;
        EXPECT_EQ(model.bias, 0);
        expect_statistics(model, one);
      }
}

TEST(SurvivalGolden, RobustErrorsAreThoseOfCoxph) {
  const auto results = read_json(golden("survival/results.json"));
  for (const auto& one : results["models"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["ties"].get<std::string>() +
                   (one["weighted"] ? ", weighted" : "") + (one["shifted"] ? ", shifted" : "") + " on " +
                   to_string(device));
      const auto dataset = read_survival(device, one["data"]);
      const auto rows = static_cast<std::size_t>(dataset.rows());
      GlmOptions options;
      options.ties = one["ties"] == "efron" ? Ties::efron : Ties::breslow;
      options.tolerance = 1e-10;
      options.offsets = offsets_of(one, rows);
      options.standard_errors = StandardErrors::hc0;
      const auto model = train_glm(on(device), dataset, options, weights_of(one, rows));
      const auto table = coefficient_table(model);
      ASSERT_EQ(table.size(), one["robust"].size());
      for (std::size_t j = 0; j < table.size(); ++j)
        expect_relative(table[j].error, one["robust"][j], "error of " + table[j].name);
      EXPECT_EQ(model.glm->statistics.covariance.size(), table.size() * table.size());
    }
}

/// The weights of one model, zeros included.
std::vector<double> all_weights(const NetModel& model, std::int64_t features) {
  std::vector<double> weights(static_cast<std::size_t>(features), 0.0);
  for (std::size_t k = 0; k < model.features.size(); ++k)
    weights[static_cast<std::size_t>(model.features[k])] = model.weights[k];
  return weights;
}

TEST(SurvivalGolden, NetsAreThoseOfGlmnet) {
  const auto results = read_json(golden("survival/results.json"));
  ASSERT_FALSE(results["nets"].empty());
  for (const auto& one : results["nets"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["data"].get<std::string>() + ", l1-ratio " + one["l1_ratio"].dump() + " on " +
                   to_string(device));
      const auto dataset = read_survival(device, one["data"]);
      const auto rows = static_cast<std::size_t>(dataset.rows());
      NetSheaf sheaf;
      sheaf.examples = dataset.rows();
      sheaf.risk.times = dataset.target.values;
      for (std::size_t i = 0; i < rows && one["untied"]; ++i) sheaf.risk.times[i] += static_cast<double>(i + 1) / 1000;
      sheaf.targets.assign(dataset.target.events.begin(), dataset.target.events.end());
      sheaf.row_weights = weights_of(one, rows);
      sheaf.offsets = offsets_of(one, rows);
      set_limits(one["limits"], static_cast<std::size_t>(dataset.features()), sheaf);
      sheaf.paths = {{0, 0, one["l1_ratio"], one["alphas"].get<std::vector<double>>()}};
      NetParams params;
      params.loss = Loss::cox;
      params.standardise = one["standardise"];
      params.tolerance = 1e-10;
      expect_relative(largest_alphas(on(device), dataset, sheaf, params).front(), one["largest"], "largest alpha");
      const auto models = elastic_nets(on(device), dataset, sheaf, params);
      ASSERT_EQ(models.size(), one["alphas"].size());
      for (std::size_t a = 0; a < models.size(); ++a) {
        const auto& fit = models[a].fit;
        const double wanted = one["objectives"][a];
        EXPECT_TRUE(fit.converged) << fit.gap;
        EXPECT_LE(fit.objective, wanted * (1 + 1e-9));
        if (!one["untied"]) continue;  // the recipe explains it
        EXPECT_GE(fit.objective, wanted * (1 - 1e-7)) << "the same optimum";
        const auto weights = all_weights(models[a], dataset.features());
        double largest = 0;
        for (const double weight : one["weights"][a]) largest = std::max(largest, std::abs(weight));
        for (std::size_t j = 0; j < weights.size(); ++j)
          EXPECT_NEAR(weights[j], one["weights"][a][j].get<double>(), 1e-3 * largest) << j;
      }
    }
}

}  // namespace survival_golden_test
}  // namespace sheaf::test
