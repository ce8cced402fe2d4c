// Losses over the rows of one path, in a form for loops of one thread.
//
//   z_i = x_i'w + b + o_i,   u_i = -s_i l'(z_i),   v_i = s_i l''(z_i),   mean loss (1 / S) sum s_i l(z_i)
//
// with row weights s, their sum S, the intercept b and offsets o. Residuals u are a dual point only if their sum is 0:
// a better intercept makes it so to first order, u_i - t v_i with the tilt t = sum u / sum v. The dual value of scaled
// residuals k u is (1 / S) sum s_i d(k u_i / s_i, y_i) - k u_i o_i, with d of linear/losses.
//
// Cox models (covariance_risks.hpp) have no intercept, and their loss couples rows: v_i is the diagonal part of the
// second derivative, and weigh_features() has all of it. Softmax models (covariance_classes.hpp) have numbers of K
// classes, those of class k from k * rows on, and as many intercepts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "linear/losses/losses.hpp"
#include "linear/net/covariance_classes.hpp"
#include "linear/net/covariance_risks.hpp"
#include "linear/net/model/task.hpp"
#include "linear/net/row_sums.hpp"

namespace sheaf::linear::covariance {

/// The losses that are served, as loops over rows want them; see linear/losses.
struct SquaredRows {
  static constexpr bool quadratic = true;
  static LossTerms<double> terms(double z, double y) { return Squared::terms(z, y, 0.0); }
  static double dual_value(double u, double y) { return Squared::dual_value(u, y); }
};
struct LogisticRows {
  static constexpr bool quadratic = false;
  static LossTerms<double> terms(double z, double y) { return Logistic::terms(z, y, 0.0); }
  static double dual_value(double u, double /*y*/) {
    const double a = std::abs(u);
    return -times_log(a) - times_log(a < 1 ? 1 - a : 0);
  }
};
struct PoissonRows {
  static constexpr bool quadratic = false;
  static LossTerms<double> terms(double z, double y) {
    constexpr double most = 700;
    const double size = std::abs(z) < most ? std::abs(z) : most;
    const double e = exp_nonpositive(-size);
    const double mean = z > 0 ? 1 / e : e;
    return {mean - y * z, mean - y, mean};
  }
  static double dual_value(double u, double y) {
    const double mean = y - u > 0 ? y - u : 0;
    return mean - times_log(mean);
  }
};

template <class F>
auto with_rows_of(Loss loss, const F& f) {
  if (loss == Loss::logistic) return f(LogisticRows{});
  if (loss == Loss::poisson) return f(PoissonRows{});
  return f(SquaredRows{});
}

/// Rows that are taken together: their data stays in the nearest cache.
constexpr std::int64_t rows_together = 1024;

/// All data of a path's rows.
template <class T>
class RowValues {
 public:
  /// `start`: the intercepts, one or one a class.
  RowValues(Loss kind, const ModelTask<T>& task, std::size_t rows, std::span<const double> start)
      : intercepts(start.begin(), start.end()),
        tilt(start.size(), 0.0),
        loss_(kind),
        total_(task.total),
        free_intercept_(task.intercept) {
    weights.assign(rows, 0.0);
    for (auto* vector : {&targets, &offsets, &products, &residuals, &curvatures, &way})
      vector->assign(rows * start.size(), 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      weights[i] = double(task.weight(row));
      for (std::size_t k = 0; k < start.size(); ++k) {
        const auto column = static_cast<std::int64_t>(k);
        targets[k * rows + i] = double(task.targets[row * task.target_stride + column]);
        if (task.offsets != nullptr) offsets[k * rows + i] = double(task.offsets[row * task.offset_stride + column]);
      }
    }
    if (kind == Loss::cox) risks_.emplace(task.risk, weights);
    if (kind == Loss::softmax) begin_classes();
  }
  std::size_t classes() const { return intercepts.size(); }

