// Solves one task on its working set, on one core: SMO with second-order choice of pairs (Fan, Chen, Lin 2005), on a
// matrix of kernel values that stays in the core's cache. The variables of a group are contiguous and padded to full
// vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/simd.hpp"
#include "kernel/verbs/problem.hpp"

namespace sheaf::kernel::cpu {

inline constexpr double smallest_curvature = 1e-12;  // as LIBSVM's tau

class SmallProblem {
 public:
  static constexpr int width = native_vector_bytes < 32 ? 8 : native_vector_bytes / 4;

  /// Sets the number of variables of each group.
  void resize(std::int64_t first_group, std::int64_t second_group) {
    middle_ = padded(first_group);
    size_ = middle_ + padded(second_group);
    const auto size = static_cast<std::size_t>(size_);
    f.assign(size, 0.0);
    beta.assign(size, 0.0);
    lower.assign(size, 0.0);
    upper.assign(size, 0.0);
    rise_.assign(size, never);
    fall_.assign(size, never);
    diagonal.resize(size);
    if (tile.size() < size * size) tile.resize(size * size);  // rows of padding are never read
  }
  std::int64_t size() const { return size_; }
  std::int64_t second_group() const { return middle_; }
  /// At the end of the last call of solve().
  double violation() const { return violation_; }

  /// Takes steps until the violation is below the tolerance, and keeps f up to date; returns their number.
  std::int64_t solve(double tolerance, std::int64_t most_steps) {
    for (std::int64_t k = 0; k < size_; ++k) mark(k);
    std::int64_t steps = 0;
    for (Step last{0, tile.data(), tile.data()};; ++steps) {
      Pair best = choose(last, 0, middle_);
      if (middle_ < size_) {
        const Pair other = choose(last, middle_, size_);
        const double violation = std::max(best.violation, other.violation);
        if (other.gain > best.gain) best = other;
        best.violation = violation;
      }
      if (!(best.violation >= tolerance) || best.j < 0 || steps == most_steps) {
        violation_ = best.violation;
        return steps;
      }
      last = step(best);
    }
  }

  std::vector<double> f, beta, lower, upper;  ///< the caller fills them, and the tile
  std::vector<float> diagonal, tile;          ///< tile: size x size

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  struct Pair {
    std::int64_t i = -1, j = -1;
    double violation = never;  // of the group
    double gain = -1;
  };

  /// The change of f by a pair, which is added when f is next read.
  struct Step {
    double delta;
    const float* row_i;
    const float* row_j;
  };

  static std::int64_t padded(std::int64_t count) { return (count + width - 1) / width * width; }

  void mark(std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    rise_[at] = beta[at] < upper[at] ? 0 : never;
    fall_[at] = beta[at] > lower[at] ? 0 : never;
  }

  // NOLINTBEGIN(modernize-use-using): the attribute of an alias is not honoured by every compiler
  typedef double Doubles __attribute__((vector_size(native_vector_bytes)));
  typedef std::int64_t Longs __attribute__((vector_size(native_vector_bytes)));
  typedef float Floats __attribute__((vector_size(native_vector_bytes)));
  typedef std::int32_t Ints __attribute__((vector_size(native_vector_bytes)));
  typedef double WideDoubles __attribute__((vector_size(2 * native_vector_bytes)));
  // NOLINTEND(modernize-use-using)
  static constexpr std::int64_t doubles = native_vector_bytes / 8;
  static constexpr std::int64_t floats = native_vector_bytes / 4;
  static constexpr int chains = width / static_cast<int>(doubles);  // independent ones hide each other's waits
  static constexpr int float_chains = width / static_cast<int>(floats);

