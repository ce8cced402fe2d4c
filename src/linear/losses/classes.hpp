// Losses of two classes, y = +-1, that have one decision value.
#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/losses/functor.hpp"

namespace sheaf::linear {

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

/// log(1 + exp(-y z)), y = +-1.
struct Logistic : NetLoss {
  static constexpr Loss loss = Loss::logistic;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 0.25;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr GlmLink glm_link = GlmLink::logit;
  static constexpr bool takes_offsets = true;
  static constexpr bool probabilities = true;
  static constexpr LossInfo row{.name = "logistic",
                                .net = {.kind = "elastic-net-logistic",
                                        .about = "logistic regression with the penalty of the elastic net",
                                        .solver = "ELASTIC_NET_LOGISTIC",
                                        .title = "elastic-net logistic regression",
                                        .applied_as = "L2R_LR"},
                                .linear = {.name = "logistic", .about = "logistic regression"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T margin = y * z;
    const T e = exp_nonpositive(-std::abs(margin));  // never overflows
    const T share = 1 / (1 + e);
    const T p = (margin > 0 ? e : T(1)) * share;  // 1 / (1 + exp(margin))
    const T value = log1p_unit(e) + (margin > 0 ? T(0) : -margin);
    return {value, -y * p, e * share * share};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z;
  }
  static double link(double mean, double /*unused*/) { return std::log(mean / (1 - mean)); }
  /// The entropy of |u|.
  SHEAF_HOST_DEVICE static double dual_value(double u, double /*y*/) {
    const double a = std::abs(u);
    double sum = 0;
    if (a > 0) sum -= a * std::log(a);
    if (a < 1) sum -= (1 - a) * std::log1p(-a);
    return sum;
  }
  static double least(double /*y*/) { return 0; }
};

/// max(0, 1 - y z)^2, y = +-1.
struct SquaredHinge : NetLoss {
  static constexpr Loss loss = Loss::squared_hinge;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 2;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr LossInfo row{.name = "squared-hinge",
                                .linear = {.name = "svm", .about = "L2-loss SVM, one class against the rest"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T slack = 1 - y * z;
    if (slack <= 0) return {0, 0, 0};
    return {slack * slack, -2 * y * slack, 2};
  }
  /// Residuals, scaled or not, have the sign of y.
  SHEAF_HOST_DEVICE static double dual_value(double u, double /*y*/) {
    const double a = std::abs(u);
    return a - a * a / 4;
  }
  static double least(double /*y*/) { return 0; }
};

/// max(0, 1 - y z), y = +-1. Its slope jumps, so that only the dual is trained with it.
struct Hinge {
  static constexpr Loss loss = Loss::hinge;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr LossInfo row{.name = "hinge",
                                .linear = {.name = "hinge", .about = "L1-loss SVM, one class against the rest"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T slack = 1 - y * z;
    if (slack <= 0) return {0, 0, 0};
    return {slack, -y, 0};
  }
};

/// -log Phi(y z), y = +-1.
struct Probit {
  static constexpr Loss loss = Loss::probit;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr GlmLink glm_link = GlmLink::probit;
  static constexpr LossInfo row{.name = "probit"};

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
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr GlmLink glm_link = GlmLink::cloglog;
  static constexpr LossInfo row{.name = "cloglog"};

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

/// P(+1) = 1 / 2 + atan(z) / pi.
struct Cauchit {
  static constexpr Loss loss = Loss::cauchit;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr GlmLink glm_link = GlmLink::cauchit;
  static constexpr LossInfo row{.name = "cauchit"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T share = chance(y * z);
    const T density = T(inverse_pi) / (1 + z * z);
    return {-std::log(share), -y * density / share, density / share * (density / chance(-y * z))};
  }
  static double second(double z, double y, double /*unused*/) {
    const double slope = inverse_pi / (1 + z * z) / chance(y * z);
    return slope * (slope + 2 * y * z / (1 + z * z));
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return std::log(chance(z)) - std::log(chance(-z));
  }
  static double link(double mean, double /*unused*/) { return std::tan((mean - 0.5) / inverse_pi); }

 private:
  static constexpr double inverse_pi = 0.31830988618379067154;
  template <class T>
  SHEAF_HOST_DEVICE static T chance(T m) {
    return T(inverse_pi) * std::atan2(T(1), -m);
  }
};

/// P(+1) = exp(z), z < 0.
struct LogBinomial {
  static constexpr Loss loss = Loss::log_binomial;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr GlmLink glm_link = GlmLink::log;
  static constexpr LossInfo row{.name = "log-binomial", .decision_sign = -1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z < T(-1e-7))) return {T(forbidden), T(forbidden), T(0)};
    const T share = bounded_exp(z);
    const T other = -std::expm1(z);
    const T odds = share / other;
    if (y > 0) return {-z, T(-1), odds};
    return {-std::log(other), odds, odds};
  }
  static double second(double z, double y, double /*unused*/) {
    const double other = -std::expm1(z);
    return y > 0 ? 0 : std::exp(z) / (other * other);
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z < T(-1e-7) ? z - std::log(-std::expm1(z)) : T(17);
  }
  static double link(double mean, double /*unused*/) { return std::log(mean); }
};

struct Binomial {
  static constexpr DistributionInfo row{
      .family = GlmFamily::binomial, .name = "binomial", .score = Metric::accuracy, .classes = true};
  using Losses = LossList<Logistic, Probit, Cloglog, Cauchit, LogBinomial>;
};

/// Several decision values; the loss is that of two classes.
struct Multinomial {
  static constexpr DistributionInfo row{.family = GlmFamily::multinomial,
                                        .name = "multinomial",
                                        .score = Metric::accuracy,
                                        .classes = true,
                                        .several = true};
  using Losses = LossList<Logistic>;
};

/// The binomial distribution, times a dispersion.
struct QuasiBinomial {
  static constexpr DistributionInfo row{.family = GlmFamily::quasi_binomial,
                                        .name = "quasi-binomial",
                                        .score = Metric::accuracy,
                                        .classes = true,
                                        .dispersed = true,
                                        .likelihood = false};
  using Losses = LossList<Logistic, Probit, Cloglog, Cauchit, LogBinomial>;
};

using ClassLosses = LossList<Logistic, SquaredHinge, Hinge, Probit, Cloglog, Cauchit, LogBinomial>;
using ClassDistributions = LossList<Binomial, Multinomial, QuasiBinomial>;

}  // namespace sheaf::linear
