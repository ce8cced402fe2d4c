// Q-values, pi0, PEPs, folds and the best of spectra and peptides, against definitions written out plainly; the verbs
// of confidence on every device against the functions of one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/random.hpp"
#include "devices.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/confidence/finish.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/confidence/peptides.hpp"
#include "rescore/training/folds.hpp"
#include "rescore/training/ranking.hpp"
#include "rescore/training/subset.hpp"

namespace sheaf::rescore {
namespace rescore_confidence_test {

struct Scores {
  std::vector<double> scores;
  std::vector<std::uint8_t> targets;
  Ranking view() const { return {scores, targets}; }
};

/// Descending, with ties if `steps` is small.
Scores draw(std::size_t count, double shift, int steps, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::pair<double, std::uint8_t>> all;
  for (std::size_t i = 0; i < count; ++i) {
    const bool target = random.uniform() < 0.5;
    const bool correct = target && random.uniform() < 0.4;
    const double score = random.normal() + (correct ? shift : 0);
    all.emplace_back(steps > 0 ? std::round(score * steps) / steps : score, target ? 1 : 0);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Scores result;
  for (const auto& [score, target] : all) {
    result.scores.push_back(score);
    result.targets.push_back(target);
  }
  return result;
}

/// The least FDR over all thresholds that accept the score.
double plain_q(const Scores& all, double score, bool plus_one) {
  double least = 1;
  for (const double threshold : all.scores) {
    if (threshold > score) continue;
    double targets = 0;
    double decoys = plus_one ? 1 : 0;
    for (std::size_t i = 0; i < all.scores.size(); ++i)
      if (all.scores[i] >= threshold) ++(all.targets[i] != 0 ? targets : decoys);
    least = std::min(least, decoys / std::max(1.0, targets));
  }
  return least;
}

TEST(QValues, AreTheLeastRateThatAcceptsAScore) {
  for (const int steps : {0, 3})
    for (const bool plus_one : {false, true}) {
      const auto all = draw(200, 2.5, steps, 1);
      const auto q = q_values(all.view(), {.plus_one = plus_one});
      for (std::size_t i = 0; i < q.size(); ++i) EXPECT_DOUBLE_EQ(q[i], plain_q(all, all.scores[i], plus_one));
    }
  EXPECT_TRUE(q_values({}, {}).empty());
}

TEST(QValues, MixMaxLiesBetweenPi0AndOne) {
  const auto all = draw(5000, 2.5, 0, 2);
  const auto low = q_values(all.view(), {.pi0 = 0.6});
  const auto high = q_values(all.view(), {.pi0 = 1});
  for (std::size_t i = 0; i < low.size(); ++i) {
    EXPECT_LE(low[i], high[i] + 1e-12);
    EXPECT_GE(low[i], 0.6 * high[i] - 1e-12);
    if (i > 0) {
      EXPECT_LE(low[i - 1], low[i]);
    }
  }
}

TEST(PValues, ShareTiesAndAscend) {
  const Scores all{{3, 2, 2, 2, 1}, {1, 0, 1, 1, 0}};
  const auto p = p_values(all.view());
  // Two decoys; of the tied one a third and two thirds.
  ASSERT_EQ(p.size(), 3U);
  EXPECT_DOUBLE_EQ(p[0], 1.0 / 3);
  EXPECT_DOUBLE_EQ(p[1], (1 + 1.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(p[2], (1 + 2.0 / 3) / 3);
}

/// On the host.
PValues as_values(const std::vector<double>& p) {
  return {
      .size = static_cast<std::int64_t>(p.size()),
      .count_below =
          [&](std::span<const double> limits) {
            std::vector<std::int64_t> counts;
            for (const double limit : limits)
              counts.push_back(std::count_if(p.begin(), p.end(), [&](double value) { return value < limit; }));
            return counts;
          },
      .at =
          [&](std::span<const std::int64_t> places) {
            std::vector<double> values;
            for (const auto place : places) values.push_back(p[static_cast<std::size_t>(place)]);
            return values;
          },
  };
}

TEST(Pi0, IsNearTheShareOfIncorrectTargets) {
  ParkMiller random(1);
  const auto some = p_values(draw(40000, 4, 0, 3).view());
  EXPECT_NEAR(estimate_pi0(as_values(some), random), 0.6, 0.04);
  const auto nothing = p_values(draw(40000, 0, 0, 4).view());
  EXPECT_NEAR(estimate_pi0(as_values(nothing), random), 1, 0.04);
}

TEST(Pi0, PerfectSeparationIsSeen) {
  Scores all;
  for (int i = 0; i < 1000; ++i) {
    all.scores.push_back(1000 - i);
    all.targets.push_back(i < 500 ? 1 : 0);
  }
  const auto separated = p_values(all.view());
  EXPECT_TRUE(is_separated(as_values(separated)));
  const auto overlapping = p_values(draw(1000, 2, 0, 5).view());
  EXPECT_FALSE(is_separated(as_values(overlapping)));
}

TEST(Peps, RiseFromZeroToOneAndAgreeWithQ) {
  const auto all = draw(60000, 3, 0, 6);
  const auto q = q_values(all.view(), {});
  for (const auto& peps :
       {isotonic_peps(all.view()), spline_peps(all.view(), false, 1), corrected_peps(all.view(), {})}) {
    ASSERT_EQ(peps.size(), all.scores.size());
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < peps.size(); ++i) {
      EXPECT_GE(peps[i], 0);
      EXPECT_LE(peps[i], 1);
      if (i > 0) {
        EXPECT_GE(peps[i], peps[i - 1] - 1e-12);
      }
      if (all.targets[i] == 0 || q[i] > 0.05) continue;
      sum += peps[i];
      ++count;
    }
    EXPECT_NEAR(sum / count, 0.05, 0.015);
  }
}

TEST(Peps, CorrectedOnesAgreeWithMixMax) {
  const auto all = draw(60000, 3, 0, 7);
  const FdrRule rule{.pi0 = 0.6};
  const auto q = q_values(all.view(), rule);
  const auto peps = corrected_peps(all.view(), rule);
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < peps.size(); ++i)
    if (all.targets[i] != 0 && q[i] <= 0.05) {
      sum += peps[i];
      ++count;
    }
  EXPECT_NEAR(sum / count, 0.05, 0.01);
}

TEST(Pool, IsTheNearestSequenceThatNeverFalls) {
  EXPECT_EQ(pool_adjacent_violators(std::vector<double>{1, 3, 2, 4}), (std::vector<double>{1, 2.5, 2.5, 4}));
  EXPECT_EQ(pool_adjacent_violators(std::vector<double>{3, 2, 1}), (std::vector<double>{2, 2, 2}));
  EXPECT_TRUE(pool_adjacent_violators({}).empty());
}

struct Rows {
  std::vector<std::int32_t> files, scans;
  std::vector<std::int8_t> labels;
  std::vector<double> masses, scores;
  std::vector<std::uint64_t> hashes{17, 42, 4711};

  TrainingRows view() const { return {{files, scans}, labels, masses, hashes}; }
};

Rows spectra(std::int32_t count, std::uint64_t seed) {
  Random random(seed);
  Rows rows;
  for (std::int32_t i = 0; i < count; ++i)
    for (std::uint64_t k = 0; k <= random.below(3); ++k) {
      rows.files.push_back(i % 3);
      rows.scans.push_back(i / 3);
      rows.labels.push_back(random.uniform() < 0.5 ? 1 : -1);
      rows.masses.push_back(static_cast<double>(i % 5));
      rows.scores.push_back(random.normal());
    }
  return rows;
}

std::vector<std::uint16_t> safe_folds(const Rows& rows, const std::vector<std::int32_t>& order, std::uint64_t seed) {
  std::vector<std::uint16_t> folds;
  for (const std::int32_t i : order) folds.push_back(spectrum_fold(rows.view().keys, rows.hashes, i, 3, seed));
  return folds;
}

TEST(Folds, KeepSpectraTogetherAndAreOfOneSize) {
  const Rows rows = spectra(3000, 1);
  std::vector<std::int32_t> all(rows.scans.size());
  std::iota(all.begin(), all.end(), 0);
  ParkMiller random(3);
  for (const auto& folds : {percolator_folds(rows.view().keys, all, 3, random), safe_folds(rows, all, 3)}) {
    std::vector<std::int64_t> sizes(3, 0);
    std::map<std::pair<std::int32_t, std::int32_t>, std::set<std::uint16_t>> of_spectra;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      ++sizes[folds[i]];
      of_spectra[{rows.files[i], rows.scans[i]}].insert(folds[i]);
    }
    for (const auto size : sizes) EXPECT_NEAR(static_cast<double>(size), static_cast<double>(folds.size()) / 3, 150);
    for (const auto& [key, mine] : of_spectra) EXPECT_EQ(mine.size(), 1U);
  }
}

TEST(Folds, SafeOnesDependOnSpectraAndSeedAlone) {
  const Rows rows = spectra(500, 2);
  std::vector<std::int32_t> all(rows.scans.size());
  std::iota(all.begin(), all.end(), 0);
  const auto folds = safe_folds(rows, all, 9);
  EXPECT_NE(folds, safe_folds(rows, all, 10));
  // A row keeps its fold wherever it stands and whatever else there is.
  Rows alone;
  alone.hashes = rows.hashes;
  for (auto [to, from] : {std::pair{&alone.files, &rows.files}, {&alone.scans, &rows.scans}})
    to->push_back((*from)[77]);
  alone.labels = {1};
  alone.masses = {0};
  alone.scores = {0};
  EXPECT_EQ(safe_folds(alone, {0}, 9)[0], folds[77]);
}

TEST(Reservoir, TakesWholeSpectraButForTheLast) {
  const Rows rows = spectra(2000, 3);
  ParkMiller random(1);
  const auto chosen = reservoir(rows.view(), 1000, random);
  EXPECT_EQ(chosen.size(), 1000U);
  EXPECT_EQ(std::set<std::int32_t>(chosen.begin(), chosen.end()).size(), 1000U);
}

template <class V>
std::vector<V> fetched(const Array<V>& there) {
  const auto here = there.to(Device::cpu());
  return {here.begin(), here.end()};
}

void expect_near(const Array<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
  const auto here = fetched(found);
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(here[i])) << i;
    else
      EXPECT_NEAR(here[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << i;
  }
}

/// Rows on a device with scores of which many are equal, and of which targets are better.
struct RankedCase {
  Rows rows;
  TrainingRows view;
  Context context;
  std::unique_ptr<ConfidenceOps> ops;
  Array<double> scores;

