// The result of a loss functor for one row, and an exponential function that stays finite.
#pragma once

#include "core/host_device.hpp"
#include "core/math.hpp"

namespace sheaf::linear {

/// Value and derivatives of a loss for one row.
template <class T>
struct LossTerms {
  T value;
  T slope;
  T curvature;
};

/// The value of a loss beyond the domain of its link: so large that no line search goes there, and finite, so that rows
/// of weight 0 may be there.
inline constexpr double forbidden = 1e30;

/// exp(x), up to about `forbidden`.
template <class T>
SHEAF_HOST_DEVICE inline T bounded_exp(T x) {
  const T e = exp_nonpositive(x > 0 ? (x < T(69) ? -x : T(-69)) : x);
  return x > 0 ? 1 / e : e;
}

}  // namespace sheaf::linear
