// Distances, nearest rows and rows within a radius against their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <sheaf/io.hpp>
#include <sheaf/neighbors.hpp>

#include "core/instruction_sets.hpp"
#include "devices.hpp"
#include "neighbors/verbs/ops.hpp"
#include "neighbors/verbs/pieces.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace neighbors_test {

using test::Rows;

Context context_on(Device device, int threads = 2) { return test::with_threads(threads).with({.device = device}); }

template <class T>
Dataset<T> dataset_of(const Rows& rows, std::int64_t columns, bool sparse) {
  Dataset<T> dataset;
  if (sparse)
    dataset.x = test::sparse_of<T>(rows, columns, 3);
  else
    dataset.x = test::dense_of<T>(rows, columns);
  dataset.source = "table";
  return dataset;
}

/// Eighths between -8 and 8: sums of differences, squares and counts are exact in double in any order. Every fifth row
/// is that of five rows before.
Rows rows_with_ties(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed) {
  auto result = test::random_rows(rows, columns, density, seed);
  for (std::size_t i = 5; i < result.size(); i += 5) result[i] = result[i - 5];
  return result;
}

bool is_exact(DistanceType metric) {
  return metric != DistanceType::cosine && metric != DistanceType::correlation && metric != DistanceType::minkowski;
}

/// All rows of each query, the nearest first, as the definition orders them.
using PlainLists = std::vector<std::vector<test::PlainNeighbor>>;

PlainLists plain_lists(const NeighborOptions& options, const Rows& data, const Rows* queries) {
  PlainLists lists;
  const auto& from = queries != nullptr ? *queries : data;
  for (std::int32_t i = 0; i < std::ssize(from); ++i)
    lists.push_back(
        test::plain_neighbors(options.distance, data, from[static_cast<std::size_t>(i)],
                              [&](std::int32_t j) { return queries != nullptr || options.include_self || j != i; }));
  return lists;
}

/// The lists must be those of the definition; if that rounds otherwise, rows may change places within 1e-12.
void expect_neighbors(const NeighborOptions& options, const Rows& data, const Rows& from, const PlainLists& wanted,
                      const NeighborLists& lists) {
  ASSERT_EQ(lists.queries, std::ssize(from));
  ASSERT_EQ(lists.k, options.k);
  for (std::int64_t i = 0; i < lists.queries; ++i)
    for (std::int64_t n = 0; n < lists.k; ++n) {
      const auto at = static_cast<std::size_t>(i * lists.k + n);
      const auto& want = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(n)];
      if (is_exact(options.distance.metric)) {
        ASSERT_EQ(lists.indices[at], want.row) << "query " << i << ", neighbour " << n;
        ASSERT_EQ(lists.distances[at], want.distance) << "query " << i << ", neighbour " << n;
        continue;
      }
      ASSERT_NEAR(lists.distances[at], want.distance, 1e-12) << "query " << i << ", neighbour " << n;
      const auto& query = from[static_cast<std::size_t>(i)];
      const auto& row = data[static_cast<std::size_t>(lists.indices[at])];
      ASSERT_NEAR(test::plain_distance(options.distance, query, row), want.distance, 1e-12);
      if (n > 0) {
        const bool ordered =
            lists.distances[at - 1] < lists.distances[at] ||
            (lists.distances[at - 1] == lists.distances[at] && lists.indices[at - 1] < lists.indices[at]);
        ASSERT_TRUE(ordered) << "query " << i << ", neighbour " << n;
      }
    }
}

class EveryMetric : public testing::TestWithParam<DistanceType> {};

INSTANTIATE_TEST_SUITE_P(Neighbors, EveryMetric, testing::ValuesIn([] {
                           std::vector<DistanceType> all;
                           for (const auto& function : distance_functions()) all.push_back(function.type);
                           return all;
                         }()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

/// Sizes around those of tiles and blocks.
TEST_P(EveryMetric, FindsTheNeighborsOfRowsAmongThemselves) {
  struct Size {
    std::int64_t rows, columns;
  };
  for (const Size size : {Size{2, 1}, Size{31, 7}, Size{97, 32}, Size{330, 45}}) {
    const auto table = rows_with_ties(size.rows, size.columns, 0.6, static_cast<std::uint64_t>(size.rows));
    NeighborOptions options;
    options.distance.metric = GetParam();
    options.include_self = size.columns == 7;
    const auto wanted = plain_lists(options, table, nullptr);
    for (const auto device : test::devices())
      for (const bool sparse : {false, true})
        for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(20, size.rows - 1), size.rows - 1}) {
          options.k = k;
          SCOPED_TRACE(testing::Message()
                       << size.rows << " x " << size.columns << (sparse ? " sparse" : " dense") << ", k " << k);
          const auto single = dataset_of<float>(table, size.columns, sparse);
          expect_neighbors(options, table, table, wanted, find_neighbors(context_on(device), single, options));
          const auto dataset = dataset_of<double>(table, size.columns, sparse);
          expect_neighbors(options, table, table, wanted, find_neighbors(context_on(device), dataset, options));
        }
  }
}

