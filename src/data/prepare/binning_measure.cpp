#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/fail.hpp"
#include "data/prepare/binning.hpp"

namespace sheaf::bins {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t tile_columns = 256;

/// Measures of some columns side by side, so that the loop over them is one of vectors.
template <class T>
struct Tile {
  std::array<T, tile_columns> low, high;
  std::array<std::int32_t, tile_columns> missing{}, fractional{};

  Tile() {
    low.fill(std::numeric_limits<T>::infinity());
    high.fill(-std::numeric_limits<T>::infinity());
  }

  void add(const T* row, std::int64_t columns) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto c = static_cast<std::size_t>(j);
      const T value = row[j];
      low[c] = value < low[c] ? value : low[c];
      high[c] = value > high[c] ? value : high[c];
      const int absent = std::isnan(value) ? 1 : 0;
      missing[c] += absent;
      fractional[c] |= value == std::floor(value) ? 0 : 1 - absent;
    }
  }

  void merge_into(Extents& extents, Range columns) const {
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      const auto c = static_cast<std::size_t>(j - columns.begin);
      const auto at = static_cast<std::size_t>(j);
      extents.low[at] = std::min(extents.low[at], static_cast<double>(low[c]));
      extents.high[at] = std::max(extents.high[at], static_cast<double>(high[c]));
      extents.missing[at] += missing[c];
      extents.fractional[at] = static_cast<char>(extents.fractional[at] | fractional[c]);
    }
  }
};

template <class T>
void measure_dense(const Context& context, const DenseMatrix<T>& x, Extents& extents) {
  const std::int64_t stripes = (x.columns + tile_columns - 1) / tile_columns;
  const std::int64_t wanted =
      std::max<std::int64_t>(1, std::int64_t{context.threads()} * 8 / std::max<std::int64_t>(stripes, 1));
  const std::int64_t row_parts = std::clamp<std::int64_t>(x.rows / 256, 1, wanted);
  std::mutex mutex;
  parallel_for(context, stripes * row_parts, [&](std::int64_t task) {
    const auto rows = part_of(x.rows, row_parts, task / stripes);
    const Range columns{task % stripes * tile_columns, std::min((task % stripes + 1) * tile_columns, x.columns)};
    Tile<T> tile;
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      tile.add(x.values.data() + i * x.columns + columns.begin, columns.end - columns.begin);
    const std::lock_guard lock(mutex);
    tile.merge_into(extents, columns);
  });
}

template <class T>
void measure_sparse(const Context& context, const Dataset<T>& dataset, Extents& extents) {
  for_each_column(context, dataset, [&](std::int64_t j, const Column<T>& column) {
    const auto at = static_cast<std::size_t>(j);
    if (column.zeros() > 0) extents.low[at] = extents.high[at] = 0;
    for (const T stored : column.values) {
      const auto value = static_cast<double>(stored);
      if (value < extents.low[at]) extents.low[at] = value;
      if (value > extents.high[at]) extents.high[at] = value;
      extents.missing[at] += std::isnan(value) ? 1 : 0;
      if (value < std::floor(value) || value > std::floor(value)) extents.fractional[at] = 1;
    }
  });
}

template <class T>
std::int64_t first_missing(const Dataset<T>& dataset, std::int64_t j) {
  if (const auto* x = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    for (std::int64_t i = 0; i < x->rows; ++i)
      if (std::isnan(x->values[i * x->columns + j])) return i;
    return -1;
  }
  const auto& x = dataset.by_columns(Device::cpu(), 1);
  for (std::int64_t k = x.offsets[j]; k < x.offsets[j + 1]; ++k)
    if (std::isnan(x.values[k])) return x.indices[k];
  return -1;
}

}  // namespace

Extents::Extents(std::int64_t features)
    : low(static_cast<std::size_t>(features), infinity),
      high(static_cast<std::size_t>(features), -infinity),
      missing(static_cast<std::size_t>(features)),
      fractional(static_cast<std::size_t>(features)) {}

template <class T>
Extents measure(const Context& context, const Dataset<T>& dataset) {
  Extents extents(dataset.features());
  if (const auto* x = std::get_if<DenseMatrix<T>>(&dataset.x))
    measure_dense(context, *x, extents);
  else
    measure_sparse(context, dataset, extents);
  return extents;
}

template <class T>
void check_missing(const Dataset<T>& dataset, const Extents& extents) {
  for (std::int64_t j = 0; j < dataset.features(); ++j)
    if (extents.missing[static_cast<std::size_t>(j)] > 0)
      fail("{}: row {} has no value for feature '{}'; fill in missing values, or give them a bin of their own",
           dataset.source, first_missing(dataset, j) + 1, dataset.feature_name(j));
}

template <class T>
void check_finite(const Dataset<T>& dataset, const Extents& extents) {
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const double low = extents.low[static_cast<std::size_t>(j)];
    const double high = extents.high[static_cast<std::size_t>(j)];
    if (low <= high && !std::isfinite(high - low))
      fail("{}: feature '{}' can't be binned: its values from {} to {} are infinite, or too far apart", dataset.source,
           dataset.feature_name(j), low, high);
  }
}

template Extents measure(const Context&, const Dataset<float>&);
template Extents measure(const Context&, const Dataset<double>&);
template void check_missing(const Dataset<float>&, const Extents&);
template void check_missing(const Dataset<double>&, const Extents&);
template void check_finite(const Dataset<float>&, const Extents&);
template void check_finite(const Dataset<double>&, const Extents&);

}  // namespace sheaf::bins
