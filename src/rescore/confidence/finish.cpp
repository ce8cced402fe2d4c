#include "rescore/confidence/finish.hpp"

#include <algorithm>

#include "core/fail.hpp"

namespace sheaf::rescore {
namespace {

std::int64_t count_decoys(ConfidenceOps& ops, const RankedList& list) {
  return list.size() - ops.count_targets(list, list.size());
}

double score_at(ConfidenceOps& ops, const RankedList& list, std::int64_t place) {
  return ops.values_at(list.scores, std::span(&place, 1))[0];
}

/// Zero at the worst score with q < rate that is no worse than the median decoy, which becomes -1. `unit` <= 0: there
/// is none.
Scale find_scale(ConfidenceOps& ops, const RankedList& list, const Array<double>& q, double rate) {
  const std::int64_t good = ops.count_below(q, std::span(&rate, 1))[0];
  const double zero = score_at(ops, list, std::max<std::int64_t>(good - 1, 0));
  const std::int64_t middle = count_decoys(ops, list) / 2 - 1;
  if (middle < 0) return {zero, zero - (score_at(ops, list, 0) + 1)};
  const double median = ops.decoy_scores(list, std::span(&middle, 1))[0];
  return {std::max(zero, median), std::max(zero, median) - median};
}

/// The scale if no score is good enough for find_scale(): from the median to the best twentieth of the decoys.
Scale decoy_scale(ConfidenceOps& ops, const RankedList& list) {
  const std::int64_t decoys = count_decoys(ops, list);
  if (decoys == 0) return {};
  const std::int64_t places[] = {decoys / 20, decoys / 2};
  const auto scores = ops.decoy_scores(list, places);
  return {scores[0], scores[0] > scores[1] ? scores[0] - scores[1] : 1};
}

[[noreturn]] void fail_scale(double rate) {
  fail(
      "the median decoy scores at least as well as PSMs at an FDR of {:g}: scores cannot be put on one scale; lower "
      "--trainFDR",
      rate);
}

/// The scale if find_scale() found none. `usual`: its result.
Scale other_scale(ConfidenceOps& ops, const RankedList& list, const Scale& usual, RescoreRules rules) {
  return rules == RescoreRules::safe ? decoy_scale(ops, list) : Scale{usual.zero + 1, 1};
}

template <class V>
std::vector<V> on_host(const Array<V>& there) {
  std::vector<V> here(static_cast<std::size_t>(there.size()));
  copy_bytes(here.data(), Device::cpu(), there.data(), there.device(), there.bytes());
  return here;
}

PepMethod method_of(const RescoreOptions& options, bool mix_max) {
  if (options.pep != PepMethod::automatic) return options.pep;
  return options.rules == RescoreRules::safe && mix_max ? PepMethod::corrected : PepMethod::rank;
}

}  // namespace

double check_and_estimate_pi0(ConfidenceOps& ops, const RankedList& list, bool mix_max, bool tolerant,
                              ParkMiller& random, std::vector<std::string>& warnings) {
  if (list.size() == 0) return 1;
  const Array<double> p = ops.p_values(list);
  const PValues values{
      .size = p.size(),
      .count_below = [&](std::span<const double> limits) { return ops.count_below(p, limits); },
      .at = [&](std::span<const std::int64_t> places) { return ops.values_at(p, places); },
  };
  if (!is_separated(values)) return mix_max ? estimate_pi0(values, random) : 1;
  if (!tolerant)
    fail(
        "targets and decoys are separated too well: no target scores as low as a decoy, so errors cannot be "
        "estimated; is a feature made from the label?");
  warnings.emplace_back("targets and decoys are separated too well to estimate errors");
  return 1;
}

void merge_folds(ConfidenceOps& ops, const Array<std::uint16_t>& folds, const FoldScaling& scaling,
                 Array<double>& scores, std::vector<std::vector<double>>& weights, ParkMiller& random,
                 std::vector<std::string>& warnings) {
  const bool tolerant = scaling.tolerant || scaling.rules == RescoreRules::safe;
  std::vector<RankedList> lists;
  std::vector<Scale> scales;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    lists.push_back(ops.rank(scores, folds, static_cast<std::uint16_t>(f)));
    const RankedList& list = lists.back();
    const double pi0 = check_and_estimate_pi0(ops, list, scaling.mix_max, tolerant, random, warnings);
    scales.push_back(list.size() == 0 ? Scale{}
                                      : find_scale(ops, list, ops.q_values(list, {.pi0 = pi0}), scaling.rate));
  }
  if (!scaling.rescale) return;
  const auto lacks = [](const Scale& scale) { return scale.unit <= 0; };
  if (std::any_of(scales.begin(), scales.end(), lacks)) {
    if (!tolerant) fail_scale(scaling.rate);
    warnings.push_back(fmt::format(
        "scores of the folds are put on one scale by their decoys, since too few PSMs have q < {:g}", scaling.rate));
    for (std::size_t f = 0; f < scales.size(); ++f)
      if (scaling.rules == RescoreRules::safe || lacks(scales[f]))
        scales[f] = other_scale(ops, lists[f], scales[f], scaling.rules);
  }
  ops.rescale(scores, folds, scales);
  for (std::size_t f = 0; f < weights.size(); ++f) {
    for (double& w : weights[f]) w /= scales[f].unit;
    weights[f].back() -= scales[f].zero / scales[f].unit;
  }
}

void rescale_list(ConfidenceOps& ops, RankedList& list, double pi0, const FoldScaling& scaling,
                  std::vector<std::string>& warnings) {
  Scale scale = find_scale(ops, list, ops.q_values(list, {.pi0 = pi0}), scaling.rate);
  if (scale.unit <= 0) {
    if (!scaling.tolerant) fail_scale(scaling.rate);
    warnings.push_back(fmt::format("scores are not rescaled, since too few PSMs have q < {:g}", scaling.rate));
    scale = other_scale(ops, list, scale, scaling.rules);
  }
  ops.rescale(list.scores, {}, std::span(&scale, 1));
}

RescoreLevel make_level(ConfidenceOps& ops, const RankedList& list, double pi0, bool mix_max,
                        const RescoreOptions& options) {
  RescoreLevel level;
  level.pi0 = pi0;
  const FdrRule rule{.pi0 = pi0};
  const Array<double> q = ops.q_values(list, rule);
  level.accepted = ops.count_targets(list, ops.count_below(q, std::span(&options.test_fdr, 1))[0]);
  level.targets = ops.count_targets(list, list.size());
  level.decoys = list.size() - level.targets;
  level.pep = on_host(ops.peps(method_of(options, mix_max), list, q, rule, mix_max));
  level.q = on_host(q);
  level.rows = on_host(list.rows);
  level.scores = on_host(list.scores);
  return level;
}

}  // namespace sheaf::rescore
