// The quadratic model of a softmax loss, all classes together; softmax_solver.hpp has the formulas.
#pragma once

#include "linear/net/model/datafit.hpp"

namespace sheaf::linear {

/// Numbers of each class that a solver has room for: the change of its intercept and, if penalties are grouped, those
/// of GroupModel.
inline constexpr std::int64_t class_numbers = 4;

/// The rows of all classes: decision values with offsets, shares (probabilities), residuals, steps.
template <class Team, class T>
struct ClassRows {
  const Team& team;
  const ModelTask<T>& task;  // of the first class
  const RowVectors<T>& rows;
  std::int32_t classes;

  SHEAF_HOST_DEVICE T* z(std::int32_t k) const { return rows.class_z + k * task.examples; }
  SHEAF_HOST_DEVICE T* shares(std::int32_t k) const { return rows.shares + k * task.examples; }
  SHEAF_HOST_DEVICE T* residuals(std::int32_t k) const { return rows.residuals + k * task.examples; }
  SHEAF_HOST_DEVICE T* steps(std::int32_t k) const { return rows.class_steps + k * task.examples; }
  SHEAF_HOST_DEVICE double target(std::int32_t k, std::int64_t i) const {
    return task.targets[i * task.target_stride + k];
  }
  SHEAF_HOST_DEVICE T offset(std::int32_t k, std::int64_t i) const {
    return task.offsets != nullptr ? task.offsets[i * task.offset_stride + k] : T(0);
  }
  template <class F>
  SHEAF_HOST_DEVICE void over_rows(F&& f) const {
    for (std::int64_t i = team.rank(); i < task.examples; i += team.size()) f(i);
  }

  SHEAF_HOST_DEVICE void load(const T* from, std::int64_t stride) const {
    over_rows([&](std::int64_t i) { rows.weights[i] = task.weight(i); });
    for (std::int32_t k = 0; k < classes; ++k)
      over_rows([&](std::int64_t i) { z(k)[i] = from[i * stride + k] + offset(k, i); });
    team.sync();
  }

  /// Shares at the present decision values; returns the loss.
  SHEAF_HOST_DEVICE double update_shares() const {
    double loss = 0;
    over_rows([&](std::int64_t i) {
      double largest = z(0)[i];
      for (std::int32_t k = 1; k < classes; ++k)
        if (double(z(k)[i]) > largest) largest = z(k)[i];
      double sum = 0;
      double own = 0;
      for (std::int32_t k = 0; k < classes; ++k) {
        const double away = double(z(k)[i]) - largest;
        const double e = exp_nonpositive(away);
        shares(k)[i] = static_cast<T>(e);
        sum += e;
        own += target(k, i) * away;
      }
      const T inverse = static_cast<T>(1 / sum);
      for (std::int32_t k = 0; k < classes; ++k) shares(k)[i] *= inverse;
      loss += double(rows.weights[i]) * (std::log(sum) - own);
    });
    team.sync();
    return team.sum(loss) / task.total;
  }
  /// Intercepts are never all at their best at once: RowSums holds their effect on the gap.
  SHEAF_HOST_DEVICE void settle_intercepts(double* /*intercepts*/) const {}
  /// The loss at the decision values plus `share` of the steps.
  SHEAF_HOST_DEVICE double loss_with(double share) const {
    double loss = 0;
    over_rows([&](std::int64_t i) {
      const double s = rows.weights[i];
      if (!(s > 0)) return;
      const auto at = [&](std::int32_t k) { return double(z(k)[i]) + share * double(steps(k)[i]); };
      double largest = at(0);
      for (std::int32_t k = 1; k < classes; ++k) largest = at(k) > largest ? at(k) : largest;
      double sum = 0;
      double own = 0;
      for (std::int32_t k = 0; k < classes; ++k) {
        sum += exp_nonpositive(at(k) - largest);
        own += target(k, i) * (at(k) - largest);
      }
      loss += s * (std::log(sum) - own);
    });
    return team.sum(loss) / task.total;
  }

