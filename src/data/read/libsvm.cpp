// LIBSVM / svmlight: "label [qid:N] index:value ...  # comment", indices from 1, ascending.
//
// Two passes over chunks of lines. The first counts newlines and colons at memory speed, which sizes the result exactly
// (chunks with comments or qid are counted line by line); the second parses every chunk into its final place.

#include <algorithm>
#include <limits>
#include <optional>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/read/count_bytes.hpp"
#include "data/read/label_column.hpp"
#include "data/read/reading.hpp"
#include "data/read/storage.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

bool ends_token(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#'; }

const char* token_end(const char* at, const char* end) { return std::find_if(at, end, ends_token); }

const char* skip_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

struct Counts {
  std::int64_t rows = 0;     // at least
  std::int64_t entries = 0;  // exactly, in a file without defects
};

struct Census {
  std::int64_t newlines = 0;
  std::int64_t colons = 0;
  bool exceptional = false;  // a comment or qid may be there
};

Census take_census(Chunk chunk) {
  Census census;
  const char* at = chunk.begin;
  while (chunk.end - at >= lanes) {
    ByteLanes colons{};
    ByteLanes exceptional{};
    const char* stop = at + std::min<std::int64_t>((chunk.end - at) / lanes, 255) * lanes;
    census.newlines += count_lanes(at, stop, [&](const char* p) {
      const ByteLanes bytes = load_lanes(p);
      colons -= equal_lanes(bytes, ':');
      exceptional |= equal_lanes(bytes, '#') | equal_lanes(bytes, 'q');
      return equal_lanes(bytes, '\n');
    });
    census.colons += sum_lanes(colons);
    census.exceptional |= any_lane(exceptional);
  }
  for (; at < chunk.end; ++at) {
    census.newlines += *at == '\n' ? 1 : 0;
    census.colons += *at == ':' ? 1 : 0;
    census.exceptional |= *at == '#' || *at == 'q';
  }
  return census;
}

Counts count_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  if (std::all_of(line.begin(), line.end(), is_blank)) return {};
  const auto qid = line.find("qid:");
  const bool has_qid = qid != std::string_view::npos && qid > 0 && is_blank(line[qid - 1]);
  return {1, std::count(line.begin(), line.end(), ':') - (has_qid ? 1 : 0)};
}

Counts count_chunk(Chunk chunk) {
  const Census census = take_census(chunk);
  if (!census.exceptional) return {census.newlines + (chunk.end[-1] == '\n' ? 0 : 1), census.colons};
  Counts counts;
  for (const char* at = chunk.begin; at < chunk.end;) {
    const char* end = line_end(at, chunk.end);
    const Counts line = count_line({at, static_cast<std::size_t>(end - at)});
    counts.rows += line.rows;
    counts.entries += line.entries;
    at = end + 1;
  }
  return counts;
}

struct Index {
  std::int64_t column;  // from 0; -1 when it is too large
  const char* end;
};

/// An index of eight digits and more.
Index long_index(const char* at, const char* end) {
  std::int64_t index = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) index = std::min(index * 10 + (*at - '0'), largest_index + 1);
  return {index > largest_index ? -1 : index - 1, at};
}

