// Pairs of rows of which one is known to have had its event before the other.
#pragma once

#include <cstdint>
#include <span>

#include <sheaf/solvers/survival.hpp>

namespace sheaf {

/// Sums over pairs of the products of their weights.
struct ConcordantPairs {
  double pairs = 0;
  double concordant = 0;  ///< the row whose event came first has the larger value
  double tied = 0;        ///< both have the same value

  /// NaN if there are no pairs.
  double share() const { return (concordant + tied / 2) / pairs; }
};

/// One of the rows had its event before the time of the other, or at the time at which the other was censored, and
/// after the other entered; both are of one stratum. `weights`: empty: all 1. By sorts and a tree of sums: O(n log n).
ConcordantPairs concordant_pairs(std::span<const double> values, const RiskTimes& rows,
                                 std::span<const std::uint8_t> events, std::span<const double> weights = {});

}  // namespace sheaf
