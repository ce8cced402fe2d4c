// Losses of linear models as functions of the decision value z = x'w and the target y: value, first and second
// derivative in z. Written once for both backends. Squared hinge and the squared tube have no factor 1/2 (as in
// LIBLINEAR); where the second derivative jumps, the generalised one of the active side is taken.
#pragma once

#include <cmath>

#include <sheaf/linear.hpp>

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

/// log(1 + exp(-y z)), y = +-1.
struct Logistic {
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T margin = y * z;
    const T e = exp_nonpositive(-std::abs(margin));  // never overflows
    const T p = (margin > 0 ? e : T(1)) / (1 + e);   // 1 / (1 + exp(margin))
    const T value = log1p_unit(e) + (margin > 0 ? T(0) : -margin);
    return {value, -y * p, e / ((1 + e) * (1 + e))};
  }
};

/// max(0, 1 - y z)^2, y = +-1.
struct SquaredHinge {
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T slack = 1 - y * z;
    if (slack <= 0) return {0, 0, 0};
    return {slack * slack, -2 * y * slack, 2};
  }
};

/// max(0, |y - z| - epsilon)^2.
struct SquaredTube {
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T epsilon) {
    const T error = z - y;
    const T excess = std::abs(error) - epsilon;
    if (excess <= 0) return {0, 0, 0};
    return {excess * excess, error > 0 ? 2 * excess : -2 * excess, 2};
  }
};

/// (y - z)^2 / 2.
struct Squared {
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T error = z - y;
    return {error * error / 2, error, 1};
  }
};

/// Calls f(functor) for the loss chosen at run time.
template <class F>
auto with_loss(Loss loss, F&& f) {
  switch (loss) {
    case Loss::logistic:
      return f(Logistic{});
    case Loss::squared_hinge:
      return f(SquaredHinge{});
    case Loss::squared_tube:
      return f(SquaredTube{});
    case Loss::squared:
      break;
  }
  return f(Squared{});
}

}  // namespace sheaf::linear
