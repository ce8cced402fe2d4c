// The partial likelihood of a Cox model over the rows of one path (statistics/partial_likelihood.hpp). Its second
// derivative couples rows: that of a row by itself is how many events were to be expected of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/losses/losses.hpp"
#include "linear/net/lanes.hpp"
#include "linear/net/model/task.hpp"
#include "linear/net/row_sums.hpp"
#include "statistics/partial_likelihood.hpp"

namespace sheaf::linear::covariance {

/// Sums over rows at some decision values.
struct RowTotals {
  double loss = 0;
  double residual = 0;   // minus the derivative of the loss by the intercept
  double curvature = 0;  // its second derivative
  double spread = 0;     // see RowValues::dual_bound()
};

/// A sum of factors times products of rows with themselves, some rows at a time, so that sums stay in registers.
class SquareSum {
 public:
  /// Features of a row that are taken at once; a row has room for whole groups of them.
  static constexpr std::size_t side = 8;

  explicit SquareSum(std::size_t wide) : wide_(wide), sums_(wide * wide, 0.0), rows_(together * wide) {}
  void add(double factor, const double* values) {
    factors_[count_] = factor;
    std::copy_n(values, wide_, rows_.data() + count_ * wide_);
    if (++count_ == together) flush();
  }
  /// Row a, up to its place a.
  const double* finished(std::size_t a) {
    if (count_ > 0) flush();
    return sums_.data() + a * wide_;
  }

 private:
  static constexpr std::size_t together = 64;
  static constexpr std::size_t tall = 4, vectors = side / static_cast<std::size_t>(lanes);

  void flush() {
    for (std::size_t a = 0; a < wide_; a += tall)
      for (std::size_t b = 0; b <= a; b += side) add_block(a, b);
    count_ = 0;
  }
  void add_block(std::size_t a, std::size_t b) {
    Lanes sums[tall][vectors] = {};
    for (std::size_t r = 0; r < count_; ++r) {
      const double* row = rows_.data() + r * wide_;
      Lanes values[vectors];
      for (std::size_t v = 0; v < vectors; ++v) values[v] = load(row + b + v * lanes);
      for (std::size_t t = 0; t < tall; ++t) {
        const double own = factors_[r] * row[a + t];
        for (std::size_t v = 0; v < vectors; ++v) sums[t][v] += own * values[v];
      }
    }
    for (std::size_t t = 0; t < tall; ++t)
      for (std::size_t k = 0; k < side; ++k) sums_[(a + t) * wide_ + b + k] += sums[t][k / lanes][k % lanes];
  }

  std::size_t wide_, count_ = 0;
  std::vector<double> sums_, rows_;
  double factors_[together] = {};
};

template <class T>
class RiskRows {
 public:
  RiskRows(const RiskSets<T>& sets, std::span<const double> weights)
      : sets_(sets),
        row_weights_(weights.begin(), weights.end()),
        memory_(weights.size() * static_cast<std::size_t>(Likelihood::vectors)),
        likelihood_(team_, sets_, memory_.data()) {
    for (auto* vector : {&shares_, &weights_, &z_, &values_, &event_shares_}) vector->assign(weights.size(), 0.0);
    row_z_.assign(weights.size(), 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      weights_[k] = weights[row_at(k)];
      shares_[k] = sets_.share(static_cast<std::int64_t>(k));
    }
  }

  RiskRows(const RiskRows&) = delete;
  RiskRows& operator=(const RiskRows&) = delete;
  ~RiskRows() = default;

  /// Residuals and second derivatives at the decision values z(row).
  template <class Z>
  RowTotals load(const Z& z, double* residuals, double* curvatures) {
    const std::size_t rows = weights_.size();
    double top = -HUGE_VAL;
    for (std::size_t k = 0; k < rows; ++k) {
      z_[k] = z(row_at(k));
      if (weights_[k] > 0 && z_[k] > top) top = z_[k];
    }
    const double* __restrict s = weights_.data();
    double* __restrict e = values_.data();
#pragma omp simd
    for (std::size_t k = 0; k < rows; ++k) {
      z_[k] = s[k] > 0 ? z_[k] - top : 0;  // a number added to all changes nothing
      e[k] = s[k] * exp_nonpositive(z_[k]);
    }
    likelihood_.load_exponentials([e](std::int64_t k) { return e[k]; });
    RowTotals totals;
    for (std::size_t k = 0; k < rows; ++k) {
      const std::size_t i = row_at(k);
      row_z_[i] = z_[k];
      curvatures[i] = likelihood_.expected(static_cast<std::int64_t>(k));
      residuals[i] = (shares_[k] > 0 ? weights_[k] : 0) - curvatures[i];
      totals.curvature += curvatures[i];
    }
    add_events(totals);
    return totals;
  }
  /// The dual value of the residuals times `scale`, but for offsets.
  double dual_at(double scale) {
    return likelihood_.dual_value(
        scale, [&](std::int64_t i) { return row_z_[static_cast<std::size_t>(i)]; },
        [&](std::int64_t i) { return row_weights_[static_cast<std::size_t>(i)]; });
  }

  /// Products of the features in `list` under the present second derivative, in the lower triangle of `out`, whose rows
  /// are `stride` apart. It does not see a number that is added to all values of a feature, and without their mean less
  /// is lost in rounding.
  template <class Columns>
  void weigh_features(const Columns& x, std::span<const std::int32_t> list, double* out, std::size_t stride) {
    if (!std::equal(list.begin(), list.end(), listed_.begin(), listed_.end())) lay_out(x, list);
    weigh(list.size(), out, stride);
  }

