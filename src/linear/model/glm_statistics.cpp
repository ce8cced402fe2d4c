// Deviances and likelihoods by plain loops in double; standard errors from the expected information, as R's glm and
// nnet's multinom have them (for canonical links it is the observed one).
#include "linear/model/glm_statistics.hpp"
#include "core/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "linear/glm/newton_cholesky.hpp"
#include "linear/losses.hpp"
#include "linear/model/problem.hpp"

namespace sheaf::linear {
namespace {

double weight_of(const GlmSheaf& sheaf, std::size_t row) {
  return sheaf.row_weights.empty() ? 1.0 : static_cast<double>(sheaf.row_weights[row]);
}

double log_sum_exp(std::span<const double> z) {
  const double most = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double value : z) sum += std::exp(value - most);
  return most + std::log(sum);
}

/// y log(y / mean), 0 for y = 0.
double relative_entropy(double y, double mean) { return y > 0 ? y * std::log(y / mean) : 0.0; }

/// Twice what the log-likelihood of a row lacks to that of mean = y, dispersion 1.
double unit_deviance(GlmFamily family, double y, double mean, double parameter) {
  const double p = parameter;
  switch (family) {
    case GlmFamily::poisson:
      return 2 * (relative_entropy(y, mean) - (y - mean));
    case GlmFamily::gamma:
      return 2 * ((y - mean) / mean - std::log(y / mean));
    case GlmFamily::inverse_gaussian:
      return (y - mean) * (y - mean) / (y * mean * mean);
    case GlmFamily::tweedie:
      return 2 * (std::pow(y, 2 - p) / ((1 - p) * (2 - p)) - y * std::pow(mean, 1 - p) / (1 - p) +
                  std::pow(mean, 2 - p) / (2 - p));
    case GlmFamily::negative_binomial:
      return 2 * (relative_entropy(y, mean) - (y + p) * std::log((y + p) / (mean + p)));
    default:
      return (y - mean) * (y - mean);
  }
}

/// The variance of a target of this mean, dispersion 1.
double variance(GlmFamily family, double mean, double parameter) {
  switch (family) {
    case GlmFamily::gamma:
      return mean * mean;
    case GlmFamily::inverse_gaussian:
      return mean * mean * mean;
    case GlmFamily::tweedie:
      return std::pow(mean, parameter);
    case GlmFamily::poisson:
      return mean;
    case GlmFamily::negative_binomial:
      return mean + mean * mean / parameter;
    default:
      return 1;
  }
}

/// Sums over the rows, each times its weight.
struct Sums {
  double rows = 0, weights = 0, deviance = 0, pearson = 0, likelihood = 0;
  double log_weights = 0, log_targets = 0;
};

template <class Term>
void over_rows(const GlmSheaf& sheaf, Term&& term) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(sheaf.examples); ++i)
    if (const double weight = weight_of(sheaf, i); weight > 0) term(i, weight);
}

/// Classes: the deviance is minus twice the log-likelihood.
Sums class_sums(const GlmProblem& problem, std::span<const double> z) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  Sums sums;
  over_rows(problem.sheaf, [&](std::size_t i, double weight) {
    const double y = problem.sheaf.targets[i];
    double loss = 0;
    if (columns > 1) {
      const auto row = z.subspan(i * columns, columns);
      loss = log_sum_exp(row) - row[static_cast<std::size_t>(y)];
    } else {
      with_glm_loss(problem.kind.loss, [&](auto functor) { loss = functor.terms(z[i], y, 0.0).value; });
    }
    sums.rows += 1;
    sums.weights += weight;
    sums.likelihood -= weight * loss;
    sums.deviance += 2 * weight * loss;
  });
  return sums;
}

double mean_of(const GlmProblem& problem, double z) {
  double mean = z;
  with_glm_loss(problem.kind.loss, [&](auto functor) { mean = functor.prediction(z, problem.params.parameter); });
  return mean;
}

/// Log-likelihoods of Poisson and negative binomial rows.
double count_likelihood(GlmFamily family, double y, double mean, double theta) {
  const double log_mean = y > 0 ? y * std::log(mean) : 0.0;
  if (family == GlmFamily::poisson) return log_mean - mean - std::lgamma(y + 1);
  return std::lgamma(theta + y) - std::lgamma(theta) - std::lgamma(y + 1) + theta * std::log(theta) + log_mean -
         (theta + y) * std::log(theta + mean);
}

Sums number_sums(const GlmProblem& problem, std::span<const double> z) {
  const auto family = problem.kind.family;
  const double parameter = problem.params.parameter;
  Sums sums;
  over_rows(problem.sheaf, [&](std::size_t i, double weight) {
    const double y = problem.sheaf.targets[i];
    const double mean = mean_of(problem, z[i]);
    sums.rows += 1;
    sums.weights += weight;
    sums.deviance += weight * unit_deviance(family, y, mean, parameter);
    sums.pearson += weight * (y - mean) * (y - mean) / variance(family, mean, parameter);
    sums.log_weights += std::log(weight);
    if (family == GlmFamily::inverse_gaussian) sums.log_targets += weight * std::log(y);
    if (family == GlmFamily::poisson || family == GlmFamily::negative_binomial)
      sums.likelihood += weight * count_likelihood(family, y, mean, parameter);
  });
  return sums;
}

