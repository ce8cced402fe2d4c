// The Cholesky factor of the second derivatives of some members, which join at the end and leave anywhere.
//
//   H = L L',  L by rows
//
// A member that joins costs one row of L, one that leaves the rotations that bring the rows behind it back to a
// triangle (Golub and Van Loan, Matrix computations, section 6.5). Along a path of a lasso few members come and go
// between neighbouring penalties, and the best weights of the others are two triangular systems away.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/net/row_sums.hpp"

namespace sheaf::linear::covariance {

class ActiveFactor {
 public:
  std::size_t size() const { return members_.size(); }
  std::span<const std::int32_t> members() const { return members_; }
  void clear() { members_.clear(); }

  /// `row`: the second derivatives of the new member with all. False: others make it up, and it does not join.
  bool join(std::int32_t member, const double* row) {
    constexpr double singular = 1e-9;  // of its own second derivative
    const std::size_t n = size();
    if (n == stride_) widen();
    double* l = lower_.data() + n * stride_;
    for (std::size_t i = 0; i < n; ++i) l[i] = row[static_cast<std::size_t>(members_[i])];
    solve_lower(l);
    const double whole = row[static_cast<std::size_t>(member)];
    const double left = whole - sum_over(n, [l](std::size_t i) { return l[i] * l[i]; });
    if (!(left > singular * whole)) return false;
    l[n] = std::sqrt(left);
    members_.push_back(member);
    return true;
  }

  /// The member at place `gone` leaves.
  void leave(std::size_t gone) {
    const std::size_t n = size();
    for (std::size_t i = gone + 1; i < n; ++i)
      std::copy_n(lower_.data() + i * stride_, i + 1, lower_.data() + (i - 1) * stride_);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(gone));
    // Row i has i + 2 numbers now: rotations of neighbouring columns take the last one to the diagonal.
    rotations_.resize(2 * n);
    for (std::size_t i = gone; i + 1 < n; ++i) {
      double* l = lower_.data() + i * stride_;
      const double carried = rotate(l, gone, i);
      const double length = std::hypot(carried, l[i + 1]);
      rotations_[2 * i] = carried / length;
      rotations_[2 * i + 1] = l[i + 1] / length;
      l[i] = length;
    }
  }

  /// x becomes the solution of H x = x, in the order of the members.
  void solve(double* x) const {
    solve_lower(x);
    for (std::size_t i = size(); i-- > 0;) {
      const double* l = lower_.data() + i * stride_;
      const double own = x[i] /= l[i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= own * l[k];
    }
  }

 private:
  /// Rotations of the columns from `first` to `last` of a row; returns the number carried to the last of them.
  double rotate(double* l, std::size_t first, std::size_t last) const {
    double carried = l[first];
    for (std::size_t c = first; c < last; ++c) {
      const double cosine = rotations_[2 * c], sine = rotations_[2 * c + 1];
      const double next = l[c + 1];
      l[c] = cosine * carried + sine * next;
      carried = cosine * next - sine * carried;
    }
    return carried;
  }
  void solve_lower(double* x) const {
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i) {
      const double* l = lower_.data() + i * stride_;
      const double known = sum_over(i, [l, x](std::size_t k) { return l[k] * x[k]; });
      x[i] = (x[i] - known) / l[i];
    }
  }
  void widen() {
    const std::size_t wider = std::max<std::size_t>(64, 2 * stride_);
    std::vector<double> larger(wider * wider, 0.0);
    for (std::size_t i = 0; i < size(); ++i) std::copy_n(lower_.data() + i * stride_, i + 1, larger.data() + i * wider);
    lower_ = std::move(larger);
    stride_ = wider;
  }

  std::vector<std::int32_t> members_;  // places in the matrix of H
  std::vector<double> lower_;          // L
  std::size_t stride_ = 0;
  std::vector<double> rotations_;
};

}  // namespace sheaf::linear::covariance
