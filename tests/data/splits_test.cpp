#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/random.hpp"

namespace sheaf {
namespace splits_test {

using Labels = std::vector<std::int32_t>;

Splits split(SplitKind kind, std::int64_t rows, std::int32_t count, const Labels& classes = {},
             const Labels& groups = {}, bool shuffle = true, std::uint64_t seed = 0, double fraction = 0.2) {
  SplitOptions options;
  options.kind = kind;
  options.count = count;
  options.shuffle = shuffle;
  options.seed = seed;
  options.test_fraction = fraction;
  return make_splits(rows, classes, groups, options);
}

/// Classes of unequal size in mixed order, `smallest` rows at least.
Labels some_classes(std::int64_t rows, std::int32_t count, std::int64_t smallest) {
  Labels labels;
  for (std::int32_t c = 0; c < count; ++c) labels.insert(labels.end(), static_cast<std::size_t>(smallest), c);
  Random random(static_cast<std::uint64_t>(rows));
  while (static_cast<std::int64_t>(labels.size()) < rows)
    labels.push_back(static_cast<std::int32_t>(
        std::min(random.below(static_cast<std::uint64_t>(count)), random.below(static_cast<std::uint64_t>(count)))));
  random.shuffle(std::span(labels));
  return labels;
}

/// Test rows of split s, read from the weights.
std::vector<std::int32_t> tested(const Splits& splits, std::int32_t s) {
  const auto table = splits.weights(s, 1);
  std::vector<std::int32_t> rows;
  for (std::int32_t i = 0; i < splits.rows(); ++i)
    if (table.left_out(i, s)) rows.push_back(i);
  return rows;
}

std::vector<Splits> one_of_each(std::int64_t rows) {
  const auto classes = some_classes(rows, 3, 6);
  Labels groups(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<std::int32_t>(i * i % 11);
  std::vector<Splits> all;
  for (const auto kind :
       {SplitKind::k_fold, SplitKind::stratified_k_fold, SplitKind::group_k_fold, SplitKind::stratified_group_k_fold,
        SplitKind::stratified_shuffle, SplitKind::group_shuffle, SplitKind::leave_one_out, SplitKind::bootstrap})
    all.push_back(split(kind, rows, 4, classes, groups));
  return all;
}

std::string message_of(SplitKind kind, std::int64_t rows, std::int32_t count, const Labels& classes = {},
                       const Labels& groups = {}, double fraction = 0.2) {
  try {
    split(kind, rows, count, classes, groups, true, 0, fraction);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(SplitsOfAllKinds, TestAndTrainSomeRowsAlways) {
  for (const std::int64_t rows : {20, 101})
    for (const auto& splits : one_of_each(rows))
      for (std::int32_t s = 0; s < splits.count(); ++s) {
        const auto test = splits.test_rows(s);
        EXPECT_EQ(test, tested(splits, s));
        EXPECT_FALSE(test.empty());
        EXPECT_LT(static_cast<std::int64_t>(test.size()), rows);
      }
}

TEST(SplitsOfAllKinds, AreTheSameWhicheverAreAskedForTogether) {
  for (const auto& splits : one_of_each(50))
    for (const int threads : {1, 3}) {
      const auto all = splits.weights(0, splits.count(), threads);
      const auto some = splits.weights(1, 3, threads);
      EXPECT_EQ(splits.weights(splits.count(), 0).weights.size(), 0);
      for (std::int32_t s = 1; s < 4; ++s)
        for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(all.train(i, s), some.train(i, s));
    }
}

TEST(SplitsOfAllKinds, PartitionsTestEveryRowOnce) {
  for (const auto& splits : one_of_each(60)) {
    std::vector<int> times(60);
    for (std::int32_t s = 0; s < splits.count(); ++s)
      for (const auto row : splits.test_rows(s)) {
        ++times[static_cast<std::size_t>(row)];
        if (splits.is_partition()) {
          EXPECT_EQ(splits.tester(row), s);
        }
      }
    EXPECT_EQ(times == std::vector<int>(60, 1), splits.is_partition()) << to_string(splits.kind());
  }
}

TEST(SplitsOfAllKinds, FollowTheSeed) {
  const auto classes = some_classes(80, 2, 10);
  Labels groups(80);
  std::iota(groups.begin(), groups.end(), 0);
  for (const auto kind : {SplitKind::k_fold, SplitKind::stratified_k_fold, SplitKind::group_k_fold,
                          SplitKind::stratified_shuffle, SplitKind::bootstrap}) {
    const auto of_seed = [&](std::uint64_t seed) {
      return split(kind, 80, 5, classes, groups, true, seed).test_rows(2);
    };
    EXPECT_EQ(of_seed(1), of_seed(1)) << to_string(kind);
    EXPECT_NE(of_seed(1), of_seed(2)) << to_string(kind);
  }
}

TEST(KFold, HasFoldsOfEqualSizeAndInRunsWithoutShuffle) {
  for (const std::int64_t rows : {2, 3, 10, 11, 1003})
    for (const std::int32_t folds : {2, 3, 7})
      for (const bool shuffle : {false, true}) {
        if (folds > rows) continue;
        const auto splits = split(SplitKind::k_fold, rows, folds, {}, {}, shuffle);
        std::int64_t next = 0;
        for (std::int32_t f = 0; f < folds; ++f) {
          const auto test = splits.test_rows(f);
          // The first rows % folds folds are larger by one.
          ASSERT_EQ(static_cast<std::int64_t>(test.size()), rows / folds + (f < rows % folds ? 1 : 0));
          if (!shuffle) {
            EXPECT_EQ(test.front(), next);
            EXPECT_EQ(test.back() - test.front() + 1, static_cast<std::int64_t>(test.size()));
          }
          next += static_cast<std::int64_t>(test.size());
        }
      }
}

TEST(KFold, TakesMillionsOfRows) {
  const auto splits = split(SplitKind::k_fold, 3000000, 10);
  const auto table = splits.weights(3, 2, 2);
  std::int64_t left_out = 0;
  for (std::int64_t i = 0; i < table.rows; ++i) left_out += table.left_out(i, 3) ? 1 : 0;
  EXPECT_EQ(left_out, 300000);
}

TEST(StratifiedKFold, SpreadsClassesAndRowsEvenly) {
  for (const std::int64_t rows : {40, 97, 1000})
    for (const std::int32_t count : {1, 2, 3, 5})
      for (const std::int32_t folds : {2, 3, 7})
        for (const bool shuffle : {false, true}) {
          const auto classes = some_classes(rows, count, 7);
          const auto splits = split(SplitKind::stratified_k_fold, rows, folds, classes, {}, shuffle);
          std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
          for (const auto c : classes) ++sizes[static_cast<std::size_t>(c)];
          for (std::int32_t f = 0; f < folds; ++f) {
            const auto test = splits.test_rows(f);
            std::vector<std::int64_t> found(sizes.size());
            for (const auto row : test) ++found[static_cast<std::size_t>(classes[static_cast<std::size_t>(row)])];
            for (std::size_t c = 0; c < sizes.size(); ++c) {
              EXPECT_GE(found[c], sizes[c] / folds);
              EXPECT_LE(found[c], (sizes[c] + folds - 1) / folds);
            }
            EXPECT_GE(static_cast<std::int64_t>(test.size()), rows / folds);
            EXPECT_LE(static_cast<std::int64_t>(test.size()), (rows + folds - 1) / folds);
          }
        }
}

TEST(StratifiedKFold, KeepsTheOrderWithinAClassWithoutShuffle) {
  const auto classes = some_classes(100, 3, 10);
  const auto splits = split(SplitKind::stratified_k_fold, 100, 5, classes, {}, false);
  std::map<std::int32_t, std::int32_t> last;
  for (std::int32_t i = 0; i < 100; ++i) {
    auto& fold = last[classes[static_cast<std::size_t>(i)]];
    EXPECT_GE(splits.tester(i), fold);
    fold = splits.tester(i);
  }
}

TEST(StratifiedKFold, IgnoresClassNumbersWithoutRows) {
  EXPECT_EQ(split(SplitKind::stratified_k_fold, 6, 3, {1, 1, 1, 4, 4, 4}).count(), 3);
}

TEST(GroupKFold, KeepsGroupsTogetherAndFoldsBalanced) {
  for (const bool shuffle : {false, true}) {
    Random random(9);
    Labels groups(500);
    for (auto& group : groups) group = static_cast<std::int32_t>(random.below(3) * random.below(20));
    const auto splits = split(SplitKind::group_k_fold, 500, 4, {}, groups, shuffle, 3);
    std::map<std::int32_t, std::int32_t> fold_of;
    std::map<std::int32_t, std::int64_t> sizes;
    std::vector<std::int64_t> loads(4);
    for (std::int64_t i = 0; i < 500; ++i) {
      const auto group = groups[static_cast<std::size_t>(i)];
      EXPECT_EQ(fold_of.emplace(group, splits.tester(i)).first->second, splits.tester(i));
      ++sizes[group];
      ++loads[static_cast<std::size_t>(splits.tester(i))];
    }
    // Filling the emptiest fold, largest groups first: taking the smallest group from any fold leaves it no fuller than
    // the emptiest one is.
    const auto emptiest = *std::min_element(loads.begin(), loads.end());
    for (std::int32_t f = 0; f < 4; ++f) {
      std::int64_t smallest = 500;
      for (const auto& [group, size] : sizes)
        if (fold_of[group] == f) smallest = std::min(smallest, size);
      EXPECT_LE(loads[static_cast<std::size_t>(f)] - smallest, emptiest);
    }
  }
}

TEST(GroupKFold, FillsTheEmptiestFoldWithTheLargestGroupFirst) {
  // Groups of 5, 4, 3 and 2 rows into two folds: 5 | 4, then 3 to the second (7), then 2 to the first (7).
  const Labels groups{3, 3, 3, 3, 3, 0, 0, 0, 0, 2, 2, 2, 1, 1};
  const auto splits = split(SplitKind::group_k_fold, 14, 2, {}, groups, false);
  EXPECT_EQ(splits.test_rows(0), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 12, 13}));
}

/// Groups of 1 to 7 rows in mixed order; most have rows of one class alone, as patients have.
std::pair<Labels, Labels> some_groups(std::int32_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::pair<std::int32_t, std::int32_t>> rows;
  for (std::int32_t g = 0; g < count; ++g)
    for (auto left = 1 + random.below(7); left > 0; --left)
      rows.emplace_back(g, random.uniform() < 0.1 ? static_cast<std::int32_t>(random.below(3)) : g % 3);
  random.shuffle(std::span(rows));
  Labels groups, classes;
  for (const auto& [group, c] : rows) {
    groups.push_back(group);
    classes.push_back(c);
  }
  return {groups, classes};
}

TEST(GroupShuffle, LeavesOutWholeGroupsOfEveryClass) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const double fraction : {0.2, 0.5}) {
      const auto [groups, classes] = some_groups(60, seed);
      const auto rows = static_cast<std::int64_t>(groups.size());
      const auto splits = split(SplitKind::group_shuffle, rows, 5, classes, groups, true, seed, fraction);
      const auto again = split(SplitKind::group_shuffle, rows, 5, classes, groups, true, seed, fraction);
      std::vector<double> sizes(3);
      for (const auto c : classes) ++sizes[static_cast<std::size_t>(c)];
      std::set<std::vector<std::int32_t>> different;
      for (std::int32_t s = 0; s < 5; ++s) {
        const auto test = splits.test_rows(s);
        different.insert(test);
        EXPECT_EQ(test, again.test_rows(s));
        std::set<std::int32_t> tested, trained;
        const auto table = splits.weights(s, 1);
        for (std::int64_t i = 0; i < rows; ++i)
          (table.left_out(i, s) ? tested : trained).insert(groups[static_cast<std::size_t>(i)]);
        EXPECT_EQ(tested.size() + trained.size(), 60U) << "a group on both sides";
        std::vector<double> found(3);
        for (const auto row : test) ++found[static_cast<std::size_t>(classes[static_cast<std::size_t>(row)])];
        for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found[c], fraction * sizes[c], 7) << "a group or less off";
      }
      EXPECT_EQ(different.size(), 5U);
    }
}

