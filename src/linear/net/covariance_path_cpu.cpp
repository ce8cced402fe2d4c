#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/instruction_sets.hpp"
#include "linear/net/columns_cpu.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/weight_system.hpp"

namespace sheaf::linear {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

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

#ifdef __AVX512F__
using Lanes [[gnu::vector_size(64)]] = double;
#else
using Lanes [[gnu::vector_size(32)]] = double;
#endif
constexpr std::int64_t lanes = sizeof(Lanes) / sizeof(double);
inline Lanes load(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline double sum_of(Lanes value) {
  double sum = 0;
  for (std::int64_t l = 0; l < lanes; ++l) sum += value[l];
  return sum;
}

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

/// Products of columns, dense or sparse, with vectors over rows.
template <class T>
class ColumnProducts {
 public:
  ColumnProducts(const Dataset<T>& dataset, int threads) : columns_(dataset, threads) {
    columns_.with([&](const auto& x) {
      if constexpr (requires { x.offsets; }) {
        offsets_ = x.offsets;
        rows_of_ = x.rows;
      }
      values_ = x.values;
    });
  }
  std::int64_t rows() const { return columns_.rows(); }
  std::int64_t features() const { return columns_.features(); }
  std::int64_t entries() const { return columns_.entries(); }
  bool sparse() const { return columns_.sparse(); }

  /// z += the sum over k of steps[k] times column list[k].
  void add(std::span<const std::int32_t> list, std::span<const double> steps, double* z) const {
    if (sparse()) {
      for (std::size_t k = 0; k < list.size(); ++k)
        for (std::int64_t e = offsets_[list[k]]; e < offsets_[list[k] + 1]; ++e)
          z[rows_of_[e]] += steps[k] * double(values_[e]);
      return;
    }
    for (std::int64_t first = 0; first < rows(); first += rows_together) {
      const std::int64_t count = std::min(rows_together, rows() - first);
      double* to = z + first;
      std::size_t k = 0;
      for (; k + 4 <= list.size(); k += 4) {
        const T *x0 = column(list[k]) + first, *x1 = column(list[k + 1]) + first, *x2 = column(list[k + 2]) + first,
                *x3 = column(list[k + 3]) + first;
        const double s0 = steps[k], s1 = steps[k + 1], s2 = steps[k + 2], s3 = steps[k + 3];
        for (std::int64_t i = 0; i < count; ++i)
          to[i] += (s0 * double(x0[i]) + s1 * double(x1[i])) + (s2 * double(x2[i]) + s3 * double(x3[i]));
      }
      for (; k < list.size(); ++k) {
        const T* x = column(list[k]) + first;
        for (std::int64_t i = 0; i < count; ++i) to[i] += steps[k] * double(x[i]);
      }
    }
  }

  /// out[k] = the product of column list[k] with u.
  void multiply(std::span<const std::int32_t> list, const double* u, double* out) const {
    std::fill_n(out, list.size(), 0.0);
    if (sparse()) {
      for (std::size_t k = 0; k < list.size(); ++k) out[k] = sparse_dot(list[k], u);
      return;
    }
    for (std::int64_t first = 0; first < rows(); first += rows_together) {
      const std::int64_t count = std::min(rows_together, rows() - first);
      for (std::size_t k = 0; k < list.size(); ++k) out[k] += dense_dot(column(list[k]) + first, u + first, count);
    }
  }

  /// Products of columns from `first` of the list on with those up to themselves, less `centers`, under the weights s:
  /// out[a * stride + b]. Sparse columns are not centred. `rows`, where there are any: these alone, s is theirs.
  /// `scratch` is memory that callers keep.
  void weigh(std::span<const std::int32_t> list, std::size_t first, std::span<const double> centers,
             std::span<const std::int32_t> rows, std::span<const double> s, double* out, std::size_t stride,
             std::vector<double>& scratch) const {
    sparse() ? weigh_sparse(list, first, s, out, stride, scratch)
             : weigh_dense(list, first, centers, rows, s, out, stride, scratch);
  }

 private:
  const T* column(std::int32_t j) const { return values_ + std::int64_t{j} * rows(); }

  static double dense_dot(const T* x, const double* u, std::int64_t count) {
    constexpr int chains = 16;
    double sums[chains] = {};
    std::int64_t i = 0;
    for (; i + chains <= count; i += chains)
      for (int c = 0; c < chains; ++c) sums[c] += double(x[i + c]) * u[i + c];
    for (; i < count; ++i) sums[0] += double(x[i]) * u[i];
    for (int half = chains / 2; half > 0; half /= 2)
      for (int c = 0; c < half; ++c) sums[c] += sums[c + half];
    return sums[0];
  }
  double sparse_dot(std::int32_t j, const double* u) const {
    double sums[4] = {};
    std::int64_t e = offsets_[j];
    const std::int64_t end = offsets_[j + 1];
    for (; e + 4 <= end; e += 4)
      for (int c = 0; c < 4; ++c) sums[c] += double(values_[e + c]) * u[rows_of_[e + c]];
    for (; e < end; ++e) sums[0] += double(values_[e]) * u[rows_of_[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  void weigh_sparse(std::span<const std::int32_t> list, std::size_t first, std::span<const double> s, double* out,
                    std::size_t stride, std::vector<double>& weighted) const {
    weighted.assign(at(rows()), 0.0);
    for (std::size_t a = first; a < list.size(); ++a) {
      const std::int64_t begin = offsets_[list[a]], end = offsets_[list[a] + 1];
      for (std::int64_t e = begin; e < end; ++e) weighted[at(rows_of_[e])] = s[at(rows_of_[e])] * double(values_[e]);
      for (std::size_t b = 0; b <= a; ++b) out[a * stride + b] = sparse_dot(list[b], weighted.data());
      for (std::int64_t e = begin; e < end; ++e) weighted[at(rows_of_[e])] = 0;
    }
  }

  /// Rows of a part, and columns of a square of products that are computed at once.
  static constexpr std::int64_t part_rows = 256;
  static constexpr std::size_t side = 4;

  void weigh_dense(std::span<const std::int32_t> list, std::size_t first, std::span<const double> centers,
                   std::span<const std::int32_t> rows_wanted, std::span<const double> s, double* out,
                   std::size_t stride, std::vector<double>& scratch) const {
    const std::size_t padded = (list.size() + side - 1) / side * side;
    const std::size_t begin = first / side * side;
    scratch.resize(2 * padded * part_rows);
    double* const plain = scratch.data();
    double* const weighted = plain + padded * part_rows;
    std::fill_n(scratch.begin(), scratch.size(), 0.0);
    for (std::size_t a = first; a < list.size(); ++a) std::fill_n(out + a * stride, a + 1, 0.0);
    const std::int64_t all = rows_wanted.empty() ? rows() : static_cast<std::int64_t>(rows_wanted.size());
    for (std::int64_t from = 0; from < all; from += part_rows) {
      const std::int64_t count = std::min(part_rows, all - from);
      const double* weights = s.data() + from;
      for (std::size_t k = 0; k < list.size(); ++k) {
        double* to = plain + k * part_rows;
        double* times = weighted + k * part_rows;
        const T* x = column(list[k]);
        const double center = centers[k];
        if (rows_wanted.empty())
          for (std::int64_t i = 0; i < count; ++i) to[i] = double(x[from + i]) - center;
        else
          for (std::int64_t i = 0; i < count; ++i) to[i] = double(x[rows_wanted[at(from + i)]]) - center;
        for (std::int64_t i = 0; i < count; ++i) times[i] = weights[i] * to[i];
        for (std::int64_t i = count; i < part_rows; ++i) to[i] = times[i] = 0;
      }
      for (std::size_t a = begin; a < padded; a += side)
        for (std::size_t b = 0; b <= a; b += side)
          add_square(weighted + a * part_rows, plain + b * part_rows, a, b, first, list.size(), out, stride);
    }
  }

  /// The products of `side` columns of x with as many of y go to the lower triangle of out.
  static void add_square(const double* x, const double* y, std::size_t a, std::size_t b, std::size_t first,
                         std::size_t size, double* out, std::size_t stride) {
    Lanes sums[side][side] = {};
    for (std::int64_t i = 0; i < part_rows; i += lanes) {
      const Lanes x0 = load(x + i), x1 = load(x + part_rows + i), x2 = load(x + 2 * part_rows + i),
                  x3 = load(x + 3 * part_rows + i);
      for (std::size_t c = 0; c < side; ++c) {
        const Lanes other = load(y + static_cast<std::int64_t>(c) * part_rows + i);
        sums[0][c] += x0 * other;
        sums[1][c] += x1 * other;
        sums[2][c] += x2 * other;
        sums[3][c] += x3 * other;
      }
    }
    for (std::size_t r = 0; r < side; ++r)
      for (std::size_t c = 0; c < side; ++c)
        if (a + r >= first && a + r < size && b + c <= a + r) out[(a + r) * stride + b + c] += sum_of(sums[r][c]);
  }

  CpuColumns<T> columns_;
  const std::int64_t* offsets_ = nullptr;
  const std::int32_t* rows_of_ = nullptr;
  const T* values_ = nullptr;
};

/// Products of all features under row weights that paths have in common.
struct SharedProducts {
  std::vector<double> weights;   // of the rows
  std::vector<double> centers;   // of the features
  std::vector<double> products;  // features x features, the lower triangle
};

/// Sums over rows at some decision values.
struct RowTotals {
  double loss = 0;
  double residual = 0;   // minus the derivative of the loss by the intercept
  double curvature = 0;  // its second derivative
};

template <class T>
class CpuCovariancePath final : public CovariancePath {
 public:
  CpuCovariancePath(const ColumnProducts<T>& x, Loss loss, const ModelTask<T>& task, double intercept,
                    const SharedProducts* shared)
      : x_(x), loss_(loss), task_(task), quadratic_(loss == Loss::squared), shared_(shared), intercept_(intercept) {
    const auto rows = at(x.rows());
    const auto features = at(x.features());
    for (auto* vector : {&weights_of_rows_, &targets_, &offsets_, &products_, &residuals_, &curvatures_, &way_})
      vector->assign(rows, 0.0);
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      weights_of_rows_[at(i)] = double(task.weight(i));
      targets_[at(i)] = double(task.target(i));
      offsets_[at(i)] = double(task.offset(i));
    }
    for (auto* vector : {&w_, &g_, &penalty1_, &penalty2_, &w_at_alpha_, &w_before_}) vector->assign(features, 0.0);
    place_.assign(features, -1);
    for (std::int64_t j = 0; j < x.features(); ++j)
      if (task.curvature(j) > 0) varying_.push_back(static_cast<std::int32_t>(j));
    all_ = quadratic_ && shared != nullptr;
    if (all_)
      begin_with_all();
    else
      evaluate(0, 0);
  }

  std::span<const double> weights() const override { return w_; }
  double intercept() const override { return intercept_ + tilt_; }
  std::span<const double> products() override {
    if (all_ || ++since_fresh_ >= 16) find_products();
    return products_;
  }

  CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) override {
    begin_alpha(alpha);
    CovarianceReport report;
    double lowest = HUGE_VAL;  // gap so far
    double precision = 0.1;    // of quadratic models, beside the tolerance
    int in_vain = 0;
    constexpr int most_in_vain = 5;
    constexpr double rounding = 1e-16;  // of the loss, which quadratic models can't be better than
    while (true) {
      compute_gap(goal, report);
      report.tolerance = goal.at(report.rows.loss);
      const bool over = epochs_ >= max_epochs;
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
      lowest = std::min(lowest, report.gap);
      const bool more = choose_members();
      if (must_renew(report.gap, report.tolerance, slow)) renew();
      // Steps of exact quadratic models that no longer bring the gap down are lost in rounding.
      if (slow && !more && solved_ && off_ < nearly_exact) ++in_vain;
      if (slow) precision = std::max(precision / 10, 1e-6);
      if (!step(report, std::max(precision * report.tolerance, rounding * report.rows.loss))) ++in_vain;
    }
    report.epochs = epochs_;
    report.rows.loss -= tilt_ * tilt_ * volume_ / (2 * total());  // of the intercept that is returned
    return report;
  }

 private:
  double total() const { return task_.total; }
  bool limited() const { return task_.limits != nullptr; }

  void begin_alpha(double alpha) {
    const double before = alpha_;
    alpha_ = alpha;
    task_.alpha1 = alpha * task_.l1_ratio;
    task_.alpha2 = alpha * (1 - task_.l1_ratio);
    fall_before_ = fall_;
    fall_ = before > 0 && alpha > 0 ? before / alpha : 1;
    w_before_.swap(w_at_alpha_);
    w_at_alpha_ = w_;
    for (const auto j : varying_) {
      const auto penalty = task_.penalty(j);
      penalty1_[at(j)] = penalty.p1;
      penalty2_[at(j)] = penalty.p2;
    }
    epochs_ = 0;
    moved_ = false;
  }

  /// Squares of few features: products of all of them, and with the targets.
  void begin_with_all() {
    members_ = varying_;
    const std::size_t size = members_.size();
    stride_ = size;
    matrix_.assign(size * size, 0.0);
    for (std::size_t k = 0; k < size; ++k) place_[at(members_[k])] = static_cast<std::int32_t>(k);
    fill_from_shared();
    double sum = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) sum += weights_of_rows_[i] * targets_[i];
    mean_target_ = task_.intercept ? sum / total() : 0;
    squares_ = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const double away = targets_[i] - mean_target_;
      residuals_[i] = weights_of_rows_[i] * away;
      squares_ += residuals_[i] * away;
    }
    squares_ /= total();
    pulls_.resize(size);
    x_.multiply(members_, residuals_.data(), pulls_.data());
    for (double& pull : pulls_) pull /= total();
    refresh_gradient();
    complete_ = true;
  }
  /// What all rows have, less what is different in the rows of this path.
  void fill_from_shared() {
    std::vector<std::int32_t> rows;
    std::vector<double> changes;
    for (std::size_t i = 0; i < weights_of_rows_.size(); ++i)
      if (weights_of_rows_[i] != shared_->weights[i]) {
        rows.push_back(static_cast<std::int32_t>(i));
        changes.push_back(weights_of_rows_[i] - shared_->weights[i]);
      }
    const std::size_t size = members_.size();
    std::vector<double> centers(size), sums(size);
    for (std::size_t k = 0; k < size; ++k) centers[k] = shared_->centers[at(members_[k])];
    const bool anew = x_.sparse() ? !rows.empty() : 2 * rows.size() > weights_of_rows_.size();
    if (anew)
      x_.weigh(members_, 0, centers, {}, weights_of_rows_, matrix_.data(), stride_, memory_);
    else if (!rows.empty())
      x_.weigh(members_, 0, centers, rows, changes, matrix_.data(), stride_, memory_);
    const auto features = at(x_.features());
    if (!anew)
      for (std::size_t a = 0; a < size; ++a)
        for (std::size_t b = 0; b <= a; ++b)
          matrix_[a * stride_ + b] += shared_->products[at(members_[a]) * features + at(members_[b])];
    x_.multiply(members_, weights_of_rows_.data(), sums.data());
    means_.resize(size);
    center(0, centers, sums, total());
  }

  /// Rows of the matrix from `first` on become the mean products of centred features. `sums` are those of the features
  /// under the weights, whose sum is `volume`.
  void center(std::size_t first, std::span<const double> centers, std::span<const double> sums, double volume) {
    const std::size_t size = members_.size();
    for (std::size_t a = first; a < size; ++a) means_[a] = task_.intercept ? sums[a] / volume : 0;
    for (std::size_t a = first; a < size; ++a) {
      double* products = matrix_.data() + a * stride_;
      const double shift = task_.intercept ? (means_[a] - centers[a]) * volume : 0;
      for (std::size_t b = 0; b <= a; ++b) products[b] = (products[b] - shift * (means_[b] - centers[b])) / total();
    }
    // The upper triangle in squares, so that lines of a cache are written once.
    constexpr std::size_t side = 16;
    for (std::size_t from = first / side * side; from < size; from += side)
      for (std::size_t to = 0; to <= from; to += side)
        for (std::size_t b = to; b < std::min(to + side, size); ++b)
          for (std::size_t a = std::max({from, first, b + 1}); a < std::min(from + side, size); ++a)
            matrix_[b * stride_ + a] = matrix_[a * stride_ + b];
  }

  /// Decision values, slopes and second derivatives at `share` of the way from the present weights; loss and u.
  void evaluate(double share, double change) {
    RowTotals totals;
    const double intercept = intercept_ + share * change;
    with_rows_of(loss_, [&](auto rows) { totals = sum_rows(rows, share, intercept); });
    loss_now_ = totals.loss / total();
    volume_ = totals.curvature;
    tilt_ = 0;
    epochs_ += 1;
    if (!task_.intercept) return;
    // What a better intercept would make of the residuals, whose sum must be 0 for a dual point.
    tilt_ = totals.residual / totals.curvature;
    if (quadratic_) {
      intercept_ = intercept + tilt_;
      loss_now_ -= tilt_ * tilt_ * totals.curvature / (2 * total());
    }
    for (std::size_t i = 0; i < residuals_.size(); ++i) residuals_[i] -= tilt_ * curvatures_[i];
    if (quadratic_) tilt_ = 0;
  }
  template <class Rows>
  RowTotals sum_rows(Rows, double share, double intercept) {
    constexpr double least_curvature = Rows::quadratic ? 0 : 1e-12;
    RowTotals totals;
    double values[rows_together];
    for (std::size_t first = 0; first < targets_.size(); first += rows_together) {
      const std::size_t count = std::min<std::size_t>(rows_together, targets_.size() - first);
      const double* __restrict s = weights_of_rows_.data() + first, * __restrict y = targets_.data() + first;
      const double* __restrict z = products_.data() + first, * __restrict way = way_.data() + first;
      const double* __restrict offset = offsets_.data() + first;
      double* __restrict u = residuals_.data() + first, * __restrict v = curvatures_.data() + first;
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const auto terms = Rows::terms(z[i] + share * way[i] + intercept + offset[i], y[i]);
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
  /// The dual value of the residuals times a factor.
  double dual_at(double scale) const {
    return with_rows_of(loss_, [&](auto rows) { return sum_duals(rows, scale); }) / total();
  }
  template <class Rows>
  double sum_duals(Rows, double scale) const {
    double sum = 0;
    double values[rows_together];
    for (std::size_t first = 0; first < targets_.size(); first += rows_together) {
      const std::size_t count = std::min<std::size_t>(rows_together, targets_.size() - first);
      const double* __restrict s = weights_of_rows_.data() + first, * __restrict y = targets_.data() + first;
      const double* __restrict u = residuals_.data() + first, * __restrict offset = offsets_.data() + first;
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

  /// g of the features in `list`.
  void update_gradient(std::span<const std::int32_t> list) {
    found_.resize(list.size());
    x_.multiply(list, residuals_.data(), found_.data());
    for (std::size_t k = 0; k < list.size(); ++k) g_[at(list[k])] = found_[k] / total();
    epochs_ += 1;
  }
  void complete_gradient() {
    update_gradient(varying_);
    complete_ = true;
  }
  /// Where products of all features are known.
  void refresh_gradient() {
    const std::size_t size = members_.size();
    found_.assign(pulls_.begin(), pulls_.end());
    for (std::size_t b = 0; b < size; ++b) {
      const double weight = w_[at(members_[b])];
      if (weight == 0) continue;
      const double* row = matrix_.data() + b * stride_;
      for (std::size_t a = 0; a < size; ++a) found_[a] -= weight * row[a];
    }
    double with_pulls = 0;
    double with_rest = 0;
    intercept_ = mean_target_;
    for (std::size_t a = 0; a < size; ++a) {
      const double weight = w_[at(members_[a])];
      g_[at(members_[a])] = found_[a];
      with_pulls += weight * pulls_[a];
      with_rest += weight * found_[a];
      intercept_ -= weight * means_[a];
    }
    loss_now_ = std::max(0.0, (squares_ - with_pulls - with_rest) / 2);
    explained_ = with_pulls;
    epochs_ += 1;
  }

  FeatureSums sum_features(std::span<const std::int32_t> list) const {
    FeatureSums sums;
    for (const auto j : list) {
      const ElasticNetPenalty<double> penalty{penalty1_[at(j)], penalty2_[at(j)]};
      const double curvature = task_.curvature(j) * task_.loss_curvature;
      if (limited())
        sums.add(g_[at(j)], w_[at(j)], penalty, curvature, task_.limits_of(j));
      else
        sums.add(g_[at(j)], w_[at(j)], penalty, curvature);
    }
    return sums;
  }

  /// Of all features, or of those in work while the gradient of the others is not known.
  void compute_gap(const GapGoal& goal, CovarianceReport& report) {
    report.features = sum_features(complete_ ? varying_ : members_);
    report.rows = {loss_now_, 0};
    double scale = 0;
    double dual = 0;
    if (quadratic_) {
      report.rows.dual = (all_ ? squares_ - explained_ : targets_with_residuals()) - loss_now_;
      scale = dual_scale<Squared>(report.features, report.rows, limited());
      dual = squared_dual(report.rows, scale);
    } else if (!moved_ && report.features.ratio > 1 + 3 * std::sqrt(2 * goal.share)) {
      // The residuals of another alpha: there is no need for logarithms to see that a step is needed.
      const double over = 1 - 1 / report.features.ratio;
      report.gap = over * over * (loss_now_ - goal.least);
      return;
    } else {
      scale = feasible_scale(report.features.ratio);
      dual = dual_at(scale);
      const bool as_they_are = scale != 1 && report.features.excess < HUGE_VAL;
      report.rows.dual = as_they_are ? dual_at(1) : dual;
    }
    report.gap = duality_gap(report.features, report.rows, scale, dual);
    constexpr double far = 0.5;  // beyond, residuals with another intercept may be no dual point
    if (!(std::abs(tilt_) < far)) report.gap = HUGE_VAL;
  }
  double targets_with_residuals() const {
    return sum_over(targets_.size(), [&](std::size_t i) { return residuals_[i] * (targets_[i] - task_.center); }) /
           total();
  }

  /// Features that may have a weight become members; their products are found under the weights that those of the
  /// others were. Returns whether there are new ones.
  bool choose_members() {
    if (all_ || !complete_) return false;
    constexpr std::size_t few = 64;
    const double near = varying_.size() <= few ? 0.0 : std::clamp(2 - fall_, 0.3, 0.95);
    const std::size_t before = members_.size();
    for (const auto j : varying_)
      if (place_[at(j)] < 0 && may_matter(j, near)) add_member(j);
    if (members_.size() == before) return false;
    if (matrix_known_) extend(before);
    return true;
  }
  bool may_matter(std::int32_t j, double near) const {
    return w_[at(j)] != 0 || penalty1_[at(j)] <= 0 || std::abs(g_[at(j)]) >= near * penalty1_[at(j)];
  }
  void add_member(std::int32_t j) {
    place_[at(j)] = static_cast<std::int32_t>(members_.size());
    members_.push_back(j);
  }

  void reserve(std::size_t kept) {
    if (members_.size() <= stride_) return;
    const std::size_t stride = std::min(2 * members_.size(), varying_.size());
    std::vector<double> matrix(stride * stride, 0.0);
    for (std::size_t a = 0; a < kept; ++a)
      std::copy_n(matrix_.begin() + static_cast<std::ptrdiff_t>(a * stride_), kept,
                  matrix.begin() + static_cast<std::ptrdiff_t>(a * stride));
    matrix_ = std::move(matrix);
    stride_ = stride;
  }
  void extend(std::size_t first) {
    reserve(first);
    const std::size_t size = members_.size();
    std::vector<double> centers(size, 0.0), sums(size);
    if (task_.intercept && !x_.sparse())
      for (std::size_t k = 0; k < size; ++k) centers[k] = double(task_.mean(members_[k]));
    x_.weigh(members_, first, centers, {}, known_curvatures_, matrix_.data(), stride_, memory_);
    const auto added = std::span<const std::int32_t>(members_).subspan(first);
    x_.multiply(added, known_curvatures_.data(), sums.data() + first);
    means_.resize(size);
    center(first, centers, sums, known_volume_);
    epochs_ += 1;
  }

  /// Whether steps with the products that are known would lead too far from where new ones would. Second derivatives
  /// that are off by the share d leave about d^2 of the gap.
  /// A mean says little of features that few rows have: where steps bring little, it is the products that are renewed.
  bool must_renew(double gap, double tolerance, bool slow) {
    off_ = 0;
    if (!matrix_known_) return !all_;
    if (quadratic_) return false;
    const double scale = volume_ / known_volume_;
    const double off = sum_over(curvatures_.size(), [scale, now = curvatures_.data(), known = known_curvatures_.data()](
                                                        std::size_t i) { return std::abs(now[i] - scale * known[i]); });
    const double d = off_ = 2 * off / volume_;
    constexpr double pays_for = 4;  // alphas that follow
    const double left = d * d * gap;
    const double steps = left > tolerance / 2 ? std::log(2 * left / tolerance) / -std::log(std::min(d * d, 0.9)) : 0;
    const bool renew =
        (slow && d >= nearly_exact) || d > 0.5 || pays_for * std::ceil(steps) * evaluation_cost() > renewal_cost();
    if (!renew) rescale(scale);
    return renew;
  }
  /// What products of the members cost, in multiplications that find their numbers in a cache.
  double renewal_cost() const {
    const auto size = static_cast<double>(members_.size());
    const double entries = static_cast<double>(x_.entries()) / static_cast<double>(x_.features());
    return x_.sparse() ? 2 * size * size * entries : static_cast<double>(x_.rows()) * size * size / 2;
  }
  /// What one more step costs: columns come from further away, and losses have exponentials.
  double evaluation_cost() const {
    constexpr double far = 3;
    constexpr double losses = 150;
    const auto features = static_cast<double>(members_.size() + varying_.size());
    const double share = static_cast<double>(x_.entries()) / static_cast<double>(x_.features());
    return far * share * features + losses * static_cast<double>(x_.rows());
  }
  void rescale(double scale) {
    if (std::abs(scale - 1) < 1e-3) return;
    const std::size_t size = members_.size();
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b) matrix_[a * stride_ + b] *= scale;
    for (double& s : known_curvatures_) s *= scale;
    known_volume_ *= scale;
  }
  /// Products of the members under the present second derivatives. Members that are far from their bounds leave.
  void renew() {
    if (complete_ && matrix_known_) {
      const auto old = std::move(members_);
      members_.clear();
      std::fill(place_.begin(), place_.end(), -1);
      constexpr double near = 0.5;
      for (const auto j : old)
        if (may_matter(j, varying_.size() <= 64 ? 0.0 : near)) add_member(j);
    }
    known_curvatures_ = curvatures_;
    known_volume_ = volume_;
    matrix_known_ = true;
    extend(0);
  }

  /// A Newton step: to the lowest point of the quadratic model, or as far on the way there as the objective falls.
  /// False: nothing moved.
  bool step(const CovarianceReport& report, double goal) {
    const std::size_t size = members_.size();
    before_.resize(size);
    now_.resize(size);
    rest_.resize(size);
    for (std::size_t k = 0; k < size; ++k) {
      before_[k] = now_[k] = w_[at(members_[k])];
      rest_[k] = g_[at(members_[k])];
    }
    if (!moved_) follow_path();
    solved_ = minimise(goal);
    if (all_) {
      const bool moved = before_ != now_;
      for (std::size_t k = 0; k < size; ++k) w_[at(members_[k])] = now_[k];
      if (moved) refresh_gradient();
      moved_ = true;
      return moved;
    }
    std::vector<std::int32_t> list;
    std::vector<double> steps;
    double change = tilt_;
    for (std::size_t k = 0; k < size; ++k) {
      if (now_[k] == before_[k]) continue;
      list.push_back(members_[k]);
      steps.push_back(now_[k] - before_[k]);
      if (task_.intercept) change -= means_[k] * steps.back();
    }
    if (list.empty() && tilt_ == 0) return false;
    std::fill(way_.begin(), way_.end(), 0.0);
    x_.add(list, steps, way_.data());
    moved_ = true;
    const double share = take(report.rows.loss + report.features.penalty(), quadratic_ ? 0 : change);
    if (!quadratic_) intercept_ += share * change;
    for (std::size_t i = 0; i < way_.size(); ++i) products_[i] += share * way_[i];
    for (std::size_t k = 0; k < size; ++k) w_[at(members_[k])] = weight_at(k, share);
    if (4 * size >= varying_.size()) return complete_gradient(), true;
    complete_ = false;
    update_gradient(members_);
    return true;
  }
  double weight_at(std::size_t k, double share) const {
    if (share == 1) return now_[k];
    return task_.within_limits(members_[k], before_[k] + share * (now_[k] - before_[k]));
  }
  /// The share of the way that does not raise the objective; rows are evaluated there.
  double take(double objective, double change) {
    constexpr double rounding = 1e-14;
    double share = 1;
    for (int turn = 0;; ++turn, share /= 2) {
      evaluate(share, change);
      if (quadratic_ || turn >= 30) return share;
      double penalties = 0;
      for (std::size_t k = 0; k < members_.size(); ++k) {
        const auto j = at(members_[k]);
        penalties += ElasticNetPenalty<double>{penalty1_[j], penalty2_[j]}.value(weight_at(k, share));
      }
      if (loss_now_ + penalties <= objective + rounding * std::abs(objective)) return share;
    }
  }

  /// Weights go on as they went from the alpha before to this one: those of squares are linear in alpha as long as the
  /// same features have weights.
  void follow_path() {
    if (!(fall_ > 1) || !(fall_before_ > 1)) return;
    // From alpha f2 f1 to alpha f1, and to alpha.
    const double further = (fall_ - 1) / (fall_ * (fall_before_ - 1));
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const double w = now_[k];
      const double earlier = w_before_[at(members_[k])];
      const double next = w + further * (w - earlier);
      if (w * earlier > 0 && next * w > 0) move_to(k, task_.within_limits(members_[k], next));
    }
  }

  const double* row(std::size_t k) const { return matrix_.data() + k * stride_; }
  ElasticNetPenalty<double> penalty_of(std::size_t k) const {
    return {penalty1_[at(members_[k])], penalty2_[at(members_[k])]};
  }

  /// Makes the quadratic model smaller until what its gradient leaves of the duality gap is at most `goal`.
  bool minimise(double goal) {
    constexpr int most_cycles = 100;
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      visit();
      if (left_over() <= goal) return true;
      active_.clear();
      for (std::size_t k = 0; k < members_.size(); ++k)
        if (now_[k] != 0) active_.push_back(static_cast<std::int32_t>(k));
      if (!visit_active(goal / 2) && active_.size() <= most_weights) solve_system();
    }
    return false;
  }
  /// One pass over all members.
  void visit() {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const double curvature = row(k)[k];
      if (!(curvature > 0)) continue;
      const double best = penalty_of(k).best_weight(rest_[k] + curvature * now_[k], curvature);
      move_to(k, task_.within_limits(members_[k], best));
    }
    epochs_ += 1;
  }
  void move_to(std::size_t k, double w) {
    const double step = w - now_[k];
    if (step == 0) return;
    now_[k] = w;
    const double* __restrict products = row(k);
    double* __restrict rest = rest_.data();
    for (std::size_t a = 0; a < members_.size(); ++a) rest[a] -= step * products[a];
  }
  /// Passes over the active members by themselves, with their part of the matrix side by side, until these leave at
  /// most `goal`. False: they do not get there in as many passes as a linear system costs.
  bool visit_active(double goal) {
    const std::size_t count = active_.size();
    const auto passes = static_cast<int>(std::max<std::size_t>(3, count / 3));
    part_.resize(count * count + 2 * count);
    double* __restrict w = part_.data() + count * count;
    double* __restrict rest = w + count;
    for (std::size_t a = 0; a < count; ++a) {
      const auto k = at(active_[a]);
      for (std::size_t b = 0; b < count; ++b) part_[a * count + b] = row(k)[at(active_[b])];
      w[a] = now_[k];
      rest[a] = rest_[k];
    }
    bool done = false;
    for (int pass = 0; pass < passes && !done; ++pass) {
      double left = 0;
      for (std::size_t a = 0; a < count; ++a) {
        const auto k = at(active_[a]);
        const double* __restrict products = part_.data() + a * count;
        const double curvature = products[a];
        if (!(curvature > 0)) continue;
        const double best = penalty_of(k).best_weight(rest[a] + curvature * w[a], curvature);
        const double step = task_.within_limits(members_[k], best) - w[a];
        if (step == 0) continue;
        left += std::abs(step * curvature * w[a]);
        w[a] += step;
        for (std::size_t b = 0; b < count; ++b) rest[b] -= step * products[b];
      }
      epochs_ += 1;
      done = left <= goal;
    }
    for (std::size_t a = 0; a < count; ++a) move_to(at(active_[a]), w[a]);
    return done;
  }
  /// What a member adds to the gap to first order: a weight times what pulls it.
  double left_of(std::size_t k) const {
    const double w = now_[k];
    const double pull = rest_[k] - penalty_of(k).slope(w);
    if (limited()) {
      const auto limits = task_.limits_of(members_[k]);
      if ((w >= double(limits.high) && pull > 0) || (w <= double(limits.low) && pull < 0)) return 0;
    }
    return std::abs(pull * w);
  }
  double left_over() const {
    double sum = 0;
    double ratio = 1;
    double lasso = 0;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const auto penalty = penalty_of(k);
      lasso += penalty.p1 * std::abs(now_[k]);
      if (now_[k] != 0)
        sum += left_of(k);
      else if (penalty.p1 > 0 && may_move(k))
        ratio = std::max(ratio, std::abs(rest_[k]) / penalty.p1);
    }
    return sum + (ratio - 1) * lasso;
  }
  bool may_move(std::size_t k) const { return !limited() || task_.limits_of(members_[k]).side(rest_[k]) > 0; }

