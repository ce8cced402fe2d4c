// Paths of several targets with squared losses and grouped penalties, from the products of all features: rows are never
// visited.
//
//   Q(W) = sum over targets k of (y_k'y_k - 2 p_k'w_k + w_k'H w_k) / 2 + sum over features j of p1_j |W_j| + p2_j W_j^2
//   / 2
//
// with H = X'SX / S and p_k = X'S y_k / S, centred. A step sets the row W_j of a feature to the best one, shrinking the
// row of its pulls, and takes H_j times it off the gradients p_k - H w_k of all targets. Passes over the features that
// have weights come between passes over all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/net/covariance_columns.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/covariance_quadratic.hpp"

namespace sheaf::linear::covariance {

template <class T>
class TargetsWalk final : public CovariancePath {
 public:
  /// `task` is that of the first target.
  TargetsWalk(const ColumnProducts<T>& x, const ModelTask<T>& task, std::size_t targets, const SharedProducts& shared)
      : x_(x), task_(task), targets_(targets), q_(task_, at(x.features()), 1) {
    for (std::int32_t j = 0; j < x.features(); ++j)
      if (task.curvature(j) > 0) q_.add_member(j);
    q_.reserve(0, q_.size());
    std::vector<double> weights(at(x.rows()));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = double(task.weight(static_cast<std::int64_t>(i)));
    std::vector<double> scratch;
    fill_products(x, shared, weights, task.total, q_, scratch);
    for (auto* matrix : {&pulls_, &rest_, &now_}) matrix->assign(targets * q_.size(), 0.0);
    std::vector<double> residuals(weights.size());
    for (std::size_t k = 0; k < targets; ++k) add_target(weights, residuals, k);
    w_.assign(targets * at(x.features()), 0.0);
    products_.assign(targets * weights.size(), 0.0);
  }

  CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) override {
    constexpr int most_in_vain = 10;
    task_.alpha1 = alpha * task_.shape.l1;
    task_.alpha2 = alpha * task_.shape.l2;
    q_.epochs = 0;
    CovarianceReport report;
    double lowest = HUGE_VAL;
    for (int in_vain = 0;; in_vain = report.gap > 0.9 * lowest ? in_vain + 1 : 0) {
      lowest = std::min(lowest, report.gap > 0 ? report.gap : HUGE_VAL);
      compute_gap(report);
      report.tolerance = goal.at(report.rows.loss);
      if (report.gap <= report.tolerance || q_.epochs >= max_epochs || in_vain >= most_in_vain) break;
      descend(report.tolerance, max_epochs);
    }
    report.epochs = q_.epochs;
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < q_.size(); ++a)
        w_[k * at(x_.features()) + at(q_.members[a])] = now_[k * q_.size() + a];
    return report;
  }
  std::span<const double> weights() const override { return w_; }
  std::vector<double> intercepts() const override {
    auto result = means_;
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < q_.size(); ++a) result[k] -= now_[k * q_.size() + a] * q_.means[a];
    return result;
  }
  std::span<const double> products() override {
    std::fill(products_.begin(), products_.end(), 0.0);
    for (std::size_t k = 0; k < targets_; ++k)
      x_.add(q_.members, std::span(now_).subspan(k * q_.size(), q_.size()), products_.data() + k * at(x_.rows()));
    return products_;
  }

 private:
  void add_target(const std::vector<double>& weights, std::vector<double>& residuals, std::size_t k) {
    const auto target = [&](std::size_t i) {
      return double(task_.targets[static_cast<std::int64_t>(i) * task_.target_stride + static_cast<std::int64_t>(k)]);
    };
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * target(i);
    means_.push_back(task_.intercept ? sum / task_.total : 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double away = target(i) - means_[k];
      residuals[i] = weights[i] * away;
      squares_ += residuals[i] * away / task_.total;
    }
    double* pulls = pulls_.data() + k * q_.size();
    x_.multiply(q_.members, residuals.data(), pulls);
    for (std::size_t a = 0; a < q_.size(); ++a) pulls[a] /= task_.total;
  }

  /// Gradients anew, and the gap.
  void compute_gap(CovarianceReport& report) {
    const std::size_t size = q_.size();
    double explained = 0, with_rest = 0;
    for (std::size_t k = 0; k < targets_; ++k) {
      const double* w = now_.data() + k * size;
      double* __restrict rest = rest_.data() + k * size;
      std::copy_n(pulls_.data() + k * size, size, rest);
      for (std::size_t b = 0; b < size; ++b) {
        if (w[b] == 0) continue;
        const double* __restrict products = q_.matrix.data() + b * q_.stride;
        for (std::size_t a = 0; a < size; ++a) rest[a] -= w[b] * products[a];
      }
      for (std::size_t a = 0; a < size; ++a) {
        explained += w[a] * pulls_[k * size + a];
        with_rest += w[a] * rest[a];
      }
    }
    const double loss = std::max(0.0, (squares_ - explained - with_rest) / 2);
    report.rows = {loss, squares_ - explained - loss};
    report.features = {};
    for (std::size_t a = 0; a < size; ++a) {
      const auto j = q_.members[a];
      const auto penalty = task_.penalty(j);
      GroupSquares squares;
      for (std::size_t k = 0; k < targets_; ++k) squares.add(rest_[k * size + a], now_[k * size + a], penalty.p2);
      report.features.add(squares, penalty, task_.curvature(j) * task_.loss_curvature);
    }
    const double scale = dual_scale<Squared>(report.features, report.rows, false);
    report.gap = duality_gap(report.features, report.rows, scale, squared_dual(report.rows, scale));
    q_.epochs += 1;
  }

  /// Passes until one changes little.
  void descend(double tolerance, std::int32_t max_epochs) {
    constexpr int most_passes = 1000;
    constexpr double little = 1e-3;
    std::vector<std::size_t> all(q_.size()), active;
    for (std::size_t a = 0; a < all.size(); ++a) all[a] = a;
    visit(all);
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t k = 0; k < targets_; ++k)
        if (now_[k * q_.size() + a] != 0) {
          active.push_back(a);
          break;
        }
    for (int pass = 0; pass < most_passes && q_.epochs < max_epochs; ++pass)
      if (visit(active) <= little * tolerance) break;
  }
  /// Returns the largest decrease of the loss by a step, about.
  double visit(const std::vector<std::size_t>& places) {
    const std::size_t size = q_.size();
    double most = 0;
    std::vector<double> pull(targets_);
    for (const auto a : places) {
      const double* __restrict products = q_.matrix.data() + a * q_.stride;
      const double curvature = products[a];
      const auto penalty = task_.penalty(q_.members[a]);
      if (!(curvature > 0)) continue;
      double squares = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        pull[k] = rest_[k * size + a] + curvature * now_[k * size + a];
        squares += pull[k] * pull[k];
      }
      const double length = std::sqrt(squares);
      const double share = length > penalty.p1 ? (1 - penalty.p1 / length) / (curvature + penalty.p2) : 0;
      double moved = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const double step = share * pull[k] - now_[k * size + a];
        if (step == 0) continue;
        now_[k * size + a] += step;
        moved += step * step;
        double* __restrict rest = rest_.data() + k * size;
        for (std::size_t b = 0; b < size; ++b) rest[b] -= step * products[b];
      }
      most = std::max(most, curvature * moved);
    }
    q_.epochs += 1;
    return most;
  }

  const ColumnProducts<T>& x_;
  ModelTask<T> task_;
  std::size_t targets_;
  MemberModel<T> q_;  // for its matrix
  std::vector<double> means_;
  std::vector<double> pulls_, rest_, now_;  // targets x members
  double squares_ = 0;
  std::vector<double> w_, products_;
};

}  // namespace sheaf::linear::covariance
