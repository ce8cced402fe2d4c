// The plots of a dataset's profile, each an SVG element.
#pragma once

#include <string>

#include <sheaf/solvers/profile.hpp>

namespace sheaf::report {

/// Rows of each class; the largest first if there are many.
std::string class_balance(const Profile& profile);
/// Numeric targets only.
std::string target_histogram(const Profile& profile);
/// Rows by how many of their features are not zero.
std::string row_nonzeros(const Profile& profile);

/// Whether features are shown by how often they are not zero, or (data without zeros) by mean and spread.
bool has_prevalence(const Profile& profile);
/// Every feature: share of rows that have it against its mean there, or mean against standard deviation.
std::string feature_cloud(const Profile& profile);

/// How many features are left when rarer (or less varying) ones are dropped.
std::string filter_curve(const Profile& profile);

/// All features by strength of association, and that of shuffled labels.
std::string association_histogram(const Profile& profile);
/// The strongest features by name, with the zone that chance reaches.
std::string strongest_features(const Profile& profile);
/// Minimum, mean, mean +- standard deviation and maximum of the features that vary most.
std::string feature_ranges(const Profile& profile);
/// For each of the strongest features, how many of each class have it (or the class's mean, if all have it).
std::string class_dots(const Profile& profile);

}  // namespace sheaf::report
