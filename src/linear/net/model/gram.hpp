// The best weights of few features, all at once, which coordinate steps only approach.
//
// With signs kept, an elastic net is a quadratic function of its weights, and one linear system has its lowest point.
// Weights that would change signs, or pass their limits, on the way there stop where they are 0 or at them
// (weight_system.hpp). Teams of one have a GramSystem, which keeps products of features that were in work before, for
// next to the same features come again. Others have room for one system, whose products they find together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "linear/net/model/quadratic_model.hpp"
#include "linear/net/model/weight_system.hpp"

namespace sheaf::linear {

/// Products of the features of a working set with each other, and systems made of them. Features may be any numbers
/// that distinguish them.
class GramSystem {
 public:
  using System = WeightSystem<OneThread>;

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
    const auto needed = static_cast<std::size_t>(System::numbers(size));
    if (memory_.size() < needed) memory_.resize(needed);
    at_.resize(static_cast<std::size_t>(size));
    system_ = System({}, memory_.data(), size);
  }
  void place(std::int32_t t, std::int64_t feature) { at_[static_cast<std::size_t>(t)] = places_.at(feature); }
  /// `ridge(t)` is added to the diagonal.
  template <class Ridge>
  void fill(const Ridge& ridge) {
    for (std::int32_t a = 0; a < system_.size(); ++a) {
      for (std::int32_t b = 0; b < a; ++b) system_.entry(a, b) = system_.entry(b, a) = product(a, b);
      system_.entry(a, a) = product(a, a) + ridge(a);
    }
  }

  const System& system() const { return system_; }

  /// For penalties that are not quadratic: the step becomes Newton's for the pulls, where add() adds the second
  /// derivatives of the penalties to the system. It must have been filled.
  template <class Add>
  void find_newton_step(double singular, const Add& add) {
    const double* matrix = system_.row(0);
    without_penalties_.assign(matrix, matrix + std::int64_t{system_.size()} * system_.size());
    add();
    system_.find_step(singular);
    std::copy(without_penalties_.begin(), without_penalties_.end(), system_.row(0));
  }

 private:
  double product(std::int32_t a, std::int32_t b) const {
    const auto [less, more] = std::minmax(at_[static_cast<std::size_t>(a)], at_[static_cast<std::size_t>(b)]);
    const auto i = static_cast<std::size_t>(more);
    return products_[i * (i + 1) / 2 + static_cast<std::size_t>(less)];
  }

  std::unordered_map<std::int64_t, std::int32_t> places_;  // of features among the members
  std::vector<std::int64_t> members_;
  std::vector<std::int32_t> at_;
  std::vector<double> products_;  // of members, the lower triangle row by row
  std::vector<double> memory_, without_penalties_;
  System system_;
};

/// Memory for a system, and a team with such memory.
struct SystemRoom {
  double* memory = nullptr;
  std::int32_t most = 0;  ///< weights that there is room for

  /// The most that is worth its memory.
  static constexpr std::int32_t largest = 256;
  static constexpr std::int64_t numbers(std::int64_t weights) { return WeightSystem<OneThread>::numbers(weights); }
};
template <class Team>
struct WithRoom : Team {
  SystemRoom room;
  SHEAF_HOST_DEVICE const SystemRoom& gram() const { return room; }
};

/// Features whose products a GramSystem keeps. Steps of models whose rows are coupled cost many times those of others.
template <class Model>
inline constexpr std::int32_t most_members = Model::coupled ? 2048 : 512;

template <class Model>
bool has_room(const GramSystem& /*gram*/, const Model& /*model*/, std::int32_t count) {
  return 2 * count <= most_members<Model>;
}
template <class Model>
SHEAF_HOST_DEVICE bool has_room(const SystemRoom& room, const Model& /*model*/, std::int32_t count) {
  return count <= room.most;
}

/// Whether there is room for a system of the `count` features that are listed as active, and it costs less than the
/// passes that it replaces.
template <class Model>
SHEAF_HOST_DEVICE bool worth_solving(const Model& model, std::int32_t count) {
  constexpr std::int64_t passes = Model::coupled ? 512 : 32;
  if (!has_room(model.team.gram(), model, count)) return false;
  std::int64_t entries = 0;
  for (std::int32_t t = 0; t < count; ++t) entries += model.features.places[model.features.active[t]].length;
  return std::int64_t{count} * count * count / 6 <= passes * 2 * entries;
}

