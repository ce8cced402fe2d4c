// Predictions of chosen models for the rows that they did not see.
#pragma once

#include "search/plan.hpp"

namespace sheaf::engine {

/// Trains the chosen points again, each on the training rows of its split, as its own model: the pipeline included.
template <class T>
HeldOutPredictions predict_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                                    const Plan& plan, const SearchResult& result);

}  // namespace sheaf::engine
