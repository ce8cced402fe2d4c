// The second derivatives under which the products of a path's members were found, and how these are used for longer:
// they are scaled, they learn from every step, and they are found anew only if that pays.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "linear/net/covariance_columns.hpp"
#include "linear/net/covariance_quadratic.hpp"
#include "linear/net/covariance_rows.hpp"

namespace sheaf::linear::covariance {

template <class T>
class KnownCurvatures {
 public:
  static constexpr double nearly_exact = 1e-6;  // of second derivatives

  /// Whether there are products.
  bool there() const { return there_; }
  void forget() { there_ = false; }
  const std::vector<double>& values() const { return values_; }
  double volume() const { return volume_; }  ///< their sum
  /// How far the present ones are from these, as a share; after must_renew().
  double off() const { return off_; }

  /// Products will be found under the present ones.
  void keep(RowValues<T>& rows) {
    values_ = rows.curvatures;
    volume_ = rows.volume;
    there_ = true;
    learnt_ = false;
    rows.keep_known();
  }

  /// Takes note of the share of the gap that a step left.
  void note_step(double left) { left_by_step_ = left; }

  /// Whether steps with the products, which are there, would end too far from those with new ones: whether more visits
  /// of the rows are to be expected than new products cost. Second derivatives that are off by the share d leave about
  /// d^2 of the gap; how much a model leaves that has learnt is what its last step left. A mean is no guide for
  /// features that few rows have: if steps bring little, it is the products that are renewed.
  bool must_renew(RowValues<T>& rows, MemberModel<T>& q, double gap, double tolerance, bool slow, double visits_for) {
    constexpr double far = 0.5;
    const double scale = rows.volume / volume_;
    const double apart = sum_over(values_.size(), [scale, now = rows.curvatures.data(), known = values_.data()](
                                                      std::size_t i) { return std::abs(now[i] - scale * known[i]); });
    const double d = off_ = 2 * apart / rows.volume;
    const double share = learnt_ ? left_by_step_ : d * d;
    const double left = share * gap;
    const double visits = left > tolerance / 2 ? std::log(2 * left / tolerance) / -std::log(std::min(share, 0.9)) : 0;
    const bool renew = (slow && d >= nearly_exact) || (!learnt_ && d > far) || std::ceil(visits) > visits_for;
    if (!renew && std::abs(scale - 1) >= 1e-3) rescale(scale, rows, q);
    return renew;
  }

  /// The quadratic model learns from the gradients at both ends of a step to q.now: the next one, to a neighbouring
  /// alpha, is nearly parallel to it. `before` and `after` are gradients of all features.
  void learn(RowValues<T>& rows, MemberModel<T>& q, std::span<const double> before, std::span<const double> after) {
    constexpr double rounding = 1e-10;  // of the loss
    const double scale = rows.volume / volume_;
    rescale(scale, rows, q);
    double decrease = 0;
    change_.resize(q.size());
    expected_.resize(q.size());
    for (std::size_t k = 0; k < q.size(); ++k) {
      const auto j = at(q.members[k]);
      change_[k] = before[j] - after[j];
      expected_[k] = scale * (before[j] - q.rest[k]);
      decrease += (q.now[k] - q.before[k]) * expected_[k];
    }
    if (!(decrease > rounding * std::abs(rows.loss))) return;
    q.learn(change_, expected_, rows.tilt);
    learnt_ = true;
  }

 private:
  void rescale(double scale, RowValues<T>& rows, MemberModel<T>& q) {
    q.rescale(scale);
    rows.rescale_known(scale);
    for (double& value : values_) value *= scale;
    volume_ *= scale;
  }

  std::vector<double> values_;
  double volume_ = 0;
  double off_ = 0;
  bool there_ = false;
  bool learnt_ = false;      // since products were found
  double left_by_step_ = 0;  // the share of the gap that the last step left
  std::vector<double> change_, expected_;
};

}  // namespace sheaf::linear::covariance
