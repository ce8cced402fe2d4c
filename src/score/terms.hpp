// How the scores of one row come from its decision values and the truth: written once, used by both backends.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/host_device.hpp"
#include "core/math.hpp"

namespace sheaf::score {

/// Confusion tables are kept for up to so many classes.
constexpr std::int32_t most_confused = 50;

/// Up to most_confused classes: true class x predicted class. More: rows of each true class, then of each predicted
/// class, then of each class where both are the same.
SHEAF_HOST_DEVICE constexpr std::int64_t count_bins(std::int64_t classes) {
  return classes <= most_confused ? classes * classes : 3 * classes;
}

/// Where a row counts; -1: nowhere.
struct Bins {
  std::int32_t at[3];
};
SHEAF_HOST_DEVICE inline Bins bins_of(std::int32_t classes, std::int32_t truth, std::int32_t predicted) {
  if (classes <= most_confused) return {{truth * classes + predicted, -1, -1}};
  return {{truth, classes + predicted, truth == predicted ? 2 * classes + truth : -1}};
}

/// The column that is largest; of equals the first.
template <class T>
SHEAF_HOST_DEVICE inline std::int32_t largest_column(const T* z, std::int32_t columns) {
  std::int32_t best = 0;
  for (std::int32_t c = 1; c < columns; ++c)
    if (z[c] > z[best]) best = c;
  return best;
}

/// -log(1 / (1 + exp(-z))) without overflow.
SHEAF_HOST_DEVICE inline double logistic_loss(double z) {
  const double size = std::abs(z);
  return (size - z) / 2 + log1p_unit(exp_nonpositive(-size));
}

/// A column's share in the sum of all columns' logistic functions, over that of the largest, whose loss is `least`.
SHEAF_HOST_DEVICE inline double relative_share(double z, double least) {
  return exp_nonpositive(least - logistic_loss(z));
}

/// -log of the share that the true class, of decision value z, has in that sum; `sum` is that of all relative shares.
SHEAF_HOST_DEVICE inline double share_loss(double z, double least, double sum) {
  return std::log(sum) - least + logistic_loss(z);
}

/// Whole numbers that rise where values fall, and are equal where values are: 0 and -0 too.
template <class T>
using FallingKey = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
template <class T>
SHEAF_HOST_DEVICE inline FallingKey<T> falling_key(T value) {
  using Key = FallingKey<T>;
  static_assert(sizeof(Key) == sizeof(T));
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  Key bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value == T(0)) bits = 0;
  return (bits & sign) != 0 ? bits : ~(bits | sign);
}

/// How many other rows point `p` of `points` of a ROC curve takes for positive.
SHEAF_HOST_DEVICE inline double roc_place(std::int64_t others, std::int64_t p, std::int64_t points) {
  return static_cast<double>(others) * static_cast<double>(p) / static_cast<double>(points - 1);
}

}  // namespace sheaf::score
