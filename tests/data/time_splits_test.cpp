// Splits by time: those of scikit-learn's TimeSeriesSplit, written again from its definition, and what it does not
// have.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/solvers/splits.hpp>

namespace sheaf {
namespace time_splits_test {

using Numbers = std::vector<std::int32_t>;

struct Lists {
  Numbers train, test;
  bool operator==(const Lists&) const = default;
};

SplitOptions by_time(std::int32_t count, std::int64_t test_size = 0, std::int64_t window = 0, std::int64_t gap = 0) {
  SplitOptions options;
  options.kind = SplitKind::time;
  options.count = count;
  options.test_size = test_size;
  options.window = window;
  options.gap = gap;
  return options;
}

std::vector<Lists> lists_of(const Splits& splits) {
  std::vector<Lists> lists;
  for (std::int32_t s = 0; s < splits.count(); ++s) {
    const auto weights = splits.weights(s, 1);
    Lists one{{}, splits.test_rows(s)};
    for (std::int32_t i = 0; i < splits.rows(); ++i)
      if (weights.train(i, s) > 0) one.train.push_back(i);
    lists.push_back(one);
  }
  return lists;
}

Numbers range(std::int64_t begin, std::int64_t end) {
  Numbers numbers;
  for (auto i = begin; i < end; ++i) numbers.push_back(static_cast<std::int32_t>(i));
  return numbers;
}

/// TimeSeriesSplit(n_splits, max_train_size, test_size, gap).split(range(n_samples)) of scikit-learn 1.7, from its
/// documentation: test_size is n_samples // (n_splits + 1) if it is not given; the i-th split tests the test_size
/// samples before the last n_splits - 1 - i times test_size; it trains on all before but the last gap, or on the last
/// max_train_size of these.
std::vector<Lists> time_series_split(std::int64_t samples, std::int64_t splits, std::int64_t max_train_size,
                                     std::int64_t test_size, std::int64_t gap) {
  if (test_size == 0) test_size = samples / (splits + 1);
  std::vector<Lists> lists;
  for (auto start = samples - splits * test_size; start < samples; start += test_size) {
    const auto end = start - gap;
    const auto begin = max_train_size > 0 && max_train_size < end ? end - max_train_size : 0;
    lists.push_back({range(begin, end), range(start, start + test_size)});
  }
  return lists;
}

TEST(TimeSplits, AreThoseOfTimeSeriesSplit) {
  for (const std::int64_t rows : {6, 7, 20, 101})
    for (const std::int32_t splits : {1, 2, 3, 5})
      for (const std::int64_t window : {0, 1, 4, 1000})
        for (const std::int64_t size : {0, 1, 3})
          for (const std::int64_t gap : {0, 1, 2}) {
            const auto tested = size == 0 ? rows / (splits + 1) : size;
            if (tested < 1 || splits * tested + gap >= rows) continue;
            SCOPED_TRACE(testing::Message() << rows << " rows, " << splits << " splits, window " << window << ", size "
                                            << size << ", gap " << gap);
            const auto found = make_splits(rows, {}, {}, by_time(splits, size, window, gap));
            EXPECT_FALSE(found.is_partition());
            EXPECT_EQ(lists_of(found), time_series_split(rows, splits, window, size, gap));
          }
}

TEST(TimeSplits, FollowTheTimesNotTheRows) {
  // Row i was at time (7 i) mod 20, so that row (3 t) mod 20 was at time t.
  Numbers times;
  for (std::int32_t i = 0; i < 20; ++i) times.push_back(7 * i % 20);
  const auto found = lists_of(make_splits(20, {}, {}, by_time(3, 4, 6, 1), times));
  auto wanted = time_series_split(20, 3, 6, 4, 1);
  for (auto& one : wanted)
    for (auto* list : {&one.train, &one.test}) {
      for (auto& row : *list) row = 3 * row % 20;
      std::sort(list->begin(), list->end());
    }
  EXPECT_EQ(found, wanted);
}

TEST(TimeSplits, KeepRowsOfOneTimeTogether) {
  // Ten days of three rows, and one more row on the last: sizes are days.
  Numbers days;
  for (std::int32_t i = 0; i < 31; ++i) days.push_back(10 * std::min(i / 3, 9));
  const auto found = lists_of(make_splits(31, {}, {}, by_time(2, 2, 3, 1), days));
  const std::vector<Lists> wanted{{range(6, 15), range(18, 24)}, {range(12, 21), range(24, 31)}};
  EXPECT_EQ(found, wanted);
}

TEST(TimeSplits, DoNotTrainOnGroupsThatTheyTest) {
  Numbers groups;
  for (std::int32_t i = 0; i < 30; ++i) groups.push_back(i * i % 13);
  const auto plain = lists_of(make_splits(30, {}, {}, by_time(4)));
  const auto found = lists_of(make_splits(30, {}, groups, by_time(4)));
  for (std::size_t s = 0; s < plain.size(); ++s) {
    std::set<std::int32_t> tested;
    for (const auto row : plain[s].test) tested.insert(groups[static_cast<std::size_t>(row)]);
    Numbers train;
    for (const auto row : plain[s].train)
      if (!tested.contains(groups[static_cast<std::size_t>(row)])) train.push_back(row);
    EXPECT_EQ(found[s].test, plain[s].test);
    EXPECT_EQ(found[s].train, train);
    EXPECT_LT(train.size(), plain[s].train.size());
  }
}

void expect_refused(const std::vector<std::string>& parts, std::int64_t rows, const SplitOptions& options,
                    const Numbers& groups = {}, const Numbers& times = {}) {
  try {
    make_splits(rows, {}, groups, options, times);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    for (const auto& part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(TimeSplits, ThatCannotBeAreRefused) {
  expect_refused({"5 splits by time need at least 6 rows, not 5"}, 5, by_time(5));
  expect_refused({"need more than 12 of them, not 12", "gap of 3"}, 12, by_time(3, 3, 0, 3));
  expect_refused({"2 splits by time need at least 3 different times, not 2"}, 8, by_time(2), {},
                 {0, 0, 0, 0, 4, 4, 4, 4});
  expect_refused({"split 1 has no rows to train on", "groups"}, 6, by_time(2), Numbers(6, 0));
}

TEST(TimeSplits, HaveAName) {
  EXPECT_EQ(to_string(SplitKind::time), "time");
  EXPECT_EQ(parse_split_kind("time"), SplitKind::time);
}

// Classes by another name are the same classes.
TEST(Splits, DoNotDependOnTheOrderOfClasses) {
  Numbers classes, renamed, groups;
  for (std::int32_t i = 0; i < 120; ++i) {
    classes.push_back(i * i % 7 % 3);
    renamed.push_back(2 - classes.back());
    groups.push_back(i * 5 % 33);
  }
  for (int kind = 0; kind < static_cast<int>(SplitKind::custom); ++kind)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SplitOptions options;
      options.kind = static_cast<SplitKind>(kind);
      options.seed = seed;
      EXPECT_EQ(lists_of(make_splits(120, classes, groups, options)),
                lists_of(make_splits(120, renamed, groups, options)))
          << to_string(options.kind) << ", seed " << seed;
    }
}

}  // namespace time_splits_test
}  // namespace sheaf
