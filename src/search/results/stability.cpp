#include "search/results/result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <sheaf/selection.hpp>
#include <sheaf/solvers/profile.hpp>

#include "data/permute_labels.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace engine {
namespace {

/// The rank of one feature in one resample.
struct Vote {
  std::size_t split = 0;
  double rank = 0;
};

/// Features of a resample by what one standard deviation of each moves, the largest of its decision values; largest
/// first.
std::vector<std::int64_t> by_effect(const OuterFold& split, std::span<const double> deviations) {
  std::map<std::int64_t, double> effects;
  for (const auto& net : split.scores.weights)
    for (std::size_t k = 0; k < net.features.size(); ++k) {
      const auto j = net.features[k];
      auto& effect = effects[j];
      effect = std::max(effect, std::abs(net.weights[k]) * deviations[static_cast<std::size_t>(j)]);
    }
  std::vector<std::int64_t> order;
  order.reserve(effects.size());
  for (const auto& [j, effect] : effects) order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return effects[a] > effects[b]; });
  return order;
}

/// Weights of one feature and decision value, of the resamples that gave it one.
void add_weights(const SearchResult& result, std::size_t column, FeatureStability& feature) {
  double sum = 0;
  double count = 0;
  double positive = 0;
  for (const auto& split : result.outer) {
    const auto& net = split.scores.weights[column];
    const auto found = std::lower_bound(net.features.begin(), net.features.end(), feature.index);
    if (found == net.features.end() || *found != feature.index) continue;
    const double weight = net.weights[static_cast<std::size_t>(found - net.features.begin())];
    sum += weight;
    count += 1;
    positive += weight > 0 ? 1 : 0;
  }
  feature.mean_weight.push_back(count > 0 ? sum / count : 0);
  feature.sign_agreement.push_back(count > 0 ? std::max(positive, count - positive) / count : 0);
}

FeatureStability feature_of(const SearchResult& result, std::int64_t j, const std::vector<Vote>& votes,
                            std::span<const std::size_t> sizes) {
  FeatureStability feature;
  feature.index = j;
  feature.frequency = static_cast<double>(votes.size()) / static_cast<double>(sizes.size());
  std::vector<double> ranks;
  for (const auto size : sizes) ranks.push_back(static_cast<double>(size) + 1);
  for (const auto& vote : votes) ranks[vote.split] = vote.rank;
  feature.median_rank = median(std::move(ranks));
  for (std::size_t c = 0; c < static_cast<std::size_t>(result.columns); ++c) add_weights(result, c, feature);
  return feature;
}

void add_features(SearchResult& result, const std::vector<std::string>& names, std::span<const double> deviations) {
  std::map<std::int64_t, std::vector<Vote>> votes;
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::int64_t>> sets;
  for (std::size_t s = 0; s < result.outer.size(); ++s) {
    auto order = by_effect(result.outer[s], deviations);
    for (std::size_t k = 0; k < order.size(); ++k) votes[order[k]].push_back({s, static_cast<double>(k) + 1});
    sizes.push_back(order.size());
    sets.push_back(std::move(order));
  }
  for (const auto& [j, mine] : votes) {
    auto& feature = result.stability.emplace_back(feature_of(result, j, mine, sizes));
    feature.name = names.empty() ? std::to_string(j + 1) : names[static_cast<std::size_t>(j)];
    feature.standard_deviation = deviations[static_cast<std::size_t>(j)];
  }
  std::stable_sort(result.stability.begin(), result.stability.end(),
                   [](const FeatureStability& a, const FeatureStability& b) {
                     return std::pair(-a.frequency, a.median_rank) < std::pair(-b.frequency, b.median_rank);
                   });
  result.overall = stability_of(sets, result.features);
}

/// The best of the points that all resamples tried; if there are none, of those that most tried.
void find_best(SearchResult& result) {
  const auto metric = *result.options.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  ScoreSummary found;
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    const auto here = result.overall_summary(point, metric);
    const bool better = here.splits > found.splits ||
                        (here.splits == found.splits && here.splits > 0 && sign * here.mean > sign * found.mean);
    if (!better) continue;
    result.best_overall = static_cast<std::int32_t>(point);
    found = here;
  }
}

}  // namespace

template <class T>
void add_stability(const Context& context, const Dataset<T>& dataset, SearchResult& result) {
  find_best(result);
  if (result.outer.front().scores.weights.empty()) return;
  std::vector<double> deviations;
  for (const auto& feature : summarize(context, dataset).per_feature) deviations.push_back(feature.standard_deviation);
  add_features(result, dataset.feature_names, deviations);
}

template <class T>
StabilityByChance stability_by_chance(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                      const SearchOptions& options) {
  auto study = options;
  study.stability_permutations = 0;
  study.refit = false;
  study.path_split = 0;
  study.predictions = study.learning_curve = study.keep_decisions = false;
  study.calibrate.reset();
  study.threshold.reset();
  study.permutation_importance = 0;
  StabilityByChance result;
  for (std::int32_t k = 0; k < options.stability_permutations; ++k) {
    const auto permuted = with_permuted_labels(dataset, context.seed(), static_cast<std::uint64_t>(k));
    result.values.push_back(search(context, permuted, space, study).overall.value);
  }
  return result;
}

template StabilityByChance stability_by_chance(const Context&, const Dataset<float>&, const SearchSpace&,
                                               const SearchOptions&);
template StabilityByChance stability_by_chance(const Context&, const Dataset<double>&, const SearchSpace&,
                                               const SearchOptions&);
template void add_stability(const Context&, const Dataset<float>&, SearchResult&);
template void add_stability(const Context&, const Dataset<double>&, SearchResult&);

}  // namespace engine

/// The stability itself is 1 - mean over features of M / (M - 1) p (1 - p), over q (1 - q), with p the share of the M
/// sets that hold a feature and q the mean of p. By their theorem 7 the variance is 4 / M^2 times the sum of squared
/// distances from its mean of: (mean over features of z p - k q + value / 2 (2 k q - k - q + 1)) / (q (1 - q)), with z
/// whether the set holds a feature and k the share of the features that it holds.
Stability stability_of(std::span<const std::vector<std::int64_t>> sets, std::int64_t features) {
  constexpr double two_sided_95 = 1.959963984540054;  // of the normal distribution
  Stability result;
  result.value = result.low = result.high = selection_stability(sets, features);
  if (sets.size() < 2 || features == 0) return result;
  const auto members = static_cast<double>(sets.size());
  const auto all = static_cast<double>(features);
  std::map<std::int64_t, double> shares;
  double q = 0;
  for (const auto& set : sets) {
    for (const auto j : set) shares[j] += 1 / members;
    q += static_cast<double>(set.size()) / all / members;
  }
  if (!(q * (1 - q) > 0)) return result;
  std::vector<double> terms;
  for (const auto& set : sets) {
    double held = 0;
    for (const auto j : set) held += shares[j] / all;
    const double k = static_cast<double>(set.size()) / all;
    terms.push_back((held - k * q + result.value / 2 * (2 * k * q - k - q + 1)) / (q * (1 - q)));
  }
  double mean = 0;
  for (const double term : terms) mean += term / members;
  double squares = 0;
  for (const double term : terms) squares += (term - mean) * (term - mean);
  result.standard_error = 2 / members * std::sqrt(squares);
  result.low = result.value - two_sided_95 * result.standard_error;
  result.high = std::min(1.0, result.value + two_sided_95 * result.standard_error);
  return result;
}

}  // namespace sheaf
