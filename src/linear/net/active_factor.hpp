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

#include "linear/net/lanes.hpp"
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
    std::size_t i = size();
    for (; i % rows_at_once != 0; --i) take_off(x, i - 1, x[i - 1] /= row(i - 1)[i - 1], i - 1);
    for (; i > 0; i -= rows_at_once) {
      const std::size_t first = i - rows_at_once;
      for (std::size_t r = i; r-- > first;) {
        x[r] /= row(r)[r];
        for (std::size_t k = first; k < r; ++k) x[k] -= x[r] * row(r)[k];
      }
      const double *l0 = row(first), *l1 = row(first + 1), *l2 = row(first + 2), *l3 = row(first + 3);
      const double x0 = x[first], x1 = x[first + 1], x2 = x[first + 2], x3 = x[first + 3];
      for (std::size_t k = 0; k < first; ++k) x[k] -= (x0 * l0[k] + x1 * l1[k]) + (x2 * l2[k] + x3 * l3[k]);
    }
  }

 private:
  static constexpr std::size_t together = 8;  // rows that are rotated
  static constexpr std::size_t rows_at_once = 4;
  static constexpr std::size_t width = lanes;

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
  void take_off(double* x, std::size_t r, double own, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k) x[k] -= own * row(r)[k];
  }
  /// Four rows at a time, whose products with the numbers that are known need these once.
  void solve_lower(double* x) const {
    const std::size_t n = size();
    std::size_t i = 0;
    for (; i + rows_at_once <= n; i += rows_at_once) {
      const double* const l[] = {row(i), row(i + 1), row(i + 2), row(i + 3)};
      Lanes sums[rows_at_once] = {};
      std::size_t k = 0;
      for (; k + width <= i; k += width) {
        const Lanes known = load(x + k);
        for (std::size_t r = 0; r < rows_at_once; ++r) sums[r] += load(l[r] + k) * known;
      }
      double left[rows_at_once];
      for (std::size_t r = 0; r < rows_at_once; ++r) left[r] = x[i + r] - sum_of(sums[r]);
      for (; k < i; ++k)
        for (std::size_t r = 0; r < rows_at_once; ++r) left[r] -= l[r][k] * x[k];
      for (std::size_t r = 0; r < rows_at_once; ++r) {
        for (std::size_t c = 0; c < r; ++c) left[r] -= l[r][i + c] * x[i + c];
        x[i + r] = left[r] / l[r][i + r];
      }
    }
    for (; i < n; ++i) {
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