  /// The best weights of the active members with their signs, all at once.
  void solve_system() {
    constexpr double singular = 1e-13;
    // Where features depend on each other the model is linear in some direction: with a little more curvature the step
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
        const auto limits = task_.limits_of(members_[k]);
        low = limits.low;
        high = limits.high;
      }
      const double w = now_[k];
      const bool free = penalty.p1 <= 0;
      system.set_weight(a, w, rest_[k] - penalty.slope(w), free || w < 0 ? low : 0, free || w > 0 ? high : 0);
    }
    system.solve(singular);
    for (std::int32_t a = 0; a < count; ++a) {
      const auto k = at(active_[at(a)]);
      move_to(k, task_.within_limits(members_[k], system.weights[a]));
    }
    epochs_ += 1;
  }

  void find_products() {
    std::vector<std::int32_t> list;
    std::vector<double> weights;
    for (const auto j : varying_)
      if (w_[at(j)] != 0) {
        list.push_back(j);
        weights.push_back(w_[at(j)]);
      }
    std::fill(products_.begin(), products_.end(), 0.0);
    x_.add(list, weights, products_.data());
    since_fresh_ = 0;
  }

  static constexpr std::size_t most_weights = 1500;  // of a linear system
  static constexpr double nearly_exact = 1e-6;       // of second derivatives

  const ColumnProducts<T>& x_;
  Loss loss_;
  ModelTask<T> task_;
  bool quadratic_;
  bool all_ = false;  // products of all features are known: rows are not visited
  const SharedProducts* shared_;
  double alpha_ = 0;
  double fall_ = 1;                            // the alpha before over this one
  double fall_before_ = 1;                     // likewise of the alpha before
  std::vector<double> w_at_alpha_, w_before_;  // weights of the last alpha and of the one before
  std::int32_t epochs_ = 0;

  // Over rows:
  std::vector<double> weights_of_rows_, targets_, offsets_;
  std::vector<double> products_;  // x'w
  std::vector<double> residuals_, curvatures_, way_;
  double loss_now_ = 0, volume_ = 0;
  double tilt_ = 0;  // what the intercept is from its best, to first order
  int since_fresh_ = 0;

  // Over features:
  std::vector<std::int32_t> varying_;
  std::vector<double> w_, g_, penalty1_, penalty2_;
  double intercept_ = 0;
  bool solved_ = true;     // the last quadratic model, as well as it was wanted
  bool moved_ = false;     // since this alpha began
  bool complete_ = false;  // g is known of all features
  std::vector<double> found_;

  // Squares where products of all features are known:
  std::vector<double> pulls_;  // of the targets
  double mean_target_ = 0, squares_ = 0, explained_ = 0;

  // Over members, the features in work:
  std::vector<std::int32_t> members_;
  std::vector<std::int32_t> place_;  // of features among them; -1: none
  std::vector<double> matrix_;       // H, stride_ apart
  std::size_t stride_ = 0;
  std::vector<double> means_;
  std::vector<double> known_curvatures_;  // under which products were found
  double known_volume_ = 0;
  double off_ = 0;  // how far the present ones are from those, as a share
  bool matrix_known_ = false;
  std::vector<double> before_, now_, rest_;  // weights before a step and now; minus the slopes
  std::vector<std::int32_t> active_;         // members that have a weight
  std::vector<double> part_;                 // of the matrix: theirs
  std::vector<double> memory_;
};

