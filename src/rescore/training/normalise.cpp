#include "rescore/training/normalise.hpp"

#include <algorithm>
#include <cmath>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::int64_t part_rows = 1 << 14;

/// Totals of parts are joined in order: the same for any number of threads.
template <class T>
std::vector<double> column_totals_cpu(const Context& context, const DenseMatrix<T>& x, ColumnTotal kind,
                                      const std::vector<double>& shift) {
  const std::int64_t parts = (x.rows + part_rows - 1) / part_rows;
  const auto width = static_cast<std::size_t>(x.columns);
  const std::vector<double> start(width, empty_total(kind));
  std::vector<std::vector<double>> totals(static_cast<std::size_t>(parts), start);
  parallel_for(context, parts, [&](std::int64_t k) {
    auto& mine = totals[static_cast<std::size_t>(k)];
    for (std::int64_t i = k * part_rows; i < std::min(x.rows, (k + 1) * part_rows); ++i) {
      const T* const row = x.values.data() + i * x.columns;
      for (std::size_t j = 0; j < width; ++j) mine[j] = joined(kind, mine[j], static_cast<double>(row[j]), shift[j]);
    }
  });
  std::vector<double> result = start;
  for (const auto& mine : totals)
    for (std::size_t j = 0; j < width; ++j) result[j] = joined(kind, result[j], mine[j]);
  return result;
}

template <class T>
std::vector<double> column_totals(const Context& context, const DenseMatrix<T>& x, ColumnTotal kind,
                                  const std::vector<double>& shift) {
  if (x.values.device().is_cpu()) return column_totals_cpu(context, x, kind, shift);
#if SHEAF_CUDA
  return column_totals_cuda(context, x, kind, shift);
#else
  throw InternalError("features are on a GPU in a build without CUDA");
#endif
}

template <class T>
void apply(const Context& context, DenseMatrix<T>& x, const Normaliser& normaliser) {
  if (x.values.device().is_cpu()) {
    parallel_ranges(context, x.rows, part_rows, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        T* row = x.values.data() + i * x.columns;
        for (std::size_t j = 0; j < normaliser.shift.size(); ++j)
          row[j] = static_cast<T>((static_cast<double>(row[j]) - normaliser.shift[j]) / normaliser.scale[j]);
      }
    });
    return;
  }
#if SHEAF_CUDA
  apply_cuda(context, x, normaliser);
#endif
}

}  // namespace

std::vector<double> Normaliser::raw(const std::vector<double>& w) const {
  std::vector<double> result = w;
  for (std::size_t j = 0; j < shift.size(); ++j) {
    result[j] = w[j] / scale[j];
    result.back() -= shift[j] * w[j] / scale[j];
  }
  return result;
}

std::vector<double> Normaliser::normalised(const std::vector<double>& raw) const {
  std::vector<double> result = raw;
  for (std::size_t j = 0; j < shift.size(); ++j) {
    result[j] = raw[j] * scale[j];
    result.back() += shift[j] * raw[j];
  }
  return result;
}

template <class T>
Normaliser normalise(const Context& context, DenseMatrix<T>& x, FeatureScaling scaling) {
  const auto width = static_cast<std::size_t>(x.columns);
  Normaliser result{std::vector<double>(width, 0.0), std::vector<double>(width, 1.0)};
  if (scaling == FeatureScaling::none || x.rows == 0) return result;
  const auto n = static_cast<double>(x.rows);
  if (scaling == FeatureScaling::standard) {
    auto sums = column_totals(context, x, ColumnTotal::sum, result.shift);
    for (double& mean : sums) mean /= n;
    result.shift = std::move(sums);
    result.scale = column_totals(context, x, ColumnTotal::squares, result.shift);
    constexpr double rounding = 1e-12;  // the apparent variation of a constant, relative to its size
    for (std::size_t j = 0; j < width; ++j) {
      const double deviation = std::sqrt(result.scale[j] / n);
      result.scale[j] = deviation > rounding * std::abs(result.shift[j]) ? deviation : 1;
    }
  } else {
    auto lowest = column_totals(context, x, ColumnTotal::least, result.shift);
    const auto highest = column_totals(context, x, ColumnTotal::most, result.shift);
    result.shift = std::move(lowest);
    for (std::size_t j = 0; j < width; ++j)
      result.scale[j] = highest[j] > result.shift[j] ? highest[j] - result.shift[j] : 1;
  }
  apply(context, x, result);
  return result;
}

template Normaliser normalise(const Context&, DenseMatrix<float>&, FeatureScaling);
template Normaliser normalise(const Context&, DenseMatrix<double>&, FeatureScaling);

}  // namespace sheaf::rescore