TEST_P(EveryMetric, FindsTheNeighborsOfOtherRows) {
  for (const auto device : test::devices())
    for (const bool sparse : {false, true}) {
      const auto table = rows_with_ties(300, 33, 0.5, 3);
      const auto others = rows_with_ties(40, 33, 0.5, 4);
      const auto dataset = dataset_of<double>(table, 33, sparse);
      const auto queries = dataset_of<double>(others, 33, !sparse);
      NeighborOptions options;
      options.distance.metric = GetParam();
      options.k = 17;
      expect_neighbors(options, table, others, plain_lists(options, table, &others),
                       find_neighbors(context_on(device), dataset, options, &queries));
    }
}

TEST_P(EveryMetric, FindsAllWithinARadius) {
  constexpr std::int32_t rows = 200;
  for (const auto device : test::devices())
    for (const bool sparse : {false, true}) {
      const auto table = rows_with_ties(rows, 20, sparse ? 0.08 : 0.7, 5);
      const auto dataset = dataset_of<double>(table, 20, sparse);
      NeighborOptions options;
      options.distance.metric = GetParam();
      std::vector<double> all(std::size_t{rows} * rows);
      DistanceMatrix(context_on(device), dataset, options.distance).compute(0, rows, 0, rows, all.data());
      options.radius = all[17];  // rows at exactly this distance belong to it
      const auto lists = find_within(context_on(device), dataset, options);
      ASSERT_EQ(lists.queries(), rows);
      for (std::int32_t i = 0; i < rows; ++i) {
        std::vector<test::PlainNeighbor> wanted;
        for (std::int32_t j = 0; j < rows; ++j) {
          const double distance = all[static_cast<std::size_t>(i * rows + j)];
          if (j != i && distance <= options.radius) wanted.push_back({distance, j});
        }
        std::sort(wanted.begin(), wanted.end());
        const auto begin = lists.offsets[static_cast<std::size_t>(i)];
        ASSERT_EQ(lists.offsets[static_cast<std::size_t>(i) + 1] - begin, std::ssize(wanted));
        for (std::size_t n = 0; n < wanted.size(); ++n) {
          ASSERT_EQ(lists.indices[static_cast<std::size_t>(begin) + n], wanted[n].row);
          ASSERT_EQ(lists.distances[static_cast<std::size_t>(begin) + n], wanted[n].distance);
        }
      }
    }
}

TEST_P(EveryMetric, DistanceMatricesFollowTheDefinition) {
  for (const auto device : test::devices())
    for (const bool sparse : {false, true}) {
      auto table = rows_with_ties(40, 19, 0.5, 6);
      std::fill(table[3].begin(), table[3].end(), 0.0);
      std::fill(table[4].begin(), table[4].end(), 0.0);
      std::fill(table[7].begin(), table[7].end(), 2.0);
      const auto dataset = dataset_of<double>(table, 19, sparse);
      DistanceOptions options;
      options.metric = GetParam();
      options.power = 2.5;
      if (distance_function(options.metric).has_weights)
        for (int j = 0; j < 19; ++j) options.weights.push_back(j % 4 * 0.5);
      const DistanceMatrix matrix(context_on(device), dataset, options);
      std::vector<double> all(40 * 40);
      matrix.compute(0, 40, 0, 40, all.data());
      std::vector<double> block(5 * 7);
      matrix.compute(30, 5, 11, 7, block.data());
      for (std::size_t i = 0; i < 40; ++i)
        for (std::size_t j = 0; j < 40; ++j) {
          EXPECT_NEAR(all[i * 40 + j], test::plain_distance(options, table[i], table[j]), 1e-11) << i << " " << j;
          EXPECT_EQ(all[i * 40 + j], all[j * 40 + i]);
          if (i == j) {
            EXPECT_EQ(all[i * 40 + j], 0);
          }
          if (i >= 30 && i < 35 && j >= 11 && j < 18) {
            EXPECT_EQ(all[i * 40 + j], block[(i - 30) * 7 + (j - 11)]);
          }
        }
    }
}

