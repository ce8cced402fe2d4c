// Training from weights that are given: the optimum stays where it is, and one step away from it little is left to do.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/glm.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace glm_start_test {

Dataset<double> rows_for(GlmFamily family) {
  const bool classes = family == GlmFamily::multinomial;
  auto table = make_table(150, 4, classes ? 3 : 0, 31);
  for (double& label : table.labels) label = classes ? label : std::floor(std::exp(label));
  auto dataset = dataset_of<double>(table, 4);
  if (family == GlmFamily::cox)
    for (std::size_t i = 0; i < table.labels.size(); ++i) dataset.target.events.push_back(i % 3 > 0 ? 1 : 0);
  return dataset;
}

/// Weights less the mean of those of all classes, which changes no probability.
std::vector<double> centred(const LinearModel& model) {
  auto weights = model.weights;
  const auto columns = static_cast<std::size_t>(model.columns);
  if (columns == 1) return weights;
  for (std::size_t first = 0; first < weights.size(); first += columns) {
    double mean = 0;
    for (std::size_t c = 0; c < columns; ++c) mean += weights[first + c] / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c) weights[first + c] -= mean;
  }
  return weights;
}

const std::vector<GlmSolver> solvers{GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs,
                                     GlmSolver::saga,   GlmSolver::gradient,  GlmSolver::accelerated};

TEST(GlmStart, EverySolverFindsTheOptimumFromAfar) {
  for (const Device device : devices())
    for (const auto family : {GlmFamily::multinomial, GlmFamily::poisson, GlmFamily::cox})
      for (const auto solver : solvers) {
        if (family == GlmFamily::cox && solver == GlmSolver::saga) continue;
        SCOPED_TRACE(std::string(to_string(family)) + " " + std::string(to_string(solver)));
        const auto dataset = rows_for(family);
        const auto context = with_threads(2).with({.device = device});
        GlmOptions options;
        options.family = family;
        options.alpha = 0.05;
        options.solver = solver;
        options.tolerance = 1e-7;
        options.max_iterations = 20000;
        const auto plain = train_glm(context, dataset, options);
        options.start = plain.weights;
        const auto near = train_glm(context, dataset, options);
        EXPECT_LE(near.glm->fit.iterations, 1);
        for (std::size_t j = 0; j < options.start.size(); ++j) options.start[j] += j % 2 == 0 ? 0.5 : -0.5;
        const auto far = train_glm(context, dataset, options);
        EXPECT_TRUE(far.glm->fit.converged);
        ASSERT_EQ(far.weights.size(), plain.weights.size());
        const auto expected = centred(plain);
        for (std::size_t j = 0; j < expected.size(); ++j) {
          EXPECT_NEAR(centred(far)[j], expected[j], 1e-4);
          EXPECT_NEAR(centred(near)[j], expected[j], 1e-5);
        }
      }
}

TEST(GlmStart, WeightsThatDoNotFitAreRefused) {
  const auto dataset = rows_for(GlmFamily::poisson);
  GlmOptions options;
  options.family = GlmFamily::poisson;
  options.start = {0, 0, 0, 0};
  EXPECT_THROW(train_glm(Context(), dataset, options), UsageError) << "no intercept";
  options.start = {0, 0, 0, 0, NAN};
  EXPECT_THROW(train_glm(Context(), dataset, options), UsageError);
  options.start = {0, 0, 0, 0, -1};
  EXPECT_NO_THROW(train_glm(Context(), dataset, options));
  options.link = GlmLink::identity;  // a mean of -1
  EXPECT_THROW(train_glm(Context(), dataset, options), UsageError);
}

}  // namespace glm_start_test
}  // namespace sheaf::test
