// From a matrix and columns about its rows to a dataset.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <span>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/matrices/metadata.hpp"
#include "data/read/columns.hpp"
#include "data/read/impute.hpp"
#include "data/read/label_column.hpp"
#include "data/read/storage.hpp"
#include "data/row_subset.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

/// Options that name one column of a role other than the label.
constexpr std::array role_options{&ReadOptions::event,       &ReadOptions::entry, &ReadOptions::strata,
                                  &ReadOptions::group,       &ReadOptions::order, &ReadOptions::weight_column,
                                  &ReadOptions::split_column};

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size();) {
    const auto comma = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

/// The columns that --label names; one whose name has a comma is one.
std::vector<std::string> label_names(const ReadOptions& options, const RowTable& table) {
  if (options.label.empty() || options.label == "none") return {};
  if (table.find(options.label) != nullptr) return {options.label};
  return split_names(options.label);
}

/// The label that is meant if none is named: that of the model, else a column that is called so. Empty: none.
std::string default_label(const ReadOptions& options, const RowTable& table) {
  if (options.known && !options.known->label.empty())
    return table.find(options.known->label) == nullptr ? std::string() : options.known->label;
  for (const auto& column : table.columns)
    if (means_label(column.name)) return column.name;
  return {};
}

/// Options for choose_columns(), which takes the last column as the label if none is named. Only a model of a matrix
/// without names may mean it: its label was a column of such a matrix.
ReadOptions with_label(ReadOptions options, const RowTable& table, bool has_names) {
  if (options.known && !has_names) options.known->features.clear();
  const bool several = options.known && !options.known->further_labels.empty();
  if (!options.label.empty() || several) return options;
  options.label = default_label(options, table);
  const bool by_names = options.known && (!options.known->label.empty() || options.known->features.empty());
  if (options.label.empty() && !by_names) options.label = "none";
  return options;
}

/// Names of the table's columns that the options request, each once.
std::vector<std::string> wanted_columns(const ReadOptions& options, const RowTable& table) {
  std::vector<std::string> wanted;
  const auto add = [&](const std::string& name) {
    if (table.find(name) != nullptr && std::find(wanted.begin(), wanted.end(), name) == wanted.end())
      wanted.push_back(name);
  };
  for (const auto& name : label_names(options, table)) add(name);
  if (options.label.empty()) add(default_label(options, table));
  if (options.label.empty() && options.known)
    for (const auto& name : options.known->further_labels) add(name);
  for (const auto role : role_options) add(options.*role);
  return wanted;
}

bool is_position(const std::string& text) {
  double number = 0;
  return parse_whole_number(std::string_view(text), number) == NumberStatus::ok;
}

/// A name that is neither in the table nor a feature is a UsageError that lists the names that exist.
void check_names(const Reading& reading, const RowTable& table, const std::vector<std::string>& features) {
  auto named = label_names(reading.options, table);
  for (const auto role : role_options)
    if (!(reading.options.*role).empty()) named.push_back(reading.options.*role);
  for (const auto& name : named) {
    if (table.find(name) != nullptr || is_position(name) ||
        std::find(features.begin(), features.end(), name) != features.end())
      continue;
    std::vector<std::string> columns;
    for (const auto& column : table.columns) columns.push_back(column.name);
    auto all = columns;
    all.insert(all.end(), features.begin(), features.end());
    const auto nearest = nearest_name(name, all);
    fail_usage("{}: there is no column {}; {}{}", reading.name, shown(name),
               columns.empty() ? "no columns describe its rows (--metadata gives some), and no feature is called so"
                               : fmt::format("the columns of its rows are {}", some_names(columns)),
               nearest.empty() ? "" : fmt::format("; did you mean {}?", shown(nearest)));
  }
}

/// The values of a feature, as texts that read back as the same numbers.
template <class T>
std::vector<std::string> cells_of(const Dataset<T>& dataset, std::int64_t feature) {
  std::vector<std::string> cells;
  cells.reserve(static_cast<std::size_t>(dataset.rows()));
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    T value = 0;
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
      value = dense->values[i * dense->columns + feature];
    } else {
      const auto& x = std::get<SparseMatrix<T>>(dataset.x);
      const auto* begin = x.indices.data() + x.offsets[i];
      const auto* end = x.indices.data() + x.offsets[i + 1];
      const auto* found = std::lower_bound(begin, end, feature);
      if (found < end && *found == feature) value = x.values[found - x.indices.data()];
    }
    cells.push_back(std::isnan(value) ? std::string() : fmt::format("{}", value));
  }
  return cells;
}

