// Lazy evaluation by upper bounds. A candidate's score is the sum (or minimum) of one part per selected feature. A
// candidate whose parts so far plus upper bounds of the missing ones cannot reach the best score is not counted
// further: Fleuret's idea for cmim (2004), here for every criterion.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "information/greedy/greedy_state.hpp"

namespace sheaf::information {
namespace {

class LazyEvaluation final : public Evaluation {
 public:
  explicit LazyEvaluation(GreedyState& state)
      : state_(state),
        screens_(state.ordered && state.criterion.certain != nullptr && state.ops.screens()),
        accumulated_(state.features(), Accumulated{state.start(), 0}),
        bounds_(state.features(), state.start()),
        reach_(state.features(), 0) {}

  void widen() override {
    parallel_ranges(state_.threads, std::ssize(reach_), 1 << 13, [&](Range range) {
      constexpr std::int64_t at_once = 1024;
      for (std::int64_t first = range.begin; first < range.end; first += at_once)
        widen(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(at_once, range.end - first)));
    });
  }

  /// Counts candidates, highest upper bound first, until no other can beat the best or tie with it.
  Best find_best() override {
    Best best;
    std::vector<Best> complete;
    std::vector<std::int32_t> open;
    const std::int64_t counted_before = state_.work.pairs_counted;
    for (int pass = 0;; ++pass) {
      open = open_candidates(best, pass, open);
      if (open.empty()) break;
      advance(open, pass);
      for (const std::int32_t j : open) {
        const auto c = static_cast<std::size_t>(j);
        if (accumulated_[c].parts < partners()) continue;
        complete.push_back({state_.score_of(c, accumulated_[c].value), j});
        best.offer(complete.back().score, j);
      }
    }
    adapt_pruning(std::ssize(complete), state_.work.pairs_counted - counted_before);
    if (state_.scores_ties() && best.feature >= 0) return state_.prefer_tied(best, complete);
    if (state_.ordered || state_.options.match == Match::fast || best.feature < 0) return best;
    return state_.resolve_ties(best, complete);
  }

 private:
  double most(std::size_t partner, std::size_t j) const {
    return state_.criterion.most.of_pair(state_.partners[partner], state_.entropies.features[j], state_.limits,
                                         state_.weights);
  }

  /// Updates the upper bounds: one more part is missing.
  void widen(std::size_t first, std::size_t count) {
    const auto bounds = std::span(bounds_).subspan(first, count);
    const auto features = std::span(state_.entropies.features).subspan(first, count);
    if (state_.is(Accumulation::latest)) {
      for (std::size_t k = 0; k < count; ++k) accumulated_[first + k].parts = partners() - 1;
      std::fill(bounds.begin(), bounds.end(), infinity);
    } else if (state_.criterion.needs != 0) {
      const auto parts = std::span(reach_).subspan(first, count);  // there until the reach is known
      state_.criterion.most.of_column(state_.partners.back(), features, state_.limits, state_.weights, parts);
      const bool sums = state_.is(Accumulation::sum);
      for (std::size_t k = 0; k < count; ++k) bounds[k] = sums ? bounds[k] + parts[k] : std::min(bounds[k], parts[k]);
    }
    state_.criterion.score.of_column(features, bounds, std::ssize(state_.selected),
                                     std::span(reach_).subspan(first, count));
  }

  /// Skips pruning for some rounds if it ruled out hardly any candidate and one call holds them all: the first pass,
  /// which finds a score to prune by, costs a device a call of its own.
  void adapt_pruning(std::int64_t complete, std::int64_t counted) {
    constexpr std::int32_t rounds = 8;
    if (rounds_without_pruning_ > 0) {
      --rounds_without_pruning_;
      return;
    }
    const std::int64_t candidates = std::ssize(state_.taken) - std::ssize(state_.selected);
    const bool pruned_little = std::min(complete, counted) * 10 > candidates * 9;
    if (pruned_little && state_.selected.size() > 1 && candidates <= state_.ops.batch())
      rounds_without_pruning_ = rounds;
  }