  /// Residuals and second derivatives, with their sums, at `share` of the way, which takes intercepts by `changes`.
  void evaluate(double share, std::span<const double> changes) {
    if (risks_) return evaluate_risks(share);
    if (shares_) return evaluate_classes(share, changes);
    const auto none = [](std::size_t, std::size_t) {};
    evaluate_parts(share, changes, rows_together, none, none);
  }
  /// The same for losses of a single decision value, `together` rows, at most rows_together, at a time. Before and
  /// after a part is visited, before(first, count) and after(first, count) are called; the residuals that the latter
  /// finds lack the tilt, which is returned and takes the second derivatives times itself off them in the end.
  template <class Before, class After>
  double evaluate_parts(double share, std::span<const double> changes, std::int64_t together, const Before& before,
                        const After& after) {
    RowTotals totals;
    const double at_share = intercepts[0] + share * changes[0];
    const auto part = static_cast<std::size_t>(together);
    with_rows_of(loss_, [&](auto rows) {
      for (std::size_t first = 0; first < targets.size(); first += part) {
        const std::size_t count = std::min(part, targets.size() - first);
        before(first, count);
        sum_rows(rows, share, at_share, first, count, totals);
        after(first, count);
      }
    });
    loss = totals.loss / total_;
    spread = totals.spread / total_;
    volume = totals.curvature;
    tilt[0] = 0;
    if (!free_intercept_) return 0;
    const double own = totals.residual / totals.curvature;
    const bool quadratic = loss_ == Loss::squared;
    if (quadratic) {
      intercepts[0] = at_share + own;
      loss -= own * own * totals.curvature / (2 * total_);
    }
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= own * curvatures[i];
    if (!quadratic) tilt[0] = own;
    return own;
  }
  /// The decrease of the mean loss if the intercepts move along the tilt.
  double gain_of_tilt() const { return shares_ ? shares_->gain() / total_ : tilt[0] * tilt[0] * volume / (2 * total_); }
  /// A lower bound of the dual value of the residuals times a factor from 0 to 1, for the sum `pulls` of weights times
  /// mean gradients: no pass over the rows.
  ///
  /// The dual value of scaled residuals k u is the entropy of the shares (Poisson: means) q that y - k u / s are, and
  /// that is  loss + k pulls - sum s KL(q | p)  for the shares p of the present decision values. q / p is at least
  /// 1 - away, so that KL is at most the sum of (q - p)^2 / p over 2 (1 - away), and q - p = (1 - k)(y - p) + k times
  /// what the tilt adds. -infinity: they are too far away, or the loss has no such bound.
  double dual_bound(double scale, double pulls) const {
    constexpr double far = 0.5;
    double turn = 0;
    for (const double own : tilt) turn = std::max(turn, std::abs(own));
    const double away = 1 - scale + scale * turn * (shares_ ? 2 : 1);
    if (!(away < far) || !(spread < HUGE_VAL)) return -HUGE_VAL;
    const double root = (1 - scale) * std::sqrt(spread) + scale * std::sqrt(2 * std::max(gain_of_tilt(), 0.0));
    return loss + scale * pulls - root * root / (2 * (1 - away));
  }
  /// The dual value of the residuals times a factor.
  double dual_at(double scale) {
    if (risks_) return risk_dual_at(scale);
    if (shares_) return shares_->dual_at(scale, residuals.data(), offsets.data()) / total_;
    return with_rows_of(loss_, [&](auto rows) { return sum_duals(rows, scale); }) / total_;
  }

  /// Cox: see RiskRows::weigh_features().
  template <class Columns>
  void weigh_features(const Columns& x, std::span<const std::int32_t> list, double* out, std::size_t stride) {
    risks_->weigh_features(x, list, out, stride);
  }

  /// Softmax: likewise; see ClassShares::weigh().
  template <class Columns>
  void weigh_classes(const Columns& x, const ClassColumns& list, std::size_t first, std::span<const double> centers,
                     double* out, std::size_t stride, std::vector<double>& means, std::vector<double>& scratch) {
    shares_->weigh(x, list, first, centers, free_intercept_, out, stride, means, scratch);
  }
  /// Softmax: products will be found under the present second derivatives, and under `scale` times these.
  void keep_known() {
    if (shares_) shares_->keep(curvatures);
  }
  void rescale_known(double scale) {
    if (shares_) shares_->rescale(scale);
  }
  /// To first order; those of several classes sum to 0.
  std::vector<double> best_intercepts() const {
    auto result = intercepts;
    for (std::size_t k = 0; k < classes(); ++k) result[k] += tilt[k];
    if (classes() == 1) return result;
    const double center = std::accumulate(result.begin(), result.end(), 0.0) / static_cast<double>(classes());
    for (double& intercept : result) intercept -= center;
    return result;
  }
  /// Whether the intercept of a class is trained.
  bool free_intercept(std::size_t k) const { return free_intercept_ && !(shares_ && shares_->fixed(k)); }

  std::vector<double> weights;
  std::vector<double> targets, offsets;
  std::vector<double> products;  ///< x'w
  std::vector<double> residuals, curvatures;
  std::vector<double> way;  ///< by which a step takes the products further
  std::vector<double> intercepts;
  double loss = 0;           ///< mean
  double volume = 0;         ///< sum of the second derivatives
  double spread = 0;         ///< mean of the squares of y - p over p; see dual_bound()
  std::vector<double> tilt;  ///< how far intercepts are from their best, to first order

