// Rows laid out for the filter, and the bounds of its error.
//
// The filter computes in float, in its own unit, a value whose distance from the exact one is at most slack_i +
// slack_j. With base_i it gives a lower bound, base_i + base_j + factor * (joined terms), at no cost beyond an
// addition:
//   products   |x - y|^2 = |x|^2 + |y|^2 - 2 x'y      base = |x|^2 - slack, factor -2
//   others     the distance itself, from differences  base = -slack, factor 1
// Rows are scaled by a power of two so that the longest has a norm of at most 1: nothing overflows, and values that
// underflow are far below every slack.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "neighbors/verbs/filter_plan.hpp"

namespace sheaf::neighbors::cpu {

/// Rows of a panel, side by side in the lanes of one vector of floats.
inline constexpr int lanes = native_vector_bytes / static_cast<int>(sizeof(float));
/// Panels and rows of one register tile.
inline constexpr int panels_together = 3;
inline constexpr int rows_together = lanes == 16 ? 8 : 4;
/// Row counts are padded to whole tiles.
inline constexpr std::int64_t padding = std::int64_t{panels_together} * lanes;
/// Terms joined in a register before they are joined to the total, which keeps the error of long rows small.
inline constexpr std::int64_t chunk = 512;

struct Panels {
  std::int64_t rows = 0;     ///< without padding
  std::int64_t columns = 0;  ///< features of the filter
  Array<float> values;       ///< panel after panel; in each the lanes of a feature side by side
  Array<float> base, slack;  ///< padded rows have an infinite base: nothing is near them

  std::int64_t padded() const { return base.size(); }
  const float* panel(std::int64_t row) const { return values.data() + row / lanes * lanes * columns; }
};

/// Bytes of the panels of so many rows.
inline double panel_bytes(std::int64_t rows, std::int64_t columns) {
  return (static_cast<double>(rows) + padding) * static_cast<double>(columns) * sizeof(float);
}

/// The bound of one row's share of the error, u = 2^-24:
///   products: rounding the rows moves |x - y|^2 by at most 2u (|x| + |y|)^2 <= 4u (|x|^2 + |y|^2); an inner product
///     that is summed in `steps` is wrong by at most steps * u |x| |y|; the three additions of the bound add 6u.
///   manhattan: rounding costs the rounded-off amounts, summing steps * u of the result, which is at most |x|_1 +
///   |y|_1. chebyshev: likewise, with one rounding.
/// All are then made a little larger, for the terms of second order and for the exact distances' own rounding.
struct RowError {
  double size = 0;     ///< |x|^2, |x|_1 or max |x| of the rounded row
  double rounded = 0;  ///< the error of rounding to float, in the same norm (not squared)
};
inline double slack_of(FilterKind kind, const RowError& error, double steps) {
  constexpr double u = 0x1p-24;
  constexpr double tiny = 0x1p-110;
  if (kind == FilterKind::hamming) return 0;
  if (kind == FilterKind::products) return (steps + 16) * u * 1.01 * error.size + tiny;
  const double sums = kind == FilterKind::chebyshev ? 1 : steps;
  return (sums + 4) * u * 1.01 * error.size + error.rounded * 1.01 + tiny;
}

/// Rows `places` (empty: all) in panels.
template <class S>
Panels make_panels(const Context& context, const FilterPlan& plan, const Rows<S>& rows,
                   std::span<const std::int32_t> places) {
  Panels panels;
  panels.rows = places.empty() ? sheaf::rows(rows.x) : std::ssize(places);
  panels.columns = plan.columns();
  const auto padded = (panels.rows + padding - 1) / padding * padding;
  panels.values = Array<float>(padded * panels.columns);
  panels.base = Array<float>(padded);
  panels.slack = Array<float>(padded);
  const auto steps = static_cast<double>(std::min(panels.columns, chunk) + (panels.columns + chunk - 1) / chunk);
  parallel_for(context, padded / lanes, [&](std::int64_t p) {
    std::vector<double> row(static_cast<std::size_t>(panels.columns));
    float* panel = panels.values.data() + p * lanes * panels.columns;
    for (int lane = 0; lane < lanes; ++lane) {
      const auto i = p * lanes + lane;
      const bool there = i < panels.rows;
      std::fill(row.begin(), row.end(), 0.0);
      if (there)
        write_filtered(plan, rows, places.empty() ? i : std::int64_t{places[static_cast<std::size_t>(i)]}, row.data());
      RowError error;
      for (std::int64_t j = 0; j < panels.columns; ++j) {
        const auto wide = row[static_cast<std::size_t>(j)];
        const auto value = static_cast<float>(wide);
        panel[j * lanes + lane] = value;
        const auto size = std::abs(static_cast<double>(value));
        const auto off = std::abs(wide - static_cast<double>(value));
        if (plan.kind == FilterKind::products) {
          error.size += size * size;
        } else if (plan.kind == FilterKind::chebyshev) {
          error.size = std::max(error.size, size);
          error.rounded = std::max(error.rounded, off);
        } else {
          error.size += size;
          error.rounded += off;
        }
      }
      const double slack = slack_of(plan.kind, error, steps);
      const double base = plan.kind == FilterKind::products ? error.size - slack : -slack;
      panels.slack[i] = static_cast<float>(slack * (1 + 0x1p-20));
      panels.base[i] = there ? static_cast<float>(base) : std::numeric_limits<float>::infinity();
    }
  });
  return panels;
}

}  // namespace sheaf::neighbors::cpu
