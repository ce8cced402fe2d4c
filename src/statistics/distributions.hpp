// Distributions of test statistics, and medians.
#pragma once

#include <vector>

namespace sheaf {

/// The share of Student's distribution with `freedom` degrees of freedom beyond |t|, both tails; freedom 0: of the
/// normal distribution.
double two_tails(double t, double freedom);
/// The t with two_tails(t, freedom) = share, 0 < share < 1.
double two_tails_quantile(double share, double freedom);

/// The share of the chi-squared distribution with `freedom` degrees of freedom above x.
double chi_squared_tail(double x, double freedom);

/// The mean of the middle two of an even number of values; requires one at least.
double median(std::vector<double> values);

double digamma(double x);
double trigamma(double x);

}  // namespace sheaf
