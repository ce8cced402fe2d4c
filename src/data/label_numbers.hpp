// Labels and groups are numbered by first appearance; equal numbers are one label, however they are spelled, and
// numbers that only rounding to double makes equal are not.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/text/exact_decimal.hpp"

namespace sheaf {

class LabelNumbers {
 public:
  /// The id of a label, and whether it is new. `text` is how it is spelled (empty: it is a number in memory) and must
  /// outlive this; `number` is NaN if that is a word.
  std::pair<std::int32_t, bool> add(double number, std::string_view text) {
    const auto next = static_cast<std::int32_t>(numbers_.size() + large_.size() + words_.size());
    if (std::isnan(number)) {
      const auto [at, added] = words_.try_emplace(text, next);
      return {at->second, added};
    }
    if (is_beyond_exact(number) && !text.empty()) {
      const auto [at, added] = large_.try_emplace(to_string(exact_decimal(text)), next);
      return {at->second, added};
    }
    const auto [at, added] = numbers_.try_emplace(std::bit_cast<std::uint64_t>(number + 0.0), next);
    return {at->second, added};
  }

 private:
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;  // by their bits; both zeros are +0
  std::unordered_map<std::string, std::int32_t> large_;
  std::unordered_map<std::string_view, std::int32_t> words_;
};

}  // namespace sheaf
