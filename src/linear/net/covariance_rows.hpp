// Losses over the rows of one path, in a form for loops of one thread.
//
//   z_i = x_i'w + b + o_i,   u_i = -s_i l'(z_i),   v_i = s_i l''(z_i),   mean loss (1 / S) sum s_i l(z_i)
//
// with row weights s, their sum S, the intercept b and offsets o. Residuals u are a dual point only if their sum is 0:
// a better intercept makes it so to first order, u_i - t v_i with the tilt t = sum u / sum v. The dual value of scaled
// residuals k u is (1 / S) sum s_i d(k u_i / s_i, y_i) - k u_i o_i, with d of linear/losses.
//
// Cox models have no intercept, and their loss couples rows (partial_likelihood.hpp): v_i is the diagonal part of the
// second derivative, how many events were to be expected of the row, and weigh_features() has all of it. Softmax models
// (covariance_classes.hpp) have numbers of K classes, those of class k from k * rows on, and as many intercepts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/losses/losses.hpp"
#include "linear/net/covariance_classes.hpp"
#include "linear/net/model/task.hpp"
#include "linear/net/row_sums.hpp"
#include "statistics/partial_likelihood.hpp"

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

/// Sums over rows at some decision values.
struct RowTotals {
  double loss = 0;
  double residual = 0;   // minus the derivative of the loss by the intercept
  double curvature = 0;  // its second derivative
};

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
        free_intercept_(task.intercept),
        risk_(task.risk) {
    if (kind == Loss::cox) {
      memory_.resize(rows * static_cast<std::size_t>(Likelihood::vectors));
      likelihood_.emplace(team_, risk_, memory_.data());
    }
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
    if (kind == Loss::softmax) begin_classes();
  }
  std::size_t classes() const { return intercepts.size(); }

  /// Residuals and second derivatives, with their sums, at `share` of the way, which takes intercepts by `changes`.
  void evaluate(double share, std::span<const double> changes) {
    if (likelihood_) return evaluate_risks(share);
    if (shares_) return evaluate_classes(share, changes);
    RowTotals totals;
    const double at_share = intercepts[0] + share * changes[0];
    with_rows_of(loss_, [&](auto rows) { totals = sum_rows(rows, share, at_share); });
    loss = totals.loss / total_;
    volume = totals.curvature;
    tilt[0] = 0;
    if (!free_intercept_) return;
    const double own = totals.residual / totals.curvature;
    const bool quadratic = loss_ == Loss::squared;
    if (quadratic) {
      intercepts[0] = at_share + own;
      loss -= own * own * totals.curvature / (2 * total_);
    }
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= own * curvatures[i];
    if (!quadratic) tilt[0] = own;
  }
  /// The decrease of the mean loss if the intercepts move along the tilt.
  double gain_of_tilt() const { return shares_ ? shares_->gain() / total_ : tilt[0] * tilt[0] * volume / (2 * total_); }
  /// The dual value of the residuals times a factor.
  double dual_at(double scale) {
    if (likelihood_) return risk_dual_at(scale);
    if (shares_) return shares_->dual_at(scale, residuals.data(), offsets.data()) / total_;
    return with_rows_of(loss_, [&](auto rows) { return sum_duals(rows, scale); }) / total_;
  }

  /// Cox: products of the features in `list` under the present second derivative, in the lower triangle of `out`, whose
  /// rows are `stride` apart. It does not see a number that is added to all values of a feature, and without their mean
  /// less is lost in rounding. `scratch` is memory that callers keep.
  template <class Columns>
  void weigh_features(const Columns& x, std::span<const std::int32_t> list, double* out, std::size_t stride,
                      std::vector<double>& scratch) const {
    const double one[] = {1.0};
    std::vector<double> column(weights.size());
    const auto places = static_cast<std::size_t>(risk_.rows);
    const std::size_t wide = padded(list.size());
    scratch.assign(places * wide, 0.0);
    for (std::size_t a = 0; a < list.size(); ++a) {
      std::fill(column.begin(), column.end(), 0.0);
      x.add(list.subspan(a, 1), one, column.data());
      const double sum = sum_over(column.size(), [&](std::size_t i) { return column[i]; });
      const double mean = sum / static_cast<double>(column.size());
      for (std::size_t k = 0; k < places; ++k)
        scratch[k * wide + a] = column[static_cast<std::size_t>(risk_.order[k])] - mean;
    }
    weigh(scratch, list.size(), out, stride);
  }

  /// Softmax: likewise; see ClassShares::weigh().
  template <class Columns>
  void weigh_classes(const Columns& x, const ClassColumns& list, std::span<const double> centers, double* out,
                     std::size_t stride, std::vector<double>& means, std::vector<double>& scratch) const {
    shares_->weigh(x, list, centers, curvatures.data(), free_intercept_, out, stride, means, scratch);
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
  std::vector<double> tilt;  ///< how far intercepts are from their best, to first order

 private:
  using Likelihood = PartialLikelihood<OneThread, T>;

  /// X' (second derivative) X of `count` features, at the decision values that were evaluated last. The derivative
  /// is that of sum over events of share log(R - fraction E): the rows' products under v, less for each event those of
  /// the mean of the rows at risk. `x`: rows by time x features, padded. The lower triangle of `out`, whose rows are
  /// `stride` apart.
  void weigh(const std::vector<double>& x, std::size_t count, double* out, std::size_t stride) const {
    const std::size_t wide = padded(count);
    std::vector<double> later(wide, 0.0), tied(wide, 0.0), mean(wide), sums(count * wide, 0.0);
    const auto row = [&](std::int64_t place) { return x.data() + static_cast<std::size_t>(place) * wide; };
    const auto add_square = [&](double factor, const double* __restrict values) {
      for (std::size_t a = 0; a < count; ++a) {
        const double own = factor * values[a];
        double* __restrict to = sums.data() + a * wide;
        for (std::size_t part = 0; part <= a; part += side)
          for (std::size_t b = part; b < part + side; ++b) to[b] += own * values[b];
      }
    };
    const auto take_mean = [&](double share, double fraction, double denominator) {
      const double inverse = 1 / denominator;
      for (std::size_t a = 0; a < wide; ++a) mean[a] = (later[a] - fraction * tied[a]) * inverse;
      add_square(-share, mean.data());
    };
    const auto add_later = [&](double factor, std::int64_t place) {
      for (std::size_t a = 0; a < wide; ++a) later[a] += factor * row(place)[a];
    };
    std::int64_t absent = risk_.rows;  // places from here on in the order of entries are not at risk
    for (std::int64_t k = risk_.rows; k-- > 0;) {
      if (risk_.ends_stratum(k)) {
        std::fill(later.begin(), later.end(), 0.0);
        absent = k + 1;
      }
      add_later(likelihood_->exponential(k), k);
      add_square(likelihood_->expected(k), row(k));
      if (risk_.first[k] != k) continue;  // rows of this time are still to come
      while (risk_.absent != nullptr && risk_.absent[k] >= 0 && absent > risk_.absent[k]) {
        const std::int64_t place = risk_.entering[--absent];
        add_later(-likelihood_->exponential(place), place);
      }
      std::fill(tied.begin(), tied.end(), 0.0);
      double shares = 0;
      for (std::int64_t l = k; l <= risk_.last[k]; ++l) {
        if (!(risk_.share(l) > 0)) continue;
        shares += risk_.share(l);
        if (risk_.fractions != nullptr)
          for (std::size_t a = 0; a < wide; ++a) tied[a] += likelihood_->exponential(l) * row(l)[a];
      }
      if (!(shares > 0)) continue;
      if (risk_.fractions == nullptr) {
        take_mean(shares, 0, likelihood_->denominator(k));
        continue;
      }
      for (std::int64_t l = k; l <= risk_.last[k]; ++l)
        if (risk_.share(l) > 0) take_mean(risk_.share(l), risk_.fraction(l), likelihood_->denominator(l));
    }
    for (std::size_t a = 0; a < count; ++a) std::copy_n(sums.data() + a * wide, a + 1, out + a * stride);
  }
  /// Features of a row that are taken at once, and a row with room for whole groups of them.
  static constexpr std::size_t side = 8;
  static std::size_t padded(std::size_t count) { return (count + side - 1) / side * side; }

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
    volume = sum_over(curvatures.size(), [&](std::size_t i) { return curvatures[i]; });
    if (!free_intercept_) return;
    const auto found = shares_->settle(residuals.data());
    std::copy(found.begin(), found.end(), tilt.begin());
  }

  void evaluate_risks(double share) {
    const auto z = [&](std::int64_t row) {
      const auto i = static_cast<std::size_t>(row);
      return products[i] + share * way[i] + offsets[i];
    };
    loss = likelihood_->load(z, weight()) / total_;
    volume = 0;
    for (std::int64_t k = 0; k < risk_.rows; ++k) {
      const auto i = static_cast<std::size_t>(risk_.order[k]);
      curvatures[i] = likelihood_->expected(k);
      residuals[i] = (risk_.share(k) > 0 ? weights[i] : 0) - curvatures[i];
      volume += curvatures[i];
    }
  }
  /// Products are those that were evaluated last.
  double risk_dual_at(double scale) {
    double sum = likelihood_->dual_value(
        scale,
        [&](std::int64_t row) {
          const auto i = static_cast<std::size_t>(row);
          return products[i] + offsets[i];
        },
        weight());
    for (std::size_t i = 0; i < residuals.size(); ++i) sum -= scale * residuals[i] * offsets[i];
    return sum / total_;
  }
  auto weight() const {
    return [this](std::int64_t row) { return weights[static_cast<std::size_t>(row)]; };
  }

  template <class Rows>
  RowTotals sum_rows(Rows, double share, double b) {
    constexpr double least_curvature = Rows::quadratic ? 0 : 1e-12;
    RowTotals totals;
    double values[rows_together];
    for (std::size_t first = 0; first < targets.size(); first += rows_together) {
      const std::size_t count = std::min<std::size_t>(rows_together, targets.size() - first);
      const double* __restrict s = weights.data() + first, * __restrict y = targets.data() + first;
      const double* __restrict z = products.data() + first, * __restrict step = way.data() + first;
      const double* __restrict offset = offsets.data() + first;
      double* __restrict u = residuals.data() + first, * __restrict v = curvatures.data() + first;
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const auto terms = Rows::terms(z[i] + share * step[i] + b + offset[i], y[i]);
        u[i] = -s[i] * terms.slope;
        v[i] = s[i] * (terms.curvature > least_curvature ? terms.curvature : least_curvature);
        values[i] = s[i] * terms.value;
      }
      totals.loss += sum_over(count, [&](std::size_t i) { return values[i]; });
      totals.residual += sum_over(count, [&](std::size_t i) { return u[i]; });
      totals.curvature += sum_over(count, [&](std::size_t i) { return v[i]; });
    }
    return totals;
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
  OneThread team_;
  RiskSets<T> risk_;
  std::vector<double> memory_;
  std::optional<Likelihood> likelihood_;  // Cox
  std::optional<ClassShares> shares_;     // softmax
};

}  // namespace sheaf::linear::covariance
