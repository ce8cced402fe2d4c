// Weights of features, learnt on the rows that a model is trained on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/neighbors.hpp>

#include "data/labels.hpp"

namespace sheaf::neighbors {

/// One a feature, of mean 1; those of the options if given, none if there are none. `rows`: places of the training
/// rows, ascending; empty: all. A regression has no weights but given ones: an Error.
template <class T>
std::vector<double> learn_weights(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                                  std::span<const std::int32_t> rows, const KnnOptions& options);

}  // namespace sheaf::neighbors
