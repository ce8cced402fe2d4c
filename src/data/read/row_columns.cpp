// Columns with the times, weights or folds of rows.
#include "data/read/label_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/class_order.hpp"
#include "data/read/columns.hpp"
#include "data/text/moments.hpp"

namespace sheaf {
namespace {

constexpr std::string_view time_column = "time";
constexpr std::string_view weight_column = "weight";
constexpr std::string_view fold_column = "fold";
constexpr std::string_view entry_column = "entry";
constexpr std::string_view strata_column = "stratum";

std::vector<double> read_entries(const Reading& reading, const TextColumn& cells, std::int64_t rows,
                                 const std::vector<double>& times) {
  std::vector<double> entries;
  entries.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const double time = times[static_cast<std::size_t>(i)];
    if (!(cells.number(i) < time))
      fail_text(
          reading, cells.text(i), i,
          fmt::format("an entry must be a number below the row's time, {}, found {}", time, shown(cells.text(i))));
    entries.push_back(cells.number(i));
  }
  return entries;
}

std::vector<std::int32_t> read_times(const Reading& reading, const TextColumn& cells, std::int64_t rows,
                                     const std::string& name) {
  const auto moments = read_moments(
      rows, [&](auto i) { return cells.text(i); }, [&](auto i) { return cells.number(i); });
  if (moments.odd_row < 0) return places_of(moments.values);
  const auto text = cells.text(moments.odd_row);
  fail_text(reading, text, moments.odd_row,
            moments.ambiguous
                ? fmt::format("no row of the order {} shows whether the day or the month comes first, as in {}; write "
                              "dates as 2021-03-14",
                              shown(name), shown(text))
                : fmt::format("the order {} must be a number or a date such as 2021-03-14, found {}", shown(name),
                              shown(text)));
}

std::vector<float> read_weights(const Reading& reading, const TextColumn& cells, std::int64_t rows,
                                const std::string& name) {
  std::vector<float> weights;
  weights.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto weight = static_cast<float>(cells.number(i));
    if (!(weight >= 0) || std::isinf(weight))
      fail_text(
          reading, cells.text(i), i,
          fmt::format("the weight {} must be a number of 0 or more, found {}", shown(name), shown(cells.text(i))));
    weights.push_back(weight);
  }
  if (std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 0; }))
    fail("{}: all weights in {} are 0, so that no row is left to train on", reading.name, shown(name));
  return weights;
}

bool means_training(std::string_view name) {
  const auto lower = lower_case(name);
  return lower == "train" || lower == "training";
}

/// Numbers of folds in the order of their names; -1 stands for training in every split.
void read_folds(const Reading& reading, const TextColumn& cells, std::int64_t rows, const std::string& name,
                RowColumns& into) {
  const auto distinct = *number_distinct(reading, cells, rows, std::numeric_limits<std::int32_t>::max());
  std::vector<std::int32_t> fold(distinct.names.size(), -1);
  for (const auto place : sorted_places(distinct.names)) {
    if (means_training(distinct.names[place])) continue;
    fold[place] = static_cast<std::int32_t>(into.fold_names.size());
    into.fold_names.push_back(distinct.names[place]);
  }
  const auto folds = into.fold_names.size();
  const bool training = folds < distinct.names.size();
  if (folds == 0 || (folds == 1 && !training))
    fail("{}: all rows of the split {} are {}; names of two folds or more, or train and test, are expected",
         reading.name, shown(name), shown(distinct.names.front()));
  if (training && folds > 1)
    fail(
        "{}: the split {} has rows to train on and {}: {}; give train and test for one split, or a fold "
        "for every row",
        reading.name, shown(name), counted(folds, "other value"), some_names(into.fold_names));
  into.folds.reserve(static_cast<std::size_t>(rows));
  for (const auto id : distinct.ids) into.folds.push_back(fold[static_cast<std::size_t>(id)]);
}

}  // namespace

std::deque<RowCells> make_row_cells(const ColumnRoles& roles, std::int64_t rows) {
  std::deque<RowCells> columns;
  if (roles.entry >= 0) columns.emplace_back(roles.entry, entry_column, rows);
  if (roles.strata >= 0) columns.emplace_back(roles.strata, strata_column, rows);
  if (roles.order >= 0) columns.emplace_back(roles.order, time_column, rows);
  if (roles.weight >= 0) columns.emplace_back(roles.weight, weight_column, rows);
  if (roles.split >= 0) columns.emplace_back(roles.split, fold_column, rows);
  return columns;
}

RowColumns read_row_columns(const Reading& reading, const std::deque<RowCells>& columns,
                            const std::vector<std::string>& names, std::int64_t rows, Target& target) {
  RowColumns result;
  for (const auto& [position, what, cells] : columns) {
    const auto name = name_or_position(names, position);
    if (what == time_column) {
      result.times = read_times(reading, cells, rows, name);
      result.time_name = name;
    } else if (what == entry_column) {
      if (target.survival()) target.entries = read_entries(reading, cells, rows, target.values);
    } else if (what == strata_column) {
      if (target.survival()) target.strata = number_distinct(reading, cells, rows, rows)->ids;
    } else if (what == weight_column) {
      result.weights = read_weights(reading, cells, rows, name);
    } else {
      read_folds(reading, cells, rows, name, result);
    }
  }
  return result;
}

}  // namespace sheaf
