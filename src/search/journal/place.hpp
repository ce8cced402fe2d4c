// The place of a model in its search, for readers of the journal.
#pragma once

#include <span>

#include <sheaf/search.hpp>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// `split`: its number in the plan.
ModelPlace model_place(const Plan& plan, std::int32_t split, std::span<const SearchAxis> axes, const Point& point);

}  // namespace sheaf::engine
