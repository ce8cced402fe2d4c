// ARFF, dense ("1, 2, red") and sparse ("{0 1, 2 red}", indices from 0, what is left out is 0 or the first level).
// Nominal values are stored as the index of their level.

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <optional>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/read/arff_header.hpp"
#include "data/read/columns.hpp"
#include "data/read/impute.hpp"
#include "data/read/label_column.hpp"
#include "data/read/reading.hpp"
#include "data/read/storage.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

using Kind = ArffAttribute::Kind;

bool ends_value(char c) { return is_blank(c) || c == ',' || c == '}' || c == '%' || c == '\n'; }

struct ArffChunk : Chunk {
  std::int64_t rows = 0;
  std::int64_t entries = 0;  // at most
};

ArffChunk count_chunk(Chunk chunk) {
  ArffChunk counted{chunk};
  for (const char* at = chunk.begin; at < chunk.end;) {
    const char* line = line_end(at, chunk.end);
    at = skip_arff_blanks(at, line);
    if (!at_arff_end(at, line)) {
      ++counted.rows;
      counted.entries += std::count_if(at, line, is_blank);  // one stands in every entry, behind its index
    }
    at = line + 1;
  }
  return counted;
}

template <class T>
class ArffReader {
 public:
  explicit ArffReader(const Reading& reading);
  Dataset<T> read();

 private:
  struct Value {
    T number{};
    std::string_view text;  // for labels and groups
    double exact = 0;       // likewise
    bool missing = false;
  };

  void count();
  void parse_chunk(std::size_t k);
  void parse_dense(const char* at, const char* line, std::int64_t row);
  void parse_sparse(const char* at, const char* line, std::int64_t row, std::int64_t& entry);
  std::size_t parse_index(const char*& at, const char* line, std::int64_t previous) const;
  Value parse_value(const char*& at, const char* line, std::size_t attribute);
  Value parse_numeric(const ArffAttribute& attribute, const ArffToken& token);
  Value parse_nominal(const ArffAttribute& attribute, const ArffToken& token) const;
  void take_special(std::size_t attribute, const Value& value, const char* at, std::int64_t row);
  void set_defaults(std::int64_t row);
  T feature_value(const Value& value, const char* at, std::size_t attribute);
  void check_end(const char* at, const char* line) const;
  SparseMatrix<T> compacted();
  Dataset<T> finish();

  /// The label, the event, the group, or another column about the rows.
  TextColumn& special(std::int64_t position) {
    for (std::size_t c = 0; c < labels_.size(); ++c)
      if (position == label_columns_[c]) return labels_[c];
    for (auto& column : row_cells_)
      if (position == column.position) return column.cells;
    return position == roles_.event ? *events_ : *groups_;
  }

  const Reading& reading_;
  ArffHeader header_;
  ColumnRoles roles_;
  std::vector<std::int32_t> feature_of_;  // of each attribute; -1: none
  std::vector<ArffChunk> chunks_;
  std::vector<std::int64_t> first_rows_;
  std::vector<std::int64_t> first_entries_;
  std::int64_t rows_ = 0;
  bool sparse_ = false;
  DenseMatrix<T> dense_;
  SparseMatrix<T> loose_;  // with gaps between chunks; offsets hold the entries of each row
  std::vector<std::int64_t> label_columns_;
  std::deque<TextColumn> labels_;  // of each of them
  std::optional<TextColumn> events_;
  std::optional<TextColumn> groups_;
  std::deque<RowCells> row_cells_;
  std::atomic<bool> missing_ = false;
};

