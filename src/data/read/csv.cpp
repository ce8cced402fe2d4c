// CSV: one record a line, fields by position, names perhaps in the first record.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/csv_layout.hpp"
#include "data/read/impute.hpp"
#include "data/read/label_column.hpp"
#include "data/read/notation.hpp"
#include "data/read/reading.hpp"
#include "data/read/storage.hpp"
#include "data/read/text_features.hpp"
#include "data/text/moments.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

template <class T>
class CsvReader {
 public:
  /// `decimal`: '.' or ','; 0: as the options and the first rows have it.
  explicit CsvReader(const Reading& reading, char decimal = 0)
      : reading_(reading),
        layout_(find_layout(reading)),
        codes_(reading.options.missing_codes),
        chunks_(cut_records(reading, {layout_.body, static_cast<std::size_t>(reading.limit() - layout_.body)})),
        is_feature_(static_cast<std::size_t>(layout_.roles.columns())) {
    for (const std::int64_t j : layout_.roles.features) is_feature_[static_cast<std::size_t>(j)] = numbers;
    find_kinds(decimal);
  }

  Dataset<T> read() {
    for (const CsvChunk& chunk : chunks_) {
      first_rows_.push_back(x_.rows);
      x_.rows += chunk.rows;
    }
    x_.columns = static_cast<std::int64_t>(layout_.roles.features.size());
    check_memory(reading_, dense_bytes(x_.rows, x_.columns, sizeof(T)),
                 fmt::format("{} of {}", counted(x_.rows, "row"), counted(x_.columns, "feature")));
    x_.values = Array<T>(x_.rows * x_.columns);
    label_columns_ = layout_.roles.labels();
    for (std::size_t c = 0; c < label_columns_.size(); ++c) labels_.emplace_back(x_.rows);
    if (layout_.roles.event >= 0) events_.emplace(x_.rows);
    if (layout_.roles.group >= 0) groups_.emplace(x_.rows);
    row_cells_ = make_row_cells(layout_.roles, x_.rows);
    unlabelled_.assign(labels_.empty() ? 0 : static_cast<std::size_t>(x_.rows), 0);
    parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
      parse_chunk(static_cast<std::size_t>(k));
      release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
      reading_.context.progress().advance(chunks_[static_cast<std::size_t>(k)].size());
    });
    read_texts();
    if (needs_comma()) return CsvReader(reading_, ',').read();
    take_texts();
    take_label_numbers();
    return finish();
  }

 private:
  static constexpr std::uint8_t numbers = 1;
  static constexpr std::uint8_t texts = 2;
  static constexpr std::uint8_t written = 3;    // numbers that parse_written_number() reads
  static constexpr std::int64_t id_cells = -2;  // in place of a feature: the names of the rows
  static constexpr std::int64_t fewest_subjects = 10;

  /// A feature whose cells are read as text, in a pass of their own.
  struct TextCells {
    TextCells(std::size_t of_column, std::int64_t of_feature, std::int64_t rows)
        : column(of_column), feature(of_feature), cells(rows) {}
    std::size_t column;
    std::int64_t feature;
    TextColumn cells;
  };

  template <class Take>
  void sample(const Take& take) const;
  void find_kinds(char decimal);
  void find_decimal(char decimal);
  bool guesses_decimal() const;
  bool needs_comma() const;
  bool is_gap(const CsvField& field) const;
  bool lacks_value(const CsvField& field) const;
  void read_texts();
  void parse_texts();
  void parse_texts(std::size_t k);
  double number_in(std::string_view text) const;
  void take_texts();
  template <class V>
  std::optional<std::vector<V>> written_numbers(std::size_t column, const TextColumn& cells, bool takes_limits,
                                                std::string_view remedy);
  bool take_numbers(const TextCells& text);
  void take_label_numbers();
  void note_spelling(std::size_t column, const Spelling& spelling, std::string_view example, std::int64_t limits,
                     std::string_view remedy);
  void check_mixed() const;
  std::vector<std::int64_t> kept_features(const Dataset<T>& dataset);
  bool holds_ids(const DenseMatrix<T>& x, std::int64_t feature, std::size_t column) const;
  bool says_whose(std::size_t column, std::int64_t distinct) const;
  void leave_out(std::size_t column, std::string_view why);
  std::deque<TextCells> parse_again(const std::vector<std::size_t>& columns);
  void leave_subjects_out(Dataset<T>& dataset);
  void fail_missing(std::size_t column, const char* at, std::string_view text);
  std::vector<std::string> known_levels(std::size_t column) const;
  void parse_chunk(std::size_t k);
  const char* parse_row(const char* at, const char* end, std::int64_t row);
  const char* parse_feature(const char* at, const char* end, std::size_t column, T& value);
  const char* parse_odd_feature(const char* at, const char* end, std::size_t column, T& value);
  T parse_written_feature(const CsvField& field, std::size_t column);
  const char* parse_other(const char* at, const char* end, std::size_t column, std::int64_t row);
  void set_text(TextColumn& column, const CsvField& field, std::int64_t row, std::string_view what);
  void leave_unlabelled_out();
  void keep_dropped();
  std::string described(std::size_t column) const;
  [[noreturn]] void fail_short(const char* at, std::size_t fields) const;
  [[noreturn]] void fail_long(const char* at, const char* end) const;
  Dataset<T> finish();

  const Reading& reading_;
  CsvLayout layout_;
  MissingCodes codes_;
  char decimal_ = '.';
  DecimalEvidence evidence_;
  std::vector<CsvChunk> chunks_;
  std::vector<std::uint8_t> is_feature_;  // of each column: 0 (it is none), numbers, written, or texts and levels
  std::vector<std::int64_t> first_rows_;
  DenseMatrix<T> x_;
  std::vector<std::int64_t> label_columns_;
  std::deque<TextColumn> labels_;  // of each of them
  std::optional<TextColumn> events_;
  std::optional<TextColumn> groups_;
  std::deque<RowCells> row_cells_;
  std::string dates_;                     // a column of dates that is left out and is in order
  std::vector<std::uint8_t> unlabelled_;  // of each row: its label is missing
  std::vector<std::int64_t> labelled_;    // the rows that stay; empty: all
  std::atomic<bool> missing_ = false;
  std::atomic<std::int64_t> limits_ = 0;          // values beyond a limit, read for a model
  std::vector<std::uint8_t> found_text_;          // of each column: the first pass found a text there
  std::deque<TextCells> texts_;                   // of columns, ascending
  std::deque<TextCells> kept_;                    // columns to carry along
  std::vector<std::vector<std::string>> levels_;  // of each feature; empty: there are none
  std::vector<bool> left_out_;                    // of each feature
  std::vector<std::size_t> dropped_;              // columns that are no features
  std::vector<std::size_t> subjects_;  // columns that are no features, since they identify the source of rows
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

