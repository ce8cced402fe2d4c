// Probabilities from decision values by Platt's method.
#pragma once

#include <cstdint>
#include <span>

namespace sheaf {

/// P(first side) = 1 / (1 + exp(a z + b)).
struct PlattSigmoid {
  double a = 0, b = 0;
  double operator()(double z) const;
};

/// The most likely sigmoid of decision values whose rows stand on the first side (+1) or the second (-1): Platt's, by
/// the Newton method of Lin, Lin and Weng (2007, algorithm 1). Ends when both derivatives are below the tolerance,
/// which is LIBSVM's.
PlattSigmoid fit_sigmoid(std::span<const double> decisions, std::span<const std::int8_t> sides,
                         double tolerance = 1e-5);

}  // namespace sheaf
