#include "rescore/confidence/finish.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/training/ranking.hpp"

namespace sheaf::rescore {
namespace {

/// Scores and labels of ranked rows.
struct RankedScores {
  std::vector<double> scores;
  std::vector<std::uint8_t> targets;

  RankedScores(const TrainingRows& rows, std::span<const double> all, std::span<const std::int32_t> ranked) {
    scores.reserve(ranked.size());
    targets.reserve(ranked.size());
    for (const std::int32_t i : ranked) {
      scores.push_back(all[static_cast<std::size_t>(i)]);
      targets.push_back(rows.labels[static_cast<std::size_t>(i)] > 0 ? 1 : 0);
    }
  }
  Ranking view() const { return {scores, targets}; }
};

struct Scale {
  double zero = 0;  // the score that becomes 0
  double unit = 1;
};

/// Zero at the worst score with q < rate, met before the median decoy, which becomes -1. `unit` <= 0: there is none.
Scale find_scale(const RankedScores& ranked, std::span<const double> q, double rate) {
  const auto decoys = std::count(ranked.targets.begin(), ranked.targets.end(), 0);
  double zero = ranked.scores[0];
  double median = zero + 1;
  std::int64_t passed = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (q[i] < rate) zero = ranked.scores[i];
    if (ranked.targets[i] == 0 && ++passed == decoys / 2) {
      median = ranked.scores[i];
      break;
    }
  }
  return {zero, zero - median};
}

/// Where no score is good enough for find_scale(): between the median and the best twentieth of the decoys.
Scale decoy_scale(const RankedScores& ranked) {
  std::vector<double> decoys;
  for (std::size_t i = 0; i < ranked.scores.size(); ++i)
    if (ranked.targets[i] == 0) decoys.push_back(ranked.scores[i]);
  if (decoys.empty()) return {};
  const double good = decoys[decoys.size() / 20];
  const double median = decoys[decoys.size() / 2];
  return {good, good > median ? good - median : 1};
}

std::uint64_t text_hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325U ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash ^ (hash >> 32U);
}

/// Finds the first of equal elements: an open-addressed table of places.
class FirstOfEqual {
 public:
  explicit FirstOfEqual(std::size_t count) : slots_(std::bit_ceil(2 * count + 2), -1) {}

  /// Whether nothing equal to `place` was here before.
  template <class Equal>
  bool insert(std::uint64_t hash, std::int32_t place, const Equal& equal) {
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] < 0) {
        slots_[at] = place;
        return true;
      }
      if (equal(slots_[at], place)) return false;
    }
  }

 private:
  std::vector<std::int32_t> slots_;
};

std::uint64_t spectrum_hash(const TrainingRows& rows, std::int32_t row, bool with_file) {
  const auto scan = static_cast<std::uint64_t>(static_cast<std::uint32_t>(rows.keys.scan(row)));
  const auto mass = std::bit_cast<std::uint64_t>(rows.masses[static_cast<std::size_t>(row)] + 0.0);
  const auto file = static_cast<std::uint64_t>(with_file ? rows.keys.file(row) : 0);
  const std::uint64_t hash = (scan * 0x9E3779B97F4A7C15U ^ mass * 0xC2B2AE3D27D4EB4FU) + file * 0x165667B19E3779F9U;
  return hash ^ (hash >> 31U);
}

bool same_spectrum(const TrainingRows& rows, std::int32_t a, std::int32_t b, bool with_file) {
  return rows.keys.scan(a) == rows.keys.scan(b) &&
         rows.masses[static_cast<std::size_t>(a)] == rows.masses[static_cast<std::size_t>(b)] &&
         (!with_file || rows.keys.file(a) == rows.keys.file(b));
}

}  // namespace

