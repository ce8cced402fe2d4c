// The criteria, one row each. J(S) below is a candidate's score given the selected features S. Each matches FEAST's
// (Brown, Pocock, Zhao and Lujan 2012, and the programs published with it), including its order of additions.
#include "information/criteria/criteria.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/names.hpp"
#include "information/count/class_entropies.hpp"

namespace sheaf::information {
namespace {

constexpr double lowest_number = -std::numeric_limits<double>::max();

double most_joint(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits) {
  return std::min({limits.class_entropy, s.relevance + j.entropy, j.relevance + s.entropy});
}

double nothing(const PairTerms&, const Weights&) { return 0; }
double no_more(const FeatureEntropies&, const FeatureEntropies&, const EntropyLimits&, const Weights&) { return 0; }
double unbounded(const FeatureEntropies&, const FeatureEntropies&, const EntropyLimits&, const Weights&) {
  return std::numeric_limits<double>::infinity();
}

double joint_part(const PairTerms& t, const Weights&) { return t.joint_with_class; }
double joint_most(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits, const Weights&) {
  return most_joint(s, j, limits);
}

double ratio_part(const PairTerms& t, const Weights&) { return t.joint_with_class / t.joint_entropy; }
double ratio_most(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits, const Weights&) {
  const double smallest_entropy = std::max(s.joint_with_class, j.joint_with_class);
  return smallest_entropy > 0 ? std::min(1.0, most_joint(s, j, limits) / smallest_entropy) : 1.0;
}

/// I(S;J) = H(S) + H(J) - H(SJ), and no entropy is larger than log2 of the number of rows.
double least_between(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits) {
  return std::max(0.0, s.entropy + j.entropy - limits.most_entropy);
}

double between_least(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits,
                     const Weights&) {
  return least_between(s, j, limits);
}
double between_part(const PairTerms& t, const Weights&) { return t.between; }

/// The cost of redundancy, subtracted from the relevance.
double weighted_part(const PairTerms& t, const Weights& w) {
  const double redundant = w.beta * t.between;
  return redundant - w.gamma * t.between_in_class;
}
/// The least it can cost. I(S;J|Y) = I(S;J) + I(SJ;Y) - I(S;Y) - I(J;Y), and it is at most H(S|Y) and H(J|Y).
double weighted_most(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits,
                     const Weights& w) {
  const double in_class = std::min(s.entropy - s.relevance, j.entropy - j.relevance);
  const double interaction = most_joint(s, j, limits) - s.relevance - j.relevance;
  const double least = least_between(s, j, limits);
  const double at = w.beta >= w.gamma ? least : std::min(s.entropy, j.entropy);
  return std::max(w.beta * least - w.gamma * in_class, (w.beta - w.gamma) * at - w.gamma * interaction);
}

double interaction_part(const PairTerms& t, const Weights&) { return std::min(0.0, t.between_in_class - t.between); }

double interaction_most(const FeatureEntropies& s, const FeatureEntropies& j, const EntropyLimits& limits,
                        const Weights&) {
  return std::min(0.0, most_joint(s, j, limits) - s.relevance - j.relevance);
}

double beyond_part(const PairTerms& t, const Weights&) { return t.relevance_beyond; }

constexpr double uncertain = std::numeric_limits<double>::quiet_NaN();
constexpr double too_large = std::numeric_limits<double>::infinity();  ///< to be the minimum

double joint_certain(const PairTerms& t, double error, double limit) {
  return t.joint_with_class - error > limit ? too_large : uncertain;
}
double beyond_certain(const PairTerms& t, double error, double limit) {
  return t.relevance_beyond - error > limit ? too_large : uncertain;
}
double interaction_certain(const PairTerms& t, double error, double) {
  return t.between_in_class - t.between > 2 * error ? 0 : uncertain;
}

double relevance_alone(double relevance, double, std::int64_t) { return relevance; }
double accumulated_alone(double, double accumulated, std::int64_t) { return accumulated; }
double less_mean(double relevance, double accumulated, std::int64_t selected) {
  return relevance - accumulated / static_cast<double>(selected);
}
double less_sum(double relevance, double accumulated, std::int64_t) { return relevance - accumulated; }
double plus_sum(double relevance, double accumulated, std::int64_t) { return relevance + accumulated; }
double smaller(double relevance, double accumulated, std::int64_t) { return std::min(relevance, accumulated); }

double one(double, const Weights&) { return 1; }
double two(double, const Weights&) { return 2; }
double by_weights(double, const Weights& w) { return w.beta + w.gamma; }
/// I / H moves by at most 2 / H, and H(SJ,Y) is at least H(Y).
double by_entropy(double class_entropy, const Weights&) { return class_entropy > 0 ? 2 / class_entropy : 2; }

/// With a loop of its own for columns, so that nothing is called for each candidate.
template <double (*OfPair)(const PairTerms&, const Weights&)>
constexpr Part part() {
  return {OfPair, [](const PairColumn& column, const Weights& weights, std::span<double> out) {
            for (std::size_t k = 0; k < out.size(); ++k) out[k] = OfPair(column[k], weights);
          }};
}
template <double (*OfOne)(double, double, std::int64_t)>
constexpr Score score() {
  return {OfOne, [](std::span<const FeatureEntropies> features, std::span<const double> accumulated,
                    std::int64_t selected, std::span<double> out) {
            for (std::size_t k = 0; k < out.size(); ++k)
              out[k] = OfOne(features[k].relevance, accumulated[k], selected);
          }};
}

template <double (*OfPair)(const FeatureEntropies&, const FeatureEntropies&, const EntropyLimits&, const Weights&)>
constexpr Bound most() {
  return {OfPair, [](const FeatureEntropies& selected, std::span<const FeatureEntropies> candidates,
                     const EntropyLimits& limits, const Weights& weights, std::span<double> out) {
            for (std::size_t k = 0; k < out.size(); ++k) out[k] = OfPair(selected, candidates[k], limits, weights);
          }};
}

using A = Accumulation;

/// A sum of parts, which is the score; the gain is its mean.
Criterion summed(const CriterionInfo& info, Terms needs, Part part, Bound bound,
                 decltype(Criterion::sensitivity) sensitivity) {
  return {info, needs, A::sum, 0, true, part, bound, score<accumulated_alone>(), sensitivity};
}
/// Relevance minus redundancy.
Criterion reduced(const CriterionInfo& info, Terms needs, Part part, Bound bound, Score score,
                  decltype(Criterion::sensitivity) sensitivity = one, decltype(Criterion::certain) certain = nullptr) {
  return {info, needs, A::sum, lowest_number, false, part, bound, score, sensitivity, certain};
}
/// I(X;Y) - beta * sum of I(X;S) + gamma * sum of I(X;S|Y).
Criterion weighted(const CriterionInfo& info, Terms needs) {
  return reduced(info, needs, part<weighted_part>(), most<weighted_most>(), score<less_sum>(), by_weights);
}
/// The smallest part: it has no bound beforehand.
Criterion smallest(const CriterionInfo& info, Terms needs, Part part, Score score,
                   decltype(Criterion::certain) certain) {
  return {info, needs, A::minimum, -1, false, part, most<unbounded>(), score, one, certain};
}

const std::vector<Criterion>& rows() {
  static const std::vector<Criterion> table{
      summed({"jmi", "joint mutual information",
              "sum over selected s of I(Xs,X;Y): relevant and complementary; a good first choice"},
             joint_with_class, part<joint_part>(), most<joint_most>(), one),
      reduced({"mrmr", "minimum redundancy, maximum relevance", "I(X;Y) less the mean of I(Xs;X)"}, between,
              part<between_part>(), most<between_least>(), score<less_mean>()),
      smallest({"cmim", "conditional mutual information maximisation", "smallest of I(X;Y) and all I(X;Y|Xs)"},
               relevance_beyond, part<beyond_part>(), score<smaller>(), beyond_certain),
      summed(
          {"disr", "double input symmetrical relevance", "sum of I(Xs,X;Y) / H(Xs,X,Y): jmi, not drawn to many states"},
          joint_with_class | joint_entropy, part<ratio_part>(), most<ratio_most>(), by_entropy),
      smallest({"jmim", "joint mutual information maximisation", "smallest I(Xs,X;Y) over selected s"},
               joint_with_class, part<joint_part>(), score<accumulated_alone>(), joint_certain),
      reduced({"icap", "interaction capping", "I(X;Y) plus the sum of min(0, I(Xs;X|Y) - I(Xs;X))"},
              between | between_in_class, part<interaction_part>(), most<interaction_most>(), score<plus_sum>(), two,
              interaction_certain),
      {{"mim", "mutual information maximisation", "I(X;Y) alone: the fastest, blind to redundancy"},
       0,
       A::sum,
       -1,
       false,
       part<nothing>(),
       most<no_more>(),
       score<relevance_alone>(),
       one},
      weighted({"mifs", "mutual information feature selection", "I(X;Y) - beta * sum of I(Xs;X)", true}, between),
      weighted({"cife", "conditional infomax feature extraction", "I(X;Y) - sum of I(Xs;X) + sum of I(Xs;X|Y)"},
               between | between_in_class),
      weighted({"condred", "conditional redundancy", "I(X;Y) + sum of I(Xs;X|Y)"}, between_in_class),
      weighted({"betagamma", "any weights of redundancy", "I(X;Y) - beta * sum of I(Xs;X) + gamma * sum of I(Xs;X|Y)",
                true, true},
               between | between_in_class),
      {{"cmi", "conditional mutual information", "I(X;Y|all selected): exact, and soon without data to go by"},
       relevance_beyond,
       A::latest,
       0,
       false,
       part<beyond_part>(),
       most<unbounded>(),
       score<accumulated_alone>(),
       one},
      {{"fcbf", "fast correlation-based filter",
        "by symmetrical uncertainty; drops what a better feature predicts better", false, false, true}},
      {{"relief", "relief", "squared differences to the nearest hit and miss, as in FEAST", false, false, false, false,
        true}},
      {{"relieff", "ReliefF", "differences to k nearest hits and misses of each class", false, false, false, true,
        true}},
  };
  return table;
}

}  // namespace

template <class Set>
const Criterion* greedy_criterion_for(std::string_view name) {
  for (const Criterion& row : rows())
    if (row.info.name == name) return row.part.of_pair != nullptr ? &row : nullptr;
  return nullptr;
}

template const Criterion* greedy_criterion_for<sets::Compiled>(std::string_view);

Weights weights_of(const Criterion& criterion, const SelectionOptions& options) {
  const auto& info = criterion.info;
  const bool redundancy = (criterion.needs & between) != 0;
  const bool in_class = (criterion.needs & between_in_class) != 0;
  return {info.uses_beta ? options.beta : (redundancy ? 1.0 : 0.0),
          info.uses_gamma ? options.gamma : (in_class ? 1.0 : 0.0)};
}

bool mean_the_same(const Criterion& a, const Criterion& b, const SelectionOptions& options) {
  const Weights of_a = weights_of(a, options);
  const Weights of_b = weights_of(b, options);
  return a.part.of_pair == b.part.of_pair && a.score.of_one == b.score.of_one && a.accumulation == b.accumulation &&
         of_a.beta == of_b.beta && of_a.gamma == of_b.gamma;
}

}  // namespace sheaf::information

namespace sheaf {

std::span<const CriterionInfo> criteria() {
  static const auto list = [] {
    std::vector<CriterionInfo> infos;
    for (const auto& row : information::rows()) infos.push_back(row.info);
    return infos;
  }();
  return list;
}

const CriterionInfo& find_criterion(std::string_view name) {
  std::vector<std::string> known;
  for (const CriterionInfo& info : criteria()) {
    if (info.name == name) return info;
    known.emplace_back(info.name);
  }
  fail_unknown("criterion", name, known);
}

}  // namespace sheaf
