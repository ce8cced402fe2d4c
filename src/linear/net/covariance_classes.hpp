// The classes of a softmax model over the rows of one path. Numbers of class k stand at k * rows.
//
//   p_ik = exp(z_ik) / sum over l of exp(z_il),   u_ik = s_i (y_ik - p_ik)
//
// The second derivative of row i by its decision values is s_i (diag(p_i) - p_i p_i'), which couples classes. C, the
// sum of these over the rows, is that by the intercepts. The tilt t with C t = sum of u_i makes residuals whose sums
// are 0 in all classes, to first order those of better intercepts: u_i - s_i (diag(p_i) - p_i p_i') t. A number added
// to all intercepts changes nothing, so that one of them stays as it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/losses/losses.hpp"
#include "linear/net/row_sums.hpp"

namespace sheaf::linear::covariance {

/// A weight of a softmax model: a feature's, in a class.
struct ClassColumns {
  std::span<const std::int32_t> columns;  ///< features
  std::span<const std::int32_t> classes;  ///< ascending
};

class ClassShares {
 public:
  ClassShares(std::size_t classes, std::span<const double> weights, std::span<const double> targets)
      : classes_(classes), rows_(weights.size()), weights_(weights), targets_(targets), fixed_(classes, 0) {
    shares_.assign(classes * rows_, 0.0);
    tilt_.assign(classes, 0.0);
    for (std::size_t k = 0; k < classes; ++k)
      fixed_[k] = sum_over(rows_, [&](std::size_t i) { return weights[i] * of(targets, k)[i]; }) > 0 ? 0 : 1;
  }

  std::size_t classes() const { return classes_; }
  /// True for a class without rows: its best intercept is infinite, and it keeps its present one.
  bool fixed(std::size_t k) const { return fixed_[k] != 0; }
  double* values(std::size_t k) { return shares_.data() + k * rows_; }

  /// The decision values in values() become shares; residuals and second derivatives in single classes follow. Returns
  /// the sum of the losses.
  double load(double* residuals, double* curvatures) {
    double loss = 0;
    spread_ = 0;
    for (std::size_t first = 0; first < rows_; first += together)
      loss += load_part(first, std::min(together, rows_ - first), residuals, curvatures);
    return loss;
  }
  /// The sum over rows and classes of s (y - p)^2 / p.
  double spread() const { return spread_; }
  /// The tilt; residuals follow.
  std::span<const double> settle(double* residuals) {
    std::vector<double> sums(classes_);
    for (std::size_t k = 0; k < classes_; ++k)
      sums[k] = sum_over(rows_, [u = residuals + k * rows_](std::size_t i) { return u[i]; });
    couple();
    tilt_ = coupling_->solve(sums);
    gain_ = std::inner_product(sums.begin(), sums.end(), tilt_.begin(), 0.0) / 2;
    mixed_.assign(rows_, 0.0);
    double* __restrict mixed = mixed_.data();
    const double* __restrict s = weights_.data();
    for (std::size_t k = 0; k < classes_; ++k) {
      const double* __restrict p = share(k);
      const double own = tilt_[k];
      for (std::size_t i = 0; i < rows_; ++i) mixed[i] += own * p[i];
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      const double* __restrict p = share(k);
      double* __restrict u = residuals + k * rows_;
      const double own = tilt_[k];
      for (std::size_t i = 0; i < rows_; ++i) u[i] -= s[i] * p[i] * (own - mixed[i]);
    }
    return tilt_;
  }
  /// The gain of moving the intercepts along the tilt, times the sum of the row weights.
  double gain() const { return gain_; }
  /// The sum of the dual values of the residuals times a factor: the entropy of the shares y - u.
  double dual_at(double scale, const double* residuals, const double* offsets) const {
    double sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      const double* __restrict u = residuals + k * rows_;
      const double* __restrict offset = offsets + k * rows_;
      const double* __restrict y = of(targets_, k);
      const double* __restrict s = weights_.data();
      double values[together];
      for (std::size_t first = 0; first < rows_; first += together) {
        const std::size_t count = std::min(together, rows_ - first);
#pragma omp simd
        for (std::size_t j = 0; j < count; ++j) {
          const std::size_t i = first + j;
          const double scaled = scale * u[i];
          const double left = y[i] - scaled / (s[i] > 0 ? s[i] : 1);
          values[j] = -s[i] * times_log(left > 0 ? left : 0) - scaled * offset[i];
        }
        sum += sum_over(count, [&](std::size_t j) { return values[j]; });
      }
    }
    return sum;
  }

