// The models that are compared if the choice is left to the data.
#pragma once

#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// The kinds that the families offer for such data (see Family::automatic_kinds), simplest first, each behind the steps
/// of the options. Features of dense tables are scaled for all of them. If features are counts, the simplest kind is
/// tried on them as they are, and all kinds on their logarithms.
template <class T>
std::vector<Candidate> automatic_candidates(const Dataset<T>& dataset, const SearchOptions& options);

}  // namespace sheaf::engine