/// Real numbers, whose sums are rounded: dense and sparse, all devices, instruction sets and numbers of threads agree
/// to the last bit.
TEST_P(EveryMetric, BitsDependOnNothingButTheData) {
  Random random(8);
  Rows table(400, std::vector<double>(37));
  for (auto& row : table)
    for (auto& value : row) value = random.uniform() < 0.5 ? random.normal() : 0.0;
  NeighborOptions options;
  options.distance.metric = GetParam();
  options.k = 25;
  const auto dense = dataset_of<double>(table, 37, false);
  const auto sparse = dataset_of<double>(table, 37, true);
  const auto wanted = find_neighbors(context_on(Device::cpu(), 1), dense, options);
  const auto expect_same = [&](const NeighborLists& lists) {
    EXPECT_EQ(lists.indices, wanted.indices);
    EXPECT_EQ(lists.distances, wanted.distances);
  };
  expect_same(find_neighbors(context_on(Device::cpu(), 3), dense, options));
  for (const auto device : test::devices()) {
    expect_same(find_neighbors(context_on(device), dense, options));
    expect_same(find_neighbors(context_on(device), sparse, options));
  }
}

/// Values that float does not hold, far from the origin: what inner products would lose.
TEST(Neighbors, NothingCancelsFarFromTheOrigin) {
  Random random(9);
  Rows table(300, std::vector<double>(5));
  for (auto& row : table)
    for (auto& value : row) value = 1e7 + random.normal() * 1e-3;
  table[17] = table[5];
  for (const auto device : test::devices())
    for (const auto metric : {DistanceType::euclidean, DistanceType::manhattan, DistanceType::chebyshev}) {
      const auto dataset = dataset_of<double>(table, 5, false);
      NeighborOptions options;
      options.distance.metric = metric;
      options.k = 4;
      const auto lists = find_neighbors(context_on(device), dataset, options);
      EXPECT_EQ(lists.indices[17 * 4], 5);
      EXPECT_EQ(lists.distances[17 * 4], 0);
      for (std::int64_t i = 0; i < 300; ++i) {
        const auto wanted = test::plain_neighbors(options.distance, table, table[static_cast<std::size_t>(i)],
                                                  [&](std::int32_t j) { return j != i; });
        for (std::size_t n = 0; n < 4; ++n)
          ASSERT_NEAR(lists.distances[static_cast<std::size_t>(i) * 4 + n], wanted[n].distance, 1e-15);
      }
    }
}

/// So few entries that sparse rows are filtered by inverted lists.
TEST(Neighbors, SparseTextHasItsNeighbors) {
  const auto table = rows_with_ties(500, 150, 0.04, 13);
  const auto others = rows_with_ties(60, 150, 0.04, 14);
  for (const auto metric : {DistanceType::euclidean, DistanceType::squared_euclidean, DistanceType::cosine}) {
    NeighborOptions options;
    options.distance.metric = metric;
    options.k = 12;
    const auto among = plain_lists(options, table, nullptr);
    const auto from = plain_lists(options, table, &others);
    for (const auto device : test::devices()) {
      const auto dataset = dataset_of<double>(table, 150, true);
      const auto queries = dataset_of<double>(others, 150, true);
      expect_neighbors(options, table, table, among, find_neighbors(context_on(device), dataset, options));
      expect_neighbors(options, table, others, from, find_neighbors(context_on(device), dataset, options, &queries));
    }
  }
}

TEST(Neighbors, ManyEqualRowsGoToTheLowestIndices) {
  for (const auto device : test::devices()) {
    const auto dataset = dataset_of<float>(Rows(2000, std::vector<double>{1, 2, 3}), 3, false);
    NeighborOptions options;
    options.k = 3;
    const auto lists = find_neighbors(context_on(device), dataset, options);
    for (std::int32_t i = 0; i < 2000; ++i)
      for (std::int32_t n = 0; n < 3; ++n) {
        const auto at = static_cast<std::size_t>(i * 3 + n);
        EXPECT_EQ(lists.indices[at], n + (n >= i ? 1 : 0));
        EXPECT_EQ(lists.distances[at], 0);
      }
  }
}

