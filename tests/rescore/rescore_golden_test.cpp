// Results of Percolator 3.08 on its yeast example: the same folds, iterations, q-values and PEPs, and scores to the
// digits that its solver settles. Folds and confidence are checked in every clone (tests/golden/percolator), the rest
// if the data and results lie beside the checkout (shared/data and shared/oracles).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <sheaf/rescore.hpp>

#include "data/bytes/text_source.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/training/folds.hpp"

namespace sheaf::test {
namespace rescore_golden_test {

const std::string shared = SHEAF_TESTS_DIR "/../../shared/";
const std::string oracles = shared + "oracles/percolator/yeast/";

/// The packed file, or the same without .xz, for builds that cannot read xz.
std::string unpacked_or(const std::string& packed) {
  const std::string plain = packed.ends_with(".xz") ? packed.substr(0, packed.size() - 3) : packed;
  return std::filesystem::exists(plain) ? plain : packed;
}
const std::string pin = unpacked_or(shared + "data/pin_percolator_yeast/percolatorTab.pin.xz");

std::vector<std::string> lines(const std::string& path) {
  const TextSource source(unpacked_or(path), silent_progress());
  return lines_of(std::string(source.text()));
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream in(line);
  for (std::string one; std::getline(in, one, '\t');) result.push_back(one);
  return result;
}

RescoreOptions percolator(std::uint64_t seed = 1) {
  RescoreOptions options;
  options.rules = RescoreRules::percolator;
  options.seed = seed;
  return options;
}

RescoreResult run(const RescoreOptions& options) {
  return rescore_psms<double>(Context(Context::Options{.threads = 2}), {pin}, options);
}

/// Results of one seed in tests/golden/percolator.
struct KeptSeed {
  std::string folds;
  std::vector<double> scores;  // any that have the order and the ties of Percolator's
  std::vector<std::uint8_t> targets;
  double pi0 = 1;
  std::vector<std::array<double, 3>> confidence;  // rank, q-value, PEP

  explicit KeptSeed(std::uint64_t seed) {
    const auto text = lines_of(contents(golden("percolator/seed" + std::to_string(seed) + ".txt")));
    folds = text[0];
    double score = 0;
    bool tied = false;
    for (const char c : text[1]) {
      if (c != '=') {
        score -= tied ? 0 : 1;
        scores.push_back(score);
        targets.push_back(c == 'T' ? 1 : 0);
      }
      tied = c == '=';
    }
    pi0 = std::stod(text[2]);
    for (std::size_t k = 3; k < text.size(); ++k) {
      std::istringstream in(text[k]);
      auto& row = confidence.emplace_back();
      in >> row[0] >> row[1] >> row[2];
    }
  }
};

TEST(Kept, FoldsAreThoseOfPercolator) {
  std::vector<std::int32_t> scans;
  for (const auto& line : lines_of(contents(golden("percolator/scans.txt")))) {
    std::istringstream in(line);
    std::int32_t scan = 0;
    std::size_t times = 0;
    in >> scan >> times;
    scans.insert(scans.end(), times, scan);
  }
  std::vector<std::int32_t> all(scans.size());
  std::iota(all.begin(), all.end(), 0);
  for (const std::uint64_t seed : {1, 2, 3}) {
    rescore::ParkMiller random(seed);
    std::string folds;
    for (const auto fold : rescore::percolator_folds({{}, scans}, all, 3, random)) folds += std::to_string(fold);
    EXPECT_EQ(folds, KeptSeed(seed).folds) << seed;
  }
}

TEST(Kept, ConfidenceIsThatOfPercolator) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const KeptSeed kept(seed);
    const rescore::Ranking ranking{kept.scores, kept.targets};
    const auto q = rescore::q_values(ranking, {.pi0 = kept.pi0});
    const auto pep = rescore::isotonic_peps(ranking);
    ASSERT_EQ(q.size(), 19674U);
    for (const auto& [rank, expected_q, expected_pep] : kept.confidence) {
      EXPECT_NEAR(q[static_cast<std::size_t>(rank)], expected_q, 5e-7);
      EXPECT_NEAR(pep[static_cast<std::size_t>(rank)], expected_pep, 1e-6 * expected_pep + 1e-9) << seed << " " << rank;
    }
  }
}

class Yeast : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(pin) || !std::filesystem::exists(oracles))
      GTEST_SKIP() << "Percolator's yeast example is not there: " << pin;
  }
};

