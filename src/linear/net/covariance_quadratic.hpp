// The quadratic model of a net on its members, the features in work, by covariance updates.
//
//   Q(w) = -g'(w - w0) + (w - w0)'H(w - w0) / 2 + sum_j p1_j |w_j| + p2_j w_j^2 / 2,   rest = g - H(w - w0)
//
// A coordinate step sets w_k to the best weight for rest_k + H_kk w_k and takes H_k times the step off `rest`: as many
// multiplications as there are members. Passes over the members that have a weight come between passes over all of
// them; if they do not end, one linear system has the best weights with their signs.
//
// Weights of K classes (softmax models) are features of their own, that of feature j in class k at k * features + j.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linear/net/active_factor.hpp"
#include "linear/net/covariance_columns.hpp"
#include "linear/net/model/common_weight.hpp"
#include "linear/net/model/penalty.hpp"
#include "linear/net/model/task.hpp"
#include "linear/net/model/weight_system.hpp"

namespace sheaf::linear::covariance {

template <class T>
class MemberModel {
 public:
  /// A model of `count` classes. `task` must outlive it, and its penalties may change.
  MemberModel(const ModelTask<T>& task, std::size_t features, std::size_t count)
      : task_(task), features_(static_cast<std::int32_t>(features)), classes_(static_cast<std::int32_t>(count)) {
    penalty1.assign(features * count, 0.0);
    penalty2.assign(features * count, 0.0);
    place.assign(features * count, -1);
  }

  std::size_t size() const { return members.size(); }
  bool limited() const { return task_.limits != nullptr; }
  /// Whether the best weights of active members come from a factor of the matrix that is kept along the path.
  bool factors() const { return steady && task_.shape.l2 <= 0 && !limited(); }

