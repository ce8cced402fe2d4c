// Sets of equal rows beside a comparison of all pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "data/split/equal_rows.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace equal_rows_test {

using Numbers = std::vector<std::int32_t>;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Numbers first_equals(const Rows& rows) {
  Numbers first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t k = 0;
    while (!std::equal(rows[k].begin(), rows[k].end(), rows[i].begin(), same)) ++k;
    first.push_back(static_cast<std::int32_t>(k));
  }
  return first;
}

/// Some rows again, among the others.
Rows with_copies(Rows rows, std::size_t copies, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t k = 0; k < copies; ++k) {
    const auto copied = rows[random.below(rows.size())];
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(random.below(rows.size() + 1)), copied);
  }
  return rows;
}

template <class T>
void expect_sets(const Matrix<T>& x, const Numbers& wanted) {
  std::vector<bool> twin(wanted.size(), false);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != static_cast<std::int32_t>(i)) twin[i] = twin[static_cast<std::size_t>(wanted[i])] = true;
  for (const bool one : twin) rows += one ? 1 : 0;
  for (const int threads : {1, 3}) {
    const auto found = find_equal_rows(x, threads);
    EXPECT_EQ(found.rows, rows);
    if (rows == 0)
      EXPECT_TRUE(found.first.empty());
    else
      EXPECT_EQ(found.first, wanted);
  }
}

TEST(EqualRows, AreThoseOfAllPairs) {
  for (const std::int64_t columns : {1, 2, 15, 16, 17, 40, 200})
    for (const double density : {0.05, 0.5, 1.0})
      for (const std::size_t copies : {0, 1, 40}) {
        SCOPED_TRACE(testing::Message() << columns << " columns, density " << density << ", copies " << copies);
        auto rows = with_copies(random_rows(150, columns, density, 7), copies, 3);
        Random random(columns);
        for (int k = 0; k < 20; ++k)  // near misses
          rows[random.below(rows.size())][random.below(static_cast<std::uint64_t>(columns))] += 0.125;
        const auto wanted = first_equals(rows);
        expect_sets<double>(Matrix<double>(dense_of<double>(rows, columns)), wanted);
        expect_sets<float>(Matrix<float>(dense_of<float>(rows, columns)), wanted);
        expect_sets<double>(Matrix<double>(sparse_of<double>(rows, columns)), wanted);
        expect_sets<float>(Matrix<float>(sparse_of<float>(rows, columns, 3)), wanted);  // stores some zeros
      }
}

TEST(EqualRows, MissingValuesAndBothZerosAreEqual) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const Rows rows{{1, gap, 0}, {1, -gap, -0.0}, {1, gap, 1}, {1, 0, 0}, {1, -0.0, 0}};
  const Numbers wanted{0, 0, 2, 3, 3};
  expect_sets<double>(Matrix<double>(dense_of<double>(rows, 3)), wanted);
  expect_sets<double>(Matrix<double>(sparse_of<double>(rows, 3)), wanted);
}

Rows levels(std::int64_t rows, std::int64_t columns, std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  Rows result(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(columns)));
  for (auto& row : result)
    for (auto& value : row) value = static_cast<double>(random.below(count));
  return result;
}

TEST(EqualRows, CopiesAreToldFromFewValues) {
  const auto few = [](const Rows& rows) {
    const auto columns = static_cast<std::int64_t>(rows.front().size());
    const auto dense = find_equal_rows(Matrix<double>(dense_of<double>(rows, columns)), 1);
    EXPECT_EQ(find_equal_rows(Matrix<double>(sparse_of<double>(rows, columns)), 1).few_values, dense.few_values);
    EXPECT_GT(dense.rows, 0);
    return dense.few_values;
  };
  EXPECT_TRUE(few(levels(400, 3, 2, 1))) << "three columns of two values";
  EXPECT_TRUE(few(levels(400, 6, 3, 1))) << "six columns of three";
  EXPECT_TRUE(few(levels(400, 1, 50, 1))) << "a single column";
  const auto once = random_rows(200, 6, 1, 5);
  auto twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_FALSE(few(twice)) << "all rows copied";
  for (auto& row : twice)
    for (std::size_t j = 1; j < row.size(); ++j) row[j] = row[j] > 0 ? 1 : 0;
  for (std::size_t i = 0; i < twice.size(); ++i) twice[i][0] = static_cast<double>(i % 200) * 0.37;
  EXPECT_FALSE(few(twice)) << "one column tells rows apart";
  EXPECT_FALSE(few(with_copies(random_rows(300, 40, 0.1, 5), 200, 1))) << "sparse rows, copied";
  EXPECT_FALSE(few(with_copies(levels(300, 8, 4, 2), 5, 1))) << "a few copies";
}

TEST(EqualRows, AreJoinedWithGroups) {
  EqualRowSets sets;
  sets.first = {0, 1, 0, 3, 4, 1, 6};
  EXPECT_EQ(join_groups({}, sets), (Numbers{0, 1, 0, 2, 3, 1, 4}));
  const Numbers groups{0, 0, 1, 1, 2, 3, 3};
  EXPECT_EQ(join_groups(groups, sets), (Numbers{0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(join_groups(groups, EqualRowSets{}), groups);
}

}  // namespace equal_rows_test
}  // namespace sheaf::test
