// The quadratic model of a loss that coordinate descent makes smaller, with the penalties, on the working set of one
// model. Written once: a Team is one thread of a CPU, a warp or a block of a GPU, and every number below is the same in
// all its members.
//
// Implicit centring. With an intercept, features are centred by their means m under the row weights s without touching
// X: q holds s (y - b0 - x'w) for the intercept b0 of the start, and c the change of the intercept since, so that a
// step d of feature k takes d s x off q and adds d m to c, and the gradient is (x'q + c V m) / W with V = sum of s.
// For a loss that is not quadratic, its second derivatives take the place of s and its slopes that of q (datafit.hpp).
//
// A loss whose second derivative H couples rows (Cox) has the slopes of the start in s, the sum of all steps in `step`,
// and q = s - H step, which is computed anew if steps were taken since: a number added to all rows changes nothing of
// it, so that it needs no centring.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "linear/losses/losses.hpp"
#include "linear/net/model/columns.hpp"
#include "linear/net/model/task.hpp"

namespace sheaf::linear {

/// Memory for vectors over rows: z and step for losses that are not quadratic only, the next six, and step, for models
/// of several decision values, the last for Cox models.
template <class T>
struct RowVectors {
  T* q = nullptr;
  T* s = nullptr;
  T* before = nullptr;       ///< q before steps that may be taken back
  T* step_before = nullptr;  ///< Cox: likewise of the step
  T* z = nullptr;
  T* step = nullptr;
  T* weights = nullptr;      ///< of the rows
  T* mixed = nullptr;        ///< the mean of the steps of all classes under their shares
  T* class_z = nullptr;      ///< decision values of all classes, one class after another
  T* shares = nullptr;       ///< the probabilities of all classes
  T* residuals = nullptr;    ///< the weighted residuals of all classes before the step
  T* class_steps = nullptr;  ///< steps of the decision values of all classes
  double* risk = nullptr;
};
/// Element type of a model's vectors during training. Widths of losses are so small that in single precision rounding
/// would change the residuals of rows within them.
template <class Functor, class T>
using SolverValue = std::conditional_t<has_width<Functor>, double, T>;

template <class Functor>
inline constexpr bool has_class_rows = is_softmax<Functor> || is_grouped<Functor>;

/// Doubles begin at a multiple of their size.
template <class Functor>
SHEAF_HOST_DEVICE constexpr std::int32_t row_vectors(std::int32_t classes) {
  constexpr std::int32_t of_doubles = 2 * PartialLikelihood<OneThread, double>::vectors;
  if constexpr (is_cox<Functor>) return 6 + of_doubles;
  return has_class_rows<Functor> ? 6 + 4 * classes : Functor::quadratic ? 3 : 5;
}

template <class Functor, class T>
SHEAF_HOST_DEVICE RowVectors<T> make_row_vectors(T* memory, std::int64_t examples, std::int32_t classes) {
  const auto at = [&](int k) { return memory + k * examples; };
  RowVectors<T> rows{at(0), at(1), at(2)};
  if constexpr (!Functor::quadratic && !has_class_rows<Functor>) rows.z = at(3);
  if constexpr (!Functor::quadratic || has_class_rows<Functor>) rows.step = at(4);
  if constexpr (has_class_rows<Functor>) {
    rows.mixed = at(3);
    rows.weights = at(5);
    rows.class_z = at(6);
    rows.shares = at(6 + classes);
    rows.residuals = at(6 + 2 * classes);
    rows.class_steps = at(6 + 3 * classes);
  }
  if constexpr (is_cox<Functor>) {
    rows.step_before = at(5);
    rows.risk = reinterpret_cast<double*>(at(6));
  }
  return rows;
}

/// Passes between extrapolations, and one.
inline constexpr int history_length = 6;

/// The working set and memory for vectors over it.
template <class T>
struct WorkingSet {
  const std::int32_t* list = nullptr;
  std::int32_t count = 0;
  ColumnPlace* places = nullptr;
  std::int32_t* active = nullptr;  ///< those that have a weight
  // With several classes, these hold all of them, one class after another:
  T* w = nullptr;
  T* mean = nullptr;
  T* curvature = nullptr;
  T* start = nullptr;  ///< weights before the Newton step; until it begins 1 for features that it leaves out, else 0
  // These are of the feature:
  T* penalty1 = nullptr;
  T* penalty2 = nullptr;
  T* history = nullptr;  ///< weights after each of the last passes, history_length of them

