// Statistics of a trained Cox model, as R's coxph reports them: likelihoods by one pass over the sorted rows in double,
// standard errors and tests from the observed information.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/cholesky.hpp"
#include "linear/glm/information.hpp"
#include "linear/model/glm_rows.hpp"
#include "linear/model/glm_statistics.hpp"
#include "statistics/concordance.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {
namespace {

double log_likelihood(const GlmProblem& problem, std::span<const double> z) {
  const auto& sheaf = problem.sheaf;
  const auto tables =
      make_risk_tables(sheaf.risk, sheaf.targets, sheaf.row_weights, 1, problem.params.ties == Ties::efron);
  const RiskArrays<double> risk(tables, 1, Device::cpu());
  const auto sets = risk.sets();
  using Likelihood = PartialLikelihood<OneThread, double>;
  std::vector<double> memory(z.size() * Likelihood::vectors);
  const OneThread team;
  return -Likelihood(team, sets, memory.data())
              .load([&](std::int64_t i) { return z[static_cast<std::size_t>(i)]; },
                    [&](std::int64_t i) { return weight_of(sheaf, static_cast<std::size_t>(i)); });
}

/// Harrell's concordance of the rows of weight above 0.
void add_concordance(const GlmSheaf& sheaf, std::span<const double> z, SurvivalStatistics& survival) {
  std::vector<double> values, weights;
  RiskTimes risk;
  std::vector<std::uint8_t> events;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (!(weight_of(sheaf, i) > 0)) continue;
    values.push_back(z[i]);
    risk.times.push_back(sheaf.risk.times[i]);
    if (!sheaf.risk.entries.empty()) risk.entries.push_back(sheaf.risk.entries[i]);
    if (!sheaf.risk.strata.empty()) risk.strata.push_back(sheaf.risk.strata[i]);
    weights.push_back(weight_of(sheaf, i));
    events.push_back(sheaf.targets[i] != 0 ? 1 : 0);
    survival.events += events.back();
  }
  const auto pairs = concordant_pairs(values, risk, events, weights);
  survival.concordance = pairs.pairs > 0 ? pairs.share() : 0.0;
}

/// Slope and information of the likelihood in the weights.
struct Derivatives {
  std::vector<double> slope, information;  // features, features x features
};

/// At decision values, offsets included.
template <class T>
Derivatives derivatives_at(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                           std::span<const double> z) {
  auto params = problem.params;
  params.intercept = false;
  const auto silent = context.with({.progress = &silent_progress()});
  const auto ops = make_ops<T>(silent, dataset, T(0));
  Objective<T> objective(*ops, problem.sheaf, params);
  objective.choose(std::vector<std::int32_t>{0});
  Block<T> decisions(dataset.rows(), 1);
  for (std::int64_t i = 0; i < dataset.rows(); ++i) decisions(i, 0) = static_cast<T>(z[static_cast<std::size_t>(i)]);
  const Block<T> there = decisions.to(ops->device());
  Block<T> slopes = objective.examples_block();
  Block<T> second = objective.examples_block();
  Block<T> gradient = objective.weights_block();
  std::vector<double> value(1);
  objective.losses(there.view(), {}, {}, value, slopes.view(), second.view());
  ops->multiply_transposed(std::as_const(slopes).view(), gradient.view());
  ops->synchronize();
  const Block<T> here = gradient.to(Device::cpu());
  const double total = total_weight(problem.sheaf);  // losses are means
  Derivatives result;
  for (std::int64_t j = 0; j < here.rows(); ++j) result.slope.push_back(-total * static_cast<double>(here(j, 0)));
  result.information = hessian(context, objective, 0, second, 0);
  for (double& element : result.information) element *= total;
  return result;
}

std::vector<std::size_t> in_order(std::size_t size) {
  return intercepts_first(static_cast<std::int64_t>(size), 1, false);
}

double product(std::span<const double> a, std::span<const double> matrix, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum += a[i] * matrix[i * b.size() + j] * b[j];
  return sum;
}

/// Whether hazards differ beyond belief, as they do if weights would grow without end.
bool differs_beyond_belief(std::span<const double> z, const GlmSheaf& sheaf) {
  constexpr double certain = 14;  // log hazards: one in a million
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  over_rows(sheaf, [&](std::size_t i, double) {
    low = std::min(low, z[i]);
    high = std::max(high, z[i]);
  });
  return high - low >= certain;
}

}  // namespace

