// The best weights of few features, all at once: what one coordinate step after another only comes near to.
//
// With signs kept, an elastic net is a quadratic function of its weights, and one linear system has its lowest point.
// Where the way there would change signs it ends at the first weight that becomes 0, which is then left out of the
// next system. Products of features that were in work before are kept, for next to the same features come again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sheaf::linear {

inline double dot_of(const double* a, const double* b, std::int32_t count) {
  constexpr int chains = 8;
  double sums[chains] = {};
  std::int32_t k = 0;
  for (; k + chains <= count; k += chains)
    for (int c = 0; c < chains; ++c) sums[c] += a[k + c] * b[k + c];
  for (; k < count; ++k) sums[0] += a[k] * b[k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Products of the features of a lane with each other, and systems made of them.
class LaneGram {
 public:
  static constexpr std::int32_t most_members = 512;

  void forget() {
    places_.clear();
    members_.clear();
    products_.clear();
  }
  /// Whether all of `more` features could be new and still fit.
  bool has_room(std::int32_t more) const { return static_cast<std::int32_t>(members_.size()) + more <= most_members; }
  bool has(std::int32_t feature) const { return places_.contains(feature); }
  /// product(other) is that of the new feature with a feature that is there, and with itself.
  template <class Product>
  void add(std::int32_t feature, const Product& product) {
    places_.emplace(feature, static_cast<std::int32_t>(members_.size()));
    members_.push_back(feature);
    for (const auto other : members_) products_.push_back(product(other));
  }

  /// A system of `size` features begins: their features, then what is wanted of each, come next.
  void begin(std::int32_t size) {
    size_ = size;
    const auto count = static_cast<std::size_t>(size);
    matrix_.assign(count * count, 0.0);
    factor_.resize(count * count);
    inverse_.resize(count);
    step_.resize(count);
    at_.resize(count);
    weights.resize(count);
    pulls.resize(count);
    in_play_.assign(count, 1);
  }
  void place(std::int32_t t, std::int32_t feature) { at_[static_cast<std::size_t>(t)] = places_.at(feature); }
  /// `ridge(t)` is added to the diagonal.
  template <class Ridge>
  void fill(const Ridge& ridge) {
    for (std::int32_t a = 0; a < size_; ++a) {
      for (std::int32_t b = 0; b < a; ++b) entry(a, b) = entry(b, a) = product(a, b);
      entry(a, a) = product(a, a) + ridge(a);
    }
  }

  /// Moves `weights` to where `pulls` (what is left of minus the slopes) vanish, or to the first sign change, again and
  /// again without the weights that become 0. Features that others make up are left where they are.
  void settle(double singular) {
    constexpr int most_turns = 16;
    for (int turn = 0; turn < most_turns; ++turn) {
      solve(singular);
      double share = 1;
      std::int32_t first = -1;
      for (std::int32_t a = 0; a < size_; ++a) {
        const double w = weights[index(a)];
        const double d = step_[index(a)];
        if (in_play_[index(a)] == 0 || w * (w + d) >= 0 || -w / d >= share) continue;
        share = -w / d;
        first = a;
      }
      for (std::int32_t a = 0; a < size_; ++a) weights[index(a)] += share * step_[index(a)];
      for (std::int32_t a = 0; a < size_; ++a) pulls[index(a)] -= share * dot_of(&entry(a, 0), step_.data(), size_);
      if (first < 0) return;
      weights[index(first)] = 0;
      in_play_[index(first)] = 0;
    }
  }

  std::vector<double> weights, pulls;  ///< of the features of the system

 private:
  static std::size_t index(std::int32_t a) { return static_cast<std::size_t>(a); }
  double& entry(std::int32_t a, std::int32_t b) { return matrix_[index(a) * index(size_) + index(b)]; }
  double& factor(std::int32_t a, std::int32_t b) { return factor_[index(a) * index(size_) + index(b)]; }
  double product(std::int32_t a, std::int32_t b) const {
    const auto i = static_cast<std::size_t>(std::max(at_[index(a)], at_[index(b)]));
    const auto j = static_cast<std::size_t>(std::min(at_[index(a)], at_[index(b)]));
    return products_[i * (i + 1) / 2 + j];
  }

  /// step_ = matrix^-1 pulls over the features in play, by Cholesky's method.
  void solve(double singular) {
    for (std::int32_t a = 0; a < size_; ++a) {
      if (in_play_[index(a)] == 0) {
        for (std::int32_t b = 0; b <= a; ++b) factor(a, b) = 0;
        inverse_[index(a)] = 0;
        step_[index(a)] = 0;
        continue;
      }
      for (std::int32_t b = 0; b < a; ++b)
        factor(a, b) = (entry(a, b) - dot_of(&factor(a, 0), &factor(b, 0), b)) * inverse_[index(b)];
      const double rest = entry(a, a) - dot_of(&factor(a, 0), &factor(a, 0), a);
      inverse_[index(a)] = rest > singular * entry(a, a) ? 1 / std::sqrt(rest) : 0;
      step_[index(a)] = (pulls[index(a)] - dot_of(&factor(a, 0), step_.data(), a)) * inverse_[index(a)];
    }
    for (std::int32_t a = size_ - 1; a >= 0; --a) {
      const double d = step_[index(a)] *= inverse_[index(a)];
      if (d == 0) continue;
      for (std::int32_t b = 0; b < a; ++b) step_[index(b)] -= factor(a, b) * d;
    }
  }

  std::unordered_map<std::int32_t, std::int32_t> places_;  // of features among the members
  std::vector<std::int32_t> members_, at_;
  std::vector<double> products_;  // of members, the lower triangle row by row
  std::int32_t size_ = 0;
  std::vector<double> matrix_, factor_, inverse_, step_;
  std::vector<std::uint8_t> in_play_;
};

}  // namespace sheaf::linear