void check_names_are_text(const Reading& reading, const std::vector<std::string>& names, std::string_view what) {
  for (std::size_t j = 0; j < names.size(); ++j)
    if (!is_utf8(names[j]))
      fail("{}: the name {} of {} {} is not UTF-8 text; convert the file", reading.name, shown(names[j]), what, j + 1);
}

/// One column with a role.
struct RoleCells {
  std::int64_t position;
  std::vector<std::string> cells;
};

class RoleColumns {
 public:
  /// `cells` reads a column by its position.
  template <class Cells>
  RoleColumns(const ColumnRoles& roles, const Cells& cells) : labels_(roles.labels()) {
    auto positions = labels_;
    for (const auto position :
         {roles.event, roles.entry, roles.strata, roles.group, roles.order, roles.weight, roles.split})
      if (position >= 0) positions.push_back(position);
    for (const auto position : positions) columns_.push_back({position, cells(position)});
  }

  bool lacks_label(std::int64_t row) const {
    return std::any_of(labels_.begin(), labels_.end(),
                       [&](auto label) { return is_missing(cells(label)[static_cast<std::size_t>(row)]); });
  }
  void take(std::span<const std::int32_t> rows) {
    for (auto& column : columns_) {
      std::vector<std::string> taken;
      for (const auto row : rows) taken.push_back(std::move(column.cells[static_cast<std::size_t>(row)]));
      column.cells = std::move(taken);
    }
  }
  void fill(const Reading& reading, std::int64_t position, std::string_view what, TextColumn& column) const {
    const auto& texts = cells(position);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      if (is_missing(texts[i]))
        fail("{}: row {}: the {} is missing ({})", reading.name, row + 1, what, shown(texts[i]));
      if (!is_utf8(texts[i]))
        fail("{}: row {}: the {} {} is not UTF-8 text; convert the file", reading.name, row + 1, what, shown(texts[i]));
      double number = 0;
      const auto status = parse_whole_number(std::string_view(texts[i]), number);
      if (status == NumberStatus::not_finite || status == NumberStatus::overflow)
        fail("{}: row {}: the {} {} is not a finite number", reading.name, row + 1, what, shown(texts[i]));
      column.set(row, texts[i], status == NumberStatus::ok ? number : TextColumn::no_number);
    }
  }

 private:
  const std::vector<std::string>& cells(std::int64_t position) const {
    return std::find_if(columns_.begin(), columns_.end(), [&](const auto& one) { return one.position == position; })
        ->cells;
  }

  std::vector<std::int64_t> labels_;
  std::vector<RoleCells> columns_;
};

/// Leaves out rows without metadata and rows without a label. A model predicts them, and then nothing counts that not
/// all of them have.
template <class T>
void leave_out_rows(const Reading& reading, const std::vector<bool>& unmatched, ColumnRoles& roles,
                    RoleColumns& columns, Dataset<T>& dataset) {
  std::vector<std::int32_t> stay;
  std::int64_t unlabelled = 0;
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    const bool lacks = roles.label >= 0 && columns.lacks_label(i);
    const bool alone = !unmatched.empty() && unmatched[static_cast<std::size_t>(i)];
    unlabelled += lacks && !alone ? 1 : 0;
    if (!lacks && !alone) stay.push_back(static_cast<std::int32_t>(i));
  }
  const auto rows = fmt::format("{} of {} rows", unlabelled, dataset.rows());
  if (reading.options.known) {
    if (std::ssize(stay) == dataset.rows()) return;
    if (roles.label >= 0)
      dataset.notes.push_back(fmt::format("{}: {} of {} rows have no label, so that the predictions are not scored",
                                          reading.name, dataset.rows() - std::ssize(stay), dataset.rows()));
    roles.label = roles.event = roles.entry = roles.strata = -1;
    roles.further.clear();
    if (!unmatched.empty()) roles.group = roles.order = roles.weight = roles.split = -1;
    return;
  }
  if (stay.empty()) fail("{}: no row has a label; name another column (--label), or none", reading.name);
  if (unlabelled > 0) dataset.notes.push_back(fmt::format("{}: {} have no label and are left out", reading.name, rows));
  if (std::ssize(stay) == dataset.rows()) return;
  auto notes = std::move(dataset.notes);
  auto kept = std::move(dataset.kept);
  dataset = take_rows(dataset, stay, reading.context.threads());
  for (auto& column : kept) {
    std::vector<std::string> values;
    for (const auto row : stay) values.push_back(std::move(column.values[static_cast<std::size_t>(row)]));
    column.values = std::move(values);
  }
  dataset.notes = std::move(notes);
  dataset.kept = std::move(kept);
  columns.take(stay);
}