template <class T>
ArffReader<T>::ArffReader(const Reading& reading) : reading_(reading), header_(read_arff_header(reading)) {
  std::vector<std::string> names;
  for (const auto& attribute : header_.attributes) names.push_back(attribute.name);
  if (!reading.options.id.empty())
    fail_usage("{}: rows of ARFF files have no ids (--id, --metadata); give the dataset as CSV", reading.name);
  if (!reading.options.keep.empty()) fail_usage("{}: columns can be kept (--keep) of CSV files only", reading.name);
  roles_ = choose_columns(reading, names, false);
  const auto text_attributes = std::erase_if(roles_.features, [&](std::int64_t position) {
    const auto& attribute = header_.attributes[static_cast<std::size_t>(position)];
    if (attribute.kind != Kind::text) return false;
    roles_.ignored[static_cast<std::size_t>(position)] = true;
    roles_.notes.push_back(fmt::format("{}: the attribute {} is left out: it has the type {}", reading.name,
                                       shown(attribute.name), attribute.type));
    return true;
  });
  if (text_attributes > 0 && roles_.features.empty()) fail("{}: no features are left", reading.name);
  feature_of_.assign(names.size(), -1);
  for (std::size_t f = 0; f < roles_.features.size(); ++f)
    feature_of_[static_cast<std::size_t>(roles_.features[f])] = static_cast<std::int32_t>(f);
}

template <class T>
Dataset<T> ArffReader<T>::read() {
  count();
  const auto features = static_cast<std::int64_t>(roles_.features.size());
  const std::int64_t most = first_entries_.back();
  check_memory(reading_,
               sparse_ ? static_cast<double>(most) * (sizeof(std::int32_t) + sizeof(T))
                       : dense_bytes(rows_, features, sizeof(T)),
               fmt::format("{} of {}", counted(rows_, "row"), counted(features, "feature")));
  if (sparse_) {
    loose_ = {rows_, features, Array<std::int64_t>(rows_ + 1), Array<std::int32_t>(most), Array<T>(most)};
  } else {
    dense_ = {rows_, features, Array<T>(rows_ * features)};
  }
  label_columns_ = roles_.labels();
  for (std::size_t c = 0; c < label_columns_.size(); ++c) labels_.emplace_back(rows_);
  if (roles_.event >= 0) events_.emplace(rows_);
  if (roles_.group >= 0) groups_.emplace(rows_);
  row_cells_ = make_row_cells(roles_, rows_);
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
    parse_chunk(static_cast<std::size_t>(k));
    release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
    reading_.context.progress().advance(chunks_[static_cast<std::size_t>(k)].size());
  });
  return finish();
}

template <class T>
void ArffReader<T>::count() {
  const std::string_view body(header_.data, static_cast<std::size_t>(reading_.limit() - header_.data));
  const auto cut = cut_lines(body, reading_.chunk_bytes);
  chunks_.resize(cut.size());
  parallel_for(reading_.context, static_cast<std::int64_t>(cut.size()), [&](std::int64_t k) {
    chunks_[static_cast<std::size_t>(k)] = count_chunk(cut[static_cast<std::size_t>(k)]);
    release_pages(reading_, cut[static_cast<std::size_t>(k)]);
  });
  std::int64_t entries = 0;
  for (const ArffChunk& chunk : chunks_) {
    first_rows_.push_back(rows_);
    first_entries_.push_back(entries);
    rows_ += chunk.rows;
    entries += chunk.entries;
  }
  first_entries_.push_back(entries);
  if (rows_ == 0) fail("{}: no rows stand behind @data", reading_.name);
  const char* at = header_.data;
  while (at < reading_.limit() && (is_blank(*at) || *at == '\n' || *at == '%'))
    at = *at == '%' ? line_end(at, reading_.limit()) : at + 1;
  sparse_ = *at == '{';
}

