// How well a feature separates the classes: breaks ties between features of the same information.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// For each feature the share of its variance that lies between the classes, from 0 to 1: the mean of that of its ranks
/// (Kruskal and Wallis's statistic over its largest value), which outliers do not change, and that of its values (the
/// correlation ratio), which differs between features that all separate the classes. For nominal features, the share of
/// their columns of 0 and 1 together: Goodman and Kruskal's tau. The order of the rows does not matter, not even to the
/// last bit. `weights`: how often each row counts, one a row; empty: once. Missing values are left out. The arguments
/// must outlive the result.
template <class T>
TieScores class_separation(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> classes,
                           std::vector<std::uint32_t> weights = {});

}  // namespace sheaf::information
