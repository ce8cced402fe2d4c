// The best weights of few features, all at once: what one coordinate step after another only comes near to.
//
// With signs kept, an elastic net is a quadratic function of its weights, and one linear system has its lowest point.
// Where the way there would change signs it ends at the first weight that becomes 0, or comes to its limit, which is
// then left out of the next system. Products of features that were in work before are kept, for next to the same
// features come again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "linear/net/quadratic_model.hpp"

namespace sheaf::linear {

/// Products of the features of a working set with each other, and systems made of them. Features may be any numbers
/// that tell them apart.
class GramSystem {
 public:
  void forget() {
    places_.clear();
    members_.clear();
    products_.clear();
  }
  std::int32_t members() const { return static_cast<std::int32_t>(members_.size()); }
  bool has(std::int64_t feature) const { return places_.contains(feature); }
  /// product(other) is that of the new feature with a feature that is there, and with itself.
  template <class Product>
  void add(std::int64_t feature, const Product& product) {
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
    limits.clear();
    in_play_.assign(count, 1);
  }
  void place(std::int32_t t, std::int64_t feature) { at_[static_cast<std::size_t>(t)] = places_.at(feature); }
  /// `ridge(t)` is added to the diagonal.
  template <class Ridge>
  void fill(const Ridge& ridge) {
    for (std::int32_t a = 0; a < size_; ++a) {
      for (std::int32_t b = 0; b < a; ++b) entry(a, b) = entry(b, a) = product(a, b);
      entry(a, a) = product(a, a) + ridge(a);
    }
  }

  /// Moves `weights` to where `pulls` (what is left of minus the slopes) vanish, or to the first that comes to 0 or to
  /// its limit, again and again without the weights that are there. Features that others make up are left where they
  /// are.
  void solve(double singular) {
    constexpr int most_turns = 16;
    for (int turn = 0; turn < most_turns; ++turn) {
      find_step(singular);
      double share = 1;
      double end = 0;
      std::int32_t first = -1;
      for (std::int32_t a = 0; a < size_; ++a) {
        const double w = weights[index(a)];
        const double d = step_[index(a)];
        if (in_play_[index(a)] == 0) continue;
        const bool to_zero = w * (w + d) < 0;
        if (!to_zero && (limits.empty() || std::abs(w + d) <= std::abs(limits[index(a)]))) continue;
        const double until = to_zero ? 0 : limits[index(a)];
        if ((until - w) / d >= share) continue;
        share = (until - w) / d;
        end = until;
        first = a;
      }
      for (std::int32_t a = 0; a < size_; ++a) weights[index(a)] += share * step_[index(a)];
      for (std::int32_t a = 0; a < size_; ++a) pulls[index(a)] -= share * dot_of(&entry(a, 0), step_.data(), size_);
      if (first < 0) return;
      weights[index(first)] = end;
      in_play_[index(first)] = 0;
    }
  }

  /// For penalties that are not quadratic: step() becomes Newton's for the pulls, where add(entry) adds the second
  /// derivatives of the penalties to entry(a, b). The system must have been filled.
  template <class Add>
  void find_newton_step(double singular, const Add& add) {
    without_penalties_ = matrix_;
    add([&](std::int32_t a, std::int32_t b) -> double& { return entry(a, b); });
    find_step(singular);
    matrix_.swap(without_penalties_);
  }
  const std::vector<double>& step() const { return step_; }
  void leave_out(std::int32_t a) { in_play_[index(a)] = 0; }
  /// Row a of the system times `numbers`.
  double times_row(std::int32_t a, const std::vector<double>& numbers) {
    return dot_of(&entry(a, 0), numbers.data(), size_);
  }

  std::vector<double> weights, pulls;  ///< of the features of the system
  std::vector<double> limits;          ///< of the same weights, on their sides of 0; empty: none

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
  void find_step(double singular) {
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

  std::unordered_map<std::int64_t, std::int32_t> places_;  // of features among the members
  std::vector<std::int64_t> members_;
  std::vector<std::int32_t> at_;
  std::vector<double> products_;  // of members, the lower triangle row by row
  std::int32_t size_ = 0;
  std::vector<double> matrix_, without_penalties_, factor_, inverse_, step_;
  std::vector<std::uint8_t> in_play_;
};

/// Features whose products are kept. Steps of models whose rows are coupled cost many times those of others.
template <class Model>
inline constexpr std::int32_t most_members = Model::coupled ? 2048 : 512;

/// Whether a system of so many features costs less than the passes that it replaces.
template <class Model>
bool worth_solving(const Model& model, std::int32_t count) {
  constexpr std::int64_t passes = Model::coupled ? 512 : 32;
  std::int64_t entries = 0;
  for (std::int32_t t = 0; t < count; ++t) entries += model.features.places[model.features.active[t]].length;
  return std::int64_t{count} * count * count / 6 <= passes * 2 * entries && 2 * count <= most_members<Model>;
}

/// Products of feature k of a working set, centred, with all that the system knows of.
template <class Model>
void add_products(const Model& model, std::int32_t k) {
  using T = typename Model::Value;
  const std::int32_t feature = model.features.list[k];
  auto& gram = model.team.gram();
  if (gram.has(feature)) return;
  T* column = model.rows.before;
  model.multiply_feature(k, column);
  gram.add(feature, [&](std::int64_t other) {
    const auto place = model.x.place(static_cast<std::int32_t>(other));
    return double(model.x.dot(model.team, place, {}, column)) / model.task.total;
  });
}

/// The limit of weight t of a system, on its side of 0. A weight that is there and is pulled beyond it is left out.
template <class T>
void set_limit(GramSystem& gram, std::int32_t t, const WeightLimits<T>& limits) {
  const double w = gram.weights[static_cast<std::size_t>(t)];
  const double limit = w > 0 ? limits.high : limits.low;
  gram.limits.push_back(limit);
  if (std::abs(w) >= std::abs(limit) && gram.pulls[static_cast<std::size_t>(t)] * w > 0) gram.leave_out(t);
}

/// The best weights of the `count` features that have one, with their signs. Returns the gain. Their weights are those
/// of history(0).
template <class Model>
double solve_active(Model& model, std::int32_t count) {
  using T = typename Model::Value;
  constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a feature others do not make up
  if (count == 0) return 0;
  const auto& active = model.features.active;
  auto& gram = model.team.gram();
  model.refresh();
  if (gram.members() + count > most_members<Model>) gram.forget();  // all may be new
  for (std::int32_t t = 0; t < count; ++t) add_products(model, active[t]);
  gram.begin(count);
  for (std::int32_t t = 0; t < count; ++t) {
    const auto now = model.coordinate(active[t]);
    const auto at = static_cast<std::size_t>(t);
    gram.place(t, model.features.list[now.k]);
    gram.weights[at] = now.w;
    gram.pulls[at] = double(model.gradient(model.team, now, {})) - now.penalty.slope(now.w);
  }
  for (std::int32_t t = 0; t < count && model.task.limits != nullptr; ++t)
    set_limit(gram, t, model.task.limits_of(model.features.list[active[t]]));
  gram.fill([&](std::int32_t t) { return double(model.penalty(active[t]).p2); });
  const double gain = model.attempt(model.history(0), [&] {
    gram.solve(singular);
    for (std::int32_t t = 0; t < count; ++t) {
      const auto now = model.coordinate(active[t]);
      const T w = model.within_limits(now.k, static_cast<T>(gram.weights[static_cast<std::size_t>(t)]));
      if (w != now.w) model.apply(now, {}, w - now.w, w);
    }
  });
  return gain > 0 ? gain : 0;
}

}  // namespace sheaf::linear
