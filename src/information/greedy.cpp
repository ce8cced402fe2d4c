// Forward selection: pick the candidate of the highest score, add it to S, repeat. Brown et al. 2012 give the scores;
// FEAST the order of all additions.
//
// Two things differ from the published loop, and neither changes a pick. (1) A candidate's score is accumulated part by
// part, one part for each selected feature, and a candidate whose parts so far plus upper bounds of the missing ones
// cannot reach the best score is left as it is: Fleuret's idea for cmim, here for every criterion. (2) Where examples
// are many, parts are counted in whatever order is fastest, with a bound on how far that is from FEAST's rounding, and
// only candidates closer to the best than the bound are counted once more in FEAST's order.
#include "information/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"
#include "information/columns.hpp"

namespace sheaf::information {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;

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

class Greedy {
 public:
  Greedy(const Context& context, const Problem& problem, const Facts& facts, Ops& ops, const SelectionOptions& options,
         const Criterion& criterion)
      : context_(context),
        problem_(problem),
        facts_(facts),
        ops_(ops),
        options_(options),
        criterion_(criterion),
        weights_(weights_of(criterion, options)),
        table_{facts.classes.entropy, std::log2(static_cast<double>(facts.log.total()))},
        ordered_(ops.kernel() == Kernel::ordered),
        by_columns_(ordered_ && ops.counts_columns()),
        screens_(ordered_ && criterion.certain != nullptr && ops.screens()),
        accumulated_(facts.features.size(), Accumulated{start(), 0}),
        settled_(facts.features.size(), Accumulated{start(), 0}),
        bounds_(facts.features.size(), start()),
        reach_(facts.features.size(), 0),
        taken_(facts.features.size(), 0) {
    const double states = problem.most_states();
    term_error_ = facts.log.error(is(Accumulation::latest) ? infinity : states * states * problem.class_count);
  }

  Selection run() {
    Selection result;
    result.criterion = criterion_.info.name;
    result.kernel = name_of(ops_.kernel());
    const auto left = std::ssize(facts_.features) - std::ssize(options_.preselected);
    const std::int64_t count = std::min<std::int64_t>(options_.count, left);
    Stage stage(context_.progress(), "selecting", count);
    for (const std::int64_t feature : options_.preselected) take(feature);
    while (std::ssize(result.selected) < count) {
      const Best best = selected_.empty() ? most_relevant() : settle();
      if (ends(best, result)) break;
      add(best, result);
      stage.advance(1);
    }
    result.work = work_;
    return result;
  }

 private:
  bool is(Accumulation kind) const { return criterion_.accumulation == kind; }
  double start() const { return is(Accumulation::minimum) ? infinity : 0; }
  std::int32_t partners() const { return static_cast<std::int32_t>(partners_.size()); }
  double relevance(std::size_t j) const { return facts_.features[j].relevance; }
  double score_of(std::size_t j, double accumulated) const {
    return criterion_.score(relevance(j), accumulated, std::ssize(selected_));
  }

  Best most_relevant() const {
    Best best;
    for (std::size_t j = 0; j < taken_.size(); ++j)
      if (taken_[j] == 0) best.offer(relevance(j), static_cast<std::int64_t>(j));
    return best;
  }

  /// Says why where the selection is over.
  bool ends(const Best& best, Selection& result) const {
    const auto picked = result.selected.size();
    if (best.feature < 0 || (!selected_.empty() && !(best.score > criterion_.lowest))) {
      result.notes.push_back(fmt::format("stopped after {} of {}: no remaining feature scores above {}", picked,
                                         options_.count, criterion_.lowest));
      return true;
    }
    if (gain(best) >= options_.min_gain) return false;
    result.notes.push_back(fmt::format("stopped after {} of {}: the next feature gains {:.6g}, less than {:.6g}",
                                       picked, options_.count, gain(best), options_.min_gain));
    return true;
  }
  double gain(const Best& best) const {
    return criterion_.averaged && !selected_.empty() ? best.score / static_cast<double>(selected_.size()) : best.score;
  }