/// With the dispersion that R takes for the AIC: deviance / weights.
double log_likelihood(const GlmProblem& problem, const Sums& sums, std::span<const double> z) {
  constexpr double two_pi = 2 * std::numbers::pi;
  const double dispersion = sums.deviance / sums.weights;
  double sum = 0;
  switch (problem.kind.family) {
    case GlmFamily::gaussian:
      return -(sums.rows * (std::log(two_pi * sums.deviance / sums.rows) + 1) - sums.log_weights) / 2;
    case GlmFamily::inverse_gaussian:
      return -(sums.weights * (std::log(dispersion * two_pi) + 1) + 3 * sums.log_targets) / 2;
    case GlmFamily::gamma:
      over_rows(problem.sheaf, [&](std::size_t i, double weight) {
        const double y = problem.sheaf.targets[i];
        const double scale = mean_of(problem, z[i]) * dispersion;
        sum += weight * ((1 / dispersion - 1) * std::log(y) - y / scale - std::log(scale) / dispersion -
                         std::lgamma(1 / dispersion));
      });
      return sum;
    case GlmFamily::tweedie:
      return -sums.deviance / 2;
    default:
      return sums.likelihood;
  }
}

/// The decision values of the model without features, offsets included; by Newton's method in one variable.
std::vector<double> null_decisions(const GlmProblem& problem) {
  const auto& sheaf = problem.sheaf;
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  const auto rows = static_cast<std::size_t>(sheaf.examples);
  std::vector<double> z(rows * columns, 0.0);
  if (columns > 1) {
    std::vector<double> sums(columns, 0.0);
    over_rows(sheaf, [&](std::size_t i, double weight) { sums[static_cast<std::size_t>(sheaf.targets[i])] += weight; });
    for (std::size_t e = 0; e < z.size() && problem.params.intercept; ++e)
      z[e] = std::log(std::max(sums[e % columns], 1e-300));
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

/// What a row's loss curves on average: at the mean of its target, or over both classes.
std::vector<double> expected_curvatures(const GlmProblem& problem, std::span<const double> z) {
  std::vector<double> result(z.size(), 0.0);
  with_glm_loss(problem.kind.loss, [&](auto functor) {
    using Functor = decltype(functor);
    const double parameter = problem.params.parameter;
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      if constexpr (Functor::targets == TargetRange::classes) {
        const double odds = Functor::prediction(z[i], parameter);
        const double share = 1 / (1 + std::exp(-odds));
        result[i] = weight * (share * Functor::terms(z[i], 1.0, parameter).curvature +
                              (1 - share) * Functor::terms(z[i], -1.0, parameter).curvature);
      } else {
        result[i] = weight * Functor::terms(z[i], Functor::prediction(z[i], parameter), parameter).curvature;
      }
    });
  });
  return result;
}

/// The information about all weights: size x size, the columns of a weight side by side, without the reference class.
template <class T>
std::vector<double> information(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                std::span<const double> z, std::int32_t reference) {
  const auto silent = context.with({.progress = &silent_progress()});
  const auto ops = make_ops<T>(silent, dataset, problem.params.intercept ? T(1) : T(0));
  Objective<T> objective(*ops, problem.sheaf, problem.params);
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  const auto rows = static_cast<std::size_t>(dataset.rows());
  const std::vector<std::int32_t> task{0};
  objective.choose(task);
  Block<T> second(dataset.rows(), problem.params.columns);
  if (columns == 1) {
    const auto curvatures = expected_curvatures(problem, z);
    for (std::size_t i = 0; i < rows; ++i) second(static_cast<std::int64_t>(i), 0) = static_cast<T>(curvatures[i]);
    return hessian(context, objective, 0, second.to(ops->device()), 0);
  }
  double weights = 0;
  over_rows(problem.sheaf, [&](std::size_t, double weight) { weights += weight; });
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = z.subspan(i * columns, columns);
    const double sum = log_sum_exp(row);
    for (std::size_t k = 0; k < columns; ++k)
      second(static_cast<std::int64_t>(i), static_cast<std::int32_t>(k)) = static_cast<T>(std::exp(row[k] - sum));
  }
  const auto all = hessian(context, objective, 0, second.to(ops->device()), 0);
  const std::size_t size = static_cast<std::size_t>(ops->weights()) * columns;
  std::vector<double> kept;
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < size; ++b)
      if (a % columns != static_cast<std::size_t>(reference) && b % columns != static_cast<std::size_t>(reference))
        kept.push_back(weights * all[a * size + b]);
  return kept;
}

