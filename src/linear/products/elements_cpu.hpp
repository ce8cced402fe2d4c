// Walks over blocks on CPU cores: element by element, over the wanted tasks, and into sums that do not depend on the
// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear::cpu {

/// Rows per partial sum; fixed, so that sums do not depend on the number of threads.
inline constexpr std::int64_t sum_rows = 2048;

/// out[t] = sum over parts of the terms that part(range, sums) added to sums[t], added in the order of the parts.
template <class Part>
void sum_over_rows(std::int64_t rows, std::int32_t stride, int threads, std::span<double> out, Part&& part) {
  const std::int64_t parts = (rows + sum_rows - 1) / sum_rows;
  std::vector<double> sums(static_cast<std::size_t>(parts * stride), 0.0);
  const int team = team_for(threads, rows * stride);
  parallel_parts(team, parts, [&](Range range) {
    for (std::int64_t p = range.begin; p < range.end; ++p)
      part(Range{p * sum_rows, std::min(rows, (p + 1) * sum_rows)}, sums.data() + p * stride);
  });
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t] = 0;
    for (std::int64_t p = 0; p < parts; ++p) out[t] += sums[static_cast<std::size_t>(p * stride) + t];
  }
}

/// One flag a column; columns behind the last task are wanted only if all are.
inline std::vector<std::uint8_t> padded_flags(std::int32_t stride, Wanted wanted) {
  std::vector<std::uint8_t> flags(wanted.begin(), wanted.end());
  flags.resize(static_cast<std::size_t>(stride), wanted.empty() ? std::uint8_t{1} : std::uint8_t{0});
  return flags;
}

template <class T>
std::vector<T> padded(std::span<const double> values, std::int32_t stride) {
  std::vector<T> result(static_cast<std::size_t>(stride), T(0));
  for (std::size_t t = 0; t < values.size(); ++t) result[t] = static_cast<T>(values[t]);
  return result;
}

/// The wanted columns as runs of neighbours: tasks of one phase mostly stand side by side.
inline std::vector<Range> wanted_runs(std::int32_t stride, Wanted wanted) {
  const auto flags = padded_flags(stride, wanted);
  std::vector<Range> runs;
  for (std::int32_t t = 0; t < stride; ++t) {
    if (flags[static_cast<std::size_t>(t)] == 0) continue;
    if (runs.empty() || runs.back().end != t) runs.push_back({t, t});
    ++runs.back().end;
  }
  return runs;
}

template <class Element>
void over_runs(Range range, std::int32_t stride, const std::vector<Range>& runs, Element&& element) {
  for (std::int64_t i = range.begin; i < range.end; ++i)
    for (const Range& run : runs)
      for (auto t = static_cast<std::int32_t>(run.begin); t < run.end; ++t) element(i * stride + t, t);
}

template <class Element>
void over_rows(Range range, std::int32_t stride, Element&& element) {
  for (std::int64_t i = range.begin; i < range.end; ++i)
    for (std::int32_t t = 0; t < stride; ++t) element(i * stride + t, t);
}

template <class Element>
void over_elements(int threads, std::int64_t rows, std::int32_t stride, Element&& element) {
  const int team = team_for(threads, rows * stride);
  parallel_parts(team, rows, [&](Range range) { over_rows(range, stride, element); });
}

}  // namespace sheaf::linear::cpu
