// CSV: one record a line, fields by position, names perhaps in the first record.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/budget.hpp"
#include "data/prepare/impute.hpp"
#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/label_column.hpp"
#include "data/read/reading.hpp"
#include "data/read/storage.hpp"
#include "data/read/text_features.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

bool is_number(const CsvField& field) {
  double ignored = 0;
  return parse_whole_number(field.text, ignored) == NumberStatus::ok;
}

bool is_text(const CsvField& field) {
  double ignored = 0;
  return !is_missing(field.text) && parse_whole_number(field.text, ignored) == NumberStatus::none;
}

/// Whether the first record looks like names: text, or something in quotes, above a bare number; the name of a label;
/// or no number at all.
bool looks_like_header(const std::vector<CsvField>& first, const std::vector<CsvField>& second) {
  bool numbers = false;
  bool texts = false;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const bool number = is_number(first[j]);
    const bool missing = is_missing(first[j].text);
    const bool below = j < second.size() && (is_number(second[j]) || is_missing(second[j].text));
    if (!number && !missing && below) return true;
    if (first[j].quoted && below && !second[j].quoted) return true;
    if (means_label(first[j].plain())) return true;
    numbers |= number;
    texts |= !number && !missing;
  }
  return texts && !numbers;
}

/// The delimiter, the columns and their roles, and where the rows begin.
struct CsvLayout {
  char delimiter = ',';
  std::vector<std::string> names;  // "" where there is none
  ColumnRoles roles;
  const char* body = nullptr;
  bool header = false;
};

std::vector<std::string> header_names(const Reading& reading, const std::vector<CsvField>& fields) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> seen;
  for (const CsvField& field : fields) {
    names.push_back(checked_name(reading, field.plain(), field.at));
    const auto [before, added] = seen.try_emplace(names.back(), names.size());
    if (!added && !names.back().empty())
      fail_at(reading, field.at,
              fmt::format("the name {} stands twice in the header: columns {} and {}", shown(names.back()),
                          before->second, names.size()));
  }
  return names;
}

CsvLayout find_layout(const Reading& reading) {
  if (reading.options.delimiter != 0) check_delimiter(reading.options.delimiter);
  const char* end = reading.limit();
  const char* at = skip_empty_lines(reading.text.data(), end);
  if (at == end) fail("{}: holds no rows", reading.name);
  CsvLayout layout;
  layout.delimiter = reading.options.delimiter != 0 ? reading.options.delimiter : find_delimiter(at, end);
  layout.body = at;
  auto first = next_record(reading, layout.delimiter, at, end);
  const char* rest = skip_empty_lines(at, end);
  std::vector<CsvField> second;
  if (const char* next = rest; next < end) second = next_record(reading, layout.delimiter, next, end);
  const bool header = reading.options.header == Header::yes ||
                      (reading.options.header == Header::automatic && looks_like_header(first, second));
  if (header && second.empty()) fail("{}: holds a header and no rows", reading.name);
  // Some programs end the line of names with a delimiter, and only that.
  if (header && first.back().text.empty() && first.size() == second.size() + 1) first.pop_back();
  if (header) layout.body = rest;
  layout.names = header ? header_names(reading, first) : std::vector<std::string>(first.size());
  layout.header = header;
  layout.roles = choose_columns(reading, layout.names, true);
  if (!header && reading.options.header == Header::automatic && reading.options.label.empty() &&
      !reading.options.known && layout.roles.label >= 0)
    layout.roles.notes.push_back(
        fmt::format("{}: the first line holds no names (--header yes: it does), so that columns are known by their "
                    "positions and the last, {}, is taken as the label (--label names another)",
                    reading.name, layout.roles.label + 1));
  return layout;
}

template <class T>
class CsvReader {
 public:
  explicit CsvReader(const Reading& reading)
      : reading_(reading),
        layout_(find_layout(reading)),
        chunks_(cut_records(reading, {layout_.body, static_cast<std::size_t>(reading.limit() - layout_.body)})),
        is_feature_(static_cast<std::size_t>(layout_.roles.columns())) {
    for (const std::int64_t j : layout_.roles.features) is_feature_[static_cast<std::size_t>(j)] = 1;
    find_texts();
  }

