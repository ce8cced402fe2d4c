// One model of an elastic net on its working set: a loss (datafit.hpp), a penalty (penalty.hpp) and coordinate descent
// (descent.hpp), by one team of threads.
#pragma once

#include "linear/net/model/datafit.hpp"

namespace sheaf::linear {

/// Training of a model on its working set.
struct SolveOrder {
  std::int32_t model = 0;  ///< its column of the blocks; the first of several classes
  double tolerance = 0;
  DescentRules rules;
};

/// Result of a model's training.
struct SolveReport {
  RowSums rows;
  std::int32_t epochs = 0;
  std::int32_t parallel = 1;
};

/// Detects that Newton steps no longer reduce the gap: the rest is rounding, or lies in directions in which the loss
/// has next to no second derivative. Single steps may raise it. (Plain passes may take thousands of rounds.)
class StallWatch {
 public:
  SHEAF_HOST_DEVICE bool stalled(double gap) {
    constexpr double falls = 0.9;
    constexpr int most_stalled = 100;
    stalled_ = gap > falls * lowest_ ? stalled_ + 1 : 0;
    lowest_ = gap < lowest_ ? gap : lowest_;
    return stalled_ >= most_stalled;
  }
  /// How well the next quadratic model is solved: better after steps that brought nothing.
  SHEAF_HOST_DEVICE double precise(double enough) const {
    constexpr int most_digits = 10;
    for (int digit = 0; digit < (stalled_ < most_digits ? stalled_ : most_digits); ++digit) enough /= 10;
    return enough;
  }

 private:
  double lowest_ = HUGE_VAL;
  int stalled_ = 0;
};

/// For the duality gap of the problem that has the features of the working set alone. Features without a weight that
/// are far from their bounds are marked, for the next Newton step to leave them out.
template <class Model>
SHEAF_HOST_DEVICE FeatureSums sum_features(Model& model) {
  using T = typename Model::Value;
  constexpr double far = 0.7;
  FeatureSums sums;
  model.in_turn(model.features.count, InOrder{},
                [&](const typename Model::Coordinate& at, const ColumnAhead<T>& ahead) {
                  const double g = model.gradient(model.team, at, ahead);
                  if (model.task.limits != nullptr)
                    sums.add(g, at.w, at.penalty, at.curvature, model.task.limits_of(model.features.list[at.k]));
                  else
                    sums.add(g, at.w, at.penalty, at.curvature);
                  const bool left_out = at.w == 0 && std::abs(g) < far * double(at.penalty.p1);
                  if (model.team.rank() == 0) model.features.start[at.k] = left_out ? T(1) : T(0);
                });
  model.epochs += 1;
  return sums;
}

/// x'w anew from the weights, for all rows, so that no rounding of the many steps stays.
template <class Model>
SHEAF_HOST_DEVICE void multiply_anew(const Model& model, typename Model::Value* fresh) {
  using T = typename Model::Value;
  model.over_rows([&](std::int64_t i) { fresh[i] = 0; });
  model.team.sync();
  model.in_turn(
      model.list_active(), [&](std::int32_t turn) { return model.features.active[turn]; },
      [&](const typename Model::Coordinate& at, const ColumnAhead<T>& ahead) {
        const T weight = at.w;
        model.x.each(model.team, at.place, ahead, [&](std::int32_t i, T value) { fresh[i] += weight * value; });
        model.team.sync();
      });
}

/// The next width of a smooth loss on the way to its own: at first as wide as the gap, then a fourth each time that the
/// gap is small enough, or no more than what the width makes of the loss. Residuals at the width that is its own are no
/// dual point of use before. False: it stays.
template <class Functor>
SHEAF_HOST_DEVICE bool change_width(double own, double gap, double tolerance, bool first, double& width) {
  const double before = width;
  if (gap <= tolerance || (!first && gap <= Functor::least_below * width))
    width = width / 4 > own ? width / 4 : own;
  else if (first)
    width = gap > own ? gap : own;
  return width != before;
}

/// Columns of T as a model reads them whose vectors are of V.
template <class V, class T, class Columns>
SHEAF_HOST_DEVICE decltype(auto) columns_for(const Columns& x) {
  if constexpr (std::is_same_v<V, T>)
    return (x);
  else
    return WideColumns<Columns>(x);
}

/// `w`, `z` and `u` are the blocks of weights, of decision values and of s times the residuals; `intercepts` has one
/// for each of their columns. The parts are variables of their own, not members of one object: only so does nvcc keep
/// them in registers.
template <class Functor, class Team, class T, class V, class Columns>
SHEAF_HOST_DEVICE SolveReport solve_on_working_set(const Team& team, const Columns& columns, const ModelTask<T>& task,
                                                   const RowVectors<V>& rows, const WorkingSet<V>& working,
                                                   const SolveOrder& order, T* w, T* z, T* u, std::int64_t stride,
                                                   double* intercepts) {
  static_assert(std::is_same_v<V, SolverValue<Functor, T>>);
  // The gain of steps is the square of their effect on the gap.
  constexpr double precision = sizeof(V) == 4 ? 1e-10 : 1e-30;
  const auto& x = columns_for<V, T>(columns);
  using Model = QuadraticModel<Team, V, std::decay_t<decltype(x)>, is_cox<Functor>, T>;
  std::conditional_t<has_width<Functor>, ModelTask<T>, const ModelTask<T>&> own = task;
  Model model(team, x, own, rows, working);
  Datafit<Functor, Model> fit(model);
  Descent<Model> descent(model, order.rules);
  w += order.model;
  z += order.model;
  u += order.model;
  model.load(w, stride);
  if constexpr (std::is_same_v<V, T>) {
    fit.load(z, stride);
  } else {  // the block's are rounded
    multiply_anew(model, rows.z);
    model.over_rows([&](std::int64_t i) { rows.z[i] += intercepts[order.model]; });
    team.sync();
  }
  StallWatch watch;
  for (bool first = true;; first = false) {
    fit.update_residuals();
    const FeatureSums features = sum_features(model);
    const RowSums sums = fit.sums();
    const double scale = dual_scale<Functor>(features, sums, task.limits != nullptr);
    const double gap = duality_gap(features, sums, scale, fit.dual_at(sums, scale));
    if constexpr (has_width<Functor>) {
      const bool goes_on = model.epochs < order.rules.max_epochs && !model.stopped();
      if (goes_on && change_width<Functor>(task.loss.width, gap, order.tolerance, first, own.loss.width)) continue;
    }
    if (gap <= order.tolerance || model.epochs >= order.rules.max_epochs || model.stopped()) break;
    // Models with a width go from corner to corner, with long rests.
    if (!has_width<Functor> && order.rules.solver == NetSolver::automatic && watch.stalled(gap)) break;
    fit.begin_step();
    const double gained = descent.run(gap, order.tolerance, watch.precise(fit.enough));
    fit.end_step(sums.loss + features.penalty());
    if (gained <= precision * std::abs(sums.loss)) break;  // steps are lost in rounding: this is as near as it gets
  }
  if constexpr (has_width<Functor>) own.loss.width = task.loss.width;
  multiply_anew(model, fit.fresh());
  model.over_features([&](std::int32_t k) { w[working.list[k] * stride] = static_cast<T>(working.w[k]); });
  const RowSums sums = fit.finish(z, u, stride, intercepts[order.model]);
  team.sync();  // all threads have read the intercept
  if (team.rank() == 0) intercepts[order.model] = fit.intercept();
  return {sums, model.epochs, descent.parallel()};
}

}  // namespace sheaf::linear
