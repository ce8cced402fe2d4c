// Small tables for tests, dense and sparse, from plain lists of rows.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

#include "core/random.hpp"

namespace sheaf::test {

using Rows = std::vector<std::vector<double>>;

inline Context with_threads(int threads, std::uint64_t seed = 0) {
  Context::Options options;
  options.threads = threads;
  options.seed = seed;
  options.memory = std::int64_t{1} << 30;
  return Context(options);
}

template <class T>
DenseMatrix<T> dense_of(const Rows& rows, std::int64_t columns) {
  DenseMatrix<T> x{static_cast<std::int64_t>(rows.size()), columns,
                   Array<T>(static_cast<std::int64_t>(rows.size()) * columns)};
  std::int64_t k = 0;
  for (const auto& row : rows)
    for (const double value : row) x.values[k++] = static_cast<T>(value);
  return x;
}

/// Stores every entry that is not 0, and every `keep_zeros`-th zero (0: none).
template <class T>
SparseMatrix<T> sparse_of(const Rows& rows, std::int64_t columns, int keep_zeros = 0) {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  int zeros = 0;
  for (const auto& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool zero = row[j] == 0;
      if (zero && (keep_zeros == 0 || ++zeros % keep_zeros != 0)) continue;
      indices.push_back(static_cast<std::int32_t>(j));
      values.push_back(static_cast<T>(row[j]));
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
  }
  return {static_cast<std::int64_t>(rows.size()), columns, Array<std::int64_t>::copy_of(offsets),
          Array<std::int32_t>::copy_of(indices), Array<T>::copy_of(values)};
}

/// Numbers that float holds exactly (eighths between -8 and 8), `density` of them not zero.
inline Rows random_rows(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed) {
  Random random(seed);
  Rows result(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(columns)));
  for (auto& row : result)
    for (auto& value : row)
      if (random.uniform() < density) value = (static_cast<double>(random.below(128)) - 64) / 8;
  return result;
}

template <class T>
Rows rows_of(const DenseMatrix<T>& x) {
  Rows rows(static_cast<std::size_t>(x.rows), std::vector<double>(static_cast<std::size_t>(x.columns)));
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j)
      rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = static_cast<double>(x.values[i * x.columns + j]);
  return rows;
}

template <class T>
Rows rows_of(const SparseMatrix<T>& x) {
  Rows rows(static_cast<std::size_t>(x.rows), std::vector<double>(static_cast<std::size_t>(x.columns)));
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k)
      rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(x.indices[k])] = static_cast<double>(x.values[k]);
  return rows;
}

template <class T>
Rows rows_of(const Matrix<T>& x) {
  return std::visit([](const auto& matrix) { return rows_of(matrix); }, x);
}

template <class T>
std::vector<T> list_of(const Array<T>& array) {
  return {array.begin(), array.end()};
}

}  // namespace sheaf::test
