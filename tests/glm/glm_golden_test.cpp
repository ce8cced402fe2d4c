// Generalised linear models beside R's glm, MASS's glm.nb and nnet's multinom (tests/golden/r), and beside scikit-learn
// (tests/golden/sklearn/glm.json): weights, standard errors, p-values, deviances, AIC; objectives.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/glm.hpp>

#include "devices.hpp"
#include "glm_cases.hpp"

namespace sheaf::test {
namespace glm_golden_test {

using Json = nlohmann::json;

void expect_statistics(const LinearModel& model, const Json& one) {
  const auto rows = coefficient_table(model);
  const auto weights = one["weights"].get<std::vector<double>>();
  ASSERT_EQ(rows.size(), weights.size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const double error = one["errors"][j];
    expect_relative(rows[j].estimate, weights[j], rows[j].name, error);
    expect_relative(rows[j].error, error, "error of " + rows[j].name);
    if (!one["theta"].is_null())
      continue;  // glm.nb's p-values are those of the normal distribution too; digits suffice
    expect_relative(rows[j].p, one["p"][j], "p of " + rows[j].name, 1e-3);
  }
  const auto& statistics = model.glm->statistics;
  expect_relative(statistics.deviance, one["deviance"], "deviance");
  expect_relative(statistics.null_deviance, one["null"], "null deviance");
  expect_relative(statistics.dispersion, one["dispersion"], "dispersion");
  EXPECT_EQ(has_likelihood(model.glm->family), !one["aic"].is_null());
  if (has_likelihood(model.glm->family)) {
    expect_relative(aic(*model.glm), one["aic"], "AIC");
    expect_relative(bic(*model.glm), one["bic"], "BIC");
  }
  if (!one["theta"].is_null()) expect_relative(model.glm->parameter, one["theta"], "theta");
}

TEST(GlmGolden, ModelsAreThoseOfR) {
  const auto results = read_json(golden("r/results.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices())
      for (const GlmSolver solver : {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs}) {
        SCOPED_TRACE(one["program"].get<std::string>() + ", " + one["data"].get<std::string>() + ", " +
                     one["family"].get<std::string>() + (one["weighted"] ? ", weighted" : "") + ", " +
                     std::string(to_string(solver)) + " on " + to_string(device));
        const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
        const auto rows = static_cast<std::size_t>(dataset.rows());
        auto options = options_of(one["family"]);
        options.solver = solver;
        options.tolerance = 1e-10;
        options.intercept = one["intercept"];
        options.offsets = offsets_of(one, rows);
        const auto model = train_glm(on(device), dataset, options, weights_of(one, rows));
        EXPECT_TRUE(model.glm->fit.converged) << model.glm->fit.gradient_norm;
        expect_statistics(model, one);
      }
}

TEST(GlmGolden, MultinomialModelsAreThoseOfNnet) {
  const auto results = read_json(golden("r/results.json"));
  for (const auto& one : results["classes"])
    for (const Device device : devices())
      for (const GlmSolver solver : {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs}) {
        SCOPED_TRACE(one["limits"].dump() + (one["offset"] ? ", offsets, " : ", ") + std::string(to_string(solver)) +
                     " on " + to_string(device));
        auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
        dataset.target = classes_by(one["limits"], dataset.target.values);
        GlmOptions options;
        options.solver = solver;
        options.tolerance = 1e-10;
        const auto examples = static_cast<std::size_t>(dataset.rows());
        options.offsets = class_offsets_of(one, examples, dataset.target.class_names.size());
        const auto model = train_glm(on(device), dataset, options, weights_of(one, examples));
        const auto rows = coefficient_table(model);
        const auto columns = static_cast<std::size_t>(model.columns) - 1;
        ASSERT_EQ(rows.size(), columns * one["weights"][0].size());
        for (std::size_t e = 0; e < rows.size(); ++e) {
          const double error = one["errors"][e % columns][e / columns];
          const auto name = rows[e].versus + ":" + rows[e].name;
          expect_relative(rows[e].estimate, one["weights"][e % columns][e / columns], name, error);
          expect_relative(rows[e].error, error, "error of " + name);
        }
        expect_relative(model.glm->statistics.deviance, one["deviance"], "deviance");
        expect_relative(model.glm->statistics.null_deviance, one["null"], "null deviance");
        expect_relative(aic(*model.glm), one["aic"], "AIC");
      }
}

TEST(GlmGolden, PenalisedModelsHaveScikitLearnsObjectives) {
  const auto results = read_json(golden("sklearn/glm.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices())
      for (const GlmSolver solver : {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs}) {
        SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["family"].get<std::string>() + ", " +
                     std::string(to_string(solver)) + " on " + to_string(device));
        const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
        auto options = options_of(one["family"]);
        options.solver = solver;
        options.alpha = one["alpha"];
        options.power = one["power"];
        options.tolerance = 1e-9;
        const auto model =
            train_glm(on(device), dataset, options, weights_of(one, static_cast<std::size_t>(dataset.rows())));
        EXPECT_TRUE(model.glm->fit.converged) << model.glm->fit.gradient_norm;
        expect_relative(model.glm->fit.objective, one["objective"], "objective");
        const auto weights = one["weights"].get<std::vector<double>>();
        ASSERT_EQ(model.weights.size(), weights.size());
        double largest = 0;
        for (const double weight : weights) largest = std::max(largest, std::abs(weight));
        for (std::size_t e = 0; e < weights.size(); ++e) EXPECT_NEAR(model.weights[e], weights[e], 1e-3 * largest) << e;
      }
}

/// Classes of glass are nearly separated, which takes a method of the first order thousands of passes.
TEST(GlmGolden, MethodsOfTheFirstOrderHaveScikitLearnsObjectives) {
  const auto results = read_json(golden("sklearn/glm.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices())
      for (const auto solver : {GlmSolver::saga, GlmSolver::accelerated}) {
        if (one["data"] == "glass") continue;
        SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["family"].get<std::string>() + " on " +
                     to_string(device));
        const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
        auto options = options_of(one["family"]);
        options.solver = solver;
        options.alpha = one["alpha"];
        options.power = one["power"];
        options.tolerance = 5e-7;
        options.max_iterations = 10000;
        const auto model =
            train_glm(on(device), dataset, options, weights_of(one, static_cast<std::size_t>(dataset.rows())));
        EXPECT_TRUE(model.glm->fit.converged) << model.glm->fit.gradient_norm;
        expect_relative(model.glm->fit.objective, one["objective"], "objective");
      }
}

}  // namespace glm_golden_test
}  // namespace sheaf::test
