#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <sheaf/solvers/profile.hpp>

#include "data/describe/split_summary.hpp"
#include "tables.hpp"

namespace sheaf {
namespace summary_test {

using test::Rows;

template <class T>
Dataset<T> table(const Rows& rows, std::int64_t columns, bool sparse, int keep_zeros = 0) {
  Dataset<T> dataset;
  if (sparse)
    dataset.x = test::sparse_of<T>(rows, columns, keep_zeros);
  else
    dataset.x = test::dense_of<T>(rows, columns);
  return dataset;
}

/// Two plain passes over one column.
FeatureSummary naive(const Rows& rows, std::size_t column) {
  FeatureSummary result;
  if (rows.empty()) return result;
  result.minimum = result.maximum = rows[0][column];
  for (const auto& row : rows) {
    result.nonzeros += row[column] != 0 ? 1 : 0;
    result.minimum = std::min(result.minimum, row[column]);
    result.maximum = std::max(result.maximum, row[column]);
    result.mean += row[column] / static_cast<double>(rows.size());
  }
  for (const auto& row : rows) result.standard_deviation += std::pow(row[column] - result.mean, 2);
  result.standard_deviation = std::sqrt(result.standard_deviation / static_cast<double>(rows.size()));
  return result;
}

void expect_features(const Summary& summary, const Rows& rows) {
  std::int64_t nonzeros = 0;
  std::int64_t constant = 0;
  std::int64_t zero = 0;
  for (std::size_t j = 0; j < summary.per_feature.size(); ++j) {
    const auto expected = naive(rows, j);
    const auto& found = summary.per_feature[j];
    EXPECT_EQ(found.nonzeros, expected.nonzeros);
    EXPECT_EQ(found.minimum, expected.minimum);
    EXPECT_EQ(found.maximum, expected.maximum);
    EXPECT_NEAR(found.mean, expected.mean, 1e-12);
    EXPECT_NEAR(found.standard_deviation, expected.standard_deviation, 1e-12);
    nonzeros += expected.nonzeros;
    constant += expected.minimum == expected.maximum ? 1 : 0;
    zero += expected.nonzeros == 0 ? 1 : 0;
  }
  EXPECT_EQ(summary.nonzeros, nonzeros);
  EXPECT_EQ(summary.constant_features, constant);
  EXPECT_EQ(summary.zero_features, zero);
}

void expect_rows(const Summary& summary, const Rows& rows) {
  std::vector<std::int64_t> lengths;
  for (const auto& row : rows)
    lengths.push_back(std::count_if(row.begin(), row.end(), [](double value) { return value != 0; }));
  const auto longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  EXPECT_EQ(summary.longest_row, longest);
  EXPECT_EQ(summary.shortest_row, lengths.empty() ? 0 : *std::min_element(lengths.begin(), lengths.end()));
  EXPECT_EQ(summary.empty_rows, std::count(lengths.begin(), lengths.end(), 0));
  const auto& histogram = summary.row_nonzeros_histogram;
  EXPECT_EQ(std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0}), summary.rows);
  for (std::size_t bucket = 0; bucket < histogram.size(); ++bucket) {
    const std::int64_t low = bucket == 0 ? 0 : std::int64_t{1} << (bucket - 1);
    const std::int64_t high = bucket == 0 ? 0 : 2 * low - 1;
    EXPECT_EQ(histogram[bucket], std::count_if(lengths.begin(), lengths.end(),
                                               [&](auto length) { return length >= low && length <= high; }));
  }
}

template <class T>
class SummaryOf : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(SummaryOf, Elements);

TYPED_TEST(SummaryOf, MatchesPlainPassesOverDenseAndSparse) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{0, 0},   {0, 3},   {3, 0},    {1, 1},    {1, 700},
                                                                  {700, 1}, {33, 31}, {900, 40}, {60, 1100}};
  for (const auto& [n, p] : shapes)
    for (const double density : {0.0, 0.02, 0.5, 1.0}) {
      const auto rows = test::random_rows(n, p, density, 5);
      for (const bool sparse : {false, true}) {
        const auto dataset = table<TypeParam>(rows, p, sparse, 3);
        const auto summary = summarize(test::with_threads(2), dataset);
        EXPECT_EQ(summary.rows, n);
        EXPECT_EQ(summary.features, p);
        EXPECT_EQ(summary.sparse, sparse);
        EXPECT_EQ(summary.stored, stored(dataset.x));
        ASSERT_EQ(static_cast<std::int64_t>(summary.per_feature.size()), p);
        expect_features(summary, rows);
        expect_rows(summary, rows);
      }
    }
}