/// The system of the `count` features that are listed as active, without their weights and pulls.
template <class Model>
const GramSystem::System& fill_system(GramSystem& gram, const Model& model, std::int32_t count) {
  using T = typename Model::Value;
  const auto* active = model.features.active;
  if (gram.members() + count > most_members<Model>) gram.forget();  // all may be new
  for (std::int32_t t = 0; t < count; ++t) {
    const std::int32_t feature = model.features.list[active[t]];
    if (gram.has(feature)) continue;
    T* column = model.rows.before;
    model.multiply_feature(active[t], column);
    gram.add(feature, [&](std::int64_t other) {
      const auto place = model.x.place(static_cast<std::int32_t>(other));
      return double(model.x.dot(model.team, place, {}, column)) / model.task.total;
    });
  }
  gram.begin(count);
  for (std::int32_t t = 0; t < count; ++t) gram.place(t, model.features.list[active[t]]);
  gram.fill([&](std::int32_t t) { return double(model.penalty(active[t]).p2); });
  return gram.system();
}
/// The same by a team: each of its parts finds products of some features.
template <class Model>
SHEAF_HOST_DEVICE auto fill_system(const SystemRoom& room, const Model& model, std::int32_t count) {
  using T = typename Model::Value;
  const auto& team = model.team;
  const auto part = team.part();
  const auto* active = model.features.active;
  WeightSystem<typename Model::TeamType> system(team, room.memory, count);
  for (std::int32_t a = 0; a < count; ++a) {
    T* column = model.rows.before;
    model.multiply_feature(active[a], column);
    for (std::int32_t b = team.part_rank(); b <= a; b += team.parts()) {
      const auto place = model.features.places[active[b]];
      const double product = double(model.x.dot(part, place, model.x.ahead(part, place), column)) / model.task.total;
      const double ridge = a == b ? double(model.penalty(active[a]).p2) : 0.0;
      if (part.rank() == 0) system.entry(a, b) = system.entry(b, a) = product + ridge;
    }
    team.sync();
  }
  return system;
}

/// Minus the slope of loss and penalty by a weight that is not 0.
template <class Model>
SHEAF_HOST_DEVICE double pull_of(const Model& model, const typename Model::Coordinate& at) {
  return double(model.gradient(model.team, at, model.x.ahead(model.team, at.place))) - at.penalty.slope(at.w);
}

/// Strikes those off the `count` active features that are pulled beyond their limitsand are at them; returns how many
/// are left.
template <class Model>
SHEAF_HOST_DEVICE std::int32_t leave_out_held(const Model& model, std::int32_t count) {
  if (model.task.limits == nullptr) return count;
  std::int32_t left = 0;
  model.refresh();
  for (std::int32_t t = 0; t < count; ++t) {
    const auto at = model.coordinate(model.features.active[t]);
    const auto limits = model.task.limits_of(model.features.list[at.k]);
    const bool inside = at.w > limits.low && at.w < limits.high;
    if (!inside && pull_of(model, at) * double(at.w) > 0) continue;
    model.team.sync();  // all threads have read the list so far
    if (model.team.rank() == 0) model.features.active[left] = at.k;
    ++left;
  }
  model.team.sync();
  return left;
}

/// Weight t of a system is that of a feature: its range, with its sign, and its pull.
template <class Model, class System>
SHEAF_HOST_DEVICE void set_weight_of(const Model& model, const System& system, std::int32_t t,
                                     const typename Model::Coordinate& at, double pull) {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  if (model.task.limits != nullptr) {
    const auto limits = model.task.limits_of(model.features.list[at.k]);
    low = limits.low;
    high = limits.high;
  }
  system.set_weight(t, at.w, pull, at.w > 0 ? 0 : low, at.w > 0 ? high : 0);
}

/// The weights of the features of a system.
template <class Model, class System>
SHEAF_HOST_DEVICE void load_weights(const Model& model, const System& system) {
  for (std::int32_t t = 0; t < system.size(); ++t) {
    const auto at = model.coordinate(model.features.active[t]);
    const double pull = pull_of(model, at);
    if (model.team.rank() == 0) set_weight_of(model, system, t, at, pull);
  }
  model.team.sync();
}

/// The best weights of the `count` active features, with their signs. Returns the gain. Their weights are those of
/// history(0).
template <class Model>
SHEAF_HOST_DEVICE double solve_active(Model& model, std::int32_t count) {
  using T = typename Model::Value;
  constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a feature others do not make up
  if (count == 0) return 0;
  model.refresh();
  const auto& system = fill_system(model.team.gram(), model, count);
  load_weights(model, system);
  const double gain = model.attempt(model.history(0), [&] {
    system.solve(singular);
    for (std::int32_t t = 0; t < count; ++t) {
      const auto at = model.coordinate(model.features.active[t]);
      const T before = model.history(0)[at.k];
      const T w = model.within_limits(at.k, static_cast<T>(system.weights[t]));
      if (w == before) continue;
      model.apply(at, model.x.ahead(model.team, at.place), w - before, w);
      model.team.sync();
    }
  });
  return gain > 0 ? gain : 0;
}

}  // namespace sheaf::linear