  SHEAF_HOST_DEVICE WorkingSet of_class(std::int32_t k) const {
    WorkingSet own = *this;
    const std::int64_t before = static_cast<std::int64_t>(k) * count;
    own.w += before;
    own.mean += before;
    own.curvature += before;
    own.start += before;
    return own;
  }
};
SHEAF_HOST_DEVICE constexpr std::int32_t feature_vectors(std::int32_t classes) {
  return 4 * classes + 2 + history_length;
}

template <class T>
SHEAF_HOST_DEVICE WorkingSet<T> make_working_set(const std::int32_t* list, std::int32_t count, T* memory,
                                                 ColumnPlace* places, std::int32_t* active, std::int32_t classes) {
  const auto at = [&](std::int64_t k) { return memory + k * count; };
  return {list,
          count,
          places,
          active,
          memory,
          at(classes),
          at(2 * classes),
          at(3 * classes),
          at(4 * classes),
          at(4 * classes + 1),
          at(4 * classes + 2)};
}

/// The order of all features.
struct InOrder {
  SHEAF_HOST_DEVICE std::int32_t operator()(std::int32_t turn) const { return turn; }
};

/// `Stored` is the element type of tables and blocks.
template <class Team, class T, class Columns, bool Coupled = false, class Stored = T>
struct QuadraticModel {
  using Value = T;
  using StoredValue = Stored;
  using TeamType = Team;
  static constexpr bool coupled = Coupled;

  const Team& team;
  const Columns& x;
  const ModelTask<Stored>& task;
  const RowVectors<T>& rows;
  const WorkingSet<T>& features;
  double volume = 0;  // sum of s
  double shift = 0;   // c above
  std::int32_t epochs = 0;
  std::int32_t next_look = 0;                        // the number of epochs at which stopped() looks again
  PartialLikelihood<Team, T>* likelihood = nullptr;  // if rows are coupled
  mutable bool stale = false;                        // q does not include the last steps

  SHEAF_HOST_DEVICE QuadraticModel(const Team& team_, const Columns& x_, const ModelTask<Stored>& task_,
                                   const RowVectors<T>& rows_, const WorkingSet<T>& features_)
      : team(team_), x(x_), task(task_), rows(rows_), features(features_) {}

  /// Whether the work is to end: then the result is not used. Checked now and then, for on a GPU the answer is far
  /// away.
  SHEAF_HOST_DEVICE bool stopped() {
    if (epochs < next_look) return false;
    next_look = epochs + Team::epochs_between_looks;
    return team.stopped();
  }

  template <class F>
  SHEAF_HOST_DEVICE void over_rows(F&& f) const {
    for (std::int64_t i = team.rank(); i < task.examples; i += team.size()) f(i);
  }
  template <class F>
  SHEAF_HOST_DEVICE double sum_rows(F&& f) const {
    double sum = 0;
    over_rows([&](std::int64_t i) { sum += f(i); });
    return team.sum(sum);
  }
  template <class F>
  SHEAF_HOST_DEVICE void over_features(F&& f) const {
    for (std::int32_t k = team.rank(); k < features.count; k += team.size()) f(k);
  }

  /// Weights and the features' rows of the table; s is the row weights.
  SHEAF_HOST_DEVICE void load(const Stored* w, std::int64_t stride) {
    over_features([&](std::int32_t k) {
      const std::int64_t j = features.list[k];
      const auto penalty = task.penalty(j);
      features.places[k] = x.place(static_cast<std::int32_t>(j));
      features.w[k] = w[j * stride];
      features.mean[k] = task.intercept && !coupled ? task.mean(j) : T(0);
      features.curvature[k] = static_cast<T>(task.curvature(j) * task.loss_curvature);
      features.penalty1[k] = static_cast<T>(penalty.p1);
      features.penalty2[k] = static_cast<T>(penalty.p2);
    });
    over_rows([&](std::int64_t i) { rows.s[i] = task.weight(i); });
    volume = task.total;
    shift = 0;
  }

