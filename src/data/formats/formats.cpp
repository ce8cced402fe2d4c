#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <tuple>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/bytes/compression.hpp"
#include "data/bytes/text_source.hpp"
#include "data/formats/formats.hpp"
#include "data/matrices/annotations.hpp"
#include "data/matrices/market.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/read/other_files.hpp"
#include "data/read/reading.hpp"
#include "data/sheaf_file/cache.hpp"

namespace sheaf {

// Readers fill the dataset but for its source and format. Each format has its own file.
template <class T>
Dataset<T> read_libsvm(const Reading& reading);
template <class T>
void write_libsvm(const Writing<T>& writing);
template <class T>
Dataset<T> read_csv(const Reading& reading);
template <class T>
void write_csv(const Writing<T>& writing);
template <class T>
Dataset<T> read_arff(const Reading& reading);
template <class T>
void write_arff(const Writing<T>& writing);
template <class T>
Dataset<T> read_npy(const Reading& reading);
template <class T>
Dataset<T> read_npz(const Reading& reading);
template <class T>
void write_npz(const Writing<T>& writing);
template <class T>
Dataset<T> read_market(const Reading& reading);
template <class T>
void write_market(const Writing<T>& writing);
template <class T>
Dataset<T> read_biom(const Reading& reading);
template <class T>
void write_biom(const Writing<T>& writing);
template <class T>
Dataset<T> read_qza(const Reading& reading);
template <class T>
Dataset<T> read_h5ad(const Reading& reading);
template <class T>
void write_h5ad(const Writing<T>& writing);
template <class T>
Dataset<T> read_tenx(const Reading& reading);
template <class T>
Dataset<T> read_xlsx(const Reading& reading);
template <class T>
Dataset<T> read_sheaf_file(const Reading& reading);
template <class T>
void write_sheaf_file(const Writing<T>& writing);
bool is_sheaf_file(std::string_view bytes);
bool is_npy(std::string_view bytes);
bool looks_like_npz(std::string_view bytes);
bool looks_like_market(std::string_view bytes);
bool looks_like_biom(std::string_view bytes);
bool looks_like_qza(std::string_view bytes);
bool looks_like_h5ad(std::string_view bytes);
bool looks_like_tenx(std::string_view bytes);
bool looks_like_xlsx(std::string_view bytes);

namespace {

/// The first line that is neither blank nor a comment of LIBSVM, without blanks in front.
std::string_view first_line(std::string_view text) {
  const char* end = text.data() + text.size();
  const char* at = text.data();
  while (at < end && (is_blank(*at) || *at == '\n' || *at == '#')) at = *at == '#' ? line_end(at, end) : at + 1;
  return {at, static_cast<std::size_t>(line_end(at, end) - at)};
}

/// Whether the first line is a label and index:value pairs.
bool looks_like_libsvm(std::string_view bytes) {
  const std::string_view line = first_line(bytes);
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view rest = line.substr(blank);
  const std::size_t digits = rest.find_first_not_of(" \t");
  if (digits == std::string_view::npos) return false;
  const std::size_t colon = rest.find_first_not_of("0123456789", digits);
  return colon != std::string_view::npos && rest[colon] == ':' ? colon > digits
                                                               : rest.substr(digits).starts_with("qid:");
}

bool looks_like_arff(std::string_view bytes) {
  const std::string_view line = first_line(bytes);
  return line.starts_with('@') || line.starts_with('%');
}

template <class T>
using Reader = Dataset<T> (*)(const Reading&);
template <class T>
using Writer = void (*)(const Writing<T>&);

enum class Content : std::uint8_t {
  text,    ///< checked to be text; lines may end in any way; metadata are joined to the rows that its reader finds
  matrix,  ///< binary, or text that holds a whole matrix: the reader calls finish_dataset()
};

struct Row {
  Format format;
  Content content;
  bool (*looks_like)(std::string_view bytes);  ///< nullptr: takes files that no other format claims
  std::tuple<Reader<float>, Reader<double>> readers;
  std::tuple<Writer<float>, Writer<double>> writers;  ///< null unless the format is written
};

template <class T>
constexpr Writer<T> no_writer = nullptr;

/// A new format is a reader, a writer and a row here. By content, the first row that claims the bytes counts.
constexpr std::array table{
    Row{{"sheaf", "sheaf", "a whole dataset in binary form, used in place", true, true, true},
        Content::matrix,
        is_sheaf_file,
        {read_sheaf_file<float>, read_sheaf_file<double>},
        {write_sheaf_file<float>, write_sheaf_file<double>}},
    Row{{"npy", "npy", "a NumPy array of one or two dimensions", false},
        Content::matrix,
        is_npy,
        {read_npy<float>, read_npy<double>},
        {no_writer<float>, no_writer<double>}},
    Row{{"npz", "npz", "NumPy arrays X, y and feature_names, or a sparse matrix of SciPy"},
        Content::matrix,
        looks_like_npz,
        {read_npz<float>, read_npz<double>},
        {write_npz<float>, write_npz<double>}},
    Row{{"mtx", "mtx", "Matrix Market, perhaps with features.tsv and barcodes.tsv beside it"},
        Content::matrix,
        looks_like_market,
        {read_market<float>, read_market<double>},
        {write_market<float>, write_market<double>}},
    Row{{"h5ad", "h5ad", "AnnData: X or a layer, with obs as columns about the rows"},
        Content::matrix,
        looks_like_h5ad,
        {read_h5ad<float>, read_h5ad<double>},
        {write_h5ad<float>, write_h5ad<double>}},
    Row{{"biom", "biom", "BIOM table 1.0 (JSON) or 2.1 (HDF5), written as 2.1"},
        Content::matrix,
        looks_like_biom,
        {read_biom<float>, read_biom<double>},
        {write_biom<float>, write_biom<double>}},
    Row{{"qza", "qza", "feature table of QIIME 2", false},
        Content::matrix,
        looks_like_qza,
        {read_qza<float>, read_qza<double>},
        {no_writer<float>, no_writer<double>}},
    Row{{"10x", "h5", "10x Genomics: matrix of Cell Ranger 3 or later", false},
        Content::matrix,
        looks_like_tenx,
        {read_tenx<float>, read_tenx<double>},
        {no_writer<float>, no_writer<double>}},
    Row{{"xlsx", "xlsx xlsm", "sheet of an Excel workbook", false, true},
        Content::matrix,
        looks_like_xlsx,
        {read_xlsx<float>, read_xlsx<double>},
        {no_writer<float>, no_writer<double>}},
    Row{{"libsvm", "libsvm svmlight svm", "label index:value ..., indices from 1; also svmlight's qid and comments"},
        Content::text,
        looks_like_libsvm,
        {read_libsvm<float>, read_libsvm<double>},
        {write_libsvm<float>, write_libsvm<double>}},
    Row{{"csv", "csv tsv tab", "one row a line, fields apart by , ; tab or |, names perhaps in the first line", true,
         true},
        Content::text,
        nullptr,
        {read_csv<float>, read_csv<double>},
        {write_csv<float>, write_csv<double>}},
    Row{{"arff", "arff", "Weka's format, dense or sparse, with nominal attributes", true, true},
        Content::text,
        looks_like_arff,
        {read_arff<float>, read_arff<double>},
        {write_arff<float>, write_arff<double>}},
};

constexpr auto public_table = public_part(table);

const Row& row_of(const Format& format) { return table[static_cast<std::size_t>(&format - public_table.data())]; }

/// Whether a file's name ends with one of the `endings`, behind a dot.
bool has_ending(std::string_view name, std::string_view endings) {
  while (!endings.empty()) {
    const std::size_t space = std::min(endings.find(' '), endings.size());
    const auto ending = endings.substr(0, space);
    if (name.size() > ending.size() && name.ends_with(ending) && name[name.size() - ending.size() - 1] == '.')
      return true;
    endings.remove_prefix(std::min(space + 1, endings.size()));
  }
  return false;
}

const Format& format_by_content(std::string_view bytes) {
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const Row& row) { return row.looks_like != nullptr && row.looks_like(bytes); });
  if (found == table.end())
    found = std::find_if(table.begin(), table.end(), [](const Row& row) { return row.looks_like == nullptr; });
  return public_table[static_cast<std::size_t>(found - table.begin())];
}

