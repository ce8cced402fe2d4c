// Code shared by the filters of all devices: the metrics that have one, and the conversion of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include <sheaf/context.hpp>

#include "core/parallel.hpp"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors {

enum class FilterKind : std::uint8_t { products, manhattan, chebyshev, hamming };

/// Conversion of values for the filter: (value - centre) * factor, feature by feature.
struct FilterPlan {
  FilterKind kind = FilterKind::products;
  double scale = 1;            ///< power of two, part of the factors
  std::vector<double> centre;  ///< empty: 0
  std::vector<double> factor;
  bool marked =
      false;  ///< one more feature is 1 for rows without direction: at distance sqrt(2) from every unit vector
  DistanceType metric = DistanceType::euclidean;
  std::int64_t features = 0;

  std::int64_t columns() const { return features + (marked ? 1 : 0); }

  /// The filter's unit of an exact distance, rounded up.
  float upper(double distance) const {
    double value = distance * scale;
    if (kind == FilterKind::products) value = value * (metric == DistanceType::euclidean ? value : scale);
    if (metric == DistanceType::cosine || metric == DistanceType::correlation) value *= 2;
    if (kind == FilterKind::hamming) value = distance * static_cast<double>(features);
    constexpr double above = 1 + 0x1p-20;
    const double bound = value * above + 0x1p-120;
    return bound < static_cast<double>(std::numeric_limits<float>::max()) ? static_cast<float>(bound)
                                                                          : std::numeric_limits<float>::max();
  }
};

/// None: the metric has no filter, and every distance is computed exactly.
template <class S>
std::optional<FilterKind> filter_kind(DistanceType metric) {
  switch (metric) {
    case DistanceType::euclidean:
    case DistanceType::squared_euclidean:
    case DistanceType::cosine:
    case DistanceType::correlation:
      return FilterKind::products;
    case DistanceType::manhattan:
      return FilterKind::manhattan;
    case DistanceType::chebyshev:
      return FilterKind::chebyshev;
    case DistanceType::hamming:
      if (std::is_same_v<S, float>) return FilterKind::hamming;  // doubles that differ may be the same float
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The means of all columns, over the rows as the metric compares them.
template <class S>
std::vector<double> column_means(const Context& context, const Rows<S>& rows) {
  const auto columns = sheaf::columns(rows.x);
  const auto count = sheaf::rows(rows.x);
  constexpr std::int64_t blocks = 16;  // a fixed number: the order of sums is that of any number of threads
  std::vector<std::vector<double>> sums(blocks);
  parallel_for(context, blocks, [&](std::int64_t b) {
    auto& sum = sums[static_cast<std::size_t>(b)];
    sum.assign(static_cast<std::size_t>(columns), 0.0);
    std::vector<double> row(static_cast<std::size_t>(columns));
    const auto range = part_of(count, blocks, b);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      write_row(rows, i, row.data());
      for (std::size_t j = 0; j < row.size(); ++j) sum[j] += row[j];
    }
  });
  for (std::size_t b = 1; b < sums.size(); ++b)
    for (std::size_t j = 0; j < sums[0].size(); ++j) sums[0][j] += sums[b][j];
  for (double& mean : sums[0]) mean /= static_cast<double>(std::max<std::int64_t>(count, 1));
  return std::move(sums[0]);
}

/// Writes a row in the filter's values.
template <class S>
void write_filtered(const FilterPlan& plan, const Rows<S>& rows, std::int64_t i, double* out) {
  write_row(rows, i, out);
  if (!plan.centre.empty())
    for (std::int64_t j = 0; j < plan.features; ++j) out[j] -= plan.centre[static_cast<std::size_t>(j)];
  for (std::int64_t j = 0; j < plan.features; ++j) out[j] *= plan.factor[static_cast<std::size_t>(j)];
  if (plan.marked) out[plan.features] = rows.terms[static_cast<std::size_t>(i)].factor == 0 ? plan.scale : 0.0;
}

/// Calls entry(column, value) for the values of a row in the filter: all of a dense row, the stored ones of a sparse
/// row that is not centred. `memory` has room for a row.
template <class S, class Entry>
void for_filtered(const FilterPlan& plan, const Rows<S>& rows, std::int64_t i, std::vector<double>& memory,
                  const Entry& entry) {
  const auto* sparse = std::get_if<SparseMatrix<S>>(&rows.x);
  if (sparse == nullptr || !plan.centre.empty()) {
    memory.resize(static_cast<std::size_t>(plan.columns()));
    write_filtered(plan, rows, i, memory.data());
    for (std::int64_t j = 0; j < plan.columns(); ++j) entry(j, memory[static_cast<std::size_t>(j)]);
    return;
  }
  const double scale = rows.terms.empty() ? 1 : rows.terms[static_cast<std::size_t>(i)].factor;
  for (auto k = sparse->offsets[i]; k < sparse->offsets[i + 1]; ++k) {
    const auto j = sparse->indices[k];
    entry(std::int64_t{j}, static_cast<double>(sparse->values[k]) * scale * plan.factor[static_cast<std::size_t>(j)]);
  }
  if (plan.marked && scale == 0) entry(plan.features, plan.scale);
}

template <class S>
double largest_norm(const Context& context, const FilterPlan& plan, const Rows<S>& rows) {
  double largest = 0;
  std::mutex mutex;
  parallel_ranges(context, sheaf::rows(rows.x), 256, [&](Range range) {
    std::vector<double> memory;
    double here = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      double norm = 0;
      for_filtered(plan, rows, i, memory, [&](std::int64_t, double value) {
        norm += plan.kind == FilterKind::products ? value * value : std::abs(value);
      });
      here = std::max(here, plan.kind == FilterKind::products ? std::sqrt(norm) : norm);
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, here);
  });
  return largest;
}