  void take_penalties(std::span<const std::int32_t> features) {
    for (const auto j : features) {
      const auto penalty = task_.penalty(column_of(j));
      penalty1[at(j)] = penalty.p1;
      penalty2[at(j)] = penalty.p2;
    }
  }
  std::int32_t column_of(std::int32_t j) const { return classes_ == 1 ? j : j % features_; }
  std::int32_t class_of(std::int32_t j) const { return classes_ == 1 ? 0 : j / features_; }
  void add_member(std::int32_t j) {
    place[at(j)] = static_cast<std::int32_t>(members.size());
    members.push_back(j);
    columns.push_back(column_of(j));
    classes.push_back(class_of(j));
  }
  void clear() {
    for (const auto j : members) place[at(j)] = -1;
    members.clear();
    columns.clear();
    classes.clear();
    factor_.clear();
  }
  /// Room for the products of all members; those of the first `kept` stay.
  void reserve(std::size_t kept, std::size_t most) {
    if (members.size() <= stride) return;
    const std::size_t wider = std::min(2 * members.size(), most);
    auto larger = std::make_unique_for_overwrite<double[]>(wider * wider);
    for (std::size_t a = 0; a < kept; ++a) std::copy_n(matrix.get() + a * stride, kept, larger.get() + a * wider);
    matrix = std::move(larger);
    stride = wider;
  }
  /// Rows of the matrix from `first` on become the mean products of centred features. `sums` are those of the features
  /// under the weights, whose sum is `volume`.
  void center(std::size_t first, std::span<const double> centers, std::span<const double> sums, double volume) {
    const std::size_t size = members.size();
    if (first == 0) factor_.clear();
    for (std::size_t a = first; a < size; ++a) means[a] = task_.intercept ? sums[a] / volume : 0;
    for (std::size_t a = first; a < size; ++a) {
      double* products = matrix.get() + a * stride;
      const double shift = task_.intercept ? (means[a] - centers[a]) * volume : 0;
      for (std::size_t b = 0; b <= a; ++b) products[b] = (products[b] - shift * (means[b] - centers[b])) / task_.total;
    }
    mirror(first);
  }
  /// Rows of the matrix from `first` on, which are sums of products of centred features, become mean ones.
  void average(std::size_t first) {
    for (std::size_t a = first; a < members.size(); ++a)
      for (std::size_t b = 0; b <= a; ++b) matrix[a * stride + b] /= task_.total;
    mirror(first);
  }
  /// The upper triangle, from column `first` on.
  void mirror(std::size_t first) {
    const std::size_t size = members.size();
    // In squares, so that lines of a cache are written once.
    constexpr std::size_t side = 16;
    for (std::size_t from = first / side * side; from < size; from += side)
      for (std::size_t to = 0; to <= from; to += side)
        for (std::size_t b = to; b < std::min(to + side, size); ++b)
          for (std::size_t a = std::max({from, first, b + 1}); a < std::min(from + side, size); ++a)
            matrix[b * stride + a] = matrix[a * stride + b];
  }
  void rescale(double scale) {
    const std::size_t size = members.size();
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b) matrix[a * stride + b] *= scale;
    factor_.rescale(scale);
  }
  /// The matrix becomes one that has this change of the gradient for the step to `now` (the update of Broyden,
  /// Fletcher, Goldfarb and Shanno), and the means one that the intercepts follow: those are `tilt` from their best.
  void learn(std::span<const double> change, std::span<const double> expected, std::span<const double> tilt) {
    const std::size_t size = members.size();
    steps_.resize(size);
    double with_change = 0, with_expected = 0;
    for (std::size_t a = 0; a < size; ++a) {
      steps_[a] = now[a] - before[a];
      with_change += steps_[a] * change[a];
      with_expected += steps_[a] * expected[a];
    }
    if (!(with_expected > 0) || !(with_change > 0)) return;
    factor_.clear();
    for (std::size_t a = 0; a < size; ++a) {
      const double more = change[a] / with_change, less = expected[a] / with_expected;
      double* __restrict products = matrix.get() + a * stride;
      for (std::size_t b = 0; b < size; ++b) products[b] += more * change[b] - less * expected[b];
      for (std::size_t k = 0; k < tilt.size() && !means.empty(); ++k) means[a * tilt.size() + k] -= less * tilt[k];
    }
  }
  /// Begins at the weights and gradients of all features.
  void begin(std::span<const double> w, std::span<const double> g) {
    before.resize(size());
    now.resize(size());
    rest.resize(size());
    for (std::size_t k = 0; k < size(); ++k) {
      before[k] = now[k] = w[at(members[k])];
      rest[k] = g[at(members[k])];
    }
  }
  /// Makes the quadratic model smaller until the gap of its gradient is at most `goal`.
  bool minimise(double goal) {
    constexpr int most_cycles = 100;
    constexpr int old_factor = 5;
    constexpr int most_factored = 10;
    bool settled = factors() && follow_factor();  // active members have their best weights
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      visit(settled);
      if (classes_ > 1) shift_classes();
      if (left_over() <= goal) return true;
      if (cycle == old_factor) factor_.clear();  // its rounding adds up over a path
      settled = factors() && cycle < most_factored && follow_factor();
      if (settled) continue;
      find_active();
      if (!visit_active(goal / 2) && active_.size() <= most_weights) solve_system();
    }
    return false;
  }
  void move_to(std::size_t k, double w) {
    const double step = w - now[k];
    if (step == 0) return;
    now[k] = w;
    const double* __restrict products = row(k);
    double* __restrict left = rest.data();
    for (std::size_t a = 0; a < members.size(); ++a) left[a] -= step * products[a];
  }

  std::vector<std::int32_t> members;
  std::vector<std::int32_t> columns, classes;  ///< the features and classes that they are weights of
  std::vector<std::int32_t> place;             ///< of features among the members; -1: none
  std::unique_ptr<double[]> matrix;            ///< H, rows `stride` apart; only members have numbers
  std::size_t stride = 0;
  std::vector<double> means;  ///< of the members, under the weights of the products; several classes: each has K
  std::vector<double> before, now, rest;   ///< weights before a step and now; minus the slopes
  std::vector<double> penalty1, penalty2;  ///< of all features
  std::int32_t epochs = 0;                 ///< passes, also those of callers over rows
  bool steady = false;                     ///< the matrix, but for its scale, is that of several steps

 private:
  static constexpr std::size_t most_weights = 1500;  // of a linear system

  const double* row(std::size_t k) const { return matrix.get() + k * stride; }
  ElasticNetPenalty<double> penalty_of(std::size_t k) const {
    return {penalty1[at(members[k])], penalty2[at(members[k])]};
  }
  void find_active() {
    active_.clear();
    for (std::size_t k = 0; k < members.size(); ++k)
      if (now[k] != 0) active_.push_back(static_cast<std::int32_t>(k));
  }
  /// The best weights of the active members of a lasso with their signs; those that reach 0 on the way leave. False:
  /// some of them make up others, and none can give way.
  bool follow_factor() {
    find_active();
    if (active_.size() > most_weights) return false;
    for (std::size_t i = factor_.size(); i-- > 0;)
      if (now[at(factor_.members()[i])] == 0) factor_.leave(i);
    in_factor_.assign(members.size(), 0);
    for (const auto k : factor_.members()) in_factor_[at(k)] = 1;
    for (const auto k : active_)
      if (in_factor_[at(k)] == 0 && !join_factor(k)) return false;
    pulls_.clear();
    weights_ = now;
    for (const auto k : factor_.members()) pulls_.push_back(rest[at(k)] - penalty_of(at(k)).slope(now[at(k)]));
    while (factor_.size() > 0) {
      steps_ = pulls_;
      factor_.solve(steps_.data());
      epochs += 1;
      // The share of the way at which the first weight is 0. Up to there pulls shrink by as much.
      double share = 1;
      std::size_t gone = factor_.size();
      for (std::size_t i = 0; i < factor_.size(); ++i) {
        const auto k = at(factor_.members()[i]);
        const double w = weights_[k];
        if (penalty_of(k).p1 <= 0 || (w + steps_[i] > 0) == (w > 0) || !(-w / steps_[i] < share)) continue;
        share = -w / steps_[i];
        gone = i;
      }
      for (std::size_t i = 0; i < factor_.size(); ++i) {
        weights_[at(factor_.members()[i])] += share * steps_[i];
        pulls_[i] *= 1 - share;
      }
      if (gone == factor_.size()) break;
      weights_[at(factor_.members()[gone])] = 0;
      factor_.leave(gone);
      pulls_.erase(pulls_.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    for (const auto k : active_) move_to(at(k), weights_[at(k)]);
    return true;
  }
  /// A member that those in the factor make up takes the weight of one of them, or gives its own away.
  bool join_factor(std::int32_t k) {
    for (std::size_t turn = factor_.size() + 1; turn > 0; --turn) {
      if (factor_.join(k, row(at(k)))) return true;
      if (!exchange(k)) return false;
      if (now[at(k)] == 0) return true;
    }
    return false;
  }
  /// Members in the factor make up member k: a step of its weight, with the steps of theirs that make it up, changes
  /// the penalty alone. Takes the step that lowers it until one of the weights is 0. False: none gets there.
  bool exchange(std::int32_t k) {
    constexpr double rounding = 1e-9;
    const auto in_factor = factor_.members();
    steps_.clear();
    for (const auto other : in_factor) steps_.push_back(row(at(k))[at(other)]);
    factor_.solve(steps_.data());
    double slope = penalty_of(at(k)).slope(now[at(k)]);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (std::abs(steps_[i]) < rounding) steps_[i] = 0;
      slope -= steps_[i] * penalty_of(at(in_factor[i])).slope(now[at(in_factor[i])]);
    }
    const double direction = slope > 0 ? -1 : 1;
    double length = direction * now[at(k)] < 0 ? std::abs(now[at(k)]) : HUGE_VAL;
    std::size_t gone = steps_.size();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto other = at(in_factor[i]);
      const double change = -direction * steps_[i];
      if (penalty_of(other).p1 <= 0 || !(change * now[other] < 0) || !(-now[other] / change < length)) continue;
      length = -now[other] / change;
      gone = i;
    }
    if (length == HUGE_VAL) return false;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto other = at(in_factor[i]);
      move_to(other, i == gone ? 0.0 : now[other] - direction * length * steps_[i]);
    }
    move_to(at(k), gone == steps_.size() ? 0.0 : now[at(k)] + direction * length);
    if (gone < steps_.size()) factor_.leave(gone);
    return true;
  }
  /// One pass over all members, or over those without a weight if the others are settled. With a factor, steps of the
  /// size of rounding are skipped.
  void visit(bool settled) {
    const double rounding = factors() ? 1e-12 : 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const double curvature = row(k)[k];
      if (!(curvature > 0) || (settled && now[k] != 0)) continue;
      if (now[k] == 0 && std::abs(rest[k]) <= (1 + rounding) * penalty_of(k).p1) continue;
      const double best = penalty_of(k).best_weight(rest[k] + curvature * now[k], curvature);
      if (std::abs(best - now[k]) > rounding * std::abs(now[k])) move_to(k, task_.within_limits(columns[k], best));
    }
    epochs += 1;
  }
  /// Members of the same feature in all classes: see common_weight(). Slopes stay as they are.
  void shift_classes() {
    for (std::size_t a = 0; a < members.size() && members[a] < features_; ++a) {
      places_.clear();
      for (std::int32_t k = 0; k < classes_; ++k)
        if (const auto own = place[at(members[a] + k * features_)]; own >= 0) places_.push_back(at(own));
      if (places_.size() < at(classes_)) continue;  // the others have no weight, and are not to get one
      const auto weight = [&](std::int32_t k) { return now[places_[at(k)]]; };
      double shift = common_weight(task_.penalty_shape(columns[a]), classes_, weight);
      if (limited()) shift = shift_within(task_.limits_of(columns[a]), shift, classes_, weight);
      if (shift == 0) continue;
      for (const auto own : places_) now[own] = task_.within_limits(columns[a], now[own] - shift);
    }
  }
  /// Passes over the active members by themselves, with their part of the matrix side by side, until these leave at
  /// most `goal`. False: they do not get there in as many passes as a linear system costs.
  bool visit_active(double goal) {
    const std::size_t count = active_.size();
    const auto passes = static_cast<int>(std::max<std::size_t>(3, count / 3));
    part_.resize(count * count + 2 * count);
    double* __restrict w = part_.data() + count * count;
    double* __restrict left = w + count;
    for (std::size_t a = 0; a < count; ++a) {
      const auto k = at(active_[a]);
      for (std::size_t b = 0; b < count; ++b) part_[a * count + b] = row(k)[at(active_[b])];
      w[a] = now[k];
      left[a] = rest[k];
    }
    bool done = false;
    for (int pass = 0; pass < passes && !done; ++pass) {
      double sum = 0;
      for (std::size_t a = 0; a < count; ++a) {
        const auto k = at(active_[a]);
        const double* __restrict products = part_.data() + a * count;
        const double curvature = products[a];
        if (!(curvature > 0)) continue;
        const double best = penalty_of(k).best_weight(left[a] + curvature * w[a], curvature);
        const double step = task_.within_limits(columns[k], best) - w[a];
        if (step == 0) continue;
        sum += std::abs(step * curvature * w[a]);
        w[a] += step;
        for (std::size_t b = 0; b < count; ++b) left[b] -= step * products[b];
      }
      epochs += 1;
      done = sum <= goal;
    }
    for (std::size_t a = 0; a < count; ++a) move_to(at(active_[a]), w[a]);
    return done;
  }
  /// The contribution of a member to the gap, to first order: a weight times its pull.
  double left_of(std::size_t k) const {
    const double w = now[k];
    const double pull = rest[k] - penalty_of(k).slope(w);
    if (limited()) {
      const auto limits = task_.limits_of(columns[k]);
      if ((w >= double(limits.high) && pull > 0) || (w <= double(limits.low) && pull < 0)) return 0;
    }
    return std::abs(pull * w);
  }
  double left_over() const {
    double sum = 0;
    double ratio = 1;
    double lasso = 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto penalty = penalty_of(k);
      lasso += penalty.p1 * std::abs(now[k]);
      if (now[k] != 0)
        sum += left_of(k);
      else if (penalty.p1 > 0 && may_move(k))
        ratio = std::max(ratio, std::abs(rest[k]) / penalty.p1);
    }
    return sum + (ratio - 1) * lasso;
  }
  bool may_move(std::size_t k) const { return !limited() || task_.limits_of(columns[k]).side(rest[k]) > 0; }

  /// The best weights of the active members with their signs, all at once.
  void solve_system() {
    constexpr double singular = 1e-13;
    // If features depend on each other, the model is linear in some direction: with a little more curvature the step
    // there is long, and ends where a weight is 0.
    constexpr double ridge = 1e-9;
    const auto count = static_cast<std::int32_t>(active_.size());
    if (count == 0) return;
    const auto numbers = at(WeightSystem<OneThread>::numbers(count));
    if (memory_.size() < numbers) memory_.resize(numbers);
    const WeightSystem<OneThread> system({}, memory_.data(), count);
    for (std::int32_t a = 0; a < count; ++a) {
      const auto k = at(active_[at(a)]);
      const auto penalty = penalty_of(k);
      for (std::int32_t b = 0; b < count; ++b) system.entry(a, b) = row(k)[at(active_[at(b)])];
      system.entry(a, a) += ridge * system.entry(a, a) + penalty.p2;
      double low = -HUGE_VAL;
      double high = HUGE_VAL;
      if (limited()) {
        const auto limits = task_.limits_of(columns[k]);
        low = limits.low;
        high = limits.high;
      }
      const double w = now[k];
      const bool free = penalty.p1 <= 0;
      system.set_weight(a, w, rest[k] - penalty.slope(w), free || w < 0 ? low : 0, free || w > 0 ? high : 0);
    }
    system.solve(singular);
    for (std::int32_t a = 0; a < count; ++a) {
      const auto k = at(active_[at(a)]);
      move_to(k, task_.within_limits(columns[k], system.weights[a]));
    }
    epochs += 1;
  }

  const ModelTask<T>& task_;
  std::int32_t features_, classes_;
  std::vector<std::size_t> places_;   // of a feature in all classes
  std::vector<std::int32_t> active_;  // members that have a weight
  ActiveFactor factor_;               // of active members, if the matrix is steady
  std::vector<std::uint8_t> in_factor_;
  std::vector<double> weights_, pulls_, steps_;
  std::vector<double> part_;  // of the matrix: theirs
  std::vector<double> memory_;
};