/// Draws equal groups of one class each: as many of either class as the fraction states, and each as often as any
/// other.
TEST(GroupShuffle, DrawsEqualGroupsEquallyOften) {
  Labels groups, classes;
  for (std::int32_t i = 0; i < 60; ++i) {
    groups.push_back(i / 3);
    classes.push_back(i < 30 ? 0 : 1);
  }
  const auto splits = split(SplitKind::group_shuffle, 60, 2000, classes, groups);
  std::vector<int> times(20);
  for (std::int32_t s = 0; s < 2000; ++s) {
    const auto test = splits.test_rows(s);
    ASSERT_EQ(test.size(), 12U);
    ASSERT_EQ(std::count_if(test.begin(), test.end(), [](auto row) { return row < 30; }), 6);
    for (const auto row : test) times[static_cast<std::size_t>(row / 3)] += row % 3 == 0 ? 1 : 0;
  }
  for (const auto time : times) EXPECT_NEAR(time, 400, 5 * std::sqrt(2000 * 0.2 * 0.8));
}

TEST(GroupShuffle, AlwaysLeavesRowsOnBothSides) {
  for (const double fraction : {0.01, 0.2, 0.99})
    for (const Labels& groups : {Labels{0, 1}, Labels{0, 0, 0, 0, 5}, Labels{2, 2, 2, 1, 1, 1}})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto splits = split(SplitKind::group_shuffle, std::ssize(groups), 1, {}, groups, true, seed, fraction);
        EXPECT_FALSE(splits.test_rows(0).empty());
        EXPECT_LT(splits.test_rows(0).size(), groups.size());
      }
}

