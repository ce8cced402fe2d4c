// Several features at once (shotgun: Bradley et al. 2011). parallel_updates.cpp decides how many.
#pragma once

#include "linear/net/model/quadratic_model.hpp"

namespace sheaf::linear {

/// A number for each step of each model: the same on every device.
SHEAF_HOST_DEVICE inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

SHEAF_HOST_DEVICE inline bool coprime(std::uint64_t a, std::uint64_t b) {
  while (a != 0) {
    const std::uint64_t rest = b % a;
    b = a;
    a = rest;
  }
  return b == 1;
}

/// Steps of `size` features, each as if it were alone. They are stored in place of the second of the remembered
/// weights.
template <class Model, class Feature>
SHEAF_HOST_DEVICE void step_together(Model& model, std::int32_t size, const Feature& feature) {
  using T = typename Model::Value;
  using Coordinate = typename Model::Coordinate;
  T* steps = model.history(1);
  const auto& team = model.team;
  const auto part = team.part();
  // Each part finds the steps of some features ...
  model.refresh();
  const std::int32_t first = team.part_rank();
  const std::int32_t parts = team.parts();
  std::int32_t turn = first;
  model.in_turn_by(
      part, (size - first + parts - 1) / parts, [&](std::int32_t t) { return feature(first + t * parts); },
      [&](const Coordinate& now, const ColumnAhead<T>& ahead) {
        const T w = now.curvature > 0 ? model.within_limits(now.k, model.best_weight(part, now, ahead)) : T(0);
        if (part.rank() == 0) steps[turn] = w - now.w;
        turn += parts;
      });
  team.sync();
  // ... and then takes all steps in order, each on the rows that are its own: no two write the same residual.
  std::int32_t at = 0;
  model.in_turn_by(part, size, feature, [&](const Coordinate& now, const ColumnAhead<T>& ahead) {
    const T step = steps[at++];
    if (step == 0) return;
    if (team.rank() == 0) model.features.w[now.k] = model.within_limits(now.k, now.w + step);
    model.shift += double(step) * double(now.mean);
    model.x.each(part, now.place, ahead, [&](std::int32_t i, T value) {
      if (team.owns(i)) model.move_row(i, step, value);
    });
    part.sync();
  });
  model.stale = Model::coupled;
  team.sync();
}

/// All features once, `parallel` of them at a time, in an order drawn anew: start + turn * stride modulo their number.
/// Steps of one time are computed from the same residuals, so that together they may go too far: then all are taken
/// back, and half as many are taken at once from then on. Returns the gain; negative: taken back.
template <class Model>
SHEAF_HOST_DEVICE double visit_parallel(Model& model, std::uint64_t seed, std::int32_t& parallel) {
  const auto count = static_cast<std::uint64_t>(model.features.count);
  const std::uint64_t draw = mixed(seed ^ mixed(static_cast<std::uint64_t>(model.epochs)));
  const std::uint64_t start = draw % count;
  std::uint64_t stride = mixed(draw) % count;
  while (!coprime(stride, count)) stride = (stride + 1) % count;
  model.remember(0);
  const double gain = model.attempt(model.history(0), [&] {
    for (std::int32_t first = 0; first < model.features.count; first += parallel) {
      const std::int32_t left = model.features.count - first;
      step_together(model, parallel < left ? parallel : left, [&](std::int32_t turn) {
        return static_cast<std::int32_t>((start + static_cast<std::uint64_t>(first + turn) * stride) % count);
      });
    }
  });
  if (!(gain >= 0)) parallel = parallel > 1 ? parallel / 2 : 1;
  return gain;
}

}  // namespace sheaf::linear
