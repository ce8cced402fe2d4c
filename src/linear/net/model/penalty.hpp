// The penalty of elastic nets, p1 |w| + p2 / 2 w^2 a feature: its best step, its value, and its part of the duality
// gap. If penalties are grouped, w is the row of a feature's weights in all classes, or of all targets, and |w| its
// length.
#pragma once

#include <cmath>
#include <cstdint>

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
  /// The derivative if w is not 0.
  SHEAF_HOST_DEVICE double slope(double w) const { return double(w > 0 ? p1 : -p1) + double(p2) * w; }
  SHEAF_HOST_DEVICE bool none() const { return p1 <= 0 && p2 <= 0; }
};

/// Allowed range of a weight: from `low`, 0 or less, to `high`, 0 or more; both may be infinite.
template <class T>
struct WeightLimits {
  T low;
  T high;

  SHEAF_HOST_DEVICE T nearest(T w) const { return w < low ? low : w > high ? high : w; }
  /// How far from 0 a weight may go where this number pulls it.
  SHEAF_HOST_DEVICE double side(double pull) const { return double(pull > 0 ? high : -low); }
  /// Whether the weight is at the limit towards which it is pulled, or near.
  SHEAF_HOST_DEVICE bool hold(double pull, double w) const {
    constexpr double near = 0.01;  // of the way from 0: the rest of it costs little
    const double most = side(pull);
    return most < HUGE_VAL && most - (pull > 0 ? w : -w) <= near * most;
  }
  /// The most of pull w - p1 |w| - p2 / 2 w^2 for a weight within the limits.
  SHEAF_HOST_DEVICE double conjugate(double pull, double p1, double p2) const {
    const double over = std::abs(pull) - p1;
    const double most = side(pull);
    if (!(over > 0) || !(most > 0)) return 0;
    if (over < p2 * most) return over * over / (2 * p2);
    return most < HUGE_VAL ? most * (over - p2 / 2 * most) : HUGE_VAL;
  }
};

/// The penalty of the row of a feature's weights. `side(k)` is how far from 0 the weight of class k may go where it is
/// pulled.
struct GroupPenalty {
  double p1 = 0;
  double p2 = 0;

  /// The length of the best row, whose loss is the sum over k of curvature(k) / 2 w^2 - pull(k) w. Its weights are
  /// pull(k) / (curvature(k) + p2 + p1 / length), or their limits if these are nearer, and the length is where these
  /// have it. Up to the length at which the next weight reaches its limit it is the root of a concave function (a power
  /// mean of numbers that are linear in the length), which Newton's method approaches from below. Without an L1 part
  /// any length serves. Infinite: any length is too short.
  template <class Pull, class Curvature, class Side>
  SHEAF_HOST_DEVICE double best_length(std::int32_t count, const Pull& pull, const Curvature& curvature,
                                       const Side& side) const {
    constexpr double precision = 1e-15;
    if (p1 <= 0) return 1;
    double length = 0;
    for (std::int32_t turn = 0; turn < 50 + count && length < HUGE_VAL; ++turn) {
      double squares = 0;
      double falls = 0;
      double next = HUGE_VAL;  // the length at which a further weight is at its limit
      for (std::int32_t k = 0; k < count; ++k) {
        const double most = side(k);
        if (!(most > 0)) continue;
        const double divisor = curvature(k) + p2;
        const double over = std::abs(pull(k)) / most - divisor;
        const double limited_from = over > 0 ? p1 / over : HUGE_VAL;
        const bool limited = length >= limited_from;
        const double share = limited ? most / length : pull(k) / (divisor * length + p1);
        squares += share * share;
        falls += share * share * (limited ? 1 / length : divisor / (divisor * length + p1));
        if (!limited && limited_from < next) next = limited_from;
      }
      if (!(squares > 1 + precision)) break;
      const double newton = falls > 0 ? length + (squares * std::sqrt(squares) - squares) / falls : HUGE_VAL;
      length = newton < next ? newton : next;
    }
    return length;
  }
  /// Before limits.
  SHEAF_HOST_DEVICE double weight(double pull, double curvature, double length) const {
    const double divisor = curvature + p2;
    return p1 > 0 ? pull * length / (divisor * length + p1) : pull / divisor;
  }
  SHEAF_HOST_DEVICE double value(double squares) const { return p1 * std::sqrt(squares) + p2 / 2 * squares; }
  /// The most of pull'w - value(squares of w) for weights within their limits, if p1 is above 0.
  template <class Pull, class Side>
  SHEAF_HOST_DEVICE double conjugate(std::int32_t count, const Pull& pull, const Side& side) const {
    const double length = best_length(
        count, pull, [](std::int32_t) { return 0.0; }, side);
    if (!(length < HUGE_VAL)) return HUGE_VAL;
    double product = 0;
    double squares = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      const double size = std::abs(pull(k));
      const double free = weight(size, 0, length);
      const double w = free < side(k) ? free : side(k);
      product += size * w;
      squares += w * w;
    }
    return product - value(squares);
  }
};

/// The squares of the lengths of a row of weights, of gradients, and of what the L2 part leaves of these.
struct GroupSquares {
  double g = 0;
  double w = 0;
  double pull = 0;

  SHEAF_HOST_DEVICE void add(double g_k, double w_k, double p2) {
    const double rest = g_k - p2 * w_k;
    g += g_k * g_k;
    w += w_k * w_k;
    pull += rest * rest;
  }
};

