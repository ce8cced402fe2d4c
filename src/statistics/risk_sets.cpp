#include "statistics/risk_sets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

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

/// Places of rows in the order of strata, then of `values`.
std::vector<std::int32_t> sorted(const RiskTimes& rows, const std::vector<double>& values) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t row) {
    const auto i = static_cast<std::size_t>(row);
    return std::pair(rows.strata.empty() ? 0 : rows.strata[i], values[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  return order;
}

/// first[k] and last[k]: the ends of the run of equal neighbours that place k is in.
template <class Same>
void find_runs(std::size_t count, const Same& same, std::vector<std::int32_t>& first, std::vector<std::int32_t>& last) {
  first.resize(count);
  last.resize(count);
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && same(begin, end)) ++end;
    for (auto k = begin; k < end; ++k) {
      first[k] = static_cast<std::int32_t>(begin);
      last[k] = static_cast<std::int32_t>(end - 1);
    }
  }
}

/// Which rows are not at risk yet at the time of each place, and which times passed before its row entered.
void add_entries(const RiskTimes& rows, RiskTables& tables) {
  const auto count = tables.order.size();
  const auto row_at = [&](std::size_t place) { return static_cast<std::size_t>(tables.order[place]); };
  std::vector<std::int32_t> place_of(count);
  for (std::size_t k = 0; k < count; ++k) place_of[row_at(k)] = static_cast<std::int32_t>(k);
  tables.entering = sorted(rows, rows.entries);
  for (auto& row : tables.entering) row = place_of[static_cast<std::size_t>(row)];
  const auto entry_at = [&](std::int32_t position) {
    return rows.entries[row_at(static_cast<std::size_t>(tables.entering[static_cast<std::size_t>(position)]))];
  };
  tables.absent.assign(count, -1);
  tables.before.assign(count, -1);
  std::int32_t position = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto begin = tables.stratum_first.empty() ? 0 : tables.stratum_first[k];
    const auto end = tables.stratum_last.empty() ? static_cast<std::int32_t>(count) : tables.stratum_last[k] + 1;
    position = std::max(position, begin);
    while (position < end && entry_at(position) < rows.times[row_at(k)]) ++position;
    if (position < end) tables.absent[k] = position;
    // Times up to the entry of the row.
    const auto from = tables.order.begin();
    const auto after = std::upper_bound(
        from + begin, from + end, rows.entries[row_at(k)],
        [&](double entry, std::int32_t row) { return entry < rows.times[static_cast<std::size_t>(row)]; });
    if (after != from + begin) tables.before[k] = static_cast<std::int32_t>(after - from) - 1;
  }
}

}  // namespace

RiskTables make_risk_tables(const RiskTimes& rows, std::span<const double> events, std::span<const float> weights,
                            std::int64_t columns, bool efron) {
  const auto count = rows.times.size();
  RiskTables tables;
  tables.order = sorted(rows, rows.times);
  const auto row_at = [&](std::size_t place) { return static_cast<std::size_t>(tables.order[place]); };
  const auto same_stratum = [&](std::size_t a, std::size_t b) {
    return rows.strata.empty() || rows.strata[row_at(a)] == rows.strata[row_at(b)];
  };
  const auto same_time = [&](std::size_t a, std::size_t b) {
    return rows.times[row_at(a)] == rows.times[row_at(b)] && same_stratum(a, b);
  };
  find_runs(count, same_time, tables.first, tables.last);
  if (!rows.strata.empty()) find_runs(count, same_stratum, tables.stratum_first, tables.stratum_last);
  if (!rows.entries.empty()) add_entries(rows, tables);
  const auto end_of = [&](std::size_t begin) { return static_cast<std::size_t>(tables.last[begin]) + 1; };
  bool tied = false;
  for (std::size_t begin = 0; begin < count; begin = end_of(begin)) {
    int events_here = 0;
    for (auto k = begin; k < end_of(begin); ++k) events_here += events[row_at(k)] != 0 ? 1 : 0;
    tied = tied || events_here > 1;
  }
  const auto size = count * static_cast<std::size_t>(columns);
  tables.shares.assign(size, 0.0);
  if (efron && tied) tables.fractions.assign(size, 0.0);
  for (std::size_t begin = 0; begin < count; begin = end_of(begin)) {
    const auto here = std::span(tables.order).subspan(begin, end_of(begin) - begin);
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      tie(here, events, weights, static_cast<std::size_t>(columns), c, tables);
  }
  return tables;
}

RiskSets<double> risk_sets_of(const RiskTables& tables, std::int64_t columns, std::int64_t column) {
  const auto some = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
  return {static_cast<std::int64_t>(tables.order.size()),
          tables.order.data(),
          tables.first.data(),
          tables.last.data(),
          tables.shares.data() + column,
          tables.fractions.empty() ? nullptr : tables.fractions.data() + column,
          columns,
          some(tables.stratum_first),
          some(tables.stratum_last),
          some(tables.entering),
          some(tables.absent),
          some(tables.before)};
}

}  // namespace sheaf