/// By the ending, which may be nullptr, unless the content is clearly that of another format: whole matrices begin with
/// bytes of their own, whatever the file is called.
const Format& format_of_file(const Format* by_ending, std::string_view bytes) {
  const auto claims = [&](const Format& format) {
    const Row& row = row_of(format);
    return row.content == Content::matrix && row.looks_like(bytes);
  };
  if (by_ending != nullptr && claims(*by_ending)) return *by_ending;
  for (const Format& format : public_table)
    if (claims(format)) return format;
  return by_ending != nullptr ? *by_ending : format_by_content(bytes);
}

/// Whether lines end with a carriage return alone.
bool has_bare_returns(std::string_view text) {
  constexpr std::size_t looked_at = 1 << 16;
  const auto first = text.substr(0, looked_at);
  return first.find('\r') != std::string_view::npos && first.find('\n') == std::string_view::npos &&
         text.find('\n') == std::string_view::npos;
}

template <class T>
Dataset<T> read_with(const Reading& reading, const Format& format);

/// The text is checked before its reader sees it.
template <class T>
Dataset<T> read_text(const Reading& reading, const Format& format) {
  refuse_other_files(reading);
  if (has_bare_returns(reading.text)) {
    check_memory(reading, static_cast<double>(reading.text.size()), "a text whose lines end with a carriage return");
    std::string lines(reading.text);
    std::replace(lines.begin(), lines.end(), '\r', '\n');
    return read_with<T>({reading.context, lines, reading.name, reading.options, reading.chunk_bytes}, format);
  }
  check_is_text(reading);
  const auto reader = std::get<Reader<T>>(row_of(format).readers);
  return reading.options.metadata.empty() ? reader(reading) : read_with_metadata<T>(reading, reader);
}