template <class T>
void add_cox_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                        const Block<T>& weights, GlmTraining& glm) {
  const auto& sheaf = problem.sheaf;
  const auto z = training_decisions(context, dataset, problem, weights);
  auto null = sheaf.offsets;
  null.resize(z.size(), 0.0);
  auto& statistics = glm.statistics;
  if (!is_sandwich(statistics.errors_from)) statistics.errors_from = StandardErrors::observed;
  auto& survival = statistics.survival;
  for (std::size_t i = 0; i < z.size(); ++i) statistics.rows += weight_of(sheaf, i) > 0 ? 1 : 0;
  statistics.log_likelihood = log_likelihood(problem, z);
  statistics.deviance = -2 * statistics.log_likelihood;
  statistics.null_deviance = -2 * log_likelihood(problem, null);
  const auto features = static_cast<std::size_t>(dataset.features());
  statistics.parameters = static_cast<double>(features);
  add_concordance(sheaf, z, survival);
  if (dataset.features() > most_with_errors) return;
  if (glm.alpha > 0 && !counts_effective_parameters(statistics.rows, dataset.features())) return;
  const auto at_weights = derivatives_at(context, dataset, problem, z);
  const auto order = in_order(features);
  if (glm.alpha > 0) {
    statistics.parameters = effective_parameters(at_weights.information, order, features,
                                                 total_weight(sheaf) * glm.alpha, dependence_tolerance<T>());
    return;
  }
  const auto at_null = derivatives_at(context, dataset, problem, null);
  auto uncertainty = uncertainty_of(at_weights.information, order, dependence_tolerance<T>());
  if (differs_beyond_belief(z, sheaf)) {
    auto design = at_null.information;  // an event's share of it is the variance of a feature
    for (double& element : design) element /= survival.events;
    auto held =
        uncertainty_of_certain_rows(at_weights.information, design, survival.events, order, dependence_tolerance<T>());
    glm.separated = std::ranges::count(held.diverging, 1) > 0;
    if (glm.separated || held.undetermined != uncertainty.undetermined) uncertainty = std::move(held);
  }
  for (const auto flag : uncertainty.undetermined) statistics.parameters -= flag;
  statistics.covariance = uncertainty.inverse;
  statistics.errors = roots_of_diagonal(statistics.covariance, features);
  for (std::size_t j = 0; j < features; ++j)
    if (uncertainty.diverging[j] != 0) statistics.errors[j] = 0;
  std::vector<double> w;
  for (std::size_t j = 0; j < features; ++j) w.push_back(static_cast<double>(weights(static_cast<std::int64_t>(j), 0)));
  survival.wald = std::max(0.0, product(w, at_weights.information, w));
  const Cholesky without(at_null.information, order, dependence_tolerance<T>());
  const auto solved = without.solve(at_null.slope);
  for (std::size_t j = 0; j < features; ++j) survival.score += at_null.slope[j] * solved[j];
  survival.score = std::max(0.0, survival.score);
  if (is_sandwich(statistics.errors_from))
    statistics.covariance = sandwich(uncertainty.inverse,
                                     cox_score_products(dataset, problem, z,
                                                        statistics.errors_from == StandardErrors::cluster
                                                            ? std::span<const std::int32_t>(dataset.groups)
                                                            : std::span<const std::int32_t>()),
                                     statistics);
  clear_undetermined(statistics.errors, statistics.covariance);
  statistics.errors = roots_of_diagonal(statistics.covariance, features);
  if (is_sandwich(statistics.errors_from)) {
    const auto scaled = Cholesky(statistics.covariance, order, dependence_tolerance<T>()).solve(w);
    survival.wald = std::max(0.0, std::inner_product(w.begin(), w.end(), scaled.begin(), 0.0));
  }
}

template void add_cox_statistics(const Context&, const Dataset<float>&, const GlmProblem&, const Block<float>&,
                                 GlmTraining&);
template void add_cox_statistics(const Context&, const Dataset<double>&, const GlmProblem&, const Block<double>&,
                                 GlmTraining&);

}  // namespace sheaf::linear

namespace sheaf {

double concordance(std::span<const double> values, const RiskTimes& risk, std::span<const std::uint8_t> events,
                   std::span<const double> weights) {
  return concordant_pairs(values, risk, events, weights).share();
}

}  // namespace sheaf
