// Rows of few features, which a k-d tree finds: the same neighbours as by comparing all rows.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/neighbors.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "neighbors/verbs/ops.hpp"
#include "neighbors/verbs/tree_nodes_cpu.hpp"
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

std::vector<Context> contexts() {
  std::vector<Context> all;
  for (const auto device : devices()) all.push_back(with_threads(2).with({.device = device}));
  return all;
}

class TreeOf : public testing::TestWithParam<DistanceType> {};

/// As many queries as a GPU wants before it makes a tree; each twelfth is compared with the definition.
TEST_P(TreeOf, QueriesFindTheNearestRows) {
  for (const std::int64_t columns : {1, 2, 4}) {
    const auto table = lattice(20000, columns, 1);
    const auto asked = lattice(300, columns, 2);
    NeighborOptions options;
    options.distance.metric = GetParam();
    options.k = 9;
    std::vector<std::vector<PlainNeighbor>> wanted;
    for (std::size_t q = 0; q < asked.size(); q += 12)
      wanted.push_back(plain_neighbors(options.distance, table, asked[q], [](auto) { return true; }));
    const auto run = [&]<class T>(const Context& context, T) {
      const auto data = dataset_of<T>(table);
      const auto queries = dataset_of<T>(asked);
      const auto found = find_neighbors(context, data, options, &queries);
      for (std::size_t at = 0; at < wanted.size(); ++at)
        for (std::size_t n = 0; n < 9; ++n) {
          ASSERT_EQ(found.indices[at * 12 * 9 + n], wanted[at][n].row) << columns << " " << at << " " << n;
          ASSERT_EQ(found.distances[at * 12 * 9 + n], wanted[at][n].distance) << columns << " " << at << " " << n;
        }
      for (std::size_t at = 0; at < 3; ++at) {  // a radius for each is too slow by the definition
        const std::size_t q = 12 * at;
        options.radius = wanted[at][4].distance;
        const auto near = find_within(context, data, options, &queries);
        const auto count = static_cast<std::size_t>(near.offsets[q + 1] - near.offsets[q]);
        ASSERT_TRUE(count < wanted[at].size() && wanted[at][count].distance > options.radius) << columns << " " << q;
        for (std::size_t n = 0; n < count; ++n)
          ASSERT_EQ(near.indices[static_cast<std::size_t>(near.offsets[q]) + n], wanted[at][n].row);
      }
    };
    for (const auto& context : contexts()) {
      run(context, float{});
      run(context, double{});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Neighbors, TreeOf,
                         testing::Values(DistanceType::euclidean, DistanceType::squared_euclidean,
                                         DistanceType::manhattan, DistanceType::chebyshev),
                         [](const auto& one) { return std::string(to_string(one.param)); });

/// Folds, rows that may be no neighbours, and some queries: those of eligible().
TEST(Tree, OnlyEligibleRowsAreFound) {
  const auto table = lattice(6000, 2, 5);
  const auto data = dataset_of<double>(table);
  std::vector<std::int32_t> folds, some;
  std::vector<std::uint8_t> usable;
  for (std::int32_t i = 0; i < 6000; ++i) {
    folds.push_back(i % 5);
    usable.push_back(i % 3 == 0 ? 0 : 1);
    if (i % 19 == 0) some.push_back(i);
  }
  for (const auto& context : contexts())
    for (const bool by_fold : {true, false})
      for (const bool all : {true, false}) {
        const auto pair = neighbors::make_row_pair(context, data, static_cast<const Dataset<double>*>(nullptr), {});
        neighbors::Eligible eligible;
        if (by_fold)
          eligible.folds = folds;
        else
          eligible.data = usable;
        if (!all) eligible.queries = some;
        const auto queries = all ? table.size() : some.size();
        std::vector<std::int32_t> indices(queries * 4);
        std::vector<double> distances(indices.size());
        neighbors::make_ops(context, pair)->nearest(eligible, 4, indices, distances);
        for (std::size_t at = 0; at < some.size(); at += 5) {
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

/// Lists that are kept in order, and longer ones.
TEST(Tree, ListsOfAnyLengthAreInOrder) {
  const auto table = lattice(12000, 2, 3);
  const auto data = dataset_of<double>(table);
  for (const auto& context : contexts())
    for (const std::int64_t k : {1, 64, 65, 300}) {
      const auto found = find_neighbors(context, data, {.distance = {}, .k = k});
      for (const std::int32_t i : {0, 9000, 11999}) {
        const auto wanted =
            plain_neighbors({}, table, table[static_cast<std::size_t>(i)], [&](std::int32_t j) { return j != i; });
        for (std::int64_t n = 0; n < k; ++n) {
          const auto at = static_cast<std::size_t>(i * k + n);
          ASSERT_EQ(found.indices[at], wanted[static_cast<std::size_t>(n)].row) << k << " " << i << " " << n;
          ASSERT_EQ(found.distances[at], wanted[static_cast<std::size_t>(n)].distance) << k << " " << i << " " << n;
        }
      }
    }
}

/// All rows in one place, and all but one: boxes without an extent.
TEST(Tree, EqualRowsAreFoundByTheirNumbers) {
  Rows table(3000, Row{1.5, -2});
  table[1700] = {9, 9};
  for (const auto& context : contexts()) {
    const auto found = find_neighbors(context, dataset_of<float>(table), {.distance = {}, .k = 3});
    for (std::int32_t i : {0, 1, 2, 3, 1700, 2999}) {
      std::vector<std::int32_t> wanted;
      for (std::int32_t j = 0; wanted.size() < 3; ++j)
        if (j != i && j != 1700) wanted.push_back(j);
      for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(found.indices[static_cast<std::size_t>(i) * 3 + n], wanted[n]) << i;
    }
  }
}

/// Leaves hold at most 32 rows, 2,079 / 64 among them: every row has one place.
TEST(Tree, NodesShareTheRows) {
  for (const std::int64_t rows : {1, 32, 33, 2000, 2048, 2049, 2079, 4095, 245057}) {
    const neighbors::TreeShape shape(rows);
    for (int level = 0; level <= shape.depth; ++level) {
      std::int64_t end = 0;
      for (std::int64_t node = 0; node < std::int64_t{1} << level; ++node) {
        ASSERT_EQ(shape.begin(level, node), end);
        end = shape.begin(level, node + 1);
        if (level == shape.depth) {
          ASSERT_TRUE(end - shape.begin(level, node) <= 32) << rows << " " << node;
        }
        for (auto row = shape.begin(level, node); row < end; ++row) ASSERT_EQ(shape.node(level, row), node);
      }
      ASSERT_EQ(end, rows);
    }
  }
}

/// More neighbours and features mean more rows to compare; if they are too many, the work is that of all pairs.
TEST(Tree, WorkFollowsFeaturesAndNeighbours) {
  EXPECT_GE(neighbors::expected_tree_rows(245057, 3, 50), 50);
  EXPECT_LT(neighbors::expected_tree_rows(245057, 3, 50), 2000);
  EXPECT_LT(neighbors::expected_tree_rows(245057, 3, 5), neighbors::expected_tree_rows(245057, 3, 50));
  EXPECT_EQ(neighbors::expected_tree_rows(100000, 15, 10), 100000);
  const auto small = dataset_of<double>(lattice(20000, 2, 9)), wide = dataset_of<double>(lattice(20000, 15, 9));
  const auto share = [](const Dataset<double>& data) {
    const Dataset<double>* none = nullptr;
    return neighbors_work(data, none, NeighborOptions{}).operations / neighbors_work(data).operations;
  };
  EXPECT_LT(share(small), 0.2);
  EXPECT_EQ(share(wide), 1);
}

/// The tree itself: what it passes by is beyond the limit, and it passes by most rows.
TEST(Tree, PassesByRowsBeyondTheLimitAlone) {
  const auto context = with_threads(2);
  const auto table = lattice(10000, 3, 7);
  const auto data = dataset_of<double>(table);
  const auto any = neighbors::make_row_pair(context, data, static_cast<const Dataset<double>*>(nullptr), {});
  std::visit(
      [&]<class S>(const neighbors::RowPair<S>& pair) {
        const neighbors::cpu::Tree<S> tree(context, pair);
        const neighbors::SquaredEuclidean metric({}, 3);
        const Row query{0.3, -0.2, 0.7};
        const double radius = 0.25;
        DistanceOptions plain;
        plain.metric = DistanceType::squared_euclidean;
        std::vector<bool> seen(10000, false);
        const auto compared = tree.template visit<4>(
            metric, query.data(), radius, [&](std::span<const std::int32_t> rows, const double* sums) {
              for (std::size_t r = 0; r < rows.size(); ++r) {
                seen[static_cast<std::size_t>(rows[r])] = true;
                EXPECT_NEAR(sums[r], plain_distance(plain, query, table[static_cast<std::size_t>(rows[r])]), 1e-15);
              }
              return radius;
            });
        EXPECT_LT(compared, 2000);
        for (std::size_t i = 0; i < table.size(); ++i)
          EXPECT_EQ(seen[i], plain_distance({}, query, table[i]) <= 0.5) << i;
      },
      any);
}

}  // namespace tree_test
}  // namespace sheaf::test
