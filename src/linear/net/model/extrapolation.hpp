// Anderson's acceleration of coordinate descent (Bertrand, Massias 2021): a leap to the mixture of the last passes
// whose steps cancel best.
#pragma once

#include "linear/net/model/quadratic_model.hpp"

namespace sheaf::linear {

/// The shares, of sum 1, that make the mixture of the remembered steps shortest. False: there are no such.
template <class Model>
SHEAF_HOST_DEVICE bool cancelling_shares(const Model& model, double* share) {
  constexpr int steps = history_length - 1;
  double gram[steps][steps];
  const auto step = [&](int h, std::int32_t k) {
    return double(model.history(h + 1)[k]) - double(model.history(h)[k]);
  };
  double trace = 0;
  for (int a = 0; a < steps; ++a)
    for (int b = 0; b <= a; ++b) {
      double sum = 0;
      model.over_features([&](std::int32_t k) { sum += step(a, k) * step(b, k); });
      gram[a][b] = gram[b][a] = model.team.sum(sum);
      if (a == b) trace += gram[a][a];
    }
  if (!(trace > 0)) return false;
  for (int a = 0; a < steps; ++a) {
    gram[a][a] += 1e-12 * trace;
    share[a] = 1;
  }
  for (int a = 0; a < steps; ++a) {  // Gauss's elimination; the matrix is positive definite
    if (!(gram[a][a] > 0)) return false;
    for (int r = a + 1; r < steps; ++r) {
      const double factor = gram[r][a] / gram[a][a];
      for (int c = a; c < steps; ++c) gram[r][c] -= factor * gram[a][c];
      share[r] -= factor * share[a];
    }
  }
  double sum = 0;
  for (int a = steps - 1; a >= 0; --a) {
    for (int c = a + 1; c < steps; ++c) share[a] -= gram[a][c] * share[c];
    share[a] /= gram[a][a];
    sum += share[a];
  }
  if (!(std::abs(sum) > 0)) return false;
  for (int a = 0; a < steps; ++a) share[a] /= sum;
  return true;
}

/// Returns the gain of the leap; 0 if it is not taken.
template <class Model>
SHEAF_HOST_DEVICE double extrapolate(Model& model) {
  using T = typename Model::Value;
  constexpr int steps = history_length - 1;
  double share[steps];
  if (!cancelling_shares(model, share)) return 0;
  const T* last = model.history(steps);
  const double gain = model.attempt(last, [&] {
    for (std::int32_t k = 0; k < model.features.count; ++k) {
      if (last[k] == 0) continue;
      double mixture = last[k];  // the shares' sum is 1 but for rounding, and a weight that does not move stays
      for (int h = 0; h < steps; ++h) mixture += share[h] * (double(model.history(h + 1)[k]) - double(last[k]));
      const T w = model.within_limits(k, static_cast<T>(mixture));
      const T step = w - last[k];
      if (step == 0) continue;
      const auto here = model.coordinate(k);
      model.apply(here, model.x.ahead(model.team, here.place), step, w);
      model.team.sync();
    }
  });
  return gain > 0 ? gain : 0;
}

}  // namespace sheaf::linear
