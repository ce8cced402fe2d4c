// Rows with the same features in a search: kept on one side of every split, or noted.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <sheaf/neighbors.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>

#include "core/random.hpp"
#include "linear_tables.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace equal_rows_search_test {

/// Noise: random labels, every row `copies` times, all in random order.
Dataset<double> noise(std::size_t rows, std::size_t features, std::size_t copies, std::uint64_t seed, bool sparse) {
  Random random(seed);
  Rows x;
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (std::size_t j = 0; j < features; ++j)
      row.push_back(random.uniform() < (sparse ? 0.3 : 1.0) ? random.normal() : 0);
    const double label = i % 2 == 0 ? 1 : 2;
    for (std::size_t k = 0; k < copies; ++k) {
      x.push_back(row);
      y.push_back(label);
    }
  }
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  random.shuffle(std::span(order));
  Rows mixed;
  std::vector<double> labels;
  for (const auto i : order) {
    mixed.push_back(x[i]);
    labels.push_back(y[i]);
  }
  Dataset<double> dataset;
  if (sparse)
    dataset.x = sparse_of<double>(mixed, static_cast<std::int64_t>(features));
  else
    dataset.x = dense_of<double>(mixed, static_cast<std::int64_t>(features));
  dataset.target = target_of(labels);
  dataset.target.kind = LabelKind::classes;
  dataset.source = "noise";
  return dataset;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const auto& one) { return one.find(part) != std::string::npos; });
}

SearchSpace knn() {
  SearchSpace space(find_model_kind("knn").options);
  space["k"] = {1};
  return space;
}

TEST(EqualRowsInSearches, OfNoiseDoNotMakeItLookLearnable) {
  for (const bool sparse : {false, true})
    for (const auto split :
         {std::optional<SplitKind>(), std::optional(SplitKind::k_fold), std::optional(SplitKind::stratified_k_fold),
          std::optional(SplitKind::stratified_shuffle)}) {
      SCOPED_TRACE(testing::Message() << (sparse ? "sparse, " : "dense, ") << (split ? to_string(*split) : "default"));
      SearchOptions options;
      options.split = split;
      options.test_fraction = 0.3;
      options.score = Metric::accuracy;
      const auto dataset = noise(150, 12, 2, 4, sparse);
      const auto found = search(with_threads(2), dataset, knn(), options);
      EXPECT_LT(found.summary(0, Metric::accuracy).mean, 0.65);
      EXPECT_TRUE(says(found.notes,
                       "300 of 300 rows have the same features as another row; such rows are kept on one "
                       "side of every split"));
      options.equal_rows = EqualRows::apart;
      const auto apart = search(with_threads(2), dataset, knn(), options);
      EXPECT_GT(apart.summary(0, Metric::accuracy).mean, 0.7) << "the trap";
      EXPECT_FALSE(says(apart.notes, "same features"));
    }
}

/// The rows that each split tests.
std::vector<std::set<std::int32_t>> tests_of(const SearchResult& result) {
  std::vector<std::set<std::int32_t>> tests;
  for (std::size_t k = 0; k < result.held_out->rows.size(); ++k) {
    const auto split = static_cast<std::size_t>(result.held_out->splits[k]);
    if (split >= tests.size()) tests.resize(split + 1);
    tests[split].insert(result.held_out->rows[k]);
  }
  return tests;
}

SearchOptions with_predictions() {
  SearchOptions options;
  options.predictions = true;
  options.score = Metric::accuracy;
  return options;
}

SearchSpace one_linear() {
  SearchSpace space{LinearOptions{}};
  space["cost"] = {1};
  return space;
}

TEST(EqualRowsInSearches, AndGroupsStayTogetherAndFoldsStayEven) {
  // The first copies are in groups of two, the others in groups of their own: sets of four rows belong together.
  auto dataset = noise(60, 5, 2, 9, false);
  const auto rows = rows_of(dataset.x);
  std::int32_t different = 0;
  for (std::int32_t i = 0; i < 120; ++i) {
    const auto seen = std::find(rows.begin(), rows.end(), rows[static_cast<std::size_t>(i)]) - rows.begin() < i;
    dataset.groups.push_back(seen ? 30 + i : different++ / 2);
  }
  const auto& groups = dataset.groups;
  const auto found = search(with_threads(1), dataset, one_linear(), with_predictions());
  EXPECT_EQ(found.groups, 90) << "those of the dataset are counted";
  const auto tests = tests_of(found);
  ASSERT_EQ(tests.size(), 5U);
  std::size_t most = 0;
  for (const auto& test : tests) {
    most = std::max(most, test.size());
    for (std::int32_t i = 0; i < 120; ++i)
      for (const auto row : test)
        if (rows[static_cast<std::size_t>(i)] == rows[static_cast<std::size_t>(row)] ||
            groups[static_cast<std::size_t>(i)] == groups[static_cast<std::size_t>(row)]) {
          EXPECT_TRUE(test.contains(i)) << i << " and " << row;
        }
  }
  EXPECT_LE(most, 28U);
}

