// Features on different scales.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf {

/// From this ratio on, features on small scales hardly count.
inline constexpr double different_scales = 30;

/// How many times as large the standard deviations of large features are as those of small ones: the 95th and the 5th
/// percentile of those that vary; 1 if fewer than two do.
double scale_ratio(std::span<const FeatureSummary> features);

/// The warning that distances between the rows of a dense dataset follow its large features; nothing if they do not.
template <class T>
std::vector<std::string> unscaled_distances(const Context& context, const Dataset<T>& dataset);

}  // namespace sheaf