/// Sums over the features for the gap; the ratio is a maximum. g is minus the derivative of the loss. With limits,
/// ratio and excess are defined differently: see add().
struct FeatureSums {
  double ratio = 0;    ///< the largest |g - p2 w| / p1
  double excess = 0;   ///< max(0, |g| - p1)^2 / (2 p2); infinite if p2 = 0 and |g| > p1
  double lasso = 0;    ///< p1 |w|
  double ridge = 0;    ///< p2 w^2
  double limited = 0;  ///< of features that a limit c holds back: the most of |g - p2 w| v - p1 |v| for v from 0 to c
  double free = 0;     ///< of features without a penalty: the possible gain of each alone
  double nonzeros = 0;

  template <class T>
  SHEAF_HOST_DEVICE void add(double g, double w, const ElasticNetPenalty<T>& penalty, double curvature) {
    add_lengths(std::abs(g), std::abs(w), std::abs(g - double(penalty.p2) * w), penalty, curvature);
  }
  template <class T>
  SHEAF_HOST_DEVICE void add(const GroupSquares& squares, const ElasticNetPenalty<T>& penalty, double curvature) {
    add_lengths(std::sqrt(squares.g), std::sqrt(squares.w), std::sqrt(squares.pull), penalty, curvature);
  }
  /// With limits, the excess is the conjugate of the penalty within them. A feature at the limit towards which it is
  /// pulled adds to the limited, and no longer to the ratio: either makes a dual point, but only the first makes an
  /// exact one if the pull stays, and only the second if a limit is far away.
  template <class T, class Limit>
  SHEAF_HOST_DEVICE void add(double g, double w, const ElasticNetPenalty<T>& penalty, double curvature,
                             const WeightLimits<Limit>& limits) {
    add_limited(g, w, penalty, curvature, limits);
    add_penalty(std::abs(w), penalty.p1, penalty.p2);
  }
  /// The same for a row of weights. Its ratio counts only weights that no limit holds back; these v may have any length
  /// if the others pay for themselves.
  template <class T, class Gradient, class Weight, class Limit>
  SHEAF_HOST_DEVICE void add_row(std::int32_t count, const Gradient& g, const Weight& w,
                                 const ElasticNetPenalty<T>& penalty, double curvature,
                                 const WeightLimits<Limit>& limits) {
    const GroupPenalty own{double(penalty.p1), double(penalty.p2)};
    const auto pull = [&](std::int32_t k) { return g(k) - own.p2 * w(k); };
    const auto held = [&](std::int32_t k) { return limits.hold(pull(k), w(k)); };
    double squares = 0;
    double loose = 0;  // squares of the pulls that no limit holds back
    double most = 0;   // the most that the others pay
    for (std::int32_t k = 0; k < count; ++k) {
      squares += w(k) * w(k);
      if (own.p1 <= 0)
        add_limited(g(k), w(k), penalty, curvature, limits);
      else if (held(k))
        most += limits.side(pull(k)) * std::abs(pull(k));
      else
        loose += pull(k) * pull(k);
    }
    add_penalty(std::sqrt(squares), own.p1, own.p2);
    if (own.p1 <= 0) return;  // weights are penalised one by one
    const double needed = GroupPenalty{own.p1, 0}.conjugate(
        count, pull, [&](std::int32_t k) { return held(k) ? limits.side(pull(k)) : HUGE_VAL; });
    limited += needed < most ? needed : most;
    excess += own.conjugate(count, g, [&](std::int32_t k) { return limits.side(g(k)); });
    raise_ratio(std::sqrt(loose), own.p1);
  }
  /// The same from lengths: `pull` is the length of g - p2 w.
  template <class T>
  SHEAF_HOST_DEVICE void add_lengths(double g, double w, double pull, const ElasticNetPenalty<T>& penalty,
                                     double curvature) {
    const double p1 = penalty.p1;
    const double p2 = penalty.p2;
    add_penalty(w, p1, p2);
    if (penalty.none()) {
      if (curvature > 0) free += g * g / (2 * curvature);
      return;
    }
    const double over = g - p1;
    if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : HUGE_VAL;
    raise_ratio(pull, p1);
  }
  SHEAF_HOST_DEVICE void join(const FeatureSums& other) {
    if (other.ratio > ratio) ratio = other.ratio;
    excess += other.excess;
    lasso += other.lasso;
    ridge += other.ridge;
    limited += other.limited;
    free += other.free;
    nonzeros += other.nonzeros;
  }
  SHEAF_HOST_DEVICE double penalty() const { return lasso + ridge / 2; }

 private:
  /// All but the penalty.
  template <class T, class Limit>
  SHEAF_HOST_DEVICE void add_limited(double g, double w, const ElasticNetPenalty<T>& penalty, double curvature,
                                     const WeightLimits<Limit>& limits) {
    const double p1 = penalty.p1;
    const double p2 = penalty.p2;
    const double pull = g - p2 * w;
    const bool held = limits.hold(pull, w);
    if (held) limited += limits.side(pull) * positive(std::abs(pull) - p1);
    if (penalty.none() && !held) {
      const WeightLimits<double> steps{double(limits.low) - w, double(limits.high) - w};
      const double step = curvature > 0 ? steps.nearest(g / curvature) : 0;
      free += step * (g - curvature / 2 * step);
    } else {
      excess += limits.conjugate(g, p1, p2);
      if (!held) raise_ratio(std::abs(pull), p1);
    }
  }
  SHEAF_HOST_DEVICE static double positive(double number) { return number > 0 ? number : 0; }
  SHEAF_HOST_DEVICE void add_penalty(double w, double p1, double p2) {
    if (w != 0) nonzeros += 1;
    lasso += p1 * w;
    ridge += p2 * w * w;
  }
  SHEAF_HOST_DEVICE void raise_ratio(double pull, double p1) {
    if (p1 <= 0)
      ratio = pull > 0 ? HUGE_VAL : ratio;
    else if (pull > ratio * p1)  // a division only if the ratio rises
      ratio = pull / p1;
  }
};

}  // namespace sheaf::linear