TEST(EqualRowsInSearches, GivenSplitsStayAsTheyAre) {
  const auto dataset = noise(50, 4, 2, 2, false);
  std::vector<std::int32_t> folds;
  for (std::int32_t i = 0; i < 100; ++i) folds.push_back(i % 4);
  auto options = with_predictions();
  options.splits = custom_splits(folds);
  options.split = SplitKind::custom;
  const auto found = search(with_threads(1), dataset, one_linear(), options);
  for (std::size_t k = 0; k < found.held_out->rows.size(); ++k)
    EXPECT_EQ(found.held_out->splits[k], found.held_out->rows[k] % 4);
  EXPECT_TRUE(says(found.notes, "the given splits train on some of them and test others"));
  // Folds that keep the copies together need no note.
  const auto rows = rows_of(dataset.x);
  for (std::size_t i = 0; i < 100; ++i)
    folds[i] = static_cast<std::int32_t>(std::find(rows.begin(), rows.end(), rows[i]) - rows.begin()) % 4;
  options.splits = custom_splits(folds);
  EXPECT_FALSE(says(search(with_threads(1), dataset, one_linear(), options).notes, "same features"));
}

TEST(EqualRowsInSearches, ByFewValuesAreNoCopies) {
  auto dataset = noise(200, 3, 1, 1, false);
  Random random(5);
  Rows rows;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> row;
    for (int j = 0; j < 3; ++j) row.push_back(static_cast<double>(random.below(2)));
    rows.push_back(row);
  }
  dataset.x = dense_of<double>(rows, 3);
  auto options = with_predictions();
  const auto found = search(with_threads(1), dataset, one_linear(), options);
  EXPECT_TRUE(says(found.notes, "200 of 200 rows have the same features as another row, since the features have few"));
  options.equal_rows = EqualRows::apart;
  EXPECT_EQ(tests_of(search(with_threads(1), dataset, one_linear(), options)), tests_of(found));
  options.equal_rows = EqualRows::together;
  const auto tests = tests_of(search(with_threads(1), dataset, one_linear(), options));
  for (const auto& test : tests)
    for (const auto row : test)
      for (std::int32_t i = 0; i < 200; ++i)
        if (rows[static_cast<std::size_t>(i)] == rows[static_cast<std::size_t>(row)]) {
          EXPECT_TRUE(test.contains(i));
        }
}

TEST(EqualRowsInSearches, ThatWouldMakeFoldsUnevenAreOnlyWarnedOf) {
  auto dataset = noise(100, 4, 1, 3, false);
  auto rows = rows_of(dataset.x);
  for (std::size_t i = 0; i < 40; ++i) rows[i] = rows[0];
  dataset.x = dense_of<double>(rows, 4);
  const auto found = search(with_threads(1), dataset, one_linear(), with_predictions());
  EXPECT_TRUE(says(found.warnings, "40 of 100 rows have the same features as another row, and splits that keep"));
  for (const auto& test : tests_of(found)) EXPECT_EQ(test.size(), 20U);
}

TEST(EqualRowsInSearches, WithoutThemSplitsAreWhatTheyWere) {
  const auto dataset = noise(90, 4, 1, 3, false);
  const auto found = search(with_threads(1, 11), dataset, one_linear(), with_predictions());
  SplitOptions split;
  split.seed = 11;
  const auto splits = make_splits(90, dataset.target.classes, {}, split);
  const auto tests = tests_of(found);
  for (std::int32_t s = 0; s < 5; ++s) {
    const auto rows = splits.test_rows(s);
    EXPECT_EQ(tests[static_cast<std::size_t>(s)], std::set<std::int32_t>(rows.begin(), rows.end()));
  }
  EXPECT_FALSE(says(found.notes, "same features"));
}

}  // namespace equal_rows_search_test
}  // namespace sheaf::test
