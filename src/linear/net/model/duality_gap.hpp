// The duality gap of an elastic net: no weights have an objective below the present one minus the gap.
//
// With the residuals u = minus the slopes of the losses, two dual points are at hand for free. The first takes the L2
// part as further examples (their residuals are -sqrt(p2) w) and scales all residuals by the factor k that makes
// |X'u - p2 w| <= p1 everywhere; it is exact at the optimum and all there is for a lasso. The second keeps the
// residuals and pays max(0, |X'u| - p1)^2 / (2 p2) a feature: all there is for a ridge. The better one counts.
//
// Weights with limits are those of the penalty p1 |w| + p2 / 2 w^2 that is infinite beyond them. A weight that may go
// from 0 to c where it is pulled costs the first dual point c max(0, k |X'u - p2 w| - p1) instead of forbidding k, and
// for k from 0 to 1 that is at most k c max(0, |X'u - p2 w| - p1): a sum that does not depend on k. The second pays the
// most that (|X'u| - p1) w - p2 / 2 w^2 is for w from 0 to c.
//
// Some weights of a row of weights with one penalty, r = X'u - p2 w, may be at limits. The first dual point pays the
// maximum of k r'v - p1 |v| over the v that are within these limits and free elsewhere, which for k from 0 to 1 is at
// most k times the maximum of r'v - p1 |v|. It is finite if the length of the free part of r is below p1, and otherwise
// k times the products of the limits with |r|, for no k is taken that leaves the free part of k r longer than p1.
#pragma once

#include "linear/losses/losses.hpp"
#include "linear/net/model/penalty.hpp"
#include "linear/net/model/task.hpp"

namespace sheaf::linear {

/// Sums over the rows for the gap: weighted means over the examples.
struct RowSums {
  double loss = 0;
  double dual = 0;  ///< the dual value of the residuals as they are
  // Softmax models, whose intercepts are never all at their best at once; 0 for others:
  double tilt = 0;  ///< intercepts times the sums of their classes' residuals
  double free = 0;  ///< how far intercepts are from their best, each by itself, times the same sums
};

/// The term of row i in the dual value of the weighted residuals u, for decision values without the row's offset.
template <class Functor, class T>
SHEAF_HOST_DEVICE double dual_term(const ModelTask<T>& task, std::int64_t i, double u) {
  const double s = task.weight(i);
  return s > 0 ? s * dual_value_of<Functor>(u / s, double(task.target(i)), task.loss) - u * double(task.offset(i))
               : 0.0;
}

/// The dual value of a Cox model's column u of weighted residuals, at its column z of decision values, times `scale`.
template <class Team, class T>
SHEAF_HOST_DEVICE double cox_dual_value(const Team& team, const ModelTask<T>& task, double* memory, const T* z,
                                        const T* u, std::int64_t stride, double scale) {
  PartialLikelihood<Team, T> likelihood(team, task.risk, memory);
  const auto with_offset = [&](std::int64_t i) { return double(z[i * stride]) + double(task.offset(i)); };
  const auto weight = [&](std::int64_t i) { return task.weight(i); };
  likelihood.load(with_offset, weight);
  double offsets = 0;
  if (task.offsets != nullptr)
    for (std::int64_t i = team.rank(); i < task.examples; i += team.size())
      offsets += double(u[i * stride]) * double(task.offset(i));
  return (likelihood.dual_value(scale, with_offset, weight) - scale * team.sum(offsets)) / task.total;
}

/// The factor by which residuals shrink to become a dual point.
SHEAF_HOST_DEVICE inline double feasible_scale(double ratio) { return ratio > 1 ? 1 / ratio : 1; }

/// The factor k of the first dual point: for the squared loss the best one that is feasible. `limits`: weights have
/// some.
template <class Functor>
SHEAF_HOST_DEVICE double dual_scale(const FeatureSums& features, const RowSums& rows, bool limits) {
  if constexpr (!Functor::quadratic) {
    return feasible_scale(features.ratio);
  } else {
    if (!(features.ratio < HUGE_VAL)) return 0;
    const double most = features.ratio > 0 ? 1 / features.ratio : HUGE_VAL;
    const double norm = 2 * rows.loss + features.ridge;
    const double best = norm > 0 ? (rows.dual + rows.loss - features.limited) / norm : 0;
    if (limits) return best > 0 ? (best < feasible_scale(features.ratio) ? best : feasible_scale(features.ratio)) : 0;
    return best > most ? most : (best < -most ? -most : best);
  }
}

/// The dual value of the residuals times `scale`, for the squared loss.
SHEAF_HOST_DEVICE inline double squared_dual(const RowSums& rows, double scale) {
  return scale * (rows.dual + rows.loss) - scale * scale * rows.loss;
}

/// `dual`: the dual value of the residuals times `scale`. Features without a penalty make dual points impossible until
/// their gradients are 0: until then what each of them could still gain counts as well. So do intercepts of softmax
/// models: residuals are dual points of changes of the intercepts, whose present values are offsets (the tilt).
SHEAF_HOST_DEVICE inline double duality_gap(const FeatureSums& features, const RowSums& rows, double scale,
                                            double dual) {
  const double kept = rows.dual - rows.tilt - features.excess;
  const double scaled = dual - scale * rows.tilt - scale * scale / 2 * features.ridge - scale * features.limited;
  const double gap = rows.loss + features.penalty() - (kept > scaled ? kept : scaled);
  return (gap > 0 ? gap : 0) + features.free + rows.free;
}

}  // namespace sheaf::linear
