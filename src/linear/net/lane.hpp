// One model of an elastic net on its working set, by coordinate descent. Written once: a Team is one thread of a CPU, a
// warp or a block of a GPU, and every number below is the same in all its members.
//
// Implicit centring. With an intercept, features are centred by their means m under the row weights s without touching
// X: q holds s (y - b0 - x'w) for the intercept b0 of the start, and c the change of the intercept since, so that a
// step d of feature k takes d s x off q and adds d m to c, and the gradient is (x'q + c V m) / W with V = sum of s.
//
// The logistic loss is a series of such problems (proximal Newton): the second derivatives v take the place of s and
// the first derivatives that of q; then the true objective decides how far to go along the step.
#pragma once

#include <cmath>
#include <cstdint>

#include "linear/net/columns.hpp"
#include "linear/net/task.hpp"

namespace sheaf::linear {

/// Memory for vectors over rows: z and step for the logistic loss only.
template <class T>
struct LaneRows {
  T* q = nullptr;
  T* s = nullptr;
  T* before = nullptr;  ///< q before an extrapolation
  T* z = nullptr;
  T* step = nullptr;
};

/// The working set and memory for vectors over it.
template <class T>
struct LaneFeatures {
  const std::int32_t* list = nullptr;
  std::int32_t count = 0;
  ColumnPlace* places = nullptr;
  std::int32_t* active = nullptr;  ///< those that have a weight
  T* w = nullptr;
  T* mean = nullptr;
  T* curvature = nullptr;
  T* penalty1 = nullptr;
  T* penalty2 = nullptr;
  T* start = nullptr;    ///< logistic loss: weights before the Newton step; shotgun: the last good ones
  T* history = nullptr;  ///< weights after each of the last passes, lane_history of them
};
/// Passes between extrapolations, and one.
inline constexpr int lane_history = 6;
/// Vectors over rows and over the working set that a lane needs.
SHEAF_HOST_DEVICE constexpr int lane_row_vectors(bool logistic) { return logistic ? 5 : 3; }
inline constexpr int lane_feature_vectors = 6 + lane_history;

template <class T>
SHEAF_HOST_DEVICE LaneRows<T> lane_rows(T* memory, std::int64_t examples, bool logistic) {
  return {memory, memory + examples, memory + 2 * examples, logistic ? memory + 3 * examples : nullptr,
          logistic ? memory + 4 * examples : nullptr};
}
template <class T>
SHEAF_HOST_DEVICE LaneFeatures<T> lane_features(const std::int32_t* list, std::int32_t count, T* memory,
                                                ColumnPlace* places, std::int32_t* active) {
  const auto at = [&](std::int64_t k) { return memory + k * count; };
  return {list, count, places, active, at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
}

enum class LaneOrder : std::uint8_t { active, cyclic, random, parallel };

struct LaneRules {
  LaneOrder order = LaneOrder::active;
  std::int32_t max_epochs = 1000;
  std::int32_t parallel = 1;
  std::uint64_t seed = 0;
};

/// What became of a lane.
struct LaneReport {
  double intercept = 0;
  double gap = 0;  ///< over the working set
  RowSums rows;
  std::int32_t epochs = 0;
  std::int32_t parallel = 1;
};

/// Teams that have room for products of features solve for many weights at once.
template <class Team>
inline constexpr bool settles = requires(const Team& team) {
  team.gram();
};

template <bool Logistic, class Team, class T, class Columns>
class LaneSolver {
 public:
  SHEAF_HOST_DEVICE LaneSolver(const Team& team, const Columns& x, const LaneTask<T>& task, const LaneRows<T>& rows,
                               const LaneFeatures<T>& features, const LaneRules& rules)
      : team_(team), x_(x), task_(task), rows_(rows), features_(features), rules_(rules), parallel_(rules.parallel) {}

  /// `w` and `z` are the model's columns of the blocks of weights and of x'w, `u` that of s times the residuals.
  SHEAF_HOST_DEVICE LaneReport run(T* w, T* z, T* u, std::int64_t stride, double intercept, double tolerance) {
    load(w, z, stride, intercept);
    double gap = 0;
    while (true) {
      take_residuals();
      gap = measure();
      if (gap <= tolerance || epochs_ >= rules_.max_epochs || stopped()) break;
      if constexpr (Logistic) take_curvatures();
      const double gained = descend(gap, tolerance);
      if constexpr (Logistic) search_line();
      if (gained <= precision * sums_.loss) break;  // steps are lost in rounding: this is as near as it gets
    }
    hand_out(w, z, u, stride);
    LaneReport report;
    report.intercept = intercept_;
    report.gap = gap;
    report.rows = sums_;
    report.epochs = epochs_;
    report.parallel = parallel_;
    return report;
  }

 private:
  /// Whether the work is to end: then nobody asks for what this model has become. Asked now and then, for on a GPU the
  /// answer is far away.
  SHEAF_HOST_DEVICE bool stopped() {
    if (epochs_ < next_look_) return false;
    next_look_ = epochs_ + Team::epochs_between_looks;
    return team_.stopped();
  }

  template <class F>
  SHEAF_HOST_DEVICE void over_rows(F&& f) const {
    for (std::int64_t i = team_.rank(); i < task_.examples; i += team_.size()) f(i);
  }
  template <class F>
  SHEAF_HOST_DEVICE double sum_rows(F&& f) const {
    double sum = 0;
    over_rows([&](std::int64_t i) { sum += f(i); });
    return team_.sum(sum);
  }
  template <class F>
  SHEAF_HOST_DEVICE void over_features(F&& f) const {
    for (std::int32_t k = team_.rank(); k < features_.count; k += team_.size()) f(k);
  }

  SHEAF_HOST_DEVICE void load(const T* w, const T* z, std::int64_t stride, double intercept) {
    intercept_ = intercept;
    over_features([&](std::int32_t k) {
      const std::int64_t j = features_.list[k];
      features_.places[k] = x_.place(static_cast<std::int32_t>(j));
      features_.w[k] = w[j * stride];
      features_.mean[k] = task_.intercept ? task_.mean(j) : T(0);
      features_.curvature[k] = task_.curvature(j);
      features_.penalty1[k] = static_cast<T>(task_.penalty1(j));
      features_.penalty2[k] = static_cast<T>(task_.penalty2(j));
    });
    over_rows([&](std::int64_t i) {
      rows_.s[i] = task_.weight(i);
      if constexpr (Logistic)
        rows_.z[i] = z[i * stride];
      else
        rows_.q[i] = rows_.s[i] * (task_.target(i) - z[i * stride]);
    });
    volume_ = task_.total;
    shift_ = 0;
    team_.sync();
  }

  /// q: the weighted residuals at the present weights, their sum 0 where there is an intercept.
  SHEAF_HOST_DEVICE void take_residuals() {
    if constexpr (Logistic) {
      center_logistic();
    } else {
      double change = 0;
      if (task_.intercept) change = sum_rows([&](std::int64_t i) { return double(rows_.q[i]); }) / task_.total;
      over_rows([&](std::int64_t i) { rows_.q[i] -= static_cast<T>(change) * rows_.s[i]; });
      shift_ = 0;
      team_.sync();
    }
  }

  SHEAF_HOST_DEVICE static T probability(T decision) {
    const T e = exp_nonpositive(decision > 0 ? -decision : decision);
    return decision > 0 ? 1 / (1 + e) : e / (1 + e);
  }
  SHEAF_HOST_DEVICE T indicator(std::int64_t i) const { return task_.target(i) > 0 ? T(1) : T(0); }

  /// The best intercept for the present z, by Newton's method on one number, and q for it.
  SHEAF_HOST_DEVICE void center_logistic() {
    for (int turn = 0;; ++turn) {
      double slope = 0;
      double bend = 0;
      over_rows([&](std::int64_t i) {
        const T p = probability(rows_.z[i] + static_cast<T>(intercept_));
        const T s = task_.weight(i);
        rows_.q[i] = s * (indicator(i) - p);
        slope += rows_.q[i];
        bend += s * p * (1 - p);
      });
      if (!task_.intercept) break;
      slope = team_.sum(slope);
      bend = team_.sum(bend);
      if (std::abs(slope) <= center_precision * task_.total || turn >= 50 || !(bend > 0)) break;
      const double step = slope / bend;
      intercept_ += step > 2 ? 2 : (step < -2 ? -2 : step);
    }
    team_.sync();
  }

  SHEAF_HOST_DEVICE static double logistic_loss(double y, double decision) {
    const double margin = y > 0 ? decision : -decision;
    return (margin < 0 ? -margin : 0) + log1p_unit(exp_nonpositive(margin < 0 ? margin : -margin));
  }

  SHEAF_HOST_DEVICE double loss_at(double share) const {
    return sum_rows([&](std::int64_t i) {
             const double z = double(rows_.z[i]) + share * double(rows_.step[i]) + intercept_;
             return double(task_.weight(i)) * logistic_loss(task_.target(i), z);
           }) /
           task_.total;
  }

  SHEAF_HOST_DEVICE double entropy(double scale) const {
    return sum_rows([&](std::int64_t i) {
             const double s = task_.weight(i);
             return s > 0 ? s * entropy_of(scale * std::abs(double(rows_.q[i])) / s) : 0.0;
           }) /
           task_.total;
  }

  /// All that a visit needs to know of feature k, but the entries of its column.
  struct Facts {
    std::int32_t k;
    ColumnPlace place;
    T w, mean, curvature, penalty1, penalty2;
  };
  SHEAF_HOST_DEVICE Facts facts(std::int32_t k) const {
    return {k,
            features_.places[k],
            features_.w[k],
            features_.mean[k],
            features_.curvature[k],
            features_.penalty1[k],
            features_.penalty2[k]};
  }

  template <class Part>
  SHEAF_HOST_DEVICE T gradient(const Part& part, const Facts& facts, const ColumnAhead<T>& ahead) const {
    return (x_.dot(part, facts.place, ahead, rows_.q) + static_cast<T>(shift_ * volume_) * facts.mean) /
           static_cast<T>(task_.total);
  }

  /// visit(facts, ahead) for features feature(0) .. feature(count - 1), each once. What the next ones need is fetched
  /// while one is visited, for memory is far and a visit must end before the next can begin.
  template <class Feature, class Visit>
  SHEAF_HOST_DEVICE void in_turn(std::int32_t count, const Feature& feature, const Visit& visit) {
    in_turn_by(team_, count, feature, visit);
  }
  /// The same for a part of the team by itself.
  template <class Part, class Feature, class Visit>
  SHEAF_HOST_DEVICE void in_turn_by(const Part& part, std::int32_t count, const Feature& feature, const Visit& visit) {
    if (count <= 0) return;
    if constexpr (!Team::fetches_ahead) {
      for (std::int32_t turn = 0; turn < count; ++turn) {
        if (turn % visits_between_looks == 0 && team_.stopped()) return;
        visit(facts(feature(turn)), ColumnAhead<T>{});
      }
    } else {
      const auto clipped = [&](std::int32_t turn) { return feature(turn < count ? turn : count - 1); };
      Facts now = facts(feature(0));
      ColumnAhead<T> entries = x_.ahead(part, now.place);
      Facts next = facts(clipped(1));
      std::int32_t then = clipped(2);
      for (std::int32_t turn = 0; turn < count; ++turn) {
        const ColumnAhead<T> next_entries = x_.ahead(part, next.place);
        const Facts after = facts(then);
        then = clipped(turn + 3);
        visit(now, entries);
        now = next;
        entries = next_entries;
        next = after;
      }
    }
  }

  /// The duality gap of the problem that has the features of the working set alone.
  SHEAF_HOST_DEVICE double measure() {
    FeatureSums sums;
    in_turn(features_.count, All{}, [&](const Facts& facts, const ColumnAhead<T>& ahead) {
      sums.add(gradient(team_, facts, ahead), facts.w, facts.penalty1, facts.penalty2, facts.curvature);
    });
    epochs_ += 1;
    if constexpr (Logistic) {
      sums_.loss = sum_rows([&](std::int64_t i) {
                     return double(task_.weight(i)) * logistic_loss(task_.target(i), double(rows_.z[i]) + intercept_);
                   }) /
                   task_.total;
      sums_.entropy = entropy(1);
      penalty_ = sums.lasso + sums.ridge / 2;
      return logistic_gap(sums, sums_, entropy(feasible_scale(sums.ratio)));
    } else {
      sums_.squares = sum_rows([&](std::int64_t i) {
                        const double s = rows_.s[i];
                        const double q = rows_.q[i];
                        return s > 0 ? q * q / s : 0.0;
                      }) /
                      task_.total;
      sums_.products =
          sum_rows([&](std::int64_t i) { return double(rows_.q[i]) * (double(task_.target(i)) - task_.center); }) /
          task_.total;
      sums_.loss = sums_.squares / 2;
      return squared_gap(sums, sums_);
    }
  }

  /// Second derivatives in place of s, and the moments of the features under them.
  SHEAF_HOST_DEVICE void take_curvatures() {
    double volume = 0;
    over_rows([&](std::int64_t i) {
      const T p = probability(rows_.z[i] + static_cast<T>(intercept_));
      const T v = p * (1 - p);
      rows_.s[i] = task_.weight(i) * (v > T(1e-5) ? v : T(1e-5));
      rows_.step[i] = 0;
      volume += rows_.s[i];
    });
    volume_ = team_.sum(volume);
    shift_ = 0;
    team_.sync();
    for (std::int32_t k = 0; k < features_.count; ++k) {
      T first = 0;
      T second = 0;
      x_.each(team_, features_.list[k], [&](std::int32_t i, T value) {
        first += rows_.s[i] * value;
        second += rows_.s[i] * value * value;
      });
      first = team_.sum(first);
      second = team_.sum(second);
      const T mean = task_.intercept ? first / static_cast<T>(volume_) : T(0);
      const T spread = second - mean * first;
      if (team_.rank() == 0) {
        features_.mean[k] = mean;
        features_.curvature[k] =
            task_.variance(features_.list[k]) > 0 && spread > 0 ? spread / static_cast<T>(task_.total) : T(0);
        features_.start[k] = features_.w[k];
      }
    }
    epochs_ += 1;
    team_.sync();
    if constexpr (settles<Team>) team_.gram().forget();
  }

  /// Moves a feature's weight to where it is best; returns what that gains.
  SHEAF_HOST_DEVICE double visit(const Facts& facts, const ColumnAhead<T>& ahead) {
    if (!(facts.curvature > 0)) return 0;
    const T divisor = facts.curvature + facts.penalty2;
    const T w = shrunken(gradient(team_, facts, ahead) + facts.curvature * facts.w, facts.penalty1, divisor);
    const T step = w - facts.w;
    if (step == 0) return 0;
    team_.sync();  // everybody has read the old residuals
    apply(facts, ahead, step, w);
    team_.sync();
    return double(divisor) * double(step) * double(step) / 2;
  }

  SHEAF_HOST_DEVICE void apply(const Facts& facts, const ColumnAhead<T>& ahead, T step, T w) {
    if (team_.rank() == 0) features_.w[facts.k] = w;
    T* q = rows_.q;
    const T* s = rows_.s;
    x_.each(team_, facts.place, ahead, [&](std::int32_t i, T value) { q[i] -= step * s[i] * value; });
    shift_ += double(step) * double(facts.mean);
  }

  SHEAF_HOST_DEVICE double visit_all() {
    double gained = 0;
    in_turn(features_.count, All{},
            [&](const Facts& facts, const ColumnAhead<T>& ahead) { gained += visit(facts, ahead); });
    epochs_ += 1;
    return gained;
  }

  SHEAF_HOST_DEVICE double visit_random() {
    double gained = 0;
    for (std::int32_t turn = 0; turn < features_.count; ++turn) {
      const Facts now = facts(drawn(turn));
      gained += visit(now, x_.ahead(team_, now.place));
    }
    epochs_ += 1;
    return gained;
  }

  SHEAF_HOST_DEVICE std::int32_t drawn(std::int32_t turn) const {
    const auto draw = static_cast<std::uint64_t>(epochs_) * static_cast<std::uint64_t>(features_.count) +
                      static_cast<std::uint64_t>(turn);
    return static_cast<std::int32_t>(mixed(rules_.seed ^ mixed(draw)) % static_cast<std::uint64_t>(features_.count));
  }

  /// All features once, `parallel_` of them at a time, in an order drawn anew: start + turn * stride modulo their
  /// number. Steps of one time are computed from the same residuals, so that together they may go too far: then half as
  /// many are taken at once from then on, and the work goes on from the last weights that were good.
  SHEAF_HOST_DEVICE double visit_parallel() {
    const auto count = static_cast<std::uint64_t>(features_.count);
    const std::uint64_t draw = mixed(rules_.seed ^ mixed(static_cast<std::uint64_t>(epochs_)));
    const std::uint64_t start = draw % count;
    std::uint64_t stride = mixed(draw) % count;
    while (!coprime(stride, count)) stride = (stride + 1) % count;
    const double before = model_value();
    remember(0);
    over_rows([&](std::int64_t i) { rows_.before[i] = rows_.q[i]; });
    const double shift = shift_;
    team_.sync();
    for (std::int32_t first = 0; first < features_.count; first += parallel_) {
      const std::int32_t size = first + parallel_ < features_.count ? parallel_ : features_.count - first;
      const auto feature = [&](std::int32_t turn) {
        return static_cast<std::int32_t>((start + static_cast<std::uint64_t>(first + turn) * stride) % count);
      };
      take_together(size, feature);
    }
    epochs_ += 1;
    const double gain = before - model_value();
    if (gain >= 0) return gain;
    parallel_ = parallel_ > 1 ? parallel_ / 2 : 1;
    over_features([&](std::int32_t k) { features_.w[k] = features_.history[k]; });
    over_rows([&](std::int64_t i) { rows_.q[i] = rows_.before[i]; });
    shift_ = shift;
    team_.sync();
    return HUGE_VAL;
  }

  SHEAF_HOST_DEVICE static bool coprime(std::uint64_t a, std::uint64_t b) {
    while (a != 0) {
      const std::uint64_t rest = b % a;
      b = a;
      a = rest;
    }
    return b == 1;
  }

  /// The steps stand where the second of the remembered weights would.
  template <class Feature>
  SHEAF_HOST_DEVICE void take_together(std::int32_t size, const Feature& feature) {
    T* steps = features_.history + features_.count;
    const auto part = team_.part();
    // Each part finds the steps of some features ...
    const std::int32_t first = team_.part_rank();
    const std::int32_t parts = team_.parts();
    std::int32_t turn = first;
    in_turn_by(
        part, (size - first + parts - 1) / parts, [&](std::int32_t t) { return feature(first + t * parts); },
        [&](const Facts& now, const ColumnAhead<T>& ahead) {
          T w = 0;
          if (now.curvature > 0)
            w = shrunken(gradient(part, now, ahead) + now.curvature * now.w, now.penalty1,
                         now.curvature + now.penalty2);
          if (part.rank() == 0) steps[turn] = w - now.w;
          turn += parts;
        });
    team_.sync();
    // ... and then takes all steps in order, each on the rows that are its own: no two write the same residual.
    T* q = rows_.q;
    const T* s = rows_.s;
    std::int32_t at = 0;
    in_turn_by(part, size, feature, [&](const Facts& now, const ColumnAhead<T>& ahead) {
      const T step = steps[at++];
      if (step == 0) return;
      if (team_.rank() == 0) features_.w[now.k] = now.w + step;
      shift_ += double(step) * double(now.mean);
      x_.each(part, now.place, ahead, [&](std::int32_t i, T value) {
        if (team_.owns(i)) q[i] -= step * s[i] * value;
      });
      part.sync();
    });
    team_.sync();
  }

  SHEAF_HOST_DEVICE double visit_active(std::int32_t count) {
    double gained = 0;
    in_turn(
        count, [&](std::int32_t turn) { return features_.active[turn]; },
        [&](const Facts& facts, const ColumnAhead<T>& ahead) { gained += visit(facts, ahead); });
    epochs_ += 1;
    return gained;
  }

  /// Passes over the working set until they gain little beside the gap or the tolerance; returns all they gained.
  SHEAF_HOST_DEVICE double descend(double gap, double tolerance) {
    double all = 0;
    const double little = gap * 0.01 > tolerance * 0.1 ? gap * 0.01 : tolerance * 0.1;
    for (int cycle = 0; cycle < 50 && epochs_ < rules_.max_epochs && !stopped(); ++cycle) {
      double gained = 0;
      if (rules_.order == LaneOrder::random) {
        gained = visit_random();
      } else if (rules_.order == LaneOrder::parallel) {
        gained = visit_parallel();
        if (gained == HUGE_VAL) continue;  // taken back
      } else {
        // The features of a warm start are settled first: then the others see how far they are from their bounds.
        if (settles<Team> && rules_.order == LaneOrder::active) gained += refine(little);
        gained += visit_all();
        if (!settles<Team> && rules_.order == LaneOrder::active) gained += refine(little);
      }
      all += gained;
      if (gained <= little) break;
    }
    return all;
  }

  /// Passes over the features that have a weight, and a leap to where they lead.
  SHEAF_HOST_DEVICE double refine(double little) {
    double gained = 0;
    remember(0);
    const std::int32_t count = list_active();
    if constexpr (settles<Team>)
      if (worth_settling(count)) return settle(count);
    for (int turn = 1; turn < lane_history; ++turn) {
      const double more = visit_active(count);
      gained += more;
      // Within a Newton step more precision is lost on the next one; without, slow passes are what a leap is for.
      if (more <= (Logistic ? little * 0.1 : 0)) return gained;
      remember(turn);
    }
    return gained + extrapolate();
  }

  /// Whether a system of so many features costs less than the passes that it replaces.
  bool worth_settling(std::int32_t count) const {
    constexpr std::int64_t passes = 32;
    std::int64_t entries = 0;
    for (std::int32_t t = 0; t < count; ++t) entries += features_.places[features_.active[t]].length;
    return std::int64_t{count} * count * count / 6 <= passes * 2 * entries && 2 * count <= Team::Gram::most_members;
  }

  /// The best weights of the features that have one, with their signs; see net_gram.hpp.
  double settle(std::int32_t count) {
    if (count == 0) return 0;
    auto& gram = team_.gram();
    if (!gram.has_room(count)) gram.forget();
    for (std::int32_t t = 0; t < count; ++t) take_products(features_.active[t]);
    gram.begin(count);
    for (std::int32_t t = 0; t < count; ++t) {
      const Facts now = facts(features_.active[t]);
      gram.place(t, features_.list[now.k]);
      gram.weights[static_cast<std::size_t>(t)] = now.w;
      gram.pulls[static_cast<std::size_t>(t)] = double(gradient(team_, now, {})) -
                                                double(now.w > 0 ? now.penalty1 : -now.penalty1) -
                                                double(now.penalty2) * double(now.w);
    }
    gram.fill([&](std::int32_t t) { return double(features_.penalty2[features_.active[t]]); });
    const double before = model_value();
    over_rows([&](std::int64_t i) { rows_.before[i] = rows_.q[i]; });
    const double shift = shift_;
    gram.settle(singular);
    for (std::int32_t t = 0; t < count; ++t) {
      const Facts now = facts(features_.active[t]);
      const T w = static_cast<T>(gram.weights[static_cast<std::size_t>(t)]);
      if (w != now.w) apply(now, {}, w - now.w, w);
    }
    epochs_ += 1;
    const double gain = before - model_value();
    if (gain > 0) return gain;
    over_features([&](std::int32_t k) { features_.w[k] = features_.history[k]; });
    over_rows([&](std::int64_t i) { rows_.q[i] = rows_.before[i]; });
    shift_ = shift;
    return 0;
  }

  /// Products of feature k, centred, with all that the team knows of.
  void take_products(std::int32_t k) {
    const std::int32_t feature = features_.list[k];
    if (team_.gram().has(feature)) return;
    T* column = rows_.before;
    over_rows([&](std::int64_t i) { column[i] = -features_.mean[k] * rows_.s[i]; });
    x_.each(team_, feature, [&](std::int32_t i, T value) { column[i] += rows_.s[i] * value; });
    team_.gram().add(
        feature, [&](std::int32_t other) { return double(x_.dot(team_, x_.place(other), {}, column)) / task_.total; });
  }

  SHEAF_HOST_DEVICE std::int32_t list_active() const {
    const std::int32_t count = team_.list_nonzero(features_.w, features_.count, features_.active);
    team_.sync();
    return count;
  }

  SHEAF_HOST_DEVICE void remember(int turn) {
    T* to = features_.history + static_cast<std::int64_t>(turn) * features_.count;
    over_features([&](std::int32_t k) { to[k] = features_.w[k]; });
    team_.sync();
  }

  /// Anderson's acceleration: the mixture of the last passes whose steps cancel best, if it is better than the last.
  SHEAF_HOST_DEVICE double extrapolate() {
    constexpr int steps = lane_history - 1;
    double share[steps];
    if (!cancelling(share)) return 0;
    const double now = model_value();
    over_rows([&](std::int64_t i) { rows_.before[i] = rows_.q[i]; });
    const double shift = shift_;
    team_.sync();
    const T* last = features_.history + static_cast<std::int64_t>(steps) * features_.count;
    for (std::int32_t k = 0; k < features_.count; ++k) {
      if (last[k] == 0) continue;
      double mixed_weight = 0;
      for (int h = 0; h < steps; ++h)
        mixed_weight += share[h] * double(features_.history[static_cast<std::int64_t>(h + 1) * features_.count + k]);
      const T w = static_cast<T>(mixed_weight);
      const T step = w - last[k];
      if (step == 0) continue;
      const Facts here = facts(k);
      apply(here, x_.ahead(team_, here.place), step, w);
      team_.sync();
    }
    epochs_ += 1;
    const double gain = now - model_value();
    if (gain > 0) return gain;
    over_features([&](std::int32_t k) { features_.w[k] = last[k]; });
    over_rows([&](std::int64_t i) { rows_.q[i] = rows_.before[i]; });
    shift_ = shift;
    team_.sync();
    return 0;
  }

  /// The shares, of sum 1, that make the mixture of the remembered steps shortest. False: there are no such.
  SHEAF_HOST_DEVICE bool cancelling(double* share) const {
    constexpr int steps = lane_history - 1;
    double gram[steps][steps];
    const T* history = features_.history;
    const auto step = [&](int h, std::int32_t k) {
      const std::int64_t at = static_cast<std::int64_t>(h) * features_.count + k;
      return double(history[at + features_.count]) - double(history[at]);
    };
    double trace = 0;
    for (int a = 0; a < steps; ++a)
      for (int b = 0; b <= a; ++b) {
        double sum = 0;
        over_features([&](std::int32_t k) { sum += step(a, k) * step(b, k); });
        gram[a][b] = gram[b][a] = team_.sum(sum);
        if (a == b) trace += gram[a][a];
      }
    if (!(trace > 0)) return false;
    for (int a = 0; a < steps; ++a) {
      gram[a][a] += 1e-12 * trace;
      share[a] = 1;
    }
    for (int a = 0; a < steps; ++a) {  // Gauss's elimination; the matrix is positive definite
      if (!(gram[a][a] > 0)) return false;
      for (int r = a + 1; r < steps; ++r) {
        const double factor = gram[r][a] / gram[a][a];
        for (int c = a; c < steps; ++c) gram[r][c] -= factor * gram[a][c];
        share[r] -= factor * share[a];
      }
    }
    double sum = 0;
    for (int a = steps - 1; a >= 0; --a) {
      for (int c = a + 1; c < steps; ++c) share[a] -= gram[a][c] * share[c];
      share[a] /= gram[a][a];
      sum += share[a];
    }
    if (!(std::abs(sum) > 0)) return false;
    for (int a = 0; a < steps; ++a) share[a] /= sum;
    return true;
  }

  /// What passes make smaller: the quadratic model of the loss, and the penalties.
  SHEAF_HOST_DEVICE double model_value() const {
    const double squares = sum_rows([&](std::int64_t i) {
      const double s = rows_.s[i];
      if (!(s > 0)) return 0.0;
      const double r = double(rows_.q[i]) / s + shift_;
      return s * r * r;
    });
    double penalty = 0;
    over_features([&](std::int32_t k) {
      const double w = features_.w[k];
      penalty += double(features_.penalty1[k]) * std::abs(w) + double(features_.penalty2[k]) / 2 * w * w;
    });
    return squares / (2 * task_.total) + team_.sum(penalty);
  }

  /// How far along the Newton step the true objective falls enough; weights and z go there.
  SHEAF_HOST_DEVICE void search_line() {
    for (std::int32_t k = 0; k < features_.count; ++k) {
      const T step = features_.w[k] - features_.start[k];
      if (step == 0) continue;
      x_.each(team_, features_.list[k], [&](std::int32_t i, T value) { rows_.step[i] += step * value; });
      team_.sync();
    }
    const double change = -shift_;  // of the intercept, as the quadratic model has it
    over_rows([&](std::int64_t i) { rows_.step[i] += static_cast<T>(change); });
    team_.sync();
    const double before = sums_.loss + penalty_;
    double share = 1;
    for (int turn = 0; turn < 30; ++turn, share /= 2)
      if (loss_at(share) + penalty_at(share) <= before) break;
    over_features([&](std::int32_t k) {
      features_.w[k] = features_.start[k] + static_cast<T>(share) * (features_.w[k] - features_.start[k]);
    });
    over_rows([&](std::int64_t i) { rows_.z[i] += static_cast<T>(share) * rows_.step[i]; });
    // The intercept's share stands in z now; center_logistic() takes it from there, and hand_out() sorts it out.
    team_.sync();
  }

  SHEAF_HOST_DEVICE double penalty_at(double share) const {
    double sum = 0;
    over_features([&](std::int32_t k) {
      const double w = double(features_.start[k]) + share * (double(features_.w[k]) - double(features_.start[k]));
      sum += double(features_.penalty1[k]) * std::abs(w) + double(features_.penalty2[k]) / 2 * w * w;
    });
    return team_.sum(sum);
  }

  /// Weights to their block; x'w anew from them, for all rows, so that no rounding of the many steps stays.
  SHEAF_HOST_DEVICE void hand_out(T* w, T* z, T* u, std::int64_t stride) {
    T* fresh = Logistic ? rows_.step : rows_.q;
    over_rows([&](std::int64_t i) { fresh[i] = 0; });
    team_.sync();
    in_turn(
        list_active(), [&](std::int32_t turn) { return features_.active[turn]; },
        [&](const Facts& facts, const ColumnAhead<T>& ahead) {
          const T weight = facts.w;
          x_.each(team_, facts.place, ahead, [&](std::int32_t i, T value) { fresh[i] += weight * value; });
          team_.sync();
        });
    over_features([&](std::int32_t k) { w[features_.list[k] * stride] = features_.w[k]; });
    if constexpr (Logistic) {
      over_rows([&](std::int64_t i) { rows_.z[i] = fresh[i]; });
      team_.sync();
      center_logistic();
      over_rows([&](std::int64_t i) {
        z[i * stride] = rows_.z[i];
        u[i * stride] = rows_.q[i];
      });
      sums_.loss = loss_without_step();
      sums_.entropy = entropy(1);
    } else {
      intercept_ = 0;
      if (task_.intercept)
        intercept_ = sum_rows([&](std::int64_t i) {
                       return double(task_.weight(i)) * (double(task_.target(i)) - double(fresh[i]));
                     }) /
                     task_.total;
      double squares = 0;
      double products = 0;
      over_rows([&](std::int64_t i) {
        const T r = task_.target(i) - static_cast<T>(intercept_) - fresh[i];
        const T weighted = rows_.s[i] * r;
        squares += double(weighted) * double(r);
        products += double(weighted) * (double(task_.target(i)) - task_.center);
        z[i * stride] = fresh[i];
        u[i * stride] = weighted;
      });
      sums_.squares = team_.sum(squares) / task_.total;
      sums_.products = team_.sum(products) / task_.total;
      sums_.loss = sums_.squares / 2;
    }
  }

  SHEAF_HOST_DEVICE double loss_without_step() const {
    return sum_rows([&](std::int64_t i) {
             return double(task_.weight(i)) * logistic_loss(task_.target(i), double(rows_.z[i]) + intercept_);
           }) /
           task_.total;
  }

  /// The order of all features.
  struct All {
    SHEAF_HOST_DEVICE std::int32_t operator()(std::int32_t turn) const { return turn; }
  };

  static constexpr std::int32_t visits_between_looks = 256;
  static constexpr double center_precision = sizeof(T) == 4 ? 1e-6 : 1e-13;
  static constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a feature others do not make up
  static constexpr double precision = sizeof(T) == 4 ? 1e-10 : 1e-18;

  const Team& team_;
  const Columns& x_;
  const LaneTask<T>& task_;
  const LaneRows<T>& rows_;
  const LaneFeatures<T>& features_;
  const LaneRules& rules_;
  RowSums sums_;
  double intercept_ = 0;
  double volume_ = 0;   // sum of s
  double shift_ = 0;    // c above
  double penalty_ = 0;  // of the weights before a Newton step
  std::int32_t epochs_ = 0;
  std::int32_t next_look_ = 0;  // the number of epochs at which stopped() looks again
  std::int32_t parallel_;
};

}  // namespace sheaf::linear
