// The rounds of a search: see engine.cpp.
#pragma once

#include <span>
#include <vector>

#include <sheaf/search.hpp>

#include "family/search.hpp"
#include "search/plan/plan.hpp"
#include "search/plan/strategy.hpp"

namespace sheaf::engine {

/// Sets what a search finds: points, levels, outer folds, the final model, the path. `strategies` and `work` are of
/// each of the family's models. If the log says that another process publishes the results, only that is set.
void run_search(const Context& context, const FamilySearch& family, const Plan& plan, const SearchOptions& options,
                const std::vector<StrategyOptions>& strategies, std::span<const double> work, SearchLog* log,
                SearchResult& result);

}  // namespace sheaf::engine