  /// The weighted residuals of class k, also stored as q. The intercept's contribution to the gap goes to `sums`.
  SHEAF_HOST_DEVICE void update_residuals(std::int32_t k, double intercept, RowSums& sums) const {
    double residual = 0;
    double curvature = 0;
    over_rows([&](std::int64_t i) {
      const double s = rows.weights[i];
      const double p = shares(k)[i];
      const double q = s * (target(k, i) - p);
      rows.q[i] = static_cast<T>(q);
      residuals(k)[i] = static_cast<T>(q);
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
        const double s = rows.weights[i];
        const double y = target(k, i);
        const double u = scale * (y - double(shares(k)[i]));
        if (s > 0) sum += s * (Functor::dual_value(u, y) - u * double(offset(k, i)));
      });
    return team.sum(sum) / task.total;
  }

  /// The second derivative of row i by the decision value of class k alone, kept above 0.
  SHEAF_HOST_DEVICE double curvature(std::int32_t k, std::int64_t i) const {
    constexpr double least_curvature = 1e-5;
    const double p = shares(k)[i];
    const double v = p * (1 - p);
    return double(rows.weights[i]) * (v > least_curvature ? v : least_curvature);
  }
  /// The second derivative of row i by the decision values of two classes.
  SHEAF_HOST_DEVICE T coupling(std::int32_t k, std::int32_t l, std::int64_t i) const {
    return -rows.weights[i] * shares(k)[i] * shares(l)[i];
  }
  /// q_k of row i at the present steps.
  SHEAF_HOST_DEVICE double residual(std::int32_t k, std::int64_t i) const {
    const double p = shares(k)[i];
    const double d = steps(k)[i];
    return double(residuals(k)[i]) - curvature(k, i) * d +
           double(rows.weights[i]) * p * (double(rows.mixed[i]) - p * d);
  }
};

template <class Team, class T, class Columns, class Rows = ClassRows<Team, T>>
struct ClassesModel {
  using Value = T;
  using Model = QuadraticModel<Team, T, Columns>;
  static constexpr bool systems = solves_systems<Team>;
  static constexpr std::int64_t most_members = 512;  // whose products are kept
  static constexpr std::int64_t system_passes = 32;  // the most that a system may cost

  const Team& team;
  const Columns& x;
  const Rows& all;
  const WorkingSet<T>& working;
  double* changes;  // of the intercepts, in the present step
  std::int32_t epochs = 0;

  SHEAF_HOST_DEVICE std::int32_t count() const { return all.classes; }
  SHEAF_HOST_DEVICE WorkingSet<T> features_of(std::int32_t k) const { return working.of_class(k); }

  /// A weight of feature j of the working set, or the limit that it passes.
  SHEAF_HOST_DEVICE T within_limits(std::int32_t j, T w) const { return all.task.within_limits(working.list[j], w); }

  /// use(k, model) with the model of each class.
  template <class Use>
  SHEAF_HOST_DEVICE void in_turn(const Use& use) {
    for (std::int32_t k = 0; k < count(); ++k) {
      ModelTask<T> own_task = all.task;
      own_task.targets += k;
      if (own_task.offsets != nullptr) own_task.offsets += k;
      const WorkingSet<T> features = features_of(k);
      Model model(team, x, own_task, all.rows, features);
      model.epochs = epochs;
      use(k, model);
      epochs = model.epochs;
    }
  }

  /// Moments of the features under the second derivatives of each class; no steps yet.
  SHEAF_HOST_DEVICE void begin_step() {
    begin_step([](std::int32_t, const Model&) {});
  }
  /// The same with use(k, model) if the moments of a class are sums over rows still.
  template <class Use>
  SHEAF_HOST_DEVICE void begin_step(const Use& use) {
    all.over_rows([&](std::int64_t i) { all.rows.mixed[i] = 0; });
    in_turn([&](std::int32_t k, Model& model) {
      double volume = 0;
      model.over_rows([&](std::int64_t i) {
        const T s = static_cast<T>(all.curvature(k, i));
        model.rows.s[i] = s;
        all.steps(k)[i] = 0;
        volume += s;
      });
      model.volume = team.sum(volume);
      if (team.rank() == 0) changes[k] = 0;
      team.sync();
      take_moments(model);
      use(k, model);
      begin_weights(model);
    });
    if constexpr (systems) team.gram().forget();
  }