/// The trace of every iteration, the folds of all rows and the numbers of accepted targets.
TEST_F(Yeast, IterationsAreThoseOfPercolator) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::string name = oracles + "exact_seed" + std::to_string(seed);
    const auto expected = read_json(name + ".json");
    const auto result = run(percolator(seed));
    const auto folds = lines(name + "_folds.txt.xz");
    ASSERT_EQ(folds.size(), result.folds.size());
    for (std::size_t i = 0; i < folds.size(); ++i) ASSERT_EQ(std::to_string(result.folds[i]), folds[i]) << i;
    EXPECT_EQ(result.initial_accepted, expected["init_test_pos"]);
    EXPECT_EQ(result.trained_accepted, expected["final_test_pos"]);
    EXPECT_EQ(result.psms.accepted, expected["psm_q_lt_01"]);
    EXPECT_EQ(result.peptides.accepted, expected["pep_q_lt_01"]);
    EXPECT_NEAR(result.psms.pi0, expected["pi0_psm"], 1e-12);
    EXPECT_NEAR(result.peptides.pi0, expected["pi0_pep"], 1e-12);
    ASSERT_EQ(result.iterations.size(), expected["trace"].size());
    for (std::size_t k = 0; k < result.iterations.size(); ++k) {
      const auto& trace = expected["trace"][k];
      EXPECT_EQ(result.iterations[k].estimated, trace["estimated"]);
      for (std::size_t f = 0; f < 3; ++f) {
        const auto& fold = result.iterations[k].folds[f];
        EXPECT_EQ(fold.positives, trace["folds"][f]["positives"]);
        EXPECT_EQ(fold.cost_positive, trace["folds"][f]["cpos"]);
        EXPECT_NEAR(fold.cost_ratio, trace["folds"][f]["cneg_over_cpos_per_ratio"], 1e-9);
        EXPECT_EQ(fold.accepted, trace["folds"][f]["train_pos_no_plus1"]);
      }
    }
  }
}

TEST_F(Yeast, ScoresOfAllRowsAreThoseOfAnExactSolver) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto result = run(percolator(seed));
    const auto rows = lines(oracles + "exact_seed" + std::to_string(seed) + "_rows.tsv.xz");
    ASSERT_EQ(result.psms.rows.size() + 1, rows.size());
    int swapped = 0;
    for (std::size_t k = 0; k < result.psms.rows.size(); ++k) {
      const auto expected = fields(rows[static_cast<std::size_t>(result.psms.rows[k]) + 1]);
      EXPECT_NEAR(result.psms.scores[k], std::stod(expected[0]), 2e-6);
      EXPECT_NEAR(result.psms.q[k], std::stod(expected[1]), 1e-8);
      // PEPs go by rank, and two rows of almost one score may stand in the other order.
      const double difference = std::abs(result.psms.pep[k] - std::stod(expected[2]));
      EXPECT_LE(difference, 3e-3);
      swapped += difference > 1e-6 ? 1 : 0;
    }
    EXPECT_LE(swapped, 20) << seed;
  }
}

/// Weights that Percolator wrote in one of its runs, as a file.
std::string weights_of(const std::string& run) {
  std::string text;
  bool inside = false;
  for (const auto& line : lines(oracles + "weights_all.txt.xz")) {
    if (line.starts_with("=="))
      inside = line == "== yeast/" + run + "/weights.txt";
    else if (inside)
      text += line + "\n";
  }
  std::string path = testing::TempDir() + "sheaf_yeast_weights.txt";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST_F(Yeast, WeightsFilesAreThoseOfPercolator) {
  const std::string ours = testing::TempDir() + "sheaf_yeast_our_weights.txt";
  for (const std::uint64_t seed : {1, 2, 3}) {
    write_weights(run(percolator(seed)).model, ours, false);
    const auto theirs = lines(weights_of("default/s" + std::to_string(seed)));
    const auto mine = lines(ours);
    ASSERT_EQ(mine.size(), theirs.size());
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const bool numbers = k > 3 && (k - 3) % 3 != 0;
      if (!numbers) {
        EXPECT_EQ(mine[k], theirs[k]);
      }
      const auto left = fields(mine[k]);
      const auto right = fields(theirs[k]);
      ASSERT_EQ(left.size(), right.size());
      for (std::size_t j = 0; numbers && j < left.size(); ++j)
        EXPECT_NEAR(std::stod(left[j]), std::stod(right[j]), 1.01e-4 + 2e-5 * std::abs(std::stod(right[j])));
    }
  }
}

