// A number added to the weights of a feature in all classes of a softmax model changes no probability: the one that
// makes their penalty least.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "linear/net/model/penalty.hpp"

namespace sheaf::linear {

/// The number c that makes the sum over classes of penalty.value(weight(k) - c) least: the mean of the weights for a
/// ridge, their median for a lasso; of several such the nearest to 0.
template <class T, class Weight>
SHEAF_HOST_DEVICE double common_weight(const ElasticNetPenalty<T>& penalty, std::int32_t classes,
                                       const Weight& weight) {
  const double p1 = penalty.p1;
  const double p2 = penalty.p2;
  double sum = 0;
  for (std::int32_t k = 0; k < classes; ++k) sum += double(weight(k));
  // How many of sign * weight are below `at` (or, with `equal`, not above it) minus how many are not.
  const auto balance = [&](double sign, double at, bool equal) {
    double count = 0;
    for (std::int32_t k = 0; k < classes; ++k) {
      const double w = sign * double(weight(k));
      count += w < at || (equal && w == at) ? 1 : -1;
    }
    return count;
  };
  // The slope of the penalty in c just below and just above c = 0; the least is at 0 or on the side where it falls.
  if (-p2 * sum + p1 * balance(1, 0, true) >= 0 && -p2 * sum + p1 * balance(1, 0, false) <= 0) return 0;
  const double sign = -p2 * sum + p1 * balance(1, 0, true) < 0 ? 1 : -1;
  // The nearest weight above which it rises.
  double nearest = HUGE_VAL;
  for (std::int32_t k = 0; k < classes; ++k) {
    const double w = sign * double(weight(k));
    if (w > 0 && w < nearest && p2 * (classes * w - sign * sum) + p1 * balance(sign, w, true) >= 0) nearest = w;
  }
  const double below = balance(sign, nearest, false);
  if (p2 * (classes * nearest - sign * sum) + p1 * below <= 0) return sign * nearest;
  return (sum - sign * p1 / p2 * below) / classes;  // between two weights
}

/// The same of the penalty of the row of weights: their mean.
template <class Weight>
SHEAF_HOST_DEVICE double mean_weight(std::int32_t classes, const Weight& weight) {
  double sum = 0;
  for (std::int32_t k = 0; k < classes; ++k) sum += double(weight(k));
  return sum / classes;
}

/// The number nearest to `c` that all weights may be less by; 0 is such a number, as they are within their limits.
template <class T, class Weight>
SHEAF_HOST_DEVICE double shift_within(const WeightLimits<T>& limits, double c, std::int32_t classes,
                                      const Weight& weight) {
  double least = -HUGE_VAL;
  double most = HUGE_VAL;
  for (std::int32_t k = 0; k < classes; ++k) {
    const double w = weight(k);
    if (w - double(limits.high) > least) least = w - double(limits.high);
    if (w - double(limits.low) < most) most = w - double(limits.low);
  }
  return c < least ? least : c > most ? most : c;
}

}  // namespace sheaf::linear
