// Rows of few features, which a k-d tree finds: the same neighbours as by comparing all rows.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/neighbors.hpp>

#include "core/random.hpp"
#include "neighbors/verbs/ops.hpp"
#include "neighbors/verbs/tree_cpu.hpp"
#include "neighbors_reference.hpp"

namespace sheaf::test {
namespace tree_test {

/// Values of a sixteenth, so that distances are exact and many rows are equally far, some of them equal.
Rows lattice(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  Rows table;
  for (std::int64_t i = 0; i < rows; ++i) {
    table.emplace_back();
    for (std::int64_t j = 0; j < columns; ++j) table.back().push_back(std::round(16 * random.normal()) / 16);
  }
  return table;
}

template <class T>
Dataset<T> dataset_of(const Rows& table) {
  Dataset<T> dataset;
  dataset.x = dense_of<T>(table, std::ssize(table.front()));
  return dataset;
}

class TreeOf : public testing::TestWithParam<DistanceType> {};

TEST_P(TreeOf, QueriesFindTheNearestRows) {
  const auto context = with_threads(2);
  for (const std::int64_t columns : {1, 2, 4}) {
    const auto table = lattice(20000, columns, 1);
    const auto asked = lattice(64, columns, 2);
    NeighborOptions options;
    options.distance.metric = GetParam();
    options.k = 9;
    const auto run = [&]<class T>(T) {
      const auto data = dataset_of<T>(table);
      const auto queries = dataset_of<T>(asked);
      const auto found = find_neighbors(context, data, options, &queries);
      for (std::size_t q = 0; q < asked.size(); ++q) {
        const auto wanted = plain_neighbors(options.distance, table, asked[q], [](auto) { return true; });
        for (std::size_t n = 0; n < 9; ++n) {
          ASSERT_EQ(found.indices[q * 9 + n], wanted[n].row) << columns << " " << q << " " << n;
          ASSERT_EQ(found.distances[q * 9 + n], wanted[n].distance) << columns << " " << q << " " << n;
        }
        options.radius = wanted[4].distance;
        const auto near = find_within(context, data, options, &queries);
        const auto count = static_cast<std::size_t>(near.offsets[q + 1] - near.offsets[q]);
        ASSERT_TRUE(count < wanted.size() && wanted[count].distance > options.radius) << columns << " " << q;
        for (std::size_t n = 0; n < count; ++n)
          ASSERT_EQ(near.indices[static_cast<std::size_t>(near.offsets[q]) + n], wanted[n].row);
        if (q == 3) break;  // a radius for each is too slow by the definition
      }
    };
    run(float{});
    run(double{});
  }
}

INSTANTIATE_TEST_SUITE_P(Neighbors, TreeOf,
                         testing::Values(DistanceType::euclidean, DistanceType::squared_euclidean,
                                         DistanceType::manhattan, DistanceType::chebyshev),
                         [](const auto& one) { return std::string(to_string(one.param)); });

/// Folds, rows that may be no neighbours, and some queries: those of eligible().
TEST(Tree, OnlyEligibleRowsAreFound) {
  const auto context = with_threads(3);
  const auto table = lattice(6000, 2, 5);
  const auto data = dataset_of<double>(table);
  const auto pair = neighbors::make_row_pair(context, data, static_cast<const Dataset<double>*>(nullptr), {});
  const auto ops = neighbors::make_ops(context, pair);
  std::vector<std::int32_t> folds, some;
  std::vector<std::uint8_t> usable;
  for (std::int32_t i = 0; i < 6000; ++i) {
    folds.push_back(i % 5);
    usable.push_back(i % 3 == 0 ? 0 : 1);
    if (i % 97 == 0) some.push_back(i);
  }
  for (const bool by_fold : {true, false})
    for (const bool all : {true, false}) {
      neighbors::Eligible eligible;
      if (by_fold)
        eligible.folds = folds;
      else
        eligible.data = usable;
      if (!all) eligible.queries = some;
      const auto queries = all ? table.size() : some.size();
      std::vector<std::int32_t> indices(queries * 4);
      std::vector<double> distances(indices.size());
      ops->nearest(eligible, 4, indices, distances);
      for (std::size_t at = 0; at < some.size(); ++at) {
        const auto row = static_cast<std::size_t>(some[at]);
        const auto place = all ? row : at;
        const auto wanted = plain_neighbors({}, table, table[row], [&](std::int32_t j) {
          const auto other = static_cast<std::size_t>(j);
          return other != row && (by_fold ? folds[other] != folds[row] : usable[other] != 0);
        });
        for (std::size_t n = 0; n < 4; ++n) ASSERT_EQ(indices[place * 4 + n], wanted[n].row) << row << " " << n;
      }
    }
}

/// All rows in one place, and all but one: boxes without an extent.
TEST(Tree, EqualRowsAreFoundByTheirNumbers) {
  Rows table(3000, Row{1.5, -2});
  table[1700] = {9, 9};
  const auto found = find_neighbors(with_threads(1), dataset_of<float>(table), {.distance = {}, .k = 3});
  for (std::int32_t i : {0, 1, 2, 3, 1700, 2999}) {
    std::vector<std::int32_t> wanted;
    for (std::int32_t j = 0; wanted.size() < 3; ++j)
      if (j != i && j != 1700) wanted.push_back(j);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(found.indices[static_cast<std::size_t>(i) * 3 + n], wanted[n]) << i;
  }
}

/// The tree itself: what it passes by is beyond the limit, and it passes by most rows.
TEST(Tree, PassesByRowsBeyondTheLimitAlone) {
  const auto context = with_threads(2);
  const auto table = lattice(10000, 3, 7);
  const auto data = dataset_of<double>(table);
  const auto any = neighbors::make_row_pair(context, data, static_cast<const Dataset<double>*>(nullptr), {});
  std::visit(
      [&]<class S>(const neighbors::RowPair<S>& pair) {
        const neighbors::cpu::Tree<S> tree(context, pair, neighbors::cpu::TreeUnit::squares);
        const Row query{0.3, -0.2, 0.7};
        const double radius = 0.25;
        std::vector<bool> seen(10000, false);
        const auto compared = tree.visit(query.data(), tree.limit(radius), [&](std::span<const std::int32_t> rows) {
          for (const auto row : rows) seen[static_cast<std::size_t>(row)] = true;
          return tree.limit(radius);
        });
        EXPECT_LT(compared, 2000);
        for (std::size_t i = 0; i < table.size(); ++i)
          EXPECT_EQ(seen[i], plain_distance({}, query, table[i]) <= radius * (1 + 1e-12)) << i;
      },
      any);
}

}  // namespace tree_test
}  // namespace sheaf::test
