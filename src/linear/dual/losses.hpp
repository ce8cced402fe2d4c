// The update of one row's dual variable, for each loss. Written once for both devices; V is a number, or a vector of
// numbers of several models side by side.
//
// With z = x'w the decision value of the row, q = x'x, y its target and c its cost, the dual of
// min over w of w'w / 2 + sum of c loss(z, y) is min over b of w'w / 2 + sum of conjugate(b), with w = sum of b x and
//   hinge          -y b,                                          y b from 0 to c
//   squared hinge  -y b + b^2 / (4 c),                            y b from 0 on
//   tube           -y b + epsilon |b|,                            |b| up to c
//   squared tube   -y b + epsilon |b| + b^2 / (4 c)
//   logistic       a log a + (c - a) log(c - a) - c log c, a = y b, a between 0 and c
// The duality gap is a sum over rows: gap() is c loss(z, y) + conjugate(b) + b z, which is never negative.
//
// Hsieh, Chang, Lin, Keerthi, Sundararajan 2008 (hinges: alg. 3 with its shrinking), Ho, Lin 2012 (tubes: alg. 4), Yu,
// Huang, Lin 2011 (logistic: alg. 5 and its Newton steps).
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "linear/losses/losses.hpp"

namespace sheaf::linear::dual {

// Choices that work for numbers and for vectors.
template <class V>
using MaskOf = decltype(std::declval<V>() < std::declval<V>());

template <class M, class V>
SHEAF_HOST_DEVICE inline V choose(M mask, V yes, V no) {
  return mask ? yes : no;
}
SHEAF_HOST_DEVICE inline bool both(bool a, bool b) { return a && b; }
SHEAF_HOST_DEVICE inline bool either(bool a, bool b) { return a || b; }
template <class M>
SHEAF_HOST_DEVICE inline M both(M a, M b) {
  return a & b;
}
template <class M>
SHEAF_HOST_DEVICE inline M either(M a, M b) {
  return a | b;
}
template <class V>
SHEAF_HOST_DEVICE inline V larger(V a, V b) {
  return choose(a > b, a, b);
}
template <class V>
SHEAF_HOST_DEVICE inline V smaller(V a, V b) {
  return choose(a < b, a, b);
}
template <class V>
SHEAF_HOST_DEVICE inline V magnitude(V a) {
  return choose(a < V{}, -a, a);
}

/// Differences of dual variables below this are left alone, as in LIBLINEAR.
constexpr double smallest_step = 1e-12;

/// One row of one model, or of several.
template <class V>
struct DualRow {
  V z;        // the decision value
  V b;        // what is kept of the dual variable: b itself, but see LogisticDual
  V cost;     // of the row; classes: times y
  V y;        // regression: the target
  V epsilon;  // of the tubes
  // Hinges: gradients of variables at their bounds beyond which they are left out for some passes. Tubes: `upper` is
  // that bound on both sides. Logistic: `upper` is the tolerance of its Newton steps.
  V upper, lower;
};

template <class V>
struct DualVisit {
  V b;                  // the new variable
  V step;               // w becomes w + step * x
  V violation;          // of the condition of optimality, before the visit; hinges: with its sign
  V amount;             // tubes: |violation|; logistic: Newton steps taken; hinges: 0
  MaskOf<V> leave_out;  // at its bound, and by far on the right side: not visited for some passes
};

template <bool Squared>
struct HingeDual {
  using Primal = std::conditional_t<Squared, SquaredHinge, Hinge>;
  static constexpr bool in_vectors = true;

  template <class T, class V>
  SHEAF_HOST_DEVICE static DualVisit<V> visit(const DualRow<V>& row, T q) {
    const V zero{};
    const V one = zero + T(1);
    const V y = choose(row.cost < zero, -one, one);
    const V cost = y * row.cost;
    const V alpha = y * row.b;
    const V ridge = Squared ? V(one / (cost + cost)) : zero;
    const V g = y * row.z - one + ridge * alpha;
    const auto at_zero = alpha <= zero;
    auto leave_out = both(at_zero, g > row.upper);
    V projected = choose(at_zero, smaller(g, zero), g);
    V next = larger(V(alpha - g / (ridge + q)), zero);
    if constexpr (!Squared) {
      const auto at_cost = alpha >= cost;
      leave_out = either(leave_out, both(at_cost, g < row.lower));
      projected = choose(at_cost, larger(g, zero), projected);
      next = smaller(next, cost);
    }
    next = choose(magnitude(projected) > zero + T(smallest_step), next, alpha);
    return {y * next, y * (next - alpha), projected, zero, leave_out};
  }

  template <class T, class V>
  SHEAF_HOST_DEVICE static V gap(const DualRow<V>& row) {
    const V zero{};
    const V one = zero + T(1);
    const V y = choose(row.cost < zero, -one, one);
    const V cost = y * row.cost;
    const V alpha = y * row.b;
    const V slack = one - y * row.z;
    const V positive = larger(slack, zero);
    if constexpr (!Squared) return cost * positive - alpha * slack;
    return cost * positive * positive + alpha * alpha / (T(4) * cost) - alpha * slack;
  }
};

template <bool Squared>
struct TubeDual {
  using Primal = std::conditional_t<Squared, SquaredTube, Tube>;
  static constexpr bool in_vectors = true;

