// Times of events.
#pragma once

#include <span>
#include <vector>

namespace sheaf {

/// Times that differ by rounding alone made equal, as survival::coxph does (its `timefix`): neighbours among the
/// different times that are no more than 1.5e-8 apart, or no more than this share of the mean time, become the first of
/// them. Cox models take times this way.
std::vector<double> tie_times(std::span<const double> times);

}  // namespace sheaf
