// The choice among the points of a level.
#pragma once

#include <vector>

#include <sheaf/search.hpp>

#include "family/search.hpp"

namespace sheaf::engine {

/// Among the points of a level, which are places in `points`, in the order of how simple their models are. Between
/// points of the same score decides how sure models are of the right class, else how well they order the rows.
Chosen choose_among(const FamilySearch& family, const SearchOptions& options, const std::vector<Point>& points,
                    const SearchLevel& level);

}  // namespace sheaf::engine
