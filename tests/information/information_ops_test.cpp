// The verbs of the information family, and every criterion, on every device in SHEAF_TEST_DEVICES, against plain
// restatements of the definitions, at awkward sizes.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/selection.hpp>

#include "binned_tables.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "devices.hpp"
#include "information/count/class_entropies.hpp"
#include "information/count/ops.hpp"
#include "reference/feast.hpp"

namespace sheaf::information {
namespace information_ops_test {

struct Case {
  std::int64_t rows;
  int features, classes, states;
  double common;  ///< share of rows in state 0
};

std::string describe(const Case& c) {
  return fmt::format("{} x {}, {} classes, {} states, {} common", c.rows, c.features, c.classes, c.states, c.common);
}

struct Table {
  test::Columns columns;
  std::vector<std::int64_t> classes;

  /// Feature 1 is constant, 2 repeats 0, 3 mirrors 0; some follow the class.
  explicit Table(const Case& c) {
    Random random(11, static_cast<std::uint64_t>(c.rows * 1000 + c.features * 10 + c.classes + c.states));
    for (std::int64_t i = 0; i < c.rows; ++i)
      classes.push_back(i < c.classes ? i
                                      : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(c.classes))));
    for (int j = 0; j < c.features; ++j) {
      std::vector<std::int64_t> column;
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const auto any = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(c.states)));
        const auto follows = (classes[static_cast<std::size_t>(i)] + any % 2) % c.states;
        column.push_back(random.uniform() < c.common ? 0 : j % 3 == 0 ? follows : any);
      }
      columns.push_back(std::move(column));
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (c.features > 1) columns[1][i] = c.states - 1;
      if (c.features > 2) columns[2][i] = columns[0][i];
      if (c.features > 3) columns[3][i] = c.states - 1 - columns[0][i];
    }
  }
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {2, 1, 2, 2, 0},        {31, 7, 2, 3, 0.5},    {32, 9, 3, 40, 0},     {33, 12, 33, 5, 0.2},
      {97, 30, 2, 64, 0},     {128, 11, 5, 300, 0},  {129, 8, 2, 6, 0.9},   {300, 10, 43, 17, 0},
      {600, 9, 3, 700, 0.8},  {1500, 14, 2, 4, 0.7}, {2100, 8, 4, 30, 0.3}, {2300, 6, 60, 9, 0.95},
      {4000, 5, 2, 900, 0.5}, {700, 9, 3, 16, 0.1},  {1300, 8, 2, 2, 0.6},
  };
  return list;
}

Context context_of(Device device, int threads) {
  Context::Options options;
  options.device = device;
  options.threads = threads;
  return Context(options);
}

/// The ways of counting that a table of this shape allows on the device.
std::vector<Counting> ways_for(const Problem& problem, bool sparse, Device device) {
  std::vector<Counting> ways;
  for (const Counting counting : {Counting::ordered, Counting::tables, Counting::grouped, Counting::nonzeros,
                                  Counting::popcount, Counting::compared}) {
    if (counting == Counting::nonzeros && !sparse) continue;
    try {
      ways.push_back(choose_counting(problem, counting, device.is_cuda(), Demand::any));
    } catch (const UsageError&) {
    }
  }
  return ways;
}

template <class Check>
void for_all(Check&& check) {
  for (const Device device : test::devices())
    for (const Case& c : cases()) {
      const Table plain(c);
      const BinnedTarget target = test::target_of(plain.classes);
      for (const bool sparse : {false, true}) {
        const BinnedTable table =
            sparse ? test::sparse_table(plain.columns, c.rows) : test::dense_table(plain.columns, c.rows);
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(device), describe(c), sparse ? "sparse" : "dense"));
        check(device, plain, table, target, sparse);
        if (testing::Test::HasFailure()) return;
      }
    }
}

/// Rows as often as they count, one after the other: what weights stand for.
Table repeated(const Table& plain, const std::vector<std::uint32_t>& weights) {
  Table result = plain;
  result.classes.clear();
  for (auto& column : result.columns) column.clear();
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::uint32_t w = 0; w < weights[i]; ++w) {
      result.classes.push_back(plain.classes[i]);
      for (std::size_t j = 0; j < plain.columns.size(); ++j) result.columns[j].push_back(plain.columns[j][i]);
    }
  return result;
}

