// Forward selection: pick the candidate of the highest score, add it to S, repeat. Brown et al. 2012 give the scores;
// FEAST the order of all additions.
//
// Two things differ from the published loop, and neither changes a pick. (1) Candidates that cannot win are not
// counted, if finding them takes less than counting them. (2) If FEAST's order is not the quickest, parts are counted
// in any order, with a bound on how far that is from FEAST's rounding, and only candidates closer to the best than the
// bound are counted once more in FEAST's order.
#include "information/greedy/greedy.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/instruction_sets.hpp"
#include "information/count/columns.hpp"
#include "information/greedy/greedy_state.hpp"

namespace sheaf::information {
namespace {

bool evaluates_columns(const GreedyState& state) {
  if (state.ordered && state.ops.counts_columns()) return true;
  if (!state.ops.counts_sum_columns() || state.is(Accumulation::latest)) return false;
  if (!state.ordered) return true;
  // Parts above the minimum, which most are, need no order. Parts of sums do, unless bounds rule them out.
  return state.is(Accumulation::minimum) && state.criterion.certain != nullptr && state.ops.screens();
}

class Greedy {
 public:
  Greedy(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
         const SelectionOptions& options, const Criterion& criterion)
      : state_(context, problem, entropies, ops, options, criterion),
        evaluation_(evaluates_columns(state_) ? make_column_evaluation(state_) : make_lazy_evaluation(state_)) {}

  Selection run() {
    Selection result;
    result.criterion = state_.criterion.info.name;
    result.counting = name_of(state_.ops.counting());
    const auto left = std::ssize(state_.taken) - std::ssize(options().preselected);
    const std::int64_t count = std::min<std::int64_t>(options().count, left);
    Stage stage(state_.context.progress(), "selecting", count, state_.context.stop());
    for (const std::int64_t feature : options().preselected) take(feature);
    while (std::ssize(result.selected) < count) {
      const Best best = find_best();
      if (ends(best, result)) break;
      add(best, result);
      stage.advance(1);
    }
    result.work = state_.work;
    return result;
  }

 private:
  const SelectionOptions& options() const { return state_.options; }
  double relevance(std::size_t j) const { return state_.entropies.features[j].relevance; }

  Best find_best() {
    if (state_.selected.empty() || state_.criterion.needs == 0) return most_relevant();
    if (options().lazy && state_.is(Accumulation::latest) && nothing_left()) return {0, first_candidate()};
    return evaluation_->find_best();
  }

  Best most_relevant() const {
    Best best;
    for (std::size_t j = 0; j < state_.taken.size(); ++j)
      if (state_.taken[j] == 0) best.offer(relevance(j), static_cast<std::int64_t>(j));
    if (!state_.scores_ties()) return best;
    std::vector<Best> candidates;
    for (std::size_t j = 0; j < state_.taken.size(); ++j)
      if (state_.taken[j] == 0) candidates.push_back({relevance(j), static_cast<std::int64_t>(j)});
    return state_.prefer_tied(best, candidates);
  }

  /// Whether the merged states determine the class. Merged with it they are then the same states in the same order, and
  /// the information that a candidate adds is 0 in FEAST's rounding too. Not for states of one feature, which have
  /// their own order.
  bool nothing_left() const {
    return state_.selected.size() > 1 && state_.partners.back().sum == state_.partners.back().class_sum;
  }
  std::int64_t first_candidate() const {
    return std::find(state_.taken.begin(), state_.taken.end(), std::uint8_t{0}) - state_.taken.begin();
  }

  /// Whether the selection is over; notes why.
  bool ends(const Best& best, Selection& result) const {
    const auto picked = result.selected.size();
    const double lowest = state_.criterion.lowest;
    if (best.feature < 0 || (!state_.selected.empty() && !(best.score > lowest))) {
      result.notes.push_back(
          fmt::format("stopped after {} of {}: no remaining feature scores above {}", picked, options().count, lowest));
      return true;
    }
    if (gain(best) >= options().min_gain) return false;
    result.notes.push_back(fmt::format("stopped after {} of {}: the next feature gains {:.6g}, less than {:.6g}",
                                       picked, options().count, gain(best), options().min_gain));
    return true;
  }
  double gain(const Best& best) const {
    return state_.criterion.averaged && !state_.selected.empty()
               ? best.score / static_cast<double>(state_.selected.size())
               : best.score;
  }

  void add(const Best& best, Selection& result) {
    SelectedFeature feature;
    feature.index = best.feature;
    feature.score = best.score;
    feature.gain = gain(best);
    feature.relevance = relevance(static_cast<std::size_t>(best.feature));
    result.selected.push_back(feature);
    if (std::ssize(result.selected) < options().count) take(best.feature);
  }

  /// The feature becomes a partner of every candidate.
  void take(std::int64_t feature) {
    const auto s = static_cast<std::size_t>(feature);
    state_.taken[s] = 1;
    state_.selected.push_back(feature);
    if (state_.criterion.needs == 0) return;
    if (state_.is(Accumulation::latest)) {
      merge(feature);
    } else {
      state_.ops.add_partner(static_cast<std::int32_t>(feature));
      state_.partners.push_back(state_.entropies.features[s]);
    }
    state_.work.pairs_possible += state_.candidates();
    evaluation_->widen();
  }

  void merge(std::int64_t feature) {
    const BinnedTable& table = *state_.problem.table;
    std::vector<std::uint32_t> codes;
    read_column(table, feature, codes);
    std::int64_t states = table.states[static_cast<std::size_t>(feature)];
    if (!merged_.empty()) {
      std::vector<std::uint32_t> both;
      states = Merger().merge({codes, states}, {merged_, merged_states_}, state_.problem.weights, both);
      codes = std::move(both);
    }
    merged_ = std::move(codes);
    merged_states_ = states;
    state_.ops.add_partner(merged_, static_cast<std::int32_t>(states));
    state_.partners.push_back(entropies_of(state_.problem, state_.entropies, merged_, states));
  }

  GreedyState state_;
  std::unique_ptr<Evaluation> evaluation_;
  std::vector<std::uint32_t> merged_;
  std::int64_t merged_states_ = 0;
};

}  // namespace

const Criterion* greedy_criterion(std::string_view name) {
  return with_instruction_set([&](auto set) { return greedy_criterion_for<decltype(set)>(name); });
}

Selection select_greedily(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                          const SelectionOptions& options) {
  const Criterion* criterion = greedy_criterion(options.criterion);
  require(criterion != nullptr, "a criterion without a greedy row");
  return Greedy(context, problem, entropies, ops, options, *criterion).run();
}

}  // namespace sheaf::information
