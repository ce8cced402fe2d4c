// The best rows of weights of all features that have some, and the best intercepts, all at once: class_system.hpp if
// penalties are grouped.
//
// The length of a row is a smooth function of it but at 0, so that Newton's method finds them: products of second
// derivatives once, then a few linear systems of these and the penalties' own second derivatives,
// p1 / |w| (I - w w' / |w|^2) + p2. A row that a step would turn round goes to 0 and is left out, and a weight that
// comes to its limit stays there; passes over the features, which come next, bring them back if that was wrong.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linear/net/model/class_system.hpp"

namespace sheaf::linear {

/// Newton's method on the system of a GroupModel: intercepts come first, then the rows of weights.
template <class Groups>
class GroupSystem {
  using T = typename Groups::Value;

 public:
  GroupSystem(Groups& groups, std::span<const ClassWeight> list)
      : groups_(groups),
        gram_(groups.team.gram()),
        system_(gram_.system()),
        list_(list),
        size_(static_cast<std::int32_t>(list.size())) {
    first_ = groups.all.task.intercept ? groups.count() : 0;
    gram_.fill([](std::int32_t) { return 0.0; });
    rest_.resize(list.size());
    for (std::int32_t t = 0; t < size_; ++t) {
      const auto [k, feature] = list[index(t)];
      const T* q = groups.all.residuals(k);
      const double sum = feature < 0 ? groups.residual_sums()[k]
                                     : double(groups.x.dot(groups.team, groups.working.places[feature], {}, q));
      rest_[index(t)] = sum / groups.all.task.total;
      system_.weights[t] = feature < 0 ? 0.0 : double(groups.working.w[groups.place_of(k, feature)]);
    }
    before_.assign(system_.weights, system_.weights + size_);
    for (std::int32_t t = 0; t < size_ && groups.limited(); ++t) {
      limits_.push_back({-HUGE_VAL, HUGE_VAL});
      if (t < first_) continue;
      const auto own = groups.limits(list[index(t)].feature);
      limits_.back() = {double(own.low), double(own.high)};
    }
  }

  /// Steps until one gains no more than `little`; returns all they gain.
  double solve(double little) {
    constexpr int most_turns = 20;
    double gained = 0;
    for (int turn = 0; turn < most_turns; ++turn) {
      find_step();
      if (leave_out_turned(gained)) continue;
      const double more = take_step();
      gained += more;
      if (more <= little) break;
    }
    return gained;
  }

  /// Weights and rows of the model follow.
  void apply() {
    for (std::int32_t t = 0; t < size_; t += groups_.count()) {
      bool moved = false;
      for (std::int32_t k = 0; k < groups_.count(); ++k) {
        groups_.steps()[k] = system_.weights[t + k] - before_[index(t + k)];
        moved = moved || groups_.steps()[k] != 0;
      }
      if (moved) groups_.add_steps(list_[index(t)].feature);
    }
    groups_.sum_residuals();
  }

 private:
  static std::size_t index(std::int32_t t) { return static_cast<std::size_t>(t); }
  /// use(t, penalty, squares) for each row of weights that is in the system, which begins at t: those that are not 0.
  template <class Use>
  void each_row(const Use& use) const {
    for (std::int32_t t = first_; t < size_; t += groups_.count()) {
      double squares = 0;
      for (std::int32_t k = 0; k < groups_.count(); ++k) squares += system_.weights[t + k] * system_.weights[t + k];
      if (squares > 0) use(t, groups_.penalty(list_[index(t)].feature), squares);
    }
  }
  /// The part of a weight's change that its limits allow.
  double within_limits(std::int32_t a, double change) const {
    if (limits_.empty()) return change;
    const double w = system_.weights[a];
    const double to = limits_[index(a)].nearest(w + change);
    return to == w + change ? change : to - w;
  }
  /// Weights that are pulled beyond their limits, and are there, leave the system.
  void leave_out_held() {
    constexpr double rounding = 1e-14;
    for (std::int32_t a = first_; a < size_ && !limits_.empty(); ++a) {
      const double pull = system_.pulls[a];
      const double w = pull > 0 ? system_.weights[a] : -system_.weights[a];
      if (w >= (1 - rounding) * limits_[index(a)].side(pull)) system_.leave_out(a);
    }
  }