  void add(const Best& best, Selection& result) {
    SelectedFeature feature;
    feature.index = best.feature;
    feature.score = best.score;
    feature.gain = gain(best);
    feature.relevance = relevance(static_cast<std::size_t>(best.feature));
    result.selected.push_back(feature);
    if (std::ssize(result.selected) < options_.count) take(best.feature);
  }

  /// The feature becomes a partner of every candidate.
  void take(std::int64_t feature) {
    const auto s = static_cast<std::size_t>(feature);
    taken_[s] = 1;
    selected_.push_back(feature);
    if (is(Accumulation::latest)) {
      merge(feature);
    } else if (criterion_.needs != 0) {
      ops_.add_partner(static_cast<std::int32_t>(feature));
      partners_.push_back(facts_.features[s]);
    }
    if (criterion_.needs != 0) work_.pairs_possible += std::ssize(taken_) - std::ssize(selected_);
    if (by_columns_) return;
    parallel_ranges(context_.threads(), std::ssize(taken_), 1 << 13, [&](Range range) {
      for (std::int64_t j = range.begin; j < range.end; ++j) widen(static_cast<std::size_t>(j));
    });
  }

  void merge(std::int64_t feature) {
    std::vector<std::uint32_t> codes;
    read_column(*problem_.table, feature, codes);
    std::int64_t states = problem_.table->states[static_cast<std::size_t>(feature)];
    if (!merged_.empty()) {
      std::vector<std::uint32_t> both;
      states = Merger().merge({codes, states}, {merged_, merged_states_}, problem_.weights, both);
      codes = std::move(both);
    }
    merged_ = std::move(codes);
    merged_states_ = states;
    ops_.add_partner(merged_, static_cast<std::int32_t>(states));
    partners_.push_back(facts_of(problem_, facts_, merged_, states));
  }

  double most(std::size_t partner, std::size_t j) const {
    return criterion_.most(partners_[partner], facts_.features[j], table_, weights_);
  }

  /// How far candidate j may reach now that one part more is missing.
  void widen(std::size_t j) {
    if (taken_[j] != 0) return;
    if (is(Accumulation::latest)) {
      accumulated_[j].parts = settled_[j].parts = partners() - 1;
      bounds_[j] = infinity;
    } else if (criterion_.needs != 0) {
      const double part = most(partners_.size() - 1, j);
      bounds_[j] = is(Accumulation::sum) ? bounds_[j] + part : std::min(bounds_[j], part);
    }
    reach_[j] = score_of(j, bounds_[j]);
  }

  /// Counts candidates, those that reach highest first, until no other can beat the best or tie with it.
  Best settle() {
    if (criterion_.needs == 0) return most_relevant();
    if (options_.lazy && is(Accumulation::latest) && nothing_left()) return {0, first_candidate()};
    if (by_columns_) return settle_columns();
    Best best;
    std::vector<Best> complete;
    std::vector<std::int32_t> open;
    const std::int64_t counted_before = work_.pairs_counted;
    for (int pass = 0;; ++pass) {
      open = open_candidates(best, pass, open);
      if (open.empty()) break;
      advance(open, pass);
      for (const std::int32_t j : open) {
        const auto c = static_cast<std::size_t>(j);
        if (accumulated_[c].parts < partners()) continue;
        complete.push_back({score_of(c, accumulated_[c].value), j});
        best.offer(complete.back().score, j);
      }
    }
    mind_marks(std::ssize(complete), work_.pairs_counted - counted_before);
    if (ordered_ || options_.match == Match::fast || best.feature < 0) return best;
    return settle_ties(best, complete);
  }

  /// Where one call holds all candidates and a mark ruled out hardly any of them, some rounds do without: a mark costs
  /// a device a call of its own.
  void mind_marks(std::int64_t complete, std::int64_t counted) {
    constexpr std::int32_t rounds = 8;
    if (rounds_without_mark_ > 0) {
      --rounds_without_mark_;
      return;
    }
    const std::int64_t candidates = std::ssize(taken_) - std::ssize(selected_);
    const bool in_vain = std::min(complete, counted) * 10 > candidates * 9;
    if (in_vain && selected_.size() > 1 && candidates <= ops_.batch()) rounds_without_mark_ = rounds;
  }