  /// q after all steps.
  SHEAF_HOST_DEVICE void refresh() const {
    if constexpr (coupled) {
      if (!stale) return;
      stale = false;
      team.sync();
      likelihood->multiply([&](std::int64_t i) { return rows.step[i]; },
                           [&](std::int64_t i, double value) { rows.q[i] = rows.s[i] - static_cast<T>(value); });
    }
  }

  /// All data of feature k that a visit needs, but the entries of its column.
  struct Coordinate {
    std::int32_t k;
    ColumnPlace place;
    T w, mean, curvature;
    ElasticNetPenalty<T> penalty;
  };
  SHEAF_HOST_DEVICE ElasticNetPenalty<T> penalty(std::int32_t k) const {
    return {features.penalty1[k], features.penalty2[k]};
  }
  SHEAF_HOST_DEVICE Coordinate coordinate(std::int32_t k) const {
    return {k, features.places[k], features.w[k], features.mean[k], features.curvature[k], penalty(k)};
  }

  /// Minus the derivative of the loss.
  template <class Part>
  SHEAF_HOST_DEVICE T gradient(const Part& part, const Coordinate& at, const ColumnAhead<T>& ahead) const {
    return (x.dot(part, at.place, ahead, rows.q) + static_cast<T>(shift * volume) * at.mean) /
           static_cast<T>(task.total);
  }
  template <class Part>
  SHEAF_HOST_DEVICE T best_weight(const Part& part, const Coordinate& at, const ColumnAhead<T>& ahead) const {
    return at.penalty.best_weight(gradient(part, at, ahead) + at.curvature * at.w, at.curvature);
  }

  /// The weight, or the limit that it passes.
  SHEAF_HOST_DEVICE T within_limits(std::int32_t k, T w) const { return task.within_limits(features.list[k], w); }

  /// visit(coordinate, ahead) for features feature(0) .. feature(count - 1), each once. Data of the next ones are
  /// fetched during a visit, for memory is far and a visit must end before the next can begin.
  template <class Feature, class Visit>
  SHEAF_HOST_DEVICE void in_turn(std::int32_t count, const Feature& feature, const Visit& visit) const {
    in_turn_by(team, count, feature, visit);
  }
  /// The same for a part of the team by itself.
  template <class Part, class Feature, class Visit>
  SHEAF_HOST_DEVICE void in_turn_by(const Part& part, std::int32_t count, const Feature& feature,
                                    const Visit& visit) const {
    constexpr std::int32_t visits_between_looks = 256;
    if (count <= 0) return;
    if constexpr (!Team::fetches_ahead) {
      for (std::int32_t turn = 0; turn < count; ++turn) {
        if (turn % visits_between_looks == 0 && team.stopped()) return;
        visit(coordinate(feature(turn)), ColumnAhead<T>{});
      }
    } else {
      const auto clipped = [&](std::int32_t turn) { return feature(turn < count ? turn : count - 1); };
      Coordinate now = coordinate(feature(0));
      ColumnAhead<T> entries = x.ahead(part, now.place);
      Coordinate next = coordinate(clipped(1));
      std::int32_t then = clipped(2);
      for (std::int32_t turn = 0; turn < count; ++turn) {
        const ColumnAhead<T> next_entries = x.ahead(part, next.place);
        const Coordinate after = coordinate(then);
        then = clipped(turn + 3);
        visit(now, entries);
        now = next;
        entries = next_entries;
        next = after;
      }
    }
  }

  /// Moves a feature's weight to where it is best; returns a lower bound of the gain.
  SHEAF_HOST_DEVICE double visit(const Coordinate& at, const ColumnAhead<T>& ahead) {
    if (!(at.curvature > 0)) return 0;
    refresh();
    const T best = best_weight(team, at, ahead);
    const T w = within_limits(at.k, best);
    const T step = w - at.w;
    if (step == 0) return 0;
    team.sync();  // all threads have read the old residuals
    apply(at, ahead, step, w);
    team.sync();
    const double curvature = double(at.curvature + at.penalty.p2);
    return curvature * double(step) * double(step) / 2 + curvature * double(step) * double(best - w);
  }

