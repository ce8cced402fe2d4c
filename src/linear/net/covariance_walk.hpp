// The models of a path, one alpha after another (the problem: covariance_path.hpp). A model is trained by Newton steps:
//
//   duality gap of the present weights, of all features or of the members  ->  members  ->  H, if it is too old  ->
//   the lowest point of the quadratic model (covariance_quadratic.hpp)  ->  the share of the way there that does not
//   raise the objective (covariance_rows.hpp)  ->  X'u of the members, or of all features (covariance_columns.hpp)
//
// Squared losses of few features visit no rows: see covariance_squares.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/net/covariance_columns.hpp"
#include "linear/net/covariance_curvatures.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/covariance_quadratic.hpp"
#include "linear/net/covariance_rows.hpp"
#include "linear/net/covariance_squares.hpp"

namespace sheaf::linear::covariance {

template <class T>
class PathWalk final : public CovariancePath {
 public:
  PathWalk(const ColumnProducts<T>& x, Loss loss, const ModelTask<T>& task, std::span<const double> intercepts,
           const SharedProducts* shared)
      : x_(x),
        task_(task),
        quadratic_(loss == Loss::squared),
        coupled_(loss == Loss::cox || loss == Loss::softmax),
        shared_(shared),
        rows_(loss, task, at(x.rows()), intercepts),
        q_(task_, at(x.features()), intercepts.size()) {
    const auto weights = at(x.features()) * classes();
    for (auto* vector : {&w_, &g_, &w_at_alpha_, &w_before_}) vector->assign(weights, 0.0);
    for (std::size_t j = 0; j < weights; ++j)
      if (task.curvature(q_.column_of(static_cast<std::int32_t>(j))) > 0)
        varying_.push_back(static_cast<std::int32_t>(j));
    changes_.assign(classes(), 0.0);
    q_.steady = quadratic_ || (classes() == 1 && varying_.size() > few);
    all_ = quadratic_ && shared != nullptr;
    if (all_)
      begin_with_all();
    else
      evaluate(0);
  }

  std::span<const double> weights() const override { return w_; }
  std::vector<double> intercepts() const override { return rows_.best_intercepts(); }
  std::span<const double> products() override {
    if (all_) return {};
    if (left_ || ++since_fresh_ >= 16) find_products();
    return rows_.products;
  }

  CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) override {
    const auto on_the_way = approach(alpha, goal, max_epochs);
    auto report = solve_next(alpha, goal, max_epochs);
    report.epochs += on_the_way;
    return report;
  }

 private:
  /// Trains roughly at alphas in between if this one is far below the last: all features that are beyond their bounds
  /// now would become members, of which most get no weight. Returns the epochs that it took.
  std::int32_t approach(double alpha, const GapGoal& goal, std::int32_t max_epochs) {
    constexpr double far = 2;
    constexpr double fall = 1.5;
    constexpr double rough = 30;  // times the tolerance
    constexpr double most_steps = 40;
    if (all_ || varying_.size() <= few || !(alpha > 0)) return 0;
    const double from = alpha_ > 0 ? alpha_ : first_alpha(alpha);
    if (!(from > far * alpha) || from == HUGE_VAL) return 0;
    const double steps = std::min(std::ceil(std::log(from / alpha) / std::log(fall)), most_steps);
    auto roughly = goal;
    roughly.share *= rough;
    std::int32_t epochs = 0;
    for (double step = 1; step < steps && epochs < max_epochs; ++step)
      epochs += solve_next(from * std::pow(alpha / from, step / steps), roughly, max_epochs - epochs).epochs;
    return epochs;
  }
  /// The largest alpha at which a feature has a weight, seen from this one; infinite if some are not penalised.
  double first_alpha(double alpha) {
    begin_alpha(alpha);
    alpha_ = 0;
    complete_gradient();
    double largest = 0;
    for (const auto j : varying_) {
      if (!(q_.penalty1[at(j)] > 0)) return HUGE_VAL;
      largest = std::max(largest, std::abs(g_[at(j)]) / q_.penalty1[at(j)]);
    }
    return alpha * largest;
  }

