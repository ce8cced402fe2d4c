// The role of each column of a CSV or ARFF file: label, event, group, order, weight, split, feature, or ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf {

struct ColumnRoles {
  std::int64_t label = -1;             ///< -1: none
  std::vector<std::int64_t> further;   ///< of several targets those behind the first
  std::int64_t event = -1;             ///< of survival; -1: none
  std::int64_t entry = -1;             ///< likewise
  std::int64_t strata = -1;            ///< likewise
  std::int64_t group = -1;             ///< -1: none
  std::int64_t order = -1;             ///< likewise
  std::int64_t weight = -1;            ///< likewise
  std::int64_t split = -1;             ///< likewise
  std::int64_t id = -1;                ///< names the rows; -1: none
  std::vector<bool> ignored;           ///< one for each column
  std::vector<bool> nominal;           ///< one for each column: its values are levels even if they are numbers
  std::vector<std::int64_t> features;  ///< the columns that are features, ascending
  std::vector<std::string> notes;      ///< what was decided without an option

  /// The label, or all targets in their order.
  std::vector<std::int64_t> labels() const;
  /// Whether a column is the event, the group, a further target, or holds times, weights or folds of rows, so that it
  /// is neither label nor feature.
  bool taken(std::int64_t column) const;
  std::int64_t columns() const { return static_cast<std::int64_t>(ignored.size()); }
};

/// Chooses the roles of columns by the options; `names` holds a name or "" for each column. `by_name`: without such an
/// option, a column called label, class, target, y, diagnosis or the like is the label, else the last one. If the
/// options name a model, its columns come first: other columns are ignored, and only the model's label is a label.
/// `row_names`: so many columns at the beginning only name the rows. `id`: the column that names them, which the
/// dataset keeps; -1: none.
ColumnRoles choose_columns(const Reading& reading, const std::vector<std::string>& names, bool by_name,
                           std::int64_t row_names = 0, std::int64_t id = -1);

/// The columns that are meant, each by its name or position; one that is not there is a UsageError.
std::vector<std::int64_t> find_columns(const Reading& reading, const std::vector<std::string>& names,
                                       const std::vector<std::string>& wanted);

/// The name of a column, else its position.
std::string name_or_position(const std::vector<std::string>& names, std::int64_t column);

/// "a, b, c and 7 more".
std::string some_names(const std::vector<std::string>& names);

/// Whether a header cell means that its column is the label.
bool means_label(const std::string& name);

/// The names of the features; empty when each is only its position.
std::vector<std::string> feature_names(const std::vector<std::string>& names, const ColumnRoles& roles);

}  // namespace sheaf
