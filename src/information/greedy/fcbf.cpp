// FCBF: symmetrical uncertainty SU(A,B) = 2 I(A;B) / (H(A) + H(B)). Yu and Liu 2003, the loop as in FEAST.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "information/count/columns.hpp"
#include "information/greedy/greedy.hpp"

namespace sheaf::information {
namespace {

class CorrelationFilter {
 public:
  CorrelationFilter(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                    const SelectionOptions& options)
      : context_(context), entropies_(entropies), ops_(ops), options_(options) {
    find_uncertainties(problem);
  }

  Selection run() {
    Selection result;
    result.criterion = options_.criterion;
    result.counting = name_of(ops_.counting());
    std::vector<std::int32_t> left = above_threshold();
    Stage stage(context_.progress(), "selecting", std::min<std::int64_t>(options_.count, std::ssize(left)),
                context_.stop());
    while (!left.empty() && std::ssize(result.selected) < options_.count) {
      keep(left.front(), result);
      left.erase(left.begin());
      if (std::ssize(result.selected) < options_.count) drop_predicted(result, left);
      stage.advance(1);
      context_.check_stop();
    }
    if (std::ssize(result.selected) < options_.count)
      result.notes.push_back(
          fmt::format("stopped after {} of {}: every other feature is predicted better by one of these"
                      ", or has a symmetrical uncertainty of {} or less",
                      result.selected.size(), options_.count, options_.threshold));
    return result;
  }

 private:
  void find_uncertainties(const Problem& problem) {
    const std::vector<double> terms = entropy_terms(entropies_.log.total());
    const auto entropy = [&](std::span<const std::uint32_t> counts) {
      double sum = 0;
      for (const std::uint32_t c : counts) sum -= terms[c];
      return sum / std::log(2.0);
    };
    const double of_class = entropy(entropies_.classes.counts);
    feature_entropies_.resize(entropies_.features.size());
    uncertainties_.resize(entropies_.features.size());
    parallel_ranges(context_, std::ssize(feature_entropies_), 64, [&](Range range) {
      std::vector<std::uint32_t> column, counts;
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        const auto s = static_cast<std::size_t>(j);
        count_states(problem, j, column, counts);
        feature_entropies_[s] = entropy(counts);
        uncertainties_[s] = uncertainty(entropies_.features[s].relevance, feature_entropies_[s], of_class);
      }
    });
  }

  /// p log p of every count, 0 for none.
  static std::vector<double> entropy_terms(std::int64_t total) {
    const auto all = static_cast<double>(total);
    std::vector<double> terms(static_cast<std::size_t>(total) + 1, 0.0);
    for (std::size_t c = 1; c < terms.size(); ++c) {
      const double p = static_cast<double>(c) / all;
      terms[c] = p * std::log(p);
    }
    return terms;
  }

  /// `column` is scratch memory.
  void count_states(const Problem& problem, std::int64_t j, std::vector<std::uint32_t>& column,
                    std::vector<std::uint32_t>& counts) const {
    const auto weight_of = [&](std::size_t i) { return problem.weights.empty() ? 1 : problem.weights[i]; };
    counts.assign(static_cast<std::size_t>(problem.table->states[static_cast<std::size_t>(j)]), 0);
    if (const SparseCodes* sparse = sparse_codes(*problem.table)) {
      std::uint32_t& common = counts[sparse->common[j]];
      common = static_cast<std::uint32_t>(entropies_.log.total());
      for (std::int64_t e = sparse->offsets[j]; e < sparse->offsets[j + 1]; ++e) {
        const std::uint32_t weight = weight_of(static_cast<std::size_t>(sparse->examples[e]));
        common -= weight;
        counts[sparse->codes[e]] += weight;
      }
      return;
    }
    read_column(*problem.table, j, column);
    for (std::size_t i = 0; i < column.size(); ++i) counts[column[i]] += weight_of(i);
  }

  static double uncertainty(double information, double entropy_a, double entropy_b) {
    const double sum = entropy_a + entropy_b;
    return sum > 0 ? 2 * information / sum : 0;
  }

  std::vector<std::int32_t> above_threshold() const {
    std::vector<std::int32_t> left;
    for (std::size_t j = 0; j < uncertainties_.size(); ++j)
      if (uncertainties_[j] > options_.threshold) left.push_back(static_cast<std::int32_t>(j));
    std::stable_sort(left.begin(), left.end(), [this](std::int32_t a, std::int32_t b) {
      return uncertainties_[static_cast<std::size_t>(a)] > uncertainties_[static_cast<std::size_t>(b)];
    });
    if (options_.tie_scores != nullptr) sort_tied(left);
    return left;
  }