PairTerms reference_terms(const Table& plain, std::size_t s, std::size_t j) {
  const auto& a = plain.columns[s];
  const auto& b = plain.columns[j];
  const auto& y = plain.classes;
  const auto merged = reference::merge(a, b);
  return {reference::mutual_information(a, b), reference::mutual_information(merged, y),
          reference::joint_entropy(merged, y), reference::conditional_information(a, b, y),
          reference::conditional_information(b, y, a)};
}

void expect_terms(const PairTerms& got, const PairTerms& wanted, double tolerance) {
  EXPECT_LE(std::abs(got.between - wanted.between), tolerance);
  EXPECT_LE(std::abs(got.joint_with_class - wanted.joint_with_class), tolerance);
  EXPECT_LE(std::abs(got.joint_entropy - wanted.joint_entropy), tolerance);
  EXPECT_LE(std::abs(got.between_in_class - wanted.between_in_class), tolerance);
  EXPECT_LE(std::abs(got.relevance_beyond - wanted.relevance_beyond), tolerance);
}

constexpr Terms all_terms = between | joint_with_class | joint_entropy | between_in_class | relevance_beyond;

std::vector<Pair> all_pairs(std::int64_t partners, std::int64_t features) {
  std::vector<Pair> pairs;
  for (std::int32_t s = 0; s < partners; ++s)
    for (std::int32_t j = 0; j < features; ++j) pairs.push_back({s, j});
  return pairs;
}

void check_verbs(Ops& ops, const Problem& problem, const Table& counted, std::int64_t features) {
  const Entropies entropies = find_entropies(Context(), problem);
  const std::int64_t partners = std::min<std::int64_t>(features, 3);
  for (std::int32_t s = 0; s < partners; ++s) ASSERT_EQ(ops.add_partner(s), s);
  const auto pairs = all_pairs(partners, features);
  std::vector<PairTerms> ordered(pairs.size());
  ops.ordered_terms(pairs, all_terms, ordered);
  std::vector<JointSums> sums(pairs.size());
  const bool has_sums = ops.counting() != Counting::ordered || ops.screens();
  if (has_sums) ops.joint_sums(pairs, true, sums);
  const double error = entropies.log.error(1e18);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    SCOPED_TRACE(fmt::format("pair {} {}", pairs[k].partner, pairs[k].candidate));
    const auto s = static_cast<std::size_t>(pairs[k].partner);
    const auto j = static_cast<std::size_t>(pairs[k].candidate);
    const PairTerms wanted = reference_terms(counted, s, j);
    expect_terms(ordered[k], wanted, 0);
    if (!has_sums) continue;
    expect_terms(terms_of(entropies, entropies.features[s], entropies.features[j], sums[k]), wanted, error);
    EXPECT_EQ(entropies.features[j].relevance, reference::mutual_information(counted.columns[j], counted.classes));
    if (!ops.counts_sum_columns()) continue;
    const JointSums of_column = ops.column_sums(pairs[k].partner, true)[j];
    EXPECT_EQ(of_column.pair, sums[k].pair);
    EXPECT_EQ(of_column.with_class, sums[k].with_class);
    EXPECT_EQ(ops.column_sums(pairs[k].partner, false)[j].pair, sums[k].pair);
  }
}

