// How sure one may be of PSMs that are ranked by a score: false discovery rates from decoys, as Percolator 3.08
// estimates them. All functions take PSMs from the best to the worst; equal scores share one value.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rescore/training/random.hpp"

namespace sheaf::rescore {

/// Scores in descending order, and which of them are targets.
struct Ranking {
  std::span<const double> scores;
  std::span<const std::uint8_t> targets;

  std::size_t size() const { return scores.size(); }
  bool ends_tie(std::size_t i) const { return i + 1 == scores.size() || scores[i] != scores[i + 1]; }
};

struct FdrRule {
  double pi0 = 1;           ///< share of incorrect targets; below 1: mix-max (Keich, Kertesz-Farkas, Noble 2015)
  bool plus_one = true;     ///< counts one decoy more than there are
  double decoy_factor = 1;  ///< incorrect targets that one decoy stands for
};

/// For each decoy, from the worst to the best: targets and decoys that score at most as well.
struct CountsBelow {
  std::vector<double> targets, decoys;

  explicit CountsBelow(const Ranking& ranking);
  /// Mix-max: how likely a correct target scores no better than the worst of the `best_decoys` best decoys.
  double correct_share(std::size_t best_decoys, double pi0) const;
};

/// Incorrect targets expected among those that score as well as each PSM or better.
std::vector<double> expected_errors(const Ranking& ranking, const FdrRule& rule);

/// The least false discovery rate at which each PSM, target or decoy, would be accepted.
std::vector<double> q_values(const Ranking& ranking, const FdrRule& rule);

/// For the targets, ascending: the share of decoys that score as well.
std::vector<double> p_values(const Ranking& ranking);

/// Ascending p-values, wherever they are.
struct PValues {
  std::int64_t size = 0;
  std::function<std::vector<std::int64_t>(std::span<const double> limits)> count_below;  ///< each limit
  std::function<std::vector<double>(std::span<const std::int64_t> places)> at;
};

/// Whether no target has a p-value as large as an incorrect one would: nothing can be estimated then.
bool is_separated(const PValues& p);

/// The share of incorrect targets (Storey 2002), at the lambda whose estimate is the most stable in 100 bootstraps.
double estimate_pi0(const PValues& p, ParkMiller& random);

}  // namespace sheaf::rescore
