// The best rows of weights of all features that have some, and the best intercepts, all at once: class_system.hpp where
// penalties are grouped.
//
// The length of a row is a smooth function of it but at 0, so that Newton's method finds them: products of second
// derivatives once, then a few linear systems of these and the penalties' own second derivatives,
// p1 / |w| (I - w w' / |w|^2) + p2. A row that a step would turn round goes to 0 and is left out; passes over the
// features, which come next, bring it back where that was wrong.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linear/net/class_system.hpp"

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
  /// use(t, penalty, squares) for each row of weights that is in the system, which begins at t.
  template <class Use>
  void each_row(const Use& use) const {
    for (std::int32_t t = first_; t < size_; t += groups_.count()) {
      if (!system_.in_play(t)) continue;
      double squares = 0;
      for (std::int32_t k = 0; k < groups_.count(); ++k) squares += system_.weights[t + k] * system_.weights[t + k];
      use(t, groups_.penalty(list_[index(t)].feature), squares);
    }
  }

  void find_step() {
    constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a weight others do not make up
    std::copy(rest_.begin(), rest_.end(), system_.pulls);
    each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
      const double slope = penalty.p2 + (penalty.p1 > 0 ? penalty.p1 / std::sqrt(squares) : 0);
      for (std::int32_t k = 0; k < groups_.count(); ++k) system_.pulls[t + k] -= slope * system_.weights[t + k];
    });
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
    gained += penalties - move(change.data(), 1);
    for (const auto t : turned)
      for (std::int32_t a = t; a < t + groups_.count(); ++a) {
        system_.weights[a] = 0;
        system_.leave_out(a);
      }
    return true;
  }

  /// The largest share of the step, of halves, that gains; returns what it gains, 0 where none does.
  double take_step() {
    constexpr int most_halves = 20;
    const double* step = system_.step();
    double along = 0, curvature = 0;
    for (std::int32_t a = 0; a < size_; ++a) {
      along += rest_[index(a)] * step[a];
      curvature += times_row(a, step) * step[a];
    }
    double share = 1;
    for (int turn = 0; turn < most_halves; ++turn, share /= 2) {
      double gain = share * along - share * share / 2 * curvature;
      each_row([&](std::int32_t t, const GroupPenalty& penalty, double squares) {
        double then = 0;
        for (std::int32_t a = t; a < t + groups_.count(); ++a) {
          const double w = system_.weights[a] + share * step[a];
          then += w * w;
        }
        gain += penalty.value(squares) - penalty.value(then);
      });
      if (!(gain > 0)) continue;
      move(step, share);
      return gain;
    }
    return 0;
  }

  /// Row a of the system times a step.
  double times_row(std::int32_t a, const double* step) const { return dot_of<double>(system_.row(a), step, size_); }

  /// Weights move; returns by how much the quadratic model rises.
  double move(const double* step, double share) {
    double rise = 0;
    for (std::int32_t a = 0; a < size_; ++a) {
      const double product = times_row(a, step);
      rise -= share * step[a] * (rest_[index(a)] - share * product / 2);
      rest_[index(a)] -= share * product;
      system_.weights[a] += share * step[a];
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
};

/// The best rows of weights that are not 0, and the best intercepts, until a step gains no more than `little`. False:
/// there are too many of them. What it gains is added to `gained`.
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