  /// The present second derivatives, of which `curvatures` are those in single classes, become those of weigh().
  void keep(const std::vector<double>& curvatures) {
    known_shares_ = shares_;
    known_curvatures_ = curvatures;
    couple();
    known_coupling_ = coupling_;
    scale_ = 1;
  }
  /// They are multiplied.
  void rescale(double by) { scale_ *= by; }

  /// Products of the features of the list from `begin` on with those up to themselves under the second derivatives that
  /// are kept, sums over rows, with the best intercepts for all weights: the lower triangle of `out`, whose rows are
  /// `stride` apart. Those before `begin` were found by an earlier call. `centers` are taken off the features first if
  /// there are intercepts. `means`: by how much each weight takes the intercepts down, one number for each weight and
  /// class.
  template <class Columns>
  void weigh(const Columns& x, const ClassColumns& list, std::size_t begin, std::span<const double> centers,
             bool intercepts, double* out, std::size_t stride, std::vector<double>& means,
             std::vector<double>& scratch) {
    const std::size_t size = list.columns.size();
    std::vector<const double*> factors(size);
    for (std::size_t a = 0; a < size; ++a)
      factors[a] = known_shares_.data() + static_cast<std::size_t>(list.classes[a]) * rows_;
    x.weigh(list.columns, begin, centers, {}, weights_, out, stride, scratch, factors);
    for (std::size_t a = begin; a < size; ++a)
      for (std::size_t b = 0; b <= a; ++b) out[a * stride + b] = -out[a * stride + b];
    for (std::size_t k = 0; k < classes_; ++k) weigh_class(x, list, begin, k, centers, out, stride, scratch);
    means.resize(size * classes_);
    if (intercepts) take_intercepts(x, list, begin, centers, out, stride, means);
    for (std::size_t a = begin; a < size; ++a)
      for (std::size_t b = 0; b <= a; ++b) out[a * stride + b] *= scale_;
  }

 private:
  static constexpr std::size_t together = 256;  // rows

  const double* share(std::size_t k) const { return shares_.data() + k * rows_; }
  const double* of(std::span<const double> numbers, std::size_t k) const { return numbers.data() + k * rows_; }

