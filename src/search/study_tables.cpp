#include "search/study_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <sheaf/selection.hpp>

#include "core/fail.hpp"

namespace sheaf {
namespace search {
namespace {

/// What one split says of one feature.
struct Vote {
  std::size_t split = 0;
  double rank = 0;
};

/// Features of a split by what one standard deviation of each moves, the largest of its decision values; largest first.
std::vector<std::int64_t> by_effect(const StudySplit& split, std::span<const double> deviations) {
  std::map<std::int64_t, double> effects;
  for (const auto& net : split.nets)
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

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Weights of one feature and decision value, of the splits that gave it one.
void add_weights(const StudyResult& result, std::size_t column, StudyFeature& feature) {
  double sum = 0;
  double count = 0;
  double positive = 0;
  for (const auto& split : result.splits) {
    const auto& net = split.nets[column];
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

StudyFeature feature_of(const StudyResult& result, std::int64_t j, const std::vector<Vote>& votes,
                        std::span<const std::size_t> sizes) {
  StudyFeature feature;
  feature.index = j;
  feature.frequency = static_cast<double>(votes.size()) / static_cast<double>(sizes.size());
  std::vector<double> ranks;
  for (const auto size : sizes) ranks.push_back(static_cast<double>(size) + 1);
  for (const auto& vote : votes) ranks[vote.split] = vote.rank;
  feature.median_rank = median(std::move(ranks));
  for (std::size_t c = 0; c < static_cast<std::size_t>(result.columns); ++c) add_weights(result, c, feature);
  return feature;
}

void add_features(StudyResult& result, const std::vector<std::string>& names, std::span<const double> deviations) {
  std::map<std::int64_t, std::vector<Vote>> votes;
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::int64_t>> sets;
  for (std::size_t s = 0; s < result.splits.size(); ++s) {
    auto order = by_effect(result.splits[s], deviations);
    for (std::size_t k = 0; k < order.size(); ++k) votes[order[k]].push_back({s, static_cast<double>(k) + 1});
    sizes.push_back(order.size());
    sets.push_back(std::move(order));
  }
  for (const auto& [j, mine] : votes) {
    auto& feature = result.chosen.emplace_back(feature_of(result, j, mine, sizes));
    feature.name = names.empty() ? std::to_string(j + 1) : names[static_cast<std::size_t>(j)];
    feature.deviation = deviations[static_cast<std::size_t>(j)];
  }
  std::stable_sort(result.chosen.begin(), result.chosen.end(), [](const StudyFeature& a, const StudyFeature& b) {
    return std::pair(-a.frequency, a.median_rank) < std::pair(-b.frequency, b.median_rank);
  });
  result.stability = stability_of(sets, result.features);
}

/// Of the pairs that all splits tried; where there are none, of those that most did.
void find_best(StudyResult& result) {
  const double sign = info(*result.options.score).larger_is_better ? 1 : -1;
  std::size_t best = 0;
  Summarised found;
  for (std::size_t pair = 0; pair < result.pairs(); ++pair) {
    const auto here = result.surface(pair);
    const bool better = here.splits > found.splits ||
                        (here.splits == found.splits && here.splits > 0 && sign * here.mean > sign * found.mean);
    if (!better) continue;
    best = pair;
    found = here;
  }
  result.best_l1_ratio = static_cast<std::int32_t>(best / result.alpha_count());
  result.best_alpha = static_cast<std::int32_t>(best % result.alpha_count());
}

/// Large features need small weights, which cost little.
void note_scales(StudyResult& result, std::span<const double> deviations) {
  constexpr double much = 100;
  std::vector<double> varying;
  for (const double deviation : deviations)
    if (deviation > 0) varying.push_back(deviation);
  if (result.options.net.standardise || varying.size() < 2) return;
  std::sort(varying.begin(), varying.end());
  const double low = varying[varying.size() / 20];
  const double high = varying[varying.size() - 1 - varying.size() / 20];
  if (high > much * low)
    result.notes.push_back(
        fmt::format("features are on scales as different as {:.3g} and {:.3g} (standard deviations), and the penalty "
                    "spares those with large values; --standardise treats them alike",
                    low, high));
}

/// What a grid that ends too early leaves open, and choices that say little.
void add_notes(StudyResult& result) {
  const auto count = static_cast<std::int32_t>(result.alpha_count());
  std::size_t smallest = 0;
  std::size_t empty = 0;
  for (const auto& split : result.splits) {
    smallest += split.alpha == count - 1 && count > 1 ? 1 : 0;
    empty += std::all_of(split.nets.begin(), split.nets.end(), [](const auto& net) { return net.features.empty(); });
  }
  const auto all = result.splits.size();
  if (smallest * 2 > all)
    result.notes.push_back(
        fmt::format("{} of {} splits chose the smallest alpha that was tried; smaller ones may be better still ({})",
                    smallest, all, result.options.alphas.empty() ? "--smallest-share" : "--alphas"));
  if (empty > 0) result.notes.push_back(fmt::format("{} of {} splits chose a model without features", empty, all));
  if (result.options.l1_ratios.front() == 0 && result.splits.front().nonzeros.front() > 0)
    result.notes.emplace_back("at l1-ratio 0 every feature has a weight, so that nothing is selected there");
}

void add_warnings(StudyResult& result) {
  std::int64_t unconverged = 0;
  for (const auto& split : result.splits) unconverged += split.unconverged;
  if (unconverged > 0)
    result.warnings.push_back(
        fmt::format("{} models of the folds did not converge; scale the features (--standardise), or take more epochs "
                    "or larger alphas",
                    unconverged));
  for (std::size_t s = 0; s < result.splits.size(); ++s)
    for (const auto& net : result.splits[s].nets)
      if (!net.fit.converged)
        result.warnings.push_back(
            fmt::format("the final model of split {} did not converge: the duality gap is {:.3g} after {} epochs, "
                        "{:.3g} was wanted",
                        s + 1, net.fit.gap, net.fit.epochs, net.fit.tolerance));
}

}  // namespace

void tabulate(StudyResult& result, const std::vector<std::string>& names, std::span<const double> deviations) {
  add_features(result, names, deviations);
  find_best(result);
  add_warnings(result);
  note_scales(result, deviations);
  add_notes(result);
}

}  // namespace search

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

Summarised StudyResult::within(const StudySplit& split, std::size_t pair) const {
  const auto folds = static_cast<std::size_t>(options.folds);
  return summarise(std::span(split.scores).subspan(pair * folds, folds));
}

Summarised StudyResult::surface(std::size_t pair) const {
  std::vector<double> means;
  means.reserve(splits.size());
  for (const auto& split : splits) means.push_back(within(split, pair).mean);
  return summarise(means);
}

Summarised StudyResult::left_out(Metric metric) const {
  std::vector<double> scores;
  scores.reserve(splits.size());
  for (const auto& split : splits) scores.push_back(split.left_out.score(metric));
  return summarise(scores);
}

std::vector<Metric> StudyResult::known() const {
  std::vector<Metric> result;
  const bool probabilities = options.net.loss == Loss::logistic;
  for (const auto& row : metrics())
    if (row.suits(static_cast<std::int32_t>(class_names.size()), probabilities) &&
        (row.summary || row.metric == *options.score))
      result.push_back(row.metric);
  return result;
}

std::vector<StudyFeature> StudyResult::selected() const {
  std::vector<StudyFeature> result;
  for (const auto& feature : chosen)
    if (feature.frequency >= options.min_frequency) result.push_back(feature);
  return result;
}

}  // namespace sheaf