  CovarianceReport solve_next(double alpha, const GapGoal& goal, std::int32_t max_epochs) {
    begin_alpha(alpha);
    CovarianceReport report;
    double lowest = HUGE_VAL;  // gap so far
    double before_step = 0;    // the gap
    double precision = 0.1;    // of quadratic models, relative to the tolerance
    int in_vain = 0;
    constexpr int most_in_vain = 5;
    constexpr double rounding = 1e-16;  // of the loss, which quadratic models can't be better than
    while (true) {
      compute_gap(goal, report);
      if (moved_) known_.note_step(report.gap / before_step);
      before_step = report.gap;
      report.tolerance = goal.at(report.rows.loss);
      const bool over = q_.epochs >= max_epochs;
      if (report.gap <= report.tolerance || over || in_vain >= most_in_vain) {
        if (complete_) break;
        complete_gradient();
        if (!over && choose_members()) {  // the end was that of a part of the problem
          lowest = HUGE_VAL;
          in_vain = 0;
        } else {
          ++in_vain;
        }
        continue;
      }
      const bool slow = report.gap > lowest / 2;
      if (!slow) in_vain = 0;
      lowest = std::min(lowest, report.gap);
      const bool more = choose_members();
      if (must_renew(report.gap, report.tolerance, slow)) renew();
      // Steps of exact quadratic models that no longer bring the gap down are lost in rounding.
      if (slow && !more && solved_ && known_.off() < KnownCurvatures<T>::nearly_exact) ++in_vain;
      if (slow) precision = std::max(precision / 10, 1e-6);
      if (!step(report, std::max(precision * report.tolerance, rounding * report.rows.loss))) ++in_vain;
    }
    report.epochs = q_.epochs;
    report.rows.loss -= rows_.gain_of_tilt();  // of the intercepts that are returned
    return report;
  }

  double total() const { return task_.total; }
  /// Cox: products of features are gathered by time, and don't see what is taken off all values of a feature.
  bool couples_times() const { return coupled_ && classes() == 1; }
  std::size_t classes() const { return rows_.classes(); }
  /// f(class, columns, place in the list): parts of the list that are of one class.
  template <class F>
  void for_classes(std::span<const std::int32_t> list, const F& f) {
    if (classes() == 1) return f(std::size_t{0}, list, std::size_t{0});
    for (std::size_t first = 0, last = 0; first < list.size(); first = last) {
      const auto k = q_.class_of(list[first]);
      columns_.clear();
      for (; last < list.size() && q_.class_of(list[last]) == k; ++last) columns_.push_back(q_.column_of(list[last]));
      f(at(k), std::span<const std::int32_t>(columns_), first);
    }
  }
  /// z = the sum over k of steps[k] times the column of list[k], in its class.
  void add_columns(std::span<const std::int32_t> list, std::span<const double> steps, std::vector<double>& z) {
    std::fill(z.begin(), z.end(), 0.0);
    for_classes(list, [&](std::size_t k, std::span<const std::int32_t> columns, std::size_t first) {
      x_.add(columns, steps.subspan(first, columns.size()), z.data() + k * at(x_.rows()));
    });
  }

  void begin_alpha(double alpha) {
    const double before = alpha_;
    alpha_ = alpha;
    task_.alpha1 = alpha * task_.shape.l1;
    task_.alpha2 = alpha * task_.shape.l2;
    fall_before_ = fall_;
    fall_ = before > 0 && alpha > 0 ? before / alpha : 1;
    w_before_.swap(w_at_alpha_);
    w_at_alpha_ = w_;
    q_.take_penalties(varying_);
    q_.epochs = 0;
    moved_ = false;
  }

  void begin_with_all() {
    for (const auto j : varying_) q_.add_member(j);
    q_.reserve(0, varying_.size());
    squares_.begin(x_, *shared_, task_, rows_, q_, scratch_);
    refresh_gradient();
    complete_ = true;
  }
  void refresh_gradient() {
    squares_.refresh(w_, g_, rows_, q_);
    q_.epochs += 1;
  }
  /// At `share` of the way, and of the changes of the intercepts.
  void evaluate(double share) {
    rows_.evaluate(share, changes_);
    q_.epochs += 1;
  }
  /// g of the features in `list`.
  void update_gradient(std::span<const std::int32_t> list) {
    found_.resize(list.size());
    for_classes(list, [&](std::size_t k, std::span<const std::int32_t> columns, std::size_t first) {
      x_.multiply(columns, rows_.residuals.data() + k * at(x_.rows()), found_.data() + first);
    });
    for (std::size_t k = 0; k < list.size(); ++k) g_[at(list[k])] = found_[k] / total();
    q_.epochs += 1;
  }
  void complete_gradient() {
    update_gradient(varying_);
    complete_ = true;
  }
  FeatureSums sum_features(std::span<const std::int32_t> list) const {
    FeatureSums sums;
    for (const auto j : list) {
      const ElasticNetPenalty<double> penalty{q_.penalty1[at(j)], q_.penalty2[at(j)]};
      const auto column = q_.column_of(j);
      const double curvature = task_.curvature(column) * task_.loss_curvature;
      if (q_.limited())
        sums.add(g_[at(j)], w_[at(j)], penalty, curvature, task_.limits_of(column));
      else
        sums.add(g_[at(j)], w_[at(j)], penalty, curvature);
    }
    return sums;
  }