  template <class V, class E>
  static V load(const E* from) {
    V value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  /// The first if the mask is set, else the second. Written with bit operations, since compilers turn a conditional
  /// into more than the one instruction it needs.
  template <class Mask, class V>
  static V select(Mask mask, V first, V second) {
    const auto a = reinterpret_cast<Mask>(first);
    const auto b = reinterpret_cast<Mask>(second);
    return reinterpret_cast<V>(((a ^ b) & mask) ^ b);
  }

  /// Adds the last step to f, and chooses the variable that gains most by rising and the partner whose fall gains most
  /// with it.
  Pair choose(const Step& last, std::int64_t begin, std::int64_t end) {
    Pair pair;
    Doubles top[chains];
    Doubles low[chains];
    Longs at[chains] = {};
    for (int c = 0; c < chains; ++c) top[c] = low[c] = Doubles{} + never;
    for (std::int64_t k = begin; k < end; k += width)
      for (int c = 0; c < chains; ++c) {
        const auto e = static_cast<std::size_t>(k + c * doubles);
        if (c % 2 == 0) {
          const WideDoubles apart = __builtin_convertvector(load<Floats>(last.row_i + e), WideDoubles) -
                                    __builtin_convertvector(load<Floats>(last.row_j + e), WideDoubles);
          const WideDoubles moved = load<WideDoubles>(&f[e]) + last.delta * apart;
          std::memcpy(&f[e], &moved, sizeof moved);
        }
        const auto gradient = load<Doubles>(&f[e]);
        const Doubles up = load<Doubles>(&rise_[e]) - gradient;
        const Doubles down = load<Doubles>(&fall_[e]) + gradient;
        const Longs higher = up > top[c];
        const Longs lower_down = down > low[c];
        at[c] = select(higher, Longs{} + k, at[c]);
        top[c] = select(higher, up, top[c]);
        low[c] = select(lower_down, down, low[c]);
      }
    double highest = never;
    double lowest = never;
    for (int c = 0; c < chains; ++c)
      for (int l = 0; l < doubles; ++l) {
        if (top[c][l] > highest) {
          highest = top[c][l];
          pair.i = at[c][l] + c * doubles + l;
        }
        lowest = std::max(lowest, low[c][l]);
      }
    if (pair.i < 0) return pair;
    pair.violation = highest + lowest;
    choose_partner(begin, end, highest, pair);
    return pair;
  }

  /// Gains slope^2 / bend are compared as products, which saves a division per variable. Slopes are relative to the
  /// violation, so that nothing overflows.
  void choose_partner(std::int64_t begin, std::int64_t end, double highest, Pair& pair) const {
    if (!(pair.violation > 0)) return;
    const float* row = tile.data() + pair.i * size_;
    const float curvature = diagonal[static_cast<std::size_t>(pair.i)];
    const auto scale = static_cast<float>(1 / pair.violation);
    Floats gains[float_chains] = {};
    Floats bends[float_chains];
    Ints at[float_chains] = {};
    for (Floats& bend : bends) bend = Floats{} + 1.0F;
    for (std::int64_t k = begin; k < end; k += width)
      for (int c = 0; c < float_chains; ++c) {
        const auto e = static_cast<std::size_t>(k + c * floats);
        const auto slope =
            __builtin_convertvector(load<WideDoubles>(&fall_[e]) + load<WideDoubles>(&f[e]) + highest, Floats) * scale;
        const Floats bend = curvature + load<Floats>(&diagonal[e]) - 2 * load<Floats>(row + e);
        const Ints curved = bend > 0;
        const Ints falls = slope > 0;
        const Floats positive = select(curved, bend, Floats{} + static_cast<float>(smallest_curvature));
        const Floats gain = select(falls, slope * slope, Floats{});
        const Ints better = gain * bends[c] > gains[c] * positive;
        at[c] = select(better, Ints{} + static_cast<std::int32_t>(k), at[c]);
        gains[c] = select(better, gain, gains[c]);
        bends[c] = select(better, positive, bends[c]);
      }
    for (int c = 0; c < float_chains; ++c)
      for (int l = 0; l < floats; ++l) {
        const double gain = static_cast<double>(gains[c][l]) / static_cast<double>(bends[c][l]);
        if (gains[c][l] > 0 && gain > pair.gain) {
          pair.gain = gain;
          pair.j = at[c][l] + c * floats + l;
        }
      }
    pair.gain *= pair.violation * pair.violation;
  }

  Step step(const Pair& pair) {
    const auto i = static_cast<std::size_t>(pair.i);
    const auto j = static_cast<std::size_t>(pair.j);
    const float* row_i = tile.data() + pair.i * size_;
    const float* row_j = tile.data() + pair.j * size_;
    const double bend = std::max(
        static_cast<double>(diagonal[i]) + static_cast<double>(diagonal[j]) - 2 * static_cast<double>(row_i[j]),
        smallest_curvature);
    const double room_i = upper[i] - beta[i];
    const double room_j = beta[j] - lower[j];
    const double delta = std::min({(f[j] - f[i]) / bend, room_i, room_j});
    beta[i] = delta == room_i ? upper[i] : beta[i] + delta;
    beta[j] = delta == room_j ? lower[j] : beta[j] - delta;
    mark(pair.i);
    mark(pair.j);
    return {delta, row_i, row_j};
  }

  std::int64_t middle_ = 0, size_ = 0;
  double violation_ = 0;
  std::vector<double> rise_, fall_;
};

/// A pool of small problems, whose memory serves one task after the other: one per thread at work.
class SmallProblems {
 public:
  template <class Work>
  void with_one(const Work& work) {
    auto small = take();
    work(*small);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(small));
  }

 private:
  std::unique_ptr<SmallProblem> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<SmallProblem>();
    auto small = std::move(idle_.back());
    idle_.pop_back();
    return small;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<SmallProblem>> idle_;
};

}  // namespace sheaf::kernel::cpu