  double slack() const {
    constexpr double of_bounds = 1e-10;  // far above the rounding of sums of a few thousand bounds
    return of_bounds * static_cast<double>(state_.selected.size()) +
           (state_.ordered && !state_.scores_ties() ? 0 : 2 * state_.score_error());
  }

  /// Candidates that may still beat or tie with the best. Candidates that the second pass rules out do not come back.
  std::vector<std::int32_t> open_candidates(const Best& best, int pass, const std::vector<std::int32_t>& before) const {
    if (state_.options.lazy && pass == 0 && rounds_without_pruning_ == 0) return highest();
    const double least = state_.options.lazy && best.feature >= 0 ? best.score - slack() : -infinity;
    // Minima of parts as FEAST rounds them are exact bounds: no slack is needed, and a tie goes to the lower index.
    const bool exact = state_.ordered && state_.is(Accumulation::minimum) && best.feature >= 0 && state_.options.lazy &&
                       !state_.scores_ties();
    std::vector<std::int32_t> open;
    const auto consider = [&](std::int32_t candidate) {
      const auto j = static_cast<std::size_t>(candidate);
      if (reach_[j] < least || state_.taken[j] != 0 || accumulated_[j].parts == partners()) return;
      if (exact && (candidate > best.feature ? reach_[j] <= best.score : reach_[j] < best.score)) return;
      open.push_back(candidate);
    };
    if (pass > 1)
      std::for_each(before.begin(), before.end(), consider);
    else
      for (std::int32_t j = 0; j < static_cast<std::int32_t>(reach_.size()); ++j) consider(j);
    return open;
  }

  /// The candidates with the highest bounds, enough of them to find a score that prunes the others. Most are below the
  /// lowest of those kept so far, so that this is little more than one look at each: less than waking other threads.
  std::vector<std::int32_t> highest() const {
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(state_.ops.batch() / (std::int64_t{4} * partners()), 16));
    const auto higher = [this](std::int32_t a, std::int32_t b) {
      const double reach_a = reach_[static_cast<std::size_t>(a)];
      const double reach_b = reach_[static_cast<std::size_t>(b)];
      return reach_a > reach_b || (reach_a == reach_b && a < b);
    };
    std::vector<std::int32_t> kept;  // once full, a heap with the lowest first
    double lowest = -infinity;
    for (std::int32_t j = 0; j < static_cast<std::int32_t>(reach_.size()); ++j) {
      const auto c = static_cast<std::size_t>(j);
      if (kept.size() == most && !(reach_[c] > lowest)) continue;  // of equals the first
      if (state_.taken[c] != 0 || accumulated_[c].parts == partners()) continue;
      if (kept.size() == most) {
        std::pop_heap(kept.begin(), kept.end(), higher);
        kept.back() = j;
        std::push_heap(kept.begin(), kept.end(), higher);
      } else {
        kept.push_back(j);
        if (kept.size() == most) std::make_heap(kept.begin(), kept.end(), higher);
      }
      if (kept.size() == most) lowest = reach_[static_cast<std::size_t>(kept.front())];
    }
    return kept;
  }

  /// Missing parts to count at once: few, since bounds may rule the candidate out before the rest, but never so few
  /// that the device would be idle.
  std::int32_t depth(std::size_t open, int pass) const {
    if (pass == 0 || !state_.options.lazy) return partners();
    const std::int64_t wanted = std::int64_t{1} << std::min(2 * (pass - 1), 30);
    const std::int64_t enough = state_.ops.batch() / static_cast<std::int64_t>(open);
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
    state_.work.pairs_counted += std::ssize(pairs);
    if (screens_) {
      const std::vector<double> parts = screened_parts(pairs, begins);
      return count_in(pairs, begins, [&](std::size_t e) { return parts[e]; });
    }
    if (state_.ordered) {
      const std::vector<PairTerms> terms = state_.ordered_terms(pairs);
      return count_in(pairs, begins, [&](std::size_t e) { return state_.part_of(terms[e]); });
    }
    const std::vector<JointSums> sums = state_.joint_sums(pairs);
    count_in(pairs, begins, [&](std::size_t e) { return state_.part_of(state_.quick_terms(pairs[e], sums[e])); });
  }

