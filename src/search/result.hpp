// What is said of a search's points.
#pragma once

#include <span>
#include <string>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// "C = 0.1, gamma = 0.5".
std::string describe_point(std::span<const SearchAxis> axes, const Point& point);

}  // namespace sheaf::engine
