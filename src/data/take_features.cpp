#include <algorithm>

#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 1024;

template <class T>
Matrix<T> take(const DenseMatrix<T>& x, std::span<const std::int64_t> features, int threads) {
  const auto width = static_cast<std::int64_t>(features.size());
  DenseMatrix<T> result{x.rows, width, Array<T>(x.rows * width)};
  parallel_ranges(threads, x.rows, row_grain, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t k = 0; k < width; ++k)
        result.values[i * width + k] = x.values[i * x.columns + features[static_cast<std::size_t>(k)]];
  });
  return result;
}

/// Rows of the transpose, which are the features: those wanted are copied and turned back.
template <class T>
Matrix<T> take(const SparseMatrix<T>& columns, std::span<const std::int64_t> features, int threads) {
  SparseMatrix<T> taken{static_cast<std::int64_t>(features.size()), columns.columns, {}, {}, {}};
  taken.offsets = Array<std::int64_t>(taken.rows + 1);
  taken.offsets[0] = 0;
  const auto size = [&](std::int64_t k) {
    const auto j = features[static_cast<std::size_t>(k)];
    return columns.offsets[j + 1] - columns.offsets[j];
  };
  for (std::int64_t k = 0; k < taken.rows; ++k) taken.offsets[k + 1] = taken.offsets[k] + size(k);
  taken.indices = Array<std::int32_t>(taken.offsets[taken.rows]);
  taken.values = Array<T>(taken.offsets[taken.rows]);
  for (std::int64_t k = 0; k < taken.rows; ++k) {
    const auto from = columns.offsets[features[static_cast<std::size_t>(k)]];
    std::copy_n(columns.indices.data() + from, size(k), taken.indices.data() + taken.offsets[k]);
    std::copy_n(columns.values.data() + from, size(k), taken.values.data() + taken.offsets[k]);
  }
  return transpose(taken, threads);
}

template <class List>
List picked(const List& all, std::span<const std::int64_t> features) {
  List result;
  if (all.empty()) return result;
  for (const auto j : features) result.push_back(all[static_cast<std::size_t>(j)]);
  return result;
}

}  // namespace

template <class T>
Dataset<T> take_features(const Dataset<T>& dataset, std::span<const std::int64_t> features, int threads) {
  Dataset<T> result;
  if (is_sparse(dataset.x))
    result.x = take(dataset.by_columns(Device::cpu(), threads), features, threads);
  else
    result.x = take(std::get<DenseMatrix<T>>(dataset.x), features, threads);
  result.feature_names = picked(dataset.feature_names, features);
  result.row_names = dataset.row_names;
  result.levels = picked(dataset.levels, features);
  for (const auto& column : dataset.annotations)
    result.annotations.push_back({column.name, picked(column.values, features)});
  result.target = dataset.target;
  result.groups = dataset.groups;
  result.group_names = dataset.group_names;
  result.row_columns = dataset.row_columns;
  result.kept = dataset.kept;
  result.source = dataset.source;
  result.format = dataset.format;
  return result;
}

template Dataset<float> take_features(const Dataset<float>&, std::span<const std::int64_t>, int);
template Dataset<double> take_features(const Dataset<double>&, std::span<const std::int64_t>, int);

}  // namespace sheaf
