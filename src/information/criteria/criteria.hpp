// The parts of a criterion: terms of one selected feature and one candidate, how they add up, and upper bounds of terms
// that are not counted yet. The rows are in criteria.cpp; no other code names a criterion.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// Information of a selected feature S, a candidate J and the class Y. A criterion lists the terms that it reads in
/// `needs`.
enum Term : std::uint8_t {
  between = 1,            ///< I(S;J)
  joint_with_class = 2,   ///< I(SJ;Y), of the merged states
  joint_entropy = 4,      ///< H(SJ,Y)
  between_in_class = 8,   ///< I(S;J|Y)
  relevance_beyond = 16,  ///< I(J;Y|S)
};
using Terms = std::uint8_t;
inline constexpr int term_count = 5;

struct PairTerms {
  double between = 0;
  double joint_with_class = 0;
  double joint_entropy = 0;
  double between_in_class = 0;
  double relevance_beyond = 0;
};

/// Entropies of one feature; known before any pair is counted.
struct FeatureEntropies {
  double entropy = 0;           ///< H(X)
  double joint_with_class = 0;  ///< H(X,Y)
  double relevance = 0;         ///< I(X;Y), as FEAST rounds it
  std::int64_t sum = 0;         ///< of c log2 c over its states, in the fixed point of FixedLog
  std::int64_t class_sum = 0;   ///< the same over (state, class)
};

/// Upper bounds of every pair of a dataset.
struct EntropyLimits {
  double class_entropy = 0;  ///< H(Y)
  double most_entropy = 0;   ///< log2 of the number of rows: no entropy is larger
};

struct Weights {
  double beta = 1;
  double gamma = 1;
};

enum class Accumulation : std::uint8_t {
  sum,      ///< over all selected, in the order of selection
  minimum,  ///< over all selected
  latest,   ///< of the merged states of all selected: counted anew each round
};

struct PairColumn;

/// One selected feature's part in a candidate's score: of a pair, or of one candidate after another.
struct Part {
  double (*of_pair)(const PairTerms& terms, const Weights& weights) = nullptr;
  void (*of_column)(const PairColumn& column, const Weights& weights, std::span<double> out) = nullptr;
};

/// The score from the accumulated parts of `selected` features: of a candidate, or of one after another.
struct Score {
  double (*of_one)(double relevance, double accumulated, std::int64_t selected) = nullptr;
  void (*of_column)(std::span<const FeatureEntropies> features, std::span<const double> accumulated,
                    std::int64_t selected, std::span<double> out) = nullptr;
};

/// The part that would raise a score most (an upper bound), known before counting: of a pair, or of one candidate after
/// another with one selected feature.
struct Bound {
  double (*of_pair)(const FeatureEntropies& selected, const FeatureEntropies& candidate, const EntropyLimits& limits,
                    const Weights& weights) = nullptr;
  void (*of_column)(const FeatureEntropies& selected, std::span<const FeatureEntropies> candidates,
                    const EntropyLimits& limits, const Weights& weights, std::span<double> out) = nullptr;
};

struct Criterion {
  CriterionInfo info;
  Terms needs = 0;
  Accumulation accumulation = Accumulation::sum;
  double lowest = 0;      ///< a score must be above it to be picked
  bool averaged = false;  ///< the gain is the score over the number selected
  Part part = {};
  Bound most = {};
  Score score = {};
  /// How far the score moves, at most, when every term moves by 1, for one selected feature.
  double (*sensitivity)(double class_entropy, const Weights& weights) = nullptr;
  /// The part, if it is certain although each term may be off by `error`; otherwise NaN. `limit`: the minimum is no
  /// larger than that, whatever this part is. nullptr: never certain.
  double (*certain)(const PairTerms& terms, double error, double limit) = nullptr;
};

/// nullptr: no criterion of the greedy kind has that name (fcbf, relief, relieff have their own loops).
const Criterion* greedy_criterion(std::string_view name);
/// The same, with loops over columns for an instruction set.
template <class Set>
const Criterion* greedy_criterion_for(std::string_view name);

/// The weights the criterion works with: cife is betagamma with (1, 1), and so on.
Weights weights_of(const Criterion& criterion, const SelectionOptions& options);

/// Whether both score every candidate alike with these options.
bool mean_the_same(const Criterion& a, const Criterion& b, const SelectionOptions& options);

}  // namespace sheaf::information
