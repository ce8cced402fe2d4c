// Rescoring of PSMs whose truth is known: accepted sets hold as many incorrect ones as they say, weak data end without
// an error, and nothing depends on threads or on the order of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include <sheaf/generate.hpp>
#include <sheaf/rescore.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "golden.hpp"

namespace sheaf::test {
namespace {

std::string generated(const std::string& name, const PsmOptions& options, std::uint64_t seed) {
  const std::string path = testing::TempDir() + "sheaf_psms_" + name + ".pin";
  generate_psms(Context(Context::Options{.threads = 2, .seed = seed}), options, path);
  return path;
}

Context context(int threads = 2) { return Context(Context::Options{.threads = threads}); }

/// Incorrect ones among the accepted of several runs.
struct Truth {
  double accepted = 0, wrong = 0, peps = 0;

  void add(const RescoreResult& result, const RescoreLevel& level, double limit) {
    for (std::size_t k = 0; k < level.rows.size(); ++k) {
      const auto psm = result.text(level.rows[k]);
      if (!psm.target || level.q[k] > limit) continue;
      ++accepted;
      peps += level.pep[k];
      wrong += psm.id.ends_with("_wrong") ? 1 : 0;
    }
  }
};

/// Three standard errors of the share of incorrect ones, and one accepted decoy's worth in each run.
void expect_calibrated(const Truth& truth, double limit, int runs, const std::string& what) {
  ASSERT_GT(truth.accepted, 500) << what;
  const double share = truth.wrong / truth.accepted;
  EXPECT_LE(std::abs(share - limit), 3 * std::sqrt(2 * limit / truth.accepted) + runs / truth.accepted)
      << what << ": " << truth.wrong << " of " << truth.accepted;
}

TEST(Calibration, AcceptedSetsHoldAsManyErrorsAsTheySay) {
  constexpr int runs = 4;
  for (const bool separate : {false, true})
    for (const double limit : {0.01, 0.05}) {
      Truth psms;
      Truth peptides;
      for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        PsmOptions data;
        data.spectra = 30000;
        data.separate = separate;
        RescoreOptions options;
        options.seed = seed;
        options.iterations = 4;
        const auto result = rescore_psms<float>(context(), {generated("calibration", data, 200 + seed)}, options);
        psms.add(result, result.psms, limit);
        peptides.add(result, result.peptides, limit);
      }
      const std::string what = separate ? "separate" : "concatenated";
      expect_calibrated(psms, limit, runs, what + " PSMs");
      EXPECT_LE(peptides.wrong / peptides.accepted,
                limit + 3 * std::sqrt(2 * limit / peptides.accepted) + runs / peptides.accepted);
      EXPECT_NEAR(psms.peps / psms.wrong, 1, 0.35) << what;
    }
}

TEST(Calibration, GroupsAreCalibratedEach) {
  PsmOptions data;
  data.spectra = 40000;
  data.files = 2;
  RescoreOptions options;
  options.group = "file";
  options.iterations = 3;
  const auto result = rescore_psms<float>(context(), {generated("groups", data, 7)}, options);
  ASSERT_EQ(result.group_names.size(), 2U);
  for (std::int32_t g = 0; g < 2; ++g) {
    double accepted = 0;
    double wrong = 0;
    for (std::size_t k = 0; k < result.psms.rows.size(); ++k) {
      const auto psm = result.text(result.psms.rows[k]);
      if (result.groups[static_cast<std::size_t>(result.psms.rows[k])] != g || !psm.target || result.psms.q[k] > 0.05)
        continue;
      ++accepted;
      wrong += psm.id.ends_with("_wrong") ? 1 : 0;
    }
    EXPECT_NEAR(wrong / accepted, 0.05, 3 * std::sqrt(0.1 / accepted) + 1 / accepted);
  }
}

TEST(Calibration, NothingIsAcceptedWhereNothingIsCorrect) {
  for (const std::int64_t spectra : {200, 3000}) {
    PsmOptions data;
    data.spectra = spectra;
    data.correct = 0;
    const auto result = rescore_psms<float>(context(), {generated("nothing", data, 3)}, {});
    EXPECT_LE(result.psms.accepted, spectra / 100);
  }
}

TEST(Rescore, LearnsMoreThanTheBestFeature) {
  PsmOptions data;
  data.spectra = 20000;
  const auto result = rescore_psms<float>(context(), {generated("gain", data, 5)}, {});
  EXPECT_GT(static_cast<double>(result.trained_accepted), 1.05 * static_cast<double>(result.initial_accepted));
  EXPECT_FALSE(result.fell_back);
  EXPECT_EQ(result.iterations.size(), 10U);
  EXPECT_EQ(result.iterations.back().tested, result.trained_accepted);
}

void expect_same(const RescoreResult& one, const RescoreResult& other) {
  ASSERT_EQ(one.psms.rows.size(), other.psms.rows.size());
  for (std::size_t k = 0; k < one.psms.rows.size(); ++k) {
    EXPECT_EQ(one.text(one.psms.rows[k]).id, other.text(other.psms.rows[k]).id);
    EXPECT_EQ(one.psms.scores[k], other.psms.scores[k]);
    EXPECT_EQ(one.psms.q[k], other.psms.q[k]);
    EXPECT_EQ(one.psms.pep[k], other.psms.pep[k]);
  }
  EXPECT_EQ(one.model.raw, other.model.raw);
}

TEST(Rescore, SameBitsForAnyThreadsAndAnyOrderOfRows) {
  PsmOptions data;
  data.spectra = 3000;
  data.files = 3;
  data.separate = true;
  const auto path = generated("order", data, 11);
  RescoreOptions options;
  options.iterations = 3;
  const auto one = rescore_psms<float>(context(1), {path}, options);
  expect_same(one, rescore_psms<float>(context(3), {path}, options));

  auto lines = lines_of(contents(path));
  Random(5).shuffle(std::span(lines).subspan(1));
  const std::string shuffled = testing::TempDir() + "sheaf_psms_shuffled.pin";
  std::ofstream out(shuffled, std::ios::binary);
  for (const auto& line : lines) out << line << "\n";
  out.close();
  expect_same(one, rescore_psms<float>(context(2), {shuffled}, options));
}

TEST(Rescore, DevicesAgreeOnCounts) {
  PsmOptions data;
  data.spectra = 20000;
  const auto path = generated("devices", data, 13);
  RescoreOptions options;
  options.iterations = 4;
  const auto expected = rescore_psms<double>(context(), {path}, options);
  for (const Device device : devices()) {
    const Context there(Context::Options{.device = device, .threads = 2});
    const auto result = rescore_psms<double>(there, {path}, options);
    EXPECT_NEAR(static_cast<double>(result.psms.accepted), static_cast<double>(expected.psms.accepted), 2);
    EXPECT_NEAR(static_cast<double>(result.trained_accepted), static_cast<double>(expected.trained_accepted), 2);
    const auto single = rescore_psms<float>(there, {path}, options);
    EXPECT_NEAR(static_cast<double>(single.psms.accepted), static_cast<double>(expected.psms.accepted),
                static_cast<double>(expected.psms.accepted) / 100);
  }
}

TEST(Rescore, ASubsetTrainsAndAllAreScoredByModelsThatDidNotSeeThem) {
  PsmOptions data;
  data.spectra = 20000;
  const auto path = generated("subset", data, 17);
  RescoreOptions options;
  options.iterations = 4;
  const auto all = rescore_psms<float>(context(), {path}, options);
  options.subset = 5000;
  const auto some = rescore_psms<float>(context(), {path}, options);
  EXPECT_EQ(some.psms.rows.size(), all.psms.rows.size());
  EXPECT_GT(static_cast<double>(some.psms.accepted), 0.9 * static_cast<double>(all.psms.accepted));
  Truth truth;
  truth.add(some, some.psms, 0.05);
  expect_calibrated(truth, 0.05, 1, "subset");
}

TEST(Rescore, WeightsFilesGoBothWays) {
  PsmOptions data;
  data.spectra = 5000;
  const auto path = generated("weights", data, 19);
  RescoreOptions options;
  options.iterations = 2;
  const auto result = rescore_psms<double>(context(), {path}, options);
  const std::string file = testing::TempDir() + "sheaf_weights.txt";
  write_weights(result.model, file, true);
  const auto model = read_weights(file);
  EXPECT_EQ(model.feature_names, result.model.feature_names);
  EXPECT_EQ(model.raw, result.model.raw);
  EXPECT_EQ(model.normalised, result.model.normalised);
  write_weights(result.model, file, false);
  const auto short_model = read_weights(file);
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t j = 0; j < model.raw[f].size(); ++j) EXPECT_NEAR(short_model.raw[f][j], model.raw[f][j], 0.51e-4);
  // Scores with the saved weights are those of the model itself.
  RescoreOptions fixed;
  fixed.rules = RescoreRules::percolator;
  fixed.initial_weights = model.raw[0];
  fixed.apply_only = true;
  const auto applied = rescore_psms<double>(context(), {path}, fixed);
  EXPECT_GT(applied.psms.accepted, 0);
  EXPECT_TRUE(applied.iterations.empty());
}