 private:
  using Likelihood = PartialLikelihood<OneThread, T>;
  static constexpr std::size_t side = SquareSum::side;
  static std::size_t padded(std::size_t count) { return (count + side - 1) / side * side; }

  std::size_t row_at(std::size_t place) const { return static_cast<std::size_t>(sets_.order[place]); }

  /// The loss; and the spread if each event takes its share of the residuals to the terms of its time.
  void add_events(RowTotals& totals) {
    std::size_t events = 0;
    double squares = 0;  // of the weights of a time's events over their exponentials, over the square of their sum
    for (std::int64_t k = 0; k < sets_.rows; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (sets_.first[k] == k) squares = squares_at(k);
      if (!(shares_[at] > 0)) continue;
      const double below = likelihood_.denominator(k);
      const double left = sets_.fractions != nullptr ? 1 - sets_.fraction(k) : 1.0;
      totals.spread += shares_[at] * (below / left * squares - 1);
      totals.loss -= weights_[at] * z_[at];
      event_shares_[events] = shares_[at];
      values_[events++] = below;
    }
    double* __restrict logs = values_.data();
#pragma omp simd
    for (std::size_t e = 0; e < events; ++e) logs[e] = event_shares_[e] * log_normal(logs[e]);
    totals.loss += sum_over(events, [logs](std::size_t e) { return logs[e]; });
  }
  double squares_at(std::int64_t first) const {
    double sum = 0;
    double squares = 0;
    for (std::int64_t k = first; k <= sets_.last[first]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (!(shares_[at] > 0)) continue;
      sum += weights_[at];
      squares += weights_[at] * weights_[at] / likelihood_.exponential(k);
    }
    return sum > 0 ? squares / (sum * sum) : 0;
  }

  /// The features' values less their means, rows by time.
  template <class Columns>
  void lay_out(const Columns& x, std::span<const std::int32_t> list) {
    const double one[] = {1.0};
    std::vector<double> column(weights_.size());
    const std::size_t wide = padded(list.size());
    by_time_.assign(weights_.size() * wide, 0.0);
    for (std::size_t a = 0; a < list.size(); ++a) {
      std::fill(column.begin(), column.end(), 0.0);
      x.add(list.subspan(a, 1), one, column.data());
      const double sum = sum_over(column.size(), [&](std::size_t i) { return column[i]; });
      const double mean = sum / static_cast<double>(column.size());
      for (std::size_t k = 0; k < weights_.size(); ++k) by_time_[k * wide + a] = column[row_at(k)] - mean;
    }
    listed_.assign(list.begin(), list.end());
  }

  /// X' (second derivative) X of the `count` features that are laid out, at the decision values that were evaluated
  /// last. The derivative is that of sum over events of share log(R - fraction E): the rows' products under v, less for
  /// each event those of the mean of the rows at risk. The lower triangle of `out`, whose rows are `stride` apart.
  void weigh(std::size_t count, double* out, std::size_t stride) const {
    const std::size_t wide = padded(count);
    std::vector<double> later(wide, 0.0), tied(wide, 0.0), mean(wide);
    SquareSum sums(wide);
    const auto row = [&](std::int64_t place) { return by_time_.data() + static_cast<std::size_t>(place) * wide; };
    const auto take_mean = [&](double share, double fraction, double denominator) {
      const double inverse = 1 / denominator;
      for (std::size_t a = 0; a < wide; ++a) mean[a] = (later[a] - fraction * tied[a]) * inverse;
      sums.add(-share, mean.data());
    };
    const auto add_later = [&](double factor, std::int64_t place) {
      for (std::size_t a = 0; a < wide; ++a) later[a] += factor * row(place)[a];
    };
    std::int64_t absent = sets_.rows;  // places from here on in the order of entries are not at risk
    for (std::int64_t k = sets_.rows; k-- > 0;) {
      if (sets_.ends_stratum(k)) {
        std::fill(later.begin(), later.end(), 0.0);
        absent = k + 1;
      }
      add_later(likelihood_.exponential(k), k);
      sums.add(likelihood_.expected(k), row(k));
      if (sets_.first[k] != k) continue;  // rows of this time are still to come
      while (sets_.absent != nullptr && sets_.absent[k] >= 0 && absent > sets_.absent[k]) {
        const std::int64_t place = sets_.entering[--absent];
        add_later(-likelihood_.exponential(place), place);
      }
      std::fill(tied.begin(), tied.end(), 0.0);
      double shares = 0;
      for (std::int64_t l = k; l <= sets_.last[k]; ++l) {
        if (!(sets_.share(l) > 0)) continue;
        shares += sets_.share(l);
        if (sets_.fractions != nullptr)
          for (std::size_t a = 0; a < wide; ++a) tied[a] += likelihood_.exponential(l) * row(l)[a];
      }
      if (!(shares > 0)) continue;
      if (sets_.fractions == nullptr) {
        take_mean(shares, 0, likelihood_.denominator(k));
        continue;
      }
      for (std::int64_t l = k; l <= sets_.last[k]; ++l)
        if (sets_.share(l) > 0) take_mean(sets_.share(l), sets_.fraction(l), likelihood_.denominator(l));
    }
    for (std::size_t a = 0; a < count; ++a) std::copy_n(sums.finished(a), a + 1, out + a * stride);
  }

  OneThread team_;
  RiskSets<T> sets_;
  std::vector<double> row_weights_, row_z_;  // by row, all else by place
  std::vector<double> memory_;
  Likelihood likelihood_;
  std::vector<double> shares_, weights_, z_, values_, event_shares_;
  std::vector<std::int32_t> listed_;  // features whose values are
  std::vector<double> by_time_;       // rows by time x features, padded
};

}  // namespace sheaf::linear::covariance