TYPED_TEST(SummaryOf, IsTheSameForAnyNumberOfThreads) {
  Random random(6);
  Rows rows(3000, std::vector<double>(20));
  for (auto& row : rows)
    for (auto& value : row) value = random.uniform() < 0.5 ? 0 : random.normal();
  for (const bool sparse : {false, true}) {
    const auto dataset = table<TypeParam>(rows, 20, sparse);
    const auto one = summarize(test::with_threads(1), dataset);
    for (const int threads : {2, 3, 16}) {
      const auto many = summarize(test::with_threads(threads), dataset);
      for (std::size_t j = 0; j < 20; ++j) {
        EXPECT_EQ(one.per_feature[j].mean, many.per_feature[j].mean);
        EXPECT_EQ(one.per_feature[j].standard_deviation, many.per_feature[j].standard_deviation);
      }
      EXPECT_EQ(one.row_nonzeros_histogram, many.row_nonzeros_histogram);
    }
  }
}

/// Rows as often as a split draws them.
Rows drawn(const Rows& rows, const std::vector<float>& draws, std::size_t splits, std::size_t split) {
  Rows result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (float k = 0; k < draws[i * splits + split]; ++k) result.push_back(rows[i]);
  return result;
}

void expect_splits(const Rows& rows, std::int64_t columns, const std::vector<float>& draws, std::size_t splits) {
  for (const bool sparse : {false, true}) {
    const auto dataset = table<double>(rows, columns, sparse);
    const auto one = summarize_splits(test::with_threads(1), dataset, draws, static_cast<std::int32_t>(splits));
    const auto many = summarize_splits(test::with_threads(3), dataset, draws, static_cast<std::int32_t>(splits));
    ASSERT_EQ(one.size(), static_cast<std::size_t>(columns) * splits);
    for (std::size_t s = 0; s < splits; ++s) {
      const auto seen = drawn(rows, draws, splits, s);
      for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
        const auto& found = one[j * splits + s];
        const auto expected = naive(seen, j);
        EXPECT_EQ(found.nonzeros, expected.nonzeros);
        EXPECT_EQ(found.minimum, expected.minimum);
        EXPECT_EQ(found.maximum, expected.maximum);
        EXPECT_NEAR(found.mean, expected.mean, 1e-12 * (1 + std::abs(expected.mean)));
        EXPECT_NEAR(found.standard_deviation, expected.standard_deviation, 1e-10);
        EXPECT_EQ(found.mean, many[j * splits + s].mean);
        EXPECT_EQ(found.standard_deviation, many[j * splits + s].standard_deviation);
      }
    }
  }
}

TEST(SummaryOfSplits, IsThatOfTheirRows) {
  // Folds are few groups of rows that are drawn alike; resamples have a group for nearly each row.
  for (const auto& [n, p] : {std::pair<std::int64_t, std::int64_t>{60, 5000}, {9000, 3}, {200, 40}})
    for (const bool folds : {true, false}) {
      auto rows = test::random_rows(n, p, 0.4, 8);
      for (auto& row : rows) row[0] += 100;
      Random random(9);
      const std::size_t splits = 4;
      std::vector<float> draws(static_cast<std::size_t>(n) * splits, 0.0F);
      for (std::size_t k = 0; k < draws.size(); ++k)
        draws[k] = folds ? (k / splits % splits == k % splits ? 0.0F : 1.0F)
                         : std::floor(3 * static_cast<float>(random.uniform()));
      SCOPED_TRACE(testing::Message() << n << " x " << p << (folds ? ", folds" : ", resamples"));
      expect_splits(rows, p, draws, splits);
    }
}

