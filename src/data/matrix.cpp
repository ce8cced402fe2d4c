#include <sheaf/solvers/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 1024;

/// First row of each of `parts` parts with nearly equal numbers of entries.
template <class T>
std::vector<std::int64_t> rows_by_entries(const SparseMatrix<T>& x, std::int64_t parts) {
  std::vector<std::int64_t> firsts{0};
  for (std::int64_t p = 1; p < parts; ++p) {
    const std::int64_t entry = part_of(x.nonzeros(), parts, p).begin;
    const auto* at = std::lower_bound(x.offsets.begin(), x.offsets.end() - 1, entry);
    firsts.push_back(at - x.offsets.begin());
  }
  firsts.push_back(x.rows);
  return firsts;
}

template <class To, class From>
To narrow(From value, std::int64_t position) {
  const To result = static_cast<To>(value);
  if (std::isinf(result) && !std::isinf(value))
    fail("the value {} (entry {}) is too large for single precision; use double", value, position);
  return result;
}

template <class To, class From>
Array<To> convert_values(const Array<From>& from, int threads) {
  Array<To> to(from.size());
  parallel_ranges(threads, from.size(), 1 << 16, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) to[i] = narrow<To>(from[i], i);
  });
  return to;
}

}  // namespace

template <class T>
std::int64_t matrix_bytes(const Matrix<T>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) return dense->values.bytes();
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return sparse.offsets.bytes() + sparse.indices.bytes() + sparse.values.bytes();
}

// Counting sort by column. Each part of the rows counts its own entries per column; offsets within a column follow the
// order of the parts, so the result does not depend on how many threads took part.
template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& x, int threads) {
  SparseMatrix<T> result{x.columns, x.rows, Array<std::int64_t>::zeros(x.columns + 1),
                         Array<std::int32_t>(x.nonzeros()), Array<T>(x.nonzeros())};
  const std::int64_t affordable = 1 + x.nonzeros() / std::max<std::int64_t>(x.columns, 1);
  const std::int64_t parts = std::clamp<std::int64_t>(std::min<std::int64_t>(threads, affordable), 1, 64);
  const auto firsts = rows_by_entries(x, parts);
  std::vector<Array<std::int64_t>> counts(static_cast<std::size_t>(parts));
  parallel_for(threads, parts, [&](std::int64_t p) {
    auto& count = counts[static_cast<std::size_t>(p)];
    count = Array<std::int64_t>::zeros(x.columns);
    const std::int64_t end = x.offsets[firsts[static_cast<std::size_t>(p) + 1]];
    for (std::int64_t k = x.offsets[firsts[static_cast<std::size_t>(p)]]; k < end; ++k) ++count[x.indices[k]];
  });
  std::int64_t total = 0;
  for (std::int64_t j = 0; j < x.columns; ++j) {
    result.offsets[j] = total;
    for (auto& count : counts) total += std::exchange(count[j], total);
  }
  result.offsets[x.columns] = total;
  parallel_for(threads, parts, [&](std::int64_t p) {
    auto& next = counts[static_cast<std::size_t>(p)];
    for (std::int64_t i = firsts[static_cast<std::size_t>(p)]; i < firsts[static_cast<std::size_t>(p) + 1]; ++i)
      for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
        const std::int64_t to = next[x.indices[k]]++;
        result.indices[to] = static_cast<std::int32_t>(i);
        result.values[to] = x.values[k];
      }
  });
  return result;
}

template <class T>
DenseMatrix<T> to_dense(const SparseMatrix<T>& x, int threads) {
  DenseMatrix<T> dense{x.rows, x.columns, Array<T>(x.rows * x.columns)};
  parallel_ranges(threads, x.rows, row_grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      T* row = dense.values.data() + i * x.columns;
      std::fill_n(row, x.columns, T(0));
      for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) row[x.indices[k]] = x.values[k];
    }
  });
  return dense;
}

template <class T>
SparseMatrix<T> to_sparse(const DenseMatrix<T>& x, int threads) {
  SparseMatrix<T> sparse{x.rows, x.columns, Array<std::int64_t>(x.rows + 1), {}, {}};
  sparse.offsets[0] = 0;
  parallel_ranges(threads, x.rows, row_grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const T* row = x.values.data() + i * x.columns;
      sparse.offsets[i + 1] = x.columns - std::count(row, row + x.columns, T(0));
    }
  });
  for (std::int64_t i = 0; i < x.rows; ++i) sparse.offsets[i + 1] += sparse.offsets[i];
  sparse.indices = Array<std::int32_t>(sparse.offsets[x.rows]);
  sparse.values = Array<T>(sparse.offsets[x.rows]);
  parallel_ranges(threads, x.rows, row_grain, [&](Range range) {
    std::int64_t k = range.begin < x.rows ? sparse.offsets[range.begin] : 0;
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int64_t j = 0; j < x.columns; ++j) {
        const T value = x.values[i * x.columns + j];
        if (value == T(0)) continue;
        sparse.indices[k] = static_cast<std::int32_t>(j);
        sparse.values[k++] = value;
      }
  });
  return sparse;
}

template <class To, class From>
Matrix<To> convert_precision(const Matrix<From>& x, int threads) {
  if (const auto* dense = std::get_if<DenseMatrix<From>>(&x))
    return DenseMatrix<To>{dense->rows, dense->columns, convert_values<To>(dense->values, threads)};
  const auto& sparse = std::get<SparseMatrix<From>>(x);
  return SparseMatrix<To>{sparse.rows, sparse.columns, sparse.offsets.to(Device::cpu()),
                          sparse.indices.to(Device::cpu()), convert_values<To>(sparse.values, threads)};
}

template std::int64_t matrix_bytes(const Matrix<float>&);
template std::int64_t matrix_bytes(const Matrix<double>&);
template SparseMatrix<float> transpose(const SparseMatrix<float>&, int);
template SparseMatrix<double> transpose(const SparseMatrix<double>&, int);
template DenseMatrix<float> to_dense(const SparseMatrix<float>&, int);
template DenseMatrix<double> to_dense(const SparseMatrix<double>&, int);
template SparseMatrix<float> to_sparse(const DenseMatrix<float>&, int);
template SparseMatrix<double> to_sparse(const DenseMatrix<double>&, int);
template Matrix<float> convert_precision(const Matrix<double>&, int);
template Matrix<double> convert_precision(const Matrix<float>&, int);

}  // namespace sheaf