template <class T>
void ArffReader<T>::parse_chunk(std::size_t k) {
  const char* const end = chunks_[k].end;
  std::int64_t row = first_rows_[k];
  std::int64_t entry = first_entries_[k];
  for (const char* at = chunks_[k].begin; at < end;) {
    const char* line = line_end(at, end);
    at = skip_arff_blanks(at, line);
    if (!at_arff_end(at, line)) {
      if ((*at == '{') != sparse_)
        fail_at(reading_, at,
                sparse_ ? "a sparse row in { } expected, as the rows before"
                        : "a dense row expected, as the rows before, found '{'");
      if (row == first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
      if (sparse_)
        parse_sparse(at, line, row, entry);
      else
        parse_dense(at, line, row);
      ++row;
    }
    at = line + 1;
  }
  if (row != first_rows_[k] + chunks_[k].rows) fail_changed(reading_);
}

template <class T>
void ArffReader<T>::parse_dense(const char* at, const char* line, std::int64_t row) {
  T* out = dense_.values.data() + row * dense_.columns;
  for (std::size_t j = 0; j < feature_of_.size(); ++j) {
    at = skip_arff_blanks(at, line);
    if (at_arff_end(at, line))
      fail_at(reading_, at,
              fmt::format("the row ends after {}; there are {} attributes", counted(j, "value"), feature_of_.size()));
    const char* value_at = at;
    const Value value = parse_value(at, line, j);
    if (feature_of_[j] >= 0)
      *out++ = feature_value(value, value_at, j);
    else
      take_special(j, value, value_at, row);
    at = skip_arff_blanks(at, line);
    if (at < line && *at == ',' && j + 1 < feature_of_.size()) ++at;
  }
  check_end(at, line);
}

template <class T>
void ArffReader<T>::parse_sparse(const char* at, const char* line, std::int64_t row, std::int64_t& entry) {
  const char* open = at++;
  const std::int64_t first = entry;
  std::int64_t previous = -1;
  set_defaults(row);
  for (;;) {
    at = skip_arff_blanks(at, line);
    if (at < line && *at == '}') break;
    if (at_arff_end(at, line)) fail_at(reading_, open, "the row that opens here is not closed by } on its line");
    const std::size_t attribute = parse_index(at, line, previous);
    previous = static_cast<std::int64_t>(attribute);
    const char* value_at = at = skip_arff_blanks(at, line);
    const Value value = parse_value(at, line, attribute);
    if (feature_of_[attribute] >= 0) {
      if (entry == loose_.values.size()) fail_changed(reading_);
      loose_.indices[entry] = feature_of_[attribute];
      loose_.values[entry++] = feature_value(value, value_at, attribute);
    } else {
      take_special(attribute, value, value_at, row);
    }
    at = skip_arff_blanks(at, line);
    if (at < line && *at == ',') ++at;
  }
  check_end(skip_arff_blanks(at + 1, line), line);
  loose_.offsets[row] = entry - first;
}

template <class T>
std::size_t ArffReader<T>::parse_index(const char*& at, const char* line, std::int64_t previous) const {
  const char* begin = at;
  const char* stop = std::find_if(at, line, ends_value);
  const std::string_view token(begin, static_cast<std::size_t>(stop - begin));
  if (token.empty() || token.find_first_not_of("0123456789") != std::string_view::npos)
    fail_at(reading_, begin,
            fmt::format("the number of an attribute expected, counted from 0, found {}", shown(token)));
  std::int64_t index = 0;
  for (const char c : token)
    index = std::min<std::int64_t>(index * 10 + (c - '0'), std::numeric_limits<std::int32_t>::max());
  if (index >= static_cast<std::int64_t>(feature_of_.size()))
    fail_at(reading_, begin,
            fmt::format("there is no attribute {}: the last of {} is {}", shown(token), feature_of_.size(),
                        feature_of_.size() - 1));
  if (index <= previous)
    fail_at(reading_, begin, fmt::format("the index {} follows {}; indices must ascend within a row", index, previous));
  at = stop;
  return static_cast<std::size_t>(index);
}

template <class T>
auto ArffReader<T>::parse_value(const char*& at, const char* line, std::size_t j) -> Value {
  const ArffAttribute& attribute = header_.attributes[j];
  if (attribute.kind == Kind::numeric && feature_of_[j] >= 0) {
    const Number<T> number = parse_number<T>(at, reading_.limit());
    if (number.status == NumberStatus::ok && (number.end == line || ends_value(*number.end))) {
      at = number.end;
      return {number.value, {}, 0, false};
    }
  }
  if (at_arff_end(at, line) || *at == ',' || *at == '}' || *at == '{')
    fail_at(reading_, at,
            fmt::format("a value of {} expected{}", shown(attribute.name),
                        at == line ? "" : fmt::format(", found '{}'", *at)));
  const ArffToken token = next_arff_token(reading_, at, line);
  if (!token.quoted && token.text == "?") return {T(0), token.text, 0, true};
  if (roles_.ignored[j]) return {};
  if (attribute.kind == Kind::numeric) return parse_numeric(attribute, token);
  if (attribute.kind == Kind::nominal) return parse_nominal(attribute, token);
  return {T(0), special(static_cast<std::int64_t>(j)).keep(checked_name(reading_, token.plain(), token.at)),
          TextColumn::no_number, false};
}

template <class T>
auto ArffReader<T>::parse_numeric(const ArffAttribute& attribute, const ArffToken& token) -> Value {
  Value value{T(0), token.text, 0, false};
  NumberStatus status = parse_whole_number(token.text, value.exact);
  if (status == NumberStatus::ok) status = parse_whole_number(token.text, value.number);
  if (status == NumberStatus::ok) return value;
  const auto* const expected = status == NumberStatus::not_finite ? "a finite number"
                               : status == NumberStatus::overflow ? "a number of this precision's range"
                                                                  : "a number";
  fail_at(reading_, token.at,
          fmt::format("{} expected for {}, found {}", expected, shown(attribute.name), shown(token.text)));
}

template <class T>
auto ArffReader<T>::parse_nominal(const ArffAttribute& attribute, const ArffToken& token) const -> Value {
  const auto found = attribute.level_ids.find(token.plain());
  if (found == attribute.level_ids.end())
    fail_at(reading_, token.at,
            fmt::format("{} is none of the {} of {}", shown(token.text), counted(attribute.levels.size(), "value"),
                        shown(attribute.name)));
  const auto level = static_cast<std::size_t>(found->second);
  return {static_cast<T>(level), attribute.levels[level], attribute.level_numbers[level], false};
}

template <class T>
void ArffReader<T>::take_special(std::size_t attribute, const Value& value, const char* at, std::int64_t row) {
  const auto position = static_cast<std::int64_t>(attribute);
  if (roles_.ignored[attribute]) return;
  if (value.missing) {
    std::string_view what = position == roles_.event ? "event" : position == roles_.group ? "group" : "label";
    for (const auto& column : row_cells_)
      if (position == column.position) what = column.what;
    fail_at(reading_, at, fmt::format("the {} is missing ('?')", what));
  }
  special(position).set(row, value.text, value.exact);
}

/// The values that a sparse row leaves out.
template <class T>
void ArffReader<T>::set_defaults(std::int64_t row) {
  const auto set = [&](std::int64_t j) {
    if (j < 0) return;
    const auto& attribute = header_.attributes[static_cast<std::size_t>(j)];
    if (attribute.kind == Kind::nominal)
      special(j).set(row, attribute.levels[0], attribute.level_numbers[0]);
    else
      special(j).set(row, "0", 0);
  };
  for (const auto column : label_columns_) set(column);
  set(roles_.event);
  set(roles_.group);
  for (const auto& column : row_cells_) set(column.position);
}

template <class T>
T ArffReader<T>::feature_value(const Value& value, const char* at, std::size_t attribute) {
  if (!value.missing) return value.number;
  if (reading_.options.missing == Missing::error)
    fail_at(reading_, at,
            fmt::format("the value of {} is missing ('?'); fill in missing values (--missing median; fit and search: "
                        "--impute median), or leave the "
                        "attribute out (--ignore)",
                        shown(header_.attributes[attribute].name)));
  missing_ = true;
  return std::numeric_limits<T>::quiet_NaN();
}

template <class T>
void ArffReader<T>::check_end(const char* at, const char* line) const {
  if (at_arff_end(at, line)) return;
  const std::string_view rest(at, static_cast<std::size_t>(line - at));
  if (rest.starts_with(',') && rest.find('{') != std::string_view::npos)
    fail_at(reading_, at, fmt::format("weights of rows are not supported, found {}", shown(rest)));
  fail_at(reading_, at,
          fmt::format("the row should end here, after {} attributes; found {}", feature_of_.size(), shown(rest)));
}

/// The sparse rows without the gaps left by labels and by what a chunk was given too much.
template <class T>
SparseMatrix<T> ArffReader<T>::compacted() {
  SparseMatrix<T> x{rows_, loose_.columns, Array<std::int64_t>(rows_ + 1), {}, {}};
  x.offsets[0] = 0;
  for (std::int64_t i = 0; i < rows_; ++i) x.offsets[i + 1] = x.offsets[i] + loose_.offsets[i];
  x.indices = Array<std::int32_t>(x.offsets[rows_]);
  x.values = Array<T>(x.offsets[rows_]);
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
    const auto chunk = static_cast<std::size_t>(k);
    const std::int64_t to = x.offsets[first_rows_[chunk]];
    const std::int64_t count = x.offsets[first_rows_[chunk] + chunks_[chunk].rows] - to;
    std::copy_n(loose_.indices.data() + first_entries_[chunk], count, x.indices.data() + to);
    std::copy_n(loose_.values.data() + first_entries_[chunk], count, x.values.data() + to);
  });
  loose_ = {};
  return x;
}

