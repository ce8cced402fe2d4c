#include <algorithm>

#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 1024;

template <class T>
Matrix<T> take(const DenseMatrix<T>& x, std::span<const std::int32_t> rows, int threads) {
  const auto count = static_cast<std::int64_t>(rows.size());
  DenseMatrix<T> result{count, x.columns, Array<T>(count * x.columns)};
  parallel_ranges(threads, count, row_grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      std::copy_n(x.values.data() + rows[static_cast<std::size_t>(i)] * x.columns, x.columns,
                  result.values.data() + i * x.columns);
  });
  return result;
}

template <class T>
Matrix<T> take(const SparseMatrix<T>& x, std::span<const std::int32_t> rows, int threads) {
  const auto count = static_cast<std::int64_t>(rows.size());
  SparseMatrix<T> result{count, x.columns, Array<std::int64_t>(count + 1), {}, {}};
  result.offsets[0] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    result.offsets[i + 1] = result.offsets[i] + x.offsets[row + 1] - x.offsets[row];
  }
  result.indices = Array<std::int32_t>(result.offsets[count]);
  result.values = Array<T>(result.offsets[count]);
  parallel_ranges(threads, count, row_grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t from = x.offsets[rows[static_cast<std::size_t>(i)]];
      const std::int64_t length = result.offsets[i + 1] - result.offsets[i];
      std::copy_n(x.indices.data() + from, length, result.indices.data() + result.offsets[i]);
      std::copy_n(x.values.data() + from, length, result.values.data() + result.offsets[i]);
    }
  });
  return result;
}

template <class Value>
std::vector<Value> take(const std::vector<Value>& values, std::span<const std::int32_t> rows) {
  std::vector<Value> result;
  if (values.empty()) return result;
  result.reserve(rows.size());
  for (const auto row : rows) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

}  // namespace

template <class T>
Dataset<T> take_rows(const Dataset<T>& dataset, std::span<const std::int32_t> rows, int threads) {
  Dataset<T> result;
  result.x = std::visit([&](const auto& x) { return take(x, rows, threads); }, dataset.x);
  result.target = dataset.target;
  result.target.values = take(dataset.target.values, rows);
  result.target.classes = take(dataset.target.classes, rows);
  result.target.events = take(dataset.target.events, rows);
  result.target.entries = take(dataset.target.entries, rows);
  result.target.strata = take(dataset.target.strata, rows);
  for (auto& one : result.target.further) one.values = take(one.values, rows);
  result.groups = take(dataset.groups, rows);
  result.row_columns = dataset.row_columns;
  result.row_columns.weights = take(dataset.row_columns.weights, rows);
  result.row_columns.times = take(dataset.row_columns.times, rows);
  result.row_columns.folds = take(dataset.row_columns.folds, rows);
  result.feature_names = dataset.feature_names;
  result.row_names = take(dataset.row_names, rows);
  result.levels = dataset.levels;
  result.annotations = dataset.annotations;
  result.group_names = dataset.group_names;
  result.source = dataset.source;
  result.format = dataset.format;
  return result;
}

template Dataset<float> take_rows(const Dataset<float>&, std::span<const std::int32_t>, int);
template Dataset<double> take_rows(const Dataset<double>&, std::span<const std::int32_t>, int);

}  // namespace sheaf