/// Expects the method that measurements found to be quickest, on shapes that leave no doubt.
TEST(Countings, AreChosenByShape) {
  const auto chosen = [](const Case& c, bool sparse, Demand demand) {
    const Table plain(c);
    const BinnedTarget target = test::target_of(plain.classes);
    const BinnedTable table =
        sparse ? test::sparse_table(plain.columns, c.rows) : test::dense_table(plain.columns, c.rows);
    const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
    return name_of(choose_counting(problem, Counting::automatic, false, demand));
  };
  EXPECT_EQ(chosen({97, 5, 2, 64, 0}, false, Demand::any), "compared");
  EXPECT_EQ(chosen({97, 5, 2, 64, 0}, false, Demand::screened), "ordered") << "most of it is screened";
  EXPECT_EQ(chosen({97, 5, 2, 64, 0}, false, Demand::merged_partners), "ordered") << "everything ties";
  EXPECT_EQ(chosen({20, 5, 2, 64, 0}, false, Demand::any), "ordered") << "everything ties";
  EXPECT_EQ(chosen({20, 5, 2, 64, 0}, false, Demand::distinct_parts), "compared");
  EXPECT_EQ(chosen({400, 5, 2, 3, 0}, false, Demand::any), "popcount") << "few rows, but nothing ties";
  EXPECT_EQ(chosen({20000, 5, 2, 8, 0}, false, Demand::any), "popcount");
  EXPECT_EQ(chosen({20000, 5, 2, 8, 0}, false, Demand::merged_partners), "grouped");
  EXPECT_EQ(chosen({20000, 5, 2, 64, 0}, false, Demand::any), "tables");
  EXPECT_EQ(chosen({5000, 5, 60, 200, 0}, false, Demand::any), "grouped") << "a table would be empty";
  EXPECT_EQ(chosen({5000, 5, 2, 8, 0.99}, true, Demand::any), "nonzeros");
}

TEST(Verbs, CountAsTheDefinitionsSay) {
  for_all([](Device device, const Table& plain, const BinnedTable& table, const BinnedTarget& target, bool sparse) {
    const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
    for (const Counting counting : ways_for(problem, sparse, device)) {
      SCOPED_TRACE(name_of(counting));
      const auto ops = make_ops(context_of(device, 2), problem, counting);
      check_verbs(*ops, problem, plain, table.features);
    }
  });
}

TEST(Verbs, WeightsStandForRepeatedExamples) {
  for_all([](Device device, const Table& plain, const BinnedTable& table, const BinnedTarget& target, bool sparse) {
    Random random(5);
    std::vector<std::uint32_t> weights;
    for (std::int64_t i = 0; i < table.rows; ++i)
      weights.push_back(i < 2 ? 1 : static_cast<std::uint32_t>(random.below(4)));
    Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
    const Table counted = repeated(plain, weights);
    for (const Counting counting : ways_for(problem, sparse, device)) {
      SCOPED_TRACE(name_of(counting));
      problem.weights = {};
      const auto ops = make_ops(context_of(device, 2), problem, counting);
      ops->add_partner(0);
      ops->choose_rows(weights);
      problem.weights = weights;
      check_verbs(*ops, problem, counted, table.features);
    }
  });
}

TEST(Verbs, MergedPartnersMayHaveAsManyStatesAsThereAreExamples) {
  for_all([](Device device, const Table& plain, const BinnedTable& table, const BinnedTarget& target, bool sparse) {
    const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
    Table merged = plain;
    merged.columns[0].clear();
    std::vector<std::uint32_t> codes;
    for (std::int64_t i = 0; i < table.rows; ++i) {
      codes.push_back(static_cast<std::uint32_t>(i - i % 2));
      merged.columns[0].push_back(i - i % 2);
    }
    const Entropies entropies = find_entropies(Context(), problem);
    const FeatureEntropies partner = entropies_of(problem, entropies, codes, table.rows);
    const Counting counting = choose_counting(problem, Counting::automatic, device.is_cuda(), Demand::merged_partners);
    const auto ops = make_ops(context_of(device, 2), problem, counting);
    ops->add_partner(codes, static_cast<std::int32_t>(table.rows));
    const auto last = static_cast<std::int32_t>(table.features) - 1;
    const std::vector<Pair> pairs{{0, last}};
    const double wanted = reference::conditional_information(plain.columns.back(), plain.classes, merged.columns[0]);
    std::vector<PairTerms> terms(1);
    ops->ordered_terms(pairs, relevance_beyond, terms);
    EXPECT_EQ(terms[0].relevance_beyond, wanted);
    if (counting == Counting::ordered) return;
    std::vector<JointSums> sums(1);
    ops->joint_sums(pairs, true, sums);
    EXPECT_LE(std::abs(terms_of(entropies, partner, entropies.features.back(), sums[0]).relevance_beyond - wanted),
              entropies.log.error(1e18));
    static_cast<void>(sparse);
  });
}