std::vector<std::int32_t> ranked(const Context& context, const TrainingRows& rows, std::span<const double> scores,
                                 std::vector<std::int32_t> members) {
  const RankOrder better{rows, scores};
  // Parts are sorted side by side, then merged in pairs; the order is total, so the result does not depend on them.
  const auto count = static_cast<std::int64_t>(members.size());
  const std::int64_t parts = count < (1 << 16) ? 1 : std::bit_floor(static_cast<std::uint64_t>(context.threads()) * 2);
  const auto at = [&](std::int64_t part) {
    return members.begin() + (part >= parts ? count : part_of(count, parts, part).begin);
  };
  parallel_for(context, parts, [&](std::int64_t k) { std::sort(at(k), at(k + 1), better); });
  for (std::int64_t size = 1; size < parts; size *= 2)
    parallel_for(context, parts / (2 * size), [&](std::int64_t k) {
      std::inplace_merge(at(2 * size * k), at(2 * size * k + size), at(2 * size * (k + 1)), better);
    });
  return members;
}

SearchType find_search_type(const TrainingRows& rows, RescoreRules rules) {
  // One label for each spectrum that was seen; a second one of the other label settles it.
  const bool with_file = rules == RescoreRules::safe;
  FirstOfEqual seen(static_cast<std::size_t>(rows.size()));
  bool both = false;
  for (std::int32_t i = 0; i < rows.size() && !both; ++i)
    seen.insert(spectrum_hash(rows, i, with_file), i, [&](std::int32_t a, std::int32_t b) {
      const bool same = same_spectrum(rows, a, b, with_file);
      both |= same && rows.labels[static_cast<std::size_t>(a)] != rows.labels[static_cast<std::size_t>(b)];
      return same;
    });
  return both ? SearchType::separate : SearchType::concatenated;
}

std::vector<std::int32_t> best_of_spectra(const TrainingRows& rows, std::span<const std::int32_t> ranked) {
  FirstOfEqual seen(ranked.size());
  std::vector<std::int32_t> best;
  for (const std::int32_t i : ranked)
    if (seen.insert(spectrum_hash(rows, i, true), i,
                    [&](std::int32_t a, std::int32_t b) { return same_spectrum(rows, a, b, true); }))
      best.push_back(i);
  return best;
}

std::string_view peptide_key(std::string_view peptide, RescoreRules rules) {
  const std::size_t size = peptide.size();
  const bool flanked = size > 4 && peptide[1] == '.' && peptide[size - 2] == '.';
  if (rules == RescoreRules::safe ? !flanked : size < 4) return peptide;
  return peptide.substr(2, size - 4);
}

std::vector<std::int32_t> best_of_peptides(const TrainingRows& rows, std::span<const std::int32_t> ranked,
                                           RescoreRules rules,
                                           const std::function<std::string_view(std::int32_t)>& peptide) {
  FirstOfEqual seen(ranked.size());
  std::vector<std::int32_t> best;
  const auto label = [&](std::int32_t i) { return rows.labels[static_cast<std::size_t>(i)]; };
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows.size()), 0);
  for (const std::int32_t i : ranked) {
    const std::uint64_t hash = text_hash(peptide_key(peptide(i), rules), label(i) > 0 ? 1 : 2);
    hashes[static_cast<std::size_t>(i)] = hash;
    const bool fresh = seen.insert(hash, i, [&](std::int32_t a, std::int32_t b) {
      return hashes[static_cast<std::size_t>(a)] == hash && label(a) == label(b) &&
             peptide_key(peptide(a), rules) == peptide_key(peptide(b), rules);
    });
    if (fresh) best.push_back(i);
  }
  return best;
}

double check_and_estimate_pi0(const TrainingRows& rows, std::span<const double> scores,
                              std::span<const std::int32_t> ranked, bool mix_max, bool tolerant, ParkMiller& random,
                              std::vector<std::string>& warnings) {
  if (ranked.empty()) return 1;
  const RankedScores both(rows, scores, ranked);
  const auto p = p_values(both.view());
  if (!is_separated(p)) return mix_max ? estimate_pi0(p, random) : 1;
  if (!tolerant)
    fail(
        "targets and decoys are separated too well: no target scores as low as a decoy, so errors cannot be "
        "estimated; is a feature made from the label?");
  warnings.emplace_back("targets and decoys are separated too well to estimate errors");
  return 1;
}

namespace {

[[noreturn]] void fail_scale(double rate) {
  fail(
      "the median decoy scores at least as well as PSMs at an FDR of {:g}: scores cannot be put on one scale; lower "
      "--trainFDR",
      rate);
}

/// Where find_scale() found none. `usual`: what it found.
Scale other_scale(const RankedScores& ranked, const Scale& usual, RescoreRules rules) {
  return rules == RescoreRules::safe ? decoy_scale(ranked) : Scale{usual.zero + 1, 1};
}

}  // namespace