  /// The gap over all features or, while the gradient of the others is not known, over those in work.
  void compute_gap(const GapGoal& goal, CovarianceReport& report) {
    report.features = sum_features(complete_ ? varying_ : q_.members);
    report.rows = {rows_.loss, 0};
    double scale = 0, dual = 0;
    if (quadratic_) {
      report.rows.dual = (all_ ? squares_.unexplained() : targets_with_residuals()) - rows_.loss;
      scale = dual_scale<Squared>(report.features, report.rows, q_.limited());
      dual = squared_dual(report.rows, scale);
    } else {
      scale = feasible_scale(report.features.ratio);
      const double pulls = sum_pulls();
      dual = rows_.dual_bound(scale, pulls);
      report.rows.dual = rows_.dual_bound(1, pulls);
      const double lost = rows_.loss + scale * pulls - dual;
      report.gap = duality_gap(report.features, report.rows, scale, dual);
      const double tolerance = goal.at(rows_.loss);
      if (report.gap <= tolerance || report.gap - lost > tolerance) return check_tilt(report);
      if (!moved_ && report.features.ratio > 1 + 3 * std::sqrt(2 * goal.share)) {
        // The residuals of another alpha: there is no need for logarithms to see that a step is needed.
        const double over = 1 - scale;
        report.gap = over * over * (rows_.loss - goal.least);
        return;
      }
      // The dual value itself may show what the bound does not.
      dual = rows_.dual_at(scale);
      const bool as_they_are = scale != 1 && report.features.excess < HUGE_VAL;
      report.rows.dual = as_they_are ? rows_.dual_at(1) : dual;
    }
    report.gap = duality_gap(report.features, report.rows, scale, dual);
    check_tilt(report);
  }
  void check_tilt(CovarianceReport& report) const {
    constexpr double far = 0.5;  // beyond, residuals with another intercept may be no dual point
    for (const double tilt : rows_.tilt)
      if (!(std::abs(tilt) < far)) report.gap = HUGE_VAL;
  }
  /// The sum of weights times gradients.
  double sum_pulls() const {
    double sum = 0;
    for (const auto j : q_.members) sum += w_[at(j)] * g_[at(j)];
    return sum;
  }
  double targets_with_residuals() const {
    return sum_over(rows_.targets.size(),
                    [&](std::size_t i) { return rows_.residuals[i] * (rows_.targets[i] - task_.center); }) /
           total();
  }

  /// Features that may have a weight become members; their products are found under the weights that those of the
  /// others were. Returns whether there are new ones.
  bool choose_members() {
    if (all_ || !complete_) return false;
    const double near = varying_.size() <= few ? 0.0 : std::clamp(2 - fall_, 0.3, 0.95);
    const std::size_t before = q_.size();
    for (const auto j : varying_)
      if (q_.place[at(j)] < 0 && may_matter(j, near)) q_.add_member(j);
    if (q_.size() == before) return false;
    if (known_.there() && !couples_times()) extend(before);
    if (couples_times()) known_.forget();  // rows don't keep the decision values under which products were found
    return true;
  }
  bool may_matter(std::int32_t j, double near) const {
    return w_[at(j)] != 0 || q_.penalty1[at(j)] <= 0 || std::abs(g_[at(j)]) >= near * q_.penalty1[at(j)];
  }
  void extend(std::size_t first) {
    q_.reserve(first, varying_.size());
    const std::size_t size = q_.size();
    std::vector<double> centers(size, 0.0), sums(size, 0.0);
    if (task_.intercept && !x_.sparse() && !couples_times())
      for (std::size_t k = 0; k < size; ++k)
        if (rows_.free_intercept(at(q_.classes[k]))) centers[k] = double(task_.mean(q_.columns[k]));
    q_.epochs += 1;
    if (classes() > 1) {
      rows_.weigh_classes(x_, {q_.columns, q_.classes}, first, centers, q_.matrix.get(), q_.stride, q_.means, scratch_);
      return q_.average(first);
    }
    if (couples_times()) {
      rows_.weigh_features(x_, q_.members, q_.matrix.get(), q_.stride);
    } else {
      x_.weigh(q_.members, first, centers, {}, known_.values(), q_.matrix.get(), q_.stride, scratch_);
      const auto added = std::span<const std::int32_t>(q_.members).subspan(first);
      x_.multiply(added, known_.values().data(), sums.data() + first);
    }
    q_.means.resize(size);
    q_.center(first, centers, sums, known_.volume());
  }