/// Explains what is wrong with the index:value pair at `at`.
template <class T>
[[noreturn]] void fail_entry(const Reading& reading, const char* at, const char* end, std::int64_t previous) {
  const char* stop = token_end(at, end);
  const std::string_view token(at, static_cast<std::size_t>(stop - at));
  const auto complain = [&](std::string_view problem) { fail_at(reading, at, problem); };
  if (token.starts_with("qid:")) complain("qid stands behind the label, once, before all features");
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos)
    complain(fmt::format("index:value expected, found {} without a colon", shown(token)));
  const std::string_view index = token.substr(0, colon);
  const std::string_view value = token.substr(colon + 1);
  const char* value_at = value.data();
  if (index.starts_with('-')) complain(fmt::format("the index {} is negative; indices count from 1", shown(index)));
  if (index.empty() || index.find_first_not_of("0123456789") != std::string_view::npos)
    complain(fmt::format("index:value expected, found {}; an index is a whole number from 1", shown(token)));
  const auto significant = index.substr(std::min(index.find_first_not_of('0'), index.size()));
  if (significant.empty()) complain("the index is 0; indices count from 1");
  const auto number = significant.size() > 10 ? largest_index + 1 : std::stoll(std::string(significant));
  if (number > largest_index)
    complain(fmt::format("the index {} is too large; at most {} is possible", shown(index), largest_index));
  if (number <= previous + 1)
    complain(fmt::format("the index {} follows {}; indices must ascend within a row", number, previous + 1));
  if (value.empty()) fail_at(reading, value_at, fmt::format("a value is missing behind '{}:'", number));
  T parsed = 0;
  const NumberStatus status = parse_whole_number(value, parsed);
  if (status == NumberStatus::not_finite)
    fail_at(reading, value_at, fmt::format("the value {} is not finite", shown(value)));
  fail_at(reading, value_at,
          status == NumberStatus::none ? fmt::format("a number expected, found {}", shown(value))
                                       : fmt::format("the value {} is too large", shown(value)));
}

template <class T>
class LibsvmReader {
 public:
  explicit LibsvmReader(const Reading& reading)
      : reading_(reading), chunks_(cut_lines(reading.text, reading.chunk_bytes)), counts_(chunks_.size()) {}

  Dataset<T> read() {
    if (!reading_.options.event.empty())
      fail_usage("{}: LIBSVM's format has no column of events (--event); give the dataset as CSV or ARFF",
                 reading_.name);
    const auto& options = reading_.options;
    for (const auto& [column, flag] :
         {std::pair(&options.order, "order"), std::pair(&options.weight_column, "weight-column"),
          std::pair(&options.split_column, "split-column")})
      if (!column->empty())
        fail_usage("{}: LIBSVM's format has no column {} (--{}); give the dataset as CSV or ARFF", reading_.name,
                   shown(*column), flag);
    if (reading_.options.label.find(',') != std::string::npos)
      fail_usage("{}: LIBSVM's format has one label, and --label names several; give the dataset as CSV or ARFF",
                 reading_.name);
    if (reading_.options.features < 0 || reading_.options.features > largest_index)
      fail_usage("{} cannot be made; from 0 (as many as the file has) to {}",
                 counted(reading_.options.features, "feature"), largest_index);
    count();
    check_memory(reading_,
                 static_cast<double>(total_.rows) * sizeof(std::int64_t) +
                     static_cast<double>(total_.entries) * (sizeof(std::int32_t) + sizeof(T)),
                 fmt::format("{} with {}", counted(total_.rows, "row"), counted(total_.entries, "value")));
    x_.offsets = Array<std::int64_t>(total_.rows + 1);
    x_.indices = Array<std::int32_t>(total_.entries);
    x_.values = Array<T>(total_.entries);
    labels_.emplace(total_.rows);
    groups_.emplace(total_.rows);
    parse();
    close_gaps();
    return finish();
  }

 private:
  /// Counts of a chunk, besides its entries.
  struct Parsed {
    std::int64_t first_row = 0;
    std::int64_t first_entry = 0;
    std::int64_t rows = 0;
    std::int64_t grouped = 0;             // rows with a qid
    const char* ungrouped = nullptr;      // the first row without
    const char* first_grouped = nullptr;  // the first row with one
    std::int32_t largest = -1;            // column
  };

  void count();
  void parse();
  void parse_chunk(std::size_t k);
  const char* parse_label(const char* at, const char* end, std::int64_t row);
  const char* parse_group(const char* at, const char* end, std::int64_t row, Parsed& parsed);
  const char* parse_entries(const char* at, const char* end, std::int64_t last, std::int64_t& entry,
                            std::int32_t& largest);
  void close_gaps();
  void check_groups() const;
  Dataset<T> finish();

  const Reading& reading_;
  std::vector<Chunk> chunks_;
  std::vector<Counts> counts_;
  std::vector<Parsed> parsed_;
  Counts total_;
  SparseMatrix<T> x_;
  std::optional<TextColumn> labels_;
  std::optional<TextColumn> groups_;
};

