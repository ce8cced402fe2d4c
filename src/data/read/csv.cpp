// CSV: one record a line, fields by position, names perhaps in the first record.

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/prepare/impute.hpp"
#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/label_column.hpp"
#include "data/read/reading.hpp"
#include "data/read/storage.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

bool is_number(const CsvField& field) {
  double ignored = 0;
  return parse_whole_number(field.text, ignored) == NumberStatus::ok;
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
  layout.roles = choose_columns(reading, layout.names, true);
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
  }

  Dataset<T> read() {
    for (const CsvChunk& chunk : chunks_) {
      first_rows_.push_back(x_.rows);
      x_.rows += chunk.rows;
    }
    x_.columns = static_cast<std::int64_t>(layout_.roles.features.size());
    x_.values = Array<T>(x_.rows * x_.columns);
    if (layout_.roles.label >= 0) labels_.emplace(x_.rows);
    if (layout_.roles.group >= 0) groups_.emplace(x_.rows);
    parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
      parse_chunk(static_cast<std::size_t>(k));
      let_go(reading_, chunks_[static_cast<std::size_t>(k)]);
      reading_.context.progress().advance(chunks_[static_cast<std::size_t>(k)].size());
    });
    return finish();
  }

 private:
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
  std::vector<std::uint8_t> is_feature_;
  std::vector<std::int64_t> first_rows_;
  DenseMatrix<T> x_;
  std::optional<TextColumn> labels_;
  std::optional<TextColumn> groups_;
  std::atomic<bool> missing_ = false;
};

template <class T>
void CsvReader<T>::parse_chunk(std::size_t k) {
  const char* const end = chunks_[k].end;
  std::int64_t row = first_rows_[k];
  for (const char* at = chunks_[k].begin; (at = skip_empty_lines(at, end)) < end;) at = parse_row(at, end, row++);
  require(row == first_rows_[k] + chunks_[k].rows, "a CSV chunk holds another number of rows than counted");
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
    at = is_feature_[j] != 0 ? parse_feature(at, end, j, *out++) : parse_other(at, end, j, row);
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
    if (reading_.options.missing == Missing::error)
      fail_at(
          reading_, field.at,
          fmt::format("the value of {} is missing ({}); choose how to fill in missing values, or leave the column out",
                      described(column), shown(field.text)));
    missing_ = true;
    value = std::numeric_limits<T>::quiet_NaN();
    return at;
  }
  const auto expected = status == NumberStatus::not_finite ? "a finite number"
                        : status == NumberStatus::overflow ? "a number of this precision's range"
                                                           : "a number";
  fail_at(reading_, field.at,
          fmt::format("{} expected in {}, found {}", expected, described(column), shown(field.text)));
}

template <class T>
const char* CsvReader<T>::parse_other(const char* at, const char* end, std::size_t column, std::int64_t row) {
  const CsvField field = next_field(reading_, layout_.delimiter, at, end);
  const auto position = static_cast<std::int64_t>(column);
  if (position == layout_.roles.label) set_text(*labels_, field, row, "label");
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
  if (labels_) {
    dataset.target = make_target(reading_, *labels_, rows);
    dataset.target.name = layout_.names[static_cast<std::size_t>(layout_.roles.label)];
  }
  if (groups_) set_groups(reading_, *groups_, rows, dataset);
  dataset.feature_names = feature_names(layout_.names, layout_.roles);
  dataset.x = std::move(x_);
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