/// The features and behind them the columns of the table that have a role. A name in both means the table's.
template <class T>
std::vector<std::string> names_with(const Reading& reading, const Dataset<T>& dataset,
                                    const std::vector<std::string>& wanted) {
  constexpr std::int64_t bytes_for_one = 2 * sizeof(std::string);  // names and roles of a column
  check_memory(reading, dense_bytes(1, dataset.features(), bytes_for_one),
               fmt::format("names of {}", counted(dataset.features(), "feature")));
  auto names = dataset.feature_names;
  names.resize(static_cast<std::size_t>(dataset.features()));
  for (auto& name : names)
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) name.clear();
  names.insert(names.end(), wanted.begin(), wanted.end());
  return names;
}

template <class T>
void set_roles(const Reading& reading, const ColumnRoles& roles, const std::vector<std::string>& names,
               const RoleColumns& columns, Dataset<T>& dataset) {
  const auto rows = dataset.rows();
  const auto label_positions = roles.labels();
  std::deque<TextColumn> labels;
  std::vector<std::string> targets;
  for (const auto position : label_positions) {
    columns.fill(reading, position, "label", labels.emplace_back(rows));
    targets.push_back(name_or_position(names, position));
  }
  if (labels.size() > 1) dataset.target = make_targets(reading, labels, targets, rows);
  if (labels.size() == 1) {
    dataset.target = make_target(reading, labels.front(), rows);
    dataset.target.name = names[static_cast<std::size_t>(roles.label)];
  }
  if (roles.event >= 0) {
    TextColumn events(rows);
    columns.fill(reading, roles.event, "event", events);
    set_events(reading, labels.front(), events, rows, dataset.target);
  }
  if (roles.group >= 0) {
    TextColumn groups(rows);
    columns.fill(reading, roles.group, "group", groups);
    set_groups(reading, groups, rows, dataset);
  }
  auto cells = make_row_cells(roles, rows);
  if (cells.empty()) return;
  for (auto& [position, what, column] : cells) columns.fill(reading, position, what, column);
  auto found = read_row_columns(reading, cells, names, rows, dataset.target);
  auto& known = dataset.row_columns;
  if (roles.weight >= 0) known.weights = std::move(found.weights);
  if (roles.order >= 0) {
    known.times = std::move(found.times);
    known.time_name = std::move(found.time_name);
  }
  if (roles.split >= 0) {
    known.folds = std::move(found.folds);
    known.fold_names = std::move(found.fold_names);
  }
}

/// The stored values of some rows, which lie side by side.
template <class T>
std::span<const T> values_of_rows(const Matrix<T>& x, Range rows) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    return {dense->values.data() + rows.begin * dense->columns, dense->values.data() + rows.end * dense->columns};
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return {sparse.values.data() + sparse.offsets[rows.begin], sparse.values.data() + sparse.offsets[rows.end]};
}

/// Without a branch, so that vectors are compared.
template <class T>
bool are_finite(std::span<const T> values) {
  std::uint32_t others = 0;
  for (const T value : values) others |= std::abs(value) <= std::numeric_limits<T>::max() ? 0U : 1U;
  return others == 0;
}