template <class S>
bool any_without_direction(const Rows<S>& rows) {
  return std::any_of(rows.terms.begin(), rows.terms.end(), [](const RowTerms& terms) { return terms.factor == 0; });
}

/// largest_norm(plan, rows) is the largest norm of rows as the plan makes them; `centre` is empty or the means of
/// columns.
template <class S, class Norm>
FilterPlan make_filter_plan(const RowPair<S>& pair, FilterKind kind, std::vector<double> centre,
                            const Norm& largest_norm) {
  FilterPlan plan;
  plan.kind = kind;
  plan.metric = pair.distance.metric;
  plan.features = pair.columns();
  plan.factor.assign(static_cast<std::size_t>(plan.features), 1.0);
  if (kind == FilterKind::hamming) return plan;
  for (std::size_t j = 0; j < pair.distance.weights.size(); ++j)
    plan.factor[j] = kind == FilterKind::products ? std::sqrt(pair.distance.weights[j]) : pair.distance.weights[j];
  const bool unit = plan.metric == DistanceType::cosine || plan.metric == DistanceType::correlation;
  plan.marked = unit && (any_without_direction(pair.data) || any_without_direction(pair.from()));
  plan.centre = std::move(centre);
  const double largest = std::max(largest_norm(plan, pair.data), pair.self ? 0.0 : largest_norm(plan, pair.queries));
  if (largest > 0) plan.scale = std::exp2(std::clamp(-std::ceil(std::log2(largest)), -1000.0, 1000.0));
  for (double& factor : plan.factor) factor *= plan.scale;
  return plan;
}

template <class S>
FilterPlan make_filter_plan(const Context& context, const RowPair<S>& pair, FilterKind kind, bool centred = true) {
  std::vector<double> centre;
  if (kind == FilterKind::products && centred) centre = column_means(context, pair.data);
  return make_filter_plan(pair, kind, std::move(centre), [&](const FilterPlan& plan, const Rows<S>& rows) {
    return largest_norm(context, plan, rows);
  });
}

/// Rows in an order in which any run of them is spread over all: steps of the golden ratio around them.
inline std::vector<std::int32_t> spread_order(std::int64_t rows) {
  auto step = static_cast<std::int64_t>(0.6180339887498949 * static_cast<double>(rows));
  while (std::gcd(step, rows) != 1) ++step;
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::int64_t at = 0;
  for (auto& row : order) {
    row = static_cast<std::int32_t>(at);
    at += step;
    if (at >= rows) at -= rows;
  }
  return order;
}

}  // namespace sheaf::neighbors
