// Losses of counts and positive numbers: minus the log-likelihood of the target y at the linear predictor z, dispersion
// 1, without the terms that do not depend on z.
#pragma once

#include <cmath>
#include <numbers>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/losses/functor.hpp"
#include "linear/losses/links.hpp"

namespace sheaf::linear {

/// y log(y / mean), 0 for y = 0.
inline double relative_entropy(double y, double mean) { return y > 0 ? y * std::log(y / mean) : 0.0; }

/// Poisson, mean exp(z).
struct Poisson : NetLoss, LogLink {
  static constexpr Loss loss = Loss::poisson;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;
  static constexpr TargetRange targets = TargetRange::nonnegative;
  static constexpr bool takes_offsets = true;
  static constexpr LossInfo row{.name = "poisson",
                                .net = {.kind = "elastic-net-poisson",
                                        .about = "Poisson regression of counts with the penalty of the elastic net",
                                        .solver = "ELASTIC_NET_POISSON",
                                        .title = "elastic-net Poisson regression",
                                        .score = Metric::mean_poisson_deviance,
                                        .offsets = true,
                                        .responds = true}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T mean = bounded_exp(z);
    return {mean - y * z, mean - y, mean};
  }
  /// The minimum is where the mean is y - u, which residuals times a factor of at most 1 keep at 0 or more.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) {
    const double mean = y - u;
    return mean > 0 ? mean - mean * std::log(mean) : 0;
  }
  static double least(double y) { return y > 0 ? y - y * std::log(y) : 0; }
};

/// Gamma, mean exp(z).
struct GammaLog : LogLink {
  static constexpr Loss loss = Loss::gamma_log;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr LossInfo row{.name = "gamma-log"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T ratio = y * bounded_exp(-z);
    return {z + ratio, 1 - ratio, ratio};
  }
};

/// Gamma, mean 1 / z, z > 0.
struct GammaInverse : InverseLink<GammaInverse> {
  static constexpr Loss loss = Loss::gamma_inverse;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr double least_decision = 1e-15;
  static constexpr LossInfo row{.name = "gamma-inverse", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {y * z - std::log(z), y - 1 / z, 1 / (z * z)};
  }
};

/// Inverse Gaussian, mean 1 / sqrt(z), z > 0.
struct InverseGaussian : InverseSquareLink<InverseGaussian> {
  static constexpr Loss loss = Loss::inverse_gaussian;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr double least_decision = 1e-18;
  static constexpr LossInfo row{.name = "inverse-gaussian", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    const T root = std::sqrt(z);
    return {y * z / 2 - root, (y - 1 / root) / 2, 1 / (4 * z * root)};
  }
};

/// Poisson, mean z, z > 0.
struct PoissonIdentity : PositiveIdentityLink<PoissonIdentity> {
  static constexpr Loss loss = Loss::poisson_identity;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::nonnegative;
  static constexpr double least_decision = 1e-15;
  static constexpr LossInfo row{.name = "poisson-identity", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {z - y * std::log(z), 1 - y / z, 1 / z};
  }
  static double second(double z, double y, double /*unused*/) { return y / (z * z); }
};

/// Poisson, mean z^2, z > 0.
struct PoissonSqrt : SqrtLink {
  static constexpr Loss loss = Loss::poisson_sqrt;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::nonnegative;
  static constexpr double least_decision = 1e-15;
  static constexpr LossInfo row{.name = "poisson-sqrt", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {z * z - 2 * y * std::log(z), 2 * (z - y / z), T(4)};
  }
  static double second(double z, double y, double /*unused*/) { return 2 + 2 * y / (z * z); }
};

/// Gamma, mean z, z > 0.
struct GammaIdentity : PositiveIdentityLink<GammaIdentity> {
  static constexpr Loss loss = Loss::gamma_identity;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr double least_decision = 1e-15;
  static constexpr LossInfo row{.name = "gamma-identity", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {y / z + std::log(z), (1 - y / z) / z, 1 / (z * z)};
  }
  static double second(double z, double y, double /*unused*/) { return (2 * y / z - 1) / (z * z); }
};

