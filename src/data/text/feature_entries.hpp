// Rows in model files: "1:0.5 3:2", the values that are not 0.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// Collects rows of entries into a matrix, which is dense if that takes no more memory. The entries are counted before
/// they are read, so that no second copy of them is made.
class EntryRows {
 public:
  /// The next `rows` lines of the reader that are not empty are the rows. `columns`: none if the entries decide it.
  EntryRows(const ModelReader& reader, std::int64_t rows, std::optional<std::int64_t> columns)
      : rows_(rows), columns_(columns.value_or(0)) {
    reader.check_room(rows);
    const auto entries = reader.count_in_lines(':', rows);
    if (columns && is_dense(entries)) {
      dense_ = Array<double>::zeros(rows * columns_);
      return;
    }
    offsets_ = Array<std::int64_t>::zeros(rows + 1);
    indices_ = Array<std::int32_t>(entries);
    values_ = Array<double>(entries);
  }

  /// Features count from 0.
  void add(std::int32_t feature, double value) {
    if (dense_.size() > 0) {
      dense_[row_ * columns_ + feature] = value;
      return;
    }
    columns_ = std::max<std::int64_t>(columns_, feature + 1);
    indices_[entries_] = feature;
    values_[entries_++] = value;
  }
  void end_row() {
    ++row_;
    if (dense_.size() == 0) offsets_[row_] = entries_;
  }
  std::int64_t columns() const { return columns_; }
  Matrix<double> take() {
    if (dense_.size() > 0) return DenseMatrix<double>{rows_, columns_, std::move(dense_)};
    SparseMatrix<double> sparse{rows_, columns_, std::move(offsets_), std::move(indices_), std::move(values_)};
    if (is_dense(entries_)) return to_dense(sparse, 1);
    return sparse;
  }

 private:
  bool is_dense(std::int64_t entries) const {
    constexpr double dense_share = 0.5;
    return static_cast<double>(entries) > dense_share * static_cast<double>(rows_) * static_cast<double>(columns_);
  }

  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t row_ = 0;      // that is being collected
  std::int64_t entries_ = 0;  // of sparse rows so far
  Array<double> dense_;
  Array<std::int64_t> offsets_;
  Array<std::int32_t> indices_;
  Array<double> values_;
};

}  // namespace sheaf