/// Tables long enough for limits that are lowered several times, k long enough for lists that are sorted elsewhere, and
/// so many rows equally far that lists run over.
TEST(Neighbors, LongTablesAndLongListsHaveTheirNeighbors) {
  struct Case {
    std::int64_t rows, k;
    bool many_equal;
  };
  for (const Case& tried : {Case{40'001, 7, false}, Case{26'003, 6'000, false}, Case{20'011, 5, true}}) {
    auto table = test::random_rows(tried.rows, 9, 0.7, 5);
    auto asked = test::random_rows(67, 9, 0.7, 6);
    if (tried.many_equal)
      for (std::size_t i = 0; i < table.size(); ++i)
        if (i % 3 != 0) table[i] = asked[0];
    const auto data = dataset_of<double>(table, 9, false);
    const auto queries = dataset_of<double>(asked, 9, false);
    for (const auto metric : {DistanceType::euclidean, DistanceType::manhattan}) {
      NeighborOptions options;
      options.distance.metric = metric;
      options.k = tried.k;
      const auto wanted = plain_lists(options, table, &asked);
      for (const auto device : test::devices()) {
        SCOPED_TRACE(testing::Message() << tried.rows << " rows, k " << tried.k << ", metric "
                                        << static_cast<int>(metric));
        expect_neighbors(options, table, asked, wanted, find_neighbors(context_on(device), data, options, &queries));
      }
    }
  }
}

