// Losses of linear models as functions of the decision value z = x'w and the target y: value, first and second
// derivative in z. Written once for both backends and all solvers. Squared hinge and the squared tube have no factor
// 1/2 (as in LIBLINEAR); where the second derivative jumps, the generalised one of the active side is taken.
//
// A loss is a functor and its name in AllLosses. A loss for elastic nets also has
//   largest_curvature       an upper bound of the second derivative; may be infinite
//   quadratic               whether the second derivative is 1 everywhere
//   dual_value(u, y)        min over z of loss(z, y) + u z: minus the convex conjugate at -u
//   least(y)                min over z of loss(z, y): that of a perfect fit
// where dual_value() and terms() may have a second parameter behind the first (LossParameters), and where the second
// derivative is far from what the loss does beyond a small step
//   step_curvature(z, y, ...)   what quadratic models have in its place, above 0
// and one for generalised linear models what glm_losses.hpp says; those losses are there.
#pragma once

#include <cmath>
#include <string_view>
#include <tuple>

#include <sheaf/solvers/linear.hpp>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/glm_losses.hpp"
#include "linear/loss_terms.hpp"

namespace sheaf::linear {

/// log(1 + exp(-y z)), y = +-1.
struct Logistic {
  static constexpr Loss loss = Loss::logistic;
  static constexpr std::string_view name = "logistic";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 0.25;
  static constexpr TargetRange targets = TargetRange::classes;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T margin = y * z;
    const T e = exp_nonpositive(-std::abs(margin));  // never overflows
    const T share = 1 / (1 + e);
    const T p = (margin > 0 ? e : T(1)) * share;  // 1 / (1 + exp(margin))
    const T value = log1p_unit(e) + (margin > 0 ? T(0) : -margin);
    return {value, -y * p, e * share * share};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z;
  }
  static double link(double mean, double /*unused*/) { return std::log(mean / (1 - mean)); }
  /// The entropy of |u|.
  SHEAF_HOST_DEVICE static double dual_value(double u, double /*y*/) {
    const double a = std::abs(u);
    double sum = 0;
    if (a > 0) sum -= a * std::log(a);
    if (a < 1) sum -= (1 - a) * std::log1p(-a);
    return sum;
  }
  static double least(double /*y*/) { return 0; }
};

/// max(0, 1 - y z)^2, y = +-1.
struct SquaredHinge {
  static constexpr Loss loss = Loss::squared_hinge;
  static constexpr std::string_view name = "squared-hinge";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 2;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T slack = 1 - y * z;
    if (slack <= 0) return {0, 0, 0};
    return {slack * slack, -2 * y * slack, 2};
  }
  /// Residuals, scaled or not, have the sign of y.
  SHEAF_HOST_DEVICE static double dual_value(double u, double /*y*/) {
    const double a = std::abs(u);
    return a - a * a / 4;
  }
  static double least(double /*y*/) { return 0; }
};

/// max(0, 1 - y z), y = +-1. Its slope jumps, so that only the dual is trained with it.
struct Hinge {
  static constexpr Loss loss = Loss::hinge;
  static constexpr std::string_view name = "hinge";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = false;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T slack = 1 - y * z;
    if (slack <= 0) return {0, 0, 0};
    return {slack, -y, 0};
  }
};

/// max(0, |y - z| - epsilon). As the hinge, for the dual alone.
struct Tube {
  static constexpr Loss loss = Loss::tube;
  static constexpr std::string_view name = "tube";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T epsilon) {
    const T error = z - y;
    const T excess = std::abs(error) - epsilon;
    if (excess <= 0) return {0, 0, 0};
    return {excess, error > 0 ? T(1) : T(-1), 0};
  }
};

/// max(0, |y - z| - epsilon)^2.
struct SquaredTube {
  static constexpr Loss loss = Loss::squared_tube;
  static constexpr std::string_view name = "squared-tube";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;

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
  static constexpr Loss loss = Loss::squared;
  static constexpr std::string_view name = "squared";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = true;
  static constexpr double largest_curvature = 1;
  static constexpr TargetRange targets = TargetRange::any;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*epsilon*/) {
    const T error = z - y;
    return {error * error / 2, error, 1};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return z;
  }
  static double link(double mean, double /*unused*/) { return mean; }
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) { return u * (y - u / 2); }
  static double least(double /*y*/) { return 0; }
};

