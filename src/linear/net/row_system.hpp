// The best rows of weights that are not 0 of several targets under squares, all at once, by Newton's method.
//
// With the products H of features and a row w_a of length n_a of feature a, the second derivatives are
//
//   M (x) I - sum over a of r_a (e_a (x) u_a)(e_a (x) u_a)',   M = H + diag(r + p2),  r_a = p1_a / n_a,  u_a = w_a /
//   n_a
//
// with as many terms in the sum as there are features. So two systems of the size of the features have the step of all
// targets (Woodbury's formula), where the whole has as many unknowns as weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "linear/net/model/penalty.hpp"

namespace sheaf::linear::covariance {

/// The negative inverse of a positive definite matrix, size x size, in its place: of both, the triangle above the
/// diagonal. Sweeps (Beaton 1964) by some rows and columns at once: with the matrix in parts D of these, V beside and R
/// of the rest, they become -D^-1, V D^-1 and R - V D^-1 V'.
inline void invert(double* matrix, std::size_t size, std::vector<double>& scratch) {
  constexpr std::size_t side = 4;
  scratch.resize(2 * side * size);
  double* const beside = scratch.data();  // V', rows of it one after another
  double* const share = beside + side * size;
  for (std::size_t first = 0; first < size; first += side) {
    const std::size_t count = std::min(side, size - first);
    for (std::size_t p = 0; p < side; ++p) {
      double* own = beside + p * size;
      for (std::size_t a = 0; a < size; ++a)
        own[a] = p >= count ? 0 : a < first + p ? matrix[a * size + first + p] : matrix[(first + p) * size + a];
    }
    // D^-1, by the sweeps of one row after another.
    double inverse[side][side] = {};
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t q = 0; q < count; ++q) inverse[p][q] = beside[p * size + first + q];
    for (std::size_t k = 0; k < count; ++k) {
      const double pivot = 1 / inverse[k][k];
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t q = 0; q < count && p != k; ++q)
          if (q != k) inverse[p][q] -= inverse[p][k] * inverse[k][q] * pivot;
      for (std::size_t p = 0; p < count; ++p)
        if (p != k) inverse[p][k] = inverse[k][p] = inverse[p][k] * pivot;
      inverse[k][k] = -pivot;
    }
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t p = 0; p < side; ++p) {
        double sum = 0;
        for (std::size_t q = 0; q < side; ++q) sum -= inverse[p][q] * beside[q * size + a];
        share[p * size + a] = sum;
      }
    const double *v0 = beside, *v1 = v0 + size, *v2 = v1 + size, *v3 = v2 + size;
    for (std::size_t a = 0; a < size; ++a) {
      if (a >= first && a < first + count) continue;
      const double s0 = share[a], s1 = share[size + a], s2 = share[2 * size + a], s3 = share[3 * size + a];
      double* __restrict row = matrix + a * size;
#pragma omp simd
      for (std::size_t b = a; b < size; ++b) row[b] -= (s0 * v0[b] + s1 * v1[b]) + (s2 * v2[b] + s3 * v3[b]);
    }
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t a = 0; a < first; ++a) matrix[a * size + first + p] = share[p * size + a];
      for (std::size_t b = first + count; b < size; ++b) matrix[(first + p) * size + b] = share[p * size + b];
      for (std::size_t q = p; q < count; ++q) matrix[(first + p) * size + first + q] = inverse[p][q];
    }
  }
}

class RowSystem {
 public:
  void begin(std::size_t size, std::size_t targets) {
    size_ = size;
    targets_ = targets;
    penalties.resize(size);
    products.resize(size * size);
    for (auto* vector : {&weights, &rests, &step_}) vector->resize(size * targets);
    known_.clear();
  }