template <class T>
void LibsvmReader<T>::count() {
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
    counts_[static_cast<std::size_t>(k)] = count_chunk(chunks_[static_cast<std::size_t>(k)]);
    release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
  });
  for (const Counts& counts : counts_) {
    Parsed parsed;
    parsed.first_row = total_.rows;
    parsed.first_entry = total_.entries;
    parsed_.push_back(parsed);
    total_.rows += counts.rows;
    total_.entries += counts.entries;
  }
}

template <class T>
void LibsvmReader<T>::parse() {
  parallel_for(reading_.context, static_cast<std::int64_t>(chunks_.size()), [&](std::int64_t k) {
    parse_chunk(static_cast<std::size_t>(k));
    release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
    reading_.context.progress().advance(chunks_[static_cast<std::size_t>(k)].size());
  });
}

template <class T>
void LibsvmReader<T>::parse_chunk(std::size_t k) {
  const char* const end = chunks_[k].end;
  Parsed parsed = parsed_[k];
  std::int64_t row = parsed.first_row;
  std::int64_t entry = parsed.first_entry;
  for (const char* at = chunks_[k].begin; at < end;) {
    at = skip_blanks(at, end);
    if (at < end && *at != '\n' && *at != '#') {
      if (row == parsed.first_row + counts_[k].rows) fail_changed(reading_);
      at = parse_label(at, end, row);
      at = parse_group(at, end, row, parsed);
      at = parse_entries(at, end, parsed.first_entry + counts_[k].entries, entry, parsed.largest);
      x_.offsets[++row] = entry;
    }
    if (at < end && *at == '#') at = line_end(at, end);
    ++at;
  }
  if (entry != parsed.first_entry + counts_[k].entries) fail_changed(reading_);
  parsed.rows = row - parsed.first_row;
  parsed_[k] = parsed;
}

template <class T>
const char* LibsvmReader<T>::parse_label(const char* at, const char* end, std::int64_t row) {
  const auto [number, status, number_end] = parse_number<double>(at, reading_.limit());
  const char* stop = number_end;
  const bool whole = stop == end || ends_token(*stop);
  if (!whole) stop = token_end(stop, end);
  const std::string_view label(at, static_cast<std::size_t>(stop - at));
  if (whole && status == NumberStatus::ok) [[likely]] {
    labels_->set(row, label, number);
    return stop;
  }
  if (whole && status != NumberStatus::none)
    fail_at(reading_, at, fmt::format("the label {} is not a finite number", shown(label)));
  if (label.find(':') != std::string_view::npos)
    fail_at(reading_, at, fmt::format("a label expected at the beginning of the row, found {}", shown(label)));
  if (label.find(',') != std::string_view::npos)
    fail_at(reading_, at,
            fmt::format("one label expected, found {}; several labels for one row are not supported", shown(label)));
  labels_->set(row, label, TextColumn::no_number);
  return stop;
}

template <class T>
const char* LibsvmReader<T>::parse_group(const char* at, const char* end, std::int64_t row, Parsed& parsed) {
  const char* token = skip_blanks(at, end);
  if (end - token < 4 || std::string_view(token, 4) != "qid:") {
    if (parsed.ungrouped == nullptr) parsed.ungrouped = token;
    return token;
  }
  const char* stop = token_end(token, end);
  const std::string_view qid(token + 4, static_cast<std::size_t>(stop - token - 4));
  double number = 0;
  if (parse_whole_number(qid, number) != NumberStatus::ok || qid.find_first_of(".eE") != std::string_view::npos)
    fail_at(reading_, token, fmt::format("a whole number expected behind 'qid:', found {}", shown(qid)));
  groups_->set(row, qid, number);
  if (parsed.first_grouped == nullptr) parsed.first_grouped = token;
  ++parsed.grouped;
  return stop;
}

