// The order of classes and levels, which does not depend on that of the rows.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sheaf {

/// The places of the names in their order: numbers by value, then words by alphabet.
std::vector<std::size_t> sorted_places(std::span<const std::string> names);

/// places[k] is the name that comes k-th: for each name, which it becomes.
std::vector<std::int32_t> ranks_of(std::span<const std::size_t> places);

}  // namespace sheaf
