#include "linear/losses/target_range.hpp"

#include <cmath>

#include "core/fail.hpp"

namespace sheaf::linear {
namespace {

bool within(TargetRange range, double y) {
  switch (range) {
    case TargetRange::nonnegative:
      return y >= 0;
    case TargetRange::counts:
      return y >= 0 && y == std::floor(y);
    case TargetRange::positive:
      return y > 0;
    case TargetRange::classes:
    case TargetRange::any:
    case TargetRange::survival:
      break;
  }
  return true;
}

std::string_view in_words(TargetRange range) {
  if (range == TargetRange::counts) return "whole numbers of 0 or more";
  return range == TargetRange::positive ? "numbers above 0" : "numbers of 0 or more";
}

}  // namespace

void check_targets(TargetRange range, std::span<const double> targets, std::int32_t columns, std::string_view source,
                   std::string_view who) {
  for (std::size_t at = 0; at < targets.size(); ++at)
    if (!within(range, targets[at]))
      fail("{}: the target of row {} is {}; {} is for {}", source, at / static_cast<std::size_t>(columns) + 1,
           targets[at], who, in_words(range));
}

}  // namespace sheaf::linear
