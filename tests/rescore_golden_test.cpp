// Results of Percolator 3.08 on its yeast example, where the data and results lie beside the checkout (shared/data and
// shared/oracles): the same folds, iterations, q-values and PEPs, and scores to the digits that its solver settles.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include <sheaf/rescore.hpp>

#include "data/read/text_source.hpp"
#include "golden.hpp"

namespace sheaf::test {
namespace {

const std::string shared = SHEAF_TESTS_DIR "/../../shared/";
const std::string pin = shared + "data/pin_percolator_yeast/percolatorTab.pin.xz";
const std::string oracles = shared + "oracles/percolator/yeast/";

std::vector<std::string> lines(const std::string& path) {
  const TextSource source(path, silent_progress());
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
  const auto result = run(percolator(2));
  const auto rows = lines(oracles + "exact_seed2_rows.tsv.xz");
  for (std::size_t k = 0; k < result.psms.rows.size(); ++k) {
    const auto expected = fields(rows[static_cast<std::size_t>(result.psms.rows[k]) + 1]);
    EXPECT_NEAR(result.psms.scores[k], std::stod(expected[0]), 2e-6);
    EXPECT_NEAR(result.psms.q[k], std::stod(expected[1]), 1e-8);
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

/// Counts of runs whose tables are not kept: accepted PSMs and peptides at 0.01.
TEST_F(Yeast, CountsOfOtherSettingsAreThoseOfPercolator) {
  struct Counts {
    const char* name;
    std::int64_t psms, peptides;
    std::function<void(RescoreOptions&)> set;
  };
  const std::vector<Counts> table{
      {"default, seed 2", 1169, 933, [](RescoreOptions& o) { o.seed = 2; }},
      {"default, seed 7", 1066, 867, [](RescoreOptions& o) { o.seed = 7; }},
      {"competition, seed 3", 1055, 863,
       [](RescoreOptions& o) {
         o.seed = 3;
         o.confidence = Confidence::competition;
       }},
      {"nested 3, seed 5", 1121, 912,
       [](RescoreOptions& o) {
         o.seed = 5;
         o.nested = 3;
       }},
      {"train 0.05, test 0.01", 1144, 914, [](RescoreOptions& o) { o.train_fdr = 0.05; }},
      {"one iteration", 1121, 912, [](RescoreOptions& o) { o.iterations = 1; }},
      {"quick", 1164, 941, [](RescoreOptions& o) { o.quick = true; }},
      {"unit interval", 1174, 950, [](RescoreOptions& o) { o.scaling = FeatureScaling::unit_interval; }},
  };
  for (const Counts& one : table) {
    auto options = percolator();
    one.set(options);
    const auto result = run(options);
    EXPECT_EQ(result.psms.accepted, one.psms) << one.name;
    EXPECT_EQ(result.peptides.accepted, one.peptides) << one.name;
  }
}

}  // namespace
}  // namespace sheaf::test
