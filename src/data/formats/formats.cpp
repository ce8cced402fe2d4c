#include <algorithm>
#include <array>
#include <tuple>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/bytes/compression.hpp"
#include "data/bytes/text_source.hpp"
#include "data/formats/formats.hpp"
#include "data/read/other_files.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

// Readers fill the dataset but for its source and format. Each reader and writer is in its own file.
template <class T>
Dataset<T> read_libsvm(const Reading& reading);
template <class T>
Dataset<T> read_csv(const Reading& reading);
template <class T>
Dataset<T> read_arff(const Reading& reading);
template <class T>
std::unique_ptr<RowWriter<T>> libsvm_writer(const Dataset<T>& dataset, const WriteOptions& options);
template <class T>
std::unique_ptr<RowWriter<T>> csv_writer(const Dataset<T>& dataset, const WriteOptions& options);
template <class T>
std::unique_ptr<RowWriter<T>> arff_writer(const Dataset<T>& dataset, const WriteOptions& options);

namespace {

/// Whether a line is a label and index:value pairs.
bool looks_like_libsvm(std::string_view line) {
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view rest = line.substr(blank);
  const std::size_t digits = rest.find_first_not_of(" \t");
  if (digits == std::string_view::npos) return false;
  const std::size_t colon = rest.find_first_not_of("0123456789", digits);
  return colon != std::string_view::npos && rest[colon] == ':' ? colon > digits
                                                               : rest.substr(digits).starts_with("qid:");
}

bool looks_like_arff(std::string_view line) { return line.starts_with('@') || line.starts_with('%'); }

template <class T>
using Reader = Dataset<T> (*)(const Reading&);
template <class T>
using MakeWriter = std::unique_ptr<RowWriter<T>> (*)(const Dataset<T>&, const WriteOptions&);

struct Row {
  Format format;
  bool (*looks_like)(std::string_view first_line);  ///< nullptr: what no other format claims
  std::tuple<Reader<float>, Reader<double>> readers;
  std::tuple<MakeWriter<float>, MakeWriter<double>> writers;
};

/// A new format is a reader, a writer and a row here.
constexpr std::array table{
    Row{{"libsvm", "libsvm svmlight svm", "label index:value ..., indices from 1; also svmlight's qid and comments"},
        looks_like_libsvm,
        {read_libsvm<float>, read_libsvm<double>},
        {libsvm_writer<float>, libsvm_writer<double>}},
    Row{{"csv", "csv tsv tab", "one row a line, fields apart by , ; tab or |, names perhaps in the first line"},
        nullptr,
        {read_csv<float>, read_csv<double>},
        {csv_writer<float>, csv_writer<double>}},
    Row{{"arff", "arff", "Weka's format, dense or sparse, with nominal attributes"},
        looks_like_arff,
        {read_arff<float>, read_arff<double>},
        {arff_writer<float>, arff_writer<double>}},
};

/// The public part of each row.
constexpr auto public_table = [] {
  std::array<Format, table.size()> formats{};
  std::transform(table.begin(), table.end(), formats.begin(), [](const Row& row) { return row.format; });
  return formats;
}();

const Row& row_of(const Format& format) { return table[static_cast<std::size_t>(&format - public_table.data())]; }

bool is_word_in(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return true;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return false;
}

/// The first line that is neither blank nor a comment of LIBSVM, without blanks in front.
std::string_view first_line(std::string_view text) {
  const char* end = text.data() + text.size();
  const char* at = text.data();
  while (at < end && (is_blank(*at) || *at == '\n' || *at == '#')) at = *at == '#' ? line_end(at, end) : at + 1;
  return {at, static_cast<std::size_t>(line_end(at, end) - at)};
}

const Format& format_by_content(std::string_view text) {
  const std::string_view line = first_line(text);
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const Row& row) { return row.looks_like != nullptr && row.looks_like(line); });
  if (found == table.end())
    found = std::find_if(table.begin(), table.end(), [](const Row& row) { return row.looks_like == nullptr; });
  return public_table[static_cast<std::size_t>(found - table.begin())];
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Whether lines end with a carriage return alone.
bool has_bare_returns(std::string_view text) {
  constexpr std::size_t looked_at = 1 << 16;
  const auto first = text.substr(0, looked_at);
  return first.find('\r') != std::string_view::npos && first.find('\n') == std::string_view::npos &&
         text.find('\n') == std::string_view::npos;
}