/// Inverse Gaussian, mean z, z > 0.
struct InverseGaussianIdentity : PositiveIdentityLink<InverseGaussianIdentity> {
  static constexpr Loss loss = Loss::inverse_gaussian_identity;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr double least_decision = 1e-9;
  static constexpr LossInfo row{.name = "inverse-gaussian-identity", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {(y / (2 * z) - 1) / z, (1 - y / z) / (z * z), 1 / (z * z * z)};
  }
  static double second(double z, double y, double /*unused*/) { return (3 * y / z - 2) / (z * z * z); }
};

/// Inverse Gaussian, mean 1 / z, z > 0.
struct InverseGaussianInverse : InverseLink<InverseGaussianInverse> {
  static constexpr Loss loss = Loss::inverse_gaussian_inverse;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr double least_decision = 1e-15;
  static constexpr LossInfo row{.name = "inverse-gaussian-inverse", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    return {(y * z / 2 - 1) * z, y * z - 1, 1 / z};
  }
  static double second(double z, double y, double /*unused*/) { return y + 0 * z; }
};

/// Inverse Gaussian, mean exp(z).
struct InverseGaussianLog : LogLink {
  static constexpr Loss loss = Loss::inverse_gaussian_log;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::positive;
  static constexpr LossInfo row{.name = "inverse-gaussian-log"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(-34))) return {T(forbidden), T(-forbidden), T(0)};  // squares stay below that
    const T inverse = bounded_exp(-z);
    return {(y * inverse / 2 - 1) * inverse, (1 - y * inverse) * inverse, inverse};
  }
  static double second(double z, double y, double /*unused*/) {
    const double inverse = std::exp(-z);
    return (2 * y * inverse - 1) * inverse;
  }
};

/// Tweedie, mean exp(z), variance mean^power with 1 < power < 2: half the deviance.
struct Tweedie : LogLink {
  static constexpr Loss loss = Loss::tweedie;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::nonnegative;
  static constexpr LossInfo row{.name = "tweedie"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T power) {
    const T falling = y * bounded_exp((1 - power) * z);
    const T rising = bounded_exp((2 - power) * z);
    return {falling / (power - 1) + rising / (2 - power), rising - falling,
            (power - 1) * falling + (2 - power) * rising};
  }
};

/// Negative binomial, mean exp(z), variance mean + mean^2 / theta.
struct NegativeBinomial : LogLink {
  static constexpr Loss loss = Loss::negative_binomial;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::counts;
  static constexpr LossInfo row{.name = "negative-binomial"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T theta) {
    const T mean = bounded_exp(z);
    const T both = mean + theta;
    return {(y + theta) * std::log(both) - y * z, theta * (mean - y) / both,
            (y + theta) * (theta / both) * (mean / both)};
  }
};

struct PoissonCounts {
  static constexpr DistributionInfo row{
      .family = GlmFamily::poisson, .name = "poisson", .score = Metric::mean_poisson_deviance};
  using Losses = LossList<Poisson, PoissonIdentity, PoissonSqrt>;

  static double deviance(double y, double mean, double /*unused*/) {
    return 2 * (relative_entropy(y, mean) - (y - mean));
  }
  static double variance(double mean, double /*unused*/) { return mean; }
  static double log_likelihood(double y, double mean, double /*unused*/) {
    return (y > 0 ? y * std::log(mean) : 0.0) - mean - std::lgamma(y + 1);
  }
};

/// The Poisson distribution, times a dispersion.
struct QuasiPoisson : PoissonCounts {
  static constexpr DistributionInfo row{.family = GlmFamily::quasi_poisson,
                                        .name = "quasi-poisson",
                                        .score = Metric::mean_poisson_deviance,
                                        .dispersed = true,
                                        .likelihood = false};
};

