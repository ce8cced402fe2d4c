// From scores to results: scores of the folds are made comparable, the best match of each spectrum and peptide is
// kept, and every match gets its q-value and posterior error probability.
#pragma once

#include <string>
#include <vector>

#include <sheaf/rescore.hpp>

#include "rescore/training/train.hpp"

namespace sheaf::rescore {

/// Puts the scores of each fold on one scale: 0 is the worst score with q < `rate`, -1 the median decoy. The same is
/// done to `weights` where there are any. Under mix-max, q-values of folds use their own pi0.
struct FoldScaling {
  double rate = 0.01;
  bool mix_max = false;
  bool tolerant = false;  ///< Percolator's --no-terminate
  RescoreRules rules = RescoreRules::safe;
  bool rescale = true;  ///< false: separation is checked and random numbers are drawn all the same
};
void merge_folds(const TrainingRows& rows, std::span<const std::uint16_t> folds, const FoldScaling& scaling,
                 std::vector<double>& scores, std::vector<std::vector<double>>& weights, ParkMiller& random,
                 std::vector<std::string>& warnings);

/// The same for one list that is ranked already, with its pi0.
void rescale_by(const TrainingRows& rows, std::span<const std::int32_t> ranked, double pi0, const FoldScaling& scaling,
                std::vector<double>& scores, std::vector<std::string>& warnings);

/// Rows from the best to the worst.
std::vector<std::int32_t> ranked(const Context& context, const TrainingRows& rows, std::span<const double> scores,
                                 std::vector<std::int32_t> members);

/// Whether some spectrum has targets and decoys. Percolator does not look at the file.
SearchType find_search_type(const TrainingRows& rows, RescoreRules rules);

/// Of ranked rows, the first of each spectrum (file, scan and mass).
std::vector<std::int32_t> best_of_spectra(const TrainingRows& rows, std::span<const std::int32_t> ranked);

/// Of ranked rows, the first of each peptide and label. `peptide` gives a row's text.
std::vector<std::int32_t> best_of_peptides(const TrainingRows& rows, std::span<const std::int32_t> ranked,
                                           RescoreRules rules,
                                           const std::function<std::string_view(std::int32_t)>& peptide);

/// What makes two matches the same peptide: the text without the residues beside it.
std::string_view peptide_key(std::string_view peptide, RescoreRules rules);

/// Checks that targets and decoys overlap, and estimates pi0 where it is wanted (1 elsewhere).
double check_and_estimate_pi0(const TrainingRows& rows, std::span<const double> scores,
                              std::span<const std::int32_t> ranked, bool mix_max, bool tolerant, ParkMiller& random,
                              std::vector<std::string>& warnings);

/// q-values and PEPs of ranked rows.
RescoreLevel make_level(const TrainingRows& rows, std::span<const double> scores, std::vector<std::int32_t> ranked,
                        double pi0, bool mix_max, const RescoreOptions& options);

}  // namespace sheaf::rescore
