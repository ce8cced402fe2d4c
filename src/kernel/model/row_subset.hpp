// Some rows of a dataset, and their decision values.
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

/// Decision values of some rows under some tasks of a sheaf: rows x tasks, 0 for task -1. They are taken from the
/// training where it computed them (`from_training`), otherwise computed for these rows alone.
template <class T>
Block<double> decisions_of(const Context& context, const Dataset<T>& dataset, const KernelParams& kernel,
                           const SvmFits& fits, std::span<const std::int32_t> tasks, std::span<const std::int32_t> rows,
                           bool from_training) {
  Block<double> result(static_cast<std::int64_t>(rows.size()), static_cast<std::int32_t>(tasks.size()));
  if (!from_training) {
    std::vector<BinarySvm> svms;
    for (const auto task : tasks)
      svms.push_back(task < 0 ? BinarySvm{} : fits.tasks[static_cast<std::size_t>(task)].svm);
    Dataset<T> asked;
    asked.x = some_rows<T>(dataset.x, rows);
    return decision_values<T>(context, kernel, dataset, svms, asked);
  }
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int32_t t = 0; t < result.tasks(); ++t) {
      const auto task = tasks[static_cast<std::size_t>(t)];
      if (task >= 0) result(i, t) = fits.decisions(rows[static_cast<std::size_t>(i)], task);
    }
  return result;
}

}  // namespace sheaf::kernel
