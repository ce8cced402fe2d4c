// How the log odds of a class come from its row, written once for both devices.
#pragma once

#include <cmath>
#include <limits>

#include "core/host_device.hpp"

namespace sheaf::linear {

template <class T>
inline constexpr T smallest_normal = std::numeric_limits<T>::min();

/// log(p / (1 - p)) of a class: `shifted` is its z minus the largest of the row, `e` the exponential of that, and
/// `rest` the sum of the exponentials of all classes but the largest. Nothing is subtracted from what it is nearly
/// equal to.
template <class T>
SHEAF_HOST_DEVICE inline T log_odds(T shifted, T e, T rest, bool largest) {
  if (largest) return -std::log(rest > smallest_normal<T> ? rest : smallest_normal<T>);
  return shifted - std::log(1 + (rest > e ? rest - e : T(0)));
}

}  // namespace sheaf::linear
