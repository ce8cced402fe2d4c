#include "data/keep_features.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf {
namespace {

/// Calls entry(column, value) for the stored entries of a row; zeros of dense rows do not count, except -0.
template <class T, class Entry>
void for_stored(const Matrix<T>& x, std::int64_t row, Entry&& entry) {
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x)) {
    for (std::int64_t k = sparse->offsets[row]; k < sparse->offsets[row + 1]; ++k)
      entry(sparse->indices[k], sparse->values[k]);
    return;
  }
  const auto& dense = std::get<DenseMatrix<T>>(x);
  for (std::int64_t j = 0; j < dense.columns; ++j) {
    const T value = dense.values[row * dense.columns + j];
    if (value != 0 || std::signbit(value)) entry(static_cast<std::int32_t>(j), value);
  }
}

}  // namespace

template <class T>
Dataset<T> keep_features(const Dataset<T>& dataset, std::span<const std::int64_t> features) {
  std::vector<bool> kept(static_cast<std::size_t>(dataset.features()), false);
  for (const auto j : features) kept[static_cast<std::size_t>(j)] = true;
  SparseMatrix<T> x{dataset.rows(), dataset.features(), Array<std::int64_t>(dataset.rows() + 1), {}, {}};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  x.offsets[0] = 0;
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    for_stored(dataset.x, i, [&](std::int32_t column, T value) {
      if (!kept[static_cast<std::size_t>(column)]) return;
      indices.push_back(column);
      values.push_back(value);
    });
    x.offsets[i + 1] = static_cast<std::int64_t>(values.size());
  }
  x.indices = Array<std::int32_t>(std::ssize(indices));
  x.values = Array<T>(std::ssize(values));
  std::copy(indices.begin(), indices.end(), x.indices.data());
  std::copy(values.begin(), values.end(), x.values.data());
  auto result = dataset.borrowed();
  result.replace_x(std::move(x));
  return result;
}

template <class T>
Dataset<T> take_named_features(const Dataset<T>& dataset, std::span<const std::int64_t> features, int threads) {
  auto result = take_features(dataset, features, threads);
  if (dataset.feature_names.empty())
    for (const auto j : features) result.feature_names.push_back(dataset.feature_name(j));
  return result;
}

template <class T>
void drop_kept_groups(Dataset<T>& dataset) {
  const auto holds_groups = [&](const KeptColumn& column) {
    for (std::size_t i = 0; i < dataset.groups.size(); ++i)
      if (column.values[i] != dataset.group_names[static_cast<std::size_t>(dataset.groups[i])]) return false;
    return true;
  };
  if (dataset.groups.empty() || std::none_of(dataset.kept.begin(), dataset.kept.end(), holds_groups)) return;
  dataset.groups.clear();
  dataset.group_names.clear();
}

template void drop_kept_groups(Dataset<float>&);
template void drop_kept_groups(Dataset<double>&);
template Dataset<float> keep_features(const Dataset<float>&, std::span<const std::int64_t>);
template Dataset<double> keep_features(const Dataset<double>&, std::span<const std::int64_t>);
template Dataset<float> take_named_features(const Dataset<float>&, std::span<const std::int64_t>, int);
template Dataset<double> take_named_features(const Dataset<double>&, std::span<const std::int64_t>, int);

}  // namespace sheaf
