// The penalty of elastic nets, p1 |w| + p2 / 2 w^2 a feature: its best step, its value, and its part of the duality
// gap.
#pragma once

#include <cmath>

#include "core/host_device.hpp"

namespace sheaf::linear {

template <class T>
struct ElasticNetPenalty {
  T p1 = 0;
  T p2 = 0;

  /// The best weight of one feature, whose loss is curvature / 2 w^2 - pull w: pull = g + curvature * (present weight).
  SHEAF_HOST_DEVICE T best_weight(T pull, T curvature) const {
    const T divisor = curvature + p2;
    const T rest = std::abs(pull) - p1;
    if (rest <= 0 || divisor <= 0) return 0;
    return (pull > 0 ? rest : -rest) / divisor;
  }
  SHEAF_HOST_DEVICE double value(double w) const { return double(p1) * std::abs(w) + double(p2) / 2 * w * w; }
  /// The derivative where w is not 0.
  SHEAF_HOST_DEVICE double slope(double w) const { return double(w > 0 ? p1 : -p1) + double(p2) * w; }
  SHEAF_HOST_DEVICE bool none() const { return p1 <= 0 && p2 <= 0; }
};

/// What features say about the gap; summed over them, but for the ratio. g is minus the derivative of the loss.
struct FeatureSums {
  double ratio = 0;   ///< the largest |g - p2 w| / p1
  double excess = 0;  ///< max(0, |g| - p1)^2 / (2 p2); infinite where p2 = 0 and |g| > p1
  double lasso = 0;   ///< p1 |w|
  double ridge = 0;   ///< p2 w^2
  double free = 0;    ///< of features without a penalty: what each alone could still gain
  double nonzeros = 0;

  template <class T>
  SHEAF_HOST_DEVICE void add(double g, double w, const ElasticNetPenalty<T>& penalty, double curvature) {
    const double p1 = penalty.p1;
    const double p2 = penalty.p2;
    if (w != 0) nonzeros += 1;
    if (penalty.none()) {
      if (curvature > 0) free += g * g / (2 * curvature);
      return;
    }
    lasso += p1 * std::abs(w);
    ridge += p2 * w * w;
    const double over = std::abs(g) - p1;
    if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : HUGE_VAL;
    const double pull = std::abs(g - p2 * w);
    if (p1 <= 0)
      ratio = pull > 0 ? HUGE_VAL : ratio;
    else if (pull > ratio * p1)  // a division only where the ratio rises
      ratio = pull / p1;
  }
  SHEAF_HOST_DEVICE void join(const FeatureSums& other) {
    if (other.ratio > ratio) ratio = other.ratio;
    excess += other.excess;
    lasso += other.lasso;
    ridge += other.ridge;
    free += other.free;
    nonzeros += other.nonzeros;
  }
  SHEAF_HOST_DEVICE double penalty() const { return lasso + ridge / 2; }
};

}  // namespace sheaf::linear
