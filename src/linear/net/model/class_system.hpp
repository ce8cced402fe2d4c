// The best weights and intercepts of all classes of a softmax model, all at once: gram.hpp for several classes.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linear/net/model/classes_model.hpp"
#include "linear/net/model/gram.hpp"

namespace sheaf::linear {

/// A weight that is not 0, or the change of an intercept.
struct ClassWeight {
  std::int32_t k = 0;         // the class
  std::int32_t feature = -1;  // its place in the working set; -1: the intercept
};

/// Intercepts, then the weights that are not 0.
template <class Classes>
std::vector<ClassWeight> list_weights(const Classes& classes) {
  std::vector<ClassWeight> list;
  for (std::int32_t k = 0; k < classes.count() && classes.all.task.intercept; ++k) list.push_back({k, -1});
  for (std::int32_t k = 0; k < classes.count(); ++k) {
    const auto features = classes.features_of(k);
    for (std::int32_t j = 0; j < features.count; ++j)
      if (features.w[j] != 0) list.push_back({k, j});
  }
  return list;
}

/// Products of second derivatives with the weights that the system does not hold yet.
template <class Classes>
void add_class_products(const Classes& classes, std::span<const ClassWeight> list) {
  using T = typename Classes::Value;
  const auto& all = classes.all;
  auto& gram = classes.team.gram();
  const std::int64_t rows = all.task.examples;
  const std::int64_t places = classes.working.count + 1;
  const auto key_of = [&](const ClassWeight& weight) { return weight.k * places + weight.feature + 1; };
  std::vector<T> columns(static_cast<std::size_t>(rows * classes.count()));  // what a step takes off q of each class
  const std::vector<T> ones(static_cast<std::size_t>(rows), T(1));           // the feature of an intercept
  const auto column = [&](std::int64_t l) { return columns.data() + l * rows; };
  for (const auto& weight : list) {
    if (gram.has(key_of(weight))) continue;
    T* values = all.rows.step;
    std::fill_n(values, rows, weight.feature < 0 ? T(1) : T(0));
    if (weight.feature >= 0)
      classes.x.each(classes.team, classes.working.list[weight.feature],
                     [&](std::int32_t i, T value) { values[i] = value; });
    for (std::int32_t l = 0; l < classes.count(); ++l) {
      T* to = column(l);
      if (l == weight.k)
        for (std::int64_t i = 0; i < rows; ++i) to[i] = static_cast<T>(all.curvature(l, i)) * values[i];
      else
        for (std::int64_t i = 0; i < rows; ++i) to[i] = all.coupling(weight.k, l, i) * values[i];
    }
    gram.add(key_of(weight), [&](std::int64_t other) {
      const T* own = column(other / places);
      const auto feature = static_cast<std::int32_t>(other % places) - 1;
      const T sum = feature < 0 ? dot_of(own, ones.data(), rows)
                                : classes.x.dot(classes.team, classes.working.places[feature], {}, own);
      return double(sum) / all.task.total;
    });
  }
}

/// A system of these weights and all its products. False: there are too many of them.
template <class Classes>
bool begin_system(const Classes& classes, std::span<const ClassWeight> list) {
  const auto count = static_cast<std::int64_t>(list.size());
  std::int64_t entries = 0;
  for (const auto& weight : list)
    entries += weight.feature < 0 ? classes.all.task.examples : classes.working.places[weight.feature].length;
  if (2 * count > Classes::most_members || count * count * count / 6 > Classes::system_passes * 2 * entries)
    return false;
  auto& gram = classes.team.gram();
  if (gram.members() + count > Classes::most_members) gram.forget();
  add_class_products(classes, list);
  gram.begin(static_cast<std::int32_t>(count));
  const std::int64_t places = classes.working.count + 1;
  for (std::size_t t = 0; t < list.size(); ++t)
    gram.place(static_cast<std::int32_t>(t), list[t].k * places + list[t].feature + 1);
  return true;
}

/// The pulls on these weights, minus the slopes of the quadratic model, at the present steps.
template <class Classes>
void find_pulls(Classes& classes, std::span<const ClassWeight> list) {
  using Model = typename Classes::Model;
  const auto& all = classes.all;
  const auto& system = classes.team.gram().system();
  classes.in_turn([&](std::int32_t k, Model& model) {
    double sum = 0;
    for (std::int64_t i = 0; i < all.task.examples; ++i) {
      const double q = all.residual(k, i);
      model.rows.q[i] = static_cast<typename Classes::Value>(q);
      sum += q;
    }
    for (std::int32_t t = 0; t < system.size(); ++t) {
      const auto& weight = list[static_cast<std::size_t>(t)];
      if (weight.k != k) continue;
      if (weight.feature < 0) {
        system.set_weight(t, 0, sum / all.task.total, -HUGE_VAL, HUGE_VAL);
      } else {
        const auto at = model.coordinate(weight.feature);
        set_weight_of(model, system, t, at, pull_of(model, at));
      }
    }
  });
}

/// The objective of descent: the quadratic model of the loss, and the penalties.
template <class Classes>
double value_of(const Classes& classes) {
  const auto& all = classes.all;
  double sum = 0;
  for (std::int64_t i = 0; i < all.task.examples; ++i) {
    const double s = all.rows.weights[i];
    const double mixed = all.rows.mixed[i];
    sum -= s * mixed * mixed / 2;
    for (std::int32_t k = 0; k < classes.count(); ++k) {
      const double p = all.shares(k)[i];
      const double d = all.steps(k)[i];
      sum += ((all.curvature(k, i) + s * p * p) / 2 * d - double(all.residuals(k)[i])) * d;
    }
  }
  return sum / all.task.total + classes.penalty_with(1);
}

/// Weights become `to`, intercepts `from` and what `to` has for them.
template <class Classes>
void move_weights(Classes& classes, std::span<const ClassWeight> list, std::span<const double> to,
                  std::span<const double> from) {
  using T = typename Classes::Value;
  for (std::size_t t = 0; t < list.size(); ++t) {
    const auto [k, feature] = list[t];
    if (feature < 0)
      classes.changes[k] = from[static_cast<std::size_t>(k)] + to[t];
    else
      classes.features_of(k).w[feature] = classes.within_limits(feature, static_cast<T>(to[t]));
  }
  classes.in_turn([&](std::int32_t k, auto& model) { classes.update_steps(k, model); });
}

/// The best weights that are not 0, with their signs, and the best intercepts. False: there are too many of them. What
/// it gains is added to `gained`.
template <class Classes>
bool solve_classes(Classes& classes, double& gained) {
  using T = typename Classes::Value;
  constexpr double singular = sizeof(T) == 4 ? 1e-4 : 1e-9;  // what of a weight others do not make up
  const auto list = list_weights(classes);
  if (!begin_system(classes, list)) return false;
  auto& gram = classes.team.gram();
  const auto& system = gram.system();
  find_pulls(classes, list);
  gram.fill([&](std::int32_t t) {
    const auto feature = list[static_cast<std::size_t>(t)].feature;
    return feature < 0 ? 0.0 : double(classes.working.penalty2[feature]);
  });
  const std::vector<double> before(system.weights, system.weights + list.size());
  const std::vector<double> intercepts(classes.changes, classes.changes + classes.count());
  const double value = value_of(classes);
  system.solve(singular);
  move_weights(classes, list, {system.weights, list.size()}, intercepts);
  const double gain = value - value_of(classes);
  if (gain >= 0)
    gained += gain;
  else
    move_weights(classes, list, before, intercepts);
  ++classes.epochs;
  return true;
}

}  // namespace sheaf::linear
