// What chosen models predict for the rows that they did not see, and what is learnt from that.
#pragma once

#include "search/plan.hpp"

namespace sheaf::engine {

/// Trains the chosen points again, each on the training rows of its split, as its own model: the pipeline included.
/// Fills result.held_out and, where it was asked for, result.importance; from the former the calibration and the
/// threshold of result.model.
template <class T>
void use_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels, const Plan& plan,
                  SearchResult& result);

}  // namespace sheaf::engine
