// Sums are taken about the value of each feature in the first row, so that a mean far from 0 costs no digits and one
// pass is enough.
#include "data/describe/split_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Features of one piece of work; their sums stay in the first-level cache.
constexpr std::int64_t tile = 16;

/// Sums over the rows of one split, for the features of a piece of work.
struct Sums {
  std::array<double, tile> values{}, squares{}, nonzeros{}, seen{}, minimum, maximum;

  Sums() {
    minimum.fill(infinity);
    maximum.fill(-infinity);
  }
  void add(std::size_t k, double value, double origin, double times) {
    const double away = value - origin;
    values[k] += times * away;
    squares[k] += times * away * away;
    nonzeros[k] += value != 0 ? times : 0.0;
    seen[k] += times;
    minimum[k] = value < minimum[k] ? value : minimum[k];
    maximum[k] = value > maximum[k] ? value : maximum[k];
  }
  /// Of the `total` rows those that were not seen are 0.
  FeatureSummary summary(std::size_t k, double origin, double total) const {
    const bool zeros = seen[k] < total;
    const double mean = values[k] / total;
    const double variance = squares[k] / total - mean * mean;
    return {std::llround(nonzeros[k]), zeros ? std::min(minimum[k], 0.0) : minimum[k],
            zeros ? std::max(maximum[k], 0.0) : maximum[k], origin + mean, std::sqrt(std::max(variance, 0.0))};
  }
};

using Origins = std::array<double, tile>;

template <class T>
void add_features(const DenseMatrix<T>& x, Range features, std::span<const float> draws, std::vector<Sums>& sums,
                  Origins& origins) {
  const auto count = static_cast<std::size_t>(features.end - features.begin);
  for (std::size_t k = 0; k < count; ++k) origins[k] = static_cast<double>((x.values.data() + features.begin)[k]);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const T* row = x.values.data() + i * x.columns + features.begin;
    const float* times = draws.data() + i * std::ssize(sums);
    for (std::size_t s = 0; s < sums.size(); ++s) {
      if (times[s] == 0) continue;
      for (std::size_t k = 0; k < count; ++k)
        sums[s].add(k, static_cast<double>(row[k]), origins[k], static_cast<double>(times[s]));
    }
  }
}

/// `x` by columns. Values are counted from 0, since most are.
template <class T>
void add_features(const SparseMatrix<T>& x, Range features, std::span<const float> draws, std::vector<Sums>& sums,
                  Origins& /*origins*/) {
  for (std::int64_t j = features.begin; j < features.end; ++j)
    for (std::int64_t e = x.offsets[j]; e < x.offsets[j + 1]; ++e) {
      const float* times = draws.data() + x.indices[e] * std::ssize(sums);
      for (std::size_t s = 0; s < sums.size(); ++s)
        if (times[s] != 0)
          sums[s].add(static_cast<std::size_t>(j - features.begin), static_cast<double>(x.values[e]), 0,
                      static_cast<double>(times[s]));
    }
}

}  // namespace

template <class T>
std::vector<FeatureSummary> summarize_splits(const Context& context, const Dataset<T>& dataset,
                                             std::span<const float> draws, std::int32_t splits) {
  const auto columns = static_cast<std::size_t>(splits);
  std::vector<double> totals(columns, 0.0);
  for (std::size_t k = 0; k < draws.size(); ++k) totals[k % columns] += static_cast<double>(draws[k]);
  std::vector<FeatureSummary> result(static_cast<std::size_t>(dataset.features()) * columns);
  const auto summarize_all = [&](const auto& x) {
    parallel_for(context, (dataset.features() + tile - 1) / tile, [&](std::int64_t part) {
      const Range features{part * tile, std::min(dataset.features(), (part + 1) * tile)};
      std::vector<Sums> sums(columns);
      Origins origins{};
      add_features(x, features, draws, sums, origins);
      for (std::int64_t j = features.begin; j < features.end; ++j)
        for (std::size_t s = 0; s < columns; ++s) {
          const auto k = static_cast<std::size_t>(j - features.begin);
          result[static_cast<std::size_t>(j) * columns + s] = sums[s].summary(k, origins[k], totals[s]);
        }
    });
  };
  if (is_sparse(dataset.x))
    summarize_all(dataset.by_columns(Device::cpu(), context.threads()));
  else
    summarize_all(std::get<DenseMatrix<T>>(dataset.x));
  return result;
}

template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<float>&, std::span<const float>,
                                                      std::int32_t);
template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<double>&, std::span<const float>,
                                                      std::int32_t);

}  // namespace sheaf