  /// Adds part(e) of pair e, for all; the pairs of candidate k begin at begins[k].
  template <class Part>
  void count_in(std::span<const Pair> pairs, const std::vector<std::size_t>& begins, const Part& part) {
    parallel_ranges(state_.threads, std::ssize(begins) - 1, 1 << 11, [&](Range range) {
      const auto end = begins[static_cast<std::size_t>(range.end)];
      for (std::size_t e = begins[static_cast<std::size_t>(range.begin)]; e < end; ++e) count_in(pairs[e], part(e));
    });
  }

  /// Counted quickly first, and in FEAST's order only if its rounding can matter: not a part larger than a known
  /// minimum, nor one that is capped. The pairs of candidate k begin at begins[k].
  std::vector<double> screened_parts(std::span<const Pair> pairs, const std::vector<std::size_t>& begins) {
    std::vector<double> parts(pairs.size());
    const std::vector<JointSums> sums = state_.joint_sums(pairs);
    parallel_ranges(state_.threads, std::ssize(begins) - 1, 1 << 11, [&](Range range) {
      for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k) {
        double limit = accumulated_[static_cast<std::size_t>(pairs[begins[k]].candidate)].value;
        for (std::size_t e = begins[k]; e < begins[k + 1]; ++e)
          limit = std::min(limit, state_.part_of(state_.quick_terms(pairs[e], sums[e])) + state_.term_error);
        for (std::size_t e = begins[k]; e < begins[k + 1]; ++e)
          parts[e] = state_.criterion.certain(state_.quick_terms(pairs[e], sums[e]), state_.term_error, limit);
      }
    });
    std::vector<Pair> uncertain;
    for (std::size_t e = 0; e < pairs.size(); ++e)
      if (std::isnan(parts[e])) uncertain.push_back(pairs[e]);
    state_.work.pairs_ordered += std::ssize(uncertain);
    const auto terms = state_.ordered_terms(uncertain);
    std::size_t next = 0;
    for (double& part : parts)
      if (std::isnan(part)) part = state_.part_of(terms[next++]);
    return parts;
  }

  void count_in(const Pair& pair, double part) {
    const auto j = static_cast<std::size_t>(pair.candidate);
    state_.include(accumulated_[j], part);
    if (state_.is(Accumulation::sum)) bounds_[j] += part - most(static_cast<std::size_t>(pair.partner), j);
    if (state_.is(Accumulation::minimum)) bounds_[j] = std::min(bounds_[j], part);
    if (state_.is(Accumulation::latest)) bounds_[j] = part;
    reach_[j] = state_.score_of(j, bounds_[j]);
  }

  void missing(std::int32_t j, std::int32_t from, std::int32_t most_parts, std::vector<Pair>& pairs) const {
    const std::int32_t end = std::min(partners(), from + most_parts);
    for (std::int32_t s = from; s < end; ++s) pairs.push_back({s, j});
  }

  std::int32_t partners() const { return state_.partner_count(); }

  GreedyState& state_;
  bool screens_;
  std::int32_t rounds_without_pruning_ = 0;  ///< to come
  std::vector<Accumulated> accumulated_;     ///< as counted first
  std::vector<double> bounds_;               ///< accumulated parts and the most that the missing ones can add
  std::vector<double> reach_;                ///< the score the bound allows
};

}  // namespace

std::unique_ptr<Evaluation> make_lazy_evaluation(GreedyState& state) { return std::make_unique<LazyEvaluation>(state); }

}  // namespace sheaf::information
