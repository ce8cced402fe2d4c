// Losses of generalised linear models: minus the log-likelihood of the target y at the linear predictor z, dispersion
// 1, without the terms that do not depend on z. All are convex. Beside the members of every loss (see losses.hpp)
//   targets                 the numbers that y may be
//   prediction(z, p)        the mean that z stands for; of classes the log odds of +1
//   link(mean, p)           the z of a mean; of classes, of the probability of +1
// where p is the parameter of the distribution, or nothing.
//
// Beyond the domain of a link, values are `forbidden`: so large that no line search goes there, and finite, so that
// rows of weight 0 may be there.
#pragma once

#include <cmath>
#include <string_view>

#include <sheaf/solvers/linear.hpp>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/loss_terms.hpp"
#include "linear/target_range.hpp"

namespace sheaf::linear {

inline constexpr double forbidden = 1e30;

/// exp(x), up to about `forbidden`.
template <class T>
SHEAF_HOST_DEVICE inline T bounded_exp(T x) {
  const T e = exp_nonpositive(x > 0 ? (x < T(69) ? -x : T(-69)) : x);
  return x > 0 ? 1 / e : e;
}

/// phi(m) / Phi(m) of the normal distribution: below -5 by Laplace's continued fraction of Mills's ratio.
template <class T>
SHEAF_HOST_DEVICE inline T inverse_mills(T m) {
  if (m > T(-5)) {
    const T density = T(0.39894228040143267794) * std::exp(-m * m / 2);
    return 2 * density / std::erfc(-m * T(0.70710678118654752440));
  }
  T fraction = -m;
  for (int k = 40; k > 0; --k) fraction = -m + T(k) / fraction;
  return fraction;
}

/// -log Phi(y z), y = +-1.
struct Probit {
  static constexpr Loss loss = Loss::probit;
  static constexpr std::string_view name = "probit";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::classes;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T m = y * z;
    const T ratio = inverse_mills(m);
    const T value = m > T(-5) ? -std::log(std::erfc(-m * T(0.70710678118654752440)) / 2)
                              : m * m / 2 + T(0.91893853320467274178) + std::log(ratio);
    const T curvature = ratio * (ratio + m);
    return {value, -y * ratio, curvature > 0 ? curvature : T(0)};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return terms(-z, T(1), T(0)).value - terms(z, T(1), T(0)).value;
  }
  static double link(double mean, double /*unused*/) { return std::log(mean / (1 - mean)) / 1.702; }
};

/// P(+1) = 1 - exp(-exp(z)).
struct Cloglog {
  static constexpr Loss loss = Loss::cloglog;
  static constexpr std::string_view name = "cloglog";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::classes;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T rate = bounded_exp(z);
    if (y < 0) return {rate, rate, rate};
    if (z < T(-15)) return {rate / 2 - z, rate / 2 - 1, rate / 2};  // the rest is below rate^2
    const T e = std::exp(-rate);
    const T share = -std::expm1(-rate);
    // rate - 1 + e, where rate is small by its series.
    const T excess = rate > T(0.05)
                         ? rate - 1 + e
                         : rate * rate * (T(1.0 / 2) - rate * (T(1.0 / 6) - rate * (T(1.0 / 24) - rate / 120)));
    const T ratio = rate / share;
    return {-std::log(share), -ratio * e, ratio * e * excess / share};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    const T rate = bounded_exp(z);
    return z < T(-15) ? z + rate / 2 : rate + std::log(-std::expm1(-rate));
  }
  static double link(double mean, double /*unused*/) { return std::log(-std::log1p(-mean)); }
};

/// Poisson, mean exp(z).
struct Poisson {
  static constexpr Loss loss = Loss::poisson;
  static constexpr std::string_view name = "poisson";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;
  static constexpr TargetRange targets = TargetRange::nonnegative;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T mean = bounded_exp(z);
    return {mean - y * z, mean - y, mean};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*unused*/) { return std::log(mean); }
  /// The minimum is where the mean is y - u, which residuals times a factor of at most 1 keep at 0 or more.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) {
    const double mean = y - u;
    return mean > 0 ? mean - mean * std::log(mean) : 0;
  }
  static double least(double y) { return y > 0 ? y - y * std::log(y) : 0; }
};

/// Gamma, mean exp(z).
struct GammaLog {
  static constexpr Loss loss = Loss::gamma_log;
  static constexpr std::string_view name = "gamma-log";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T ratio = y * bounded_exp(-z);
    return {z + ratio, 1 - ratio, ratio};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*unused*/) { return std::log(mean); }
};

/// Gamma, mean 1 / z, z > 0.
struct GammaInverse {
  static constexpr Loss loss = Loss::gamma_inverse;
  static constexpr std::string_view name = "gamma-inverse";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(1e-15))) return {T(forbidden), T(-forbidden), T(0)};
    return {y * z - std::log(z), y - 1 / z, 1 / (z * z)};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z > T(1e-15) ? 1 / z : T(1e15);
  }
  static double link(double mean, double /*unused*/) { return 1 / mean; }
};

/// Inverse Gaussian, mean 1 / sqrt(z), z > 0.
struct InverseGaussian {
  static constexpr Loss loss = Loss::inverse_gaussian;
  static constexpr std::string_view name = "inverse-gaussian";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(1e-18))) return {T(forbidden), T(-forbidden), T(0)};
    const T root = std::sqrt(z);
    return {y * z / 2 - root, (y - 1 / root) / 2, 1 / (4 * z * root)};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z > T(1e-18) ? 1 / std::sqrt(z) : T(1e9);
  }
  static double link(double mean, double /*unused*/) { return 1 / (mean * mean); }
};

/// Tweedie, mean exp(z), variance mean^power with 1 < power < 2: half the deviance.
struct Tweedie {
  static constexpr Loss loss = Loss::tweedie;
  static constexpr std::string_view name = "tweedie";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::nonnegative;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T power) {
    const T falling = y * bounded_exp((1 - power) * z);
    const T rising = bounded_exp((2 - power) * z);
    return {falling / (power - 1) + rising / (2 - power), rising - falling,
            (power - 1) * falling + (2 - power) * rising};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*power*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*power*/) { return std::log(mean); }
};

/// Negative binomial, mean exp(z), variance mean + mean^2 / theta.
struct NegativeBinomial {
  static constexpr Loss loss = Loss::negative_binomial;
  static constexpr std::string_view name = "negative-binomial";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::counts;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T theta) {
    const T mean = bounded_exp(z);
    const T both = mean + theta;
    return {(y + theta) * std::log(both) - y * z, theta * (mean - y) / both,
            (y + theta) * (theta / both) * (mean / both)};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*theta*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*theta*/) { return std::log(mean); }
};

}  // namespace sheaf::linear
