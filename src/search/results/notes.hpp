// Notes on the result of a search that its numbers alone do not show.
#pragma once

#include <sheaf/search.hpp>

#include "data/labels.hpp"

namespace sheaf::engine {

/// A best value at the edge of its grid, leave-one-out in parts, and classes so unequal that accuracy says little.
void add_notes(const Labels& labels, SearchResult& result);

}  // namespace sheaf::engine
