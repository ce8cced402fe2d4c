// Newton's method. With the shares p of a row and its weight s, the gradient is the sum of s (p - y) and the Hessian H
// that of s (diag(p) - p p'), which is 0 for a number added to all intercepts. H d = -g is solved by conjugate
// gradients with the diagonal of H as preconditioner: a product is a pass over the rows, so that a thousand classes are
// no burden.
#include "linear/softmax_intercepts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sheaf::linear {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// The loss at some intercepts, and its derivatives.
class SoftmaxLoss {
 public:
  explicit SoftmaxLoss(const SoftmaxRows& rows)
      : rows_(rows),
        classes_(static_cast<std::size_t>(rows.classes)),
        shares_(classes_ * static_cast<std::size_t>(rows.count)) {}

  /// Shares at b; returns the loss.
  double load(const Vector& b) {
    double loss = 0;
    gradient_.assign(classes_, 0.0);
    diagonal_.assign(classes_, 0.0);
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      const double s = rows_.weight(i);
      if (!(s > 0)) continue;
      double* p = shares_of(i);
      for (std::size_t k = 0; k < classes_; ++k) p[k] = b[k] + rows_.offset(i, static_cast<std::int32_t>(k));
      const double largest = *std::max_element(p, p + classes_);
      double sum = 0;
      for (std::size_t k = 0; k < classes_; ++k) {
        const double y = rows_.target(i, static_cast<std::int32_t>(k));
        loss -= s * y * (p[k] - largest);
        gradient_[k] -= s * y;
        sum += p[k] = std::exp(p[k] - largest);
      }
      loss += s * std::log(sum);
      for (std::size_t k = 0; k < classes_; ++k) {
        p[k] /= sum;
        gradient_[k] += s * p[k];
        diagonal_[k] += s * p[k] * (1 - p[k]);
      }
    }
    return loss;
  }
  const Vector& gradient() const { return gradient_; }
  const Vector& diagonal() const { return diagonal_; }

  Vector hessian_times(const Vector& d) {
    Vector result(classes_, 0.0);
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      const double s = rows_.weight(i);
      if (!(s > 0)) continue;
      const double* p = shares_of(i);
      double mean = 0;
      for (std::size_t k = 0; k < classes_; ++k) mean += p[k] * d[k];
      for (std::size_t k = 0; k < classes_; ++k) result[k] += s * p[k] * (d[k] - mean);
    }
    return result;
  }

 private:
  double* shares_of(std::int64_t i) { return shares_.data() + static_cast<std::size_t>(i) * classes_; }

  const SoftmaxRows& rows_;
  std::size_t classes_;
  Vector shares_;  // rows x classes
  Vector gradient_, diagonal_;
};

/// About -H^-1 g.
Vector newton_step(SoftmaxLoss& loss) {
  constexpr double precision = 1e-8;
  const auto size = loss.gradient().size();
  const auto scaled = [&](const Vector& r) {
    Vector result(size, 0.0);
    for (std::size_t k = 0; k < size; ++k)
      if (loss.diagonal()[k] > 0) result[k] = r[k] / loss.diagonal()[k];
    return result;
  };
  Vector d(size, 0.0);
  Vector r = loss.gradient();
  for (double& one : r) one = -one;
  Vector direction = scaled(r);
  double left = dot(r, direction);
  const double enough = precision * precision * left;
  for (std::size_t turn = 0; turn < 2 * size && left > enough; ++turn) {
    const Vector product = loss.hessian_times(direction);
    const double curvature = dot(direction, product);
    if (!(curvature > 0)) break;
    const double length = left / curvature;
    for (std::size_t k = 0; k < size; ++k) {
      d[k] += length * direction[k];
      r[k] -= length * product[k];
    }
    const Vector next = scaled(r);
    const double before = std::exchange(left, dot(r, next));
    for (std::size_t k = 0; k < size; ++k) direction[k] = next[k] + left / before * direction[k];
  }
  return d;
}

}  // namespace

std::vector<double> softmax_intercepts(const SoftmaxRows& rows, std::vector<double> b) {
  constexpr int most_steps = 100;
  constexpr double precision =
      1e-24;  // the gain of a step relative to the loss: its square root is that of the intercepts
  SoftmaxLoss loss(rows);
  double value = loss.load(b);
  for (int step = 0; step < most_steps; ++step) {
    auto d = newton_step(loss);
    double mean = 0;
    for (const double one : d) mean += one / static_cast<double>(d.size());
    for (double& one : d) one -= mean;
    const double slope = dot(loss.gradient(), d);
    if (!(-slope > precision * std::abs(value))) break;
    const auto start = b;
    double share = 1;
    for (int turn = 0; turn < 40; ++turn, share /= 2) {
      for (std::size_t k = 0; k < b.size(); ++k) b[k] = start[k] + share * d[k];
      const double next = loss.load(b);
      // Near the end a step gains less than what rounding makes of the sums.
      if (next <= value + 0.1 * share * slope + 1e-14 * std::abs(value)) {
        value = next;
        break;
      }
    }
  }
  return b;
}

double softmax_loss(const SoftmaxRows& rows, const std::vector<double>& b) { return SoftmaxLoss(rows).load(b); }

}  // namespace sheaf::linear
