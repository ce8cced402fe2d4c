// Columns of labels, groups, times, weights or folds: kept as text and as numbers. Labels and groups are numbered by
// first appearance.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// One field in each row. Rows are set in any order, from any thread.
class TextColumn {
 public:
  TextColumn() = default;
  explicit TextColumn(std::int64_t rows) : texts_(rows), numbers_(rows) {}

  /// `text` points into the file, or to the text that keep() returned.
  void set(std::int64_t row, std::string_view text, double number) {
    texts_[row] = {text.data(), static_cast<std::int64_t>(text.size())};
    numbers_[row] = number;
  }
  std::string_view keep(std::string text);

  std::int64_t rows() const { return numbers_.size(); }
  double number(std::int64_t row) const { return numbers_[row]; }
  std::string_view text(std::int64_t row) const {
    return {texts_[row].data, static_cast<std::size_t>(texts_[row].size)};
  }
  /// Moves row `from` to `to`.
  void move(std::int64_t from, std::int64_t to) {
    texts_[to] = texts_[from];
    numbers_[to] = numbers_[from];
  }

  /// Stands for a text that is no number.
  static constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

 private:
  struct Piece {
    const char* data;
    std::int64_t size;
  };
  Array<Piece> texts_;
  Array<double> numbers_;
  std::deque<std::string> kept_;
  std::mutex mutex_;
};

/// Throws for a cell of a TextColumn: with its place, or with its row if its text is not that of the file.
[[noreturn]] void fail_text(const Reading& reading, std::string_view text, std::int64_t row, std::string_view message);

struct Distinct {
  std::vector<std::int32_t> ids;  ///< of each row
  std::vector<std::string> names;
};

/// Numbers the distinct entries of the first `rows` rows by first appearance; equal numbers are one entry, however
/// spelled, and different ones two, even beyond 2^53. None when all are numbers and more than `most` distinct ones.
std::optional<Distinct> number_distinct(const Reading& reading, const TextColumn& column, std::int64_t rows,
                                        std::int64_t most);

/// The target with the task, the positive class and the order of classes from the options. A label that is no number is
/// a defect if a regression is requested.
Target make_target(const Reading& reading, const TextColumn& column, std::int64_t rows);

/// Several numeric targets. One that is no number is a defect.
Target make_targets(const Reading& reading, const std::deque<TextColumn>& columns,
                    const std::vector<std::string>& names, std::int64_t rows);

/// Makes a target of numbers one of survival: `times` is its column. Times below 0 and events that are neither 1 or
/// true nor 0 or false are defects.
void set_events(const Reading& reading, const TextColumn& times, const TextColumn& events, std::int64_t rows,
                Target& target);

struct ColumnRoles;

/// The cells of a column with the times, weights or folds of rows.
struct RowCells {
  RowCells(std::int64_t of_position, std::string_view of_what, std::int64_t rows)
      : position(of_position), what(of_what), cells(rows) {}
  std::int64_t position;
  std::string_view what;  ///< "time", "weight", "fold", "entry" or "stratum", for messages
  TextColumn cells;
};
std::deque<RowCells> make_row_cells(const ColumnRoles& roles, std::int64_t rows);

/// The values of the first `rows` rows; entries and strata go to the target, if it is of survival. Times that are
/// neither numbers nor dates, weights that are no numbers of 0 or more, names of folds that make no splits, and entries
/// that are not before the row's time are defects.
RowColumns read_row_columns(const Reading& reading, const std::deque<RowCells>& columns,
                            const std::vector<std::string>& names, std::int64_t rows, Target& target);

/// Sets ids and names of groups.
template <class T>
void set_groups(const Reading& reading, const TextColumn& column, std::int64_t rows, Dataset<T>& dataset) {
  auto groups = number_distinct(reading, column, rows, std::numeric_limits<std::int32_t>::max());
  dataset.groups = std::move(groups->ids);
  dataset.group_names = std::move(groups->names);
}

}  // namespace sheaf
