// Which features the chosen models of outer resamples agree on.
#pragma once

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// Sets `stability`, `overall` and `best_overall` of a result whose outer resamples are known.
template <class T>
void add_stability(const Context& context, const Dataset<T>& dataset, SearchResult& result);

}  // namespace sheaf::engine
