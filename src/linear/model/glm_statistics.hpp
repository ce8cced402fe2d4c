// Statistics of a trained generalised linear model: deviances, likelihood, dispersion, standard errors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/model/glm_problem.hpp"

namespace sheaf::linear {

/// Decision values of the training rows, offsets included: rows x params.columns.
template <class T>
std::vector<double> training_decisions(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                       const Block<T>& weights);

/// The theta of a negative binomial target with these means that has the largest likelihood. 0: it grows without end,
/// for the target varies no more than a Poisson variable does.
double likely_theta(const GlmProblem& problem, std::span<const double> decisions, double start);
/// Its standard error, by the second derivative of the likelihood at these means; 0: there is none.
double theta_error(const GlmProblem& problem, std::span<const double> decisions);

/// Pearson's statistic over its degrees of freedom, or 1 if the family fixes the dispersion.
double dispersion_of(const GlmProblem& problem, double pearson, const GlmStatistics& statistics);

/// Above so many weights no standard errors: their number squared is kept, and cubed computed.
inline constexpr std::int64_t most_with_errors = 1500;

/// Whether the effective parameters of a penalised model are counted: up to 2e10 multiplications, about a second.
/// Training such a model takes a few passes over the rows, and counting as many as there are weights.
inline bool counts_effective_parameters(double rows, std::int64_t weights) {
  return rows * static_cast<double>(weights) * static_cast<double>(weights) <= 2e10;
}

/// Fills in the statistics, and whether the classes are separated. `glm` holds the kind of standard errors.
template <class T>
void add_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                    const Block<T>& weights, std::int32_t reference, GlmTraining& glm);

/// Fills in the covariance of the weights, their standard errors and what depends on how many weights the rows
/// determine; `z` as training_decisions() has them. For add_statistics() alone.
template <class T>
void add_errors(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
                double pearson, GlmTraining& glm);

/// Fills in the effective number of parameters of a penalised model and the dispersion that follows from it. For
/// add_statistics() alone.
template <class T>
void count_effective_parameters(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                std::span<const double> z, double pearson, GlmTraining& glm);

/// The trace of (I + P)^-1 I with the information I and the penalty's second derivatives P, `penalty` for each of the
/// first `penalised` weights: that of the matrix which turns targets into means (Hastie and Tibshirani, Generalized
/// Additive Models).
double effective_parameters(std::span<const double> information, const std::vector<std::size_t>& order,
                            std::size_t penalised, double penalty, double tolerance);

/// Variances and defects of the weights, derived from an information matrix; one element for each weight.
struct Uncertainty {
  std::vector<double> inverse;             // of the information: 0 for what is not determined
  std::vector<std::uint8_t> undetermined;  // whether a feature is a combination of others
  std::vector<std::uint8_t> diverging;     // whether a weight would grow without end
};
/// Does not test whether weights diverge. `order` as intercepts_first() has it.
Uncertainty uncertainty_of(std::span<const double> information, const std::vector<std::size_t>& order,
                           double tolerance);
/// If some rows are certain, so that weights may diverge. `design`: the information of one of so many rows if nothing
/// were certain.
Uncertainty uncertainty_of_certain_rows(std::span<const double> information, std::span<const double> design,
                                        double rows, const std::vector<std::size_t>& order, double tolerance);

/// Whether standard errors are those of a sandwich.
bool is_sandwich(StandardErrors errors);
/// Groups that have a row of a weight above 0.
double groups_with_weight(std::span<const std::int32_t> groups, const GlmSheaf& sheaf);
/// B M B with the inverse B of the information and the products M of scores; HC1: times rows / (rows - parameters), and
/// of so many groups times groups / (groups - 1). `groups` 0: without such a factor.
std::vector<double> sandwich(std::span<const double> inverse, std::span<const double> scores,
                             const GlmStatistics& statistics, double groups = 0);
/// The roots of a covariance's diagonal.
std::vector<double> roots_of_diagonal(std::span<const double> covariance, std::size_t size);
/// Weights without a standard error have no covariances.
void clear_undetermined(std::span<const double> errors, std::vector<double>& covariance);

/// M of Cox models: the sum over rows of products of their score residuals, at decision values with offsets. `groups`
/// (of each row, or empty): the sum over groups of products of the sums of these.
template <class T>
std::vector<double> cox_score_products(const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
                                       std::span<const std::int32_t> groups);

/// add_statistics() for Cox models; for add_statistics() alone.
template <class T>
void add_cox_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                        const Block<T>& weights, GlmTraining& glm);

}  // namespace sheaf::linear
