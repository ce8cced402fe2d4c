// Whether a search finds more than chance would.
#pragma once

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// Repeats the search with labels in random order, as often as the options state, with `steps` before the model as
/// requested. Labels move between rows; if all rows of each group have one label, between groups of the same size; if
/// groups have several labels, within each group.
template <class T>
PermutationTest permutation_test(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                 const PipelineOptions& steps, const SearchResult& result);

}  // namespace sheaf::engine
