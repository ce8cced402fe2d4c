// Deviances of elastic nets, shared by what scores them.
#pragma once

#include <span>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/solvers/net_scores.hpp>

namespace sheaf::linear {

/// The arguments of a caller.
inline void need(bool condition, const char* what) {
  if (!condition) throw UsageError(what);
}

/// Lists of other lengths than the rows, and decision values that are not of whole models, are Errors.
void check_sizes(const NetResponse& response, std::span<const double> decisions);
/// One a row: 1 each if there are none.
std::vector<double> row_weights(const NetResponse& response);
/// Of each row without its weight, by the decision values of one model. Not of survival models.
std::vector<double> row_deviances(const NetResponse& response, const double* z);
/// Of rows of these weights together.
double cox_deviance(const NetResponse& response, const double* z, std::span<const double> weights);
/// Decision values of one row become probabilities.
void to_shares(std::span<double> z);

}  // namespace sheaf::linear
