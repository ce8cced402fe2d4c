// Features as the training rows of many splits see them, in one pass over the dataset.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/profile.hpp>

namespace sheaf {

/// `draws`: how often each row is in each split (rows x splits, those of a row side by side), for at least one row of
/// each split more than 0. The result is features x splits, those of a feature side by side; rows that are drawn k
/// times count k times. `rows` gets the number of rows of each split.
template <class T>
std::vector<FeatureSummary> summarize_splits(const Context& context, const Dataset<T>& dataset,
                                             std::span<const float> draws, std::int32_t splits,
                                             std::vector<double>* rows = nullptr);

/// What summarize() says of each feature, without its other figures.
template <class T>
std::vector<FeatureSummary> summarize_features(const Context& context, const Dataset<T>& dataset);

}  // namespace sheaf
