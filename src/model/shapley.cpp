#include "model/shapley.hpp"

#include <bit>
#include <cstddef>

namespace sheaf {

std::vector<double> exact_shapley(std::int32_t players, double empty, const WalkValues& values) {
  const auto count = std::size_t{1} << players;
  std::vector<std::int32_t> toggles;  // Gray code: each coalition once
  for (std::size_t k = 1; k < count; ++k) toggles.push_back(std::countr_zero(k));
  std::vector<double> of_coalition(count, empty);
  const auto found = values(toggles);
  std::size_t coalition = 0;
  for (std::size_t k = 0; k < toggles.size(); ++k) {
    coalition ^= std::size_t{1} << toggles[k];
    of_coalition[coalition] = found[k];
  }
  // A coalition of s of the others stands for s! (players - 1 - s)! of the players! orders.
  std::vector<double> weights(static_cast<std::size_t>(players));
  double weight = players > 0 ? 1.0 / players : 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    weights[s] = weight;
    if (s + 1 < weights.size()) weight *= static_cast<double>(s + 1) / static_cast<double>(weights.size() - 1 - s);
  }
  std::vector<double> shares(weights.size(), 0.0);
  for (std::size_t j = 0; j < shares.size(); ++j)
    for (std::size_t others = 0; others < count; ++others) {
      const auto mine = std::size_t{1} << j;
      if ((others & mine) == 0)
        shares[j] += weights[static_cast<std::size_t>(std::popcount(others))] *
                     (of_coalition[others | mine] - of_coalition[others]);
    }
  return shares;
}

std::vector<double> sampled_shapley(std::int32_t players, double empty,
                                    std::span<const std::vector<std::int32_t>> orders, const WalkValues& values) {
  std::vector<std::int32_t> toggles;
  for (const auto& order : orders)  // in by the order, then out by it: what is left are the coalitions of the reverse
    for (int way = 0; way < 2; ++way) toggles.insert(toggles.end(), order.begin(), order.end());
  const auto found = values(toggles);
  std::vector<double> shares(static_cast<std::size_t>(players), 0.0);
  std::vector<bool> inside(shares.size(), false);
  double before = empty;
  for (std::size_t k = 0; k < toggles.size(); ++k) {
    const auto j = static_cast<std::size_t>(toggles[k]);
    shares[j] += inside[j] ? before - found[k] : found[k] - before;
    inside[j] = !inside[j];
    before = found[k];
  }
  for (double& share : shares) share /= 2 * static_cast<double>(orders.size());
  return shares;
}

}  // namespace sheaf