TEST(Summary, DoesNotCancelFarFromZero) {
  // 1e9 and 1e9 + 1 in turn: the squares differ only in digits that a double of 1e18 does not have.
  Rows rows;
  for (int i = 0; i < 2000; ++i) rows.push_back({1e9 + i % 2});
  for (const bool sparse : {false, true}) {
    const auto summary = summarize(test::with_threads(2), table<double>(rows, 1, sparse));
    EXPECT_NEAR(summary.per_feature[0].mean, 1e9 + 0.5, 1e-6);
    EXPECT_NEAR(summary.per_feature[0].standard_deviation, 0.5, 1e-9);
  }
}

TEST(Summary, CountsImplicitZerosInRangesAndNotStoredOnesAsNonZeros) {
  Dataset<double> dataset;
  dataset.x = test::sparse_of<double>({{5, -2, 0}, {0, -2, 0}, {0, -2, 0}}, 3, 1);  // every zero is stored
  for (const bool stored_zeros : {true, false}) {
    if (!stored_zeros) dataset.x = test::sparse_of<double>({{5, -2, 0}, {0, -2, 0}, {0, -2, 0}}, 3);
    const auto summary = summarize(test::with_threads(1), dataset);
    EXPECT_EQ(summary.stored, stored_zeros ? 9 : 4);
    EXPECT_EQ(summary.nonzeros, 4);
    EXPECT_EQ(summary.minimum, -2);
    EXPECT_EQ(summary.maximum, 5);
    EXPECT_EQ(summary.per_feature[0].minimum, 0);
    EXPECT_EQ(summary.per_feature[1].maximum, -2);
    EXPECT_EQ(summary.constant_features, 2);
    EXPECT_EQ(summary.zero_features, 1);
  }
}

TEST(Summary, TellsIntegersFromOtherNumbers) {
  for (const bool sparse : {false, true}) {
    EXPECT_TRUE(summarize(test::with_threads(1), table<float>({{1, 0}, {-3, 1e20}}, 2, sparse)).integers_only);
    EXPECT_FALSE(summarize(test::with_threads(1), table<float>({{1, 0}, {-3, 0.5}}, 2, sparse)).integers_only);
  }
}

TEST(Summary, CountsClassesAndGroups) {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>({{1}, {2}, {3}, {4}, {5}}, 1);
  dataset.target = {{}, {0, 1, 0, 0, 1}, {"yes", "no"}, ""};
  dataset.groups = {2, 0, 2, 5, 0};
  auto summary = summarize(test::with_threads(1), dataset);
  EXPECT_EQ(summary.class_counts, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(summary.groups, 3);
  dataset.target = {{1, 1.5, 2, 3, 5}, {}, {}, ""};
  dataset.groups.clear();
  summary = summarize(test::with_threads(1), dataset);
  EXPECT_TRUE(summary.class_counts.empty());
  EXPECT_EQ(summary.groups, 0);
  EXPECT_EQ(summary.target_minimum, 1);
  EXPECT_EQ(summary.target_maximum, 5);
  EXPECT_DOUBLE_EQ(summary.target_mean, 2.5);
  EXPECT_NEAR(summary.target_standard_deviation, std::sqrt(2.0), 1e-12);  // (2.25 + 1 + 0.25 + 0.25 + 6.25) / 5
}

TYPED_TEST(SummaryOf, MemoryNeedIsWhatTheTableTakes) {
  const auto rows = test::random_rows(30, 12, 0.4, 7);
  for (const bool sparse : {false, true}) {
    const auto dataset = table<TypeParam>(rows, 12, sparse);
    const auto need = memory_need(summarize(test::with_threads(1), dataset), sizeof(TypeParam));
    std::int64_t resident = matrix_bytes(dataset.x);
    EXPECT_EQ(need.matrix_cpu, resident);
    if (sparse) resident += matrix_bytes(Matrix<TypeParam>(transpose(std::get<SparseMatrix<TypeParam>>(dataset.x), 1)));
    EXPECT_EQ(need.resident_cpu, resident);
    EXPECT_EQ(need.resident_gpu, resident);
    EXPECT_EQ(need.per_task, static_cast<std::int64_t>(sizeof(TypeParam)) * (6 * 12 + 4 * 30));
  }
}

}  // namespace summary_test
}  // namespace sheaf