  /// Whether the merged states tell the class: with it they are then the same states in the same order, and what a
  /// candidate tells beyond them is 0 in FEAST's rounding too. Not for states of one feature, which have their own
  /// order.
  bool nothing_left() const { return selected_.size() > 1 && partners_.back().sum == partners_.back().class_sum; }
  std::int64_t first_candidate() const {
    return std::find(taken_.begin(), taken_.end(), std::uint8_t{0}) - taken_.begin();
  }

  /// Every candidate with each partner not yet counted: no bounds to keep, no pairs to list.
  Best settle_columns() {
    if (is(Accumulation::latest)) columns_ = partners() - 1;
    Best best;
    for (; columns_ < partners(); ++columns_) best = include_column(columns_);
    return best;
  }

  Best include_column(std::int32_t partner) {
    const TermColumns terms(ops_.column_terms(partner, criterion_.needs), criterion_.needs);
    work_.pairs_counted += std::ssize(taken_) - std::ssize(selected_);
    Best best;
    std::mutex mutex;
    parallel_ranges(context_.threads(), std::ssize(taken_), 1 << 11, [&](Range range) {
      Best of_range;
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        const auto c = static_cast<std::size_t>(j);
        if (taken_[c] != 0) continue;
        include(accumulated_[c], part_of(terms[c]));
        of_range.offer(score_of(c, accumulated_[c].value), j);
      }
      const std::lock_guard lock(mutex);
      if (of_range.feature >= 0) best.offer(of_range.score, of_range.feature);
    });
    return best;
  }

  /// The largest distance of a score from FEAST's own rounding of it.
  double score_error() const {
    const auto parts = static_cast<double>(selected_.size());
    const double terms = 1 + parts * criterion_.sensitivity(facts_.classes.entropy, weights_);
    return terms * (term_error_ + 64 * parts * rounding);
  }
  double slack() const {
    constexpr double of_bounds = 1e-10;  // far above the rounding of sums of a few thousand bounds
    return of_bounds * static_cast<double>(selected_.size()) + (ordered_ ? 0 : 2 * score_error());
  }

  /// Those that may still beat or tie with the best. What the second pass leaves out cannot come back later.
  std::vector<std::int32_t> open_candidates(const Best& best, int pass, const std::vector<std::int32_t>& before) const {
    const double least = options_.lazy && best.feature >= 0 ? best.score - slack() : -infinity;
    // Minima of parts as FEAST rounds them are bounds without error: no room is needed, and a tie goes to the lower
    // index.
    const bool exact = ordered_ && is(Accumulation::minimum) && best.feature >= 0 && options_.lazy;
    std::vector<std::int32_t> open;
    const auto consider = [&](std::int32_t candidate) {
      const auto j = static_cast<std::size_t>(candidate);
      if (reach_[j] < least || taken_[j] != 0 || accumulated_[j].parts == partners()) return;
      if (exact && (candidate > best.feature ? reach_[j] <= best.score : reach_[j] < best.score)) return;
      open.push_back(candidate);
    };
    if (pass > 1)
      std::for_each(before.begin(), before.end(), consider);
    else
      for (std::int32_t j = 0; j < static_cast<std::int32_t>(taken_.size()); ++j) consider(j);
    if (options_.lazy && pass == 0 && rounds_without_mark_ == 0) keep_highest(open);
    return open;
  }

