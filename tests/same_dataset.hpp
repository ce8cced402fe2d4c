// Whether two datasets are the same in every bit, and how they differ if not.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>

#include <sheaf/dataset.hpp>

namespace sheaf::test {

template <class T>
bool same_bytes(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0);
}

template <class T>
void expect_same_matrix(const Matrix<T>& a, const Matrix<T>& b) {
  ASSERT_EQ(is_sparse(a), is_sparse(b));
  ASSERT_EQ(rows(a), rows(b));
  ASSERT_EQ(columns(a), columns(b));
  if (is_sparse(a)) {
    const auto& x = std::get<SparseMatrix<T>>(a);
    const auto& y = std::get<SparseMatrix<T>>(b);
    EXPECT_TRUE(same_bytes(x.offsets, y.offsets));
    EXPECT_TRUE(same_bytes(x.indices, y.indices));
    EXPECT_TRUE(same_bytes(x.values, y.values));
  } else {
    EXPECT_TRUE(same_bytes(std::get<DenseMatrix<T>>(a).values, std::get<DenseMatrix<T>>(b).values));
  }
}

inline void expect_same_target(const Target& a, const Target& b) {
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.name, b.name);
}

template <class T>
void expect_same_dataset(const Dataset<T>& a, const Dataset<T>& b) {
  expect_same_matrix(a.x, b.x);
  expect_same_target(a.target, b.target);
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.group_names, b.group_names);
}

}  // namespace sheaf::test
