// Models of several decision values whose penalty is one for the row of a feature's weights in all of them: softmax
// models with grouped penalties, and squares of several targets. Descent takes a feature's weights together.
//
// In a row of weight s with the shares p of its classes, a step e of the decision values is charged
// s (sum of p e^2 - (sum of p e)^2), which is at most twice the sum of s p (1 - p) e^2: with that diagonal bound the
// best row of weights, within its limits, has a closed form but for its length (GroupPenalty). The true value of the
// quadratic model stays in the residuals q, which every step keeps up to date. Under squares there is nothing between
// targets, and the bound is the second derivative itself.
//
// A feature that is stored for all rows is centred, each class by the mean under its own second derivatives, so that
// its steps leave the intercepts where they are best; a sparse one is not, for its step would change every row.
#pragma once

#include "linear/net/model/group_system.hpp"

namespace sheaf::linear {

/// The rows of several targets under the squared loss: what ClassRows is to softmax.
template <class Team, class T>
struct TargetRows : ClassRows<Team, T> {
  using Base = ClassRows<Team, T>;
  using Base::classes, Base::over_rows, Base::residuals, Base::rows, Base::steps, Base::target, Base::task, Base::team,
      Base::z;

  const double* intercepts;  // the present ones

  SHEAF_HOST_DEVICE double update_shares() const {
    return loss_at([](std::int32_t, std::int64_t) { return 0.0; });
  }
  SHEAF_HOST_DEVICE double loss_with(double share) const {
    return loss_at([&](std::int32_t k, std::int64_t i) { return share * double(steps(k)[i]); });
  }
  /// The best intercepts: weighted residuals have the sum 0.
  SHEAF_HOST_DEVICE void settle_intercepts(double* present) const {
    if (!task.intercept) return;
    for (std::int32_t k = 0; k < classes; ++k) {
      double sum = 0;
      over_rows([&](std::int64_t i) { sum += double(rows.weights[i]) * error(k, i); });
      const double change = team.sum(sum) / task.total;
      over_rows([&](std::int64_t i) { z(k)[i] += static_cast<T>(change); });
      if (team.rank() == 0) present[k] += change;
    }
    team.sync();
  }
  SHEAF_HOST_DEVICE void update_residuals(std::int32_t k, double /*intercept*/, RowSums& /*sums*/) const {
    over_rows([&](std::int64_t i) {
      const T q = rows.weights[i] * static_cast<T>(error(k, i));
      rows.q[i] = q;
      residuals(k)[i] = q;
    });
    team.sync();
  }
  SHEAF_HOST_DEVICE T curvature(std::int32_t /*k*/, std::int64_t i) const { return rows.weights[i]; }
  SHEAF_HOST_DEVICE T coupling(std::int32_t /*k*/, std::int32_t /*l*/, std::int64_t /*i*/) const { return 0; }
  template <class Functor>
  SHEAF_HOST_DEVICE double dual_at(double scale) const {
    double sum = 0;
    for (std::int32_t k = 0; k < classes; ++k)
      over_rows([&](std::int64_t i) {
        const double away = target(k, i) - intercepts[k];  // of residuals of sum 0 any number may be taken off
        sum += double(rows.weights[i]) * Functor::dual_value(scale * error(k, i), away);
      });
    return team.sum(sum) / task.total;
  }

