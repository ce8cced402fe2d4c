#include "information/greedy/greedy_state.hpp"

namespace sheaf::information {
namespace {

/// Between two calls of a GPU there are microseconds of work: waking more threads would take longer.
constexpr int most_threads_beside_gpu = 4;

}  // namespace

GreedyState::GreedyState(const Context& context_of, const Problem& problem_of, const Entropies& entropies_of,
                         Ops& ops_of, const SelectionOptions& options_of, const Criterion& criterion_of)
    : context(context_of),
      problem(problem_of),
      entropies(entropies_of),
      ops(ops_of),
      options(options_of),
      criterion(criterion_of),
      weights(weights_of(criterion, options)),
      limits{entropies.classes.entropy, std::log2(static_cast<double>(entropies.log.total()))},
      ordered(ops.counting() == Counting::ordered),
      threads(context.device().is_cpu() ? context.threads() : std::min(context.threads(), most_threads_beside_gpu)),
      taken(entropies.features.size(), 0),
      in_order_(entropies.features.size(), Accumulated{start(), 0}) {
  const double states = problem.most_states();
  term_error = entropies.log.error(is(Accumulation::latest) ? infinity : states * states * problem.class_count);
}

double GreedyState::score_error() const {
  constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
  const auto parts = static_cast<double>(selected.size());
  const double terms = 1 + parts * criterion.sensitivity(entropies.classes.entropy, weights);
  return terms * (term_error + 64 * parts * rounding);
}

std::vector<PairTerms> GreedyState::ordered_terms(std::span<const Pair> pairs) const {
  std::vector<PairTerms> terms(pairs.size());
  ops.ordered_terms(pairs, criterion.needs, terms);
  return terms;
}

std::vector<JointSums> GreedyState::joint_sums(std::span<const Pair> pairs) const {
  std::vector<JointSums> sums(pairs.size());
  ops.joint_sums(pairs, needs_class_sums(), sums);
  return sums;
}

Best GreedyState::prefer_tied(const Best& best, std::span<const Best> complete) const {
  const double least = best.score - 2 * score_error();
  std::vector<std::int64_t> tied;
  for (const Best& candidate : complete)
    if (candidate.score >= least) tied.push_back(candidate.feature);
  if (tied.size() < 2) return best;
  const auto scores = options.tie_scores(tied);
  Best preferred;
  for (std::size_t k = 0; k < tied.size(); ++k) preferred.offer(scores[k], tied[k]);
  return {best.score, preferred.feature};
}

Best GreedyState::resolve_ties(const Best& best, std::span<const Best> complete) {
  const double least = best.score - 2 * score_error();
  std::vector<std::int64_t> close;
  for (const Best& candidate : complete)
    if (candidate.score >= least) close.push_back(candidate.feature);
  const bool clear = best.score > criterion.lowest + score_error();
  if (close.size() == 1 && clear) return best;
  std::vector<Pair> pairs;
  for (const std::int64_t j : close) {
    auto& in_order = in_order_[static_cast<std::size_t>(j)];
    if (is(Accumulation::latest)) in_order.parts = partner_count() - 1;
    for (std::int32_t s = in_order.parts; s < partner_count(); ++s) pairs.push_back({s, static_cast<std::int32_t>(j)});
  }
  work.pairs_ordered += std::ssize(pairs);
  const auto terms = ordered_terms(pairs);
  for (std::size_t k = 0; k < pairs.size(); ++k)
    include(in_order_[static_cast<std::size_t>(pairs[k].candidate)], part_of(terms[k]));
  Best exact;
  for (const std::int64_t j : close)
    exact.offer(score_of(static_cast<std::size_t>(j), in_order_[static_cast<std::size_t>(j)].value), j);
  return exact;
}

}  // namespace sheaf::information