  bool must_renew(double gap, double tolerance, bool slow) {
    if (!known_.there()) return !all_;
    if (quadratic_) return false;
    const double visit = visit_cost(x_, q_.size() + varying_.size(), classes(), couples_times());
    return known_.must_renew(rows_, q_, gap, tolerance, slow, product_cost(x_, q_.size(), couples_times()) / visit);
  }
  /// Products of the members under the present second derivatives. Members that are far from their bounds leave.
  void renew() {
    if ((complete_ && known_.there()) || classes() > 1) {
      auto old = q_.members;
      if (classes() > 1) std::sort(old.begin(), old.end());  // products of a class are found together
      q_.clear();
      const double near = varying_.size() <= few ? 0.0 : 0.5;
      for (const auto j : old)
        if (!complete_ || !known_.there() || may_matter(j, near)) q_.add_member(j);
    }
    known_.keep(rows_);
    extend(0);
  }

  /// A Newton step: to the lowest point of the quadratic model, or as far on the way there as the objective falls.
  /// False: nothing moved.
  bool step(const CovarianceReport& report, double goal) {
    const std::size_t size = q_.size();
    q_.begin(w_, g_);
    if (!moved_ && !q_.factors()) follow_path();
    solved_ = q_.minimise(goal);
    if (all_) {
      const bool moved = q_.before != q_.now;
      for (std::size_t k = 0; k < size; ++k) w_[at(q_.members[k])] = q_.now[k];
      if (moved) refresh_gradient();
      moved_ = true;
      return moved;
    }
    std::vector<std::int32_t> list;
    std::vector<double> steps;
    changes_ = rows_.tilt;
    for (std::size_t k = 0; k < size; ++k) {
      if (q_.now[k] == q_.before[k]) continue;
      list.push_back(q_.members[k]);
      steps.push_back(q_.now[k] - q_.before[k]);
      left_ = left_ || q_.now[k] == 0;
      if (task_.intercept)
        for (std::size_t c = 0; c < classes(); ++c) changes_[c] -= q_.means[k * classes() + c] * steps.back();
    }
    if (list.empty() && changes_ == std::vector<double>(classes(), 0.0)) return false;
    moved_ = true;
    if (quadratic_) changes_[0] = 0;  // the intercept is the best one for every weight
    const bool all = 4 * size >= varying_.size();
    const auto& wanted = all ? varying_ : q_.members;
    const bool at_once = !coupled_ && !quadratic_ && !x_.sparse();
    if (at_once) {
      pass(list, steps, wanted);
    } else {
      add_columns(list, steps, rows_.way);
      evaluate(1);
    }
    const double share = take(report.rows.loss, report.features.penalty());
    for (std::size_t c = 0; c < classes(); ++c) rows_.intercepts[c] += share * changes_[c];
    for (std::size_t i = 0; i < rows_.way.size(); ++i) rows_.products[i] += share * rows_.way[i];
    for (std::size_t k = 0; k < size; ++k) w_[at(q_.members[k])] = weight_at(k, share);
    complete_ = all;
    g_before_ = g_;
    if (share == 1 && at_once)
      for (std::size_t k = 0; k < wanted.size(); ++k) g_[at(wanted[k])] = found_[k] / total();
    else
      update_gradient(wanted);
    if (share == 1 && !quadratic_ && size == varying_.size()) known_.learn(rows_, q_, g_before_, g_);
    return true;
  }
  /// Rows are evaluated at the end of a step of the weights in the list, in one pass that finds the products of the
  /// residuals with the `wanted` features as well.
  void pass(std::span<const std::int32_t> list, std::span<const double> steps, std::span<const std::int32_t> wanted) {
    found_.assign(wanted.size(), 0.0);
    with_curvatures_.assign(wanted.size(), 0.0);
    const auto signed_of = [](std::size_t number) { return static_cast<std::int64_t>(number); };
    const double tilt = rows_.evaluate_parts(
        1, changes_, x_.rows_in_cache(wanted.size()),
        [&](std::size_t first, std::size_t count) {
          std::fill_n(rows_.way.data() + first, count, 0.0);
          x_.add_part(list, steps, rows_.way.data(), signed_of(first), signed_of(count));
        },
        [&](std::size_t first, std::size_t count) {
          x_.multiply_part(wanted, rows_.residuals.data(), rows_.curvatures.data(), signed_of(first), signed_of(count),
                           found_.data(), with_curvatures_.data());
        });
    for (std::size_t k = 0; k < wanted.size(); ++k) found_[k] -= tilt * with_curvatures_[k];
    q_.epochs += 2;
  }
  double weight_at(std::size_t k, double share) const {
    if (share == 1) return q_.now[k];
    return task_.within_limits(q_.columns[k], q_.before[k] + share * (q_.now[k] - q_.before[k]));
  }
  /// The share of the way that does not raise the objective, which is `loss` and `penalty`, by more than rounding does;
  /// rows are evaluated there, as they were at its end. A loss of counts may be below 0, so that the objective is no
  /// measure of their size.
  double take(double loss, double penalty) {
    const double rounding = 1e-14 * (std::abs(loss) + penalty);
    double share = 1;
    for (int turn = 0;; ++turn, share /= 2) {
      if (turn > 0) evaluate(share);
      if (quadratic_ || turn >= 30) return share;
      double penalties = 0;
      for (std::size_t k = 0; k < q_.size(); ++k) {
        const auto j = at(q_.members[k]);
        penalties += ElasticNetPenalty<double>{q_.penalty1[j], q_.penalty2[j]}.value(weight_at(k, share));
      }
      if (rows_.loss + penalties <= loss + penalty + rounding) return share;
    }
  }

