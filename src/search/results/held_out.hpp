// What chosen models predict for the rows that they did not see, and what is learnt from that.
#pragma once

#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// The model of a point, trained on the training rows of a split alone: the pipeline included.
template <class T>
Model train_on_split(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t split,
                     const SearchResult& result, const Point& point);

/// Trains the chosen points again, each on the training rows of its split, as its own model: the pipeline included.
/// Fills result.held_out and, where it was asked for, result.importance; from the former the calibration and the
/// threshold of result.model.
template <class T>
void use_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels, const Plan& plan,
                  SearchResult& result);

}  // namespace sheaf::engine
