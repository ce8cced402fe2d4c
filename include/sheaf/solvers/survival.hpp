// Times of events.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sheaf {

/// When rows are at risk: after they entered, up to their time, among rows of their stratum.
struct RiskTimes {
  std::vector<double> times = {};         ///< when the event came or, of a censored row, until when it was followed
  std::vector<double> entries = {};       ///< after which a row is followed, before its time; empty: from the start
  std::vector<std::int32_t> strata = {};  ///< each has a baseline hazard of its own; empty: all rows are one
};

/// Times that differ by rounding alone made equal, as survival::coxph does (its `timefix`): neighbours among the
/// different times that are no more than 1.5e-8 apart, or no more than this share of the mean time, become the first of
/// them. Cox models take times this way.
std::vector<double> tie_times(std::span<const double> times);

}  // namespace sheaf