/// Calls take(column, field) for the fields of the first rows until it returns false.
template <class T>
template <class Take>
void CsvReader<T>::sample(const Take& take) const {
  constexpr int sampled = 100;
  const char* at = layout_.body;
  try {
    for (int row = 0; row < sampled && (at = skip_empty_lines(at, reading_.limit())) < reading_.limit(); ++row) {
      const auto fields = next_record(reading_, layout_.delimiter, at, reading_.limit());
      for (std::size_t j = 0; j < std::min(fields.size(), is_feature_.size()); ++j)
        if (!take(j, fields[j])) return;
    }
  } catch (const ParseError&) {  // the first pass reports it, unless there is a defect before it
  }
}

template <class T>
bool CsvReader<T>::guesses_decimal() const {
  return reading_.options.decimal == 0 && (layout_.delimiter == ';' || layout_.delimiter == '\t');
}

/// A comma if one of the first rows needs it and none needs a point.
template <class T>
void CsvReader<T>::find_decimal(char decimal) {
  if (reading_.options.decimal != 0) decimal = reading_.options.decimal;
  if (guesses_decimal()) {
    sample([&](std::size_t j, const CsvField& field) {
      if (!layout_.roles.ignored[j]) evidence_.add(field.text);
      return !evidence_.point;
    });
    if (decimal == 0 && evidence_.comma && !evidence_.point) decimal = ',';
  }
  decimal_ = decimal == 0 ? '.' : decimal;
  if (decimal_ == ',' && reading_.options.decimal == 0)
    notes_.push_back(fmt::format("{}: the numbers have decimal commas (--decimal . says otherwise)", reading_.name));
}

