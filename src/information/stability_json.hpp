// The stability that chance gives, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// null: it was not requested.
inline nlohmann::ordered_json chance_json(const StabilityByChance& chance) {
  if (chance.empty()) return nullptr;
  return {{"permutations", chance.values.size()},
          {"mean", chance.mean()},
          {"largest", chance.largest()},
          {"values", chance.values}};
}

}  // namespace sheaf::information
