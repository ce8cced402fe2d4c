#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/prepare/dense.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 6> names{"log1p", "sqrt", "share", "clr", "norm", "rank"};
constexpr std::int64_t row_grain = 64;

/// Values at which zeros of sparse data would not stay 0.
bool fills_zeros(RowTransform transform) { return transform == RowTransform::clr || transform == RowTransform::rank; }

/// Sums of one row, which transforms subtract or divide by.
struct RowSums {
  double sum = 0, squares = 0, logs = 0;
};

/// `numeric`: the features to rank.
template <class T>
void replace_by_ranks(std::span<T> row, const std::vector<std::int64_t>& numeric) {
  auto order = numeric;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return row[static_cast<std::size_t>(a)] < row[static_cast<std::size_t>(b)]; });
  std::vector<T> ranks(row.begin(), row.end());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    const auto value = row[static_cast<std::size_t>(order[begin])];
    while (end < order.size() && row[static_cast<std::size_t>(order[end])] == value) ++end;
    for (std::size_t k = begin; k < end; ++k)
      ranks[static_cast<std::size_t>(order[k])] = static_cast<T>(static_cast<double>(begin + end + 1) / 2);
    begin = end;
  }
  std::copy(ranks.begin(), ranks.end(), row.begin());
}

double changed(RowTransform transform, double value, const RowSums& sums, double columns) {
  switch (transform) {
    case RowTransform::log1p:
      return std::log1p(value);
    case RowTransform::sqrt:
      return std::sqrt(value);
    case RowTransform::share:
      return sums.sum > 0 ? value / sums.sum : 0;
    case RowTransform::clr:
      return std::log1p(value) - sums.logs / columns;
    case RowTransform::norm:
      return sums.squares > 0 ? value / std::sqrt(sums.squares) : 0;
    case RowTransform::rank:
      break;
  }
  throw InternalError("ranks are not made value by value");
}

template <class T>
void check_value(RowTransform transform, const Dataset<T>& dataset, std::int64_t row, std::int64_t feature,
                 double value) {
  if (transform == RowTransform::norm || transform == RowTransform::rank) return;
  const bool right = transform == RowTransform::log1p ? value > -1 : value >= 0;
  if (!right && !std::isnan(value))
    fail("{}: {} takes values {}, but row {} has {} in feature '{}'", dataset.source, to_string(transform),
         transform == RowTransform::log1p ? "above -1" : "of 0 or more", row + 1, value, dataset.feature_name(feature));
}

}  // namespace

std::string_view to_string(RowTransform transform) { return names[static_cast<std::size_t>(transform)]; }

template <class T>
void pipeline::apply(const Context& context, const RowStep& step, Dataset<T>& dataset) {
  const auto transform = step.transform;
  if (fills_zeros(transform))
    make_dense(context, dataset, to_string(transform), "take log1p or share, which keep it sparse");
  // Levels have no sums and no ranks: nominal features stay as they are.
  std::vector<std::uint8_t> changes(static_cast<std::size_t>(dataset.features()), step.features.empty() ? 1 : 0);
  for (const auto j : step.features) changes[static_cast<std::size_t>(j)] = 1;
  std::vector<std::int64_t> numeric;
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    auto& one = changes[static_cast<std::size_t>(j)];
    if (is_nominal(dataset, j)) one = 0;
    if (one != 0) numeric.push_back(j);
  }
  const auto columns = static_cast<double>(numeric.size());
  std::visit(
      [&](auto& x) {
        parallel_ranges(context, x.rows, row_grain, [&](Range rows) {
          for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            RowSums sums;
            for_row(x, i, [&](std::int64_t j, T value) {
              if (changes[static_cast<std::size_t>(j)] == 0) return;
              const auto v = static_cast<double>(value);
              check_value(transform, dataset, i, j, v);
              if (std::isnan(v)) return;
              sums.sum += v;
              sums.squares += v * v;
              if (transform == RowTransform::clr) sums.logs += std::log1p(v);
            });
            if (transform == RowTransform::rank) {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, DenseMatrix<T>>)
                replace_by_ranks(std::span(x.values.data() + i * x.columns, static_cast<std::size_t>(x.columns)),
                                 numeric);
              continue;
            }
            for_row(x, i, [&](std::int64_t j, T& value) {
              if (changes[static_cast<std::size_t>(j)] != 0)
                value = static_cast<T>(changed(transform, static_cast<double>(value), sums, columns));
            });
          }
        });
      },
      dataset.change_x());
}

template void pipeline::apply(const Context&, const RowStep&, Dataset<float>&);
template void pipeline::apply(const Context&, const RowStep&, Dataset<double>&);

}  // namespace sheaf
