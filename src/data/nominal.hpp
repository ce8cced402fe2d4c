// Nominal features: their values are the numbers of levels, which have names and no order.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/dataset.hpp>

#include "core/fail.hpp"

namespace sheaf {

template <class T>
bool is_nominal(const Dataset<T>& dataset, std::int64_t feature) {
  return !dataset.levels.empty() && !dataset.levels[static_cast<std::size_t>(feature)].empty();
}

/// The level that `value` stands for.
template <class T>
const std::string& level_name(const Dataset<T>& dataset, std::int64_t feature, T value) {
  const auto& levels = dataset.levels[static_cast<std::size_t>(feature)];
  require(
      value >= 0 && value < static_cast<T>(levels.size()) && static_cast<T>(static_cast<std::size_t>(value)) == value,
      "a value of a nominal feature is none of its levels");
  return levels[static_cast<std::size_t>(value)];
}

}  // namespace sheaf
