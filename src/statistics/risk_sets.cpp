#include "statistics/risk_sets.hpp"

#include <algorithm>
#include <numeric>

namespace sheaf {
namespace {

/// Shares and fractions of the events at one time, under one column of weights.
void tie(std::span<const std::int32_t> rows, std::span<const double> events, std::span<const float> weights,
         std::size_t columns, std::size_t column, RiskTables& tables) {
  std::vector<std::size_t> tied;
  double sum = 0;
  for (const auto row : rows) {
    const auto i = static_cast<std::size_t>(row);
    const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i * columns + column]);
    if (events[i] == 0 || !(weight > 0)) continue;
    tied.push_back(i * columns + column);
    tables.shares[tied.back()] = weight;
    sum += weight;
  }
  if (tables.fractions.empty()) return;
  const auto count = static_cast<double>(tied.size());
  for (std::size_t l = 0; l < tied.size(); ++l) {
    tables.shares[tied[l]] = sum / count;
    tables.fractions[tied[l]] = static_cast<double>(l) / count;
  }
}

}  // namespace

RiskTables make_risk_tables(std::span<const double> times, std::span<const double> events,
                            std::span<const float> weights, std::int64_t columns, bool efron) {
  const auto rows = static_cast<std::int32_t>(times.size());
  const auto time = [&](std::int32_t row) { return times[static_cast<std::size_t>(row)]; };
  RiskTables tables;
  tables.order.resize(times.size());
  std::iota(tables.order.begin(), tables.order.end(), 0);
  std::stable_sort(tables.order.begin(), tables.order.end(),
                   [&](std::int32_t a, std::int32_t b) { return time(a) < time(b); });
  tables.first.resize(times.size());
  tables.last.resize(times.size());
  bool tied = false;
  for (std::int32_t begin = 0, end = 0; begin < rows; begin = end) {
    double events_here = 0;
    for (; end < rows &&
           time(tables.order[static_cast<std::size_t>(end)]) == time(tables.order[static_cast<std::size_t>(begin)]);
         ++end)
      events_here += events[static_cast<std::size_t>(tables.order[static_cast<std::size_t>(end)])] != 0 ? 1 : 0;
    tied = tied || events_here > 1;
    std::fill(tables.first.begin() + begin, tables.first.begin() + end, begin);
    std::fill(tables.last.begin() + begin, tables.last.begin() + end, end - 1);
  }
  const auto size = times.size() * static_cast<std::size_t>(columns);
  tables.shares.assign(size, 0.0);
  if (efron && tied) tables.fractions.assign(size, 0.0);
  for (std::int32_t begin = 0; begin < rows; begin = tables.last[static_cast<std::size_t>(begin)] + 1) {
    const auto count = static_cast<std::size_t>(tables.last[static_cast<std::size_t>(begin)] + 1 - begin);
    const auto here = std::span(tables.order).subspan(static_cast<std::size_t>(begin), count);
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      tie(here, events, weights, static_cast<std::size_t>(columns), c, tables);
  }
  return tables;
}

}  // namespace sheaf
