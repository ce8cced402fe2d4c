#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include <sheaf/dataset.hpp>
#include <sheaf/error.hpp>

#include "devices.hpp"
#include "tables.hpp"

namespace sheaf {
namespace matrix_test {

using test::Rows;

struct Shape {
  std::int64_t rows, columns;
  double density;
};

const std::vector<Shape> shapes{{0, 0, 0},     {0, 5, 1},      {5, 0, 1},       {1, 1, 1},   {1, 1, 0},
                                {1, 300, 0.5}, {300, 1, 0.5},  {31, 33, 0.3},   {64, 64, 1}, {3000, 7, 0.4},
                                {40, 500, 0},  {7, 3000, 0.1}, {2500, 50, 0.05}};

Rows transposed(const Rows& rows, std::int64_t columns) {
  Rows result(static_cast<std::size_t>(columns), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) result[j][i] = rows[i][j];
  return result;
}

template <class T>
void expect_valid(const SparseMatrix<T>& x) {
  ASSERT_EQ(x.offsets.size(), x.rows + 1);
  ASSERT_EQ(x.indices.size(), x.values.size());
  EXPECT_EQ(x.offsets[0], 0);
  EXPECT_EQ(x.offsets[x.rows], x.nonzeros());
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      EXPECT_GE(x.indices[k], 0);
      EXPECT_LT(x.indices[k], x.columns);
      EXPECT_TRUE(k == x.offsets[i] || x.indices[k - 1] < x.indices[k]);
    }
}

template <class T>
bool same(const SparseMatrix<T>& a, const SparseMatrix<T>& b) {
  return a.rows == b.rows && a.columns == b.columns && test::list_of(a.offsets) == test::list_of(b.offsets) &&
         test::list_of(a.indices) == test::list_of(b.indices) && test::list_of(a.values) == test::list_of(b.values);
}

template <class T>
class MatrixOf : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixOf, Elements);

TYPED_TEST(MatrixOf, TransposeMatchesTheDefinition) {
  for (const auto& shape : shapes)
    for (const int threads : {1, 2, 3, 8}) {
      const auto rows = test::random_rows(shape.rows, shape.columns, shape.density, 1);
      const auto result = transpose(test::sparse_of<TypeParam>(rows, shape.columns), threads);
      expect_valid(result);
      EXPECT_EQ(result.rows, shape.columns);
      EXPECT_EQ(result.columns, shape.rows);
      EXPECT_EQ(test::rows_of(result), transposed(rows, shape.columns));
    }
}

TYPED_TEST(MatrixOf, TransposeTwiceIsTheSameWithStoredZeros) {
  for (const auto& shape : shapes) {
    const auto x =
        test::sparse_of<TypeParam>(test::random_rows(shape.rows, shape.columns, shape.density, 2), shape.columns, 3);
    EXPECT_TRUE(same(transpose(transpose(x, 2), 4), x));
  }
}

TYPED_TEST(MatrixOf, TransposeServesOneLongRowAmongEmptyOnes) {
  Rows rows(200, std::vector<double>(400));
  for (auto& value : rows[117]) value = 2;
  const auto x = test::sparse_of<TypeParam>(rows, 400);
  for (const int threads : {1, 5, 64}) EXPECT_EQ(test::rows_of(transpose(x, threads)), transposed(rows, 400));
}

TYPED_TEST(MatrixOf, DenseAndSparseHoldTheSame) {
  for (const auto& shape : shapes)
    for (const int threads : {1, 3}) {
      const auto rows = test::random_rows(shape.rows, shape.columns, shape.density, 3);
      const auto with_zeros = test::sparse_of<TypeParam>(rows, shape.columns, 2);
      const auto dense = to_dense(with_zeros, threads);
      EXPECT_EQ(test::rows_of(dense), rows);
      const auto sparse = to_sparse(dense, threads);
      expect_valid(sparse);
      EXPECT_TRUE(same(sparse, test::sparse_of<TypeParam>(rows, shape.columns)));  // stored zeros are gone
    }
}

TYPED_TEST(MatrixOf, BytesAreThoseOfItsArrays) {
  const auto size = static_cast<std::int64_t>(sizeof(TypeParam));
  EXPECT_EQ(matrix_bytes(Matrix<TypeParam>(test::dense_of<TypeParam>({{1, 2, 3}, {4, 5, 6}}, 3))), 6 * size);
  EXPECT_EQ(matrix_bytes(Matrix<TypeParam>(test::sparse_of<TypeParam>({{1, 0, 3}, {0, 0, 0}}, 3))),
            2 * (size + 4) + 24);
}

