// A description of the training rows that the final model of a search keeps.
#pragma once

#include <span>

#include <sheaf/search.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf::engine {

/// Describes the training rows in the model's pipeline, and sets the standard deviations that weights are compared by.
/// Both summarise the features once. `known`: summaries of the dataset's features, if there are any.
template <class T>
void describe_model(const Context& context, const Dataset<T>& dataset, std::span<const FeatureSummary> known,
                    SearchResult& result);

}  // namespace sheaf::engine