template <class T>
Dataset<T> read_with(const Reading& reading, const Format& format) {
  if (reading.text.empty()) fail("{}: is empty", reading.name);
  refuse_other_files(reading);
  if (has_bare_returns(reading.text)) {
    check_memory(reading, static_cast<double>(reading.text.size()), "a text whose lines end with a carriage return");
    std::string lines(reading.text);
    std::replace(lines.begin(), lines.end(), '\r', '\n');
    return read_with<T>({reading.context, lines, reading.name, reading.options, reading.chunk_bytes}, format);
  }
  check_is_text(reading);
  const Stage stage(reading.context.progress(), fmt::format("reading {}", reading.name),
                    static_cast<std::int64_t>(reading.text.size()));
  Dataset<T> dataset = std::get<Reader<T>>(row_of(format).readers)(reading);
  dataset.source = reading.name;
  dataset.format = format.name;
  return dataset;
}

}  // namespace

std::span<const Format> formats() { return public_table; }

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  return names;
}

const Format& format_named(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return format;
  fail_unknown("format", name, format_names());
}

const Format* format_by_ending(std::string_view path) {
  if (const Compression* compression = find_compression_by_ending(path)) path.remove_suffix(compression->ending.size());
  path = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = path.find_last_of('.');
  if (dot == std::string_view::npos) return nullptr;
  for (const Format& format : formats())
    if (is_word_in(path.substr(dot + 1), format.endings)) return &format;
  return nullptr;
}

std::string_view format_by_name(std::string_view path) {
  const Format* format = format_by_ending(path);
  return format == nullptr ? std::string_view{} : format->name;
}

template <class T>
std::unique_ptr<RowWriter<T>> make_writer(const Format& format, const Dataset<T>& dataset,
                                          const WriteOptions& options) {
  return std::get<MakeWriter<T>>(row_of(format).writers)(dataset, options);
}

template <class T>
Dataset<T> parse_chunked(const Context& context, std::string_view text, const std::string& name,
                         const ReadOptions& options, std::int64_t chunk_bytes) {
  return read_with<T>({context, without_mark(text), name, options, chunk_bytes}, format_named(options.format));
}

template <class T>
Dataset<T> parse_dataset(const Context& context, std::string_view text, const std::string& name,
                         const ReadOptions& options) {
  return read_with<T>({context, without_mark(text), name, options}, format_named(options.format));
}

template <class T>
Dataset<T> read_dataset(const Context& context, const std::string& path, const ReadOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  const Format* format = options.format == "auto" ? format_by_ending(path) : &format_named(options.format);
  const TextSource source(path, context.progress(), context.stop(), cpu_budget(context));
  Reading reading{context, without_mark(source.text()), name, options};
  reading.mapped = source.mapped();
  try {
    auto dataset = read_with<T>(reading, format != nullptr ? *format : format_by_content(reading.text));
    source.check_whole();
    return dataset;
  } catch (const Error&) {  // what a shortened file looks like to a reader is not what is wrong with it
    source.check_whole();
    throw;
  }
}

template std::unique_ptr<RowWriter<float>> make_writer(const Format&, const Dataset<float>&, const WriteOptions&);
template std::unique_ptr<RowWriter<double>> make_writer(const Format&, const Dataset<double>&, const WriteOptions&);
template Dataset<float> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                      std::int64_t);
template Dataset<double> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                       std::int64_t);
template Dataset<float> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<double> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<float> read_dataset(const Context&, const std::string&, const ReadOptions&);
template Dataset<double> read_dataset(const Context&, const std::string&, const ReadOptions&);

}  // namespace sheaf