  Dataset<T> read() {
    for (const CsvChunk& chunk : chunks_) {
      first_rows_.push_back(x_.rows);
      x_.rows += chunk.rows;
    }
    x_.columns = static_cast<std::int64_t>(layout_.roles.features.size());
    check_memory(reading_, dense_bytes(x_.rows, x_.columns, sizeof(T)),
                 fmt::format("{} rows of {} features", x_.rows, x_.columns));
    x_.values = Array<T>(x_.rows * x_.columns);
    label_columns_ = layout_.roles.labels();
    for (std::size_t c = 0; c < label_columns_.size(); ++c) labels_.emplace_back(x_.rows);
    if (layout_.roles.event >= 0) events_.emplace(x_.rows);
    if (layout_.roles.group >= 0) groups_.emplace(x_.rows);
    parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
      parse_chunk(static_cast<std::size_t>(k));
      let_go(reading_, chunks_[static_cast<std::size_t>(k)]);
      reading_.context.progress().advance(chunks_[static_cast<std::size_t>(k)].size());
    });
    read_texts();
    return finish();
  }

 private:
  static constexpr std::uint8_t numbers = 1;
  static constexpr std::uint8_t texts = 2;

  /// A feature whose cells are read as text, in a pass of their own.
  struct TextCells {
    TextCells(std::size_t of_column, std::int64_t of_feature, std::int64_t rows)
        : column(of_column), feature(of_feature), cells(rows) {}
    std::size_t column;
    std::int64_t feature;
    TextColumn cells;
  };

  void find_texts();
  void read_texts();
  void parse_texts(std::size_t k);
  void take_texts();
  void check_mixed() const;
  std::vector<std::int64_t> kept_features(const Dataset<T>& dataset);
  void leave_out(std::size_t column, std::string_view why);
  void fail_missing(std::size_t column, const char* at, std::string_view text);
  std::vector<std::string> known_levels(std::size_t column) const;
  void parse_chunk(std::size_t k);
  const char* parse_row(const char* at, const char* end, std::int64_t row);
  const char* parse_feature(const char* at, const char* end, std::size_t column, T& value);
  const char* parse_odd_feature(const char* at, const char* end, std::size_t column, T& value);
  const char* parse_other(const char* at, const char* end, std::size_t column, std::int64_t row);
  void set_text(TextColumn& column, const CsvField& field, std::int64_t row, std::string_view what);
  std::string described(std::size_t column) const;
  [[noreturn]] void fail_short(const char* at, std::size_t fields) const;
  [[noreturn]] void fail_long(const char* at, const char* end) const;
  Dataset<T> finish();

  const Reading& reading_;
  CsvLayout layout_;
  std::vector<CsvChunk> chunks_;
  std::vector<std::uint8_t> is_feature_;  // of each column: 0 (it is none), numbers, or texts and levels
  std::vector<std::int64_t> first_rows_;
  DenseMatrix<T> x_;
  std::vector<std::int64_t> label_columns_;
  std::deque<TextColumn> labels_;  // of each of them
  std::optional<TextColumn> events_;
  std::optional<TextColumn> groups_;
  std::atomic<bool> missing_ = false;
  std::vector<std::uint8_t> found_text_;          // of each column: the first pass found a text there
  std::deque<TextCells> texts_;                   // of columns, ascending
  std::deque<TextCells> kept_;                    // columns to carry along
  std::vector<std::vector<std::string>> levels_;  // of each feature; empty: there are none
  std::vector<bool> left_out_;                    // of each feature
  std::vector<std::string> notes_;
};

/// The levels that a model has of a column.
template <class T>
std::vector<std::string> CsvReader<T>::known_levels(std::size_t column) const {
  const auto& known = reading_.options.known;
  if (!known || known->levels.empty()) return {};
  const auto& features = layout_.roles.features;
  auto place = std::find(features.begin(), features.end(), static_cast<std::int64_t>(column)) - features.begin();
  if (!known->features.empty() && !layout_.names[column].empty())
    place = std::find(known->features.begin(), known->features.end(), layout_.names[column]) - known->features.begin();
  return place < std::ssize(known->levels) ? known->levels[static_cast<std::size_t>(place)]
                                           : std::vector<std::string>();
}

/// Columns that hold text in the first rows; the first pass leaves them alone.
template <class T>
void CsvReader<T>::find_texts() {
  constexpr int sampled = 100;
  const auto& roles = layout_.roles;
  found_text_.assign(is_feature_.size(), 0);
  for (std::size_t j = 0; j < is_feature_.size(); ++j)
    if (is_feature_[j] != 0 && roles.nominal[j]) is_feature_[j] = texts;
  left_out_.assign(roles.features.size(), false);
  notes_ = roles.notes;
  if (reading_.options.known) return;
  const char* at = layout_.body;
  try {
    for (int row = 0; row < sampled && (at = skip_empty_lines(at, reading_.limit())) < reading_.limit(); ++row) {
      const auto fields = next_record(reading_, layout_.delimiter, at, reading_.limit());
      for (std::size_t j = 0; j < std::min(fields.size(), is_feature_.size()); ++j)
        if (is_feature_[j] != 0 && is_text(fields[j])) is_feature_[j] = texts;
    }
  } catch (const ParseError&) {  // the first pass reports it, unless there is a defect before it
  }
}

