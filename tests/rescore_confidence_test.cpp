// Q-values, pi0, PEPs, folds and the best of spectra and peptides, against definitions written out plainly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/random.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/confidence/finish.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/training/folds.hpp"
#include "rescore/training/subset.hpp"

namespace sheaf::rescore {
namespace {

struct Scores {
  std::vector<double> scores;
  std::vector<std::uint8_t> targets;
  Ranking view() const { return {scores, targets}; }
};

/// Descending, with ties where `steps` is small.
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

TEST(Pi0, IsNearTheShareOfIncorrectTargets) {
  const auto all = draw(40000, 4, 0, 3);
  ParkMiller random(1);
  EXPECT_NEAR(estimate_pi0(p_values(all.view()), random), 0.6, 0.04);
  const auto nothing = draw(40000, 0, 0, 4);
  EXPECT_NEAR(estimate_pi0(p_values(nothing.view()), random), 1, 0.04);
}

TEST(Pi0, PerfectSeparationIsSeen) {
  Scores all;
  for (int i = 0; i < 1000; ++i) {
    all.scores.push_back(1000 - i);
    all.targets.push_back(i < 500 ? 1 : 0);
  }
  EXPECT_TRUE(is_separated(p_values(all.view())));
  EXPECT_FALSE(is_separated(p_values(draw(1000, 2, 0, 5).view())));
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

TEST(Best, OneOfEachSpectrumAndPeptide) {
  const Rows rows = spectra(2000, 4);
  std::vector<std::int32_t> all(rows.scans.size());
  std::iota(all.begin(), all.end(), 0);
  const auto order = ranked(Context(Context::Options{.threads = 2}), rows.view(), rows.scores, all);
  for (std::size_t k = 1; k < order.size(); ++k)
    EXPECT_GE(rows.scores[static_cast<std::size_t>(order[k - 1])], rows.scores[static_cast<std::size_t>(order[k])]);
  std::map<std::tuple<std::int32_t, std::int32_t, double>, double> best;
  for (std::size_t i = 0; i < rows.scores.size(); ++i) {
    auto& mine = best.try_emplace({rows.files[i], rows.scans[i], rows.masses[i]}, -1e9).first->second;
    mine = std::max(mine, rows.scores[i]);
  }
  const auto winners = best_of_spectra(rows.view(), order);
  EXPECT_EQ(winners.size(), best.size());
  for (const auto i : winners) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(rows.scores[k], (best[{rows.files[k], rows.scans[k], rows.masses[k]}]));
  }
  const std::vector<std::string> peptides{"K.AAC.R", "R.AAC.D", "K.AAG.R", "AAC", "K.AAC[16].R"};
  const auto text = [&](std::int32_t i) -> std::string_view { return peptides[static_cast<std::size_t>(i) % 5]; };
  const auto distinct = best_of_peptides(rows.view(), order, RescoreRules::safe, text);
  EXPECT_EQ(distinct.size(), 6U);  // AAC, AAG and AAC[16], each of targets and of decoys
  EXPECT_EQ(distinct[0], order[0]);
}

TEST(Best, PeptideKeysRespectUnflankedForms) {
  EXPECT_EQ(peptide_key("K.PEPTIDE.R", RescoreRules::safe), "PEPTIDE");
  EXPECT_EQ(peptide_key("-.n[42]PEPTIDE.-", RescoreRules::safe), "n[42]PEPTIDE");
  EXPECT_EQ(peptide_key("PEPTIDE", RescoreRules::safe), "PEPTIDE");
  EXPECT_EQ(peptide_key("PEPTIDE", RescoreRules::percolator), "PTI");
  EXPECT_EQ(peptide_key("PEP", RescoreRules::percolator), "PEP");
}

TEST(SearchTypes, SeparateWhereASpectrumHasBothLabels) {
  Rows rows;
  rows.files = {0, 1};
  rows.scans = {5, 5};
  rows.masses = {100, 100};
  rows.labels = {1, -1};
  EXPECT_EQ(find_search_type(rows.view(), RescoreRules::safe), SearchType::concatenated);
  EXPECT_EQ(find_search_type(rows.view(), RescoreRules::percolator), SearchType::separate);
  rows.files = {1, 1};
  EXPECT_EQ(find_search_type(rows.view(), RescoreRules::safe), SearchType::separate);
}

}  // namespace
}  // namespace sheaf::rescore
