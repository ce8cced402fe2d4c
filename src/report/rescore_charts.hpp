// The plots of a rescoring, each an SVG element.
#pragma once

#include <string>

#include <sheaf/rescore.hpp>

namespace sheaf::report {

/// Targets accepted over the q-value, up to 0.1.
std::string accepted_curve(const RescoreResult& result);
/// Scores of target and decoy PSMs, with the boundary at q = `limit`.
std::string score_histogram(const RescoreResult& result, double limit);
/// The mean PEP of targets up to each q-value, up to 0.1.
std::string calibration_curve(const RescoreResult& result);

}  // namespace sheaf::report
