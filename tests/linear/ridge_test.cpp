// Ridge regression with each row left out, in closed form, beside models that are trained without the row.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/ridge.hpp>

#include "devices.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace ridge_test {

/// Solves A x = b for a positive definite A by elimination.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const auto n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// Prediction for a row that the model was not trained on, from the normal equations; the intercept comes last.
double without_row(const Rows& table, const std::vector<double>& y, const std::vector<double>& weights, double alpha,
                   bool intercept, std::size_t left_out) {
  const auto features = table.front().size();
  const auto size = features + (intercept ? 1 : 0);
  std::vector<std::vector<double>> a(size, std::vector<double>(size, 0.0));
  std::vector<double> b(size, 0.0);
  const auto value = [&](std::size_t i, std::size_t j) { return j < features ? table[i][j] : 1.0; };
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i == left_out) continue;
    for (std::size_t j = 0; j < size; ++j) {
      b[j] += weights[i] * value(i, j) * y[i];
      for (std::size_t k = 0; k < size; ++k) a[j][k] += weights[i] * value(i, j) * value(i, k);
    }
  }
  for (std::size_t j = 0; j < features; ++j) a[j][j] += alpha;
  const auto w = solve(a, b);
  double prediction = 0;
  for (std::size_t j = 0; j < size; ++j) prediction += w[j] * value(left_out, j);
  return prediction;
}

TEST(Ridge, RowsLeftOutInClosedFormAreThoseOfModelsWithoutThem) {
  const std::vector<double> alphas{0.01, 1, 100};
  for (const auto device : devices())
    for (const bool sparse : {false, true})
      for (const bool intercept : {true, false})
        for (const bool weighted : {false, true})
          for (const std::int64_t features : {3, 40}) {
            auto table = random_rows(25, features, sparse ? 0.4 : 1.0, 7);
            for (auto& row : table)
              if (!sparse) row[0] += 50;  // far from 0
            Random random(9);
            std::vector<double> y, weights;
            for (const auto& row : table) {
              y.push_back(row[0] - 2 * row[1] + random.normal() + 10);
              weights.push_back(weighted ? 0.5 + random.uniform() : 1);
            }
            Dataset<double> dataset;
            if (sparse)
              dataset.x = sparse_of<double>(table, features, 3);
            else
              dataset.x = dense_of<double>(table, features);
            dataset.target.values = y;
            const auto context = with_threads(2).with({.device = device});
            const auto found =
                ridge_leave_one_out(context, dataset, alphas, weighted ? weights : std::vector<double>(), intercept);
            ASSERT_EQ(found.size(), 3 * table.size());
            for (std::size_t a = 0; a < 3; ++a)
              for (std::size_t i = 0; i < table.size(); ++i) {
                const double wanted = without_row(table, y, weights, alphas[a], intercept, i);
                EXPECT_NEAR(found[a * table.size() + i], wanted, 1e-6 * (1 + std::abs(wanted)))
                    << features << (sparse ? " sparse " : " dense ") << intercept << weighted << " " << alphas[a];
              }
          }
}

TEST(Ridge, IsSolvedDirectlyWhereThatIsTheOnlyWayOrCheap) {
  const auto dataset_of = [](std::int64_t rows, std::int64_t features, bool sparse, auto zero) {
    using T = decltype(zero);
    Dataset<T> dataset;
    const auto table = random_rows(static_cast<std::size_t>(rows), features, sparse ? 0.1 : 1.0, 3);
    if (sparse)
      dataset.x = sparse_of<T>(table, features, 3);
    else
      dataset.x = dense_of<T>(table, features);
    dataset.target.values.assign(static_cast<std::size_t>(rows), 1.0);
    return dataset;
  };
  EXPECT_TRUE(prefers_train_ridge(dataset_of(300, 20, false, 0.0), 1));
  EXPECT_TRUE(prefers_train_ridge(dataset_of(300, 20, false, 0.0F), 1));
  EXPECT_FALSE(prefers_train_ridge(dataset_of(300, 20, true, 0.0), 1));
  EXPECT_FALSE(prefers_train_ridge(dataset_of(300, 400, false, 0.0), 1));
  EXPECT_TRUE(prefers_train_ridge(dataset_of(30, 400, true, 0.0), 1));
  EXPECT_FALSE(prefers_train_ridge(dataset_of(30, 400, true, 0.0F), 1));
  EXPECT_TRUE(prefers_train_ridge(dataset_of(300, 400, true, 0.0), 0)) << "no other way without a penalty";
  auto two = dataset_of(300, 400, true, 0.0);
  two.target.further.push_back({"second", two.target.values});
  EXPECT_TRUE(prefers_train_ridge(two, 1)) << "nor of two targets";
}

TEST(Ridge, WhatCanNotBeLeftOutIsRefused) {
  Dataset<double> dataset;
  dataset.x = dense_of<double>(random_rows(5, 2, 1.0, 1), 2);
  const std::vector<double> one{1};
  EXPECT_THROW(ridge_leave_one_out(Context(), dataset, one), UsageError) << "no target";
  dataset.target.values = {1, 2, 3, 4, 5};
  EXPECT_THROW(ridge_leave_one_out(Context(), dataset, {}), UsageError);
  EXPECT_THROW(ridge_leave_one_out(Context(), dataset, std::vector<double>{0}), UsageError);
  EXPECT_THROW(ridge_leave_one_out(Context(), dataset, one, std::vector<double>{1, 1}), UsageError);
  EXPECT_THROW(ridge_leave_one_out(Context(), dataset, one, std::vector<double>{1, 1, 0, 1, 1}), UsageError);
}

}  // namespace ridge_test
}  // namespace sheaf::test