  /// rows.s and q of class k, and its best intercept; returns the gain.
  SHEAF_HOST_DEVICE double enter(std::int32_t k, Model& model) {
    double volume = 0;
    double sum = 0;
    model.over_rows([&](std::int64_t i) {
      const T s = static_cast<T>(all.curvature(k, i));
      const T q = static_cast<T>(all.residual(k, i));
      model.rows.s[i] = s;
      model.rows.q[i] = q;
      volume += s;
      sum += q;
    });
    model.volume = team.sum(volume);
    if (!model.task.intercept) {
      team.sync();
      return 0;
    }
    sum = team.sum(sum);
    const double change = sum / model.volume;
    model.over_rows([&](std::int64_t i) { model.rows.q[i] -= static_cast<T>(change) * model.rows.s[i]; });
    if (team.rank() == 0) changes[k] += change;
    team.sync();
    return sum * change / (2 * all.task.total);
  }
  SHEAF_HOST_DEVICE void leave(std::int32_t k, Model& model) {
    if (team.rank() == 0) changes[k] -= model.shift;
    team.sync();
    update_steps(k, model);
  }

  /// The steps of the decision values of class k, from those of its weights and intercept.
  SHEAF_HOST_DEVICE void update_steps(std::int32_t k, const Model& model) const {
    const auto& features = model.features;
    T* step = all.rows.step;
    const T change = static_cast<T>(changes[k]);
    model.over_rows([&](std::int64_t i) { step[i] = change; });
    team.sync();
    for (std::int32_t j = 0; j < features.count; ++j) {
      const T own = features.w[j] - features.start[j];
      if (own == 0) continue;
      x.each(team, features.list[j], [&](std::int32_t i, T value) { step[i] += own * value; });
      team.sync();
    }
    model.over_rows([&](std::int64_t i) {
      all.rows.mixed[i] += all.shares(k)[i] * (step[i] - all.steps(k)[i]);
      all.steps(k)[i] = step[i];
    });
    team.sync();
  }

  /// The penalty of all weights, of which a share of the step is taken.
  SHEAF_HOST_DEVICE double penalty_with(double share) const {
    double sum = 0;
    for (std::int32_t k = 0; k < count(); ++k) {
      const WorkingSet<T> features = features_of(k);
      for (std::int32_t j = team.rank(); j < features.count; j += team.size()) {
        const double start = features.start[j];
        const double w = start + share * (double(features.w[j]) - start);
        if (w != 0) sum += ElasticNetPenalty<T>{features.penalty1[j], features.penalty2[j]}.value(w);
      }
    }
    return team.sum(sum);
  }

  /// How far along the step the true objective falls below `objective`, that of before; all go there.
  SHEAF_HOST_DEVICE void end_step(double objective, double* intercepts) const {
    end_step(objective, intercepts, [&](double share) { return penalty_with(share); });
  }
  template <class Penalty>
  SHEAF_HOST_DEVICE void end_step(double objective, double* intercepts, const Penalty& penalty) const {
    constexpr double rounding = 1e-14;  // near the end a step gains less than what rounding makes of the sums
    double share = 1;
    for (int turn = 0; turn < 30; ++turn, share /= 2)
      if (all.loss_with(share) + penalty(share) <= objective + rounding * std::abs(objective)) break;
    for (std::int32_t k = 0; k < count(); ++k) {
      const WorkingSet<T> features = features_of(k);
      if (share < 1)
        for (std::int32_t j = team.rank(); j < features.count; j += team.size())
          features.w[j] =
              within_limits(j, features.start[j] + static_cast<T>(share) * (features.w[j] - features.start[j]));
      all.over_rows([&](std::int64_t i) { all.z(k)[i] += static_cast<T>(share) * all.steps(k)[i]; });
      if (team.rank() == 0) intercepts[k] += share * changes[k];
    }
    team.sync();
  }
};

}  // namespace sheaf::linear
