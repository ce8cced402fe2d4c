// Posterior error probabilities (PEPs): how likely each single PSM is incorrect, given its score. They are computed as
// in Percolator 3.08 unless a function says otherwise. PSMs go from the best to the worst.
#pragma once

#include <span>
#include <vector>

#include "rescore/confidence/confidence.hpp"

namespace sheaf::rescore {

/// A monotone regression of "is a decoy" on the rank (or, if `on_scores`, on the score): the decoys' share d among PSMs
/// of about that rank gives d / (1 - d).
std::vector<double> isotonic_peps(const Ranking& ranking, bool on_scores = false);

/// By pooling adjacent violators on the differences of q * rank of the targets; decoys are interpolated by their q. A
/// PEP may exceed 1, and be no number for decoys between targets of one q.
std::vector<double> pooled_peps(const Ranking& ranking, std::span<const double> q);

/// A penalised logistic spline over 500 bins of scores (Kall, Storey, Noble 2008). `mixed`: decoys are corrected as by
/// mix-max with `pi0`. Fewer than 4 distinct scores are an Error.
std::vector<double> spline_peps(const Ranking& ranking, bool mixed, double pi0);

/// The same of scores whose sign is changed first, as Percolator does for proteins: its choice of the penalty depends
/// on the direction.
std::vector<double> negated_spline_peps(const Ranking& ranking);

/// Not in Percolator: isotonic_peps() for decoys that stand for rates * (incorrect targets): the expected number of
/// incorrect targets among each PSM's neighbours in rank, divided by that of targets; at most 1 and never falling. With
/// the correction of mix-max, the mean PEP of accepted targets agrees with their q-value.
std::vector<double> corrected_peps(const Ranking& ranking, const FdrRule& rule);

/// The non-decreasing sequence nearest to `values` (pool adjacent violators).
std::vector<double> pool_adjacent_violators(std::vector<double> values);

}  // namespace sheaf::rescore