/// Counts may differ by two through rounding.
TEST_F(Yeast, CountsAreThoseOfPercolatorOnAllDevices) {
  for (const Device device : devices())
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto expected = read_json(oracles + "exact_seed" + std::to_string(seed) + ".json");
      const Context there(Context::Options{.device = device, .threads = 2});
      const auto result = rescore_psms<double>(there, {pin}, percolator(seed));
      EXPECT_NEAR(static_cast<double>(result.initial_accepted), expected["init_test_pos"].get<double>(), 2);
      EXPECT_NEAR(static_cast<double>(result.trained_accepted), expected["final_test_pos"].get<double>(), 2);
      EXPECT_NEAR(static_cast<double>(result.psms.accepted), expected["psm_q_lt_01"].get<double>(), 2);
      EXPECT_NEAR(static_cast<double>(result.peptides.accepted), expected["pep_q_lt_01"].get<double>(), 2);
      ASSERT_EQ(result.iterations.size(), expected["trace"].size());
      for (std::size_t k = 0; k < result.iterations.size(); ++k)
        EXPECT_NEAR(static_cast<double>(result.iterations[k].estimated),
                    expected["trace"][k]["estimated"].get<double>(), 2);
    }
}

struct Variant {
  const char* name;
  void (*set)(RescoreOptions&);
};

const std::vector<Variant> variants{
    {"default", [](RescoreOptions&) {}},
    {"tdc_Y", [](RescoreOptions& o) { o.confidence = Confidence::competition; }},
    {"I_concat",
     [](RescoreOptions& o) {
       o.search = SearchType::concatenated;
       o.confidence = Confidence::plain;
     }},
    {"F05_t05", [](RescoreOptions& o) { o.train_fdr = o.test_fdr = 0.05; }},
    {"nested3", [](RescoreOptions& o) { o.nested = 3; }},
    {"irls_pep", [](RescoreOptions& o) { o.pep = PepMethod::spline; }},
    {"ip_pep", [](RescoreOptions& o) { o.pep = PepMethod::score; }},
    {"pava_pep", [](RescoreOptions& o) { o.pep = PepMethod::pooled; }},
    {"subset_half", [](RescoreOptions& o) { o.subset = 5000; }},  // -N 5000
    {"static",
     [](RescoreOptions& o) {
       o.initial_weights = read_weights(weights_of("default/s1")).raw[0];
       o.apply_only = true;
     }},
};

/// Compares one printed column; scores may differ in the sixth digit, where Percolator's solver stops early.
struct Column {
  std::int64_t different = 0;
  double largest = 0;

  void add(double ours, const std::string& theirs) {
    const double value = std::stod(theirs);
    if (fmt_six(ours) == theirs || (std::isnan(ours) && std::isnan(value))) return;
    ++different;
    largest = std::max(largest, std::abs(ours - value) / std::max(std::abs(value), 1e-3));
  }
  static std::string fmt_six(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }
};

TEST_F(Yeast, TablesAreThoseOfPercolator) {
  for (const Variant& variant : variants) {
    auto options = percolator();
    variant.set(options);
    const auto result = run(options);
    std::map<std::string, std::vector<std::vector<std::string>>> expected;
    for (const auto& line : lines(oracles + variant.name + "_s1.tsv.xz")) {
      auto row = fields(line);
      expected[row[0] + row[1]].push_back(std::move(row));
    }
    for (const bool peptides : {false, true})
      for (const bool targets : {true, false}) {
        const auto& level = peptides ? result.peptides : result.psms;
        const auto& rows = expected[std::string(peptides ? "pep" : "psms") + (targets ? "1" : "-1")];
        Column scores;
        Column q;
        Column pep;
        std::size_t at = 0;
        for (std::size_t k = 0; k < level.rows.size(); ++k) {
          if (result.text(level.rows[k]).target != targets) continue;
          ASSERT_LT(at, rows.size()) << variant.name;
          scores.add(level.scores[k], rows[at][3]);
          q.add(level.q[k], rows[at][4]);
          pep.add(level.pep[k], rows[at][5]);
          ++at;
        }
        EXPECT_EQ(at, rows.size()) << variant.name;
        const std::string where = std::string(variant.name) + (peptides ? " peptides" : " PSMs");
        EXPECT_LE(scores.different, static_cast<std::int64_t>(rows.size() / 100)) << where;
        EXPECT_LE(scores.largest, 3e-5) << where;
        // Two rows of almost one score may stand in the other order.
        EXPECT_LE(q.different, static_cast<std::int64_t>(rows.size() / 200)) << where;
        EXPECT_LE(q.largest, 5e-4) << where;
        EXPECT_LE(pep.largest, 1.1e-5) << where << " " << pep.different;
      }
  }
}

