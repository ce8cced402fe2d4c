// Labels and groups are numbered by first appearance; equal numbers are one label, however they are spelled.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sheaf {

class LabelNumbers {
 public:
  /// The id of a label, and whether it is new. `number` is NaN where the label is a word; `word` must then outlive
  /// this.
  std::pair<std::int32_t, bool> add(double number, std::string_view word) {
    const auto next = static_cast<std::int32_t>(numbers_.size() + words_.size());
    if (std::isnan(number)) {
      const auto [at, added] = words_.try_emplace(word, next);
      return {at->second, added};
    }
    const auto [at, added] = numbers_.try_emplace(std::bit_cast<std::uint64_t>(number + 0.0), next);
    return {at->second, added};
  }

 private:
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;  // by their bits; both zeros are +0
  std::unordered_map<std::string_view, std::int32_t> words_;
};

}  // namespace sheaf