TEST(Neighbors, LongTablesAmongThemselvesGiveTheSameOnEveryDevice) {
  const auto data = dataset_of<float>(test::random_rows(17'001, 20, 0.8, 7), 20, false);
  for (const auto metric : {DistanceType::euclidean, DistanceType::manhattan}) {
    NeighborOptions options;
    options.distance.metric = metric;
    options.k = 12;
    const auto wanted = find_neighbors(context_on(Device::cpu()), data, options);
    for (const auto device : test::devices()) {
      const auto found = find_neighbors(context_on(device), data, options);
      EXPECT_EQ(found.indices, wanted.indices);
      EXPECT_EQ(found.distances, wanted.distances);
    }
  }
}

/// Long sparse tables with few zeros are searched as dense ones.
TEST(Neighbors, LongTablesWithFewZerosGiveTheSameInEveryStorage) {
  const auto rows = rows_with_ties(2100, 520, 0.2, 15);
  NeighborOptions options;
  options.k = 4;
  for (const auto device : test::devices())
    for (const auto metric : {DistanceType::euclidean, DistanceType::cosine}) {
      options.distance.metric = metric;
      const auto dense = find_neighbors(context_on(device), dataset_of<float>(rows, 520, false), options);
      const auto sparse = find_neighbors(context_on(device), dataset_of<float>(rows, 520, true), options);
      EXPECT_EQ(sparse.indices, dense.indices);
      EXPECT_EQ(sparse.distances, dense.distances);
    }
}

TEST(Neighbors, TinyAndHugeValuesKeepTheirOrder) {
  for (const auto device : test::devices())
    for (const double size : {1e-200, 1e-42, 1.0, 1e30, 1e140}) {
      Rows table;
      for (int i = 0; i < 200; ++i) table.push_back({size * i, size * (i % 7)});
      const auto dataset = dataset_of<double>(table, 2, false);
      NeighborOptions options;
      options.distance.metric = DistanceType::manhattan;
      options.k = 6;
      expect_neighbors(options, table, table, plain_lists(options, table, nullptr),
                       find_neighbors(context_on(device), dataset, options));
    }
}

TEST(Neighbors, WeightsScaleFeaturesAndZeroDropsThem) {
  for (const auto device : test::devices())
    for (const auto metric : {DistanceType::euclidean, DistanceType::squared_euclidean, DistanceType::manhattan}) {
      const auto table = rows_with_ties(300, 12, 1, 10);
      const auto dataset = dataset_of<double>(table, 12, false);
      NeighborOptions options;
      options.distance.metric = metric;
      for (int j = 0; j < 12; ++j) options.distance.weights.push_back(j % 3 * 0.25);
      options.k = 9;
      expect_neighbors(options, table, table, plain_lists(options, table, nullptr),
                       find_neighbors(context_on(device), dataset, options));
    }
}

/// Rows of one fold are no neighbours, whichever blocks they fall into.
TEST(Neighbors, FoldsAreLeftOutInsideTheTiles) {
  for (const auto device : test::devices()) {
    const auto table = rows_with_ties(500, 11, 1, 11);
    const auto dataset = dataset_of<double>(table, 11, false);
    std::vector<std::int32_t> folds;
    for (int i = 0; i < 500; ++i) folds.push_back(i * 7 % 10);
    const auto context = context_on(device);
    const auto pair = neighbors::make_row_pair(context, dataset, static_cast<const Dataset<double>*>(nullptr), {});
    std::vector<std::int32_t> indices(500 * 30);
    std::vector<double> distances(500 * 30);
    neighbors::Eligible eligible;
    eligible.folds = folds;
    neighbors::make_ops(context, pair)->nearest(eligible, 30, indices, distances);
    for (std::size_t i = 0; i < 500; ++i) {
      const auto wanted = test::plain_neighbors(
          {}, table, table[i], [&](std::int32_t j) { return folds[static_cast<std::size_t>(j)] != folds[i]; });
      for (std::size_t n = 0; n < 30; ++n) ASSERT_EQ(indices[i * 30 + n], wanted[n].row) << i << " " << n;
    }
  }
}

TEST(Neighbors, SomeQueriesAmongSomeRows) {
  for (const auto device : test::devices()) {
    const auto table = rows_with_ties(500, 9, 1, 12);
    const auto dataset = dataset_of<double>(table, 9, false);
    std::vector<std::int32_t> queries;
    std::vector<std::uint8_t> data(500, 1);
    for (std::int32_t i = 3; i < 500; i += 7) {
      queries.push_back(i);
      data[static_cast<std::size_t>(i)] = 0;
    }
    const auto context = context_on(device);
    const auto pair = neighbors::make_row_pair(context, dataset, static_cast<const Dataset<double>*>(nullptr), {});
    std::vector<std::int32_t> indices(queries.size() * 8);
    std::vector<double> distances(indices.size());
    neighbors::Eligible eligible;
    eligible.queries = queries;
    eligible.data = data;
    neighbors::make_ops(context, pair)->nearest(eligible, 8, indices, distances);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto wanted = test::plain_neighbors({}, table, table[static_cast<std::size_t>(queries[q])],
                                                [&](std::int32_t j) { return data[static_cast<std::size_t>(j)] != 0; });
      for (std::size_t n = 0; n < 8; ++n) ASSERT_EQ(indices[q * 8 + n], wanted[n].row) << q << " " << n;
    }
  }
}

template <class Work>
void expect_error(const Work& work, const std::string& part) {
  try {
    work();
    ADD_FAILURE() << "no error that says '" << part << "'";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// With little memory the filter works on piece after piece of the rows.
TEST(Neighbors, LittleMemoryChangesNothing) {
  const auto context = context_on(Device::cpu());
  const auto little = context.with({.memory = 600 * 40 * std::int64_t{sizeof(float)} * 2});
  for (const bool self : {true, false}) {
    const auto data = dataset_of<float>(rows_with_ties(600, 40, 0.9, 14), 40, false);
    const auto queries = dataset_of<float>(rows_with_ties(150, 40, 0.9, 15), 40, false);
    NeighborOptions options;
    options.k = 7;
    const auto* others = self ? nullptr : &queries;
    const auto wanted = find_neighbors(context, data, options, others);
    const auto found = find_neighbors(little, data, options, others);
    EXPECT_EQ(found.indices, wanted.indices);
    EXPECT_EQ(found.distances, wanted.distances);
    options.radius = wanted.distances[3];
    const auto near = find_within(context, data, options, others);
    const auto near_found = find_within(little, data, options, others);
    EXPECT_EQ(near_found.offsets, near.offsets);
    EXPECT_EQ(near_found.indices, near.indices);
    EXPECT_EQ(near_found.distances, near.distances);
  }
}

/// Rows larger than a GPU are worked on in pieces: the lists are those of all rows at once.
TEST(Neighbors, PiecesGiveWhatTheWholeGives) {
  const auto rows = rows_with_ties(90, 6, 0.6, 12);
  const auto others = rows_with_ties(41, 6, 0.6, 13);
  std::vector<std::int32_t> folds, some;
  std::vector<std::uint8_t> usable;
  for (std::int32_t i = 0; i < 90; ++i) {
    folds.push_back(i % 4);
    usable.push_back(i % 3 == 0 ? 0 : 1);
    if (i % 2 == 0) some.push_back(i);
  }
  const auto context = context_on(Device::cpu());
  for (const bool sparse : {false, true})
    for (const bool self : {true, false})
      for (const auto metric : {DistanceType::euclidean, DistanceType::cosine, DistanceType::jaccard}) {
        const auto data = dataset_of<float>(rows, 6, sparse);
        const auto queries = dataset_of<float>(others, 6, sparse);
        DistanceOptions distance;
        distance.metric = metric;
        const auto pair = neighbors::make_row_pair(context, data, self ? nullptr : &queries, distance);
        const auto& floats = std::get<neighbors::RowPair<float>>(pair);
        const auto whole = neighbors::make_ops(context, pair);
        const auto make = [&](const neighbors::RowPair<float>& part) {
          return neighbors::make_cpu_ops_for<sets::Baseline>(context, part);
        };
        for (const std::int64_t bytes : {1, 1000, 100000}) {
          const auto pieces = neighbors::make_piece_ops<float>(context, floats, bytes, make);
          const auto count = self ? 90 : 41;
          for (int kind = 0; kind < (self ? 4 : 2); ++kind) {
            neighbors::Eligible eligible;
            if (kind == 1) eligible.data = usable;
            if (kind == 2) eligible.folds = folds;
            if (kind == 3) {
              eligible.queries = some;
              eligible.itself = true;
            }
            const auto asked = static_cast<std::size_t>(kind == 3 ? std::ssize(some) : count);
            const std::int64_t k = 17;
            std::vector<std::int32_t> wanted(asked * k), found(wanted.size());
            std::vector<double> wanted_distances(wanted.size()), distances(wanted.size());
            whole->nearest(eligible, k, wanted, wanted_distances);
            pieces->nearest(eligible, k, found, distances);
            EXPECT_EQ(found, wanted) << bytes << " bytes, kind " << kind;
            EXPECT_EQ(distances, wanted_distances);
            const auto near = whole->within(eligible, wanted_distances[k / 2]);
            const auto near_pieces = pieces->within(eligible, wanted_distances[k / 2]);
            EXPECT_EQ(near_pieces.offsets, near.offsets);
            EXPECT_EQ(near_pieces.indices, near.indices);
            EXPECT_EQ(near_pieces.distances, near.distances);
          }
          std::vector<double> block(7 * 80), block_pieces(block.size());
          whole->distances({3, 10}, {5, 85}, block);
          pieces->distances({3, 10}, {5, 85}, block_pieces);
          EXPECT_EQ(block_pieces, block);
        }
      }
}

/// On a GPU the memory that may be used is less than the rows take.
TEST(Neighbors, RowsLargerThanTheMemoryAreSearched) {
  const auto data = dataset_of<float>(rows_with_ties(600, 20, 1, 14), 20, false);
  NeighborOptions options;
  options.k = 9;
  const auto wanted = find_neighbors(context_on(Device::cpu()), data, options);
  for (const auto device : test::devices()) {
    const auto found = find_neighbors(context_on(device).with({.memory = 1 << 15}), data, options);
    EXPECT_EQ(found.indices, wanted.indices);
    EXPECT_EQ(found.distances, wanted.distances);
  }
}

TEST(Neighbors, RefusesWhatHasNoAnswer) {
  const auto context = context_on(Device::cpu());
  auto dataset = dataset_of<double>({{1, 2}, {3, 4}, {5, 6}}, 2, false);
  NeighborOptions options;
  options.k = 3;
  expect_error([&] { find_neighbors(context, dataset, options); }, "a row has only 2 others");
  options.k = 2;
  options.distance.weights = {1};
  expect_error([&] { find_neighbors(context, dataset, options); }, "1 weights of features for 2 features");
  options.distance.weights = {0, 0};
  expect_error([&] { find_neighbors(context, dataset, options); }, "all features are 0");
  options.distance.weights = {1, -1};
  expect_error([&] { find_neighbors(context, dataset, options); }, "the weight of feature 2 is -1");
  options.distance.weights = {1, 1};
  options.distance.metric = DistanceType::cosine;
  expect_error([&] { find_neighbors(context, dataset, options); }, "has no weights");
  options.distance = {};
  std::get<DenseMatrix<double>>(dataset.change_x()).values[3] = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { find_neighbors(context, dataset, options); }, "row 2, feature 2 is nan");
}

TEST(Neighbors, NoRowsAndNoQueriesAreNoError) {
  for (const auto device : test::devices()) {
    const auto dataset = dataset_of<double>({{1, 2}, {3, 4}}, 2, false);
    const auto none = dataset_of<double>({}, 2, false);
    NeighborOptions options;
    options.k = 2;
    EXPECT_EQ(find_neighbors(context_on(device), dataset, options, &none).queries, 0);
    EXPECT_EQ(find_within(context_on(device), none, options).queries(), 0);
  }
}

}  // namespace neighbors_test
}  // namespace sheaf