/// r^2 / 2 of r = y - z where |r| is at most the threshold t, t |r| - t^2 / 2 beyond (Huber 1964).
struct Huber {
  static constexpr Loss loss = Loss::huber;
  static constexpr std::string_view name = "huber";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 1;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T threshold) {
    const T error = z - y;
    const T size = std::abs(error);
    if (size <= threshold) return {error * error / 2, error, 1};
    return {threshold * (size - threshold / 2), error > 0 ? threshold : -threshold, 0};
  }
  /// Residuals, scaled or not, are at most the threshold.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y, double /*threshold*/) { return u * (y - u / 2); }
  static double least(double /*y*/) { return 0; }
};

/// The check loss of a quantile q: q r of r = y - z where r > 0, (q - 1) r elsewhere (Koenker and Bassett 1978), that
/// is |r| / 2 + (q - 1/2) r. Nets are trained with a smooth one that has r^2 / (2 width) + width / 2 in place of |r|
/// where |r| is at most the width, less width / 2 everywhere: it is at most width / 4 below the other (Yi and Huang
/// 2017).
struct Quantile {
  static constexpr Loss loss = Loss::quantile;
  static constexpr std::string_view name = "quantile";
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;  // 1 / (2 width)
  /// What the smooth loss may be below the other, as a share of its width.
  static constexpr double least_below = 0.25;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T quantile) {
    const T r = y - z;
    const T slope = r > 0 ? quantile : quantile - 1;
    return {slope * r, -slope, 0};
  }
  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T quantile, T width) {
    const T r = y - z;
    const T size = std::abs(r);
    const T tilt = quantile - T(0.5);
    if (size <= width) return {r * r / (4 * width) + tilt * r, -(r / (2 * width) + tilt), 1 / (2 * width)};
    return {(size - width / 2) / 2 + tilt * r, -((r > 0 ? T(0.5) : T(-0.5)) + tilt), 0};
  }
  /// With 1 / (2 |r|) beyond the width a quadratic model is nowhere below the loss (Hunter and Lange 2000), but its
  /// steps are short; with the 0 of the second derivative they lead anywhere. A tenth of the former took a third of the
  /// steps.
  template <class T>
  SHEAF_HOST_DEVICE static T step_curvature(T z, T y, T /*quantile*/, T width) {
    constexpr T share = T(0.1);
    const T size = std::abs(y - z);
    return size <= width ? 1 / (2 * width) : share / (2 * size);
  }
  /// Residuals, scaled or not, are between q - 1 and q.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y, double quantile, double width) {
    const double centred = u - (quantile - 0.5);
    return u * y - width * centred * centred;
  }
  static double least(double /*y*/) { return 0; }
};

/// One class of several, y = 1 in its rows and 0 in others: the loss of all classes, log sum over k of exp(z_k) - sum
/// of y_k z_k, as a function of the log odds z of this class against all others, which stay as they are. Second
/// derivatives are at most 1/4 in one class and 1/2 in all together (Boehning 1992).
struct Softmax {
  static constexpr Loss loss = Loss::softmax;
  static constexpr std::string_view name = "softmax";
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 0.5;

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T e = exp_nonpositive(-std::abs(z));
    const T share = 1 / (1 + e);
    const T p = (z > 0 ? T(1) : e) * share;
    return {log1p_unit(e) + (z > 0 ? z : T(0)) - y * z, p - y, e * share * share};
  }
  /// What this class adds to the minimum over all decision values: the entropy of the shares y - u.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) {
    const double share = y - u;
    return share > 0 ? -share * std::log(share) : 0;
  }
  static double least(double y) { return y > 0 ? -y * std::log(y) : 0; }
};

/// Cox's partial likelihood, which is no sum of functions of single rows (core/partial_likelihood.hpp): it is not among
/// AllLosses, and what elastic nets do with losses asks for is_cox first.
struct Cox {
  static constexpr Loss loss = Loss::cox;
  static constexpr std::string_view name = "cox";
  static constexpr bool regression = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;
};