template <class T>
class CpuCovarianceSolver final : public CovarianceSolver<T> {
 public:
  CpuCovarianceSolver(const Dataset<T>& dataset, int threads) : x_(dataset, threads), threads_(threads) {}

  bool serves(Loss loss, bool ridge) const override {
    constexpr std::int64_t most_features = 8192;
    constexpr std::int64_t most_ridge_features = 1024;
    if (loss != Loss::squared && loss != Loss::logistic && loss != Loss::poisson) return false;
    if (x_.features() > (ridge ? most_ridge_features : most_features)) return false;
    return x_.features() <= 4 * x_.rows();
  }

  void share(Loss loss, std::span<const ModelTask<T>> tasks) override {
    // Products of all features are worth it where they cost less than looking at all rows for each of 100 models.
    constexpr std::int64_t few_features = 1024;
    if (loss != Loss::squared || tasks.empty() || x_.features() > few_features || x_.features() > 2 * x_.rows()) return;
    shared_ = std::make_unique<SharedProducts>();
    const auto rows = at(x_.rows());
    const auto features = at(x_.features());
    shared_->weights.assign(rows, 0.0);
    for (const auto& task : tasks)
      for (std::size_t i = 0; i < rows; ++i)
        shared_->weights[i] = std::max(shared_->weights[i], double(task.weight(static_cast<std::int64_t>(i))));
    shared_->centers.assign(features, 0.0);
    std::vector<std::int32_t> list;
    for (std::size_t j = 0; j < features; ++j) {
      list.push_back(static_cast<std::int32_t>(j));
      if (tasks[0].intercept && !x_.sparse()) shared_->centers[j] = double(tasks[0].mean(static_cast<std::int64_t>(j)));
    }
    shared_->products.assign(features * features, 0.0);
    // Rows of products are those of some features with all before them: later ones are longer.
    constexpr std::size_t together = 64;
    const std::size_t parts = (features + together - 1) / together;
    parallel_for(threads_, static_cast<std::int64_t>(parts), [&](std::int64_t part) {
      const std::size_t first = at(part) * together;
      std::vector<double> scratch;
      x_.weigh(std::span(list).first(std::min(first + together, features)), first, shared_->centers, {},
               shared_->weights, shared_->products.data(), features, scratch);
    });
  }

  std::unique_ptr<CovariancePath> path(Loss loss, const ModelTask<T>& task, double intercept) const override {
    return std::make_unique<CpuCovariancePath<T>>(x_, loss, task, intercept, shared_.get());
  }

 private:
  ColumnProducts<T> x_;
  int threads_;
  std::unique_ptr<SharedProducts> shared_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<CovarianceSolver<T>> make_covariance_solver_for(const Dataset<T>& dataset, int threads) {
  return std::make_unique<CpuCovarianceSolver<T>>(dataset, threads);
}
template std::unique_ptr<CovarianceSolver<float>> make_covariance_solver_for<sets::Compiled>(const Dataset<float>&,
                                                                                             int);
template std::unique_ptr<CovarianceSolver<double>> make_covariance_solver_for<sets::Compiled>(const Dataset<double>&,
                                                                                              int);

}  // namespace sheaf::linear