TEST(StratifiedGroupKFold, SpreadsClassesAsEvenlyAsWholeGroupsAllow) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto [groups, classes] = some_groups(60, seed);
    const auto rows = static_cast<std::int64_t>(groups.size());
    const auto splits = split(SplitKind::stratified_group_k_fold, rows, 4, classes, groups, true, seed);
    std::map<std::int32_t, std::int32_t> fold_of;
    std::vector<double> sizes(3), loads(12);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto fold = splits.tester(static_cast<std::int64_t>(i));
      EXPECT_EQ(fold_of.emplace(groups[i], fold).first->second, fold) << "a group in two folds";
      ++sizes[static_cast<std::size_t>(classes[i])];
      ++loads[static_cast<std::size_t>(fold * 3 + classes[i])];
    }
    for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(loads[k], sizes[k % 3] / 4, 7) << "a group or less off";
  }
}

TEST(StratifiedGroupKFold, IsGroupKFoldWhereThereIsOneClass) {
  const auto groups = some_groups(40, 3).first;
  const Labels one(groups.size(), 0);
  const auto rows = static_cast<std::int64_t>(groups.size());
  const auto plain = split(SplitKind::group_k_fold, rows, 5, {}, groups);
  const auto spread = split(SplitKind::stratified_group_k_fold, rows, 5, one, groups);
  for (std::int64_t i = 0; i < rows; ++i) EXPECT_EQ(plain.tester(i), spread.tester(i));
}