/// Whether the columns hold numbers or, in one of the first rows, a text; the first pass leaves texts alone.
template <class T>
void CsvReader<T>::find_kinds(char decimal) {
  const auto& roles = layout_.roles;
  found_text_.assign(is_feature_.size(), 0);
  left_out_.assign(roles.features.size(), false);
  notes_ = roles.notes;
  find_decimal(decimal);
  const bool plain = decimal_ == '.' && codes_.empty();
  for (std::size_t j = 0; j < is_feature_.size(); ++j)
    if (is_feature_[j] != 0) is_feature_[j] = roles.nominal[j] ? texts : plain ? numbers : written;
  if (reading_.options.known) return;
  const auto text_stands = [&](const CsvField& field) {
    if (plain) return is_text(field);
    const auto number = parse_written_number<T>(field.text, decimal_);
    return !is_gap(field) && (number.status == NumberStatus::none || number.spelling.percent || number.spelling.limit);
  };
  sample([&](std::size_t j, const CsvField& field) {
    if (is_feature_[j] != 0 && text_stands(field)) is_feature_[j] = texts;
    return true;
  });
}

/// Whether the field is empty or a mark of a missing value.
template <class T>
bool CsvReader<T>::is_gap(const CsvField& field) const {
  return is_missing(field.text) || codes_.hold(field.text, decimal_);
}

/// Whether a later row shows that the decimal sign is a comma, after the first rows left it open.
template <class T>
bool CsvReader<T>::needs_comma() const {
  if (!guesses_decimal() || decimal_ == ',' || evidence_.point) return false;
  const auto all_numbers_with = [&](const TextColumn& cells) {
    DecimalEvidence found;
    for (std::int64_t i = 0; i < cells.rows(); ++i) {
      const auto text = cells.text(i);
      if (text.empty() || !std::isnan(cells.number(i))) continue;
      if (!parse_written_number<double>(text, ',').ok()) return false;
      found.add(text);
    }
    return found.comma && !found.point;
  };
  for (const auto& text : texts_)
    if (!layout_.roles.nominal[text.column] && all_numbers_with(text.cells)) return true;
  return std::any_of(labels_.begin(), labels_.end(), all_numbers_with);
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
  if (layout_.roles.id >= 0) kept_.emplace_back(static_cast<std::size_t>(layout_.roles.id), id_cells, x_.rows);
  if (texts_.empty() && kept_.empty()) return;
  parse_texts();
}

template <class T>
void CsvReader<T>::parse_texts() {
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
    parse_texts(static_cast<std::size_t>(k));
    release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
  });
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
      if (lacks_value(field)) {
        cells.set(row, {field.at, 0}, number);
        continue;
      }
      number = number_in(field.text);
      cells.set(row, field.escaped ? cells.keep(checked_name(reading_, field.plain(), field.at)) : field.text, number);
    }
    for (auto& [column, feature, cells] : kept_) {
      const CsvField& field = fields[column];
      cells.set(row, field.escaped ? cells.keep(field.plain()) : field.text, TextColumn::no_number);
    }
  }
  if (row != first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
}

/// TextColumn::no_number for a text, and for a number with a sign that adds to its value.
template <class T>
double CsvReader<T>::number_in(std::string_view text) const {
  double number = 0;
  if (decimal_ == '.') return parse_whole_number(text, number) == NumberStatus::ok ? number : TextColumn::no_number;
  const auto one = parse_written_number<double>(text, decimal_);
  return one.ok() && !one.spelling.percent && !one.spelling.limit ? one.value : TextColumn::no_number;
}

/// The values of texts, if all of them are numbers however they are written, and some not plainly.
template <class T>
template <class V>
std::optional<std::vector<V>> CsvReader<T>::written_numbers(std::size_t column, const TextColumn& cells,
                                                            bool takes_limits, std::string_view remedy) {
  std::vector<V> values(static_cast<std::size_t>(cells.rows()), std::numeric_limits<V>::quiet_NaN());
  Spelling all;
  std::string_view example;
  DecimalEvidence evidence = evidence_;
  std::int64_t present = 0, percents = 0, limits = 0;
  for (std::int64_t i = 0; i < cells.rows(); ++i) {
    const auto cell = cells.text(i);
    if (cell.empty()) continue;
    const auto number = parse_written_number<V>(cell, decimal_);
    if (!number.ok() || (number.spelling.limit && !takes_limits)) return std::nullopt;
    values[static_cast<std::size_t>(i)] = number.value;
    ++present;
    percents += number.spelling.percent ? 1 : 0;
    limits += number.spelling.limit ? 1 : 0;
    all.grouped |= number.spelling.grouped;
    if (guesses_decimal()) evidence.add(cell);
    const auto& said = number.spelling;
    if (example.empty() && (said.grouped || said.percent || said.limit)) example = cell;
  }
  if (example.empty() || limits == present || (percents > 0 && percents < present)) return std::nullopt;
  if (guesses_decimal() && decimal_ == '.' && evidence.ambiguous && !evidence.point)
    fail_text(reading_, example, 0,
              fmt::format("the comma in {} of {} can be a decimal comma or stand between thousands; say --decimal , or "
                          "--decimal .",
                          shown(example), described(column)));
  all.percent = percents > 0;
  note_spelling(column, all, example, limits, remedy);
  return values;
}

