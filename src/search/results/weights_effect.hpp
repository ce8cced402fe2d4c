// Effect of feature weights in the chosen model of neighbours.
#pragma once

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// The chosen point is trained on the training rows of the first splits, with its weights and without; the predictions
/// of the held-out rows are compared. Empty if the final model is none of neighbours, or its features have no weights.
template <class T>
std::optional<FeatureWeightsEffect> weights_effect(const Context& context, const Dataset<T>& dataset, const Plan& plan,
                                                   const SearchResult& result);

}  // namespace sheaf::engine
