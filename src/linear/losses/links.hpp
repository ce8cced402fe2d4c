// Links of generalised linear models: the mean that a decision value z stands for, and the z of a mean. A loss of
// numbers has one as its base. Links whose means are positive only for z > 0 take the smallest z from the loss,
// `Functor::least_decision`; terms() of such a loss are `forbidden` there.
#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "linear/losses/functor.hpp"

namespace sheaf::linear {

/// Mean z.
struct IdentityLink {
  static constexpr GlmLink glm_link = GlmLink::identity;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z;
  }
  static double link(double mean, double /*unused*/) { return mean; }
};

/// Mean z, z > 0.
template <class Functor>
struct PositiveIdentityLink {
  static constexpr GlmLink glm_link = GlmLink::identity;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z > T(Functor::least_decision) ? z : T(Functor::least_decision);
  }
  static double link(double mean, double /*unused*/) { return mean; }
};

/// Mean exp(z).
struct LogLink {
  static constexpr GlmLink glm_link = GlmLink::log;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*unused*/) { return std::log(mean); }
};

/// Mean 1 / z, z > 0.
template <class Functor>
struct InverseLink {
  static constexpr GlmLink glm_link = GlmLink::inverse;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return 1 / (z > T(Functor::least_decision) ? z : T(Functor::least_decision));
  }
  static double link(double mean, double /*unused*/) { return 1 / mean; }
};

/// Mean 1 / sqrt(z), z > 0.
template <class Functor>
struct InverseSquareLink {
  static constexpr GlmLink glm_link = GlmLink::inverse_square;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return 1 / std::sqrt(z > T(Functor::least_decision) ? z : T(Functor::least_decision));
  }
  static double link(double mean, double /*unused*/) { return 1 / (mean * mean); }
};

/// Mean z^2, z > 0.
struct SqrtLink {
  static constexpr GlmLink glm_link = GlmLink::sqrt;

  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z * z;
  }
  static double link(double mean, double /*unused*/) { return std::sqrt(mean); }
};

}  // namespace sheaf::linear