/// Numbers in place of texts.
template <class T>
bool CsvReader<T>::take_numbers(const TextCells& text) {
  const auto& cells = text.cells;
  const auto values = written_numbers<T>(text.column, cells, true, "--nominal takes the values as levels");
  if (!values) return false;
  for (std::int64_t i = 0; i < cells.rows(); ++i) {
    if (cells.text(i).empty()) fail_missing(text.column, cells.text(i).data(), cells.text(i));
    x_.values[i * x_.columns + text.feature] = (*values)[static_cast<std::size_t>(i)];
  }
  return true;
}

/// The same for labels, unless they are said to be classes.
template <class T>
void CsvReader<T>::take_label_numbers() {
  if (reading_.options.task == LabelKind::classes) return;
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    auto& cells = labels_[c];
    bool plain = true;
    for (std::int64_t i = 0; i < cells.rows() && plain; ++i)
      plain = cells.text(i).empty() || !std::isnan(cells.number(i));
    if (plain) continue;
    const auto values = written_numbers<double>(static_cast<std::size_t>(label_columns_[c]), cells, false,
                                                "--task classification takes the values as classes");
    for (std::int64_t i = 0; values && i < cells.rows(); ++i) {
      const double number = (*values)[static_cast<std::size_t>(i)];
      if (!cells.text(i).empty()) cells.set(i, cells.keep(fmt::format("{}", number)), number);
    }
  }
}

template <class T>
void CsvReader<T>::note_spelling(std::size_t column, const Spelling& spelling, std::string_view example,
                                 std::int64_t limits, std::string_view remedy) {
  const auto say = [&](std::string_view what) {
    notes_.push_back(fmt::format("{}: {} {} ({})", reading_.name, described(column), what, remedy));
  };
  if (spelling.grouped) say(fmt::format("has signs between thousands, as in {}, which are left out", shown(example)));
  if (spelling.percent)
    say(fmt::format("is in per cent: the value of {} is the number before the sign", shown(example)));
  if (limits > 0)
    say(fmt::format("has {} beyond a limit of measurement, as in {}, which {} read as the limit itself",
                    counted(limits, "value"), shown(example), limits == 1 ? "is" : "are"));
}

/// A column that holds numbers and texts is a defect: it is unknown which of them are wrong.
template <class T>
void CsvReader<T>::check_mixed() const {
  const TextCells* first = nullptr;
  std::int64_t row = x_.rows;
  for (const auto& text : texts_) {
    const bool read = layout_.roles.nominal[text.column] || is_feature_[text.column] == written;
    const auto found = read ? x_.rows : find_mixed(text.cells);
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
                  "--nominal {}; if that stands for a missing value, --missing-codes",
                  described(first->column), shown(text), name.empty() ? std::to_string(first->column + 1) : name));
}

template <class T>
void CsvReader<T>::leave_out(std::size_t column, std::string_view why) {
  dropped_.push_back(column);
  if (reading_.options.keep_left_out) return;
  notes_.push_back(
      fmt::format("{}: {} is left out: {} (--nominal takes it as a feature)", reading_.name, described(column), why));
}

bool dates_in_order(const TextColumn& cells) {
  return are_in_order(read_moments(
                          cells.rows(), [&](auto i) { return cells.text(i); }, [&](auto i) { return cells.number(i); })
                          .values);
}

