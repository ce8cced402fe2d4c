// The likelihood-ratio test between two nested models (Wilks 1938), and the covariance of weights.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "linear/model/glm_problem.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace {

void check_glm(const LinearModel& model, std::string_view which) {
  if (!model.glm) fail("the {} model is no generalised linear model: it has no likelihood to compare", which);
  if (model.glm->alpha > 0)
    fail("the {} model has a penalty (alpha = {}): a likelihood-ratio test is for models without one", which,
         model.glm->alpha);
  if (withholds_errors(model))
    fail(
        "the {} model has features that were selected by the labels of the same rows: the p-value of a "
        "likelihood-ratio "
        "test would be too small; select features on some rows and train on the others",
        which);
  if (!model.glm->fit.converged)
    fail("the {} model did not converge, so that its likelihood is not the largest", which);
}

std::string kind_text(const GlmTraining& glm) {
  std::string text = fmt::format("{} ({})", to_string(glm.family), to_string(glm.link));
  if (const auto& parameter = info(glm.family).parameter; !parameter.name.empty() && !parameter.estimated)
    text += fmt::format(" of {} {}", parameter.name, glm.parameter);
  if (glm.family == GlmFamily::cox) text += fmt::format(" with ties by {}", to_string(glm.ties));
  return text;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max({1.0, std::abs(a), std::abs(b)}); }

/// Deviances of models without features are equal if rows, weights, targets and offsets are; those of a negative
/// binomial family depend on theta too.
void check_same_rows(const LinearModel& first, const LinearModel& second) {
  const auto& a = first.glm->statistics;
  const auto& b = second.glm->statistics;
  if (a.rows != b.rows)
    fail("the models were trained on {} and {}; a likelihood-ratio test needs the same ones", a.rows,
         counted(b.rows, "row"));
  const bool comparable = first.glm->family != GlmFamily::negative_binomial && (first.bias > 0) == (second.bias > 0);
  if (first.class_names != second.class_names || (comparable && !near(a.null_deviance, b.null_deviance)))
    fail(
        "the models were not trained on the same target, row weights and offsets: without features their deviances are "
        "{:.6g} and {:.6g}",
        a.null_deviance, b.null_deviance);
}

/// Whether `larger` has all that `smaller` has; else the first feature that it lacks.
void check_nested(const LinearModel& smaller, const LinearModel& larger) {
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < larger.features; ++j) names.push_back(larger.feature_name(j));
  if (larger.bias > 0) names.emplace_back("(intercept)");
  std::sort(names.begin(), names.end());
  const auto need = [&](const std::string& name) {
    if (!std::binary_search(names.begin(), names.end(), name))
      fail("the models are not nested: the one of fewer parameters has '{}', which the other lacks", name);
  };
  for (std::int64_t j = 0; j < smaller.features; ++j) need(smaller.feature_name(j));
  if (smaller.bias > 0) need("(intercept)");
}

}  // namespace

WeightCovariance weight_covariance(const LinearModel& model) {
  if (!model.glm) fail("a covariance of weights is what generalised linear models have (--model glm)");
  const auto& statistics = model.glm->statistics;
  if (statistics.covariance.empty())
    fail("the model has no covariance of weights: {}",
         statistics.errors.empty() ? no_errors_reason(model) : "model files do not keep it; train the model again");
  const auto rows = coefficient_table(model);
  WeightCovariance result{{}, statistics.covariance};
  for (const auto& row : rows) result.names.push_back(row.label);
  for (std::size_t e = 0; e < result.values.size(); ++e)
    if (rows[e / rows.size()].error == 0 || rows[e % rows.size()].error == 0)
      result.values[e] = std::numeric_limits<double>::quiet_NaN();
  return result;
}

LikelihoodRatioTest likelihood_ratio_test(const LinearModel& first, const LinearModel& second) {
  check_glm(first, "first");
  check_glm(second, "second");
  if (kind_text(*first.glm) != kind_text(*second.glm))
    fail("the first model is {} and the second {}; a likelihood-ratio test needs the same family and link",
         kind_text(*first.glm), kind_text(*second.glm));
  check_same_rows(first, second);
  LikelihoodRatioTest test;
  test.first_larger = first.glm->statistics.parameters > second.glm->statistics.parameters;
  const auto& larger = test.first_larger ? first : second;
  const auto& smaller = test.first_larger ? second : first;
  const auto& most = larger.glm->statistics;
  const auto& least = smaller.glm->statistics;
  test.freedom = most.parameters - least.parameters;
  if (test.freedom == 0) fail("both models have {} parameters: neither is a part of the other", most.parameters);
  check_nested(smaller, larger);
  test.statistic = linear::glm_kind(larger.glm->family, larger.glm->link).dispersed
                       ? (least.deviance - most.deviance) / most.dispersion
                       : 2 * (most.log_likelihood - least.log_likelihood);
  test.statistic = std::max(0.0, test.statistic);  // below 0 by rounding alone
  test.p = chi_squared_tail(test.statistic, test.freedom);
  return test;
}

}  // namespace sheaf