TEST(Rescore, GeneratedPsmsDoNotDependOnThreads) {
  PsmOptions data;
  data.spectra = 9000;
  data.files = 4;
  const std::string one = testing::TempDir() + "sheaf_one.pin";
  const std::string other = testing::TempDir() + "sheaf_other.pin";
  generate_psms(Context(Context::Options{.threads = 1, .seed = 2}), data, one);
  generate_psms(Context(Context::Options{.threads = 3, .seed = 2}), data, other);
  EXPECT_EQ(contents(one), contents(other));
}

TEST(Rescore, UnusableDataAreErrors) {
  const auto write = [](const std::string& text) {
    const std::string path = testing::TempDir() + "sheaf_unusable.pin";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  };
  const std::string head = "SpecId\tLabel\tScanNr\tx\tPeptide\tProteins\n";
  EXPECT_THROW(rescore_psms<float>(context(), {write(head + "a\t1\t1\t1\tP\tQ\n")}, {}), Error);
  EXPECT_THROW(rescore_psms<float>(context(), {write(head + "a\t-1\t1\t1\tP\tQ\n")}, {}), Error);
  RescoreOptions options;
  options.direction = "no such feature";
  EXPECT_THROW(rescore_psms<float>(context(), {write(head + "a\t-1\t1\t1\tP\tQ\nb\t1\t2\t2\tP\tQ\n")}, options),
               UsageError);
}

}  // namespace
}  // namespace sheaf::test
