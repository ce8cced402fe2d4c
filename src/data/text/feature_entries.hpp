// Rows in model files: "1:0.5 3:2", the values that are not 0.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <sheaf/solvers/matrix.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

/// "3:0.5 ", counted from 1; nothing for a 0.
inline void append_entry(std::int64_t feature, double value, std::string& text) {
  require_finite(value);
  if (value != 0) fmt::format_to(std::back_inserter(text), "{}:{} ", feature + 1, value);
}

/// INDEX:VALUE; the index must be above `last`.
inline std::pair<std::int32_t, double> read_entry(ModelReader& reader, std::int32_t last) {
  const auto word = reader.peek();
  const auto colon = word.find(':');
  std::int32_t index = 0;
  double value = 0;
  const auto whole = [](std::string_view text, auto& number) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
  };
  if (colon == std::string_view::npos || !whole(word.substr(0, colon), index) ||
      !whole(word.substr(colon + 1), value) || !std::isfinite(value))
    reader.fail_expected("a feature as INDEX:VALUE");
  if (index < 0 || index <= last)
    reader.fail_here(fmt::format("the index {} must be larger than the one before it, {}", index, std::max(last, 0)));
  reader.take(word);
  return {index, value};
}

/// Dense where that takes no more memory.
inline Matrix<double> matrix_of_entries(std::int64_t columns, const std::vector<std::int64_t>& offsets,
                                        const std::vector<std::int32_t>& indices, const std::vector<double>& values) {
  constexpr double dense_share = 0.5;
  const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
  SparseMatrix<double> sparse{rows, columns, Array<std::int64_t>::copy_of(offsets),
                              Array<std::int32_t>::copy_of(indices), Array<double>::copy_of(values)};
  if (static_cast<double>(values.size()) > dense_share * static_cast<double>(rows) * static_cast<double>(columns))
    return to_dense(sparse, 1);
  return sparse;
}

}  // namespace sheaf