using AllLosses =
    std::tuple<Logistic, SquaredHinge, SquaredTube, Squared, Probit, Cloglog, Poisson, GammaLog, GammaInverse,
               InverseGaussian, Tweedie, NegativeBinomial, Hinge, Tube, Softmax, Huber, Quantile>;

/// Losses that elastic nets are trained for.
template <class Functor>
inline constexpr bool has_dual = requires {
  Functor::least(0.0);
};

/// What a loss of elastic nets knows beside z and y.
struct LossParameters {
  double first = 0;  ///< huber: threshold; quantile: which
  double width = 0;  ///< quantile: of the smooth loss
};

/// Of losses with one parameter or two, as all that follow.
template <class Functor, class T>
SHEAF_HOST_DEVICE LossTerms<T> terms_of(T z, T y, const LossParameters& parameters) {
  if constexpr (requires { Functor::terms(z, y, z, z); })
    return Functor::terms(z, y, T(parameters.first), T(parameters.width));
  else
    return Functor::terms(z, y, T(parameters.first));
}
template <class Functor>
SHEAF_HOST_DEVICE double dual_value_of(double u, double y, const LossParameters& parameters) {
  if constexpr (requires { Functor::dual_value(u, y, u, u); })
    return Functor::dual_value(u, y, parameters.first, parameters.width);
  else if constexpr (requires { Functor::dual_value(u, y, u); })
    return Functor::dual_value(u, y, parameters.first);
  else
    return Functor::dual_value(u, y);
}

/// Losses that are made smooth by a width.
template <class Functor>
inline constexpr bool has_width = requires {
  Functor::step_curvature(0.0, 0.0, 0.5, 1.0);
};

/// Losses of all classes together: models have a decision value for each.
template <class Functor>
inline constexpr bool is_softmax = Functor::loss == Loss::softmax;

template <class Functor>
inline constexpr bool is_cox = Functor::loss == Loss::cox;

/// Losses of generalised linear models.
template <class Functor>
inline constexpr bool has_link = requires {
  Functor::link(0.5, 0.0);
};

/// Calls f(functor) for the loss chosen at run time.
template <class F>
void with_loss(Loss loss, F&& f) {
  std::apply([&](auto... functor) { (void)(((functor.loss == loss) && (f(functor), true)) || ...); }, AllLosses{});
}

/// The same among the losses that elastic nets are trained for. False: the loss is none of them.
template <class F>
bool with_net_loss(Loss loss, F&& f) {
  bool found = loss == Loss::cox;
  if (found) f(Cox{});
  with_loss(loss, [&](auto functor) {
    if constexpr (has_dual<decltype(functor)>) {
      f(functor);
      found = true;
    }
  });
  return found;
}

/// A loss of several decision values, whose models have one penalty for the weights of a feature in all of them.
template <class Functor>
struct Grouped : Functor {
  static constexpr bool grouped = true;
};
template <class Functor>
inline constexpr bool is_grouped = requires {
  Functor::grouped;
};

/// As with_net_loss(), with grouped penalties for one of the losses that have them: softmax, and squares of several
/// targets.
template <class F>
void with_net_fit(Loss loss, bool grouped, F&& f) {
  if (!grouped)
    with_net_loss(loss, f);
  else if (loss == Loss::softmax)
    f(Grouped<Softmax>{});
  else
    f(Grouped<Squared>{});
}

/// The same among the losses of generalised linear models.
template <class F>
void with_glm_loss(Loss loss, F&& f) {
  with_loss(loss, [&](auto functor) {
    if constexpr (has_link<decltype(functor)>) f(functor);
  });
}

/// Of a loss that elastic nets are trained for.
inline double largest_curvature(Loss loss) {
  double result = 0;
  with_net_loss(loss, [&](auto functor) { result = functor.largest_curvature; });
  return result;
}

inline bool is_regression(Loss loss) {
  bool result = loss == Loss::cox;
  with_loss(loss, [&](auto functor) { result = functor.regression; });
  return result;
}

}  // namespace sheaf::linear
