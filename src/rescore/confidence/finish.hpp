// From scores to results: scores of the folds are made comparable, and every match of a list gets its q-value and
// posterior error probability. Scores, folds and lists are on the device of the verbs.
#pragma once

#include <string>
#include <vector>

#include <sheaf/rescore.hpp>

#include "rescore/confidence/ops.hpp"

namespace sheaf::rescore {

/// Puts the scores of each fold on one scale: 0 is the worst score with q < `rate`, -1 the median decoy. The same is
/// done to `weights` if there are any. Under mix-max, q-values of folds use their own pi0.
struct FoldScaling {
  double rate = 0.01;
  bool mix_max = false;
  bool tolerant = false;  ///< Percolator's --no-terminate
  RescoreRules rules = RescoreRules::safe;
  bool rescale = true;  ///< false: separation is checked and random numbers are drawn all the same
};
void merge_folds(ConfidenceOps& ops, const Array<std::uint16_t>& folds, const FoldScaling& scaling,
                 Array<double>& scores, std::vector<std::vector<double>>& weights, ParkMiller& random,
                 std::vector<std::string>& warnings);

/// The same for the scores of one list, with its pi0.
void rescale_list(ConfidenceOps& ops, RankedList& list, double pi0, const FoldScaling& scaling,
                  std::vector<std::string>& warnings);

/// Checks that targets and decoys overlap, and estimates pi0 if it is wanted (else 1).
double check_and_estimate_pi0(ConfidenceOps& ops, const RankedList& list, bool mix_max, bool tolerant,
                              ParkMiller& random, std::vector<std::string>& warnings);

/// q-values and PEPs of a list.
RescoreLevel make_level(ConfidenceOps& ops, const RankedList& list, double pi0, bool mix_max,
                        const RescoreOptions& options);

}  // namespace sheaf::rescore
