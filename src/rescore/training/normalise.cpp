#include "rescore/training/normalise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/parallel.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::int64_t part_rows = 1 << 14;

/// f(row, sums) over all rows, sums of parts added in order: the same for any number of threads.
template <class T, class Visit, class Join>
std::vector<double> over_rows(const Context& context, const DenseMatrix<T>& x, double start, const Visit& visit,
                              const Join& join) {
  const std::int64_t parts = (x.rows + part_rows - 1) / part_rows;
  const auto width = static_cast<std::size_t>(x.columns);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(parts), std::vector<double>(width, start));
  parallel_for(context, parts, [&](std::int64_t k) {
    auto& mine = sums[static_cast<std::size_t>(k)];
    for (std::int64_t i = k * part_rows; i < std::min(x.rows, (k + 1) * part_rows); ++i)
      for (std::size_t j = 0; j < width; ++j)
        visit(mine[j], static_cast<double>(x.values[i * x.columns + static_cast<std::int64_t>(j)]), j);
  });
  std::vector<double> total(width, start);
  for (const auto& mine : sums)
    for (std::size_t j = 0; j < width; ++j) join(total[j], mine[j]);
  return total;
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
  const auto add = [](double& sum, double part) { sum += part; };
  const auto n = static_cast<double>(x.rows);
  if (scaling == FeatureScaling::standard) {
    result.shift = over_rows(
        context, x, 0, [](double& sum, double value, std::size_t) { sum += value; }, add);
    for (double& mean : result.shift) mean /= n;
    result.scale = over_rows(
        context, x, 0,
        [&](double& sum, double value, std::size_t j) { sum += (value - result.shift[j]) * (value - result.shift[j]); },
        add);
    constexpr double rounding = 1e-12;  // what a constant may seem to vary by, relative to its size
    for (std::size_t j = 0; j < width; ++j) {
      const double deviation = std::sqrt(result.scale[j] / n);
      result.scale[j] = deviation > rounding * std::abs(result.shift[j]) ? deviation : 1;
    }
  } else {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto less = [](double& least, double value, auto...) { least = std::min(least, value); };
    const auto more = [](double& most, double value, auto...) { most = std::max(most, value); };
    result.shift = over_rows(context, x, infinity, less, less);
    const auto highest = over_rows(context, x, -infinity, more, more);
    for (std::size_t j = 0; j < width; ++j)
      result.scale[j] = highest[j] > result.shift[j] ? highest[j] - result.shift[j] : 1;
  }
  parallel_ranges(context, x.rows, part_rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      T* row = x.values.data() + i * x.columns;
      for (std::size_t j = 0; j < width; ++j)
        row[j] = static_cast<T>((static_cast<double>(row[j]) - result.shift[j]) / result.scale[j]);
    }
  });
  return result;
}

template Normaliser normalise(const Context&, DenseMatrix<float>&, FeatureScaling);
template Normaliser normalise(const Context&, DenseMatrix<double>&, FeatureScaling);

}  // namespace sheaf::rescore
