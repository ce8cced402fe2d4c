// One softmax model of several classes on its working set.
//
// While the other classes stay as they are, the loss of one class is that of a logistic model of its log odds against
// all others (Softmax in losses.hpp). So the classes take proximal Newton steps in turn, each as a model of its own
// (datafit.hpp; Friedman, Hastie, Tibshirani 2010, section 4). A number added to the weights of a feature in all
// classes changes no probability: after each turn every feature gets the number that makes its penalty least, which
// steps of single classes would come to slowly.
#pragma once

#include "linear/net/model_solver.hpp"

namespace sheaf::linear {

/// The number c that makes the sum over classes of penalty.value(weight(k) - c) least: the mean of the weights for a
/// ridge, their median for a lasso; of several such the nearest to 0.
template <class T, class Weight>
SHEAF_HOST_DEVICE double common_weight(const ElasticNetPenalty<T>& penalty, std::int32_t classes,
                                       const Weight& weight) {
  const double p1 = penalty.p1;
  const double p2 = penalty.p2;
  double sum = 0;
  for (std::int32_t k = 0; k < classes; ++k) sum += double(weight(k));
  if (penalty.none()) return sum / classes;
  // How many of sign * weight are below `at` (or, with `equal`, not above it) minus how many are not.
  const auto balance = [&](double sign, double at, bool equal) {
    double count = 0;
    for (std::int32_t k = 0; k < classes; ++k) {
      const double w = sign * double(weight(k));
      count += w < at || (equal && w == at) ? 1 : -1;
    }
    return count;
  };
  // The slope of the penalty in c just below and just above c = 0; the least is at 0 or on the side where it falls.
  if (-p2 * sum + p1 * balance(1, 0, true) >= 0 && -p2 * sum + p1 * balance(1, 0, false) <= 0) return 0;
  const double sign = -p2 * sum + p1 * balance(1, 0, true) < 0 ? 1 : -1;
  // The nearest weight above which it rises.
  double nearest = HUGE_VAL;
  for (std::int32_t k = 0; k < classes; ++k) {
    const double w = sign * double(weight(k));
    if (w > 0 && w < nearest && p2 * (classes * w - sign * sum) + p1 * balance(sign, w, true) >= 0) nearest = w;
  }
  const double below = balance(sign, nearest, false);
  if (p2 * (classes * nearest - sign * sum) + p1 * below <= 0) return sign * nearest;
  return (sum - sign * p1 / p2 * below) / classes;  // between two weights
}

/// The rows of all classes: decision values, what they add up to, residuals.
template <class Team, class T>
struct ClassRows {
  const Team& team;
  const ModelTask<T>& task;  // of the first class
  const RowVectors<T>& rows;
  std::int32_t classes;

  SHEAF_HOST_DEVICE T* z(std::int32_t k) const { return rows.class_z + k * task.examples; }
  SHEAF_HOST_DEVICE double target(std::int32_t k, std::int64_t i) const {
    return task.targets[i * task.target_stride + k];
  }
  template <class F>
  SHEAF_HOST_DEVICE void over_rows(F&& f) const {
    for (std::int64_t i = team.rank(); i < task.examples; i += team.size()) f(i);
  }

  SHEAF_HOST_DEVICE void load(const T* from, std::int64_t stride) const {
    for (std::int32_t k = 0; k < classes; ++k) over_rows([&](std::int64_t i) { z(k)[i] = from[i * stride + k]; });
    team.sync();
  }

  /// log_sum of the present decision values; returns the loss.
  SHEAF_HOST_DEVICE double add_classes() const {
    double loss = 0;
    over_rows([&](std::int64_t i) {
      const double all = log_sum_without(-1, i);
      rows.log_sum[i] = static_cast<T>(all);
      const double s = task.weight(i);
      if (!(s > 0)) return;
      double own = 0;
      for (std::int32_t k = 0; k < classes; ++k) own += target(k, i) * double(z(k)[i]);
      loss += s * (all - own);
    });
    return team.sum(loss) / task.total;
  }