TYPED_TEST(MatrixOf, TellsItsShape) {
  const Matrix<TypeParam> dense = test::dense_of<TypeParam>({{1, 0, 3}, {4, 0, 0}}, 3);
  const Matrix<TypeParam> sparse = test::sparse_of<TypeParam>({{1, 0, 3}, {4, 0, 0}}, 3);
  for (const auto* x : {&dense, &sparse}) {
    EXPECT_EQ(rows(*x), 2);
    EXPECT_EQ(columns(*x), 3);
  }
  EXPECT_EQ(stored(dense), 6);
  EXPECT_EQ(stored(sparse), 3);
  EXPECT_FALSE(is_sparse(dense));
  EXPECT_TRUE(is_sparse(sparse));
}

TEST(Precision, WidensExactlyAndNarrowsByRounding) {
  const std::vector<double> values{0.1, -1e-60, 3.25, 0, std::numeric_limits<float>::max()};
  for (const bool sparse : {false, true}) {
    Matrix<double> x = test::dense_of<double>({values}, 5);
    if (sparse) x = test::sparse_of<double>({values}, 5);
    const auto narrow = convert_precision<float, double>(x, 2);
    const auto wide = convert_precision<double, float>(narrow, 2);
    EXPECT_EQ(is_sparse(narrow), sparse);
    for (std::size_t j = 0; j < values.size(); ++j)
      EXPECT_EQ(test::rows_of(wide)[0][j], static_cast<double>(static_cast<float>(values[j])));
  }
}

TEST(Precision, RefusesWhatFloatCanNotHold) {
  const Matrix<double> x = test::dense_of<double>({{1, 1e39}}, 2);
  try {
    convert_precision<float, double>(x, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1e+39"), std::string::npos) << error.what();
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const auto kept = convert_precision<float, double>(Matrix<double>(test::dense_of<double>({{-infinity}}, 1)), 1);
  EXPECT_EQ(test::rows_of(kept)[0][0], -infinity);
}

TEST(Precision, OfADatasetKeepsEverythingElse) {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>({{1, 2}}, 2);
  dataset.target = {{7}, {0}, {"seven"}, "label"};
  dataset.feature_names = {"a", "b"};
  dataset.levels = {{}, {"no", "yes", "maybe"}};
  dataset.groups = {0};
  dataset.group_names = {"g"};
  dataset.source = "here";
  const auto converted = convert_precision<float>(std::move(dataset), 1);
  EXPECT_EQ(test::rows_of(converted.x), (Rows{{1, 2}}));
  EXPECT_EQ(converted.target.values, std::vector<double>{7});
  EXPECT_EQ(converted.target.class_names, std::vector<std::string>{"seven"});
  EXPECT_EQ(converted.target.name, "label");
  EXPECT_EQ(converted.feature_name(1), "b");
  EXPECT_EQ(converted.levels[1].size(), 3U);
  EXPECT_EQ(converted.groups, std::vector<std::int32_t>{0});
  EXPECT_EQ(converted.group_names, std::vector<std::string>{"g"});
  EXPECT_EQ(converted.source, "here");
}

TYPED_TEST(MatrixOf, IsResidentOnceOnEachDevice) {
  const auto rows = test::random_rows(50, 20, 0.3, 4);
  for (const auto device : test::devices())
    for (const bool sparse : {false, true}) {
      Dataset<TypeParam> dataset;
      if (sparse)
        dataset.x = test::sparse_of<TypeParam>(rows, 20);
      else
        dataset.x = test::dense_of<TypeParam>(rows, 20);
      const auto& by_rows = dataset.by_rows(device);
      EXPECT_EQ(&by_rows, &dataset.by_rows(device));
      const auto to_cpu = [](const auto& x) { return Matrix<TypeParam>(x.to(Device::cpu())); };
      EXPECT_EQ(test::rows_of(std::visit(to_cpu, by_rows)), rows);
      if (!sparse) {
        EXPECT_THROW(dataset.by_columns(device, 2), InternalError);
        continue;
      }
      const auto& by_columns = dataset.by_columns(device, 2);
      EXPECT_EQ(&by_columns, &dataset.by_columns(device, 1));
      EXPECT_EQ(test::rows_of(by_columns.to(Device::cpu())), transposed(rows, 20));
    }
}

TEST(Target, LooksLikeClassesWhenWordsOrFewIntegers) {
  Target words{{}, {0, 1, 2}, {"a", "b", "c"}, ""};
  EXPECT_TRUE(words.looks_like_classes());
  Target integers{{1, -1, 1, -1}, {0, 1, 0, 1}, {"1", "-1"}, ""};
  EXPECT_TRUE(integers.looks_like_classes());
  Target halves{{0.5, 1, 0.5, 1}, {0, 1, 0, 1}, {"0.5", "1"}, ""};
  EXPECT_FALSE(halves.looks_like_classes());
  Target each_once{{1, 2, 3, 4}, {0, 1, 2, 3}, {"1", "2", "3", "4"}, ""};
  EXPECT_FALSE(each_once.looks_like_classes());
  EXPECT_FALSE(Target{}.looks_like_classes());
}

}  // namespace matrix_test
}  // namespace sheaf
