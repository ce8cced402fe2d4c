// The selections of many splits of one dataset as one request.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <sheaf/selection.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf::information {

/// Whether a split may select a feature, which is described as its training rows, so many of them, show it.
using MaySelect = std::function<bool(const FeatureSummary& feature, double rows)>;

/// The features that each split selects by a criterion on states, best first: those that select() chooses from a copy
/// of its training rows, but nothing of the dataset is copied. `draws`: how often each row is in each split, rows x
/// splits. Bins are of equal width, and the labels are classes. No values are missing. A split that may select no
/// feature selects none.
template <class T>
std::vector<std::vector<std::int64_t>> select_splits(const Context& context, const Dataset<T>& dataset,
                                                     std::span<const float> draws, std::int32_t splits,
                                                     const SelectionOptions& options, const BinningOptions& binning,
                                                     const MaySelect& may_select);

}  // namespace sheaf::information
