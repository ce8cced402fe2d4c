// The place of a model in its search, for readers of the journal.
#pragma once

#include <span>
#include <string>

#include <sheaf/search.hpp>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// {"level", "split", "point"}; see SearchLog. `split`: its number in the plan.
std::string place_json(const Plan& plan, std::int32_t split, std::span<const SearchAxis> axes, const Point& point);

}  // namespace sheaf::engine