void expect_picks(const Selection& got, const reference::Picks& wanted) {
  std::vector<std::int64_t> features;
  for (const SelectedFeature& feature : got.selected) features.push_back(feature.index);
  ASSERT_EQ(features, wanted.features) << got.criterion << " by " << got.counting;
  for (std::size_t k = 0; k < features.size(); ++k)
    EXPECT_LE(std::abs(got.selected[k].score - wanted.scores[k]), 1e-12 * std::max(1.0, std::abs(wanted.scores[k])))
        << got.criterion << " pick " << k;
}

TEST(Criteria, PickAsTheDefinitionsSayWithEveryWayOfCounting) {
  for_all([](Device device, const Table& plain, const BinnedTable& table, const BinnedTarget& target, bool sparse) {
    if (table.rows > 2200) return;  // the reference takes its time
    const std::int64_t count = std::min<std::int64_t>(table.features, 6);
    for (const CriterionInfo& info : criteria()) {
      if (info.numeric) continue;
      SelectionOptions options;
      options.criterion = info.name;
      options.count = info.name == "fcbf" ? table.features : count;
      options.beta = 0.7;
      options.gamma = 0.3;
      const auto wanted = info.name == "fcbf" ? reference::fcbf(plain.columns, plain.classes, 0)
                                              : reference::select(options.criterion, plain.columns, plain.classes,
                                                                  static_cast<std::size_t>(count), 0.7, 0.3);
      const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
      for (const Counting counting : ways_for(problem, sparse, device)) {
        if (info.name == "cmi" && (counting == Counting::tables || counting == Counting::popcount)) continue;
        options.counting = name_of(counting);
        for (const bool lazy : {true, false}) {
          options.lazy = lazy;
          expect_picks(select_features(context_of(device, lazy ? 2 : 1), table, target, options), wanted);
        }
      }
    }
  });
}

TEST(Criteria, NoPartExceedsItsBound) {
  for (const Case& c : cases()) {
    const Table plain(c);
    const BinnedTable table = test::dense_table(plain.columns, c.rows);
    const BinnedTarget target = test::target_of(plain.classes);
    const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
    const Entropies entropies = find_entropies(Context(), problem);
    const EntropyLimits all{entropies.classes.entropy, std::log2(static_cast<double>(c.rows))};
    for (std::size_t s = 0; s < std::min<std::size_t>(plain.columns.size(), 4); ++s)
      for (std::size_t j = 0; j < plain.columns.size(); ++j) {
        const PairTerms terms = reference_terms(plain, s, j);
        for (const CriterionInfo& info : criteria()) {
          const Criterion* criterion = greedy_criterion(info.name);
          if (criterion == nullptr || c.classes < 2) continue;
          const Weights weights{0.7, info.name == "cife" ? 1.5 : 0.3};
          const auto score = [&](double part) {
            return criterion->score.of_one(entropies.features[j].relevance, part, 1);
          };
          const double bound = criterion->most.of_pair(entropies.features[s], entropies.features[j], all, weights);
          EXPECT_GE(score(bound), score(criterion->part.of_pair(terms, weights)) - 1e-9)
              << info.name << " " << describe(c) << " pair " << s << " " << j;
        }
      }
  }
}

TEST(Criteria, BoundsSaveWorkAndChangeNothing) {
  for (const Device device : test::devices())
    for (const Case& c : {Case{97, 300, 2, 64, 0}, Case{90, 200, 30, 20, 0.3}, Case{1500, 150, 3, 8, 0.5}}) {
      const Table plain(c);
      const BinnedTable table = test::dense_table(plain.columns, c.rows);
      const BinnedTarget target = test::target_of(plain.classes);
      std::int64_t saved = 0;
      for (const CriterionInfo& info : criteria()) {
        if (greedy_criterion(info.name) == nullptr) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(device), describe(c), info.name));
        SelectionOptions options;
        options.criterion = info.name;
        options.count = 25;
        const Selection lazy = select_features(context_of(device, 2), table, target, options);
        options.lazy = false;
        const Selection whole = select_features(context_of(device, 2), table, target, options);
        ASSERT_EQ(lazy.selected.size(), whole.selected.size());
        for (std::size_t k = 0; k < lazy.selected.size(); ++k) {
          EXPECT_EQ(lazy.selected[k].index, whole.selected[k].index);
          EXPECT_EQ(lazy.selected[k].score, whole.selected[k].score);
        }
        EXPECT_EQ(whole.work.pairs_counted, whole.work.pairs_possible);
        saved += whole.work.pairs_counted - lazy.work.pairs_counted;
      }
      // A GPU counts candidates in batches that may hold all of a small table.
      EXPECT_GE(saved, device.is_cpu() ? 1 : 0);
    }
}

