// Paths of several targets under squares, with grouped penalties, by products of features.
//
//   pulls P = X'SY / S of all targets,   rest R = P - HW,   loss = (trace Y'SY / S - sum W (P + R)) / 2
//
// The row of a feature's weights in all targets has a closed form, for its second derivative is the same in all of
// them. Newton's method has the rows that are not 0 (row_system.hpp) between passes over the members, the features in
// work. If there are few features, all are members and rows of the dataset are not visited; otherwise features become
// members when they are near their bounds, and the rows' residuals have the gradient of the others.
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
#include "linear/net/row_system.hpp"

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
  /// `shared`: the products of all features, if there are few.
  TargetsWalk(const ColumnProducts<T>& x, const ModelTask<T>& task, std::size_t targets, const SharedProducts* shared)
      : x_(x),
        task_(task),
        features_(at(x.features())),
        targets_(targets),
        all_(shared != nullptr),
        q_(task_, features_, 1) {
    for (std::size_t j = 0; j < features_; ++j)
      if (task.curvature(static_cast<std::int64_t>(j)) > 0) varying_.push_back(static_cast<std::int32_t>(j));
    for (auto* vector : {&w_, &g_, &w_at_alpha_, &w_before_}) vector->assign(features_ * targets, 0.0);
    mean_targets_.assign(targets, 0.0);
    best_.resize(targets);
    center_targets();
    all_ ? begin_with_all(*shared) : begin_with_rows();
  }

  std::span<const double> weights() const override { return w_; }
  std::vector<double> intercepts() const override {
    auto result = mean_targets_;
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < q_.size(); ++a) result[k] -= w_[place(k, q_.members[a])] * q_.means[a];
    return result;
  }
  std::span<const double> products() override { return {}; }

  CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) override {
    constexpr int most_in_vain = 5;
    constexpr double least_precision = 1e-6;
    begin_alpha(alpha);
    CovarianceReport report;
    double lowest = HUGE_VAL;
    double precision = 0.1;
    int in_vain = 0;
    for (bool moved = false;; moved = true) {
      compute_gap(report);
      report.tolerance = goal.at(report.rows.loss);
      const bool over = epochs_ >= max_epochs;
      if (report.gap <= report.tolerance || over || in_vain >= most_in_vain) {
        if (complete_) break;
        find_gradient(varying_);
        complete_ = true;
        if (!over && choose_members()) {  // the end was that of a part of the problem
          lowest = HUGE_VAL;
          in_vain = 0;
        } else {
          ++in_vain;
        }
        continue;
      }
      if (report.gap > lowest / 2) {
        in_vain += precision <= least_precision ? 1 : 0;
        precision = std::max(precision / 10, least_precision);
      }
      lowest = std::min(lowest, report.gap);
      choose_members();
      load_members();
      if (!moved) follow_path();
      minimise(precision * report.tolerance, max_epochs);
      keep_members();
    }
    report.epochs = epochs_;
    return report;
  }

 private:
  std::size_t place(std::size_t k, std::int32_t j) const { return k * features_ + at(j); }
  std::int32_t count() const { return static_cast<std::int32_t>(targets_); }

  /// Targets less their means, in the place of errors; no feature has a weight.
  void center_targets() {
    const auto rows = at(x_.rows());
    row_weights_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) row_weights_[i] = double(task_.weight(static_cast<std::int64_t>(i)));
    errors_.resize(rows * targets_);
    for (std::size_t k = 0; k < targets_; ++k) {
      double* errors = errors_.data() + k * rows;
      for (std::size_t i = 0; i < rows; ++i)
        errors[i] =
            double(task_.targets[static_cast<std::int64_t>(i) * task_.target_stride + static_cast<std::int64_t>(k)]);
      mean_targets_[k] = center(errors);
    }
    residuals_.resize(errors_.size());
    away_ = errors_;
    evaluate();
    squares_ = with_targets_;
  }
  /// Numbers of the rows lose their weighted mean, which is returned; 0 without an intercept.
  double center(double* numbers) const {
    if (!task_.intercept) return 0;
    const std::size_t rows = row_weights_.size();
    const double* s = row_weights_.data();
    const double mean = sum_over(rows, [=](std::size_t i) { return s[i] * numbers[i]; }) / task_.total;
    for (std::size_t i = 0; i < rows; ++i) numbers[i] -= mean;
    return mean;
  }
  /// Residuals, the loss, and the products of residuals with targets.
  void evaluate() {
    const std::size_t rows = row_weights_.size();
    loss_ = with_targets_ = 0;
    for (std::size_t k = 0; k < targets_; ++k) {
      const double *s = row_weights_.data(), *e = errors_.data() + k * rows, *y = away_.data() + k * rows;
      double* u = residuals_.data() + k * rows;
      for (std::size_t i = 0; i < rows; ++i) u[i] = s[i] * e[i];
      loss_ += sum_over(rows, [=](std::size_t i) { return u[i] * e[i]; }) / (2 * task_.total);
      with_targets_ += sum_over(rows, [=](std::size_t i) { return u[i] * y[i]; }) / task_.total;
    }
  }
  void begin_with_all(const SharedProducts& shared) {
    for (const auto j : varying_) q_.add_member(j);
    q_.reserve(0, q_.size());
    fill_products(x_, shared, row_weights_, task_.total, q_, scratch_);
    find_gradient(varying_);
    pulls_ = g_;
    complete_ = true;
  }
  void begin_with_rows() {
    find_gradient(varying_);
    complete_ = true;
  }
  void begin_alpha(double alpha) {
    task_.alpha1 = alpha * task_.shape.l1;
    task_.alpha2 = alpha * task_.shape.l2;
    q_.take_penalties(varying_);
    fall_before_ = fall_;
    fall_ = alpha_ > 0 && alpha > 0 ? alpha_ / alpha : 1;
    alpha_ = alpha;
    w_before_.swap(w_at_alpha_);
    w_at_alpha_ = w_;
    epochs_ = 0;
  }

  /// g of the features in `list`, from the rows.
  void find_gradient(std::span<const std::int32_t> list) {
    found_.resize(list.size());
    for (std::size_t k = 0; k < targets_; ++k) {
      x_.multiply(list, residuals_.data() + k * row_weights_.size(), found_.data());
      for (std::size_t a = 0; a < list.size(); ++a) g_[place(k, list[a])] = found_[a] / task_.total;
    }
    epochs_ += 1;
  }
  double length_of(const std::vector<double>& numbers, std::int32_t j) const {
    double squares = 0;
    for (std::size_t k = 0; k < targets_; ++k) squares += numbers[place(k, j)] * numbers[place(k, j)];
    return std::sqrt(squares);
  }

  /// The gap over all features or, while the gradient of the others is not known, over the members.
  void compute_gap(CovarianceReport& report) const {
    report.features = {};
    for (const auto j : complete_ ? varying_ : q_.members) {
      const ElasticNetPenalty<double> penalty{q_.penalty1[at(j)], q_.penalty2[at(j)]};
      const auto w = [&](std::int32_t k) { return w_[place(at(k), j)]; };
      const auto g = [&](std::int32_t k) { return g_[place(at(k), j)]; };
      const double curvature = task_.curvature(j);
      if (q_.limited()) {
        report.features.add_row(count(), g, w, penalty, curvature, task_.limits_of(j));
        continue;
      }
      GroupSquares squares;
      for (std::int32_t k = 0; k < count(); ++k) squares.add(g(k), w(k), penalty.p2);
      report.features.add(squares, penalty, curvature);
    }
    report.rows = {loss_, with_targets_ - loss_};
    const double scale = dual_scale<Squared>(report.features, report.rows, q_.limited());
    report.gap = duality_gap(report.features, report.rows, scale, squared_dual(report.rows, scale));
  }

  /// Features that may have weights become members; those nearest to their bounds first, for if alpha falls far nearly
  /// all are beyond them and few get weights. Returns whether there are new ones.
  bool choose_members() {
    constexpr std::size_t fewest = 128;
    if (all_ || !complete_) return false;
    const double near = std::clamp(2 - fall_, 0.3, 0.95);
    std::vector<std::pair<double, std::int32_t>> found;  // by their lengths over their penalties
    for (const auto j : varying_) {
      if (q_.place[at(j)] >= 0) continue;
      const double penalty = q_.penalty1[at(j)];
      const double length = length_of(g_, j);
      if (length >= near * penalty) found.emplace_back(penalty > 0 ? -length / penalty : -HUGE_VAL, j);
    }
    const std::size_t most = std::max(fewest, q_.size());
    if (found.size() > most) {
      std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
      while (found.size() > most && found.back().first > -HUGE_VAL) found.pop_back();
    }
    const std::size_t first = q_.size();
    for (const auto& [ratio, j] : found) q_.add_member(j);
    if (!found.empty()) extend(first);
    return !found.empty();
  }
  void extend(std::size_t first) {
    q_.reserve(first, varying_.size());
    const std::size_t size = q_.size();
    std::vector<double> centers(size, 0.0), sums(size, 0.0);
    if (task_.intercept && !x_.sparse())
      for (std::size_t a = 0; a < size; ++a) centers[a] = double(task_.mean(q_.members[a]));
    x_.weigh(q_.members, first, centers, {}, row_weights_, q_.matrix.get(), q_.stride, scratch_);
    x_.multiply(std::span<const std::int32_t>(q_.members).subspan(first), row_weights_.data(), sums.data() + first);
    q_.means.resize(size);
    q_.center(first, centers, sums, task_.total);
    epochs_ += 1;
  }

  /// Weights and rests of the members, those of target k from k * members on.
  void load_members() {
    const std::size_t size = q_.size();
    now_.resize(size * targets_);
    rest_.resize(size * targets_);
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < size; ++a) {
        now_[k * size + a] = w_[place(k, q_.members[a])];
        rest_[k * size + a] = g_[place(k, q_.members[a])];
      }
  }
  /// Weights are those of the members; what follows from them is found anew, so that rounding does not add up.
  void keep_members() {
    const std::size_t size = q_.size();
    const std::size_t rows = row_weights_.size();
    for (std::size_t k = 0; k < targets_; ++k) {
      std::vector<std::int32_t> list;
      std::vector<double> steps;
      for (std::size_t a = 0; a < size; ++a) {
        double& own = w_[place(k, q_.members[a])];
        if (now_[k * size + a] == own) continue;
        list.push_back(q_.members[a]);
        steps.push_back(own - now_[k * size + a]);
        own = now_[k * size + a];
      }
      if (all_ || list.empty()) continue;
      x_.add(list, steps, errors_.data() + k * rows);
      center(errors_.data() + k * rows);
    }
    if (all_) return find_all_rests();
    evaluate();
    complete_ = 4 * size >= varying_.size();
    find_gradient(complete_ ? varying_ : q_.members);
  }
  /// g = P - HW, and the loss.
  void find_all_rests() {
    const std::size_t size = q_.size();
    double with_pulls = 0, with_rests = 0;
    for (std::size_t k = 0; k < targets_; ++k) {
      double* rest = rest_.data() + k * size;
      for (std::size_t a = 0; a < size; ++a) rest[a] = pulls_[place(k, q_.members[a])];
      for (std::size_t a = 0; a < size; ++a)
        if (const double w = now_[k * size + a]; w != 0) take_off(rest, w, row(a), size);
      for (std::size_t a = 0; a < size; ++a) {
        g_[place(k, q_.members[a])] = rest[a];
        with_pulls += now_[k * size + a] * pulls_[place(k, q_.members[a])];
        with_rests += now_[k * size + a] * rest[a];
      }
    }
    loss_ = std::max(0.0, (squares_ - with_pulls - with_rests) / 2);
    with_targets_ = squares_ - with_pulls;
    epochs_ += 1;
  }
  /// Extrapolates rows of weights from the alpha before to this one.
  void follow_path() {
    if (!(fall_ > 1) || !(fall_before_ > 1) || q_.limited()) return;
    const double further = (fall_ - 1) / (fall_ * (fall_before_ - 1));
    for (std::size_t a = 0; a < q_.size(); ++a) {
      const auto j = q_.members[a];
      double along = 0, squares = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const double w = w_[place(k, j)], earlier = w_before_[place(k, j)];
        best_[k] = w + further * (w - earlier);
        along += best_[k] * w;
        squares += earlier * earlier;
      }
      if (!(along > 0) || !(squares > 0)) continue;
      for (std::size_t k = 0; k < targets_; ++k) move_to(k, a, best_[k]);
    }
  }

  const double* row(std::size_t a) const { return q_.matrix.get() + a * q_.stride; }
  GroupPenalty penalty_of(std::size_t a) const {
    return {q_.penalty1[at(q_.members[a])], q_.penalty2[at(q_.members[a])]};
  }
  static void take_off(double* __restrict rest, double step, const double* __restrict products, std::size_t size) {
    for (std::size_t b = 0; b < size; ++b) rest[b] -= step * products[b];
  }
  void move_to(std::size_t k, std::size_t a, double w) {
    double& own = now_[k * q_.size() + a];
    const double step = w - own;
    if (step == 0) return;
    own = w;
    take_off(rest_.data() + k * q_.size(), step, row(a), q_.size());
  }

  /// Makes the objective smaller until the gap of the members is about `goal`.
  void minimise(double goal, std::int32_t max_epochs) {
    constexpr int most_cycles = 50;
    constexpr int most_systems = 10;  // then rows that leave and come back are left to passes
    constexpr std::size_t most_rows = 1500;
    for (int cycle = 0; cycle < most_cycles && epochs_ < max_epochs; ++cycle) {
      visit();
      if (left_over() <= goal) return;
      find_active();
      if (q_.limited() || cycle >= most_systems || active_.size() > most_rows)
        visit_active(goal / 2, max_epochs);
      else
        solve_active(goal / 2);
      if (q_.limited()) return;
    }
  }
  /// One pass over all members.
  void visit() {
    const std::size_t size = q_.size();
    for (std::size_t a = 0; a < size; ++a) {
      const double curvature = row(a)[a];
      if (!(curvature > 0)) continue;
      if (is_zero(a) && square_of(rest_, a) <= penalty_of(a).p1 * penalty_of(a).p1) continue;
      best_row(a, rest_.data() + a, now_.data() + a, size, curvature, best_.data());
      for (std::size_t k = 0; k < targets_; ++k) move_to(k, a, best_[k]);
    }
    epochs_ += 1;
  }
  double square_of(const std::vector<double>& numbers, std::size_t a) const {
    double squares = 0;
    for (std::size_t k = 0; k < targets_; ++k) squares += numbers[k * q_.size() + a] * numbers[k * q_.size() + a];
    return squares;
  }
  bool is_zero(std::size_t a) const {
    for (std::size_t k = 0; k < targets_; ++k)
      if (now_[k * q_.size() + a] != 0) return false;
    return true;
  }
  /// A bound of the gap of the members to first order: the lengths of rows times those of their pulls.
  double left_over() const {
    const std::size_t size = q_.size();
    double sum = 0, ratio = 1, lasso = 0;
    for (std::size_t a = 0; a < size; ++a) {
      const auto penalty = penalty_of(a);
      const double weights = square_of(now_, a);
      if (weights == 0) {
        const double rests = square_of(rest_, a);
        if (penalty.p1 > 0 && rests > ratio * ratio * penalty.p1 * penalty.p1) ratio = std::sqrt(rests) / penalty.p1;
        continue;
      }
      const double length = std::sqrt(weights);
      const double slope = penalty.p1 / length + penalty.p2;
      double pulls = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const double pull = rest_[k * size + a] - slope * now_[k * size + a];
        pulls += pull * pull;
      }
      sum += length * std::sqrt(pulls);
      lasso += penalty.p1 * length;
    }
    return sum + (ratio - 1) * lasso;
  }
  void find_active() {
    active_.clear();
    const std::size_t size = q_.size();
    for (std::size_t a = 0; a < size; ++a)
      if (!is_zero(a)) active_.push_back(a);
  }
  /// The best rows of weights of the active members, all at once.
  void solve_active(double goal) {
    const std::size_t size = active_.size();
    system_.begin(size, targets_);
    for (std::size_t a = 0; a < size; ++a) {
      system_.penalties[a] = penalty_of(active_[a]);
      for (std::size_t b = 0; b < size; ++b) system_.products[a * size + b] = row(active_[a])[active_[b]];
      for (std::size_t k = 0; k < targets_; ++k) {
        system_.weights[k * size + a] = now_[k * q_.size() + active_[a]];
        system_.rests[k * size + a] = rest_[k * q_.size() + active_[a]];
      }
    }
    epochs_ += system_.solve(goal);
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t k = 0; k < targets_; ++k) move_to(k, active_[a], system_.weights[k * size + a]);
  }

  /// The best row of weights of member a, from what is left at the present one and its second derivative; `to` has one
  /// number a target. `stride`: from target to target.
  void best_row(std::size_t a, const double* rest, const double* w, std::size_t stride, double curvature,
                double* to) const {
    const auto penalty = penalty_of(a);
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

  /// Passes over the active members, with their part of the matrix side by side, until a pass gains at most `goal`.
  void visit_active(double goal, std::int32_t max_epochs) {
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
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < size; ++b) part_[a * size + b] = row(active_[a])[active_[b]];
      for (std::size_t k = 0; k < targets_; ++k) {
        part_w_[k * size + a] = now_[k * q_.size() + active_[a]];
        part_rest_[k * size + a] = rest_[k * q_.size() + active_[a]];
      }
    }
    part_pulls_ = part_rest_;
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < size; ++a)
        take_off(part_pulls_.data() + k * size, -part_w_[k * size + a], part_.data() + a * size, size);
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
      value += penalty_of(active_[a]).value(squares);
    }
    return value;
  }

  const ColumnProducts<T>& x_;
  ModelTask<T> task_;
  std::size_t features_, targets_;
  bool all_;                           // all features are members
  std::vector<std::int32_t> varying_;  // features
  MemberModel<T> q_;
  double alpha_ = 0;
  double fall_ = 1, fall_before_ = 1;  // the alpha before over this one; likewise of the alpha before
  bool complete_ = false;              // g is known of all features
  std::int32_t epochs_ = 0;

  // Of target k from k * features on:
  std::vector<double> w_, g_, pulls_;          // pulls: g without weights
  std::vector<double> w_at_alpha_, w_before_;  // weights of the last alpha and of the one before
  // Of target k from k * rows on; not visited if all features are members:
  std::vector<double> away_, errors_, residuals_;  // targets less their means; less predictions; times row weights
  std::vector<double> row_weights_, mean_targets_;
  double loss_ = 0, with_targets_ = 0;  // products of residuals and targets, mean
  double squares_ = 0;                  // of targets less their means
  // Of target k from k * members on:
  std::vector<double> now_, rest_;
  std::vector<double> best_, found_, scratch_;
  // Of the members that have weights:
  std::vector<std::size_t> active_;
  RowSystem system_;
  std::vector<double> part_, part_w_, part_rest_, part_pulls_, leap_w_, leap_rest_;
  PassHistory history_;
};

}  // namespace sheaf::linear::covariance
