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

  /// All second derivatives are multiplied.
  void rescale(double by) {
    const double root = std::sqrt(by);
    for (double* l = row(0); l != row(size()); ++l) *l *= root;
  }

  /// `products`: the second derivatives of the new member with all. False: others make it up, and it does not join.
  bool join(std::int32_t member, const double* products) {
    constexpr double singular = 1e-9;  // of its own second derivative
    const std::size_t n = size();
    const std::size_t numbers = begin_of(n + 1);
    if (lower_.size() < numbers) lower_.resize(2 * numbers);
    double* l = row(n);
    for (std::size_t i = 0; i < n; ++i) l[i] = products[static_cast<std::size_t>(members_[i])];
    solve_lower(l);
    const double whole = products[static_cast<std::size_t>(member)];
    const double left = whole - sum_over(n, [l](std::size_t i) { return l[i] * l[i]; });
    if (!(left > singular * whole)) return false;
    l[n] = std::sqrt(left);
    members_.push_back(member);
    return true;
  }

  /// The member at place `gone` leaves.
  void leave(std::size_t gone) {
    const std::size_t n = size();
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(gone));
    // A row behind it has a number too many, and moves up by one: rotations of neighbouring columns take the last
    // number to the diagonal. The next number waits for the one before, so that a few rows are rotated at once.
    for (std::size_t r = gone + 1; r < n; ++r) std::copy_n(row(r), gone, row(r - 1));
    rotations_.resize(2 * n);
    for (std::size_t first = gone + 1; first < n; first += together) {
      const std::size_t end = std::min(first + together, n);
      double carried[together];
      for (std::size_t r = first; r < end; ++r) carried[r - first] = row(r)[gone];
      for (std::size_t c = gone; c + 1 < first; ++c)
        for (std::size_t r = first; r < end; ++r) carried[r - first] = rotate(r, c, carried[r - first]);
      for (std::size_t r = first; r < end; ++r) {
        double own = carried[r - first];
        for (std::size_t c = first - 1; c + 1 < r; ++c) own = rotate(r, c, own);
        const double last = row(r)[r];
        const double length = std::hypot(own, last);
        rotations_[2 * (r - 1)] = own / length;
        rotations_[2 * (r - 1) + 1] = last / length;
        row(r - 1)[r - 1] = length;
      }
    }
  }

  /// x becomes the solution of H x = x, in the order of the members.
  void solve(double* x) const {
    solve_lower(x);
    for (std::size_t i = size(); i-- > 0;) {
      const double* l = row(i);
      const double own = x[i] /= l[i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= own * l[k];
    }
  }

 private:
  static constexpr std::size_t together = 8;  // rows

  static std::size_t begin_of(std::size_t i) { return i * (i + 1) / 2; }
  double* row(std::size_t i) { return lower_.data() + begin_of(i); }
  const double* row(std::size_t i) const { return lower_.data() + begin_of(i); }

  /// A rotation of the columns c and c + 1 of row r, which becomes row r - 1; returns the number carried on.
  double rotate(std::size_t r, std::size_t c, double carried) {
    const double cosine = rotations_[2 * c], sine = rotations_[2 * c + 1];
    const double next = row(r)[c + 1];
    row(r - 1)[c] = cosine * carried + sine * next;
    return cosine * next - sine * carried;
  }
  void solve_lower(double* x) const {
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i) {
      const double* l = row(i);
      const double known = sum_over(i, [l, x](std::size_t k) { return l[k] * x[k]; });
      x[i] = (x[i] - known) / l[i];
    }
  }

  std::vector<std::int32_t> members_;  // places in the matrix of H
  std::vector<double> lower_;          // L, row behind row
  std::vector<double> rotations_;
};

}  // namespace sheaf::linear::covariance