  /// Enough to set a mark for the others.
  void keep_highest(std::vector<std::int32_t>& open) const {
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(ops_.batch() / (std::int64_t{4} * partners()), 16));
    if (open.size() <= most) return;
    const auto middle = open.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(open.begin(), middle, open.end(), [this](std::int32_t a, std::int32_t b) {
      const double reach_a = reach_[static_cast<std::size_t>(a)];
      const double reach_b = reach_[static_cast<std::size_t>(b)];
      return reach_a > reach_b || (reach_a == reach_b && a < b);
    });
    open.resize(most);
  }

  /// Missing parts to count at once: few where bounds may rule the candidate out before the rest, but never so few that
  /// the device would wait.
  std::int32_t depth(std::size_t open, int pass) const {
    if (pass == 0 || !options_.lazy) return partners();
    const std::int64_t wanted = std::int64_t{1} << std::min(2 * (pass - 1), 30);
    const std::int64_t enough = ops_.batch() / static_cast<std::int64_t>(open);
    return static_cast<std::int32_t>(std::min<std::int64_t>(std::max(wanted, enough), partners()));
  }

  void advance(const std::vector<std::int32_t>& open, int pass) {
    std::vector<Pair> pairs;
    std::vector<std::size_t> begins;
    const std::int32_t deep = depth(open.size(), pass);
    for (const std::int32_t j : open) {
      begins.push_back(pairs.size());
      missing(j, accumulated_[static_cast<std::size_t>(j)].parts, deep, pairs);
    }
    begins.push_back(pairs.size());
    work_.pairs_counted += std::ssize(pairs);
    const std::vector<double> parts = screens_ ? screened_parts(pairs, begins) : all_parts(pairs);
    parallel_ranges(context_.threads(), std::ssize(open), 1 << 11, [&](Range range) {
      for (std::size_t e = begins[static_cast<std::size_t>(range.begin)];
           e < begins[static_cast<std::size_t>(range.end)]; ++e)
        count_in(pairs[e], parts[e]);
    });
  }

  double part_of(const PairTerms& terms) const { return criterion_.part(terms, weights_); }

  std::vector<double> all_parts(std::span<const Pair> pairs) const {
    std::vector<double> parts(pairs.size());
    const std::vector<PairTerms> terms = ordered_ ? ordered_terms(pairs) : std::vector<PairTerms>();
    const std::vector<JointSums> sums = ordered_ ? std::vector<JointSums>() : joint_sums(pairs);
    parallel_ranges(context_.threads(), std::ssize(pairs), 1 << 11, [&](Range range) {
      for (auto e = static_cast<std::size_t>(range.begin); e < static_cast<std::size_t>(range.end); ++e)
        parts[e] = part_of(ordered_ ? terms[e] : quick_terms(pairs[e], sums[e]));
    });
    return parts;
  }

  /// Counted quickly first, and in FEAST's order only where its rounding can tell: not a part that is larger than a
  /// minimum known already, nor one that is capped. The pairs of candidate k begin at begins[k].
  std::vector<double> screened_parts(std::span<const Pair> pairs, const std::vector<std::size_t>& begins) {
    std::vector<double> parts(pairs.size());
    const std::vector<JointSums> sums = joint_sums(pairs);
    parallel_ranges(context_.threads(), std::ssize(begins) - 1, 1 << 11, [&](Range range) {
      for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k) {
        double limit = accumulated_[static_cast<std::size_t>(pairs[begins[k]].candidate)].value;
        for (std::size_t e = begins[k]; e < begins[k + 1]; ++e)
          limit = std::min(limit, part_of(quick_terms(pairs[e], sums[e])) + term_error_);
        for (std::size_t e = begins[k]; e < begins[k + 1]; ++e)
          parts[e] = criterion_.certain(quick_terms(pairs[e], sums[e]), term_error_, limit);
      }
    });
    std::vector<Pair> uncertain;
    for (std::size_t e = 0; e < pairs.size(); ++e)
      if (std::isnan(parts[e])) uncertain.push_back(pairs[e]);
    work_.pairs_ordered += std::ssize(uncertain);
    const auto terms = ordered_terms(uncertain);
    std::size_t next = 0;
    for (double& part : parts)
      if (std::isnan(part)) part = part_of(terms[next++]);
    return parts;
  }

  void count_in(const Pair& pair, double part) {
    const auto j = static_cast<std::size_t>(pair.candidate);
    include(accumulated_[j], part);
    if (is(Accumulation::sum)) bounds_[j] += part - most(static_cast<std::size_t>(pair.partner), j);
    if (is(Accumulation::minimum)) bounds_[j] = std::min(bounds_[j], part);
    if (is(Accumulation::latest)) bounds_[j] = part;
    reach_[j] = score_of(j, bounds_[j]);
  }

  void missing(std::int32_t j, std::int32_t from, std::int32_t most_parts, std::vector<Pair>& pairs) const {
    const std::int32_t end = std::min(partners(), from + most_parts);
    for (std::int32_t s = from; s < end; ++s) pairs.push_back({s, j});
  }

  void include(Accumulated& to, double part) const {
    ++to.parts;
    if (is(Accumulation::sum)) to.value += part;
    if (is(Accumulation::minimum)) to.value = std::min(to.value, part);
    if (is(Accumulation::latest)) to.value = part;
  }

  std::vector<PairTerms> ordered_terms(std::span<const Pair> pairs) const {
    std::vector<PairTerms> terms(pairs.size());
    ops_.ordered_terms(pairs, criterion_.needs, terms);
    return terms;
  }

  std::vector<JointSums> joint_sums(std::span<const Pair> pairs) const {
    std::vector<JointSums> sums(pairs.size());
    ops_.joint_sums(pairs, criterion_.needs != between, sums);
    return sums;
  }
  PairTerms quick_terms(const Pair& pair, const JointSums& sums) const {
    return terms_of(facts_, partners_[static_cast<std::size_t>(pair.partner)],
                    facts_.features[static_cast<std::size_t>(pair.candidate)], sums);
  }

  /// Candidates that rounding might put first are counted in FEAST's order. A lone one is the winner as it stands.
  Best settle_ties(const Best& best, const std::vector<Best>& complete) {
    const double least = best.score - 2 * score_error();
    std::vector<std::int64_t> close;
    for (const Best& candidate : complete)
      if (candidate.score >= least) close.push_back(candidate.feature);
    const bool clear = best.score > criterion_.lowest + score_error();
    if (close.size() == 1 && clear) return best;
    std::vector<Pair> pairs;
    for (const std::int64_t j : close)
      missing(static_cast<std::int32_t>(j), settled_[static_cast<std::size_t>(j)].parts, partners(), pairs);
    work_.pairs_ordered += std::ssize(pairs);
    const auto terms = ordered_terms(pairs);
    for (std::size_t k = 0; k < pairs.size(); ++k)
      include(settled_[static_cast<std::size_t>(pairs[k].candidate)], part_of(terms[k]));
    Best exact;
    for (const std::int64_t j : close)
      exact.offer(score_of(static_cast<std::size_t>(j), settled_[static_cast<std::size_t>(j)].value), j);
    return exact;
  }

  const Context& context_;
  const Problem& problem_;
  const Facts& facts_;
  Ops& ops_;
  const SelectionOptions& options_;
  const Criterion& criterion_;
  Weights weights_;
  TableFacts table_;
  bool ordered_;
  bool by_columns_;
  bool screens_;
  std::int32_t rounds_without_mark_ = 0;  ///< to come
  std::int32_t columns_ = 0;              ///< partners whose parts every candidate has
  double term_error_ = 0;
  std::vector<FeatureFacts> partners_;
  std::vector<std::int64_t> selected_;
  std::vector<Accumulated> accumulated_;  ///< as counted first
  std::vector<Accumulated> settled_;      ///< in FEAST's order, where that was needed
  std::vector<double> bounds_;            ///< accumulated parts and the most that the missing ones can add
  std::vector<double> reach_;             ///< the score the bound allows
  std::vector<std::uint8_t> taken_;
  std::vector<std::uint32_t> merged_;
  std::int64_t merged_states_ = 0;
  SelectionWork work_;
};

}  // namespace

Selection select_greedily(const Context& context, const Problem& problem, const Facts& facts, Ops& ops,
                          const SelectionOptions& options) {
  const Criterion* criterion = greedy_criterion(options.criterion);
  require(criterion != nullptr, "a criterion without a greedy row");
  return Greedy(context, problem, facts, ops, options, *criterion).run();
}

}  // namespace sheaf::information