  template <class T, class V>
  SHEAF_HOST_DEVICE static DualVisit<V> visit(const DualRow<V>& row, T q) {
    const V zero{};
    const V b = row.b;
    const V ridge = Squared ? V((zero + T(1)) / (row.cost + row.cost)) : zero;
    const V g = row.z - row.y + ridge * b;
    const V h = ridge + q;
    const V up = g + row.epsilon;    // the gradient to the right of b
    const V down = g - row.epsilon;  // and to the left, where b = 0
    const auto at_zero = both(b <= zero, b >= zero);
    V violation = choose(b > zero, magnitude(up), magnitude(down));
    violation = choose(at_zero, larger(larger(V(-up), down), zero), violation);
    auto leave_out = both(at_zero, both(up > row.upper, down < -row.upper));
    V step = choose(up < h * b, V(-up / h), choose(down > h * b, V(-down / h), V(-b)));
    V next = b + step;
    if constexpr (!Squared) {
      const auto at_cost = b >= row.cost;
      const auto at_minus = b <= -row.cost;
      violation = choose(at_cost, larger(up, zero), choose(at_minus, larger(V(-down), zero), violation));
      leave_out = either(leave_out, either(both(at_cost, up < -row.upper), both(at_minus, down > row.upper)));
      next = larger(smaller(next, row.cost), V(-row.cost));
    }
    next = choose(both(magnitude(step) > zero + T(smallest_step), violation > zero), next, b);
    return {next, next - b, violation, violation, leave_out};
  }

  template <class T, class V>
  SHEAF_HOST_DEVICE static V gap(const DualRow<V>& row) {
    const V zero{};
    const V excess = larger(V(magnitude(V(row.z - row.y)) - row.epsilon), zero);
    const V linear = row.epsilon * magnitude(row.b) - (row.y - row.z) * row.b;
    if constexpr (!Squared) return row.cost * excess + linear;
    return row.cost * excess * excess + linear + row.b * row.b / (T(4) * row.cost);
  }
};

/// a and c - a may both be far smaller than c: of the two the smaller one is kept, c - a with a minus. 0: the row was
/// not visited yet, and a is 0.
struct LogisticDual {
  using Primal = Logistic;
  static constexpr bool in_vectors = false;
  static constexpr int most_newton_steps = 100;

  template <class T>
  SHEAF_HOST_DEVICE static T first_of(T kept, T cost) {
    return kept < 0 ? cost + kept : kept;
  }
  template <class T>
  SHEAF_HOST_DEVICE static T second_of(T kept, T cost) {
    return kept < 0 ? -kept : cost - kept;
  }

  /// min over a of q / 2 (a - a_old)^2 + y z a + a log a + (c - a) log(c - a), in whichever of a and c - a is the
  /// smaller one at the optimum.
  template <class T>
  SHEAF_HOST_DEVICE static DualVisit<T> visit(const DualRow<T>& row, T q) {
    const T y = row.cost < 0 ? T(-1) : T(1);
    const T cost = y * row.cost;
    const T first = first_of(row.b, cost);
    const T second = second_of(row.b, cost);
    const bool in_first = q * (second - first) / 2 + y * row.z >= 0;
    const T side = in_first ? T(1) : T(-1);
    const T old = in_first ? first : second;
    T a = cost - old < cost / 2 ? old / 10 : old;
    if (!(a > 0)) a = std::fmin(cost / 1000, T(1e-8));
    const auto slope = [&] { return q * (a - old) + side * y * row.z + std::log(a / (cost - a)); };
    T g = slope();
    const T violation = std::abs(g);
    int steps = 0;
    for (; steps < most_newton_steps && std::abs(g) >= row.upper; ++steps) {
      const T next = a - g / (q + cost / (cost - a) / a);
      a = next > 0 ? std::fmin(next, cost - cost * T(1e-7)) : a / 10;
      g = slope();
    }
    if (steps == 0 && row.b != 0) return {row.b, T(0), violation, T(0), false};
    const T kept = a <= cost / 2 ? a : a - cost;
    return {in_first ? kept : -kept, side * y * (a - old), violation, static_cast<T>(steps), false};
  }

  template <class T, class V>
  SHEAF_HOST_DEVICE static T gap(const DualRow<V>& row) {
    const T y = row.cost < 0 ? T(-1) : T(1);
    const T cost = y * row.cost;
    const T first = first_of(row.b, cost);
    const T second = second_of(row.b, cost);
    const auto entropy = [&](T part) { return part > 0 ? part * std::log(part / cost) : T(0); };
    return cost * Logistic::terms(row.z, y, T(0)).value + entropy(first) + entropy(second) + first * y * row.z;
  }
};

using AllDuals = LossList<HingeDual<false>, HingeDual<true>, TubeDual<false>, TubeDual<true>, LogisticDual>;

/// Calls f(functor) for the dual of the loss. False: the loss has none here.
template <class F>
bool with_dual(Loss loss, F&& f) {
  bool found = false;
  for_each(AllDuals{}, [&](auto functor) {
    if (decltype(functor)::Primal::loss != loss) return;
    f(functor);
    found = true;
  });
  return found;
}

}  // namespace sheaf::linear::dual