TEST(Criteria, PreselectedFeaturesCountAsSelected) {
  const Table plain({200, 12, 3, 5, 0.2});
  const BinnedTable table = test::dense_table(plain.columns, 200);
  const BinnedTarget target = test::target_of(plain.classes);
  for (const Device device : test::devices())
    for (const CriterionInfo& info : criteria()) {
      if (info.numeric || info.name == "fcbf") continue;
      SelectionOptions options;
      options.criterion = info.name;
      options.count = 4;
      options.preselected = {7, 4};
      const auto wanted = reference::select(options.criterion, plain.columns, plain.classes, 4, 1, 1, {7, 4});
      expect_picks(select_features(context_of(device, 2), table, target, options), wanted);
    }
}

void expect_same_picks(const Selection& got, const Selection& wanted) {
  ASSERT_EQ(got.selected.size(), wanted.selected.size());
  for (std::size_t k = 0; k < got.selected.size(); ++k) {
    EXPECT_EQ(got.selected[k].index, wanted.selected[k].index);
    EXPECT_LE(std::abs(got.selected[k].score - wanted.selected[k].score), 1e-12 * 12);
  }
}

/// One device named twice is two workers, as two GPUs would be: each has its own table, stream and partners.
TEST(Criteria, SeveralDevicesTogetherPickTheSame) {
  for (const Case& c : {Case{1400, 40, 3, 12, 0.4}, Case{1400, 40, 2, 40, 0.4}, Case{110, 40, 2, 30, 0.2}}) {
    const Table plain(c);
    const BinnedTarget target = test::target_of(plain.classes);
    for (const bool sparse : {false, true}) {
      const BinnedTable table =
          sparse ? test::sparse_table(plain.columns, c.rows) : test::dense_table(plain.columns, c.rows);
      for (const Device device : test::devices())
        for (const char* criterion : {"jmi", "cmim", "mrmr", "cmi", "fcbf"}) {
          SelectionOptions options;
          options.criterion = criterion;
          options.count = 12;
          const Selection alone = select_features(context_of(Device::cpu(), 1), table, target, options);
          for (const auto& also : {std::vector{Device::cpu()}, {device}, {device, Device::cpu()}}) {
            SCOPED_TRACE(fmt::format("{} and {} more, {} {} {}", to_string(device), also.size(), criterion, describe(c),
                                     sparse ? "sparse" : "dense"));
            options.extra_devices = also;
            expect_same_picks(select_features(context_of(device, 3), table, target, options), alone);
          }
        }
    }
  }
}

TEST(Criteria, RedundancyIsTheMeanOverThoseBefore) {
  const Table plain({250, 10, 3, 5, 0.2});
  const BinnedTable table = test::dense_table(plain.columns, 250);
  SelectionOptions options;
  options.count = 5;
  const Selection got = select_features(Context(), table, test::target_of(plain.classes), options);
  ASSERT_EQ(got.selected.size(), 5U);
  for (std::size_t k = 0; k < 5; ++k) {
    const auto& column = plain.columns[static_cast<std::size_t>(got.selected[k].index)];
    double sum = 0;
    for (std::size_t s = 0; s < k; ++s)
      sum += reference::mutual_information(plain.columns[static_cast<std::size_t>(got.selected[s].index)], column);
    EXPECT_NEAR(got.selected[k].redundancy, k > 0 ? sum / static_cast<double>(k) : 0, 1e-12);
    EXPECT_NEAR(got.selected[k].relevance, reference::mutual_information(column, plain.classes), 1e-12);
  }
  EXPECT_GT(got.work.pairs_possible, 0);
  EXPECT_LE(got.work.pairs_counted, got.work.pairs_possible);
}

}  // namespace information_ops_test
}  // namespace sheaf::information
