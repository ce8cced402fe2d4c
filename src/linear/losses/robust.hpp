// Losses of numbers that outliers change little, or that predict quantiles.
#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/losses/functor.hpp"

namespace sheaf::linear {

/// r^2 / 2 of r = y - z where |r| is at most the threshold t, t |r| - t^2 / 2 beyond (Huber 1964).
struct Huber : NetLoss {
  static constexpr Loss loss = Loss::huber;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 1;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr bool slopes_up_to_parameter = true;
  static constexpr LossInfo row{
      .name = "huber",
      .parameter = {.name = "huber-threshold", .key = "threshold", .about = "the threshold of the Huber loss"},
      .net = {.kind = "elastic-net-huber",
              .about = "regression that outliers change little, with the penalty of the elastic net",
              .solver = "ELASTIC_NET_HUBER",
              .title = "elastic-net Huber regression",
              .applied_as = "L2R_L2LOSS_SVR",
              .score = Metric::mean_absolute_error}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T threshold) {
    const T error = z - y;
    const T size = std::abs(error);
    if (size <= threshold) return {error * error / 2, error, 1};
    return {threshold * (size - threshold / 2), error > 0 ? threshold : -threshold, 0};
  }
  /// Residuals, scaled or not, are at most the threshold.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y, double /*threshold*/) { return u * (y - u / 2); }
  static double least(double /*y*/) { return 0; }
};

/// The check loss of a quantile q: q r of r = y - z where r > 0, (q - 1) r elsewhere (Koenker and Bassett 1978), that
/// is |r| / 2 + (q - 1/2) r. Nets are trained with a smooth one that has r^2 / (2 width) + width / 2 in place of |r|
/// where |r| is at most the width, less width / 2 everywhere: it is at most width / 4 below the other (Yi and Huang
/// 2017).
struct Quantile : NetLoss {
  static constexpr Loss loss = Loss::quantile;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;  // 1 / (2 width)
  /// How far the smooth loss may be below the other, as a share of its width.
  static constexpr double least_below = 0.25;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{.name = "quantile",
                                .parameter = {.name = "quantile", .key = "quantile", .about = "a quantile", .below = 1},
                                .net = {.kind = "elastic-net-quantile",
                                        .about = "quantile regression with the penalty of the elastic net",
                                        .solver = "ELASTIC_NET_QUANTILE",
                                        .title = "elastic-net quantile regression",
                                        .applied_as = "L2R_L2LOSS_SVR",
                                        .score = Metric::mean_pinball_loss}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T quantile) {
    const T r = y - z;
    const T slope = r > 0 ? quantile : quantile - 1;
    return {slope * r, -slope, 0};
  }
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T quantile, T width) {
    const T r = y - z;
    const T size = std::abs(r);
    const T tilt = quantile - T(0.5);
    if (size <= width) return {r * r / (4 * width) + tilt * r, -(r / (2 * width) + tilt), 1 / (2 * width)};
    return {(size - width / 2) / 2 + tilt * r, -((r > 0 ? T(0.5) : T(-0.5)) + tilt), 0};
  }
  /// With 1 / (2 |r|) beyond the width a quadratic model is nowhere below the loss (Hunter and Lange 2000), but its
  /// steps are short; with the 0 of the second derivative they lead anywhere. A tenth of the former took a third of the
  /// steps.
  template <class T>
  SHEAF_HOST_DEVICE static T step_curvature(T z, T y, T /*quantile*/, T width) {
    constexpr T share = T(0.1);
    const T size = std::abs(y - z);
    return size <= width ? 1 / (2 * width) : share / (2 * size);
  }
  /// Residuals, scaled or not, are between q - 1 and q.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y, double quantile, double width) {
    const double centred = u - (quantile - 0.5);
    return u * y - width * centred * centred;
  }
  static double least(double /*y*/) { return 0; }
};

using RobustLosses = LossList<Huber, Quantile>;

}  // namespace sheaf::linear
