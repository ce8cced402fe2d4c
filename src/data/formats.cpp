#include <algorithm>
#include <array>
#include <cctype>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/compress/compression.hpp"
#include "data/formats.hpp"
#include "data/read/reading.hpp"
#include "data/read/text_source.hpp"

namespace sheaf {
namespace {

constexpr std::array<Format, 3> table{{
    {"libsvm", "libsvm svmlight svm", "label index:value ..., indices from 1; also svmlight's qid and comments"},
    {"csv", "csv tsv tab", "one row a line, fields apart by , ; tab or |, names perhaps in the first line"},
    {"arff", "arff", "Weka's format, dense or sparse, with nominal attributes"},
}};

/// One reader for each row of the table.
template <class T>
constexpr std::array<Dataset<T> (*)(const Reading&), table.size()> readers{read_libsvm<T>, read_csv<T>, read_arff<T>};

std::size_t position_of(const Format& format) { return static_cast<std::size_t>(&format - table.data()); }

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

const Format& format_by_content(std::string_view text) {
  const std::string_view line = first_line(text);
  if (line.starts_with('@') || line.starts_with('%')) return format_named("arff");
  return format_named(looks_like_libsvm(line) ? "libsvm" : "csv");
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

template <class T>
Dataset<T> read_with(const Reading& reading, const Format& format) {
  if (reading.text.empty()) fail("{}: is empty", reading.name);
  check_is_text(reading);
  const Stage stage(reading.context.progress(), fmt::format("reading {}", reading.name),
                    static_cast<std::int64_t>(reading.text.size()));
  Dataset<T> dataset = readers<T>[position_of(format)](reading);
  dataset.source = reading.name;
  dataset.format = format.name;
  return dataset;
}

}  // namespace

std::span<const Format> formats() { return table; }

const Format& format_named(std::string_view name) {
  for (const Format& format : table)
    if (format.name == name) return format;
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const Format& format : table) names.emplace_back(format.name);
  fail_unknown("format", name, names);
}

const Format* format_by_ending(std::string_view path) {
  if (const Compression* compression = find_compression_by_ending(path)) path.remove_suffix(compression->ending.size());
  path = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = path.find_last_of('.');
  if (dot == std::string_view::npos) return nullptr;
  for (const Format& format : table)
    if (is_word_in(path.substr(dot + 1), format.endings)) return &format;
  return nullptr;
}

std::string_view format_by_name(std::string_view path) {
  const Format* format = format_by_ending(path);
  return format == nullptr ? std::string_view{} : format->name;
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
  const TextSource source(path, context.progress(), context.stop());
  Reading reading{context, without_mark(source.text()), name, options};
  reading.mapped = source.mapped();
  return read_with<T>(reading, format != nullptr ? *format : format_by_content(reading.text));
}

template Dataset<float> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                      std::int64_t);
template Dataset<double> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                       std::int64_t);
template Dataset<float> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<double> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<float> read_dataset(const Context&, const std::string&, const ReadOptions&);
template Dataset<double> read_dataset(const Context&, const std::string&, const ReadOptions&);

}  // namespace sheaf
