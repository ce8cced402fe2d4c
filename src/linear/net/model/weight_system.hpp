// A quadratic function of some weights, each between two ends, and its lowest point. Written once: the threads of a
// team work on it together, in memory that is given from outside.
//
// Projected Newton steps (Bertsekas 1982): a linear system has the lowest point over the weights that are in play, and
// a weight that would pass an end on the way there stays at it. Weights at an end that are pulled beyond it are out of
// play until that changes.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace sheaf::linear {

template <class Team>
class WeightSystem {
 public:
  /// Numbers of memory that a system of `size` weights takes.
  SHEAF_HOST_DEVICE static constexpr std::int64_t numbers(std::int64_t size) { return (2 * size + 9) * size; }

  WeightSystem() = default;
  SHEAF_HOST_DEVICE WeightSystem(const Team& team, double* memory, std::int32_t size)
      : team_(team), size_(size), matrix_(memory), factor_(matrix_ + square(size)) {
    double* vectors = factor_ + square(size);
    const auto next = [&] {
      double* vector = vectors;
      vectors += size;
      return vector;
    };
    weights = next();
    pulls = next();
    low_ = next();
    high_ = next();
    step_ = next();
    change_ = next();
    rest_ = next();
    inverse_ = next();
    in_play_ = reinterpret_cast<std::int32_t*>(next());  // two of them have the size of a double
    places_ = in_play_ + size;
    over(0, size, [&](std::int32_t a) { in_play_[a] = 1; });
    team_.sync();
  }

  SHEAF_HOST_DEVICE std::int32_t size() const { return size_; }
  /// An element of the second derivatives; set both (a, b) and (b, a).
  SHEAF_HOST_DEVICE double& entry(std::int32_t a, std::int32_t b) const { return row(a)[b]; }
  SHEAF_HOST_DEVICE double* row(std::int32_t a) const { return matrix_ + static_cast<std::int64_t>(a) * size_; }
  SHEAF_HOST_DEVICE const double* step() const { return step_; }
  SHEAF_HOST_DEVICE bool in_play(std::int32_t a) const { return in_play_[a] != 0; }
  SHEAF_HOST_DEVICE void leave_out(std::int32_t a) const { in_play_[a] = 0; }
  /// Sets weight a, its pull, and its limits.
  SHEAF_HOST_DEVICE void set_weight(std::int32_t a, double weight, double pull, double low, double high) const {
    weights[a] = weight;
    pulls[a] = pull;
    low_[a] = low;
    high_[a] = high;
  }

  /// Moves the weights to where their pulls vanish or a limit holds them. Weights that others determine stay where they
  /// are: less than the share `singular` of their second derivative is independent of the others.
  SHEAF_HOST_DEVICE void solve(double singular) const {
    constexpr int most_turns = 50;
    constexpr double tiny = 1e-6;  // relative to the gain so far
    double gained = 0;
    for (int turn = 0; turn < most_turns; ++turn) {
      find_step(singular);
      bool clipped = false;
      const double more = take_step(clipped);
      gained += more;
      const bool changed = hold_and_release();
      if ((!clipped && !changed) || !(more > tiny * gained)) return;
    }
  }

  /// step() becomes the inverse of the matrix times the pulls, of the weights in play; 0 of the others. The matrix is
  /// U' D^-1 U with D the diagonal of U: rows of U are those of the matrix less multiples of the rows before.
  SHEAF_HOST_DEVICE void find_step(double singular) const {
    const std::int32_t count = list_in_play();
    over(0, size_, [&](std::int32_t a) { step_[a] = 0; });
    over(0, count, [&](std::int32_t a) { rest_[a] = pulls[places_[a]]; });
    const auto upper = [&](std::int32_t b) { return factor_ + static_cast<std::int64_t>(b) * count; };
    for (std::int32_t b = 0; b < count; ++b) {
      const double* from = row(places_[b]);
      double* own = upper(b);
      over(b, count, [&](std::int32_t a) { own[a] = from[places_[a]]; });
      subtract_rows(own, b, count, b, upper, [&](std::int32_t j) { return upper(j)[b] * inverse_[j]; });
      team_.sync();
      const double inverse = own[b] > singular * from[places_[b]] ? 1 / own[b] : 0;
      const double share = inverse * rest_[b];
      over(b + 1, count, [&](std::int32_t a) { rest_[a] -= share * own[a]; });
      if (team_.rank() == 0) inverse_[b] = inverse;
      team_.sync();
    }
    for (std::int32_t b = count - 1; b >= 0; --b) {
      double sum = 0;
      over(b + 1, count, [&](std::int32_t a) { sum += upper(b)[a] * rest_[a]; });
      const double step = inverse_[b] * (rest_[b] - team_.sum(sum));
      team_.sync();  // all threads have read the rest
      if (team_.rank() == 0) step_[places_[b]] = rest_[b] = step;
      team_.sync();
    }
  }

  double* weights = nullptr;
  double* pulls = nullptr;  ///< minus the slopes at the present weights

 private:
  static constexpr SHEAF_HOST_DEVICE std::int64_t square(std::int64_t size) { return size * size; }

