// The plots of a selection, each an SVG element.
#pragma once

#include <cstddef>
#include <string>

#include <sheaf/selection.hpp>

namespace sheaf::report {

/// Classes that have a lane in class_lanes.
constexpr std::size_t most_lanes = 12;

/// The score of each pick.
std::string selection_curve(const SelectionResult& report);
/// Relevance and redundancy of each pick.
std::string relevance_curve(const SelectionResult& report);
/// The information that pairs of selected features share: 2 I(A;B) / (H(A) + H(B)), 0 to 1.
std::string redundancy_map(const SelectionResult& report);
/// One lane for each of the first classes: its rows over the feature's states.
std::string class_lanes(const SelectionResult& report, const StateDistribution& distribution);

}  // namespace sheaf::report
