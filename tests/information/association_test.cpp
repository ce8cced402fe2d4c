#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <sheaf/solvers/profile.hpp>

#include "core/random.hpp"
#include "tables.hpp"

namespace sheaf {
namespace association_test {

/// A dataset of small whole numbers (many ties and zeros) and labels in `classes` classes, or numbers for 0.
Dataset<double> make_table(std::int64_t rows, std::int64_t features, int classes, std::uint64_t seed) {
  Random random(seed);
  Dataset<double> dataset;
  DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
  for (auto& value : x.values) value = random.uniform() < 0.5 ? 0 : static_cast<double>(random.below(7)) - 2;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (classes == 0)
      dataset.target.values.push_back(random.normal());
    else
      dataset.target.classes.push_back(
          static_cast<std::int32_t>(i < classes ? i : random.below(static_cast<std::uint64_t>(classes))));
  }
  for (int c = 0; c < classes; ++c) dataset.target.class_names.push_back("class" + std::to_string(c));
  dataset.x = std::move(x);
  return dataset;
}

double at(const Dataset<double>& dataset, std::int64_t i, std::int64_t j) {
  return std::get<DenseMatrix<double>>(dataset.x).values[i * dataset.features() + j];
}

/// By definition: how many are smaller, and half of those that are equal.
std::vector<double> naive_ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double a : values) {
    double rank = 0.5;
    for (const double b : values) rank += b < a ? 1 : b == a ? 0.5 : 0;
    ranks.push_back(rank);
  }
  return ranks;
}

double naive_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double ma = 0, mb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / n;
    mb += b[i] / n;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    saa += (a[i] - ma) * (a[i] - ma);
    sbb += (b[i] - mb) * (b[i] - mb);
    sab += (a[i] - ma) * (b[i] - mb);
  }
  return sab / std::sqrt(saa * sbb);
}

std::vector<double> column(const Dataset<double>& dataset, std::int64_t j) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < dataset.rows(); ++i) values.push_back(at(dataset, i, j));
  return values;
}

double naive_auc(const std::vector<double>& values, const std::vector<std::int32_t>& classes) {
  double wins = 0, pairs = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (classes[i] != 1 || classes[k] != 0) continue;
      wins += values[i] > values[k] ? 1 : values[i] == values[k] ? 0.5 : 0;
      ++pairs;
    }
  return wins / pairs;
}

TEST(Association, OfTwoClassesIsTheRankCorrelationAndTheAuc) {
  const auto dataset = make_table(37, 20, 2, 1);
  const auto found = associate(Context(), dataset);
  std::vector<double> labels(dataset.target.classes.begin(), dataset.target.classes.end());
  ASSERT_EQ(found.positive_class, 1);
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto values = column(dataset, j);
    EXPECT_NEAR(found.correlation[static_cast<std::size_t>(j)], naive_correlation(naive_ranks(values), labels), 1e-12);
    EXPECT_NEAR(found.auc[static_cast<std::size_t>(j)], naive_auc(values, dataset.target.classes), 1e-12);
  }
}

TEST(Association, OfAmountsIsTheRankCorrelation) {
  const auto dataset = make_table(41, 20, 0, 2);
  const auto found = associate(Context(), dataset);
  const auto labels = naive_ranks(dataset.target.values);
  for (std::int64_t j = 0; j < dataset.features(); ++j)
    EXPECT_NEAR(found.correlation[static_cast<std::size_t>(j)],
                naive_correlation(naive_ranks(column(dataset, j)), labels), 1e-12);
  EXPECT_TRUE(found.auc.empty());
}

TEST(Association, OfSeveralClassesIsTheCorrelationRatio) {
  const auto dataset = make_table(50, 10, 4, 3);
  const auto found = associate(Context(), dataset);
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto ranks = naive_ranks(column(dataset, j));
    double between = 0, total = 0;
    for (std::int32_t c = 0; c < 4; ++c) {
      double sum = 0, count = 0;
      for (std::size_t i = 0; i < ranks.size(); ++i)
        if (dataset.target.classes[i] == c) {
          sum += ranks[i];
          ++count;
        }
      between += count * std::pow(sum / count - 25.5, 2);
    }
    for (const double rank : ranks) total += std::pow(rank - 25.5, 2);
    EXPECT_NEAR(found.correlation[static_cast<std::size_t>(j)], std::sqrt(between / total), 1e-12);
  }
}

TEST(Association, IsTheSameForSparseTablesAndAnyThreads) {
  auto dataset = make_table(60, 1300, 3, 4);
  const auto dense = associate(test::with_threads(1), dataset);
  dataset.x = to_sparse(std::get<DenseMatrix<double>>(dataset.x), 1);
  const auto sparse = associate(test::with_threads(3), dataset);
  EXPECT_EQ(dense.correlation, sparse.correlation);
  EXPECT_EQ(dense.chance, sparse.chance);
  EXPECT_EQ(dense.histogram, sparse.histogram);
  EXPECT_EQ(dense.chance_histogram, sparse.chance_histogram);
}

// Labels unrelated to the features: the strongest of all features passes `chance` in one run out of twenty.
TEST(Association, ChanceIsPassedAsOftenAsPromised) {
  int passed = 0;
  constexpr int runs = 200;
  for (int run = 0; run < runs; ++run) {
    const auto dataset = make_table(30, 40, 2, 100 + static_cast<std::uint64_t>(run));
    const auto found = associate(test::with_threads(1, static_cast<std::uint64_t>(run)), dataset);
    double strongest = 0;
    for (const double value : found.correlation) strongest = std::max(strongest, std::abs(value));
    passed += strongest > found.chance ? 1 : 0;
  }
  EXPECT_GE(passed, 1);
  EXPECT_LE(passed, 22);  // 10 expected, standard deviation 3.1
}

TEST(Association, HistogramsCountEveryFeature) {
  const auto found = associate(Context(), make_table(30, 77, 2, 5));
  double features = 0, chance = 0;
  for (std::size_t b = 0; b < found.histogram.size(); ++b) {
    features += found.histogram[b];
    chance += found.chance_histogram[b];
  }
  EXPECT_EQ(features, 77);
  EXPECT_NEAR(chance, 77, 1e-9);
}

TEST(Association, IsEmptyWithoutAnythingToGoWith) {
  auto dataset = make_table(10, 3, 2, 6);
  dataset.target.classes.assign(10, 0);
  EXPECT_TRUE(associate(Context(), dataset).empty());
  dataset.target = {};
  EXPECT_TRUE(associate(Context(), dataset).empty());
}

TEST(Association, OfConstantFeaturesIsZero) {
  auto dataset = make_table(12, 2, 2, 7);
  for (std::int64_t i = 0; i < 12; ++i) std::get<DenseMatrix<double>>(dataset.x).values[i * 2] = 3;
  const auto found = associate(Context(), dataset);
  EXPECT_EQ(found.correlation[0], 0);
  EXPECT_EQ(found.auc[0], 0.5);
}

}  // namespace association_test
}  // namespace sheaf