 private:
  /// An intercept that is not trained is part of the offsets, as dual points require.
  void begin_classes() {
    shares_.emplace(classes(), weights, targets);
    for (std::size_t k = 0; k < classes(); ++k) {
      if (free_intercept(k)) continue;
      for (std::size_t i = 0; i < weights.size(); ++i) offsets[k * weights.size() + i] += intercepts[k];
    }
  }
  void evaluate_classes(double share, std::span<const double> changes) {
    const std::size_t rows = weights.size();
    for (std::size_t k = 0; k < classes(); ++k) {
      const double b = free_intercept(k) ? intercepts[k] + share * changes[k] : 0.0;
      const double* __restrict x = products.data() + k * rows, * __restrict step = way.data() + k * rows;
      const double* __restrict offset = offsets.data() + k * rows;
      double* __restrict z = shares_->values(k);
      for (std::size_t i = 0; i < rows; ++i) z[i] = x[i] + share * step[i] + b + offset[i];
    }
    loss = shares_->load(residuals.data(), curvatures.data()) / total_;
    spread = shares_->spread() / total_;
    volume = sum_over(curvatures.size(), [&](std::size_t i) { return curvatures[i]; });
    if (!free_intercept_) return;
    const auto found = shares_->settle(residuals.data());
    std::copy(found.begin(), found.end(), tilt.begin());
  }

  void evaluate_risks(double share) {
    const auto totals = risks_->load([&](std::size_t i) { return products[i] + share * way[i] + offsets[i]; },
                                     residuals.data(), curvatures.data());
    loss = totals.loss / total_;
    spread = totals.spread / total_;
    volume = totals.curvature;
  }
  double risk_dual_at(double scale) {
    double sum = risks_->dual_at(scale);
    for (std::size_t i = 0; i < residuals.size(); ++i) sum -= scale * residuals[i] * offsets[i];
    return sum / total_;
  }

  template <class Rows>
  void sum_rows(Rows, double share, double b, std::size_t first, std::size_t count, RowTotals& totals) {
    constexpr double least_curvature = Rows::quadratic ? 0 : 1e-12;
    double values[rows_together], squares[rows_together];
    const double* __restrict s = weights.data() + first, * __restrict y = targets.data() + first;
    const double* __restrict z = products.data() + first, * __restrict step = way.data() + first;
    const double* __restrict offset = offsets.data() + first;
    double* __restrict u = residuals.data() + first, * __restrict v = curvatures.data() + first;
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
      const auto terms = Rows::terms(z[i] + share * step[i] + b + offset[i], y[i]);
      const double curvature = terms.curvature > least_curvature ? terms.curvature : least_curvature;
      u[i] = -s[i] * terms.slope;
      v[i] = s[i] * curvature;
      values[i] = s[i] * terms.value;
      if constexpr (!Rows::quadratic) squares[i] = s[i] * terms.slope * terms.slope / curvature;
    }
    totals.loss += sum_over(count, [&](std::size_t i) { return values[i]; });
    totals.residual += sum_over(count, [&](std::size_t i) { return u[i]; });
    totals.curvature += sum_over(count, [&](std::size_t i) { return v[i]; });
    if constexpr (!Rows::quadratic) totals.spread += sum_over(count, [&](std::size_t i) { return squares[i]; });
  }
  template <class Rows>
  double sum_duals(Rows, double scale) const {
    double sum = 0;
    double values[rows_together];
    for (std::size_t first = 0; first < targets.size(); first += rows_together) {
      const std::size_t count = std::min<std::size_t>(rows_together, targets.size() - first);
      const double* __restrict s = weights.data() + first, * __restrict y = targets.data() + first;
      const double* __restrict u = residuals.data() + first, * __restrict offset = offsets.data() + first;
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const double scaled = scale * u[i];
        const double own = s[i] > 0 ? s[i] : 1;
        values[i] = s[i] * Rows::dual_value(scaled / own, y[i]) - scaled * offset[i];
      }
      sum += sum_over(count, [&](std::size_t i) { return values[i]; });
    }
    return sum;
  }

  Loss loss_;
  double total_;
  bool free_intercept_;
  std::optional<RiskRows<T>> risks_;   // Cox
  std::optional<ClassShares> shares_;  // softmax
};

}  // namespace sheaf::linear::covariance
