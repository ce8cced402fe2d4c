// Invalid requests, selections that stop early, and ensembles.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/selection.hpp>

#include "binned_tables.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "devices.hpp"
#include "reference/feast.hpp"

namespace sheaf {
namespace information_requests_test {

struct Made {
  test::Columns columns;
  std::vector<std::int64_t> classes;
  BinnedTable table;
  BinnedTarget target;
};

/// Features 0, 3, 6 ... follow the class the more, the lower their number.
Made make_table(std::int64_t rows, int features) {
  Made made;
  Random random(21);
  for (std::int64_t i = 0; i < rows; ++i) made.classes.push_back(i % 2);
  for (int j = 0; j < features; ++j) {
    std::vector<std::int64_t> column;
    const double follows = j % 3 == 0 ? 0.9 / (1 + 0.3 * j) : 0;
    for (std::int64_t i = 0; i < rows; ++i)
      column.push_back(random.uniform() < follows ? made.classes[static_cast<std::size_t>(i)]
                                                  : static_cast<std::int64_t>(random.below(4)));
    made.columns.push_back(column);
  }
  made.table = test::dense_table(made.columns, rows);
  made.target = test::target_of(made.classes);
  return made;
}

std::vector<std::int64_t> indices(const Selection& selection) {
  std::vector<std::int64_t> result;
  for (const SelectedFeature& feature : selection.selected) result.push_back(feature.index);
  return result;
}

template <class Expected>
void expect_refused(const Made& made, const SelectionOptions& options, const std::string& said) {
  try {
    select_features(Context(), made.table, made.target, options);
    FAIL() << "accepted, though: " << said;
  } catch (const Expected& error) {
    EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
  }
}

TEST(Requests, ThatCannotBeMetSayWhy) {
  const Made made = make_table(40, 6);
  const auto with = [](auto&& change) {
    SelectionOptions options;
    options.count = 2;
    change(options);
    return options;
  };
  expect_refused<UsageError>(made, with([](auto& o) { o.count = 7; }), "7 features are asked for, and there are 6");
  expect_refused<UsageError>(made, with([](auto& o) { o.count = 0; }), "at least 1");
  expect_refused<UsageError>(made, with([](auto& o) { o.criterion = "jmj"; }), "did you mean jmi");
  expect_refused<UsageError>(made, with([](auto& o) { o.criterion = "relief"; }), "works on numbers");
  expect_refused<UsageError>(made, with([](auto& o) { o.beta = -1; }), "beta is -1");
  expect_refused<UsageError>(made, with([](auto& o) { o.gamma = std::nan(""); }), "gamma is nan");
  expect_refused<UsageError>(made, with([](auto& o) { o.counting = "table"; }), "did you mean tables");
  expect_refused<UsageError>(made, with([](auto& o) { o.counting = "nonzeros"; }), "needs a sparse dataset");
  expect_refused<UsageError>(made, with([](auto& o) { o.preselected = {6}; }), "feature 6 is not there");
  expect_refused<UsageError>(made, with([](auto& o) { o.preselected = {1, 1}; }), "pre-selected twice");
  expect_refused<UsageError>(made, with([](auto& o) {
                               o.preselected = {1, 2};
                               o.count = 5;
                             }),
                             "there are 4 beside");
}

TEST(Requests, NeedExamplesOfTwoClasses) {
  Made made = make_table(40, 3);
  SelectionOptions options;
  options.count = 1;
  made.target.classes.assign(40, 1);
  expect_refused<Error>(made, options, "all 40 rows have class 1");
  made.target.classes.resize(39);
  expect_refused<Error>(made, options, "40 rows and the target 39");
  Made empty;
  empty.table = test::dense_table({{}, {}}, 0);
  empty.target.names = {"a", "b"};
  expect_refused<Error>(empty, options, "no rows");
}

TEST(Selections, StopWhereNothingIsLeftToGain) {
  // The class is feature 0 itself: nothing can add to it.
  Made made = make_table(60, 5);
  made.columns[0] = made.classes;
  made.table = test::dense_table(made.columns, 60);
  for (const Device device : test::devices()) {
    Context::Options context;
    context.device = device;
    SelectionOptions options;
    options.criterion = "cmi";
    options.count = 4;
    const Selection got = select_features(Context(context), made.table, made.target, options);
    EXPECT_EQ(indices(got), std::vector<std::int64_t>{0});
    ASSERT_EQ(got.notes.size(), 1U);
    EXPECT_NE(got.notes[0].find("stopped after 1 of 4: no remaining feature scores above 0"), std::string::npos)
        << got.notes[0];
  }
}

TEST(Selections, StopUnderTheGainAskedFor) {
  const Made made = make_table(300, 12);
  SelectionOptions options;
  options.criterion = "mim";
  options.count = 12;
  const Selection all = select_features(Context(), made.table, made.target, options);
  options.min_gain = (all.selected[2].score + all.selected[3].score) / 2;
  const Selection some = select_features(Context(), made.table, made.target, options);
  EXPECT_EQ(some.selected.size(), 3U);
  ASSERT_EQ(some.notes.size(), 1U);
  EXPECT_NE(some.notes[0].find("stopped after 3 of 12"), std::string::npos);
}

TEST(Selections, ConstantFeaturesComeLast) {
  Made made = make_table(50, 4);
  for (auto& column : made.columns) column.assign(50, 2);
  made.table = test::dense_table(made.columns, 50);
  SelectionOptions options;
  options.count = 4;
  const Selection got = select_features(Context(), made.table, made.target, options);
  EXPECT_EQ(indices(got), std::vector<std::int64_t>{0}) << "equal scores go to the first; then JMI has nothing above 0";
  EXPECT_EQ(got.selected[0].score, 0);
}

TEST(Matrix, HoldsInformationOfEachPairAndEntropies) {
  for (const std::int64_t rows : {90, 3000}) {
    const Made made = make_table(rows, 6);
    const std::vector<std::int64_t> features{4, 0, 3};
    for (const Device device : test::devices()) {
      Context::Options context;
      context.device = device;
      const auto matrix = mutual_information_matrix(Context(context), made.table, features);
      ASSERT_EQ(matrix.size(), 9U);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
          const auto& of_a = made.columns[static_cast<std::size_t>(features[a])];
          const auto& of_b = made.columns[static_cast<std::size_t>(features[b])];
          const double wanted = a == b ? reference::entropy(of_a) : reference::mutual_information(of_a, of_b);
          EXPECT_NEAR(matrix[a * 3 + b], wanted, 1e-12);
        }
    }
  }
}

TEST(Stability, IsNogueirasMeasure) {
  using Sets = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(selection_stability(Sets{{1, 2}}, 10), 1);
  EXPECT_NEAR(selection_stability(Sets{{1, 2}, {1, 2}, {2, 1}}, 10), 1, 1e-12);
  // Two sets of one of two features, never the same: frequencies 1/2 each; variance 2 * (2 * 1/4) / 2 = 1/2 over the
  // chance value 1/4: 1 - 2.
  EXPECT_NEAR(selection_stability(Sets{{0}, {1}}, 2), -1, 1e-12);
  // {0,1}, {0,2} of 4: unbiased variances 0, 1/2, 1/2, 0: mean 1/4; chance 1/2 * 1/2; 1 - 1.
  EXPECT_NEAR(selection_stability(Sets{{0, 1}, {0, 2}}, 4), 0, 1e-12);
}

TEST(Ensembles, OfCriteriaHoldEachSelectionAsItIsAlone) {
  const Made made = make_table(400, 12);
  for (const Device device : test::devices()) {
    Context::Options context;
    context.device = device;
    SelectionOptions options;
    options.count = 4;
    EnsembleOptions ensemble;
    ensemble.criteria = {"mim", "jmi", "cmi", "fcbf"};
    const Ensemble got = select_ensemble(Context(context), made.table, made.target, options, ensemble);
    ASSERT_EQ(got.members.size(), 4U);
    for (std::size_t m = 0; m < 4; ++m) {
      options.criterion = ensemble.criteria[m];
      const Selection alone = select_features(Context(context), made.table, made.target, options);
      EXPECT_EQ(indices(got.members[m].selection), indices(alone)) << options.criterion;
    }
    EXPECT_EQ(got.selected.front().index, 0);
    EXPECT_EQ(got.selected.front().mean_rank, 1);
    EXPECT_EQ(got.selected.front().frequency, 1);
    EXPECT_EQ(got.selected.front().borda, 16);
  }
}

TEST(Ensembles, OfResamplesSelectFromRepeatedExamples) {
  const Made made = make_table(150, 9);
  for (const Device device : test::devices()) {
    Context::Options context;
    context.device = device;
    context.seed = 4;
    SelectionOptions options;
    options.count = 3;
    EnsembleOptions ensemble;
    ensemble.resamples = 8;
    ensemble.combination = Combination::frequency;
    const Ensemble got = select_ensemble(Context(context), made.table, made.target, options, ensemble);
    ASSERT_EQ(got.members.size(), 8U);
    std::set<double> firsts;
    for (const EnsembleMember& member : got.members) firsts.insert(member.selection.selected.front().score);
    EXPECT_GT(firsts.size(), 4U) << "resamples differ";
    EXPECT_EQ(got.selected.front().index, 0);
    EXPECT_GT(got.stability, 0.2);
    EXPECT_LE(got.stability, 1);
    const Ensemble again = select_ensemble(Context(context), made.table, made.target, options, ensemble);
    for (std::size_t m = 0; m < 8; ++m)
      EXPECT_EQ(indices(got.members[m].selection), indices(again.members[m].selection)) << "the same seed";
  }
}

/// How often a resample draws each row, as ensembles do.
std::vector<std::uint32_t> draw(std::uint64_t seed, std::int64_t resample, std::int64_t rows) {
  Random random(seed, static_cast<std::uint64_t>(resample));
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(rows), 0);
  for (std::int64_t k = 0; k < rows; ++k) ++counts[random.below(static_cast<std::uint64_t>(rows))];
  return counts;
}