template <class T>
Dataset<T> read_with(const Reading& reading, const Format& format) {
  if (reading.text.empty()) fail("{}: is empty", reading.name);
  const Stage stage(reading.context.progress(), fmt::format("reading {}", reading.name),
                    static_cast<std::int64_t>(reading.text.size()));
  Dataset<T> dataset = row_of(format).content == Content::text ? read_text<T>(reading, format)
                                                               : std::get<Reader<T>>(row_of(format).readers)(reading);
  join_annotations(reading, dataset);
  dataset.source = reading.name;
  dataset.format = format.name;
  return dataset;
}

/// A folder stands for the matrix in it.
std::string file_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const auto inside = find_market_in(path);
  return inside.empty() ? path : inside;
}

}  // namespace

std::span<const Format> formats() { return public_table; }

const Format& format_named(std::string_view name, std::span<const Format> table, std::string_view what) {
  std::vector<std::string> known;
  for (const Format& format : table) {
    if (format.name == name) return format;
    known.emplace_back(format.name);
  }
  fail_unknown(what, name, known);
}

const Format* find_format_by_ending(std::span<const Format> table, std::string_view path) {
  if (const Compression* compression = find_compression_by_ending(path)) path.remove_suffix(compression->ending.size());
  for (const Format& format : table)
    if (has_ending(path, format.endings)) return &format;
  return nullptr;
}

std::string_view format_by_name(std::string_view path) {
  const Format* format = find_format_by_ending(formats(), path);
  return format == nullptr ? std::string_view{} : format->name;
}

template <class T>
void write_as(const Format& format, const Writing<T>& writing) {
  std::get<Writer<T>>(row_of(format).writers)(writing);
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
Dataset<T> read_dataset(const Context& context, const std::string& given, const ReadOptions& options) {
  const std::string path = file_of(given);
  const std::string name = path == "-" ? "standard input" : path;
  const bool automatic = options.format == "auto";
  const Format* format = automatic ? find_format_by_ending(formats(), path) : &format_named(options.format);
  const auto key = sheaf_file::cache_key<T>(path, options);
  if (auto cached = sheaf_file::read_cache<T>(context, path, options, key)) return *std::move(cached);
  const auto source = std::make_shared<const TextSource>(path, context.progress(), context.stop(), cpu_budget(context));
  Reading reading{context, without_mark(source->text()), name, options};
  reading.mapped = source->mapped();
  reading.owner = source;
  try {
    auto dataset = read_with<T>(reading, automatic ? format_of_file(format, reading.text) : *format);
    source->check_whole();
    if (dataset.owner == source) source->keep_in_use();
    if (row_of(format_named(dataset.format)).content == Content::text &&
        key.text == sheaf_file::cache_key<T>(path, options).text)
      sheaf_file::write_cache(context, key, dataset);
    return dataset;
  } catch (const Error&) {  // what a shortened file looks like to a reader is not what is wrong with it
    source->check_whole();
    throw;
  }
}

template void write_as(const Format&, const Writing<float>&);
template void write_as(const Format&, const Writing<double>&);
template Dataset<float> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                      std::int64_t);
template Dataset<double> parse_chunked(const Context&, std::string_view, const std::string&, const ReadOptions&,
                                       std::int64_t);
template Dataset<float> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<double> parse_dataset(const Context&, std::string_view, const std::string&, const ReadOptions&);
template Dataset<float> read_dataset(const Context&, const std::string&, const ReadOptions&);
template Dataset<double> read_dataset(const Context&, const std::string&, const ReadOptions&);

}  // namespace sheaf