/// Levels in place of texts.
template <class T>
void CsvReader<T>::take_texts() {
  for (const auto& text : texts_)
    if (!layout_.roles.nominal[text.column] && take_numbers(text)) is_feature_[text.column] = written;
  check_mixed();
  std::vector<std::string> nominal;
  for (const auto& [column, feature, cells] : texts_) {
    if (is_feature_[column] == written) continue;
    const auto f = static_cast<std::size_t>(feature);
    const auto made = make_text_feature(reading_, cells, layout_.roles.nominal[column], known_levels(column));
    if (!made.dates && says_whose(column, made.distinct)) {
      left_out_[f] = true;
      subjects_.push_back(column);
      continue;
    }
    if (!made.left_out.empty()) {
      const auto name = name_or_position(layout_.names, static_cast<std::int64_t>(column));
      left_out_[f] = true;
      if (made.dates && layout_.roles.order < 0)
        leave_out(column, fmt::format("{}; search --split time --order {} tests later rows than a model learns from",
                                      made.left_out, name));
      else
        leave_out(column, made.left_out);
      if (made.dates && dates_.empty() && dates_in_order(cells)) dates_ = name;
      continue;
    }
    if (levels_.empty()) levels_.resize(layout_.roles.features.size());
    levels_[f] = made.names;
    if (!layout_.roles.nominal[column])
      nominal.push_back(fmt::format("{} ({})",
                                    layout_.names[column].empty() ? std::to_string(column + 1) : layout_.names[column],
                                    counted(made.names.size(), "level")));
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

/// Whether a column that no option names identifies the source of rows, by its name and its number of values. With few
/// values it may be a feature: a family of plants, a strain of mice.
template <class T>
bool CsvReader<T>::says_whose(std::size_t column, std::int64_t distinct) const {
  return !reading_.options.known && !layout_.roles.nominal[column] && distinct >= fewest_subjects &&
         means_group(layout_.names[column]);
}

/// Whether a column holds whole numbers that number the rows, or identify their source, and is named accordingly.
template <class T>
bool CsvReader<T>::holds_ids(const DenseMatrix<T>& x, std::int64_t feature, std::size_t column) const {
  const auto& name = layout_.names[column];
  const bool subjects = means_group(name);
  if (!subjects && !means_id(name) && !(layout_.header && name.empty() && column == 0)) return false;
  std::vector<T> values;
  for (std::int64_t i = 0; i < x.rows; ++i) values.push_back(x.values[i * x.columns + feature]);
  values.erase(std::remove_if(values.begin(), values.end(), [](T value) { return std::isnan(value); }), values.end());
  if (!std::all_of(values.begin(), values.end(), [](T value) { return value == std::floor(value); })) return false;
  if (subjects) return true;
  std::sort(values.begin(), values.end());
  constexpr T exact = T(1) / std::numeric_limits<T>::epsilon();  // larger ids may differ and be rounded to one
  const auto same = [](T a, T b) { return a == b && std::abs(a) <= exact; };
  return std::adjacent_find(values.begin(), values.end(), same) == values.end();
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
    const bool fixed = reading_.options.known || is_feature_[column] == texts || layout_.roles.nominal[column];
    if (fixed || x.rows < fewest_rows || !holds_ids(x, f, column))
      kept.push_back(f);
    else if (means_group(layout_.names[column]))
      subjects_.push_back(column);
    else
      leave_out(column, "it holds whole numbers that are all different, as ids are");
  }
  return kept;
}

/// Reads columns as texts, of the rows that stay.
template <class T>
std::deque<typename CsvReader<T>::TextCells> CsvReader<T>::parse_again(const std::vector<std::size_t>& columns) {
  texts_.clear();
  for (const auto column : columns) texts_.emplace_back(column, -1, first_rows_.back() + chunks_.back().rows);
  parse_texts();
  for (auto& text : texts_)
    for (std::size_t i = 0; i < labelled_.size(); ++i) text.cells.move(labelled_[i], static_cast<std::int64_t>(i));
  return std::move(texts_);
}

/// Columns that identify the source of rows. The first of them groups the rows, unless the options name the groups.
template <class T>
void CsvReader<T>::leave_subjects_out(Dataset<T>& dataset) {
  if (subjects_.empty()) return;
  const auto rows = dataset.rows();
  const bool guess = reading_.options.group.empty();
  for (const auto& [column, feature, cells] : parse_again(subjects_)) {
    const auto distinct = number_distinct(reading_, cells, rows, std::numeric_limits<std::int32_t>::max());
    const auto count = std::ssize(distinct->names);
    const bool gaps = std::find(distinct->names.begin(), distinct->names.end(), "") != distinct->names.end();
    if (count == rows) {
      leave_out(column, "its values are all different, as ids are");
    } else if (!guess) {
      leave_out(column, "it says whose rows they are");
    } else if (gaps || count < fewest_subjects || !dataset.groups.empty()) {
      leave_out(column, fmt::format("it says whose rows they are; --group {} keeps the rows of each together",
                                    layout_.names[column]));
    } else {
      set_groups(reading_, cells, rows, dataset);
      leave_out(column,
                "it says whose rows they are; searches keep the rows of each together, unless --group none is given");
    }
  }
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
    } else if (is_feature_[j] == written) {
      *out++ = parse_written_feature(next_field(reading_, layout_.delimiter, at, end), j);
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
  if (parse_whole_number(field.text, value) != NumberStatus::ok) value = parse_written_feature(field, column);
  return at;
}

/// Texts are left to a pass of their own, unless a model expects that the column holds numbers.
template <class T>
T CsvReader<T>::parse_written_feature(const CsvField& field, std::size_t column) {
  if (is_gap(field)) {
    fail_missing(column, field.at, field.text);
    return std::numeric_limits<T>::quiet_NaN();
  }
  const auto number = parse_written_number<T>(field.text, decimal_);
  const bool known = reading_.options.known.has_value();
  const bool as_text = number.status == NumberStatus::none || is_feature_[column] == numbers ||
                       number.spelling.percent || number.spelling.limit;
  if (number.ok() && (known || !as_text)) {
    if (number.spelling.limit) ++limits_;
    return number.value;
  }
  const bool finite = number.status == NumberStatus::ok || number.status == NumberStatus::none;
  if (finite && !known) {
    std::atomic_ref(found_text_[column]).store(1, std::memory_order_relaxed);
    return T(0);
  }
  const auto expected = number.status == NumberStatus::not_finite ? "a finite number"
                        : number.status == NumberStatus::overflow ? "a number of this precision's range"
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
    if (position == label_columns_[c]) {
      if (!lacks_value(field)) {
        set_text(labels_[c], field, row, "label");
        continue;
      }
      unlabelled_[static_cast<std::size_t>(row)] = 1;
      labels_[c].set(row, {field.at, 0}, TextColumn::no_number);
    }
  if (position == layout_.roles.event) set_text(*events_, field, row, "event");
  if (position == layout_.roles.group) set_text(*groups_, field, row, "group");
  for (auto& [own_position, what, cells] : row_cells_)
    if (position == own_position) set_text(cells, field, row, what);
  return at;
}

/// Whether the field of a label, an event or a group is missing: a word such as NA in quotes may name one.
template <class T>
bool CsvReader<T>::lacks_value(const CsvField& field) const {
  return (is_missing(field.text) && (!field.quoted || field.text.empty())) || codes_.hold(field.text, decimal_);
}

template <class T>
void CsvReader<T>::set_text(TextColumn& column, const CsvField& field, std::int64_t row, std::string_view what) {
  if (lacks_value(field)) fail_at(reading_, field.at, fmt::format("the {} is missing ({})", what, shown(field.text)));
  double number = 0;
  const NumberStatus status = parse_whole_number(field.text, number);
  if (status == NumberStatus::not_finite || status == NumberStatus::overflow)
    fail_at(reading_, field.at, fmt::format("the {} {} is not a finite number", what, shown(field.text)));
  number = number_in(field.text);
  if (decimal_ == ',' && field.text.find_first_of(".,") != std::string_view::npos && !std::isnan(number))
    column.set(row, column.keep(fmt::format("{}", number)), number);
  else
    column.set(row, field.escaped ? column.keep(checked_name(reading_, field.plain(), field.at)) : field.text, number);
}

template <class T>
std::string CsvReader<T>::described(std::size_t column) const {
  const std::string& name = layout_.names[column];
  return name.empty() ? fmt::format("column {}", column + 1) : fmt::format("column {} ({})", column + 1, shown(name));
}

template <class T>
void CsvReader<T>::fail_short(const char* at, std::size_t fields) const {
  fail_at(reading_, at,
          fmt::format("the row ends after {}; {} are expected, as in the first row", counted(fields, "field"),
                      is_feature_.size()));
}

template <class T>
void CsvReader<T>::fail_long(const char* at, const char* end) const {
  const char* extra = at + 1;
  const std::size_t more = next_record(reading_, layout_.delimiter, ++at, end).size();
  fail_at(reading_, extra,
          fmt::format("the row has {}; {} are expected, as in the first row",
                      counted(is_feature_.size() + more, "field"), is_feature_.size()));
}

/// Rows without a label teach nothing; a model predicts them, and then no label counts.
template <class T>
void CsvReader<T>::leave_unlabelled_out() {
  const auto count = std::count(unlabelled_.begin(), unlabelled_.end(), 1);
  if (count == 0) return;
  const auto rows = fmt::format("{} of {} rows", count, x_.rows);
  if (reading_.options.known) {
    if (count < x_.rows)
      notes_.push_back(
          fmt::format("{}: {} have no label, so that the predictions are not scored", reading_.name, rows));
    labels_.clear();
    events_.reset();
    return;
  }
  if (count == x_.rows) fail("{}: no row has a label; name another column (--label), or none", reading_.name);
  notes_.push_back(fmt::format("{}: {} have no label and are left out", reading_.name, rows));
  std::int64_t to = 0;
  for (std::int64_t i = 0; i < x_.rows; ++i) {
    if (unlabelled_[static_cast<std::size_t>(i)] != 0) continue;
    for (auto& column : labels_) column.move(i, to);
    if (events_) events_->move(i, to);
    if (groups_) groups_->move(i, to);
    for (auto& column : row_cells_) column.cells.move(i, to);
    labelled_.push_back(i);
    std::copy_n(x_.values.data() + i * x_.columns, x_.columns, x_.values.data() + to * x_.columns);
    ++to;
  }
  DenseMatrix<T> labelled{to, x_.columns, Array<T>(to * x_.columns)};
  std::copy_n(x_.values.data(), to * x_.columns, labelled.values.data());
  x_ = std::move(labelled);
}

/// Carries the columns along that are no features.
template <class T>
void CsvReader<T>::keep_dropped() {
  if (!reading_.options.keep_left_out || dropped_.empty()) return;
  const auto rows = first_rows_.back() + chunks_.back().rows;
  std::sort(dropped_.begin(), dropped_.end());
  for (const auto column : dropped_) kept_.emplace_back(column, -1, rows);
  texts_.clear();
  parse_texts();
}

template <class T>
Dataset<T> CsvReader<T>::finish() {
  Dataset<T> dataset;
  leave_unlabelled_out();
  if (limits_ > 0)
    notes_.push_back(fmt::format("{}: values beyond a limit of measurement (such as <0.5) are read as the limit: {}",
                                 reading_.name, limits_.load()));
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
  dataset.row_columns = read_row_columns(reading_, row_cells_, layout_.names, rows, dataset.target);
  dataset.row_columns.dates = dates_;
  dataset.feature_names = feature_names(layout_.names, layout_.roles);
  dataset.levels = std::move(levels_);
  dataset.x = std::move(x_);
  const auto kept = kept_features(dataset);
  if (kept.empty() && dataset.features() > 0)
    fail("{}: no features are left; --nominal names columns of text that are to be features", reading_.name);
  leave_subjects_out(dataset);
  if (std::ssize(kept) < dataset.features()) dataset = take_features(dataset, kept, reading_.context.threads());
  dataset.notes = std::move(notes_);
  keep_dropped();
  for (const auto& [column, feature, cells] : kept_) {
    std::vector<std::string> values;
    for (std::int64_t i = 0; i < rows; ++i)
      values.emplace_back(cells.text(labelled_.empty() ? i : labelled_[static_cast<std::size_t>(i)]));
    if (feature == id_cells) dataset.row_names = values;
    if (feature == id_cells && !reading_.options.keep_left_out) continue;
    const auto& name = layout_.names[column];
    dataset.kept.push_back({name.empty() ? std::to_string(column + 1) : name, std::move(values)});
  }
  if (missing_) impute(reading_, dataset);
  dataset.x = stored_as(reading_, std::get<DenseMatrix<T>>(std::move(dataset.x)));
  return dataset;
}

}  // namespace

template <class T>
Dataset<T> read_csv(const Reading& reading) {
  if (!reading.options.transpose) return CsvReader<T>(reading).read();
  const std::string text = transposed(reading);
  const std::string name = reading.name + " (transposed)";
  return CsvReader<T>({reading.context, text, name, reading.options, reading.chunk_bytes}).read();
}

template Dataset<float> read_csv(const Reading&);
template Dataset<double> read_csv(const Reading&);

}  // namespace sheaf