TEST_F(Yeast, ProteinsAreThoseOfPercolator) {
  auto options = percolator();
  options.proteins = true;
  const auto result = run(options);
  const auto expected = lines(oracles + "picked_auto_proteins.tsv.xz");
  Column q;
  Column pep;
  std::size_t at = 1;
  for (const auto& protein : result.proteins) {
    if (!protein.target) continue;
    ASSERT_LT(at, expected.size());
    const auto row = fields(expected[at++]);
    EXPECT_EQ(protein.name, row[0]);
    EXPECT_EQ(std::to_string(protein.group), row[1]);
    q.add(protein.q, row[2]);
    pep.add(protein.pep, row[3]);
  }
  EXPECT_EQ(at, expected.size());
  EXPECT_EQ(q.different, 0);
  EXPECT_LE(pep.largest, 1e-4);
}

/// The options that correspond to flags of Percolator's runs; flags that change tables alone are left out.
const std::map<std::string, void (*)(RescoreOptions&)> settings{
    {"default", [](RescoreOptions&) {}},
    {"F05_t01", [](RescoreOptions& o) { o.train_fdr = 0.05; }},
    {"F05_t05", [](RescoreOptions& o) { o.train_fdr = o.test_fdr = 0.05; }},
    {"I_concat",
     [](RescoreOptions& o) {
       o.search = SearchType::concatenated;
       o.confidence = Confidence::plain;
     }},
    {"tdc_Y", [](RescoreOptions& o) { o.confidence = Confidence::competition; }},
    {"nested3", [](RescoreOptions& o) { o.nested = 3; }},
    {"fixedC", [](RescoreOptions& o) { o.cost_positive = o.cost_negative = 1; }},
    {"initw", [](RescoreOptions& o) { o.initial_weights = read_weights(weights_of("default/s1")).raw[0]; }},
    {"maxiter1", [](RescoreOptions& o) { o.iterations = 1; }},
    {"quick", [](RescoreOptions& o) { o.quick = true; }},
    {"train_best_pos", [](RescoreOptions& o) { o.best_positive = true; }},
    {"unitnorm", [](RescoreOptions& o) { o.scaling = FeatureScaling::unit_interval; }},
};

/// Accepted PSMs and peptides of all its runs, most of which are kept as counts alone. Two of the 43
/// (--train-best-positive, where Percolator's own sort leaves the order of equals open, and seed 8, where its solver
/// stops early) differ a little.
TEST_F(Yeast, CountsOfAllRunsAreThoseOfPercolator) {
  std::set<std::string> seen;
  std::set<std::string> different;
  for (const auto& line : lines(oracles + "summary.tsv")) {
    const auto row = fields(line);
    const auto found = settings.find(row[1]);
    if (found == settings.end()) continue;
    seen.insert(row[1]);
    auto options = percolator(std::stoull(row[2]));
    found->second(options);
    const auto result = run(options);
    const auto accepted = [&](const RescoreLevel& level, double limit) {
      std::int64_t count = 0;
      for (std::size_t k = 0; k < level.rows.size(); ++k)
        count += result.is_target(level.rows[k]) && level.q[k] <= limit ? 1 : 0;
      return count;
    };
    const std::string what = row[1] + ", seed " + row[2];
    for (const auto& [count, column] : {std::pair{accepted(result.psms, 0.01), 5},
                                        {accepted(result.psms, 0.05), 6},
                                        {accepted(result.peptides, 0.01), 8},
                                        {accepted(result.peptides, 0.05), 9},
                                        {result.initial_accepted, 10},
                                        {result.trained_accepted, 11}}) {
      const std::int64_t expected = std::stoll(row[static_cast<std::size_t>(column)]);
      EXPECT_LE(std::abs(count - expected), 2) << what << ", column " << column;
      if (count != expected) different.insert(what);
    }
  }
  EXPECT_EQ(seen.size(), settings.size());
  EXPECT_LE(different.size(), 2U);
}

}  // namespace rescore_golden_test
}  // namespace sheaf::test