/// A table in which each row stands as often as the resample has drawn it is the resample.
Made repeat_rows(const Made& made, const std::vector<std::uint32_t>& weights) {
  Made repeated;
  repeated.columns.resize(made.columns.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::uint32_t times = 0; times < weights[i]; ++times) {
      repeated.classes.push_back(made.classes[i]);
      for (std::size_t j = 0; j < made.columns.size(); ++j) repeated.columns[j].push_back(made.columns[j][i]);
    }
  repeated.table = test::dense_table(repeated.columns, std::ssize(repeated.classes));
  repeated.target = test::target_of(repeated.classes);
  return repeated;
}

void expect_same(const Selection& got, const Selection& wanted, const std::string& what) {
  ASSERT_EQ(indices(got), indices(wanted)) << what;
  for (std::size_t k = 0; k < got.selected.size(); ++k) {
    EXPECT_EQ(got.selected[k].score, wanted.selected[k].score) << what;
    EXPECT_EQ(got.selected[k].relevance, wanted.selected[k].relevance) << what;
    EXPECT_EQ(got.selected[k].redundancy, wanted.selected[k].redundancy) << what;
  }
}

void expect_bits_of_repeated(const Made& made, const std::string& counting, const Context& context) {
  const auto table_of = [&](const Made& of) {
    const std::int64_t rows = std::ssize(of.classes);
    return counting == "nonzeros" ? test::sparse_table(of.columns, rows) : test::dense_table(of.columns, rows);
  };
  const BinnedTable table = table_of(made);
  SelectionOptions options;
  options.count = 6;
  options.counting = counting;
  EnsembleOptions ensemble;
  ensemble.resamples = 7;
  for (const CriterionInfo& info : criteria()) {
    const bool merges = info.name == "cmi" && (counting == "tables" || counting == "popcount");
    if (!info.numeric && !merges) ensemble.criteria.emplace_back(info.name);
  }
  const Ensemble got = select_ensemble(context, table, made.target, options, ensemble);
  ASSERT_EQ(got.members.size(), 7 * ensemble.criteria.size());
  for (const EnsembleMember& member : got.members) {
    const Made repeated = repeat_rows(made, draw(context.seed(), member.resample, table.rows));
    options.criterion = member.selection.criterion;
    expect_same(member.selection, select_features(Context(), table_of(repeated), repeated.target, options),
                fmt::format("{} by {}", options.criterion, counting));
  }
}

/// Whichever way to count, and whether resamples share a pass or not.
TEST(Ensembles, OfResamplesHaveTheBitsOfRepeatedExamples) {
  for (const Device device : test::devices())
    for (const std::int64_t rows : {120, 1500}) {
      const Made made = make_table(rows, 14);
      Context::Options context;
      context.device = device;
      context.seed = 9;
      for (const std::string counting : {"ordered", "tables", "grouped", "popcount", "compared", "nonzeros"})
        if (device.is_cpu() ? counting != "compared" || rows <= 1024
                            : counting != "compared" && (counting != "ordered" || rows <= 128))
          expect_bits_of_repeated(made, counting, Context(context));
    }
}

}  // namespace information_requests_test
}  // namespace sheaf