template <class T>
void CsvReader<T>::read_texts() {
  for (std::size_t j = 0, feature = 0; j < is_feature_.size(); ++j) {
    if (found_text_[j] != 0) is_feature_[j] = texts;
    if (is_feature_[j] == texts) texts_.emplace_back(j, static_cast<std::int64_t>(feature), x_.rows);
    feature += is_feature_[j] != 0 ? 1 : 0;
  }
  for (const auto j : find_columns(reading_, layout_.names, reading_.options.keep))
    kept_.emplace_back(static_cast<std::size_t>(j), -1, x_.rows);
  if (texts_.empty() && kept_.empty()) return;
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()),
               [&](std::int64_t k) { parse_texts(static_cast<std::size_t>(k)); });
  take_texts();
}

template <class T>
void CsvReader<T>::parse_texts(std::size_t k) {
  const char* const end = chunks_[k].end;
  std::int64_t row = first_rows_[k];
  for (const char* at = chunks_[k].begin; (at = skip_empty_lines(at, end)) < end; ++row) {
    const auto fields = next_record(reading_, layout_.delimiter, at, end);
    if (row == first_rows_[k] + chunks_[k].rows || fields.size() != is_feature_.size()) fail_changed(reading_);
    for (auto& [column, feature, cells] : texts_) {
      const CsvField& field = fields[column];
      double number = TextColumn::no_number;
      if (is_missing(field.text) && (!field.quoted || field.text.empty())) {
        cells.set(row, {field.at, 0}, number);
        continue;
      }
      if (parse_whole_number(field.text, number) != NumberStatus::ok) number = TextColumn::no_number;
      cells.set(row, field.escaped ? cells.keep(checked_name(reading_, field.plain(), field.at)) : field.text, number);
    }
    for (auto& [column, feature, cells] : kept_) {
      const CsvField& field = fields[column];
      cells.set(row, field.escaped ? cells.keep(field.plain()) : field.text, TextColumn::no_number);
    }
  }
  if (row != first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
}

/// A column that holds numbers and texts is a defect: which of them are wrong, nobody can tell.
template <class T>
void CsvReader<T>::check_mixed() const {
  const TextCells* first = nullptr;
  std::int64_t row = x_.rows;
  for (const auto& text : texts_) {
    const auto found = layout_.roles.nominal[text.column] ? x_.rows : find_mixed(text.cells);
    if (found >= row) continue;
    first = &text;
    row = found;
  }
  if (first == nullptr) return;
  const auto text = first->cells.text(row);
  const auto& name = layout_.names[first->column];
  fail_text(
      reading_, text, row,
      fmt::format("a number expected in {}, found {}; if its values are levels of a nominal feature, say "
                  "--nominal {}",
                  described(first->column), shown(text), name.empty() ? std::to_string(first->column + 1) : name));
}

template <class T>
void CsvReader<T>::leave_out(std::size_t column, std::string_view why) {
  notes_.push_back(
      fmt::format("{}: {} is left out: {} (--nominal takes it as a feature)", reading_.name, described(column), why));
}

/// Levels in place of texts.
template <class T>
void CsvReader<T>::take_texts() {
  check_mixed();
  std::vector<std::string> nominal;
  for (const auto& [column, feature, cells] : texts_) {
    const auto f = static_cast<std::size_t>(feature);
    const auto made = make_text_feature(reading_, cells, layout_.roles.nominal[column], known_levels(column));
    if (!made.left_out.empty()) {
      left_out_[f] = true;
      leave_out(column, made.left_out);
      continue;
    }
    if (levels_.empty()) levels_.resize(layout_.roles.features.size());
    levels_[f] = made.names;
    if (!layout_.roles.nominal[column])
      nominal.push_back(fmt::format("{} ({} levels)",
                                    layout_.names[column].empty() ? std::to_string(column + 1) : layout_.names[column],
                                    made.names.size()));
    if (!reading_.options.known && layout_.roles.group < 0 && means_group(layout_.names[column]))
      notes_.push_back(fmt::format("{}: {} looks like whose rows they are; --group {} keeps the rows of each together",
                                   reading_.name, described(column), layout_.names[column]));
    for (std::int64_t i = 0; i < x_.rows; ++i) {
      const auto level = made.levels[static_cast<std::size_t>(i)];
      if (level < 0) fail_missing(column, cells.text(i).data(), cells.text(i));
      x_.values[i * x_.columns + feature] = level < 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(level);
    }
  }
  if (!nominal.empty())
    notes_.push_back(fmt::format("{}: columns of text are nominal features: {}", reading_.name, some_names(nominal)));
}

/// Without those that were left out, and without ids that are numbers.
template <class T>
std::vector<std::int64_t> CsvReader<T>::kept_features(const Dataset<T>& dataset) {
  constexpr std::int64_t fewest_rows = 10;
  const auto& x = std::get<DenseMatrix<T>>(dataset.x);
  std::vector<std::int64_t> kept;
  for (std::int64_t f = 0; f < x.columns; ++f) {
    const auto column = static_cast<std::size_t>(layout_.roles.features[static_cast<std::size_t>(f)]);
    if (left_out_[static_cast<std::size_t>(f)]) continue;
    const auto& name = layout_.names[column];
    const bool named_id = means_id(name) || (layout_.header && name.empty() && column == 0);
    if (!reading_.options.known && is_feature_[column] == numbers && x.rows >= fewest_rows && named_id) {
      std::vector<T> values;
      for (std::int64_t i = 0; i < x.rows; ++i) values.push_back(x.values[i * x.columns + f]);
      std::sort(values.begin(), values.end());
      const bool whole = std::all_of(values.begin(), values.end(), [](T value) { return value == std::floor(value); });
      constexpr T exact = T(1) / std::numeric_limits<T>::epsilon();  // larger ids may differ and be rounded to one
      const auto same = [](T a, T b) { return a == b && std::abs(a) <= exact; };
      if (whole && std::adjacent_find(values.begin(), values.end(), same) == values.end()) {
        leave_out(column, "it holds whole numbers that are all different, as ids are");
        continue;
      }
    }
    kept.push_back(f);
  }
  return kept;
}

template <class T>
void CsvReader<T>::parse_chunk(std::size_t k) {
  const char* const end = chunks_[k].end;
  std::int64_t row = first_rows_[k];
  for (const char* at = chunks_[k].begin; (at = skip_empty_lines(at, end)) < end;) {
    if (row == first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
    at = parse_row(at, end, row++);
  }
  if (row != first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
}

template <class T>
const char* CsvReader<T>::parse_row(const char* at, const char* end, std::int64_t row) {
  T* out = x_.values.data() + row * x_.columns;
  for (std::size_t j = 0; j < is_feature_.size(); ++j) {
    if (j > 0) {
      if (at == end || *at != layout_.delimiter) [[unlikely]]
        fail_short(at, j);
      ++at;
    }
    if (is_feature_[j] == numbers) [[likely]] {
      at = parse_feature(at, end, j, *out++);
    } else if (is_feature_[j] == texts) {
      next_field(reading_, layout_.delimiter, at, end);
      ++out;
    } else {
      at = parse_other(at, end, j, row);
    }
  }
  if (at < end && *at == '\r') ++at;
  if (at < end && *at != '\n') [[unlikely]]
    fail_long(at, end);
  return std::min(at + 1, end);
}

template <class T>
const char* CsvReader<T>::parse_feature(const char* at, const char* end, std::size_t column, T& value) {
  const Number<T> number = parse_number<T>(at, reading_.limit());
  value = number.value;
  if (number.status == NumberStatus::ok) [[likely]]
    if (number.end == end || *number.end == layout_.delimiter || *number.end == '\n') [[likely]]
      return number.end;
  return parse_odd_feature(at, end, column, value);
}

/// Fields with blanks around the number, quotes, a missing value, or no number.
template <class T>
const char* CsvReader<T>::parse_odd_feature(const char* at, const char* end, std::size_t column, T& value) {
  const CsvField field = next_field(reading_, layout_.delimiter, at, end);
  const NumberStatus status = parse_whole_number(field.text, value);
  if (status == NumberStatus::ok) return at;
  if (is_missing(field.text)) {
    fail_missing(column, field.at, field.text);
    value = std::numeric_limits<T>::quiet_NaN();
    return at;
  }
  if (status == NumberStatus::none && !reading_.options.known) {
    std::atomic_ref(found_text_[column]).store(1, std::memory_order_relaxed);
    return at;
  }
  const auto expected = status == NumberStatus::not_finite ? "a finite number"
                        : status == NumberStatus::overflow ? "a number of this precision's range"
                                                           : "a number";
  fail_at(reading_, field.at,
          fmt::format("{} expected in {}, found {}", expected, described(column), shown(field.text)));
}

/// Missing values are allowed, or a defect.
template <class T>
void CsvReader<T>::fail_missing(std::size_t column, const char* at, std::string_view text) {
  missing_ = true;
  if (reading_.options.missing != Missing::error) return;
  fail_at(reading_, at,
          fmt::format("the value of {} is missing ({}); fill in missing values (--missing median; fit and search: "
                      "--impute median), or leave the column "
                      "out (--ignore)",
                      described(column), shown(text)));
}

template <class T>
const char* CsvReader<T>::parse_other(const char* at, const char* end, std::size_t column, std::int64_t row) {
  const CsvField field = next_field(reading_, layout_.delimiter, at, end);
  const auto position = static_cast<std::int64_t>(column);
  for (std::size_t c = 0; c < label_columns_.size(); ++c)
    if (position == label_columns_[c]) set_text(labels_[c], field, row, "label");
  if (position == layout_.roles.event) set_text(*events_, field, row, "event");
  if (position == layout_.roles.group) set_text(*groups_, field, row, "group");
  return at;
}

template <class T>
void CsvReader<T>::set_text(TextColumn& column, const CsvField& field, std::int64_t row, std::string_view what) {
  if (is_missing(field.text) && (!field.quoted || field.text.empty()))
    fail_at(reading_, field.at, fmt::format("the {} is missing ({})", what, shown(field.text)));
  double number = 0;
  const NumberStatus status = parse_whole_number(field.text, number);
  if (status == NumberStatus::not_finite || status == NumberStatus::overflow)
    fail_at(reading_, field.at, fmt::format("the {} {} is not a finite number", what, shown(field.text)));
  if (status == NumberStatus::none) number = TextColumn::no_number;
  column.set(row, field.escaped ? column.keep(checked_name(reading_, field.plain(), field.at)) : field.text, number);
}

template <class T>
std::string CsvReader<T>::described(std::size_t column) const {
  const std::string& name = layout_.names[column];
  return name.empty() ? fmt::format("column {}", column + 1) : fmt::format("column {} ({})", column + 1, shown(name));
}

template <class T>
void CsvReader<T>::fail_short(const char* at, std::size_t fields) const {
  fail_at(
      reading_, at,
      fmt::format("the row ends after {} fields; {} are expected, as in the first row", fields, is_feature_.size()));
}

template <class T>
void CsvReader<T>::fail_long(const char* at, const char* end) const {
  const char* extra = at + 1;
  const std::size_t more = next_record(reading_, layout_.delimiter, ++at, end).size();
  fail_at(reading_, extra,
          fmt::format("the row has {} fields; {} are expected, as in the first row", is_feature_.size() + more,
                      is_feature_.size()));
}

template <class T>
Dataset<T> CsvReader<T>::finish() {
  Dataset<T> dataset;
  const std::int64_t rows = x_.rows;
  if (labels_.size() > 1) {
    std::vector<std::string> names;
    for (const auto column : label_columns_) names.push_back(name_or_position(layout_.names, column));
    dataset.target = make_targets(reading_, labels_, names, rows);
  } else if (!labels_.empty()) {
    dataset.target = make_target(reading_, labels_.front(), rows);
    dataset.target.name = layout_.names[static_cast<std::size_t>(layout_.roles.label)];
  }
  if (events_) set_events(reading_, labels_.front(), *events_, rows, dataset.target);
  if (groups_) set_groups(reading_, *groups_, rows, dataset);
  dataset.feature_names = feature_names(layout_.names, layout_.roles);
  dataset.levels = std::move(levels_);
  dataset.x = std::move(x_);
  const auto kept = kept_features(dataset);
  if (kept.empty() && dataset.features() > 0)
    fail("{}: no features are left; --nominal names columns of text that are to be features", reading_.name);
  if (std::ssize(kept) < dataset.features()) dataset = take_features(dataset, kept, reading_.context.threads());
  dataset.notes = std::move(notes_);
  for (const auto& [column, feature, cells] : kept_) {
    const auto& name = layout_.names[column];
    dataset.kept.push_back({name.empty() ? std::to_string(column + 1) : name, {}});
    for (std::int64_t i = 0; i < rows; ++i) dataset.kept.back().values.emplace_back(cells.text(i));
  }
  if (missing_) impute(reading_, dataset);
  dataset.x = stored_as(reading_, std::get<DenseMatrix<T>>(std::move(dataset.x)));
  return dataset;
}

}  // namespace

template <class T>
Dataset<T> read_csv(const Reading& reading) {
  return CsvReader<T>(reading).read();
}

template Dataset<float> read_csv(const Reading&);
template Dataset<double> read_csv(const Reading&);

}  // namespace sheaf
