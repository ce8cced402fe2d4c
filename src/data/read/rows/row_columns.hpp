// Columns that say when rows were, how much they count, or in which fold they are.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/columns.hpp"
#include "data/read/label_column.hpp"

namespace sheaf {

/// The cells of one such column.
struct RowCells {
  RowCells(std::int64_t of_position, std::string_view of_what, std::int64_t rows)
      : position(of_position), what(of_what), cells(rows) {}
  std::int64_t position;
  std::string_view what;  ///< "time", "weight" or "fold", for messages
  TextColumn cells;
};

std::deque<RowCells> make_row_cells(const ColumnRoles& roles, std::int64_t rows);

/// Of the first `rows` rows. Times that are neither numbers nor dates, weights that are no numbers of 0 or more, and
/// names of folds that make no splits are defects.
RowColumns read_row_columns(const Reading& reading, const std::deque<RowCells>& columns,
                            const std::vector<std::string>& names, std::int64_t rows);

}  // namespace sheaf