  void find_step() {
    constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a weight others do not make up
    std::copy(rest_.begin(), rest_.end(), system_.pulls);
    each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
      const double slope = penalty.p2 + (penalty.p1 > 0 ? penalty.p1 / std::sqrt(squares) : 0);
      for (std::int32_t k = 0; k < groups_.count(); ++k) system_.pulls[t + k] -= slope * system_.weights[t + k];
    });
    leave_out_held();
    gram_.find_newton_step(singular, [&] {
      each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
        const double rise = penalty.p1 > 0 ? penalty.p1 / std::sqrt(squares) : 0;
        for (std::int32_t a = t; a < t + groups_.count(); ++a) {
          for (std::int32_t b = t; b < t + groups_.count(); ++b)
            system_.entry(a, b) -= rise * system_.weights[a] * system_.weights[b] / squares;
          system_.entry(a, a) += rise + penalty.p2;
        }
      });
    });
  }

  /// Rows that the step would turn round become 0 and leave the system. False: there are none.
  bool leave_out_turned(double& gained) {
    std::vector<double> change(index(size_), 0.0);
    std::vector<std::int32_t> turned;
    double penalties = 0;
    each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
      double along = squares;
      for (std::int32_t a = t; a < t + groups_.count(); ++a) along += system_.weights[a] * system_.step()[a];
      if (along > 0) return;
      turned.push_back(t);
      penalties += penalty.value(squares);
      for (std::int32_t a = t; a < t + groups_.count(); ++a) change[index(a)] = -system_.weights[a];
    });
    if (turned.empty()) return false;
    gained += penalties - move(change);
    for (const auto t : turned)
      for (std::int32_t a = t; a < t + groups_.count(); ++a) {
        system_.weights[a] = 0;
        system_.leave_out(a);
      }
    return true;
  }

  /// The largest share of the step, of halves, that gains within the limits; returns the gain, 0 if none does.
  double take_step() {
    constexpr int most_halves = 20;
    std::vector<double> change(index(size_));
    double share = 1;
    for (int turn = 0; turn < most_halves; ++turn, share /= 2) {
      for (std::int32_t a = 0; a < size_; ++a) change[index(a)] = within_limits(a, share * system_.step()[a]);
      double along = 0, curvature = 0;
      for (std::int32_t a = 0; a < size_; ++a) {
        along += rest_[index(a)] * change[index(a)];
        curvature += times_row(a, change) * change[index(a)];
      }
      double gain = along - curvature / 2;
      each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
        double then = 0;
        for (std::int32_t a = t; a < t + groups_.count(); ++a) {
          const double w = system_.weights[a] + change[index(a)];
          then += w * w;
        }
        gain += penalty.value(squares) - penalty.value(then);
      });
      if (!(gain > 0)) continue;
      move(change);
      return gain;
    }
    return 0;
  }

  /// Row a of the system times a change of the weights.
  double times_row(std::int32_t a, const std::vector<double>& change) const {
    return dot_of<double>(system_.row(a), change.data(), size_);
  }

  /// Weights move; returns by how much the quadratic model rises.
  double move(const std::vector<double>& change) {
    double rise = 0;
    for (std::int32_t a = 0; a < size_; ++a) {
      const double product = times_row(a, change);
      rise -= change[index(a)] * (rest_[index(a)] - product / 2);
      rest_[index(a)] -= product;
      system_.weights[a] += change[index(a)];
    }
    return rise;
  }

  Groups& groups_;
  GramSystem& gram_;
  const GramSystem::System& system_;
  std::span<const ClassWeight> list_;
  std::int32_t size_;
  std::int32_t first_ = 0;    // where rows of weights begin
  std::vector<double> rest_;  // minus the slopes of the quadratic model
  std::vector<double> before_;
  std::vector<WeightLimits<double>> limits_;  // empty: none
};

/// Finds the best rows of weights that are not 0, and the best intercepts, until a step gains no more than `little`.
/// Adds the gain to `gained`. Returns false if there are too many of them.
template <class Groups>
bool solve_groups(Groups& groups, double little, double& gained) {
  std::vector<ClassWeight> list;
  for (std::int32_t j = groups.all.task.intercept ? -1 : 0; j < groups.working.count; ++j)
    for (std::int32_t k = 0; k < groups.count() && (j < 0 || groups.has_weights(j)); ++k) list.push_back({k, j});
  if (!begin_system(groups, list)) return false;
  GroupSystem<Groups> system(groups, list);
  const double gain = system.solve(little);
  if (gain > 0) {
    system.apply();
    gained += gain;
  }
  ++groups.epochs;
  return true;
}

}  // namespace sheaf::linear