/// From behind the label to the newline, comment or end. `last`: behind the entries that were counted.
template <class T>
const char* LibsvmReader<T>::parse_entries(const char* at, const char* end, std::int64_t last, std::int64_t& entry,
                                           std::int32_t& largest) {
  const char* const limit = reading_.limit();
  std::int32_t* index_out = x_.indices.data() + entry;
  T* value_out = x_.values.data() + entry;
  const T* const value_end = x_.values.data() + last;
  std::int64_t previous = -1;
  for (;;) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end || *at == '\n' || *at == '#') break;
    const DigitRun digits = digit_run(at, limit);
    Index index{static_cast<std::int64_t>(digits.value) - 1, at + digits.count};
    if (digits.count == 8) [[unlikely]]
      index = long_index(at, end);
    if (digits.count == 0 || index.column <= previous || index.end == end || *index.end != ':') [[unlikely]]
      fail_entry<T>(reading_, at, end, previous);
    const Number<T> value = parse_number<T>(index.end + 1, limit);
    if (value.status != NumberStatus::ok || (value.end < end && !ends_token(*value.end))) [[unlikely]]
      fail_entry<T>(reading_, at, end, previous);
    if (value_out == value_end) [[unlikely]]
      fail_changed(reading_);
    *index_out++ = static_cast<std::int32_t>(index.column);
    *value_out++ = value.value;
    previous = index.column;
    at = value.end;
  }
  entry = value_out - x_.values.data();
  largest = std::max(largest, static_cast<std::int32_t>(previous));
  return at;
}

/// Blank lines were counted as rows; moves what follows them up.
template <class T>
void LibsvmReader<T>::close_gaps() {
  x_.offsets[0] = 0;
  std::int64_t row = 0;
  for (const Parsed& parsed : parsed_) {
    for (std::int64_t i = 0; i < parsed.rows && row != parsed.first_row; ++i) {
      const std::int64_t from = parsed.first_row + i;
      labels_->move(from, row + i);
      if (parsed.grouped > 0) groups_->move(from, row + i);
      x_.offsets[row + i + 1] = x_.offsets[from + 1];
    }
    row += parsed.rows;
  }
  x_.rows = row;
  if (row == total_.rows) return;
  x_.offsets = Array<std::int64_t>::copy_of(std::as_const(x_.offsets).span().first(static_cast<std::size_t>(row + 1)));
}

template <class T>
void LibsvmReader<T>::check_groups() const {
  const char* with = nullptr;
  const char* without = nullptr;
  for (const Parsed& parsed : parsed_) {
    if (with == nullptr) with = parsed.first_grouped;
    if (without == nullptr) without = parsed.ungrouped;
  }
  if (with == nullptr || without == nullptr) return;
  fail_at(reading_, std::max(with, without), "some rows have a qid and some have none; all or none must have one");
}

template <class T>
Dataset<T> LibsvmReader<T>::finish() {
  if (x_.rows == 0) fail("{}: holds no rows", reading_.name);
  check_groups();
  std::int32_t largest = -1;
  std::int64_t grouped = 0;
  for (const Parsed& parsed : parsed_) {
    largest = std::max(largest, parsed.largest);
    grouped += parsed.grouped;
  }
  x_.columns = std::max<std::int64_t>(reading_.options.features, static_cast<std::int64_t>(largest) + 1);
  Dataset<T> dataset;
  dataset.target = make_target(reading_, *labels_, x_.rows);
  if (grouped > 0) set_groups(reading_, *groups_, x_.rows, dataset);
  dataset.x = stored_as(reading_, std::move(x_));
  return dataset;
}

}  // namespace

template <class T>
Dataset<T> read_libsvm(const Reading& reading) {
  if (!reading.options.id.empty())
    fail_usage("{}: rows of LIBSVM files have no ids (--id, --metadata); give the dataset as CSV", reading.name);
  if (!reading.options.keep.empty()) fail_usage("{}: columns can be kept (--keep) of CSV files only", reading.name);
  return LibsvmReader<T>(reading).read();
}

template Dataset<float> read_libsvm(const Reading&);
template Dataset<double> read_libsvm(const Reading&);

}  // namespace sheaf