 private:
  SHEAF_HOST_DEVICE double error(std::int32_t k, std::int64_t i) const { return target(k, i) - double(z(k)[i]); }
  template <class Step>
  SHEAF_HOST_DEVICE double loss_at(const Step& step) const {
    double loss = 0;
    for (std::int32_t k = 0; k < classes; ++k)
      over_rows([&](std::int64_t i) {
        const double rest = error(k, i) - step(k, i);
        loss += double(rows.weights[i]) * rest * rest / 2;
      });
    return team.sum(loss) / task.total;
  }
};

template <class Functor, class Team, class T, class Columns>
struct GroupModel
    : ClassesModel<Team, T, Columns, std::conditional_t<Functor::quadratic, TargetRows<Team, T>, ClassRows<Team, T>>> {
  using Rows = std::conditional_t<Functor::quadratic, TargetRows<Team, T>, ClassRows<Team, T>>;
  using Base = ClassesModel<Team, T, Columns, Rows>;
  using Model = typename Base::Model;
  using Base::all, Base::changes, Base::count, Base::epochs, Base::team, Base::within_limits, Base::working, Base::x;
  // If systems are too large, rows of weights take hundreds of passes.
  static constexpr std::int64_t most_members = 2048;
  static constexpr std::int64_t system_passes = 512;
  static constexpr bool exact = Functor::quadratic;
  static constexpr double bound = exact ? 1 : 2;  // of the quadratic model, over that of each class by itself

  // Numbers of each class, behind the changes of the intercepts:
  SHEAF_HOST_DEVICE double* residual_sums() const { return changes + count(); }
  SHEAF_HOST_DEVICE double* steps() const { return changes + 2 * count(); }
  SHEAF_HOST_DEVICE double* volumes() const { return changes + 3 * count(); }

  SHEAF_HOST_DEVICE std::int64_t place_of(std::int32_t k, std::int32_t j) const {
    return static_cast<std::int64_t>(k) * working.count + j;
  }
  SHEAF_HOST_DEVICE GroupPenalty penalty(std::int32_t j) const {
    return {double(working.penalty1[j]), double(working.penalty2[j])};
  }

  SHEAF_HOST_DEVICE bool limited() const { return all.task.limits != nullptr; }
  /// The limits of the weights of feature j; call it only if limited().
  SHEAF_HOST_DEVICE WeightLimits<T> limits(std::int32_t j) const { return all.task.limits_of(working.list[j]); }

  SHEAF_HOST_DEVICE bool has_weights(std::int32_t j) const {
    for (std::int32_t k = 0; k < count(); ++k)
      if (working.w[place_of(k, j)] != 0) return true;
    return false;
  }

  /// For the duality gap, from the residuals of all classes; see sum_features().
  SHEAF_HOST_DEVICE FeatureSums sum_groups() {
    constexpr double far = 0.7;
    FeatureSums sums;
    for (std::int32_t j = 0; j < working.count; ++j) {
      const ElasticNetPenalty<T> own{working.penalty1[j], working.penalty2[j]};
      const ColumnPlace place = working.places[j];
      const auto ahead = x.ahead(team, place);
      GroupSquares squares;
      double curvature = HUGE_VAL;
      for (std::int32_t k = 0; k < count(); ++k) {
        const auto at = place_of(k, j);
        const double g = double(x.dot(team, place, ahead, all.residuals(k))) / all.task.total;
        squares.add(g, double(working.w[at]), double(own.p2));
        curvature = double(working.curvature[at]) < curvature ? double(working.curvature[at]) : curvature;
        if (limited() && team.rank() == 0) steps()[k] = g;
      }
      if (limited()) {
        team.sync();  // all threads see the gradients
        sums.add_row(
            count(), [&](std::int32_t k) { return steps()[k]; },
            [&](std::int32_t k) { return double(working.w[place_of(k, j)]); }, own, curvature, limits(j));
        team.sync();  // and has read them
      } else {
        sums.add(squares, own, curvature);
      }
      const bool left_out = !exact && squares.w == 0 && std::sqrt(squares.g) < far * double(own.p1);
      if (team.rank() == 0)
        for (std::int32_t k = 0; k < count(); ++k) working.start[place_of(k, j)] = left_out ? T(1) : T(0);
    }
    epochs += 1;
    team.sync();
    return sums;
  }

  /// After load(), under squares: their second derivatives are those of the table.
  SHEAF_HOST_DEVICE void begin() {
    if constexpr (exact) {
      Base::in_turn([&](std::int32_t, Model& model) { uncentre(model, 1); });
      if constexpr (Base::systems) team.gram().forget();
    }
  }
  SHEAF_HOST_DEVICE void begin_step() {
    if constexpr (exact) {
      Base::in_turn([&](std::int32_t k, Model& model) {
        model.over_rows([&](std::int64_t i) { all.steps(k)[i] = 0; });
        model.over_features([&](std::int32_t j) { model.features.start[j] = model.features.w[j]; });
        if (team.rank() == 0) {
          changes[k] = 0;
          volumes()[k] = all.task.total;
        }
      });
    } else {
      Base::begin_step([&](std::int32_t k, Model& model) {
        team.sync();
        uncentre(model, model.volume);
        if (team.rank() == 0) volumes()[k] = model.volume;
      });
    }
    team.sync();
    sum_residuals();
  }
  SHEAF_HOST_DEVICE void end_step(double objective, double* intercepts) const {
    Base::end_step(objective, intercepts, [&](double share) { return penalty_with(share); });
  }

  /// Weights of feature j (-1: intercepts) become what they are and steps(); rows follow. By one thread.
  void add_steps(std::int32_t j) {
    for (std::int32_t k = 0; k < count(); ++k) {
      if (j < 0) {
        changes[k] += steps()[k];
      } else {
        T& w = working.w[place_of(k, j)];
        w = within_limits(j, w + static_cast<T>(steps()[k]));
      }
    }
    const auto mean = [](std::int32_t) { return T(0); };
    if (j < 0)
      move_rows(mean, [&](const auto& move) { all.over_rows([&](std::int64_t i) { move(i, T(1)); }); });
    else
      move_rows(mean, [&](const auto& move) { x.each(team, working.places[j], {}, move); });
  }

  /// Linear systems, passes over the working set, and over the features that have weights, until they gain little
  /// relative to the gap or the tolerance; returns all they gained.
  SHEAF_HOST_DEVICE double descend(const DescentRules& rules, double gap, double tolerance) {
    constexpr int most_passes = 10;  // over the features that have weights
    const double little = gap * 0.01 > tolerance * 0.1 ? gap * 0.01 : tolerance * 0.1;
    double sum = 0;
    for (int cycle = 0; cycle < 50 && epochs < rules.max_epochs && !team.stopped(); ++cycle) {
      double gained = 0;
      bool solved = false;
      if constexpr (Base::systems)
        if (rules.solver == NetSolver::automatic) solved = solve_groups(*this, 10 * little, gained);
      gained += pass(rules, false);
      if (rules.solver == NetSolver::automatic && !solved) {
        double more = gained;
        for (int turn = 0; turn < most_passes && more > 0.1 * little; ++turn) gained += more = pass(rules, true);
      }
      sum += gained;
      if (gained <= little) break;
    }
    return sum;
  }

  /// residual_sums(), of each class; several sums at once, for a chain of additions waits for each.
  SHEAF_HOST_DEVICE void sum_residuals() const {
    constexpr int chains = 4;
    if (!all.task.intercept) return sum_nothing();
    const std::int64_t size = team.size();
    const std::int64_t rows = all.task.examples;
    for (std::int32_t k = 0; k < count(); ++k) {
      const T* q = all.residuals(k);
      T sums[chains] = {};
      std::int64_t i = team.rank();
      for (; i + (chains - 1) * size < rows; i += chains * size)
        for (int c = 0; c < chains; ++c) sums[c] += q[i + c * size];
      for (; i < rows; i += size) sums[0] += q[i];
      const double sum = team.sum(double((sums[0] + sums[1]) + (sums[2] + sums[3])));
      if (team.rank() == 0) residual_sums()[k] = sum;
    }
    team.sync();
  }
  SHEAF_HOST_DEVICE void sum_nothing() const {
    if (team.rank() == 0)
      for (std::int32_t k = 0; k < count(); ++k) residual_sums()[k] = 0;
    team.sync();
  }

 private:
  /// Features that are not stored for all rows stay where they are; `volume` is that of their curvatures.
  SHEAF_HOST_DEVICE static void uncentre(const Model& model, double volume) {
    const auto& features = model.features;
    model.over_features([&](std::int32_t j) {
      if (features.places[j].length == model.task.examples) return;
      features.curvature[j] += static_cast<T>(volume) * features.mean[j] * features.mean[j];
      features.mean[j] = 0;
    });
    model.team.sync();
  }

  /// Weights with `share` of the step.
  SHEAF_HOST_DEVICE double penalty_with(double share) const {
    double sum = 0;
    for (std::int32_t j = team.rank(); j < working.count; j += team.size()) {
      double squares = 0;
      for (std::int32_t k = 0; k < count(); ++k) {
        const double start = working.start[place_of(k, j)];
        const double w = start + share * (double(working.w[place_of(k, j)]) - start);
        squares += w * w;
      }
      if (squares > 0) sum += penalty(j).value(squares);
    }
    return team.sum(sum);
  }

  /// One visit to every feature, or to those that have weights, and to the intercepts; returns the gain.
  SHEAF_HOST_DEVICE double pass(const DescentRules& rules, bool active) {
    const auto features = static_cast<std::uint64_t>(working.count);
    double gained = move_intercepts();
    for (std::uint64_t turn = 0; turn < features; ++turn) {
      auto j = static_cast<std::int32_t>(turn);
      if (rules.solver == NetSolver::shooting) {
        const std::uint64_t draw = static_cast<std::uint64_t>(epochs) * features + turn;
        j = static_cast<std::int32_t>(mixed(rules.seed ^ mixed(draw)) % features);
      }
      if (active && !has_weights(j)) continue;
      gained += visit(j);
    }
    epochs += 1;
    return gained;
  }

  /// Moves the weights of a feature to where they are best under the bound; returns a lower bound of the gain.
  SHEAF_HOST_DEVICE double visit(std::int32_t j) {
    const auto own = penalty(j);
    const ColumnPlace place = working.places[j];
    const auto ahead = x.ahead(team, place);
    double squares = 0;
    bool weights = false;
    for (std::int32_t k = 0; k < count(); ++k) {
      const auto at = place_of(k, j);
      if (!(working.curvature[at] > 0)) return 0;
      const double product =
          double(x.dot(team, place, ahead, all.residuals(k))) - double(working.mean[at]) * residual_sums()[k];
      const double pull = product / all.task.total + curvature_of(at) * double(working.w[at]);
      if (!limited() || limits(j).side(pull) > 0) squares += pull * pull;
      weights = weights || working.w[at] != 0;
      if (team.rank() == 0) steps()[k] = pull;
    }
    const bool none = squares <= own.p1 * own.p1;
    if (none && !weights) return 0;
    team.sync();  // all threads see the pulls
    const auto curvature = [&](std::int32_t k) { return curvature_of(place_of(k, j)); };
    const auto side = [&](std::int32_t k) { return limited() ? limits(j).side(steps()[k]) : HUGE_VAL; };
    const double length = none ? 0
                               : own.best_length(
                                     count(), [&](std::int32_t k) { return steps()[k]; }, curvature, side);
    double gained = 0;
    for (std::int32_t k = 0; k < count(); ++k) {
      const double step = best_weight(own, j, k, none, length) - double(working.w[place_of(k, j)]);
      gained += (curvature(k) + own.p2) * step * step / 2;
    }
    team.sync();  // all threads have read the weights and the pulls
    if (gained == 0) return 0;
    if (team.rank() == 0)
      for (std::int32_t k = 0; k < count(); ++k) {
        T& w = working.w[place_of(k, j)];
        const T best = best_weight(own, j, k, none, length);
        steps()[k] = double(best) - double(w);
        changes[k] -= steps()[k] * double(working.mean[place_of(k, j)]);
        w = best;
      }
    team.sync();
    move_rows([&](std::int32_t k) { return working.mean[place_of(k, j)]; },
              [&](const auto& move) { x.each(team, place, ahead, move); });
    sum_residuals();
    return gained;
  }
  SHEAF_HOST_DEVICE double curvature_of(std::int64_t at) const { return bound * double(working.curvature[at]); }
  SHEAF_HOST_DEVICE T best_weight(const GroupPenalty& own, std::int32_t j, std::int32_t k, bool none,
                                  double length) const {
    if (none) return 0;
    return within_limits(j, static_cast<T>(own.weight(steps()[k], curvature_of(place_of(k, j)), length)));
  }

  SHEAF_HOST_DEVICE double move_intercepts() {
    if (!all.task.intercept) return 0;
    double gained = 0;
    for (std::int32_t k = 0; k < count(); ++k) {
      const double step = residual_sums()[k] / (bound * volumes()[k]);
      gained += residual_sums()[k] * step / (2 * all.task.total);
    }
    team.sync();  // all threads have read the sums
    if (team.rank() == 0)
      for (std::int32_t k = 0; k < count(); ++k) {
        steps()[k] = residual_sums()[k] / (bound * volumes()[k]);
        changes[k] += steps()[k];
      }
    team.sync();
    move_rows([](std::int32_t) { return T(0); },
              [&](const auto& move) { all.over_rows([&](std::int64_t i) { move(i, T(1)); }); });
    sum_residuals();
    return gained;
  }

  /// each(move) calls move(i, value) for some rows, whose decision values move by steps() times value - mean(k).
  template <class Mean, class Each>
  SHEAF_HOST_DEVICE void move_rows(const Mean& mean, const Each& each) const {
    const T* weights = all.rows.weights;
    T* mixture = all.rows.mixed;
    for (std::int32_t k = 0; k < count() && !exact; ++k) {
      const T step = static_cast<T>(steps()[k]);
      const T center = mean(k);
      const T* shares = all.shares(k);
      each([&](std::int64_t i, T value) {
        mixture[i] = (k == 0 ? T(0) : mixture[i]) + shares[i] * step * (value - center);
      });
    }
    for (std::int32_t k = 0; k < count(); ++k) {
      const T step = static_cast<T>(steps()[k]);
      const T center = mean(k);
      const T* shares = all.shares(k);
      T* q = all.residuals(k);
      T* moved = all.steps(k);
      each([&](std::int64_t i, T value) {
        const T own = step * (value - center);
        moved[i] += own;
        if constexpr (exact)
          q[i] -= weights[i] * own;
        else
          q[i] += weights[i] * shares[i] * (mixture[i] - shares[i] * own) - static_cast<T>(all.curvature(k, i)) * own;
      });
    }
    team.sync();
  }
};

}  // namespace sheaf::linear