  /// Puts runs of uncertainties that differ by rounding alone into the order of the options' scores.
  void sort_tied(std::vector<std::int32_t>& order) const {
    constexpr double rounding = 1e-9;
    const auto uncertainty_at = [&](std::size_t k) { return uncertainties_[static_cast<std::size_t>(order[k])]; };
    for (std::size_t first = 0; first < order.size();) {
      auto end = first + 1;
      while (end < order.size() && uncertainty_at(first) - uncertainty_at(end) <= rounding) ++end;
      if (end - first > 1) {
        const std::vector<std::int64_t> tied(order.begin() + static_cast<std::ptrdiff_t>(first),
                                             order.begin() + static_cast<std::ptrdiff_t>(end));
        const auto scores = options_.tie_scores(tied);
        std::vector<std::size_t> places(tied.size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
          return scores[a] != scores[b] ? scores[a] > scores[b] : tied[a] < tied[b];
        });
        for (std::size_t k = 0; k < places.size(); ++k) order[first + k] = static_cast<std::int32_t>(tied[places[k]]);
      }
      first = end;
    }
  }

  void keep(std::int32_t j, Selection& result) const {
    SelectedFeature feature;
    feature.index = j;
    feature.score = feature.gain = uncertainties_[static_cast<std::size_t>(j)];
    feature.relevance = entropies_.features[static_cast<std::size_t>(j)].relevance;
    result.selected.push_back(feature);
  }

  void drop_predicted(Selection& result, std::vector<std::int32_t>& left) {
    const auto best = static_cast<std::size_t>(result.selected.back().index);
    const std::int32_t partner = ops_.add_partner(static_cast<std::int32_t>(best));
    std::vector<Pair> pairs;
    pairs.reserve(left.size());
    for (const std::int32_t j : left) pairs.push_back({partner, j});
    result.work.pairs_possible += std::ssize(pairs);
    result.work.pairs_counted += std::ssize(pairs);
    const auto information = informations(best, pairs, result);
    std::vector<std::int32_t> kept;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const auto j = static_cast<std::size_t>(left[k]);
      if (!(uncertainty(information[k], feature_entropies_[best], feature_entropies_[j]) > uncertainties_[j]))
        kept.push_back(left[k]);
    }
    left = std::move(kept);
  }

  /// I(best;j) of each pair: quickly counted, and in FEAST's order if rounding decides.
  std::vector<double> informations(std::size_t best, std::span<const Pair> pairs, Selection& result) {
    std::vector<double> information(pairs.size());
    std::vector<std::size_t> doubtful(pairs.size());
    std::iota(doubtful.begin(), doubtful.end(), std::size_t{0});
    if (ops_.counting() != Counting::ordered) {
      std::vector<JointSums> sums(pairs.size());
      ops_.joint_sums(pairs, false, sums);
      for (std::size_t k = 0; k < pairs.size(); ++k)
        information[k] = terms_of(entropies_, entropies_.features[best],
                                  entropies_.features[static_cast<std::size_t>(pairs[k].candidate)], sums[k])
                             .between;
      std::erase_if(doubtful, [&](std::size_t k) { return !is_doubtful(best, pairs[k], information[k]); });
      result.work.pairs_ordered += std::ssize(doubtful);
    }
    std::vector<Pair> again;
    again.reserve(doubtful.size());
    for (const std::size_t k : doubtful) again.push_back(pairs[k]);
    std::vector<PairTerms> terms(again.size());
    ops_.ordered_terms(again, between, terms);
    for (std::size_t k = 0; k < doubtful.size(); ++k) information[doubtful[k]] = terms[k].between;
    return information;
  }

  bool is_doubtful(std::size_t best, const Pair& pair, double information) const {
    if (options_.match == Match::fast) return false;
    const auto j = static_cast<std::size_t>(pair.candidate);
    const double sum = feature_entropies_[best] + feature_entropies_[j];
    const double error = 4 * entropies_.log.error(static_cast<double>(entropies_.log.total())) / std::max(sum, 1e-300);
    return std::abs(uncertainty(information, feature_entropies_[best], feature_entropies_[j]) - uncertainties_[j]) <=
           error;
  }

  const Context& context_;
  const Entropies& entropies_;
  Ops& ops_;
  const SelectionOptions& options_;
  std::vector<double> feature_entropies_, uncertainties_;
};

}  // namespace

Selection filter_by_correlation(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                                const SelectionOptions& options) {
  return CorrelationFilter(context, problem, entropies, ops, options).run();
}

}  // namespace sheaf::information