TEST(StratifiedShuffle, TestsTheFractionOfEachClass) {
  for (const std::int64_t rows : {20, 57, 1000})
    for (const double fraction : {0.1, 0.25, 0.5, 0.7}) {
      const auto classes = some_classes(rows, 3, 5);
      const auto splits = split(SplitKind::stratified_shuffle, rows, 6, classes, {}, true, 1, fraction);
      std::vector<double> sizes(3);
      for (const auto c : classes) ++sizes[static_cast<std::size_t>(c)];
      const auto total = std::ceil(fraction * static_cast<double>(rows) - 1e-9);
      std::set<std::vector<std::int32_t>> different;
      for (std::int32_t s = 0; s < 6; ++s) {
        const auto test = splits.test_rows(s);
        different.insert(test);
        EXPECT_EQ(static_cast<double>(test.size()), total);
        std::vector<double> found(3);
        for (const auto row : test) ++found[static_cast<std::size_t>(classes[static_cast<std::size_t>(row)])];
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_LT(std::abs(found[c] - sizes[c] * total / static_cast<double>(rows)), 1);
      }
      EXPECT_EQ(different.size(), 6U);
    }
}

TEST(StratifiedShuffle, GivesTheLargestRemaindersTheRowsThatAreLeft) {
  // 10 of 20 rows; classes of 3, 3 and 14 rows are due 1.5, 1.5 and 7: the first of the equal remainders gets the row.
  Labels classes(20, 2);
  for (std::size_t i = 0; i < 3; ++i) classes[i] = 0;
  for (std::size_t i = 3; i < 6; ++i) classes[i] = 1;
  const auto test = split(SplitKind::stratified_shuffle, 20, 1, classes, {}, true, 0, 0.5).test_rows(0);
  const auto below = [&](std::int32_t end) {
    return std::count_if(test.begin(), test.end(), [&](auto row) { return row < end; });
  };
  EXPECT_EQ(below(3), 2);
  EXPECT_EQ(below(6), 3);
  EXPECT_EQ(below(20), 10);
}