/// An infinite value, and a missing one that nothing is put for, are Errors. Returns whether values are missing.
template <class T>
bool check_finite(const Reading& reading, const Dataset<T>& dataset) {
  constexpr std::int64_t chunk_rows = 256;
  const auto rows = dataset.rows();
  const bool keeps = reading.options.missing != Missing::error;
  std::atomic<bool> missing = false;
  parallel_for(reading.context, (rows + chunk_rows - 1) / chunk_rows, [&](std::int64_t k) {
    const Range some{k * chunk_rows, std::min((k + 1) * chunk_rows, rows)};
    if (are_finite(values_of_rows(dataset.x, some))) return;
    for (auto i = some.begin; i < some.end; ++i)
      for_row_entries(dataset.x, i, [&](std::int64_t feature, T value) {
        if (std::isfinite(value)) return;
        if (std::isnan(value)) missing = true;
        if (std::isnan(value) && keeps) return;
        fail_not_finite(reading, dataset, i, feature, value);
      });
  });
  return missing;
}

}  // namespace

template <class T>
void fail_not_finite(const Reading& reading, const Dataset<T>& dataset, std::int64_t row, std::int64_t feature,
                     T value) {
  const auto place =
      fmt::format("{}: row {}, feature {}", reading.name, row + 1,
                  dataset.feature_names.empty() ? std::to_string(feature + 1) : shown(dataset.feature_name(feature)));
  if (std::isnan(value))
    fail(
        "{}, is NaN, a missing value; fill in missing values (--missing median; fit and search: --impute "
        "median), or leave the feature out (--ignore)",
        place);
  fail("{}, is infinite{}; a finite number is expected", place,
       std::is_same_v<T, float> ? ", or too large for single precision (--precision double)" : "");
}

const RowTable::Column* RowTable::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

void check_shape(const Reading& reading, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1;
  if (rows == 0) fail("{}: holds no rows", reading.name);
  if (rows < 0 || rows > most || columns < 0 || columns > most)
    fail("{}: declares {} rows and {} features; at most {} of each are possible", reading.name, rows, columns, most);
}

std::vector<std::string> row_names_of(const Reading& reading, std::vector<std::string> names) {
  check_names_are_text(reading, names, "row");
  return names;
}

std::vector<std::string> feature_names_of(const Reading& reading, std::vector<std::string> names,
                                          std::vector<std::string>& notes) {
  check_names_are_text(reading, names, "feature");
  std::unordered_map<std::string, std::int64_t> seen;
  for (const auto& name : names) ++seen[name];
  std::vector<std::string> twice;
  std::unordered_map<std::string, std::int64_t> used;
  for (auto& name : names) {
    if (seen[name] == 1) continue;
    const auto before = used[name]++;
    if (before == 0) {
      twice.push_back(name);
      continue;
    }
    std::string longer;
    for (std::int64_t k = before; longer.empty() || seen.count(longer) > 0; ++k) longer = fmt::format("{}-{}", name, k);
    ++seen[longer];
    name = longer;
  }
  if (!twice.empty())
    notes.push_back(
        fmt::format("{}: names of features that stand more than once have numbers behind them (-1, -2 ...): {}",
                    reading.name, some_names(twice)));
  return names;
}

