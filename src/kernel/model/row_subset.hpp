// A few rows of a table, and what machines decide of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/svm.hpp>

namespace sheaf::kernel {

template <class To, class From>
DenseMatrix<To> some_rows(const DenseMatrix<From>& x, std::span<const std::int32_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  DenseMatrix<To> result{count, x.columns, Array<To>(count * x.columns)};
  for (std::int64_t i = 0; i < count; ++i) {
    const From* from = x.values.data() + rows[static_cast<std::size_t>(i)] * x.columns;
    std::transform(from, from + x.columns, result.values.data() + i * x.columns,
                   [](From value) { return static_cast<To>(value); });
  }
  return result;
}

template <class To, class From>
SparseMatrix<To> some_rows(const SparseMatrix<From>& x, std::span<const std::int32_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  SparseMatrix<To> result{count, x.columns, Array<std::int64_t>(count + 1), {}, {}};
  result.offsets[0] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    result.offsets[i + 1] = result.offsets[i] + x.offsets[row + 1] - x.offsets[row];
  }
  result.indices = Array<std::int32_t>(result.offsets[count]);
  result.values = Array<To>(result.offsets[count]);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = x.offsets[rows[static_cast<std::size_t>(i)]] - result.offsets[i];
    for (std::int64_t k = result.offsets[i]; k < result.offsets[i + 1]; ++k) {
      result.indices[k] = x.indices[from + k];
      result.values[k] = static_cast<To>(x.values[from + k]);
    }
  }
  return result;
}

template <class To, class From>
Matrix<To> some_rows(const Matrix<From>& x, std::span<const std::int32_t> rows) {
  return std::visit([&](const auto& m) { return Matrix<To>(some_rows<To>(m, rows)); }, x);
}

/// Decision values of some rows under some tasks of a sheaf: rows x tasks, 0 for task -1. Those that training left are
/// taken (`left`); else, where it would have had to compute them for all rows, they are computed for these alone.
template <class T>
Block<double> decisions_of(const Context& context, const Dataset<T>& dataset, const KernelParams& kernel,
                           const SvmFits& fits, std::span<const std::int32_t> tasks, std::span<const std::int32_t> rows,
                           bool left) {
  Block<double> result(static_cast<std::int64_t>(rows.size()), static_cast<std::int32_t>(tasks.size()));
  if (!left) {
    std::vector<SvmMachine> machines;
    for (const auto task : tasks)
      machines.push_back(task < 0 ? SvmMachine{} : fits.tasks[static_cast<std::size_t>(task)].machine);
    Dataset<T> asked;
    asked.x = some_rows<T>(dataset.x, rows);
    return decision_values<T>(context, kernel, dataset, machines, asked);
  }
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int32_t t = 0; t < result.tasks(); ++t) {
      const auto task = tasks[static_cast<std::size_t>(t)];
      if (task >= 0) result(i, t) = fits.decisions(rows[static_cast<std::size_t>(i)], task);
    }
  return result;
}

}  // namespace sheaf::kernel