TEST(StratifiedShuffle, KeepsEveryClassInTraining) {
  // 6 of 9 rows; due 4/3, 4/3 and 10/3: the first class has an equal remainder, but would have no row left.
  const Labels classes{0, 0, 1, 1, 2, 2, 2, 2, 2};
  const auto splits = split(SplitKind::stratified_shuffle, 9, 20, classes, {}, true, 0, 0.6);
  for (std::int32_t s = 0; s < 20; ++s) {
    const auto table = splits.weights(s, 1);
    std::set<std::int32_t> trained;
    for (std::int64_t i = 0; i < 9; ++i)
      if (!table.left_out(i, s)) trained.insert(classes[static_cast<std::size_t>(i)]);
    EXPECT_EQ(trained.size(), 3U);
    EXPECT_EQ(splits.test_rows(s).size(), 6U);
  }
}

TEST(StratifiedShuffle, DrawsEveryRowEquallyOften) {
  const Labels classes{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto splits = split(SplitKind::stratified_shuffle, 12, 4000, classes, {}, true, 0, 0.25);  // 1 and 2 rows
  std::vector<int> times(12);
  for (std::int32_t s = 0; s < 4000; ++s)
    for (const auto row : splits.test_rows(s)) ++times[static_cast<std::size_t>(row)];
  for (const auto time : times) EXPECT_NEAR(time, 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
}

TEST(LeaveOneOut, TakesNoTable) {
  const auto splits = split(SplitKind::leave_one_out, 2000000000, 0);
  EXPECT_EQ(splits.count(), 2000000000);
  EXPECT_EQ(splits.test_rows(1999999999), std::vector<std::int32_t>{1999999999});
  EXPECT_EQ(splits.tester(12345), 12345);
}

TEST(Bootstrap, DrawsAsManyRowsAsThereAre) {
  for (const std::int64_t rows : {2, 3, 10, 5000}) {
    const auto splits = split(SplitKind::bootstrap, rows, 40);
    const auto table = splits.weights(0, 40, 2);
    double left_out = 0;
    for (std::int32_t s = 0; s < 40; ++s) {
      std::int64_t total = 0;
      for (std::int64_t i = 0; i < rows; ++i) total += table.train(i, s);
      EXPECT_EQ(total, rows);
      left_out += static_cast<double>(splits.test_rows(s).size()) / static_cast<double>(rows) / 40;
    }
    // A row is missed with chance (1 - 1/n)^n; the variance of the share left out is about (1/e - 2/e^2) / n.
    const double missed = std::pow(1 - 1 / static_cast<double>(rows), static_cast<double>(rows));
    if (rows == 5000) {
      EXPECT_NEAR(left_out, missed, 5 * std::sqrt(0.1 / 5000 / 40));
    }
  }
}

TEST(SplitErrors, SayWhatIsWrong) {
  const Labels two{0, 0, 0, 1, 1, 1};
  const std::vector<std::pair<std::string, std::string>> table{
      {message_of(SplitKind::k_fold, 6, 0), "2 folds"},
      {message_of(SplitKind::k_fold, 6, 1), "2 folds"},
      {message_of(SplitKind::k_fold, 6, 7), "7 folds"},
      {message_of(SplitKind::k_fold, 1, 2), "2 rows"},
      {message_of(SplitKind::leave_one_out, 0, 2), "2 rows"},
      {message_of(SplitKind::k_fold, std::int64_t{1} << 32, 2), "4,294,967,296 rows"},
      {message_of(SplitKind::stratified_k_fold, 6, 2), "classes"},
      {message_of(SplitKind::stratified_k_fold, 6, 4, two), "class 0 (from 0) has only 3 rows"},
      {message_of(SplitKind::stratified_k_fold, 6, 2, {0, 0, 0, 0, 0, 3}), "class 3 (from 0) has only 1 row"},
      {message_of(SplitKind::group_k_fold, 6, 2), "groups"},
      {message_of(SplitKind::group_k_fold, 6, 3, {}, two), "3 folds need at least as many groups, not 2"},
      {message_of(SplitKind::stratified_group_k_fold, 6, 2, two), "groups"},
      {message_of(SplitKind::stratified_group_k_fold, 6, 3, two, two), "3 folds need at least as many groups, not 2"},
      {message_of(SplitKind::group_shuffle, 6, 2, two), "groups"},
      {message_of(SplitKind::group_shuffle, 6, 2, two, {4, 4, 4, 4, 4, 4}), "at least 2 groups, not 1"},
      {message_of(SplitKind::group_shuffle, 6, 2, two, two, 1), "not 1"},
      {message_of(SplitKind::stratified_shuffle, 6, 2), "classes"},
      {message_of(SplitKind::stratified_shuffle, 6, 0, two), "at least 1"},
      {message_of(SplitKind::stratified_shuffle, 6, 2, two, {}, 0), "not 0"},
      {message_of(SplitKind::stratified_shuffle, 6, 2, two, {}, 1), "not 1"},
      {message_of(SplitKind::stratified_shuffle, 6, 2, two, {}, std::nan("")), "nan"},
      {message_of(SplitKind::stratified_shuffle, 6, 2, two, {}, 0.9), "smaller test fraction"},
      {message_of(SplitKind::stratified_shuffle, 6, 2, {0, 0, 0, 0, 0, 1}), "class 1 (from 0) has only 1 row"},
      {message_of(SplitKind::bootstrap, 6, -1), "at least 1"},
  };
  for (const auto& [message, part] : table)
    EXPECT_NE(message.find(part), std::string::npos) << message << " / " << part;
}

TEST(SplitNames, AreReadBackAndUnknownOnesAnswered) {
  for (const auto kind :
       {SplitKind::k_fold, SplitKind::stratified_k_fold, SplitKind::group_k_fold, SplitKind::stratified_group_k_fold,
        SplitKind::stratified_shuffle, SplitKind::group_shuffle, SplitKind::leave_one_out, SplitKind::bootstrap})
    EXPECT_EQ(parse_split_kind(to_string(kind)), kind);
  try {
    parse_split_kind("stratifed");
    FAIL();
  } catch (const UsageError& error) {
    for (const char* known : {"kfold", "stratified", "group", "shuffle", "loo", "bootstrap"})
      EXPECT_NE(std::string(error.what()).find(known), std::string::npos) << error.what();
  }
}

// The caller's own splits.

TEST(CustomSplits, OfFoldNumbersAreThoseFolds) {
  const std::vector<std::int32_t> folds{1, 0, 2, 1, 0, 2, 2};
  const auto splits = custom_splits(folds);
  EXPECT_EQ(splits.kind(), SplitKind::custom);
  EXPECT_EQ(splits.rows(), 7);
  EXPECT_EQ(splits.count(), 3);
  EXPECT_TRUE(splits.is_partition());
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(splits.tester(i), folds[static_cast<std::size_t>(i)]);
  EXPECT_EQ(splits.test_rows(2), (std::vector<std::int32_t>{2, 5, 6}));
  for (std::int32_t s = 0; s < 3; ++s) EXPECT_EQ(tested(splits, s), splits.test_rows(s));
}

TEST(CustomSplits, MayTrainOnSomeRowsAlways) {
  const auto splits = custom_splits(std::vector<std::int32_t>{0, -1, 1, -1});
  EXPECT_FALSE(splits.is_partition());
  EXPECT_EQ(splits.count(), 2);
  EXPECT_EQ(splits.test_rows(0), (std::vector<std::int32_t>{0}));
  const auto table = splits.weights(0, 2);
  EXPECT_EQ(std::vector<std::uint8_t>(table.weights.begin(), table.weights.end()),
            (std::vector<std::uint8_t>{0, 1, 1, 1, 1, 0, 1, 1}));
}

TEST(CustomSplits, OfListsMayOverlapAndLeaveRowsOut) {
  // A series in time: train on the past, test what follows; row 5 twice as heavy, row 0 in the first split alone.
  const std::vector<TrainTestRows> lists{{{1, 0}, {3, 2}}, {{5, 2, 5}, {3, 4}}};
  const auto splits = custom_splits(6, lists);
  EXPECT_FALSE(splits.is_partition());
  EXPECT_EQ(splits.test_rows(0), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(splits.test_rows(1), (std::vector<std::int32_t>{3, 4}));
  const auto table = splits.weights(0, 2, 2);
  EXPECT_EQ(std::vector<std::uint8_t>(table.weights.begin(), table.weights.end()),
            (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 2}));
  const auto second = splits.weights(1, 1);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(second.train(i, 1), table.train(i, 1));
}

TEST(CustomSplits, OfListsThatAreFoldsAreThose) {
  const std::vector<TrainTestRows> lists{{{1, 3}, {0, 2}}, {{2, 0}, {3, 1}}};
  const auto splits = custom_splits(4, lists);
  EXPECT_TRUE(splits.is_partition());
  EXPECT_EQ(splits.tester(2), 0);
  EXPECT_EQ(splits.tester(1), 1);
}

void expect_custom_refused(const std::string& message, std::int64_t rows, const std::vector<TrainTestRows>& lists) {
  try {
    custom_splits(rows, lists);
    ADD_FAILURE() << "accepted, though: " << message;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(CustomSplits, ThatCannotBeAreRefused) {
  expect_custom_refused("argument 'rows' is 1; splits need 2 to 2147483647 rows", 1, {{{0}, {0}}});
  expect_custom_refused("argument 'splits' is empty; at least one split is expected", 4, {});
  expect_custom_refused("argument 'splits': split 0 (from 0) has no training rows", 4, {{{}, {0}}});
  expect_custom_refused("argument 'splits': split 1 (from 0) has no test rows", 4, {{{0}, {1}}, {{0}, {}}});
  expect_custom_refused("argument 'splits': split 0 (from 0), entry 1 of the training rows is 4, but rows are 0 to 3",
                        4, {{{0, 4}, {1}}});
  expect_custom_refused("argument 'splits': split 0 (from 0), entry 0 of the test rows is -1, but rows are 0 to 3", 4,
                        {{{0}, {-1}}});
  expect_custom_refused(
      "argument 'splits': split 0 (from 0) names row 2 2 times in its test rows; at most 1 is expected", 4,
      {{{0}, {2, 1, 2}}});
  expect_custom_refused(
      "argument 'splits': split 0 (from 0) names row 3 256 times in its training rows; at most 255 is expected", 4,
      {{std::vector<std::int64_t>(256, 3), {0}}});
  expect_custom_refused("argument 'splits': split 0 (from 0) both trains on row 1 and tests it", 4, {{{0, 1}, {1}}});
}

void expect_folds_refused(const std::string& message, const std::vector<std::int32_t>& folds) {
  try {
    custom_splits(folds);
    ADD_FAILURE() << "accepted, though: " << message;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(CustomSplits, OfFoldNumbersThatCannotBeAreRefused) {
  expect_folds_refused(
      "argument 'folds': entry 1 is -2; a fold from 0, or -1 for a row that no fold tests, is expected", {0, -2, 1});
  expect_folds_refused("argument 'folds': all entries are -1, so that no row is tested", {-1, -1});
  expect_folds_refused("argument 'folds': no row is in fold 1, but folds go up to 2; number them without gaps",
                       {0, 2, 0});
  expect_folds_refused("argument 'folds': no row is in fold 0, but folds go up to 2147483647; number them without gaps",
                       {2147483647, 2147483647});
  expect_folds_refused("argument 'folds': all rows are in fold 0, which leaves none to train on", {0, 0, 0});
}

}  // namespace splits_test
}  // namespace sheaf