template <class T>
Dataset<T> finish_dataset(const Reading& reading, MatrixFile<T> file) {
  auto& dataset = file.dataset;
  const auto& options = reading.options;
  if (!options.nominal.empty())
    fail_usage("{}: --nominal is for columns of CSV files; this file holds numbers only", reading.name);
  const auto unmatched = join_metadata(reading, dataset, file.table);
  check_names(reading, file.table, dataset.feature_names);
  const auto wanted = wanted_columns(options, file.table);
  const auto features = dataset.features();
  const auto own = with_label(options, file.table, !dataset.feature_names.empty());
  const Reading chosen{reading.context, reading.text, reading.name, own, reading.chunk_bytes, reading.mapped};
  const auto names = names_with(reading, dataset, wanted);
  auto roles = choose_columns(chosen, names, false);
  std::erase_if(roles.features, [&](std::int64_t j) { return j >= features; });
  dataset.notes.insert(dataset.notes.end(), roles.notes.begin(), roles.notes.end());
  if (roles.label < 0 && options.label.empty() && !options.known && dataset.target.empty())
    dataset.notes.push_back(fmt::format("{}: holds no label; --label names a column{}", reading.name,
                                        options.metadata.empty() ? ", --metadata a file with more columns" : ""));
  RoleColumns columns(roles, [&](std::int64_t position) {
    return position < features ? cells_of(dataset, position)
                               : file.table.find(names[static_cast<std::size_t>(position)])->read();
  });
  const auto keep = [&](const std::string& name, std::vector<std::string> values) {
    if (std::none_of(dataset.kept.begin(), dataset.kept.end(), [&](const auto& one) { return one.name == name; }))
      dataset.kept.push_back({name, std::move(values)});
  };
  for (const auto& name : options.keep) {
    const auto* column = file.table.find(name);
    if (column == nullptr)
      fail_usage("{}: there is no column {} about its rows to keep (--keep)", reading.name, shown(name));
    keep(name, column->read());
  }
  if (options.keep_left_out) {
    if (!dataset.row_names.empty()) keep(options.id.empty() ? "id" : options.id, dataset.row_names);
    for (const auto& column : file.table.columns)
      if (std::find(wanted.begin(), wanted.end(), column.name) == wanted.end()) keep(column.name, column.read());
  }
  if (std::ssize(roles.features) < features) {
    auto notes = std::move(dataset.notes);
    auto kept = std::move(dataset.kept);
    dataset = take_features(dataset, roles.features, reading.context.threads());
    dataset.notes = std::move(notes);
    dataset.kept = std::move(kept);
  }
  leave_out_rows(reading, unmatched, roles, columns, dataset);
  set_roles(chosen, roles, names, columns, dataset);
  bool only_positions = true;
  for (std::size_t j = 0; j < dataset.feature_names.size() && only_positions; ++j)
    only_positions = dataset.feature_names[j] == std::to_string(j + 1);
  if (only_positions) dataset.feature_names.clear();
  if (check_finite(reading, dataset)) impute(reading, dataset);
  dataset.x = std::visit([&](auto& x) { return stored_as(reading, std::move(x)); }, dataset.x);
  return std::move(dataset);
}

template <class T>
Dataset<T> read_with_metadata(const Reading& reading, const ReadRows<T>& read) {
  auto inner = reading.options;
  auto outer = reading.options;
  const auto names = metadata_names(reading);
  RowTable table;
  for (const auto& name : names) table.columns.push_back({name, {}});
  inner.metadata.clear();
  if (inner.id.empty()) inner.id = id_column(reading);
  for (const auto role : role_options) {
    const bool joined = table.find(outer.*role) != nullptr;
    (joined ? inner : outer).*role = {};
  }
  const auto labels = label_names(outer, table);
  const bool joined = outer.label.empty() ? !default_label(outer, table).empty()
                                          : std::any_of(labels.begin(), labels.end(),
                                                        [&](const auto& name) { return table.find(name) != nullptr; });
  (joined ? inner : outer).label = "none";
  MatrixFile<T> file{read({reading.context, reading.text, reading.name, inner, reading.chunk_bytes, reading.mapped}),
                     {}};
  outer.ignore.clear();
  outer.nominal.clear();
  outer.keep.clear();
  const Reading join{reading.context, reading.text, reading.name, outer, reading.chunk_bytes, reading.mapped};
  return finish_dataset(join, std::move(file));
}

template void fail_not_finite(const Reading&, const Dataset<float>&, std::int64_t, std::int64_t, float);
template void fail_not_finite(const Reading&, const Dataset<double>&, std::int64_t, std::int64_t, double);
template Dataset<float> finish_dataset(const Reading&, MatrixFile<float>);
template Dataset<double> finish_dataset(const Reading&, MatrixFile<double>);
template Dataset<float> read_with_metadata(const Reading&, const ReadRows<float>&);
template Dataset<double> read_with_metadata(const Reading&, const ReadRows<double>&);

}  // namespace sheaf
