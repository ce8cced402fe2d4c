// All losses of linear models, written once for both backends and all solvers (functor.hpp says what a loss consists
// of), and how one is chosen at run time.
#pragma once

#include <concepts>

#include "linear/losses/classes.hpp"
#include "linear/losses/joint.hpp"
#include "linear/losses/numbers.hpp"
#include "linear/losses/positive.hpp"
#include "linear/losses/robust.hpp"

namespace sheaf::linear {

using AllLosses = decltype(NumberLosses{} + ClassLosses{} + JointLosses{} + PositiveLosses{} + RobustLosses{});
using AllDistributions = decltype(NumberDistributions{} + ClassDistributions{} + JointDistributions{} +
                                  PositiveDistributions{});

/// Losses that elastic nets are trained for.
template <class Functor>
inline constexpr bool has_dual = requires {
  Functor::least(0.0);
};

/// Arguments of a loss of elastic nets beside z and y.
struct LossParameters {
  double first = 0;  ///< huber: threshold; quantile: which
  double width = 0;  ///< quantile: of the smooth loss
};

/// For losses with one parameter or two, as all that follow.
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

/// Losses whose curvature is the expected one.
template <class Functor>
inline constexpr bool is_scored = requires {
  Functor::second(0.5, 0.5, 0.5);
};

/// Losses that are sums over rows of a function of one decision value.
template <class Functor>
inline constexpr bool has_terms = requires {
  Functor::terms(0.0, 0.0, 0.5);
};

/// Losses whose slopes are at most the parameter.
template <class Functor>
inline constexpr bool has_slope_limit = requires {
  Functor::slopes_up_to_parameter;
};

template <class Functor>
inline constexpr bool has_offsets = requires {
  Functor::takes_offsets;
};

/// Losses whose decision values are log odds.
template <class Functor>
inline constexpr bool has_probabilities = requires {
  Functor::probabilities;
};

/// Calls f(functor) for the loss chosen at run time, which is one of those with terms().
template <class F>
void with_loss(Loss loss, F&& f) {
  for_each(AllLosses{}, [&](auto functor) {
    if constexpr (has_terms<decltype(functor)>)
      if (functor.loss == loss) f(functor);
  });
}

/// The same among the losses that elastic nets are trained for. False: the loss is none of them.
template <class F>
bool with_net_loss(Loss loss, F&& f) {
  bool found = false;
  for_each(AllLosses{}, [&](auto functor) {
    if constexpr (std::derived_from<decltype(functor), NetLoss>)
      if (functor.loss == loss) {
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

/// Like with_net_loss(), for the losses that have grouped penalties.
template <class F>
void with_net_fit(Loss loss, bool grouped, F&& f) {
  if (!grouped) {
    with_net_loss(loss, f);
    return;
  }
  for_each(AllLosses{}, [&](auto functor) {
    if constexpr (std::derived_from<decltype(functor), GroupedNetLoss>)
      if (functor.loss == loss) f(Grouped<decltype(functor)>{});
  });
}

/// The same among the losses of generalised linear models.
template <class F>
void with_glm_loss(Loss loss, F&& f) {
  with_loss(loss, [&](auto functor) {
    if constexpr (has_link<decltype(functor)>) f(functor);
  });
}

/// The functions of a loss that elastic nets are trained for.
inline double largest_curvature(Loss loss) {
  double result = 0;
  with_net_loss(loss, [&](auto functor) { result = functor.largest_curvature; });
  return result;
}

inline bool is_regression(Loss loss) {
  bool result = false;
  for_each(AllLosses{}, [&](auto functor) {
    if (functor.loss == loss) result = functor.regression;
  });
  return result;
}

/// Calls f(distribution) for the one chosen at run time.
template <class F>
void with_distribution(GlmFamily family, F&& f) {
  for_each(AllDistributions{}, [&](auto distribution) {
    if (distribution.row.family == family) f(distribution);
  });
}

}  // namespace sheaf::linear