struct GammaNumbers {
  static constexpr DistributionInfo row{
      .family = GlmFamily::gamma, .name = "gamma", .score = Metric::mean_gamma_deviance, .dispersed = true};
  using Losses = LossList<GammaLog, GammaInverse, GammaIdentity>;

  static double deviance(double y, double mean, double /*unused*/) {
    return 2 * ((y - mean) / mean - std::log(y / mean));
  }
  static double variance(double mean, double /*unused*/) { return mean * mean; }
  static double dispersed_log_likelihood(double weight, double y, double mean, double dispersion) {
    const double scale = mean * dispersion;
    return weight * ((1 / dispersion - 1) * std::log(y) - y / scale - std::log(scale) / dispersion -
                     std::lgamma(1 / dispersion));
  }
};

struct InverseGaussianNumbers {
  static constexpr DistributionInfo row{
      .family = GlmFamily::inverse_gaussian, .name = "inverse-gaussian", .dispersed = true};
  using Losses = LossList<InverseGaussian, InverseGaussianIdentity, InverseGaussianInverse, InverseGaussianLog>;

  static double deviance(double y, double mean, double /*unused*/) {
    return (y - mean) * (y - mean) / (y * mean * mean);
  }
  static double variance(double mean, double /*unused*/) { return mean * mean * mean; }
  static double log_likelihood(const DistributionSums& sums) {
    const double dispersion = sums.deviance / sums.weights;
    return -(sums.weights * (std::log(dispersion * (2 * std::numbers::pi)) + 1) + 3 * sums.log_targets) / 2;
  }
};

struct TweedieNumbers {
  static constexpr DistributionInfo row{.family = GlmFamily::tweedie,
                                        .name = "tweedie",
                                        .score = Metric::mean_tweedie_deviance,
                                        .dispersed = true,
                                        .likelihood = false,
                                        .parameter = {.name = "power",
                                                      .about = "the power of a tweedie family",
                                                      .above = 1,
                                                      .below = 2,
                                                      .hint = "; 1 is --family poisson, 2 gamma, 3 inverse-gaussian"}};
  using Losses = LossList<Tweedie>;

  static double deviance(double y, double mean, double p) {
    return 2 * (std::pow(y, 2 - p) / ((1 - p) * (2 - p)) - y * std::pow(mean, 1 - p) / (1 - p) +
                std::pow(mean, 2 - p) / (2 - p));
  }
  static double variance(double mean, double p) { return std::pow(mean, p); }
};

struct NegativeBinomialCounts {
  static constexpr DistributionInfo row{
      .family = GlmFamily::negative_binomial,
      .name = "negative-binomial",
      .score = Metric::mean_poisson_deviance,
      .parameter = {.name = "theta", .about = "the theta of a negative binomial family", .estimated = true}};
  using Losses = LossList<NegativeBinomial>;

  static double deviance(double y, double mean, double theta) {
    return 2 * (relative_entropy(y, mean) - (y + theta) * std::log((y + theta) / (mean + theta)));
  }
  static double variance(double mean, double theta) { return mean + mean * mean / theta; }
  static double log_likelihood(double y, double mean, double theta) {
    const double log_mean = y > 0 ? y * std::log(mean) : 0.0;
    return std::lgamma(theta + y) - std::lgamma(theta) - std::lgamma(y + 1) + theta * std::log(theta) + log_mean -
           (theta + y) * std::log(theta + mean);
  }
};

using PositiveLosses =
    LossList<Poisson, PoissonIdentity, PoissonSqrt, GammaLog, GammaInverse, GammaIdentity, InverseGaussian,
             InverseGaussianIdentity, InverseGaussianInverse, InverseGaussianLog, Tweedie, NegativeBinomial>;
using PositiveDistributions =
    LossList<PoissonCounts, GammaNumbers, InverseGaussianNumbers, TweedieNumbers, NegativeBinomialCounts, QuasiPoisson>;

}  // namespace sheaf::linear
