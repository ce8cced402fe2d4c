// The state of a forward selection, shared by the two ways to evaluate a round (lazy, by columns): the picks so far,
// the parts of a candidate's score, and how ties that depend on rounding are resolved.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "information/count/class_entropies.hpp"
#include "information/count/ops.hpp"
#include "information/criteria/criteria.hpp"

namespace sheaf::information {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The parts of a candidate's score so far, in the order of selection.
struct Accumulated {
  double value = 0;
  std::int32_t parts = 0;
};

struct Best {
  double score = -infinity;
  std::int64_t feature = -1;

  /// The first of equals wins, whatever order they come in.
  void offer(double other, std::int64_t candidate) {
    if (other < score || (other == score && (feature >= 0 && candidate > feature))) return;
    if (std::isnan(other)) return;
    score = other;
    feature = candidate;
  }
};

/// One selection under way.
class GreedyState {
 public:
  GreedyState(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
              const SelectionOptions& options, const Criterion& criterion);

  const Context& context;
  const Problem& problem;
  const Entropies& entropies;
  Ops& ops;
  const SelectionOptions& options;
  const Criterion& criterion;
  const Weights weights;
  const EntropyLimits limits;
  const bool ordered;  ///< every pair is counted in FEAST's order
  const int threads;   ///< for loops over candidates
  double term_error = 0;
  std::vector<FeatureEntropies> partners;
  std::vector<std::int64_t> selected;
  std::vector<std::uint8_t> taken;
  SelectionWork work;

  bool is(Accumulation kind) const { return criterion.accumulation == kind; }
  double start() const { return is(Accumulation::minimum) ? infinity : 0; }
  std::int32_t partner_count() const { return static_cast<std::int32_t>(partners.size()); }
  std::size_t features() const { return taken.size(); }
  std::int64_t candidates() const { return std::ssize(taken) - std::ssize(selected); }
  double score_of(std::size_t j, double accumulated) const {
    return criterion.score.of_one(entropies.features[j].relevance, accumulated, std::ssize(selected));
  }
  double part_of(const PairTerms& terms) const { return criterion.part.of_pair(terms, weights); }
  /// The largest distance of a score from FEAST's own rounding of it.
  double score_error() const;

  void include(Accumulated& to, double part) const {
    ++to.parts;
    if (is(Accumulation::sum)) to.value += part;
    if (is(Accumulation::minimum)) to.value = std::min(to.value, part);
    if (is(Accumulation::latest)) to.value = part;
  }

  std::vector<PairTerms> ordered_terms(std::span<const Pair> pairs) const;
  std::vector<JointSums> joint_sums(std::span<const Pair> pairs) const;
  bool needs_class_sums() const { return criterion.needs != between; }
  PairTerms quick_terms(const Pair& pair, const JointSums& sums) const {
    return terms_of(entropies, partners[static_cast<std::size_t>(pair.partner)],
                    entropies.features[static_cast<std::size_t>(pair.candidate)], sums);
  }

  /// Counts candidates that rounding might put first in FEAST's order. A single one is the winner as it is. `complete`:
  /// at least all candidates so close to the best.
  Best resolve_ties(const Best& best, std::span<const Best> complete);

  /// Whether rounding decides nothing: see SelectionOptions::tie_scores.
  bool scores_ties() const { return options.tie_scores != nullptr; }
  /// The best, or of candidates whose scores differ from it by rounding alone the one that the options prefer.
  Best prefer_tied(const Best& best, std::span<const Best> complete) const;

 private:
  std::vector<Accumulated> in_order_;  ///< in FEAST's order, if that was needed
};

/// Finds the best candidate of a round.
class Evaluation {
 public:
  Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  virtual ~Evaluation() = default;
  /// Call when a partner was added.
  virtual void widen() {}
  virtual Best find_best() = 0;
};

/// Counts candidates, highest upper bound first, until no other can beat the best or tie with it.
std::unique_ptr<Evaluation> make_lazy_evaluation(GreedyState& state);
/// Counts every candidate with every partner: for devices that take less time for that than for choosing.
std::unique_ptr<Evaluation> make_column_evaluation(GreedyState& state);

}  // namespace sheaf::information
