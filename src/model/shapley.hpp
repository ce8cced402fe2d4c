// Shapley values of a game: how the value of all players together is shared among them (Shapley 1953).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sheaf {

/// The value of coalitions on a walk that begins with the empty one: toggles[k] is the player that joins or, if it is
/// in the coalition, leaves it; the k-th result is the value behind that step.
using WalkValues = std::function<std::vector<double>(std::span<const std::int32_t> toggles)>;

/// By the values of all 2^players coalitions. `empty`: the value of the empty one.
std::vector<double> exact_shapley(std::int32_t players, double empty, const WalkValues& values);

/// Mean marginal values over `orders` of all players and their reverses (Castro, Gomez, Tejada 2009; antithetic:
/// Mitchell and others 2022). Whatever the orders, they add up to the value of all players less that of none.
std::vector<double> sampled_shapley(std::int32_t players, double empty,
                                    std::span<const std::vector<std::int32_t>> orders, const WalkValues& values);

}  // namespace sheaf
