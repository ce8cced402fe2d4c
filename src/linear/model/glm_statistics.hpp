// What is said of a trained generalised linear model: deviances, likelihood, dispersion, standard errors.
#pragma once

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

/// Above so many weights no standard errors: their number squared is kept, and cubed computed.
inline constexpr std::int64_t most_with_errors = 1500;

/// Fills in the statistics, and whether the classes are separated.
template <class T>
void add_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                    const Block<T>& weights, std::int32_t reference, GlmTraining& glm);

/// The same for Cox models; for add_statistics() alone.
template <class T>
void add_cox_statistics(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                        const Block<T>& weights, GlmTraining& glm);

}  // namespace sheaf::linear
