// Rescoring of PSMs whose truth is known: accepted sets hold as many incorrect ones as reported, weak data end without
// an error, and nothing depends on threads or on the order of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include <sheaf/generate.hpp>
#include <sheaf/rescore.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "rescore/training/normalise.hpp"
#include "rescore/training/train.hpp"

namespace sheaf::test {
namespace rescore_calibration_test {

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
      if (!result.is_target(level.rows[k]) || level.q[k] > limit) continue;
      ++accepted;
      peps += level.pep[k];
      wrong += result.text(level.rows[k]).id.ends_with("_wrong") ? 1 : 0;
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

/// `bench_rescore --calibrate 20` does the same with 20 sets of 200,000 spectra.
TEST(Calibration, AcceptedSetsHoldAsManyErrorsAsTheySay) {
  constexpr int runs = 4;
  for (const bool separate : {false, true}) {
    std::map<double, std::pair<Truth, Truth>> truths{{0.01, {}}, {0.05, {}}};  // PSMs and peptides
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      PsmOptions data;
      data.spectra = 40000;
      data.separate = separate;
      RescoreOptions options;
      options.seed = seed;
      options.iterations = 4;
      const auto result = rescore_psms<float>(context(), {generated("calibration", data, 200 + seed)}, options);
      for (auto& [limit, both] : truths) {
        both.first.add(result, result.psms, limit);
        both.second.add(result, result.peptides, limit);
      }
    }
    for (const auto& [limit, both] : truths) {
      const std::string what = separate ? "separate " : "concatenated ";
      expect_calibrated(both.first, limit, runs, what + "PSMs");
      expect_calibrated(both.second, limit, runs, what + "peptides");
      EXPECT_NEAR(both.first.peps / both.first.wrong, 1, 0.2 + 2 / std::sqrt(both.first.wrong)) << what << limit;
    }
  }
}

TEST(Calibration, GroupsAreCalibratedEach) {
  PsmOptions data;
  data.spectra = 60000;
  data.files = 2;
  RescoreOptions options;
  options.group = "file";
  options.iterations = 3;
  const auto result = rescore_psms<float>(context(), {generated("groups", data, 7)}, options);
  ASSERT_EQ(result.group_names.size(), 2U);
  for (std::int32_t g = 0; g < 2; ++g)
    for (const double limit : {0.01, 0.05}) {
      RescoreLevel group;
      for (std::size_t k = 0; k < result.psms.rows.size(); ++k) {
        if (result.groups[static_cast<std::size_t>(result.psms.rows[k])] != g) continue;
        group.rows.push_back(result.psms.rows[k]);
        group.q.push_back(result.psms.q[k]);
        group.pep.push_back(result.psms.pep[k]);
      }
      Truth truth;
      truth.add(result, group, limit);
      expect_calibrated(truth, limit, 1, "group " + std::to_string(g));
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

/// Ends a run after iteration `last`, like a signal that cannot be caught.
struct Killed {};
void run_and_kill(const std::string& path, RescoreOptions options, int last) {
  options.log = [last](int, std::string_view line) {
    if (line.starts_with("Iteration " + std::to_string(last) + ":")) throw Killed();
  };
  EXPECT_THROW(rescore_psms<float>(context(), {path}, options), Killed);
}

TEST(Rescore, AResumedRunGivesTheSameBits) {
  PsmOptions data;
  data.spectra = 4000;
  const auto path = generated("resume", data, 29);
  const std::string folder = testing::TempDir() + "sheaf_resume";
  for (const int nested : {1, 2})
    for (const int last : {4, 7, 12}) {
      std::filesystem::remove_all(folder);
      RescoreOptions options;
      options.iterations = 12;
      options.nested = nested;
      const auto whole = rescore_psms<float>(context(), {path}, options);
      options.checkpoint = folder + "/journal.txt";
      run_and_kill(path, options, last);
      EXPECT_EQ(std::filesystem::exists(options.checkpoint), last >= 5) << last;
      options.resume = true;
      int iterations = 0;
      options.log = [&](int, std::string_view line) { iterations += line.starts_with("Iteration ") ? 1 : 0; };
      const auto resumed = rescore_psms<float>(context(3), {path}, options);
      EXPECT_EQ(iterations, last < 5 ? 12 : last == 7 ? 7 : 2) << last;
      EXPECT_EQ(resumed.iterations.size(), 12U);
      expect_same(whole, resumed);
      EXPECT_FALSE(resumed.log->had_ended());
    }
}

TEST(Rescore, ARunThatHadEndedGivesTheSameBitsAgain) {
  PsmOptions data;
  data.spectra = 3000;
  const auto path = generated("ended", data, 37);
  const std::string folder = testing::TempDir() + "sheaf_ended";
  for (const int nested : {1, 2})
    for (const int iterations : {0, 5, 7}) {
      std::filesystem::remove_all(folder);
      RescoreOptions options;
      options.iterations = iterations;
      options.nested = nested;
      const auto whole = rescore_psms<float>(context(), {path}, options);
      options.checkpoint = folder + "/journal.txt";
      options.resume = true;
      rescore_psms<float>(context(), {path}, options).log->end();
      options.log = [](int, std::string_view line) { EXPECT_FALSE(line.starts_with("Iteration ")) << line; };
      const auto again = rescore_psms<float>(context(3), {path}, options);
      EXPECT_TRUE(again.log->had_ended());
      expect_same(whole, again);
    }
}

TEST(Rescore, ACheckpointOfAnotherRunIsAnError) {
  PsmOptions data;
  data.spectra = 3000;
  const auto path = generated("other_run", data, 31);
  RescoreOptions options;
  options.iterations = 7;
  options.checkpoint = testing::TempDir() + "sheaf_other_run.txt";
  std::filesystem::remove(options.checkpoint);
  run_and_kill(path, options, 6);
  options.resume = true;
  RescoreOptions other = options;
  other.seed = 2;
  EXPECT_THROW(rescore_psms<float>(context(), {path}, other), Error);
  EXPECT_THROW(rescore_psms<double>(context(), {path}, options), Error);
  EXPECT_THROW(rescore_psms<float>(context(), {generated("other_psms", data, 32)}, options), Error);
  std::ofstream(options.checkpoint) << "{";
  EXPECT_THROW(rescore_psms<float>(context(), {path}, options), Error);
}

TEST(Rescore, SavedModelsFindFeaturesByName) {
  const std::string head = "SpecId\tLabel\tScanNr\t";
  std::string one = head + "x\ty\tPeptide\tProteins\n";
  std::string other = head + "new\ty\tx\tPeptide\tProteins\n";
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const bool target = i % 2 == 0;
    const auto x = std::to_string(random.normal() + (target ? 2 : 0));
    const auto y = std::to_string(random.normal());
    const auto begin = "s" + std::to_string(i) + "\t" + (target ? "1" : "-1") + "\t" + std::to_string(i) + "\t";
    one += begin + x + "\t" + y + "\tK.AC.R\tP\n";
    other += begin + "7\t" + y + "\t" + x + "\tK.AC.R\tP\n";
  }
  const auto write = [](const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  };
  RescoreOptions options;
  options.apply_only = true;
  options.initial_names = {"x", "y"};
  options.initial_weights = {2, -0.5, 0.25};
  const auto scores = [&](const std::string& path) {
    const auto result = rescore_psms<double>(context(), {path}, options);
    std::map<std::string, double> all;
    for (std::size_t k = 0; k < result.psms.rows.size(); ++k)
      all.emplace(result.text(result.psms.rows[k]).id, result.psms.scores[k]);
    return all;
  };
  const auto expected = scores(write("sheaf_model_one.pin", one));
  EXPECT_EQ(expected.size(), 300U);
  for (const auto& [id, score] : scores(write("sheaf_model_other.pin", other)))
    EXPECT_NEAR(score, expected.at(id), 1e-12) << id;
  options.initial_names = {"x", "absent"};
  EXPECT_THROW(scores(write("sheaf_model_one.pin", one)), Error);
}

/// PSMs made on a device, scaled and trained there, against the CPU's.
TEST(Rescore, FeaturesInTheMemoryOfADeviceAreScaledAndTrainedThere) {
  PsmOptions data;
  data.spectra = 30000;
  const auto train = [&](Device device, FeatureScaling scaling) {
    const Context there(Context::Options{.device = device, .threads = 2, .seed = 5});
    auto psms = generate_psm_features(there, data);
    const auto labels = psms.labels.to(Device::cpu());
    const auto normaliser = rescore::normalise(there, psms.x, scaling);
    const auto ops = rescore::make_rescore_ops<float>(there, psms.x, labels.span());
    std::vector<std::int32_t> scans(labels.span().size());
    std::iota(scans.begin(), scans.end(), 1);
    rescore::TrainingRows rows;
    rows.keys.scans = scans;
    rows.labels = labels.span();
    RescoreOptions options;
    options.iterations = 3;
    rescore::ParkMiller random(1);
    return std::pair(normaliser, rescore::train<float>(there, *ops, rows, {}, options, random));
  };
  for (const auto scaling : {FeatureScaling::standard, FeatureScaling::unit_interval}) {
    const auto [expected, trained] = train(Device::cpu(), scaling);
    EXPECT_GT(trained.trained_accepted, 1000);
    for (const Device device : devices()) {
      const auto [normaliser, there] = train(device, scaling);
      for (std::size_t j = 0; j < expected.shift.size(); ++j) {
        EXPECT_NEAR(normaliser.shift[j], expected.shift[j], 1e-4 * (1 + std::abs(expected.shift[j])));
        EXPECT_NEAR(normaliser.scale[j], expected.scale[j], 1e-4 * (1 + expected.scale[j]));
      }
      EXPECT_NEAR(static_cast<double>(there.trained_accepted), static_cast<double>(trained.trained_accepted),
                  static_cast<double>(trained.trained_accepted) / 100);
    }
  }
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
  options.subset = 10000;
  const auto some = rescore_psms<float>(context(), {path}, options);
  EXPECT_EQ(some.psms.rows.size(), all.psms.rows.size());
  EXPECT_GT(static_cast<double>(some.psms.accepted), 0.8 * static_cast<double>(all.psms.accepted));
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

}  // namespace rescore_calibration_test
}  // namespace sheaf::test
