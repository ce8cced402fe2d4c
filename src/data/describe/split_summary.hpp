// Features as the training rows of many splits see them, in one pass over the dataset.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf {

/// Callback that gets a feature and its summary of each split; several threads call it at once.
using UseSummaries = std::function<void(std::int64_t feature, std::span<const FeatureSummary> of_splits)>;

/// `draws`: how often each row is in each split (rows x splits, those of a row side by side), for at least one row of
/// each split more than 0; rows that are drawn k times count k times. `rows` gets the number of rows of each split
/// before `use` is called.
template <class T>
void for_split_summaries(const Context& context, const Dataset<T>& dataset, std::span<const float> draws,
                         std::int32_t splits, const UseSummaries& use, std::vector<double>* rows = nullptr);

/// The same as a table: features x splits, those of a feature side by side.
template <class T>
std::vector<FeatureSummary> summarize_splits(const Context& context, const Dataset<T>& dataset,
                                             std::span<const float> draws, std::int32_t splits);

/// The summaries that summarize() has for each feature, without its other figures.
template <class T>
std::vector<FeatureSummary> summarize_features(const Context& context, const Dataset<T>& dataset);

}  // namespace sheaf
