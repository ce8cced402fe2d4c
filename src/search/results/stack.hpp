// The stack of the best models of a search, learnt on what they predict for held-out rows.
#pragma once

#include <functional>
#include <vector>

#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/stack.hpp>

#include "family/search.hpp"
#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// Makes the stack of options.stack models one more model of the result, which is chosen on every level, and the final
/// model. Members are the best points of the best models of a level. On each split the stack is scored with weights
/// that were learnt without the rows of that split, on each outer fold with those of the search without its rows. If
/// fewer than two models can be members, a note states it and the best model is the final one.
template <class T>
void add_stack(const Context& context, const Dataset<T>& dataset, const FamilySearch& family, const Plan& plan,
               SearchResult& result);

/// The stack of a split of the level over all rows or of an outer fold, with its members trained on the split alone.
template <class T>
Model train_stack(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t split,
                  const SearchResult& result);

/// Adds to the members what models keep of the rows that they were trained on: names to all, and to the first the means
/// and spreads of features, so that a warning about these is given once.
template <class T>
void describe_stack(const Context& context, const Dataset<T>& dataset,
                    const std::function<std::vector<FeatureSummary>()>& summarize, Model& model);

}  // namespace sheaf::engine