  SHEAF_HOST_DEVICE void apply(const Coordinate& at, const ColumnAhead<T>& ahead, T step, T w) {
    if (team.rank() == 0) features.w[at.k] = w;
    x.each(team, at.place, ahead, [&](std::int32_t i, T value) { move_row(i, step, value); });
    shift += double(step) * double(at.mean);
    stale = coupled;
  }
  /// The effect of a feature's step on a row in which it has this value.
  SHEAF_HOST_DEVICE void move_row(std::int32_t i, T step, T value) const {
    if constexpr (coupled)
      rows.step[i] += step * value;
    else
      rows.q[i] -= step * rows.s[i] * value;
  }

  /// `column` becomes feature k, of the working set, in all rows.
  SHEAF_HOST_DEVICE void load_feature(std::int32_t k, T* column) const {
    over_rows([&](std::int64_t i) { column[i] = 0; });
    team.sync();
    x.each(team, features.list[k], [&](std::int32_t i, T value) { column[i] = value; });
    team.sync();
  }
  /// The second derivative times feature k of the working set, centred.
  SHEAF_HOST_DEVICE void multiply_feature(std::int32_t k, T* column) const {
    if constexpr (coupled) {
      load_feature(k, column);
      likelihood->multiply([&](std::int64_t i) { return column[i]; },
                           [&](std::int64_t i, double value) { column[i] = static_cast<T>(value); });
    } else {
      const T* s = rows.s;
      over_rows([&](std::int64_t i) { column[i] = -features.mean[k] * s[i]; });
      team.sync();
      x.each(team, features.list[k], [&](std::int32_t i, T value) { column[i] += s[i] * value; });
      team.sync();
    }
  }

  /// Lists the features that have a weight; returns their number.
  SHEAF_HOST_DEVICE std::int32_t list_active() const {
    const std::int32_t count = team.list_nonzero(features.w, features.count, features.active);
    team.sync();
    return count;
  }

  /// The objective of the passes: the quadratic model of the loss, and the penalties.
  SHEAF_HOST_DEVICE double value() const {
    refresh();
    const double squares = sum_rows([&](std::int64_t i) {
      if constexpr (coupled) return -double(rows.step[i]) * (double(rows.s[i]) + double(rows.q[i]));
      const double s = rows.s[i];
      if (!(s > 0)) return 0.0;
      const double r = double(rows.q[i]) / s + shift;
      return s * r * r;
    });
    double penalties = 0;
    over_features([&](std::int32_t k) { penalties += penalty(k).value(features.w[k]); });
    return squares / (2 * task.total) + team.sum(penalties);
  }

  /// The weights after pass `turn` of the last ones.
  SHEAF_HOST_DEVICE T* history(int turn) const {
    return features.history + static_cast<std::int64_t>(turn) * features.count;
  }
  SHEAF_HOST_DEVICE void remember(int turn) const {
    T* to = history(turn);
    over_features([&](std::int32_t k) { to[k] = features.w[k]; });
    team.sync();
  }

  /// try_steps() changes weights and residuals. Steps that make the model no smaller are taken back: weights to
  /// `weights`, which they were before. Returns the gain; negative: taken back.
  template <class TrySteps>
  SHEAF_HOST_DEVICE double attempt(const T* weights, const TrySteps& try_steps) {
    const double value_before = value();
    over_rows([&](std::int64_t i) {
      rows.before[i] = rows.q[i];
      if constexpr (coupled) rows.step_before[i] = rows.step[i];
    });
    const double shift_before = shift;
    team.sync();
    try_steps();
    epochs += 1;
    const double gain = value_before - value();
    if (gain >= 0) return gain;
    over_features([&](std::int32_t k) { features.w[k] = weights[k]; });
    over_rows([&](std::int64_t i) {
      rows.q[i] = rows.before[i];
      if constexpr (coupled) rows.step[i] = rows.step_before[i];
    });
    stale = false;
    shift = shift_before;
    team.sync();
    return gain;
  }
};

}  // namespace sheaf::linear