void merge_folds(const TrainingRows& rows, std::span<const std::uint16_t> folds, const FoldScaling& scaling,
                 std::vector<double>& scores, std::vector<std::vector<double>>& weights, ParkMiller& random,
                 std::vector<std::string>& warnings) {
  const bool tolerant = scaling.tolerant || scaling.rules == RescoreRules::safe;
  std::vector<RankedScores> ranked;
  std::vector<Scale> scales;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    std::vector<std::int32_t> members;
    for (std::size_t i = 0; i < folds.size(); ++i)
      if (folds[i] == f) members.push_back(static_cast<std::int32_t>(i));
    std::sort(members.begin(), members.end(), RankOrder{rows, scores});
    ranked.emplace_back(rows, scores, members);
    const double pi0 = check_and_estimate_pi0(rows, scores, members, scaling.mix_max, tolerant, random, warnings);
    scales.push_back(members.empty() ? Scale{}
                                     : find_scale(ranked[f], q_values(ranked[f].view(), {.pi0 = pi0}), scaling.rate));
  }
  if (!scaling.rescale) return;
  const auto lacks = [](const Scale& scale) { return scale.unit <= 0; };
  if (std::any_of(scales.begin(), scales.end(), lacks)) {
    if (!tolerant) fail_scale(scaling.rate);
    warnings.push_back(fmt::format(
        "scores of the folds are put on one scale by their decoys, since too few PSMs have q < {:g}", scaling.rate));
    for (std::size_t f = 0; f < scales.size(); ++f)
      if (scaling.rules == RescoreRules::safe || lacks(scales[f]))
        scales[f] = other_scale(ranked[f], scales[f], scaling.rules);
  }
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = (scores[i] - scales[folds[i]].zero) / scales[folds[i]].unit;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    for (double& w : weights[f]) w /= scales[f].unit;
    weights[f].back() -= scales[f].zero / scales[f].unit;
  }
}

void rescale_by(const TrainingRows& rows, std::span<const std::int32_t> ranked, double pi0, const FoldScaling& scaling,
                std::vector<double>& scores, std::vector<std::string>& warnings) {
  const RankedScores both(rows, scores, ranked);
  Scale scale = find_scale(both, q_values(both.view(), {.pi0 = pi0}), scaling.rate);
  if (scale.unit <= 0) {
    if (!scaling.tolerant) fail_scale(scaling.rate);
    warnings.push_back(fmt::format("scores are not rescaled, since too few PSMs have q < {:g}", scaling.rate));
    scale = other_scale(both, scale, scaling.rules);
  }
  for (double& score : scores) score = (score - scale.zero) / scale.unit;
}

RescoreLevel make_level(const TrainingRows& rows, std::span<const double> scores, std::vector<std::int32_t> ranked,
                        double pi0, bool mix_max, const RescoreOptions& options) {
  RescoreLevel level;
  RankedScores both(rows, scores, ranked);
  const FdrRule rule{.pi0 = pi0};
  level.pi0 = pi0;
  level.q = q_values(both.view(), rule);
  level.accepted = count_accepted(both.view(), level.q, options.test_fdr);
  level.targets = std::count(both.targets.begin(), both.targets.end(), 1);
  level.decoys = static_cast<std::int64_t>(ranked.size()) - level.targets;
  PepMethod method = options.pep;
  if (method == PepMethod::automatic)
    method = options.rules == RescoreRules::safe && mix_max ? PepMethod::corrected : PepMethod::rank;
  switch (method) {
    case PepMethod::pooled:
      level.pep = pooled_peps(both.view(), level.q);
      break;
    case PepMethod::spline:
      level.pep = spline_peps(both.view(), mix_max, pi0);
      break;
    case PepMethod::corrected:
      level.pep = corrected_peps(both.view(), rule);
      break;
    default:
      level.pep = isotonic_peps(both.view(), method == PepMethod::score);
  }
  level.rows = std::move(ranked);
  level.scores = std::move(both.scores);
  return level;
}

}  // namespace sheaf::rescore
