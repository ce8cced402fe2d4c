// Tables of states for the tests of selection: made from plain vectors, dense or sparse.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sheaf/solvers/binning.hpp>

namespace sheaf::test {

using Columns = std::vector<std::vector<std::int64_t>>;

inline std::vector<std::int32_t> count_states(const Columns& columns) {
  std::vector<std::int32_t> states;
  for (const auto& column : columns)
    states.push_back(column.empty() ? 1
                                    : static_cast<std::int32_t>(*std::max_element(column.begin(), column.end())) + 1);
  return states;
}

template <class Code>
Array<Code> dense_codes(const Columns& columns, std::int64_t rows) {
  Array<Code> codes(rows * static_cast<std::int64_t>(columns.size()));
  std::int64_t next = 0;
  for (const auto& column : columns)
    for (const std::int64_t state : column) codes[next++] = static_cast<Code>(state);
  return codes;
}

inline BinnedTable dense_table(const Columns& columns, std::int64_t rows) {
  BinnedTable table;
  table.rows = rows;
  table.features = static_cast<std::int64_t>(columns.size());
  table.states = count_states(columns);
  const bool wide = std::any_of(table.states.begin(), table.states.end(), [](auto s) { return s > 256; });
  if (wide)
    table.codes = DenseCodes(dense_codes<std::uint16_t>(columns, rows));
  else
    table.codes = DenseCodes(dense_codes<std::uint8_t>(columns, rows));
  return table;
}

/// The most frequent state of each feature is implied.
inline BinnedTable sparse_table(const Columns& columns, std::int64_t rows) {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> examples;
  std::vector<std::uint16_t> codes;
  std::vector<std::uint16_t> common;
  for (const auto& column : columns) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t state : column) ++counts[state];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::int64_t implied = most == counts.end() ? 0 : most->first;
    common.push_back(static_cast<std::uint16_t>(implied));
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (column[i] == implied) continue;
      examples.push_back(static_cast<std::int32_t>(i));
      codes.push_back(static_cast<std::uint16_t>(column[i]));
    }
    offsets.push_back(static_cast<std::int64_t>(examples.size()));
  }
  BinnedTable table;
  table.rows = rows;
  table.features = static_cast<std::int64_t>(columns.size());
  table.states = count_states(columns);
  table.codes = SparseCodes{Array<std::int64_t>::copy_of(offsets), Array<std::int32_t>::copy_of(examples),
                            Array<std::uint16_t>::copy_of(codes), Array<std::uint16_t>::copy_of(common)};
  return table;
}

inline BinnedTarget target_of(const std::vector<std::int64_t>& classes) {
  BinnedTarget target;
  std::int64_t most = -1;
  for (const std::int64_t y : classes) {
    target.classes.push_back(static_cast<std::int32_t>(y));
    most = std::max(most, y);
  }
  for (std::int64_t y = 0; y <= most; ++y) target.names.push_back(std::to_string(y));
  return target;
}

}  // namespace sheaf::test