/// Root mean squares of the features, 1 for the intercept.
template <class T>
std::vector<double> magnitudes(const Dataset<T>& dataset, bool intercept) {
  std::vector<double> squares(static_cast<std::size_t>(dataset.features()), 0.0);
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&dataset.x)) {
    for (std::int64_t k = 0; k < sparse->values.size(); ++k)
      squares[static_cast<std::size_t>(sparse->indices[k])] +=
          static_cast<double>(sparse->values[k]) * static_cast<double>(sparse->values[k]);
  } else {
    const auto& dense = std::get<DenseMatrix<T>>(dataset.x);
    for (std::int64_t e = 0; e < dense.values.size(); ++e)
      squares[static_cast<std::size_t>(e % dense.columns)] +=
          static_cast<double>(dense.values[e]) * static_cast<double>(dense.values[e]);
  }
  for (double& square : squares) square = std::sqrt(square / std::max<double>(1, static_cast<double>(dataset.rows())));
  if (intercept) squares.push_back(1);
  return squares;
}

/// Whether some rows' classes are certain and the weights that say so uncertain beyond reason: they would grow without
/// end. A typical value of a feature then changes log odds by `wild` within one standard error; such errors become 0.
bool find_separation(const GlmProblem& problem, std::span<const double> z, std::span<const double> magnitudes,
                     std::span<double> errors) {
  constexpr double certain = 14;  // log odds: one in a million
  constexpr double wild = 15;
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  double surest = 0;
  over_rows(problem.sheaf, [&](std::size_t i, double) {
    const auto row = z.subspan(i * columns, columns);
    const double y = problem.sheaf.targets[i];
    double odds = 0;
    if (columns == 1) {
      with_glm_loss(problem.kind.loss, [&](auto functor) { odds = y * functor.prediction(row[0], 0.0); });
    } else {
      std::vector<double> others(row.begin(), row.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(y));
      odds = row[static_cast<std::size_t>(y)] - log_sum_exp(others);
    }
    surest = std::max(surest, odds);
  });
  if (surest < certain) return false;
  const std::size_t width = errors.size() / std::max<std::size_t>(1, magnitudes.size());
  bool separated = false;
  for (std::size_t e = 0; e < errors.size(); ++e) {
    if (errors[e] * magnitudes[e / width] <= wild) continue;
    separated = true;
    errors[e] = 0;
  }
  return separated;
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
  for (std::size_t i = 0; i < problem.sheaf.offsets.size(); ++i) z[i] += problem.sheaf.offsets[i];
  return z;
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
      const double mean = mean_of(problem, decisions[i]);
      slope += weight * (digamma(theta + y) - digamma(theta) + std::log(theta / (theta + mean)) + 1 -
                         (y + theta) / (mean + theta));
      curvature += weight * (trigamma(theta + y) - trigamma(theta) + 1 / theta - 2 / (mean + theta) +
                             (y + theta) / ((mean + theta) * (mean + theta)));
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

template <class T>
void add_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                    const Block<T>& weights, std::int32_t reference, GlmTraining& glm) {
  const auto& kind = problem.kind;
  if (kind.family == GlmFamily::cox) return add_cox_statistics(context, dataset, problem, weights, glm);
  const auto z = training_decisions(context, dataset, problem, weights);
  const auto sums = kind.classes ? class_sums(problem, z) : number_sums(problem, z);
  const auto null = null_decisions(problem);
  auto& statistics = glm.statistics;
  statistics.rows = sums.rows;
  statistics.deviance = sums.deviance;
  statistics.null_deviance = (kind.classes ? class_sums(problem, null) : number_sums(problem, null)).deviance;
  statistics.log_likelihood = log_likelihood(problem, sums, z);
  statistics.reference = kind.classes ? reference : -1;
  const std::int64_t compared = problem.params.columns > 1 ? problem.params.columns - 1 : 1;
  const std::int64_t size = weights.rows() * compared;
  statistics.parameters = static_cast<double>(size);
  const bool with_errors = glm.alpha == 0 && size <= most_with_errors;
  std::optional<Cholesky> cholesky;
  if (with_errors) {
    const auto matrix = information(context, dataset, problem, z, reference);
    cholesky.emplace(matrix,
                     intercepts_first(weights.rows(), static_cast<std::int32_t>(compared), problem.params.intercept),
                     dependence_tolerance<T>());
    for (const auto flag : cholesky->left_out()) statistics.parameters -= flag;
  }
  if (kind.dispersed) statistics.dispersion = sums.pearson / std::max(1.0, sums.rows - statistics.parameters);
  if (!with_errors) return;
  for (const double value : cholesky->inverse_diagonal())
    statistics.errors.push_back(std::sqrt(std::max(0.0, statistics.dispersion * value)));
  if (kind.classes)
    glm.separated = find_separation(problem, z, magnitudes(dataset, problem.params.intercept), statistics.errors);
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