  /// Steps until the lengths of the rows times those of their pulls, a bound of the gap to first order, are at most
  /// `goal`. Returns their number. Second derivatives are those of an earlier step while these serve.
  int solve(double goal) {
    constexpr int most_turns = 50;
    constexpr double enough = 0.2;  // of the bound, left by a step
    double before = 0;
    for (int turn = 0; turn < most_turns; ++turn) {
      const double left = measure();
      if (left <= goal) return turn;
      const bool anew = list_ != known_ || left > enough * before;
      if (anew) find_factors();
      before = left;
      find_step();
      if (take_step()) continue;
      if (anew) return turn + 1;
      known_.clear();
    }
    return most_turns;
  }

  std::vector<GroupPenalty> penalties;
  std::vector<double> products;        ///< H, size x size
  std::vector<double> weights, rests;  ///< those of target k from k * size on

 private:
  double& at(std::vector<double>& numbers, std::size_t a, std::size_t k) const { return numbers[k * size_ + a]; }
  double square_of(std::size_t a) const {
    double squares = 0;
    for (std::size_t k = 0; k < targets_; ++k) squares += weights[k * size_ + a] * weights[k * size_ + a];
    return squares;
  }

  /// Lists the rows that are not 0, with their lengths and pulls.
  double measure() {
    list_.clear();
    lengths_.clear();
    for (std::size_t a = 0; a < size_; ++a)
      if (const double length = std::sqrt(square_of(a)); length > 0) {
        list_.push_back(a);
        lengths_.push_back(length);
      }
    const std::size_t n = list_.size();
    pulls_.resize(n * targets_);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto a = list_[i];
      const double slope = (penalties[a].p1 > 0 ? penalties[a].p1 / lengths_[i] : 0) + penalties[a].p2;
      double squares = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const double pull = at(rests, a, k) - slope * at(weights, a, k);
        pulls_[k * n + i] = pull;
        squares += pull * pull;
      }
      sum += lengths_[i] * std::sqrt(squares);
    }
    return sum;
  }

  /// The step S of the rows in the list, those of the others are 0. With G = M^-1 and t_a = u_a's_a, whose equations
  /// are t = rows of u'GP + (G o UU') r t, it is S = G (P + r t U).
  void find_step() {
    const std::size_t n = list_.size();
    found_.assign(n * targets_, 0.0);
    add_products(pulls_);
    turns_.assign(n, 0.0);
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < n; ++a) turns_[a] += roots_[a] * units_[k * n + a] * found_[k * n + a];
    for (std::size_t a = 0; a < n; ++a) {
      double turn = 0;  // with the negative inverse
      for (std::size_t b = 0; b < n; ++b) turn -= coupling_[b < a ? b * n + a : a * n + b] * turns_[b];
      for (std::size_t k = 0; k < targets_; ++k) pulls_[k * n + a] = roots_[a] * turn * units_[k * n + a];
    }
    add_products(pulls_);
    std::fill(step_.begin(), step_.end(), 0.0);
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t a = 0; a < n; ++a) at(step_, list_[a], k) = found_[k * n + a];
  }
  /// G, and the negative inverse of the equations of t.
  void find_factors() {
    const std::size_t n = list_.size();
    known_ = list_;
    inverse_.resize(n * n);
    coupling_.resize(n * n);
    roots_.resize(n);
    units_.resize(n * targets_);
    for (std::size_t a = 0; a < n; ++a) {
      const auto& penalty = penalties[list_[a]];
      const double rise = penalty.p1 > 0 ? penalty.p1 / lengths_[a] : 0;
      roots_[a] = std::sqrt(rise);
      for (std::size_t b = a; b < n; ++b) inverse_[a * n + b] = products[list_[a] * size_ + list_[b]];
      inverse_[a * n + a] += rise + penalty.p2;
      for (std::size_t k = 0; k < targets_; ++k) units_[k * n + a] = at(weights, list_[a], k) / lengths_[a];
    }
    invert(inverse_.data(), n, scratch_);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a; b < n; ++b) inverse_[b * n + a] = inverse_[a * n + b] = -inverse_[a * n + b];
    for (std::size_t a = 0; a < n; ++a) {
      double* __restrict coupling = coupling_.data() + a * n;
      std::fill(coupling + a, coupling + n, 0.0);
      for (std::size_t k = 0; k < targets_; ++k) {
        const double own = roots_[a] * units_[k * n + a];
        const double* __restrict units = units_.data() + k * n;
        for (std::size_t b = a; b < n; ++b) coupling[b] -= own * units[b];
      }
      for (std::size_t b = a; b < n; ++b) coupling[b] *= roots_[b] * inverse_[a * n + b];
      coupling[a] += 1;
    }
    invert(coupling_.data(), n, scratch_);
  }
  /// found += G numbers.
  void add_products(const std::vector<double>& numbers) {
    const std::size_t n = list_.size();
    for (std::size_t k = 0; k < targets_; ++k)
      for (std::size_t b = 0; b < n; ++b) {
        const double own = numbers[k * n + b];
        double* __restrict to = found_.data() + k * n;
        const double* __restrict row = inverse_.data() + b * n;
        for (std::size_t a = 0; a < n; ++a) to[a] += own * row[a];
      }
  }

  /// Rows that the step would turn round become 0, for along a direction that is nearly flat a step is long; passes
  /// bring those back that should have stayed. If there are none, takes the largest share of the step, of halves, that
  /// gains. False: none does.
  bool take_step() {
    constexpr int most_halves = 20;
    if (turn_back()) return true;
    double share = 1;
    for (int turn = 0; turn < most_halves; ++turn, share /= 2) {
      for (std::size_t t = 0; t < step_.size(); ++t) change_[t] = share * step_[t];
      move_rests();
      if (!(find_gain() > 0)) continue;
      keep_change();
      return true;
    }
    return false;
  }
  bool turn_back() {
    bool any = false;
    change_.assign(step_.size(), 0.0);
    for (const auto a : list_) {
      double along = 0;
      for (std::size_t k = 0; k < targets_; ++k) along += at(weights, a, k) * (at(weights, a, k) + at(step_, a, k));
      if (!(along <= 0) || penalties[a].p1 <= 0) continue;
      any = true;
      for (std::size_t k = 0; k < targets_; ++k) at(change_, a, k) = -at(weights, a, k);
    }
    if (!any) return false;
    move_rests();
    keep_change();
    return true;
  }
  void keep_change() {
    rests.swap(moved_);
    for (std::size_t t = 0; t < weights.size(); ++t) weights[t] += change_[t];
  }
  void move_rests() {
    moved_ = rests;
    for (std::size_t k = 0; k < targets_; ++k)
      for (const auto a : list_) {
        const double step = at(change_, a, k);
        if (step == 0) continue;
        double* __restrict rest = moved_.data() + k * size_;
        const double* __restrict row = products.data() + a * size_;
        for (std::size_t b = 0; b < size_; ++b) rest[b] -= step * row[b];
      }
  }
  /// By the change, from products that are as small as the steps.
  double find_gain() {
    double gain = 0;
    for (const auto a : list_) {
      double before = 0, more = 0;
      for (std::size_t k = 0; k < targets_; ++k) {
        const double w = at(weights, a, k), step = at(change_, a, k);
        before += w * w;
        more += (2 * w + step) * step;
        gain += step * (at(rests, a, k) + at(moved_, a, k)) / 2;
      }
      const double lengths = std::sqrt(before) + std::sqrt(std::max(before + more, 0.0));
      gain -= more * (penalties[a].p1 / lengths + penalties[a].p2 / 2);
    }
    return gain;
  }

  std::size_t size_ = 0, targets_ = 0;
  std::vector<std::uint8_t> in_;    // rows that have not become 0
  std::vector<std::size_t> list_;   // rows that are not 0
  std::vector<std::size_t> known_;  // those that G is of
  std::vector<double> lengths_, pulls_, units_, found_, roots_,
      turns_;  // of the list; those of target k from k * its size on
  std::vector<double> inverse_, coupling_;
  std::vector<double> step_, change_, moved_, scratch_;
};

}  // namespace sheaf::linear::covariance