  RankedCase(Device device, std::int32_t count, int steps, std::uint64_t seed)
      : rows(spectra(count, seed)), view(rows.view()), context(Context::Options{.device = device, .threads = 2}) {
    Random random(seed + 1);
    for (std::size_t i = 0; i < rows.scores.size(); ++i) {
      if (rows.labels[i] > 0 && random.uniform() < 0.4) rows.scores[i] += 3;
      if (steps > 0) rows.scores[i] = std::round(rows.scores[i] * steps) / steps;
    }
    ops = make_confidence_ops(context, view);
    scores = Array<double>::copy_of(rows.scores, device);
  }
  std::vector<std::int32_t> plain_order() const {
    std::vector<std::int32_t> order(rows.scans.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), RankOrder{view, rows.scores});
    return order;
  }
  RankedList all() const { return ops->rank(scores, {}, 0); }
};

/// The scores and labels of a list, on the host.
Scores on_host(const RankedList& list) { return {fetched(list.scores), fetched(list.targets)}; }

const std::vector<std::int32_t> counts{1, 2, 31, 32, 33, 1000, 20000};
const std::vector<int> all_steps{0, 1, 50};

TEST(ConfidenceVerbs, RankAsTheOrderSays) {
  for (const Device device : test::devices())
    for (const auto count : counts)
      for (const int steps : all_steps)
        for (const bool targets_first : {false, true}) {
          RankedCase one(device, count, steps, 11);
          one.rows.masses[0] = -0.0;
          one.view.targets_first = targets_first;
          one.ops = make_confidence_ops(one.context, one.view);
          const auto list = one.all();
          const auto order = one.plain_order();
          EXPECT_EQ(fetched(list.rows), order);
          const auto both = on_host(list);
          std::vector<std::uint16_t> folds;
          for (std::size_t i = 0; i < order.size(); ++i) {
            const auto row = static_cast<std::size_t>(order[i]);
            EXPECT_EQ(both.scores[i], one.rows.scores[row]);
            EXPECT_EQ(both.targets[i], one.rows.labels[row] > 0 ? 1 : 0);
            folds.push_back(static_cast<std::uint16_t>(i % 3));
          }
          const auto fold = one.ops->rank(one.scores, Array<std::uint16_t>::copy_of(folds, device), 1);
          std::vector<std::int32_t> expected;
          for (const auto row : order)
            if (row % 3 == 1) expected.push_back(row);
          EXPECT_EQ(fetched(fold.rows), expected);
        }
}

/// The first of each key, by a set of keys.
template <class Key>
std::vector<std::int32_t> plain_first(const std::vector<std::int32_t>& order, const Key& key) {
  std::set<decltype(key(0))> seen;
  std::vector<std::int32_t> first;
  for (const auto row : order)
    if (seen.insert(key(row)).second) first.push_back(row);
  return first;
}

TEST(ConfidenceVerbs, KeepTheBestOfSpectraKeysAndGroups) {
  const std::vector<std::string> peptides{"K.AAC.R", "R.AAC.D", "K.AAG.R", "AAC", "K.AAC[16].R", "K.AACAACAACAAC.R"};
  for (const Device device : test::devices())
    for (const auto count : counts) {
      const RankedCase one(device, count, 2, 12);
      const auto list = one.all();
      const auto order = one.plain_order();
      const auto at = [](const auto& values, std::int32_t row) { return values[static_cast<std::size_t>(row)]; };
      EXPECT_EQ(fetched(one.ops->best_of_spectra(list).rows), plain_first(order, [&](std::int32_t row) {
                  return std::tuple(at(one.rows.files, row), at(one.rows.scans, row), at(one.rows.masses, row));
                }));
      std::vector<Fingerprint> keys;
      for (std::size_t i = 0; i < order.size(); ++i)
        keys.push_back(peptide_fingerprint(peptides[i % 6], one.rows.labels[i] > 0, RescoreRules::safe));
      const auto best = one.ops->best_of_keys(list, keys);
      EXPECT_EQ(fetched(best.rows), plain_first(order, [&](std::int32_t row) {
                  return std::pair(peptide_key(peptides[static_cast<std::size_t>(row) % 6], RescoreRules::safe),
                                   at(one.rows.labels, row));
                }));
      // Keys that share the half used for lookup are still distinguished.
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {7, i % 5};
      EXPECT_EQ(fetched(one.ops->best_of_keys(list, keys).rows),
                plain_first(order, [](std::int32_t row) { return row % 5; }));
      const auto files = Array<std::int32_t>::copy_of(one.rows.files, device);
      std::vector<std::int32_t> members;
      for (const auto row : order)
        if (at(one.rows.files, row) == 1) members.push_back(row);
      EXPECT_EQ(fetched(one.ops->of_group(list, files, 1).rows), members);
    }
}

TEST(ConfidenceVerbs, FindSpectraOfBothLabels) {
  for (const Device device : test::devices())
    for (const auto count : counts) {
      const Context context(Context::Options{.device = device, .threads = 2});
      Rows rows = spectra(count, 13);
      for (std::size_t i = 0; i < rows.labels.size(); ++i) rows.labels[i] = rows.scans[i] % 2 == 0 ? 1 : -1;
      EXPECT_FALSE(make_confidence_ops(context, rows.view())->has_mixed_spectra(true));
      // Another spectrum but for its file.
      rows.files.push_back(rows.files.back() + 1);
      rows.scans.push_back(rows.scans.back());
      rows.masses.push_back(rows.masses.back());
      rows.labels.push_back(static_cast<std::int8_t>(-rows.labels.back()));
      EXPECT_FALSE(make_confidence_ops(context, rows.view())->has_mixed_spectra(true));
      EXPECT_TRUE(make_confidence_ops(context, rows.view())->has_mixed_spectra(false));
      rows.files.back() = rows.files[rows.files.size() - 2];
      EXPECT_TRUE(make_confidence_ops(context, rows.view())->has_mixed_spectra(true));
    }
}

TEST(ConfidenceVerbs, EstimateErrorsAsOneThreadDoes) {
  for (const Device device : test::devices())
    for (const auto count : counts)
      for (const int steps : all_steps)
        for (const double pi0 : {1.0, 0.7}) {
          const RankedCase one(device, count, steps, 14);
          const auto list = one.all();
          const auto both = on_host(list);
          const FdrRule rule{.pi0 = pi0};
          const auto q = q_values(both.view(), rule);
          const auto found = one.ops->q_values(list, rule);
          expect_near(found, q, 1e-12);
          expect_near(one.ops->p_values(list), p_values(both.view()), 1e-12);
          const bool mixed = pi0 < 1;
          expect_near(one.ops->peps(PepMethod::rank, list, found, rule, mixed), isotonic_peps(both.view()), 1e-9);
          expect_near(one.ops->peps(PepMethod::corrected, list, found, rule, mixed), corrected_peps(both.view(), rule),
                      1e-9);
          expect_near(one.ops->peps(PepMethod::pooled, list, found, rule, mixed),
                      pooled_peps(both.view(), fetched(found)), 1e-9);
          if (count < 1000) continue;  // a curve over scores needs some
          expect_near(one.ops->peps(PepMethod::score, list, found, rule, mixed), isotonic_peps(both.view(), true),
                      1e-7);
          expect_near(one.ops->peps(PepMethod::spline, list, found, rule, mixed), spline_peps(both.view(), mixed, pi0),
                      1e-7);
        }
}

TEST(ConfidenceVerbs, CountAndLookUp) {
  for (const Device device : test::devices())
    for (const auto count : counts) {
      RankedCase one(device, count, 3, 15);
      const auto list = one.all();
      const auto both = on_host(list);
      const auto n = list.size();
      for (const std::int64_t first : {std::int64_t{0}, n / 2, n})
        EXPECT_EQ(one.ops->count_targets(list, first),
                  std::count(both.targets.begin(), both.targets.begin() + first, 1));
      std::vector<double> decoys;
      for (std::size_t i = 0; i < both.scores.size(); ++i)
        if (both.targets[i] == 0) decoys.push_back(both.scores[i]);
      if (!decoys.empty()) {
        const std::vector<std::int64_t> places{0, static_cast<std::int64_t>(decoys.size()) / 2};
        EXPECT_EQ(one.ops->decoy_scores(list, places), (std::vector<double>{decoys[0], decoys[decoys.size() / 2]}));
      }
      EXPECT_EQ(one.ops->values_at(list.scores, std::vector<std::int64_t>{n - 1, 0}),
                (std::vector<double>{both.scores.back(), both.scores.front()}));
      const std::vector<double> ascending(both.scores.rbegin(), both.scores.rend());
      const std::vector<double> limits{-10, 0, 0.5, 10};
      std::vector<std::int64_t> below;
      for (const double limit : limits)
        below.push_back(std::count_if(ascending.begin(), ascending.end(), [&](double value) { return value < limit; }));
      EXPECT_EQ(one.ops->count_below(Array<double>::copy_of(ascending, device), limits), below);
      std::vector<std::uint16_t> folds;
      for (std::int64_t i = 0; i < n; ++i) folds.push_back(static_cast<std::uint16_t>(i % 2));
      const std::vector<Scale> scales{{1, 2}, {-3, 0.5}};
      one.ops->rescale(one.scores, Array<std::uint16_t>::copy_of(folds, device), scales);
      const auto rescaled = fetched(one.scores);
      for (std::size_t i = 0; i < rescaled.size(); ++i)
        EXPECT_EQ(rescaled[i], (one.rows.scores[i] - scales[i % 2].zero) / scales[i % 2].unit);
    }
}

/// Zero at the worst score of low q, unless the median decoy is better; minus one at the median decoy.
TEST(Merging, PutsFoldsOnOneScale) {
  for (const Device device : test::devices()) {
    RankedCase one(device, 20000, 0, 16);
    std::vector<std::uint16_t> folds;
    for (std::size_t i = 0; i < one.rows.scores.size(); ++i) folds.push_back(static_cast<std::uint16_t>(i % 3));
    std::vector<std::vector<double>> weights(3, std::vector<double>{2, 1});
    std::vector<std::string> warnings;
    ParkMiller random(1);
    merge_folds(*one.ops, Array<std::uint16_t>::copy_of(folds, device), {}, one.scores, weights, random, warnings);
    EXPECT_TRUE(warnings.empty());
    for (std::uint16_t fold = 0; fold < 3; ++fold) {
      const auto list = on_host(one.ops->rank(one.scores, Array<std::uint16_t>::copy_of(folds, device), fold));
      const auto q = q_values(list.view(), {});
      double worst = 0;
      std::vector<double> decoys;
      for (std::size_t i = 0; i < q.size(); ++i) {
        if (q[i] < 0.01) worst = list.scores[i];
        if (list.targets[i] == 0) decoys.push_back(list.scores[i]);
      }
      EXPECT_NEAR(worst, 0, 1e-12);
      EXPECT_NEAR(decoys[decoys.size() / 2 - 1], -1, 1e-12);
      // The earlier scores of rows, 2 f + 1, and their present scores agree with the old and the new weights.
      const double f = (one.rows.scores[fold] - 1) / 2;
      EXPECT_NEAR(weights[fold][0] * f + weights[fold][1], fetched(one.scores)[fold], 1e-9);
    }
  }
}

TEST(Best, PeptideKeysRespectUnflankedForms) {
  EXPECT_EQ(peptide_key("K.PEPTIDE.R", RescoreRules::safe), "PEPTIDE");
  EXPECT_EQ(peptide_key("-.n[42]PEPTIDE.-", RescoreRules::safe), "n[42]PEPTIDE");
  EXPECT_EQ(peptide_key("PEPTIDE", RescoreRules::safe), "PEPTIDE");
  EXPECT_EQ(peptide_key("PEPTIDE", RescoreRules::percolator), "PTI");
  EXPECT_EQ(peptide_key("PEP", RescoreRules::percolator), "PEP");
}

}  // namespace rescore_confidence_test
}  // namespace sheaf::rescore