template <class T>
Dataset<T> ArffReader<T>::finish() {
  Dataset<T> dataset;
  std::vector<std::string> names;
  for (auto& attribute : header_.attributes) names.push_back(attribute.name);
  dataset.feature_names = feature_names(names, roles_);
  if (labels_.size() > 1) {
    std::vector<std::string> targets;
    for (const auto column : label_columns_) targets.push_back(name_or_position(names, column));
    dataset.target = make_targets(reading_, labels_, targets, rows_);
  } else if (!labels_.empty()) {
    const auto& attribute = header_.attributes[static_cast<std::size_t>(roles_.label)];
    dataset.target = make_target(reading_, labels_.front(), rows_);
    dataset.target.name = attribute.name;
    if (reading_.options.task == LabelKind::automatic)
      dataset.target.kind = attribute.kind == Kind::numeric ? LabelKind::numbers : LabelKind::classes;
    if (attribute.kind == Kind::numeric && reading_.options.task != LabelKind::classes) {  // as the file declares it
      dataset.target.classes.clear();
      dataset.target.class_names.clear();
      dataset.target.positive = -1;
    }
  }
  if (events_) set_events(reading_, labels_.front(), *events_, rows_, dataset.target);
  if (groups_) set_groups(reading_, *groups_, rows_, dataset);
  dataset.row_columns = read_row_columns(reading_, row_cells_, names, rows_, dataset.target);
  dataset.notes = roles_.notes;
  bool nominal = false;
  for (const std::int64_t j : roles_.features) {
    dataset.levels.push_back(header_.attributes[static_cast<std::size_t>(j)].levels);
    nominal |= !dataset.levels.back().empty();
  }
  if (!nominal) dataset.levels.clear();
  if (sparse_)
    dataset.x = compacted();
  else
    dataset.x = std::move(dense_);
  if (missing_) impute(reading_, dataset);
  dataset.x = std::visit([&](auto& x) { return stored_as(reading_, std::move(x)); }, dataset.x);
  return dataset;
}

}  // namespace

template <class T>
Dataset<T> read_arff(const Reading& reading) {
  return ArffReader<T>(reading).read();
}

template Dataset<float> read_arff(const Reading&);
template Dataset<double> read_arff(const Reading&);

}  // namespace sheaf
