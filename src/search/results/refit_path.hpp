// The weights along the alphas that lead to the final model of a search.
#pragma once

#include <sheaf/search.hpp>

#include "family/search.hpp"

namespace sheaf::engine {

/// Trains the path on all rows, if the chosen model has one, and keeps the features with the largest effects (weight
/// times standard deviation) in the final model. The path of an outer resample, which the caller requested, stays.
void add_refit_path(const Context& context, const FamilySearch& search, SearchResult& result);

}  // namespace sheaf::engine
