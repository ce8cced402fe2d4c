// Losses over the rows of one path, as loops of one thread want them.
//
//   z_i = x_i'w + b + o_i,   u_i = -s_i l'(z_i),   v_i = s_i l''(z_i),   mean loss (1 / S) sum s_i l(z_i)
//
// with row weights s, their sum S, the intercept b and offsets o. Residuals u are a dual point only if their sum is 0:
// a better intercept makes it so to first order, u_i - t v_i with the tilt t = sum u / sum v. The dual value of scaled
// residuals k u is (1 / S) sum s_i d(k u_i / s_i, y_i) - k u_i o_i, with d of losses.hpp.
//
// Cox models have no intercept, and their loss couples rows (partial_likelihood.hpp): v_i is the diagonal part of the
// second derivative, how many events were to be expected of the row, and weigh_features() has all of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "linear/losses.hpp"
#include "linear/net/model/task.hpp"
#include "statistics/partial_likelihood.hpp"

namespace sheaf::linear::covariance {

/// log(x) for x above 0 and not subnormal, without branches and with instructions that all vector units have: x = 2^n m
/// with m from sqrt(1/2) to sqrt(2), and log(m) = 2 atanh((m - 1) / (m + 1)).
inline double log_normal(double x) {
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t one = std::uint64_t{1023} << 52;
  constexpr std::uint64_t shifter = std::uint64_t{0x433} << 52;  // 2^52: its lowest bits count units
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint64_t power_bits = (bits >> 52) | shifter;
  const std::uint64_t mantissa_bits = (bits & fraction) | one;
  double power, mantissa;
  std::memcpy(&power, &power_bits, sizeof power);
  std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
  const bool large = mantissa > 1.4142135623730951;
  const double m = large ? mantissa / 2 : mantissa;
  const double n = power - (4503599627370496.0 + 1023) + (large ? 1 : 0);
  const double s = (m - 1) / (m + 1);
  const double q = s * s;  // at most 0.0295
  double p = 1.0 / 19;
  p = p * q + 1.0 / 17;
  p = p * q + 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  return n * 0.69314718055994530942 + (2 * s + 2 * s * q * p);
}
/// x log(x), 0 at 0.
inline double times_log(double x) {
  constexpr double tiny = std::numeric_limits<double>::min();
  return x * log_normal(x > tiny ? x : tiny);
}

/// The losses that are served, as loops over rows want them; see losses.hpp.
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

/// Rows that are taken together: what is known of them stays in the nearest cache.
constexpr std::int64_t rows_together = 1024;

/// The sum of term(0) .. term(count - 1), several at once: a chain of additions waits for each.
template <class Term>
double sum_over(std::size_t count, const Term& term) {
  constexpr std::size_t chains = 16;
  double sums[chains] = {};
  std::size_t i = 0;
  for (; i + chains <= count; i += chains)
    for (std::size_t c = 0; c < chains; ++c) sums[c] += term(i + c);
  for (; i < count; ++i) sums[0] += term(i);
  for (std::size_t half = chains / 2; half > 0; half /= 2)
    for (std::size_t c = 0; c < half; ++c) sums[c] += sums[c + half];
  return sums[0];
}

/// Sums over rows at some decision values.
struct RowTotals {
  double loss = 0;
  double residual = 0;   // minus the derivative of the loss by the intercept
  double curvature = 0;  // its second derivative
};

/// Everything that a path knows of its rows.
template <class T>
class RowValues {
 public:
  RowValues(Loss kind, const ModelTask<T>& task, std::size_t rows, double start)
      : intercept(start), loss_(kind), total_(task.total), free_intercept_(task.intercept), risk_(task.risk) {
    if (kind == Loss::cox) {
      memory_.resize(rows * static_cast<std::size_t>(Likelihood::vectors));
      likelihood_.emplace(team_, risk_, memory_.data());
    }
    for (auto* vector : {&weights, &targets, &offsets, &products, &residuals, &curvatures, &way})
      vector->assign(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      weights[i] = double(task.weight(row));
      targets[i] = double(task.target(row));
      offsets[i] = double(task.offset(row));
    }
  }