  /// q: the weighted residuals of class k. What its intercept says about the gap goes to `sums`.
  SHEAF_HOST_DEVICE void update_residuals(std::int32_t k, double intercept, RowSums& sums) const {
    double residual = 0;
    double curvature = 0;
    over_rows([&](std::int64_t i) {
      const double s = task.weight(i);
      const double p = share(k, i);
      const double q = s * (target(k, i) - p);
      rows.q[i] = static_cast<T>(q);
      residual += q;
      curvature += s * p * (1 - p);
    });
    team.sync();
    if (!task.intercept) return;
    residual = team.sum(residual);
    curvature = team.sum(curvature);
    sums.tilt += intercept * residual / task.total;
    if (curvature > 0) sums.free += residual * residual / (curvature * task.total);
  }

  /// The dual value of all residuals times `scale`.
  template <class Functor>
  SHEAF_HOST_DEVICE double dual_at(double scale) const {
    double sum = 0;
    for (std::int32_t k = 0; k < classes; ++k)
      over_rows([&](std::int64_t i) {
        const double y = target(k, i);
        sum += double(task.weight(i)) * Functor::dual_value(scale * (y - share(k, i)), y);
      });
    return team.sum(sum) / task.total;
  }

  /// rows.z becomes the log odds of class k against all others; log_sum is that of the others until join().
  SHEAF_HOST_DEVICE void part(std::int32_t k) const {
    over_rows([&](std::int64_t i) {
      const double p = share(k, i);
      // Where this class has most of a row, its share is no good to take off.
      const double others = p < 0.5 ? double(rows.log_sum[i]) + std::log1p(-p) : log_sum_without(k, i);
      rows.log_sum[i] = static_cast<T>(others);
      rows.z[i] = static_cast<T>(double(z(k)[i]) - others);
    });
    team.sync();
  }
  SHEAF_HOST_DEVICE void join(std::int32_t k, double intercept) const {
    over_rows([&](std::int64_t i) {
      const T odds = rows.z[i] + static_cast<T>(intercept);
      z(k)[i] = odds + rows.log_sum[i];
      rows.log_sum[i] += Softmax::terms(odds, T(0), T(0)).value;
    });
    team.sync();
  }