  /// Extrapolates the weights from the alpha before to this one: those of squares are linear in alpha as long as the
  /// same features have weights.
  void follow_path() {
    if (!(fall_ > 1) || !(fall_before_ > 1)) return;
    // From alpha f2 f1 to alpha f1, and to alpha.
    const double further = (fall_ - 1) / (fall_ * (fall_before_ - 1));
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const double w = q_.now[k];
      const double earlier = w_before_[at(q_.members[k])];
      const double next = w + further * (w - earlier);
      if (w * earlier > 0 && next * w > 0) q_.move_to(k, task_.within_limits(q_.columns[k], next));
    }
  }

  void find_products() {
    std::vector<std::int32_t> list;
    std::vector<double> weights;
    for (const auto j : varying_)
      if (w_[at(j)] != 0) {
        list.push_back(j);
        weights.push_back(w_[at(j)]);
      }
    add_columns(list, weights, rows_.products);
    since_fresh_ = 0;
    left_ = false;
  }

  static constexpr std::size_t few = 192;  // weights that are all members, whose quadratic model learns

  const ColumnProducts<T>& x_;
  ModelTask<T> task_;
  bool quadratic_;
  bool coupled_;      // the second derivative couples rows
  bool all_ = false;  // products of all features are known: rows are not visited
  const SharedProducts* shared_;
  RowValues<T> rows_;
  MemberModel<T> q_;
  int since_fresh_ = 0;  // products that were updated, not found anew
  bool left_ = false;    // since then a feature lost its weight, and rounding left some of it in the products

  double alpha_ = 0;
  double fall_ = 1, fall_before_ = 1;          // the alpha before over this one; likewise of the alpha before
  std::vector<double> w_at_alpha_, w_before_;  // weights of the last alpha and of the one before

  // Over features:
  std::vector<std::int32_t> varying_;
  std::vector<double> w_, g_;
  bool solved_ = true;     // the last quadratic model, as well as it was wanted
  bool moved_ = false;     // since this alpha began
  bool complete_ = false;  // g is known of all features
  std::vector<double> found_, with_curvatures_;
  std::vector<double> g_before_;  // before a step

  KnownSquares squares_;  // all_: what takes the place of rows

  KnownCurvatures<T> known_;
  std::vector<double> scratch_;
  std::vector<double> changes_;        // of the intercepts, by a step
  std::vector<std::int32_t> columns_;  // of the weights of one class
};

}  // namespace sheaf::linear::covariance
