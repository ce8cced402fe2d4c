// Losses of numbers.
#pragma once

#include <cmath>
#include <numbers>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/losses/functor.hpp"
#include "linear/losses/links.hpp"

namespace sheaf::linear {

/// (y - z)^2 / 2.
struct Squared : GroupedNetLoss, IdentityLink {
  static constexpr Loss loss = Loss::squared;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = true;
  static constexpr double largest_curvature = 1;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{.name = "squared",
                                .net = {.kind = "elastic-net",
                                        .about = "elastic net: least squares with an L1 and an L2 penalty",
                                        .solver = "ELASTIC_NET_REGRESSION",
                                        .title = "elastic net",
                                        .applied_as = "L2R_L2LOSS_SVR"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T error = z - y;
    return {error * error / 2, error, 1};
  }
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) { return u * (y - u / 2); }
  static double least(double /*y*/) { return 0; }
};

/// max(0, |y - z| - epsilon)^2.
struct SquaredTube {
  static constexpr Loss loss = Loss::squared_tube;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{.name = "squared-tube",
                                .linear = {.name = "svr", .about = "L2-loss SVM for a numeric target"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T epsilon) {
    const T error = z - y;
    const T excess = std::abs(error) - epsilon;
    if (excess <= 0) return {0, 0, 0};
    return {excess * excess, error > 0 ? 2 * excess : -2 * excess, 2};
  }
};

/// max(0, |y - z| - epsilon). As the hinge, for the dual alone.
struct Tube {
  static constexpr Loss loss = Loss::tube;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{.name = "tube",
                                .linear = {.name = "epsilon-insensitive", .about = "L1-loss SVM for a numeric target"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T epsilon) {
    const T error = z - y;
    const T excess = std::abs(error) - epsilon;
    if (excess <= 0) return {0, 0, 0};
    return {excess, error > 0 ? T(1) : T(-1), 0};
  }
};

/// Normal, mean exp(z).
struct GaussianLog : LogLink {
  static constexpr Loss loss = Loss::gaussian_log;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{.name = "gaussian-log"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z < T(34))) return {T(forbidden), T(forbidden), T(0)};  // squares stay below that
    const T mean = bounded_exp(z);
    const T error = mean - y;
    return {error * error / 2, error * mean, mean * mean};
  }
  static double second(double z, double y, double /*unused*/) {
    const double mean = std::exp(z);
    return mean * (2 * mean - y);
  }
};

/// Normal, mean 1 / z, z > 0.
struct GaussianInverse : InverseLink<GaussianInverse> {
  static constexpr Loss loss = Loss::gaussian_inverse;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr double least_decision = 1e-7;
  static constexpr LossInfo row{.name = "gaussian-inverse", .decision_sign = 1};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    if (!(z > T(least_decision))) return {T(forbidden), T(-forbidden), T(0)};
    const T mean = 1 / z;
    const T error = mean - y;
    return {error * error / 2, -error * mean * mean, mean * mean * mean * mean};
  }
  static double second(double z, double y, double /*unused*/) {
    const double mean = 1 / z;
    return mean * mean * mean * (3 * mean - 2 * y);
  }
};

struct Gaussian {
  static constexpr DistributionInfo row{.family = GlmFamily::gaussian, .name = "gaussian", .dispersed = true};
  using Losses = LossList<Squared, GaussianLog, GaussianInverse>;

  static double deviance(double y, double mean, double /*unused*/) { return (y - mean) * (y - mean); }
  static double variance(double /*mean*/, double /*unused*/) { return 1; }
  static double log_likelihood(const DistributionSums& sums) {
    return -(sums.rows * (std::log(2 * std::numbers::pi * sums.deviance / sums.rows) + 1) - sums.log_weights) / 2;
  }
};

using NumberLosses = LossList<Squared, SquaredTube, Tube, GaussianLog, GaussianInverse>;
using NumberDistributions = LossList<Gaussian>;

}  // namespace sheaf::linear
