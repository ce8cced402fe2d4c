// The parts of a loss functor. A loss is a function of the decision value z = x'w and the target y: a functor in
// one of the files beside this one, with its row, in the list at the end of its file. It has
//   loss, regression, targets   its member of Loss; whether y is a number; the numbers that y may be
//   row                         its names and what it is for (see <sheaf/solvers/losses.hpp>)
//   terms(z, y, p)              value, first and second derivative in z, with a parameter p that may be unused. Squared
//                               hinge and squared tube have no factor 1/2 (as in LIBLINEAR); where the second
//                               derivative jumps, the generalised one of the active side is taken
//   strictly_convex             whether the second derivative is above 0 everywhere
// A loss for elastic nets is a NetLoss, or a GroupedNetLoss, and also has
//   largest_curvature           an upper bound of the second derivative; may be infinite
//   quadratic                   whether the second derivative is 1 everywhere
//   dual_value(u, y)            min over z of loss(z, y) + u z: minus the convex conjugate at -u
//   least(y)                    min over z of loss(z, y): that of a perfect fit
//   takes_offsets               if rows may have offsets
//   slopes_up_to_parameter      if the parameter bounds the slope, so that it is the unit of slopes
// where dual_value() and terms() may have a second parameter behind the first (LossParameters), and where the second
// derivative is far from what the loss does beyond a small step
//   step_curvature(z, y, ...)   what quadratic models have in its place, above 0
// A loss for generalised linear models is minus a log-likelihood, and also has
//   glm_link                    the link that it stands for
//   prediction(z, p)            the mean that z stands for; of classes the log odds of +1
//   link(mean, p)               the z of a mean; of classes, of the probability of +1
// which losses of numbers take from a base in links.hpp; some of these links need
//   least_decision              the smallest z that they take
// It need not be convex: then the curvature of terms() is the expected one, the information about z, so that Newton's
// method is Fisher's scoring, and
//   second(z, y, p)             is the second derivative
// with the parameter p of the distribution, or nothing. A distribution is a struct with
//   row                         its names and what it is for
//   Losses                      one for each link, the default first
// and, if it is of numbers, with the mean m and the parameter p of the distribution
//   deviance(y, m, p)           twice what the log-likelihood of a row lacks to that of m = y, dispersion 1
//   variance(m, p)              of a target of mean m, dispersion 1
// and, if it has a likelihood, one of
//   log_likelihood(y, m, p)                             of one row of weight 1
//   dispersed_log_likelihood(weight, y, m, dispersion)  of one row, with the dispersion deviance / weights
//   log_likelihood(sums)                                of all rows
#pragma once

#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/losses.hpp>

#include "linear/losses/terms.hpp"

namespace sheaf::linear {

/// Elastic nets are trained with it. The build compiles a source for CUDA for each struct that names this as its base.
struct NetLoss {};
/// Also with one penalty for a feature's weights in all classes or targets.
struct GroupedNetLoss : NetLoss {};

template <class... Functors>
struct LossList {};
template <class... First, class... Second>
LossList<First..., Second...> operator+(LossList<First...>, LossList<Second...>) {
  return {};
}
/// Calls f(functor) for each.
template <class... Functors, class F>
constexpr void for_each(LossList<Functors...> /*list*/, F&& f) {
  (f(Functors{}), ...);
}

/// Sums over rows of a generalised linear model of numbers, each times its weight.
struct DistributionSums {
  double rows = 0, weights = 0, deviance = 0, pearson = 0, likelihood = 0;
  double log_weights = 0;
  double log_targets = 0;  ///< targets above 0 only
};

}  // namespace sheaf::linear
