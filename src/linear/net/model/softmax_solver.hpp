// One model of several decision values on its working set: a softmax model of several classes or, with grouped
// penalties (group_model.hpp), of several targets.
//
// Proximal Newton steps of all classes together (Lee, Sun, Saunders 2014). At the shares p of the classes in a row of
// weight s, the second derivative of the loss is s (diag(p) - p p'), which couples classes: with d_l the step of the
// decision values of class l, minus the derivative by those of class k is
//
//   q_k = s (y_k - p_k) - s p_k (d_k - sum over l of p_l d_l)
//
// Coordinate descent takes classes in turn, each as a quadratic model of its own while the others stay as they are
// (quadratic_model.hpp); on a CPU one linear system of the weights of all classes comes before (class_system.hpp). Then
// the true objective decides how far to go along the step. A number added to the weights of a feature in all classes
// changes no probability: after each step every feature gets the number that makes its penalty least, which steps of
// single weights would approach slowly. If weights have limits, so has this number.
#pragma once

#include "linear/net/model/class_system.hpp"
#include "linear/net/model/common_weight.hpp"
#include "linear/net/model/group_model.hpp"
#include "linear/net/model/model_solver.hpp"

namespace sheaf::linear {

/// Every feature's weights less the number that makes their penalty least; decision values follow. Returns what the
/// penalty loses. `model` is that of the first class.
template <bool Grouped, class Model, class Rows>
SHEAF_HOST_DEVICE double shift_classes(const Model& model, const Rows& all) {
  using T = typename Model::Value;
  const auto& features = model.features;
  T* shifts = features.start;
  double gained = 0;
  model.over_features([&](std::int32_t j) {
    const auto penalty = model.penalty(j);
    const auto weight = [&](std::int32_t k) -> T& {
      return features.w[static_cast<std::int64_t>(k) * features.count + j];
    };
    const double best = Grouped ? mean_weight(all.classes, weight)
                                : common_weight(model.task.penalty_shape(features.list[j]), all.classes, weight);
    const bool limited = model.task.limits != nullptr;  // the penalty is convex: the nearest number is the best
    const T shift = static_cast<T>(
        limited ? shift_within(model.task.limits_of(features.list[j]), best, all.classes, weight) : best);
    shifts[j] = shift;
    if (shift == 0) return;
    const GroupPenalty of_row{double(penalty.p1), double(penalty.p2)};
    double before = 0, after = 0;  // penalties or, if that is of the row, squares
    const auto cost = [&](double w) { return Grouped ? w * w : penalty.value(w); };
    for (std::int32_t k = 0; k < all.classes; ++k) {
      before += cost(weight(k));
      weight(k) = model.within_limits(j, weight(k) - shift);
      after += cost(weight(k));
    }
    gained += Grouped ? of_row.value(before) - of_row.value(after) : before - after;
  });
  model.over_rows([&](std::int64_t i) { model.rows.step[i] = 0; });
  model.team.sync();
  for (std::int32_t j = 0; j < features.count; ++j) {
    const T shift = shifts[j];
    if (shift == 0) continue;
    model.x.each(model.team, features.list[j], [&](std::int32_t i, T value) { model.rows.step[i] += shift * value; });
    model.team.sync();
  }
  for (std::int32_t k = 0; k < all.classes; ++k)
    model.over_rows([&](std::int64_t i) { all.z(k)[i] -= model.rows.step[i]; });
  model.team.sync();
  return model.team.sum(gained);
}

/// Passes over the working set of each class in turn, and linear systems, until they gain little relative to the gap or
/// the tolerance; returns all they gained.
template <class Classes>
SHEAF_HOST_DEVICE double descend_classes(Classes& classes, DescentRules& rules, double gap, double tolerance) {
  using Model = typename Classes::Model;
  constexpr double enough = 0.1;  // more precision would be lost on the next quadratic model
  const double little = gap * 0.01 > tolerance * 0.1 ? gap * 0.01 : tolerance * 0.1;
  double all = 0;
  for (int cycle = 0; cycle < 50 && classes.epochs < rules.max_epochs && !classes.team.stopped(); ++cycle) {
    double gained = 0;
    bool solved = false;
    if constexpr (Classes::systems)
      if (rules.solver == NetSolver::automatic) solved = solve_classes(classes, gained);
    classes.in_turn([&](std::int32_t k, Model& model) {
      Descent<Model> descent(model, rules);
      gained += classes.enter(k, model);
      if constexpr (Classes::systems)
        if (!solved) classes.team.gram().forget();  // products are of another class
      gained += solved ? descent.pass() : descent.run(gap, tolerance, enough);
      rules.parallel = descent.parallel();
      classes.leave(k, model);
    });
    if constexpr (Classes::systems)
      if (!solved) classes.team.gram().forget();
    all += gained;
    if (gained <= little) break;
  }
  return all;
}

/// The class that trains a loss of several decision values.
template <class Functor, class Team, class T, class Columns>
using ClassesOf = std::conditional_t<is_grouped<Functor>, GroupModel<Functor, Team, T, Columns>,  //
                                     ClassesModel<Team, T, Columns>>;

/// Same as solve_on_working_set(), for `classes` neighbouring columns of the blocks. `numbers` is memory for
/// class_numbers a column.
template <class Functor, class Team, class T, class Columns>
SHEAF_HOST_DEVICE SolveReport solve_several(const Team& team, const Columns& x, const ModelTask<T>& task,
                                            const RowVectors<T>& rows, const WorkingSet<T>& working,
                                            const SolveOrder& order, std::int32_t count, T* w, T* z, T* u,
                                            std::int64_t stride, double* intercepts, double* numbers) {
  constexpr double precision = sizeof(T) == 4 ? 1e-10 : 1e-18;
  constexpr bool grouped = is_grouped<Functor>;
  using Classes = ClassesOf<Functor, Team, T, Columns>;
  using Model = typename Classes::Model;
  DescentRules rules = order.rules;
  w += order.model;
  z += order.model;
  u += order.model;
  intercepts += order.model;
  const auto all = [&] {
    const ClassRows<Team, T> of_classes{team, task, rows, count};
    if constexpr (Functor::quadratic)
      return TargetRows<Team, T>{of_classes, intercepts};
    else
      return of_classes;
  }();
  Classes classes = [&] {
    double* own = numbers + class_numbers * order.model;
    if constexpr (grouped)
      return Classes{{team, x, all, working, own}};
    else
      return Classes{team, x, all, working, own};
  }();
  // use(k, model) with rows.q the residuals of each class; returns the rows' sums for the gap.
  const auto with_residuals = [&](const auto& use) {
    RowSums sums;
    sums.loss = all.update_shares();
    classes.in_turn([&](std::int32_t k, Model& model) {
      all.update_residuals(k, intercepts[k], sums);
      use(k, model);
      team.sync();
    });
    return sums;
  };
  classes.in_turn([&](std::int32_t k, Model& model) { model.load(w + k, stride); });
  all.load(z, stride);
  if constexpr (grouped) classes.begin();
  StallWatch watch;
  while (true) {
    FeatureSums features;
    all.settle_intercepts(intercepts);
    RowSums sums = with_residuals([&](std::int32_t, Model& model) {
      if constexpr (!grouped) features.join(sum_features(model));
    });
    if constexpr (grouped) features = classes.sum_groups();
    if constexpr (Functor::quadratic) sums.dual = all.template dual_at<Functor>(1);
    const double scale = dual_scale<Functor>(features, sums, task.limits != nullptr);
    const double dual = all.template dual_at<Functor>(scale);
    // In a lasso, unscaled residuals are dual points only if they need no scaling.
    sums.dual = scale == 1 || features.excess == HUGE_VAL ? dual : all.template dual_at<Functor>(1);
    const double gap = duality_gap(features, sums, scale, dual);
    if (gap <= order.tolerance || classes.epochs >= order.rules.max_epochs || team.stopped()) break;
    if (order.rules.solver == NetSolver::automatic && watch.stalled(gap)) break;
    classes.begin_step();
    double gained = 0;
    if constexpr (grouped)
      gained = classes.descend(rules, gap, order.tolerance);
    else
      gained = descend_classes(classes, rules, gap, order.tolerance);
    classes.end_step(sums.loss + features.penalty(), intercepts);
    if constexpr (is_softmax<Functor>) gained += shift_classes<grouped>(Model(team, x, task, rows, working), all);
    if (gained <= precision * std::abs(sums.loss)) break;  // as near as it gets
  }
  double center = 0;
  for (std::int32_t k = 0; k < count && is_softmax<Functor>; ++k) center += intercepts[k] / count;
  team.sync();  // all threads have read the intercepts
  classes.in_turn([&](std::int32_t k, Model& model) {
    if (team.rank() == 0) intercepts[k] -= center;
    multiply_anew(model, all.z(k));
    model.over_rows([&](std::int64_t i) {
      z[i * stride + k] = all.z(k)[i] + static_cast<T>(intercepts[k]);
      all.z(k)[i] = z[i * stride + k] + all.offset(k, i);
    });
    model.over_features([&](std::int32_t j) { w[working.list[j] * stride + k] = model.features.w[j]; });
    team.sync();
  });
  all.settle_intercepts(intercepts);
  RowSums sums = with_residuals([&](std::int32_t k, Model& model) {
    model.over_rows([&](std::int64_t i) {
      if constexpr (Functor::quadratic) z[i * stride + k] = all.z(k)[i];  // which has other intercepts now, no offsets
      u[i * stride + k] = rows.q[i];
    });
  });
  sums.dual = all.template dual_at<Functor>(1);
  return {sums, classes.epochs, rules.parallel};
}

/// A model of one decision value or of several.
template <class Functor, class Team, class T, class V, class Columns>
SHEAF_HOST_DEVICE SolveReport solve_any(const Team& team, const Columns& x, const ModelTask<T>& task,
                                        const RowVectors<V>& rows, const WorkingSet<V>& working,
                                        const SolveOrder& order, std::int32_t classes, T* w, T* z, T* u,
                                        std::int64_t stride, double* intercepts, double* numbers) {
  if constexpr (has_class_rows<Functor>)
    return solve_several<Functor>(team, x, task, rows, working, order, classes, w, z, u, stride, intercepts, numbers);
  else
    return solve_on_working_set<Functor>(team, x, task, rows, working, order, w, z, u, stride, intercepts);
}

}  // namespace sheaf::linear
