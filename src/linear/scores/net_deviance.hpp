// Deviances of elastic nets, shared by what scores them.
#pragma once

#include <span>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/solvers/net_scores.hpp>

#include "linear/net/covariance_risks.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {

/// The arguments of a caller.
inline void need(bool condition, const char* what) {
  if (!condition) throw UsageError(what);
}

/// Lists of other lengths than the rows, and decision values that are not of whole models, are Errors.
void check_sizes(const NetResponse& response, std::span<const double> decisions);
/// One a row: 1 each if there are none.
std::vector<double> row_weights(const NetResponse& response);
/// Deviance of each row without its weight, by the decision values of one model. Not for survival models.
std::vector<double> row_deviances(const NetResponse& response, const double* z);
/// Deviances of Cox models on rows of these weights together.
class CoxDeviance {
 public:
  CoxDeviance(const NetResponse& response, std::span<const double> weights);
  /// By the decision values of one model.
  double operator()(const double* z);

 private:
  CoxDeviance(const NetResponse& response, const std::vector<float>& weights);  // as training has them

  RiskArrays<double> risk_;
  covariance::RiskRows<double> rows_;
  std::vector<double> residuals_, curvatures_;
  double least_ = 0;  // loss
};
/// Decision values of one row become probabilities.
void to_shares(std::span<double> z);

}  // namespace sheaf::linear