 private:
  SHEAF_HOST_DEVICE double share(std::int32_t k, std::int64_t i) const {
    return std::exp(double(z(k)[i]) - double(rows.log_sum[i]));
  }
  /// The logarithm of the sum of exp(z) over all classes but one; -1: over all.
  SHEAF_HOST_DEVICE double log_sum_without(std::int32_t without, std::int64_t i) const {
    double largest = -HUGE_VAL;
    for (std::int32_t k = 0; k < classes; ++k)
      if (k != without && double(z(k)[i]) > largest) largest = z(k)[i];
    double sum = 0;
    for (std::int32_t k = 0; k < classes; ++k)
      if (k != without) sum += std::exp(double(z(k)[i]) - largest);
    return largest + std::log(sum);
  }
};

/// Every feature's weights less the number that makes their penalty least; decision values follow. Returns what the
/// penalty loses. `model` is that of any class.
template <class Model, class Rows>
SHEAF_HOST_DEVICE double shift_classes(const Model& model, const Rows& all, typename Model::Value* w) {
  using T = typename Model::Value;
  const auto& features = model.features;
  T* shifts = features.start;
  double gained = 0;
  model.over_features([&](std::int32_t j) {
    const auto penalty = model.penalty(j);
    const auto weight = [&](std::int32_t k) -> T& { return w[static_cast<std::int64_t>(k) * features.count + j]; };
    const T shift = static_cast<T>(common_weight(penalty, all.classes, weight));
    shifts[j] = shift;
    if (shift == 0) return;
    for (std::int32_t k = 0; k < all.classes; ++k) {
      gained += penalty.value(weight(k));
      weight(k) -= shift;
      gained -= penalty.value(weight(k));
    }
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

/// As solve_on_working_set(), for `classes` neighbouring columns of the blocks.
template <class Functor, class Team, class T, class Columns>
SHEAF_HOST_DEVICE SolveReport solve_softmax(const Team& team, const Columns& x, const ModelTask<T>& task,
                                            const RowVectors<T>& rows, const WorkingSet<T>& working,
                                            const SolveOrder& order, std::int32_t classes, T* w, T* z, T* u,
                                            std::int64_t stride, double* intercepts) {
  constexpr double precision = sizeof(T) == 4 ? 1e-10 : 1e-18;
  using Model = QuadraticModel<Team, T, Columns>;
  const ClassRows<Team, T> all{team, task, rows, classes};
  DescentRules rules = order.rules;
  std::int32_t epochs = 0;
  w += order.model;
  z += order.model;
  u += order.model;
  intercepts += order.model;
  // use(k, model) with the model of each class.
  const auto in_turn = [&](const auto& use) {
    for (std::int32_t k = 0; k < classes; ++k) {
      ModelTask<T> own_task = task;
      own_task.targets += k;
      WorkingSet<T> own_weights = working;
      own_weights.w += static_cast<std::int64_t>(k) * working.count;
      Model model(team, x, own_task, rows, own_weights);
      model.epochs = epochs;
      use(k, model);
      epochs = model.epochs;
    }
  };
  // The same while rows.q are the residuals of the class; returns what rows say about the gap.
  const auto with_residuals = [&](const auto& use) {
    RowSums sums;
    sums.loss = all.add_classes();
    in_turn([&](std::int32_t k, Model& model) {
      all.update_residuals(k, intercepts[k], sums);
      use(k, model);
      team.sync();
    });
    sums.dual = all.template dual_at<Functor>(1);
    return sums;
  };
  in_turn([&](std::int32_t k, Model& model) { model.load(w + k, stride); });
  all.load(z, stride);
  while (true) {
    FeatureSums features;
    const RowSums sums = with_residuals([&](std::int32_t, Model& model) { features.join(sum_features(model)); });
    const double scale = dual_scale<Functor>(features, sums);
    const double gap = duality_gap(features, sums, scale, all.template dual_at<Functor>(scale));
    if (gap <= order.tolerance || epochs >= order.rules.max_epochs || team.stopped()) break;
    double gained = 0;
    in_turn([&](std::int32_t k, Model& model) {
      all.part(k);
      SmoothFit<Functor, Model> fit(model);
      Descent<Model> descent(model, rules);
      fit.update_residuals();
      fit.begin_step();
      const double objective = fit.objective();
      gained += descent.run(gap, order.tolerance, fit.enough);
      const double change = fit.end_step(objective);
      rules.parallel = descent.parallel();
      all.join(k, fit.intercept());
      if (team.rank() == 0) intercepts[k] += fit.intercept() + change;
      team.sync();
    });
    gained += shift_classes(Model(team, x, task, rows, working), all, working.w);
    if (gained <= precision * std::abs(sums.loss)) break;  // as near as it gets
  }
  double center = 0;
  for (std::int32_t k = 0; k < classes; ++k) center += intercepts[k] / classes;
  team.sync();  // everybody has read the intercepts
  in_turn([&](std::int32_t k, Model& model) {
    if (team.rank() == 0) intercepts[k] -= center;
    multiply_anew(model, all.z(k));
    model.over_rows([&](std::int64_t i) { all.z(k)[i] += static_cast<T>(intercepts[k]); });
    model.over_features([&](std::int32_t j) { w[working.list[j] * stride + k] = model.features.w[j]; });
    team.sync();
  });
  const RowSums sums = with_residuals([&](std::int32_t k, Model& model) {
    model.over_rows([&](std::int64_t i) {
      z[i * stride + k] = all.z(k)[i];
      u[i * stride + k] = rows.q[i];
    });
  });
  return {sums, epochs, rules.parallel};
}

/// A model of one decision value or of several.
template <class Functor, class Team, class T, class Columns>
SHEAF_HOST_DEVICE SolveReport solve_any(const Team& team, const Columns& x, const ModelTask<T>& task,
                                        const RowVectors<T>& rows, const WorkingSet<T>& working,
                                        const SolveOrder& order, std::int32_t classes, T* w, T* z, T* u,
                                        std::int64_t stride, double* intercepts) {
  if constexpr (is_softmax<Functor>)
    return solve_softmax<Functor>(team, x, task, rows, working, order, classes, w, z, u, stride, intercepts);
  else
    return solve_on_working_set<Functor>(team, x, task, rows, working, order, w, z, u, stride, intercepts);
}

}  // namespace sheaf::linear
