// What is known of each feature before any pair is counted: entropies and relevance, from its counts in each class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "information/count/fixed_log.hpp"
#include "information/count/ops.hpp"
#include "information/ordered/ordered.hpp"

namespace sheaf::information {

/// The class itself.
struct ClassFacts {
  std::vector<std::uint32_t> counts;
  double entropy = 0;
  std::int64_t sum = 0;  ///< of c log2 c, fixed point
};

struct Facts {
  FixedLog log;
  ClassFacts classes;
  std::vector<FeatureFacts> features;
};

/// For every feature; the relevance in FEAST's order and rounding.
Facts find_facts(const Context& context, const Problem& problem);

/// The weights of each row side by side: [row * resamples + r].
std::vector<std::uint32_t> interleave(std::span<const std::vector<std::uint32_t>> resamples);

/// The same for each resample, all counted in one pass over the table.
std::vector<Facts> find_facts_of_resamples(const Context& context, const Problem& problem,
                                           std::span<const std::vector<std::uint32_t>> resamples);

/// Of states that are no feature: merged ones.
FeatureFacts facts_of(const Problem& problem, const Facts& facts, std::span<const std::uint32_t> codes,
                      std::int64_t states);

/// All terms of a pair from its order-free sums. Inline: what a criterion does not read is then not computed.
inline PairTerms terms_of(const Facts& facts, const FeatureFacts& partner, const FeatureFacts& candidate,
                          const JointSums& sums) {
  const FixedLog& log = facts.log;
  const std::int64_t all = log(log.total());
  const std::int64_t y = facts.classes.sum;
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
  const Facts& facts;
  FeatureFacts partner;
  std::span<const FeatureFacts> features;
  std::span<const JointSums> sums;  ///< of each of them

  PairTerms operator[](std::size_t k) const { return terms_of(facts, partner, features[k], sums[k]); }
};

}  // namespace sheaf::information
