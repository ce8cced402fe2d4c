// Texts and summaries of results.
#pragma once

#include <span>
#include <string>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// "C = 0.1, gamma = 0.5".
std::string describe_point(std::span<const SearchAxis> axes, const Point& point);

/// The study once more for each of options.stability_permutations permutations of the labels.
template <class T>
StabilityByChance stability_by_chance(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                      const SearchOptions& options);

/// Sets `stability`, `overall` and `best_overall` of a result whose outer resamples are complete.
template <class T>
void add_stability(const Context& context, const Dataset<T>& dataset, SearchResult& result);

}  // namespace sheaf::engine