/// Fills the matrix of a model under the row weights s, whose sum is `total`, with the products of all rows less those
/// of the rows whose weights differ on this path. `scratch` is memory that callers keep.
template <class T>
void fill_products(const ColumnProducts<T>& x, const SharedProducts& shared, std::span<const double> s, double total,
                   MemberModel<T>& q, std::vector<double>& scratch) {
  std::vector<std::int32_t> rows;
  std::vector<double> changes;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s[i] != shared.weights[i]) {
      rows.push_back(static_cast<std::int32_t>(i));
      changes.push_back(s[i] - shared.weights[i]);
    }
  const std::size_t size = q.size();
  std::vector<double> centers(size), sums(size);
  for (std::size_t k = 0; k < size; ++k) centers[k] = shared.centers[at(q.members[k])];
  const bool anew = x.sparse() ? !rows.empty() : 2 * rows.size() > s.size();
  if (anew)
    x.weigh(q.members, 0, centers, {}, s, q.matrix.get(), q.stride, scratch);
  else if (!rows.empty())
    x.weigh(q.members, 0, centers, rows, changes, q.matrix.get(), q.stride, scratch);
  const auto features = at(x.features());
  if (!anew)
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double& product = q.matrix[a * q.stride + b];
        product = (rows.empty() ? 0.0 : product) + shared.products[at(q.members[a]) * features + at(q.members[b])];
      }
  x.multiply(q.members, s.data(), sums.data());
  q.means.resize(size);
  q.center(0, centers, sums, total);
}

}  // namespace sheaf::linear::covariance