  /// Products of the features of one class.
  template <class Columns>
  void weigh_class(const Columns& x, const ClassColumns& list, std::size_t begin, std::size_t k,
                   std::span<const double> centers, double* out, std::size_t stride,
                   std::vector<double>& scratch) const {
    std::vector<std::size_t> places;
    std::vector<std::int32_t> columns;
    std::vector<double> own_centers;
    std::size_t first = 0;  // of those that are new
    for (std::size_t a = 0; a < list.classes.size(); ++a) {
      if (static_cast<std::size_t>(list.classes[a]) != k) continue;
      first += a < begin ? 1 : 0;
      places.push_back(a);
      columns.push_back(list.columns[a]);
      own_centers.push_back(centers[a]);
    }
    const std::size_t count = places.size();
    if (first == count) return;
    std::vector<double> block(count * count);
    x.weigh(columns, first, own_centers, {}, std::span(known_curvatures_).subspan(k * rows_, rows_), block.data(),
            count, scratch);
    for (std::size_t a = first; a < count; ++a)
      for (std::size_t b = 0; b <= a; ++b) out[places[a] * stride + places[b]] = block[a * count + b];
  }
  /// Eliminates the intercepts.
  template <class Columns>
  void take_intercepts(const Columns& x, const ClassColumns& list, std::size_t begin, std::span<const double> centers,
                       double* out, std::size_t stride, std::vector<double>& means) {
    const std::size_t size = list.columns.size();
    std::vector<double> with_intercepts((size - begin) * classes_);  // products of features and intercepts
    std::vector<double> weights(rows_), found;
    taken_.resize(size * classes_);
    for (std::size_t first = begin, last = begin; first < size; first = last) {
      const auto k = static_cast<std::size_t>(list.classes[first]);
      while (last < size && list.classes[last] == list.classes[first]) ++last;
      found.resize(last - first);
      for (std::size_t l = 0; l < classes_; ++l) {
        couple_rows(k, l, weights.data());
        x.multiply(list.columns.subspan(first, last - first), weights.data(), found.data());
        const double sum = sum_over(rows_, [v = weights.data()](std::size_t i) { return v[i]; });
        for (std::size_t a = first; a < last; ++a)
          with_intercepts[(a - begin) * classes_ + l] = found[a - first] - centers[a] * sum;
      }
    }
    for (std::size_t a = begin; a < size; ++a) {
      const double* own = with_intercepts.data() + (a - begin) * classes_;
      const auto found_means = known_coupling_->solve(std::span(own, classes_));
      for (std::size_t l = 0; l < classes_; ++l) taken_[a * classes_ + l] = means[a * classes_ + l] = found_means[l];
      means[a * classes_ + static_cast<std::size_t>(list.classes[a])] += centers[a];
      for (std::size_t b = 0; b <= a; ++b) {
        const double* with = taken_.data() + b * classes_;
        double sum = 0;
        for (std::size_t l = 0; l < classes_; ++l) sum += own[l] * with[l];
        out[a * stride + b] -= sum;
      }
    }
  }
  /// The second derivatives of all rows that are kept, by the decision values of two classes.
  void couple_rows(std::size_t k, std::size_t l, double* __restrict out) const {
    if (k == l) {
      std::copy_n(known_curvatures_.data() + k * rows_, rows_, out);
      return;
    }
    const double* __restrict s = weights_.data();
    const double* __restrict p = known_shares_.data() + k * rows_;
    const double* __restrict q = known_shares_.data() + l * rows_;
    for (std::size_t i = 0; i < rows_; ++i) out[i] = -s[i] * p[i] * q[i];
  }
  double load_part(std::size_t first, std::size_t count, double* residuals, double* curvatures) {
    constexpr double least_curvature = 1e-12;
    double largest[together], sum[together], own[together];
    const double* __restrict s = weights_.data() + first;
    std::copy_n(values(0) + first, count, largest);
    for (std::size_t k = 1; k < classes_; ++k) {
      const double* __restrict z = values(k) + first;
      for (std::size_t i = 0; i < count; ++i) largest[i] = z[i] > largest[i] ? z[i] : largest[i];
    }
    std::fill_n(sum, count, 0.0);
    std::fill_n(own, count, 0.0);
    for (std::size_t k = 0; k < classes_; ++k) {
      double* __restrict z = values(k) + first;
      const double* __restrict y = of(targets_, k) + first;
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const double away = z[i] - largest[i];
        own[i] += y[i] * away;
        z[i] = exp_nonpositive(away);
        sum[i] += z[i];
      }
    }
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = s[i] * (log_normal(sum[i]) - own[i]);
      sum[i] = 1 / sum[i];
    }
    std::fill_n(largest, count, -1.0);  // the sum of y^2 / p, less 1
    for (std::size_t k = 0; k < classes_; ++k) {
      double* __restrict p = values(k) + first;
      const double* __restrict y = of(targets_, k) + first;
      double* __restrict u = residuals + k * rows_ + first;
      double* __restrict v = curvatures + k * rows_ + first;
      for (std::size_t i = 0; i < count; ++i) {
        p[i] *= sum[i];
        u[i] = s[i] * (y[i] - p[i]);
        const double spread = p[i] * (1 - p[i]);
        v[i] = s[i] * (spread > least_curvature ? spread : least_curvature);
        largest[i] += y[i] > 0 ? y[i] * y[i] / p[i] : 0;
      }
    }
    spread_ += sum_over(count, [&](std::size_t i) { return s[i] * largest[i]; });
    return sum_over(count, [&](std::size_t i) { return own[i]; });
  }

  /// C, without the classes whose intercepts are fixed.
  void couple() {
    constexpr double singular = 1e-10;
    std::vector<double> matrix(classes_ * classes_, 0.0);
    for (std::size_t k = 0; k < classes_; ++k)
      for (std::size_t l = 0; l < k; ++l) {
        if (fixed(k) || fixed(l)) continue;
        const double both = sum_over(
            rows_, [s = weights_.data(), p = share(k), q = share(l)](std::size_t i) { return s[i] * p[i] * q[i]; });
        matrix[k * classes_ + l] = matrix[l * classes_ + k] = -both;
        matrix[k * classes_ + k] += both;
        matrix[l * classes_ + l] += both;
      }
    std::vector<std::size_t> order(classes_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    coupling_.emplace(matrix, std::move(order), singular);
  }

  std::size_t classes_, rows_;
  std::span<const double> weights_, targets_;
  std::vector<std::uint8_t> fixed_;
  std::vector<double> shares_;
  std::vector<double> tilt_;
  std::vector<double> mixed_;  // of each row: what the tilt adds to its mean decision value
  double gain_ = 0;
  double spread_ = 0;
  std::optional<Cholesky> coupling_;
  // Those under which products are found:
  std::vector<double> known_shares_, known_curvatures_;
  std::optional<Cholesky> known_coupling_;
  double scale_ = 1;
  std::vector<double> taken_;  // of each weight: by how much it takes the intercepts down, less its centre
};

}  // namespace sheaf::linear::covariance
