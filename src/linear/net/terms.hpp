// Single numbers of elastic nets, written once for both backends: steps, penalties, and the duality gap.
//
// The gap. With the loss f and the penalty p1 |w| + p2 / 2 w^2, two dual points are at hand for free. The first takes
// the L2 part as further examples (their residuals are -sqrt(p2) w) and shrinks all residuals by the factor k that
// makes |X'r - p2 w| <= p1 everywhere; it is exact at the optimum and all there is for a lasso. The second keeps the
// residuals and pays max(0, |X'r| - p1)^2 / (2 p2) a feature: all there is for a ridge. The better one counts.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"
#include "core/math.hpp"

namespace sheaf::linear {

/// The best weight of one feature: pull = g + curvature * w, divisor = curvature + p2.
template <class T>
SHEAF_HOST_DEVICE inline T shrunken(T pull, T p1, T divisor) {
  const T rest = std::abs(pull) - p1;
  if (rest <= 0 || divisor <= 0) return 0;
  return (pull > 0 ? rest : -rest) / divisor;
}

/// What features say about the gap; summed over them, but for the ratio.
struct FeatureSums {
  double ratio = 0;   ///< the largest |g - p2 w| / p1
  double excess = 0;  ///< max(0, |g| - p1)^2 / (2 p2); infinite where p2 = 0 and |g| > p1
  double lasso = 0;   ///< p1 |w|
  double ridge = 0;   ///< p2 w^2
  double free = 0;    ///< of features without a penalty: what each alone could still gain
  double nonzeros = 0;

  SHEAF_HOST_DEVICE void add(double g, double w, double p1, double p2, double curvature) {
    const double magnitude = std::abs(g);
    if (w != 0) nonzeros += 1;
    if (p1 <= 0 && p2 <= 0) {
      if (curvature > 0) free += g * g / (2 * curvature);
      return;
    }
    lasso += p1 * std::abs(w);
    ridge += p2 * w * w;
    const double over = magnitude - p1;
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
};

/// What rows say about it, each divided by the sum of the weights.
struct RowSums {
  double loss = 0;      ///< of the model
  double squares = 0;   ///< squared loss: s r^2
  double products = 0;  ///< squared loss: s r y
  double entropy = 0;   ///< logistic loss: of the residuals as they are
};

/// The factor by which residuals shrink to become a dual point.
SHEAF_HOST_DEVICE inline double feasible_scale(double ratio) { return ratio > 1 ? 1 / ratio : 1; }

SHEAF_HOST_DEVICE inline double primal_of(const FeatureSums& features, const RowSums& rows) {
  return rows.loss + features.lasso + features.ridge / 2;
}

/// Features without a penalty make dual points impossible until their gradients are 0: until then what each of them
/// could still gain counts as well.
SHEAF_HOST_DEVICE inline double rest_of(double gap, double free) { return (gap > 0 ? gap : 0) + free; }

SHEAF_HOST_DEVICE inline double squared_gap(const FeatureSums& features, const RowSums& rows) {
  const double kept = rows.products - rows.squares / 2 - features.excess;
  const double norm = rows.squares + features.ridge;
  double scale = 0;
  if (features.ratio < HUGE_VAL) {
    const double most = features.ratio > 0 ? 1 / features.ratio : HUGE_VAL;
    scale = norm > 0 ? rows.products / norm : 0;
    scale = scale > most ? most : (scale < -most ? -most : scale);
  }
  const double shrunk = scale * rows.products - scale * scale / 2 * norm;
  return rest_of(primal_of(features, rows) - (kept > shrunk ? kept : shrunk), features.free);
}

/// `entropy`: that of the residuals times feasible_scale(ratio).
SHEAF_HOST_DEVICE inline double logistic_gap(const FeatureSums& features, const RowSums& rows, double entropy) {
  const double scale = features.ratio < HUGE_VAL ? feasible_scale(features.ratio) : 0;
  const double kept = rows.entropy - features.excess;
  const double shrunk = entropy - scale * scale / 2 * features.ridge;
  return rest_of(primal_of(features, rows) - (kept > shrunk ? kept : shrunk), features.free);
}

/// -a log a - (1 - a) log(1 - a).
SHEAF_HOST_DEVICE inline double entropy_of(double a) {
  double sum = 0;
  if (a > 0) sum -= a * std::log(a);
  if (a < 1) sum -= (1 - a) * std::log1p(-a);
  return sum;
}

/// Ratios |g - p2 w| / p1 on a logarithmic scale, for the choice of working sets: 16 an octave, from 1/16 to 4096. By
/// the bits of a float, whose order is that of the numbers.
inline constexpr int ratio_buckets = 256;
SHEAF_HOST_DEVICE inline int bucket_of(float ratio) {
  if (!(ratio > 0.0625F)) return 0;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &ratio, sizeof bits);
  const int at = static_cast<int>(bits >> 19) - (123 << 4);
  return at < ratio_buckets ? at : ratio_buckets - 1;
}

/// A number for each step of each lane: the same on every device.
SHEAF_HOST_DEVICE inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace sheaf::linear
