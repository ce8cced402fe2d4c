// Paths of several targets under squares, with grouped penalties, by products of features alone: rows are not visited.
//
//   pulls P = X'SY / S of all targets,   rest R = P - HW,   loss = (trace Y'SY / S - sum W (P + R)) / 2
//
// The row of a feature's weights in all targets has a closed form, for its second derivative is the same in all of
// them. Passes over the features that have weights come between passes over all, and leap (Anderson's acceleration).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/net/covariance_columns.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/covariance_quadratic.hpp"
#include "linear/net/model/extrapolation.hpp"

namespace sheaf::linear::covariance {

/// The last passes over some weights, and what they left, for leaps.
class PassHistory {
 public:
  OneThread team;

  void begin(std::size_t size) {
    size_ = size;
    count_ = 0;
    weights_.resize(size * history_length);
    rests_.resize(size * history_length);
  }
  /// True: there are as many as a leap takes.
  bool keep(const double* weights, const double* rest) {
    if (count_ == history_length) count_ = 0;
    std::copy_n(weights, size_, weights_.data() + at(count_) * size_);
    std::copy_n(rest, size_, rests_.data() + at(count_) * size_);
    return ++count_ == history_length;
  }
  const double* history(int pass) const { return weights_.data() + at(pass) * size_; }
  template <class F>
  void over_features(const F& f) const {
    for (std::size_t k = 0; k < size_; ++k) f(static_cast<std::int32_t>(k));
  }
  /// The mixture of the passes by these shares; weights that are 0 stay so.
  void mix(const double* share, double* weights, double* rest) const {
    std::fill_n(weights, size_, 0.0);
    std::fill_n(rest, size_, 0.0);
    for (int h = 0; h + 1 < history_length; ++h)
      for (std::size_t k = 0; k < size_; ++k) {
        weights[k] += share[h] * weights_[at(h + 1) * size_ + k];
        rest[k] += share[h] * rests_[at(h + 1) * size_ + k];
      }
  }

 private:
  std::size_t size_ = 0;
  int count_ = 0;
  std::vector<double> weights_, rests_;
};

template <class T>
class TargetsWalk final : public CovariancePath {
 public:
  TargetsWalk(const ColumnProducts<T>& x, const ModelTask<T>& task, std::size_t targets, const SharedProducts& shared)
      : task_(task), features_(at(x.features())), targets_(targets), q_(task_, features_, 1) {
    for (std::size_t j = 0; j < features_; ++j)
      if (task.curvature(static_cast<std::int64_t>(j)) > 0) q_.add_member(static_cast<std::int32_t>(j));
    q_.reserve(0, q_.size());
    for (auto* vector : {&w_, &rest_, &pulls_}) vector->assign(q_.size() * targets, 0.0);
    mean_targets_.assign(targets, 0.0);
    penalties_.resize(q_.size());
    begin(x, shared);
  }

  std::span<const double> weights() const override { return all_weights_; }
  std::vector<double> intercepts() const override {
    auto result = mean_targets_;
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < q_.size(); ++a) result[k] -= w_[k * q_.size() + a] * q_.means[a];
    return result;
  }
  std::span<const double> products() override { return {}; }

  CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) override {
    constexpr int most_in_vain = 5;
    constexpr double least_precision = 1e-6;
    task_.alpha1 = alpha * task_.shape.l1;
    task_.alpha2 = alpha * task_.shape.l2;
    for (std::size_t a = 0; a < q_.size(); ++a) penalties_[a] = task_.penalty(q_.members[a]);
    epochs_ = 0;
    CovarianceReport report;
    double lowest = HUGE_VAL;
    double precision = 0.1;
    int in_vain = 0;
    bool fresh = false;  // the rest is that of the weights but for the rounding of one product
    while (true) {
      compute_gap(report);
      report.tolerance = goal.at(report.rows.loss);
      if (report.gap <= report.tolerance || epochs_ >= max_epochs || in_vain >= most_in_vain) {
        if (fresh) break;
        refresh();
        fresh = true;
        continue;
      }
      fresh = false;
      if (report.gap > lowest / 2) {
        in_vain += precision <= least_precision ? 1 : 0;
        precision = std::max(precision / 10, least_precision);
      }
      lowest = std::min(lowest, report.gap);
      visit();
      visit_active(precision * report.tolerance, max_epochs);
    }
    report.epochs = epochs_;
    all_weights_.assign(features_ * targets_, 0.0);
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < q_.size(); ++a)
        all_weights_[k * features_ + at(q_.members[a])] = w_[k * q_.size() + a];
    return report;
  }

 private:
  using Penalty = ElasticNetPenalty<double>;

  void begin(const ColumnProducts<T>& x, const SharedProducts& shared) {
    const auto rows = at(x.rows());
    std::vector<double> weights(rows), pulled(rows), scratch;
    for (std::size_t i = 0; i < rows; ++i) weights[i] = double(task_.weight(static_cast<std::int64_t>(i)));
    fill_products(x, shared, weights, task_.total, q_, scratch);
    for (std::size_t k = 0; k < targets_; ++k) {
      const auto target = [&](std::size_t i) {
        return double(task_.targets[static_cast<std::int64_t>(i) * task_.target_stride + static_cast<std::int64_t>(k)]);
      };
      double sum = 0;
      for (std::size_t i = 0; i < rows; ++i) sum += weights[i] * target(i);
      mean_targets_[k] = task_.intercept ? sum / task_.total : 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const double away = target(i) - mean_targets_[k];
        pulled[i] = weights[i] * away;
        squares_ += pulled[i] * away / task_.total;
      }
      double* own = pulls_.data() + k * q_.size();
      x.multiply(q_.members, pulled.data(), own);
      for (std::size_t a = 0; a < q_.size(); ++a) own[a] /= task_.total;
    }
    rest_ = pulls_;
  }

  const double* row(std::size_t a) const { return q_.matrix.get() + a * q_.stride; }
  /// R = P - HW.
  void refresh() {
    rest_ = pulls_;
    const std::size_t size = q_.size();
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < size; ++a)
        if (const double w = w_[k * size + a]; w != 0) take_off(rest_.data() + k * size, w, row(a), size);
    epochs_ += 1;
  }
  static void take_off(double* __restrict rest, double step, const double* __restrict products, std::size_t size) {
    for (std::size_t b = 0; b < size; ++b) rest[b] -= step * products[b];
  }

  void compute_gap(CovarianceReport& report) const {
    const std::size_t size = q_.size();
    report.features = {};
    double explained = 0, left = 0;
    for (std::size_t a = 0; a < size; ++a) {
      const auto w = [&](std::int32_t k) { return w_[at(k) * size + a]; };
      const auto g = [&](std::int32_t k) { return rest_[at(k) * size + a]; };
      const double curvature = task_.curvature(q_.members[a]);
      GroupSquares squares;
      for (std::int32_t k = 0; k < count(); ++k) {
        squares.add(g(k), w(k), penalties_[a].p2);
        explained += w(k) * pulls_[at(k) * size + a];
        left += w(k) * g(k);
      }
      if (q_.limited())
        report.features.add_row(count(), g, w, penalties_[a], curvature, task_.limits_of(q_.members[a]));
      else
        report.features.add(squares, penalties_[a], curvature);
    }
    const double loss = std::max(0.0, (squares_ - explained - left) / 2);
    report.rows = {loss, squares_ - explained - loss};
    const double scale = dual_scale<Squared>(report.features, report.rows, q_.limited());
    report.gap = duality_gap(report.features, report.rows, scale, squared_dual(report.rows, scale));
  }
  std::int32_t count() const { return static_cast<std::int32_t>(targets_); }

  /// The best row of weights of member a, from what is left at the present one and its second derivative; `to` has one
  /// number a target. `stride`: from target to target.
  void best_row(std::size_t a, const double* rest, const double* w, std::size_t stride, double curvature,
                double* to) const {
    const GroupPenalty penalty{penalties_[a].p1, penalties_[a].p2};
    double squares = 0;
    for (std::size_t k = 0; k < targets_; ++k) {
      to[k] = rest[k * stride] + curvature * w[k * stride];
      squares += to[k] * to[k];
    }
    if (!q_.limited()) {
      const double share = squares > 0 ? std::max(0.0, 1 - penalty.p1 / std::sqrt(squares)) : 0;
      for (std::size_t k = 0; k < targets_; ++k) to[k] *= share / (curvature + penalty.p2);
      return;
    }
    const auto limits = task_.limits_of(q_.members[a]);
    const double length = penalty.best_length(
        count(), [to](std::int32_t k) { return to[k]; }, [curvature](std::int32_t) { return curvature; },
        [&](std::int32_t k) { return limits.side(to[k]); });
    for (std::size_t k = 0; k < targets_; ++k) {
      const double free = length < HUGE_VAL ? penalty.weight(to[k], curvature, length) : to[k] * HUGE_VAL;
      to[k] = to[k] == 0 ? 0 : std::clamp(free, double(limits.low), double(limits.high));
    }
  }

  /// One pass over all members.
  void visit() {
    const std::size_t size = q_.size();
    best_.resize(targets_);
    for (std::size_t a = 0; a < size; ++a) {
      const double curvature = row(a)[a];
      if (!(curvature > 0)) continue;
      best_row(a, rest_.data() + a, w_.data() + a, size, curvature, best_.data());
      for (std::size_t k = 0; k < targets_; ++k) move_to(k, a, best_[k]);
    }
    epochs_ += 1;
  }
  void move_to(std::size_t k, std::size_t a, double w) {
    double& own = w_[k * q_.size() + a];
    const double step = w - own;
    if (step == 0) return;
    own = w;
    take_off(rest_.data() + k * q_.size(), step, row(a), q_.size());
  }

  /// Passes over the members that have weights, with their part of the matrix side by side, until a pass gains at most
  /// `goal`.
  void visit_active(double goal, std::int32_t max_epochs) {
    active_.clear();
    for (std::size_t a = 0; a < q_.size(); ++a)
      for (std::size_t k = 0; k < targets_; ++k)
        if (w_[k * q_.size() + a] != 0) {
          active_.push_back(a);
          break;
        }
    const std::size_t size = active_.size();
    if (size == 0) return;
    take_part();
    history_.begin(size * targets_);
    for (double gain = HUGE_VAL; gain > goal && epochs_ < max_epochs;) {
      if (history_.keep(part_w_.data(), part_rest_.data())) leap();
      gain = 0;
      for (std::size_t a = 0; a < size; ++a) gain += step_active(a);
      epochs_ += 1;
    }
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t k = 0; k < targets_; ++k) move_to(k, active_[a], part_w_[k * size + a]);
  }
  void take_part() {
    const std::size_t size = active_.size();
    part_.resize(size * size);
    part_w_.resize(size * targets_);
    part_rest_.resize(size * targets_);
    part_pulls_.resize(size * targets_);
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < size; ++b) part_[a * size + b] = row(active_[a])[active_[b]];
      for (std::size_t k = 0; k < targets_; ++k) {
        const std::size_t from = k * q_.size() + active_[a], to = k * size + a;
        part_w_[to] = w_[from];
        part_rest_[to] = rest_[from];
        part_pulls_[to] = pulls_[from];
      }
    }
  }
  /// Returns a bound of the gain, to first order.
  double step_active(std::size_t a) {
    const std::size_t size = active_.size();
    const double* products = part_.data() + a * size;
    const double curvature = products[a];
    if (!(curvature > 0)) return 0;
    best_row(active_[a], part_rest_.data() + a, part_w_.data() + a, size, curvature, best_.data());
    double steps = 0, weights = 0;
    for (std::size_t k = 0; k < targets_; ++k) {
      double& own = part_w_[k * size + a];
      const double step = best_[k] - own;
      if (step == 0) continue;
      steps += step * step;
      weights += own * own;
      own = best_[k];
      take_off(part_rest_.data() + k * size, step, products, size);
    }
    return curvature * std::sqrt(steps * weights);
  }
  void leap() {
    double share[history_length - 1];
    if (!cancelling_shares(history_, share)) return;
    leap_w_.resize(part_w_.size());
    leap_rest_.resize(part_w_.size());
    history_.mix(share, leap_w_.data(), leap_rest_.data());
    const std::size_t size = active_.size();
    for (std::size_t k = 0; k < targets_ && q_.limited(); ++k)
      for (std::size_t a = 0; a < size; ++a)
        if (const double w = leap_w_[k * size + a]; task_.within_limits(q_.members[active_[a]], w) != w) return;
    if (!(value_of(leap_w_, leap_rest_) < value_of(part_w_, part_rest_))) return;
    part_w_.swap(leap_w_);
    part_rest_.swap(leap_rest_);
  }
  /// The objective, but for a constant.
  double value_of(const std::vector<double>& w, const std::vector<double>& rest) const {
    const std::size_t size = active_.size();
    double value = 0;
    for (std::size_t a = 0; a < size; ++a) {
      double squares = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const std::size_t own = k * size + a;
        squares += w[own] * w[own];
        value -= w[own] * (part_pulls_[own] + rest[own]) / 2;
      }
      value += GroupPenalty{penalties_[active_[a]].p1, penalties_[active_[a]].p2}.value(squares);
    }
    return value;
  }

  ModelTask<T> task_;
  std::size_t features_, targets_;
  MemberModel<T> q_;  // the matrix of all features that vary
  // Members of target k from k * members on:
  std::vector<double> w_, rest_, pulls_;
  std::vector<double> all_weights_;
  std::vector<double> mean_targets_;
  std::vector<Penalty> penalties_;
  double squares_ = 0;  // of all targets, less their means
  std::int32_t epochs_ = 0;
  std::vector<double> best_;
  // Of the members that have weights:
  std::vector<std::size_t> active_;
  std::vector<double> part_, part_w_, part_rest_, part_pulls_, leap_w_, leap_rest_;
  PassHistory history_;
};

}  // namespace sheaf::linear::covariance