  template <class F>
  SHEAF_HOST_DEVICE void over(std::int32_t first, std::int32_t end, const F& f) const {
    for (std::int32_t a = first + team_.rank(); a < end; a += team_.size()) f(a);
  }

  /// to[a] for a from `first` to `end` loses the sum of factor(j) row(j)[a] over `rows` rows: four at a time, for one
  /// number of `to` is then loaded for four of them. Each thread touches numbers of its own alone.
  template <class Row, class Factor>
  SHEAF_HOST_DEVICE void subtract_rows(double* to, std::int32_t first, std::int32_t end, std::int32_t rows,
                                       const Row& row_of, const Factor& factor) const {
    std::int32_t j = 0;
    for (; j + 4 <= rows; j += 4) {
      const double f0 = factor(j), f1 = factor(j + 1), f2 = factor(j + 2), f3 = factor(j + 3);
      const double *r0 = row_of(j), *r1 = row_of(j + 1), *r2 = row_of(j + 2), *r3 = row_of(j + 3);
      over(first, end, [&](std::int32_t a) { to[a] -= (f0 * r0[a] + f1 * r1[a]) + (f2 * r2[a] + f3 * r3[a]); });
    }
    for (; j < rows; ++j) {
      const double f = factor(j);
      const double* r = row_of(j);
      over(first, end, [&](std::int32_t a) { to[a] -= f * r[a]; });
    }
  }

  /// The places of the weights in play; returns their number.
  SHEAF_HOST_DEVICE std::int32_t list_in_play() const {
    std::int32_t count = 0;
    for (std::int32_t a = 0; a < size_; ++a) {
      if (!in_play(a)) continue;
      if (team_.rank() == 0) places_[count] = a;
      ++count;
    }
    team_.sync();
    return count;
  }

  /// The end that the step leads to.
  SHEAF_HOST_DEVICE double end_of(std::int32_t a) const { return step_[a] > 0 ? high_[a] : low_[a]; }
  /// The weight after a share of the step, or the limit if it comes first.
  SHEAF_HOST_DEVICE double target(std::int32_t a, double share) const {
    constexpr double nearly = 1 - 1e-12;  // a share that leads to an end is rounded
    const double way = share * step_[a];
    const double left = end_of(a) - weights[a];
    return std::abs(way) >= nearly * std::abs(left) ? end_of(a) : weights[a] + way;
  }

  /// Takes the longest of the shares 1, 1/2, 1/4 ... of the step that gains what the share up to the first end does, or
  /// that one. Returns the gain.
  SHEAF_HOST_DEVICE double take_step(bool& clipped) const {
    double first = 1;
    double along = 0;
    over(0, size_, [&](std::int32_t a) {
      along += pulls[a] * step_[a];
      const double left = end_of(a) - weights[a];
      if (step_[a] != 0 && left / step_[a] < first) first = left / step_[a];
    });
    first = -team_.largest(-first);
    along = team_.sum(along);
    clipped = first < 1;
    const double least = first * (1 - first / 2) * along;
    for (double share = 1; share > first; share /= 2)
      if (const double gain = try_share(share); gain >= least && gain > 0) {
        keep_share(share);
        return gain;
      }
    const double gain = try_share(first);
    keep_share(first);
    return gain;
  }
  /// The gain of a share of the step; the pulls after it go to rest_.
  SHEAF_HOST_DEVICE double try_share(double share) const {
    over(0, size_, [&](std::int32_t a) {
      change_[a] = target(a, share) - weights[a];
      rest_[a] = pulls[a];
    });
    team_.sync();
    subtract_rows(
        rest_, 0, size_, size_, [&](std::int32_t b) { return row(b); }, [&](std::int32_t b) { return change_[b]; });
    double gain = 0;
    over(0, size_, [&](std::int32_t a) { gain += change_[a] * (pulls[a] + rest_[a]) / 2; });
    gain = team_.sum(gain);
    team_.sync();
    return gain;
  }
  SHEAF_HOST_DEVICE void keep_share(double share) const {
    over(0, size_, [&](std::int32_t a) {
      weights[a] = target(a, share);
      pulls[a] = rest_[a];
    });
    team_.sync();
  }

  /// Puts weights out of play that an end holds and others into it. False: all were so before.
  SHEAF_HOST_DEVICE bool hold_and_release() const {
    int changes = 0;
    over(0, size_, [&](std::int32_t a) {
      const bool held = (weights[a] <= low_[a] && pulls[a] <= 0) || (weights[a] >= high_[a] && pulls[a] >= 0);
      changes += in_play(a) == held ? 1 : 0;
      in_play_[a] = held ? 0 : 1;
    });
    const bool changed = team_.sum(static_cast<double>(changes)) > 0;
    team_.sync();
    return changed;
  }

  Team team_;
  std::int32_t size_ = 0;
  double* matrix_ = nullptr;  // size x size
  double* factor_ = nullptr;  // U of the weights in play
  double* low_ = nullptr;
  double* high_ = nullptr;
  double* step_ = nullptr;
  double* change_ = nullptr;
  double* rest_ = nullptr;
  double* inverse_ = nullptr;
  std::int32_t* in_play_ = nullptr;
  std::int32_t* places_ = nullptr;  // of the weights in play
};

}  // namespace sheaf::linear
