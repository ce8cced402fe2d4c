// Deviances and likelihoods by plain loops in double.
#include "linear/model/glm_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linear/losses/losses.hpp"
#include "linear/model/glm_rows.hpp"
#include "linear/model/problem.hpp"
#include "linear/softmax_intercepts.hpp"
#include "statistics/distributions.hpp"

namespace sheaf::linear {
namespace {

/// Classes: the deviance is minus twice the log-likelihood. Pearson's statistic of two of them is a sum of odds: the
/// variance of an indicator of mean p is p (1 - p), and that of the class it is not weighs p / (1 - p).
DistributionSums class_sums(const GlmProblem& problem, std::span<const double> z) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  DistributionSums sums;
  over_rows(problem.sheaf, [&](std::size_t i, double weight) {
    const double y = problem.sheaf.targets[i];
    double loss = 0;
    if (columns > 1) {
      const auto row = z.subspan(i * columns, columns);
      loss = log_sum_exp(row) - row[static_cast<std::size_t>(y)];
    } else {
      with_glm_loss(problem.kind.loss, [&](auto functor) {
        loss = functor.terms(z[i], y, 0.0).value;
        sums.pearson += weight * std::exp(loss - functor.terms(z[i], -y, 0.0).value);
      });
    }
    sums.rows += 1;
    sums.weights += weight;
    sums.likelihood -= weight * loss;
    sums.deviance += 2 * weight * loss;
  });
  return sums;
}

/// Calls f(distribution) for that of a target of numbers.
template <class F>
void with_number_distribution(const GlmProblem& problem, const F& f) {
  with_distribution(problem.kind.family, [&](auto distribution) {
    if constexpr (requires { distribution.deviance(1.0, 1.0, 1.0); }) f(distribution);
  });
}

double mean_of(const GlmProblem& problem, double z) {
  double mean = z;
  with_glm_loss(problem.kind.loss, [&](auto functor) { mean = functor.prediction(z, problem.params.parameter); });
  return mean;
}

template <class Distribution>
inline constexpr bool has_row_likelihood = requires {
  Distribution::log_likelihood(0.0, 0.0, 0.0);
};

DistributionSums number_sums(const GlmProblem& problem, std::span<const double> z) {
  const double parameter = problem.params.parameter;
  const bool positive = info(problem.kind.loss).targets == TargetRange::positive;
  DistributionSums sums;
  with_number_distribution(problem, [&](auto distribution) {
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      const double y = problem.sheaf.targets[i];
      const double mean = mean_of(problem, z[i]);
      sums.rows += 1;
      sums.weights += weight;
      sums.deviance += weight * distribution.deviance(y, mean, parameter);
      sums.pearson += weight * (y - mean) * (y - mean) / distribution.variance(mean, parameter);
      sums.log_weights += std::log(weight);
      if (positive) sums.log_targets += weight * std::log(y);
      if constexpr (has_row_likelihood<decltype(distribution)>)
        sums.likelihood += weight * distribution.log_likelihood(y, mean, parameter);
    });
  });
  return sums;
}

/// With the dispersion that R takes for the AIC: deviance / weights.
double number_likelihood(const GlmProblem& problem, const DistributionSums& sums, std::span<const double> z) {
  double result = sums.likelihood;
  with_number_distribution(problem, [&](auto distribution) {
    if constexpr (requires { distribution.log_likelihood(sums); }) result = distribution.log_likelihood(sums);
    if constexpr (requires { distribution.dispersed_log_likelihood(1.0, 1.0, 1.0, 1.0); })
      over_rows(problem.sheaf, [&](std::size_t i, double weight) {
        result += distribution.dispersed_log_likelihood(weight, problem.sheaf.targets[i], mean_of(problem, z[i]),
                                                        sums.deviance / sums.weights);
      });
  });
  return result;
}

/// Equal targets have a deviance of 0, whose likelihood has no bound: that of a deviance within rounding is finite.
double log_likelihood(const GlmProblem& problem, DistributionSums sums, std::span<const double> z) {
  constexpr double rounding = std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon();
  if (problem.constant_target) sums.deviance = std::max(sums.deviance, sums.weights * rounding);
  const auto& distribution = info(problem.kind.family);
  if (!distribution.likelihood) return -sums.deviance / 2;
  return distribution.classes ? sums.likelihood : number_likelihood(problem, sums, z);
}

