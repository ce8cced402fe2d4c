// Evaluates every candidate with every partner: no bounds to keep, no pairs to list.
#include <cmath>
#include <mutex>

#include "core/parallel.hpp"
#include "information/greedy/greedy_state.hpp"

namespace sheaf::information {
namespace {

class ColumnEvaluation final : public Evaluation {
 public:
  explicit ColumnEvaluation(GreedyState& state)
      : state_(state), values_(state.features(), state.start()), parts_(state.features()), scores_(state.features()) {}

  Best find_best() override {
    if (state_.is(Accumulation::latest)) columns_ = state_.partner_count() - 1;
    Best best;
    for (; columns_ < state_.partner_count(); ++columns_) {
      state_.work.pairs_counted += state_.candidates();
      find_parts(columns_);
      best = include_parts();
    }
    if (state_.scores_ties() && best.feature >= 0) return state_.prefer_tied(best, close_to(best));
    if (state_.ordered || state_.options.match == Match::fast || best.feature < 0) return best;
    return state_.resolve_ties(best, close_to(best));
  }

 private:
  void find_parts(std::int32_t partner) {
    if (state_.ops.counts_columns()) return parts_in_order(partner);
    const auto sums = state_.ops.column_sums(partner, state_.needs_class_sums());
    if (state_.ordered) return screened_parts(partner, sums);
    over_features([&](std::size_t first, std::size_t count) {
      state_.criterion.part.of_column(column(partner, sums, first, count), state_.weights,
                                      std::span(parts_).subspan(first, count));
    });
  }

  void parts_in_order(std::int32_t partner) {
    const TermColumns terms(state_.ops.column_terms(partner, state_.criterion.needs), state_.criterion.needs);
    over_features([&](std::size_t first, std::size_t count) {
      for (std::size_t j = first; j < first + count; ++j) parts_[j] = state_.part_of(terms[j]);
    });
  }

  /// In FEAST's order only if its rounding can matter.
  void screened_parts(std::int32_t partner, std::span<const JointSums> sums) {
    over_features([&](std::size_t first, std::size_t count) {
      const PairColumn pairs = column(partner, sums, first, count);
      for (std::size_t k = 0; k < count; ++k)
        parts_[first + k] = state_.criterion.certain(pairs[k], state_.term_error, values_[first + k]);
    });
    std::vector<Pair> uncertain;
    for (std::size_t j = 0; j < parts_.size(); ++j)
      if (std::isnan(parts_[j]) && state_.taken[j] == 0) uncertain.push_back({partner, static_cast<std::int32_t>(j)});
    state_.work.pairs_ordered += std::ssize(uncertain);
    const auto terms = state_.ordered_terms(uncertain);
    for (std::size_t k = 0; k < uncertain.size(); ++k)
      parts_[static_cast<std::size_t>(uncertain[k].candidate)] = state_.part_of(terms[k]);
  }

  Best include_parts() {
    Best best;
    std::mutex mutex;
    over_features([&](std::size_t first, std::size_t count) {
      for (std::size_t j = first; j < first + count; ++j) values_[j] = included(values_[j], parts_[j]);
      state_.criterion.score.of_column(std::span(state_.entropies.features).subspan(first, count),
                                       std::span(values_).subspan(first, count), std::ssize(state_.selected),
                                       std::span(scores_).subspan(first, count));
      Best of_range;
      for (std::size_t j = first; j < first + count; ++j)
        if (scores_[j] > of_range.score && state_.taken[j] == 0) of_range = {scores_[j], static_cast<std::int64_t>(j)};
      const std::lock_guard lock(mutex);
      if (of_range.feature >= 0) best.offer(of_range.score, of_range.feature);
    });
    return best;
  }
  double included(double value, double part) const {
    if (state_.is(Accumulation::minimum)) return std::min(value, part);
    return state_.is(Accumulation::sum) ? value + part : part;
  }

  std::vector<Best> close_to(const Best& best) const {
    const double least = best.score - 2 * state_.score_error();
    std::vector<Best> close;
    for (std::size_t j = 0; j < scores_.size(); ++j)
      if (scores_[j] >= least && state_.taken[j] == 0) close.push_back({scores_[j], static_cast<std::int64_t>(j)});
    return close;
  }

  PairColumn column(std::int32_t partner, std::span<const JointSums> sums, std::size_t first, std::size_t count) const {
    return {state_.entropies, state_.partners[static_cast<std::size_t>(partner)],
            std::span(state_.entropies.features).subspan(first, count), sums.subspan(first, count)};
  }
  /// work(first, count).
  template <class Work>
  void over_features(Work&& work) const {
    parallel_ranges(state_.threads, std::ssize(parts_), 1 << 11, [&](Range range) {
      work(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin));
    });
  }

  GreedyState& state_;
  std::int32_t columns_ = 0;    ///< partners whose parts every candidate has
  std::vector<double> values_;  ///< accumulated parts
  std::vector<double> parts_, scores_;
};

}  // namespace

std::unique_ptr<Evaluation> make_column_evaluation(GreedyState& state) {
  return std::make_unique<ColumnEvaluation>(state);
}

}  // namespace sheaf::information