  /// Residuals and second derivatives, with their sums, at `share` of the way, which takes the intercept by `change`.
  void evaluate(double share, double change) {
    if (likelihood_) return evaluate_risks(share);
    RowTotals totals;
    const double at_share = intercept + share * change;
    with_rows_of(loss_, [&](auto rows) { totals = sum_rows(rows, share, at_share); });
    loss = totals.loss / total_;
    volume = totals.curvature;
    tilt = 0;
    if (!free_intercept_) return;
    tilt = totals.residual / totals.curvature;
    const bool quadratic = loss_ == Loss::squared;
    if (quadratic) {
      intercept = at_share + tilt;
      loss -= tilt * tilt * totals.curvature / (2 * total_);
    }
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= tilt * curvatures[i];
    if (quadratic) tilt = 0;
  }
  /// The dual value of the residuals times a factor.
  double dual_at(double scale) {
    if (likelihood_) return risk_dual_at(scale);
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
    scratch.resize(places * list.size());
    for (std::size_t a = 0; a < list.size(); ++a) {
      std::fill(column.begin(), column.end(), 0.0);
      x.add(list.subspan(a, 1), one, column.data());
      const double sum = sum_over(column.size(), [&](std::size_t i) { return column[i]; });
      const double mean = sum / static_cast<double>(column.size());
      for (std::size_t k = 0; k < places; ++k)
        scratch[k * list.size() + a] = column[static_cast<std::size_t>(risk_.order[k])] - mean;
    }
    weigh(scratch, list.size(), out, stride);
  }

  std::vector<double> weights, targets, offsets;
  std::vector<double> products;  ///< x'w
  std::vector<double> residuals, curvatures;
  std::vector<double> way;  ///< by which a step takes the products further
  double intercept = 0;
  double loss = 0;    ///< mean
  double volume = 0;  ///< sum of the second derivatives
  double tilt = 0;    ///< how far the intercept is from its best, to first order

 private:
  using Likelihood = PartialLikelihood<OneThread, T>;

  /// X' (second derivative) X of `count` features, at the decision values that were evaluated last. The derivative
  /// is that of sum over events of share log(R - fraction E): the rows' products under v, less for each event those of
  /// the mean of the rows at risk. `x`: rows by time x features. The lower triangle of `out`, whose rows are `stride`
  /// apart.
  void weigh(const std::vector<double>& x, std::size_t count, double* out, std::size_t stride) const {
    std::vector<double> later(count, 0.0), tied(count), mean(count);
    for (std::size_t a = 0; a < count; ++a) std::fill_n(out + a * stride, a + 1, 0.0);
    const auto row = [&](std::int64_t place) { return x.data() + static_cast<std::size_t>(place) * count; };
    const auto add_square = [&](double factor, const double* values) {
      for (std::size_t a = 0; a < count; ++a) {
        const double own = factor * values[a];
        double* to = out + a * stride;
        for (std::size_t b = 0; b <= a; ++b) to[b] += own * values[b];
      }
    };
    const auto take_mean = [&](double share, double fraction, double denominator) {
      for (std::size_t a = 0; a < count; ++a) mean[a] = (later[a] - fraction * tied[a]) / denominator;
      add_square(-share, mean.data());
    };
    for (std::int64_t k = risk_.rows; k-- > 0;) {
      const double e = likelihood_->exponential(k);
      for (std::size_t a = 0; a < count; ++a) later[a] += e * row(k)[a];
      add_square(likelihood_->expected(k), row(k));
      if (risk_.first[k] != k) continue;  // rows of this time are still to come
      std::fill(tied.begin(), tied.end(), 0.0);
      double shares = 0;
      for (std::int64_t l = k; l <= risk_.last[k]; ++l) {
        if (!(risk_.share(l) > 0)) continue;
        shares += risk_.share(l);
        if (risk_.fractions != nullptr)
          for (std::size_t a = 0; a < count; ++a) tied[a] += likelihood_->exponential(l) * row(l)[a];
      }
      if (!(shares > 0)) continue;
      if (risk_.fractions == nullptr) {
        take_mean(shares, 0, likelihood_->denominator(k));
        continue;
      }
      for (std::int64_t l = k; l <= risk_.last[k]; ++l)
        if (risk_.share(l) > 0) take_mean(risk_.share(l), risk_.fraction(l), likelihood_->denominator(l));
    }
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
};

}  // namespace sheaf::linear::covariance