/// Intercepts of a multinomial model without features.
std::vector<double> null_intercepts(const GlmProblem& problem) {
  const auto& sheaf = problem.sheaf;
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  std::vector<double> result(columns, 0.0);
  if (!problem.params.intercept) return result;
  double all = 0;
  over_rows(sheaf, [&](std::size_t i, double weight) {
    result[static_cast<std::size_t>(sheaf.targets[i])] += weight;
    all += weight;
  });
  for (double& one : result) one = std::log(std::max(one / all, 1e-300));
  if (sheaf.offsets.empty()) return result;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const SoftmaxRows rows{
      sheaf.examples, problem.params.columns,
      [&](std::int64_t i) { return sheaf.row_weights.empty() ? 1.0 : static_cast<double>(sheaf.row_weights[at(i)]); },
      [&](std::int64_t i, std::int32_t k) { return static_cast<std::int32_t>(sheaf.targets[at(i)]) == k ? 1.0 : 0.0; },
      [&](std::int64_t i, std::int32_t k) { return sheaf.offsets[at(i * problem.params.columns + k)]; }};
  return softmax_intercepts(rows, std::move(result));
}

/// The decision values of the model without features, offsets included; by Newton's method.
std::vector<double> null_decisions(const GlmProblem& problem) {
  const auto& sheaf = problem.sheaf;
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  const auto rows = static_cast<std::size_t>(sheaf.examples);
  std::vector<double> z(rows * columns, 0.0);
  if (columns > 1) {
    const auto intercepts = null_intercepts(problem);
    for (std::size_t e = 0; e < z.size(); ++e)
      z[e] = intercepts[e % columns] + (sheaf.offsets.empty() ? 0.0 : sheaf.offsets[e]);
    return z;
  }
  const auto offset = [&](std::size_t i) { return sheaf.offsets.empty() ? 0.0 : sheaf.offsets[i]; };
  double b = 0;
  with_glm_loss(problem.kind.loss, [&](auto functor) {
    using Functor = decltype(functor);
    double sum = 0;
    double weights = 0;
    double shift = 0;
    over_rows(sheaf, [&](std::size_t i, double weight) {
      weights += weight;
      sum += weight * sheaf.targets[i];
      shift += weight * offset(i);
    });
    const double mean = Functor::targets == TargetRange::classes ? (sum / weights + 1) / 2 : sum / weights;
    if (problem.params.intercept) b = Functor::link(mean, problem.params.parameter) - shift / weights;
    for (int step = 0; step < 100 && problem.params.intercept; ++step) {
      double slope = 0;
      double curvature = 0;
      over_rows(sheaf, [&](std::size_t i, double weight) {
        const auto terms = Functor::terms(b + offset(i), sheaf.targets[i], problem.params.parameter);
        slope += weight * terms.slope;
        curvature += weight * terms.curvature;
      });
      if (!(curvature > 0)) break;
      const double change = -slope / curvature;
      b += change;
      if (std::abs(change) <= 1e-12 * (1 + std::abs(b))) break;
    }
  });
  for (std::size_t i = 0; i < rows; ++i) z[i] = b + offset(i);
  return z;
}

}  // namespace

template <class T>
std::vector<double> training_decisions(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                       const Block<T>& weights) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  std::vector<double> z(static_cast<std::size_t>(dataset.rows()) * columns);
  const auto silent = context.with({.progress = &silent_progress()});
  for_decisions<T>(silent, dataset, weights, problem.params.intercept ? T(1) : T(0),
                   [&](const Round& round, const Block<T>& block) {
                     for (std::int64_t i = 0; i < block.rows(); ++i)
                       for (std::int32_t c = 0; c < round.count; ++c)
                         z[static_cast<std::size_t>(i) * columns + static_cast<std::size_t>(round.first + c)] =
                             static_cast<double>(block(i, c));
                   });
  for (std::size_t e = 0; e < problem.sheaf.offsets.size(); ++e) z[e] += problem.sheaf.offsets[e];
  return z;
}

