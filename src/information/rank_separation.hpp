// How well the ranks of a feature separate the classes: what decides between features of the same information.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// For each feature the share of the variance of its ranks that lies between the classes, from 0 to 1: Kruskal and
/// Wallis's statistic over its largest value. Of levels, the same of their columns of 0 and 1 together: Goodman and
/// Kruskal's tau. Computed from whole numbers, so that neither the order of the rows nor a monotone change of the
/// values matters. `weights`: how often each row counts, one a row; empty: once. Missing values are left out. The
/// arguments must outlive the result.
template <class T>
TieScores rank_separation(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> classes,
                          std::vector<std::uint32_t> weights = {});

}  // namespace sheaf::information
