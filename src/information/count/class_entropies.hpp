// Entropies and relevance of each feature, from its counts in each class: known before any pair is counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "information/count/fixed_log.hpp"
#include "information/count/ops.hpp"
#include "information/count/ordered.hpp"

namespace sheaf::information {

/// Counts and entropy of the class itself.
struct ClassEntropy {
  std::vector<std::uint32_t> counts;
  double entropy = 0;
  std::int64_t sum = 0;  ///< of c log2 c, fixed point
};

/// Entropies of the class and of all features.
struct Entropies {
  FixedLog log;
  ClassEntropy classes;
  std::vector<FeatureEntropies> features;
};

/// For every feature; the relevance in FEAST's order and rounding.
Entropies find_entropies(const Context& context, const Problem& problem);

/// The weights of each row side by side: [row * resamples + r].
std::vector<std::uint32_t> interleave(std::span<const std::vector<std::uint32_t>> resamples);

/// The same for each resample, all counted in one pass over the dataset.
std::vector<Entropies> find_entropies_of_resamples(const Context& context, const Problem& problem,
                                                   std::span<const std::vector<std::uint32_t>> resamples);

/// The entropies of merged states, which are no feature.
FeatureEntropies entropies_of(const Problem& problem, const Entropies& entropies, std::span<const std::uint32_t> codes,
                              std::int64_t states);

/// All terms of a pair from its order-free sums. Inline, so that terms which a criterion does not read are not
/// computed.
inline PairTerms terms_of(const Entropies& entropies, const FeatureEntropies& partner,
                          const FeatureEntropies& candidate, const JointSums& sums) {
  const FixedLog& log = entropies.log;
  const std::int64_t all = log(log.total());
  const std::int64_t y = entropies.classes.sum;
  PairTerms terms;
  terms.between = log.bits(sums.pair - partner.sum - candidate.sum + all);
  terms.joint_with_class = log.bits(sums.with_class - sums.pair - y + all);
  terms.joint_entropy = log.bits(all - sums.with_class);
  terms.between_in_class = log.bits(sums.with_class + y - partner.class_sum - candidate.class_sum);
  terms.relevance_beyond = log.bits(sums.with_class + partner.sum - sums.pair - partner.class_sum);
  return terms;
}

/// One partner and features that follow each other.
struct PairColumn {
  const Entropies& entropies;
  FeatureEntropies partner;
  std::span<const FeatureEntropies> features;
  std::span<const JointSums> sums;  ///< of each of them

  PairTerms operator[](std::size_t k) const { return terms_of(entropies, partner, features[k], sums[k]); }
};

}  // namespace sheaf::information