/// First and second derivative of a row's log-likelihood in theta.
struct ThetaTerms {
  double slope = 0, curvature = 0;
};
static ThetaTerms theta_terms(double theta, double y, double mean) {
  const double both = mean + theta;
  return {digamma(theta + y) - digamma(theta) + std::log(theta / both) + 1 - (y + theta) / both,
          trigamma(theta + y) - trigamma(theta) + 1 / theta - 2 / both + (y + theta) / (both * both)};
}

/// Newton's method on the logarithm of theta, kept within a factor of e.
double likely_theta(const GlmProblem& problem, std::span<const double> decisions, double start) {
  constexpr double endless = 1e7;
  double theta = start;
  for (int step = 0; step < 200; ++step) {
    double slope = 0;
    double curvature = 0;
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      const double y = problem.sheaf.targets[i];
      const auto terms = theta_terms(theta, y, mean_of(problem, decisions[i]));
      slope += weight * terms.slope;
      curvature += weight * terms.curvature;
    });
    // d/dlog(theta) = theta slope; the second derivative theta^2 curvature + theta slope.
    const double second = theta * theta * curvature + theta * slope;
    double change = second < 0 ? -theta * slope / second : (slope > 0 ? 1.0 : -1.0);
    change = std::clamp(change, -1.0, 1.0);
    theta *= std::exp(change);
    if (theta > endless) return 0;
    if (std::abs(change) < 1e-12) break;
  }
  return theta;
}

double theta_error(const GlmProblem& problem, std::span<const double> decisions) {
  const double theta = problem.params.parameter;
  double information = 0;
  over_rows(problem.sheaf, [&](std::size_t i, double weight) {
    information -= weight * theta_terms(theta, problem.sheaf.targets[i], mean_of(problem, decisions[i])).curvature;
  });
  return information > 0 ? 1 / std::sqrt(information) : 0;
}

double dispersion_of(const GlmProblem& problem, double pearson, const GlmStatistics& statistics) {
  return problem.kind.dispersed ? pearson / std::max(1.0, statistics.rows - statistics.parameters) : 1.0;
}

template <class T>
void add_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                    const Block<T>& weights, std::int32_t reference, GlmTraining& glm) {
  const auto& kind = problem.kind;
  if (kind.family == GlmFamily::cox) return add_cox_statistics(context, dataset, problem, weights, glm);
  const auto z = training_decisions(context, dataset, problem, weights);
  auto sums = kind.classes ? class_sums(problem, z) : number_sums(problem, z);
  if (problem.constant_target) sums.deviance = sums.pearson = 0;  // but for rounding
  const auto null = null_decisions(problem);
  auto& statistics = glm.statistics;
  statistics.rows = sums.rows;
  statistics.deviance = sums.deviance;
  if (!problem.constant_target)
    statistics.null_deviance = (kind.classes ? class_sums(problem, null) : number_sums(problem, null)).deviance;
  statistics.log_likelihood = log_likelihood(problem, sums, z);
  statistics.reference = kind.classes ? reference : -1;
  const std::int64_t compared = problem.params.columns > 1 ? problem.params.columns - 1 : 1;
  const std::int64_t size = weights.rows() * compared;
  statistics.parameters = static_cast<double>(size);
  statistics.dispersion = dispersion_of(problem, sums.pearson, statistics);
  if (size > most_with_errors) return;
  if (glm.alpha > 0) {
    if (counts_effective_parameters(statistics.rows, size))
      count_effective_parameters(context, dataset, problem, z, sums.pearson, glm);
    return;
  }
  add_errors(context, dataset, problem, z, sums.pearson, glm);
}

template std::vector<double> training_decisions(const Context&, const Dataset<float>&, const GlmProblem&,
                                                const Block<float>&);
template std::vector<double> training_decisions(const Context&, const Dataset<double>&, const GlmProblem&,
                                                const Block<double>&);
template void add_statistics(const Context&, const Dataset<float>&, const GlmProblem&, const Block<float>&,
                             std::int32_t, GlmTraining&);
template void add_statistics(const Context&, const Dataset<double>&, const GlmProblem&, const Block<double>&,
                             std::int32_t, GlmTraining&);

}  // namespace sheaf::linear
