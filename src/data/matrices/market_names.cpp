#include "data/matrices/market_names.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/bytes/compression.hpp"
#include "data/bytes/sink.hpp"
#include "data/bytes/text_source.hpp"
#include "data/matrices/annotations.hpp"
#include "data/matrices/market.hpp"

namespace sheaf {
namespace {

constexpr std::string_view market_ending = ".mtx";
/// The columns of features.tsv behind the ids, as Cell Ranger writes them.
const std::array<std::string, 2> annotation_names{"name", "feature_type"};

/// The common beginning of the names of the files beside "dir/GSM1_matrix.mtx.gz": "dir/GSM1_"; beside "dir/cells.mtx":
/// "dir/cells_".
std::string names_prefix(std::string path) {
  if (const auto* compression = find_compression_by_ending(path)) path.resize(path.size() - compression->ending.size());
  if (path.ends_with(market_ending)) path.resize(path.size() - market_ending.size());
  constexpr std::string_view matrix = "matrix";
  if (path.ends_with(matrix))
    path.resize(path.size() - matrix.size());
  else
    path += '_';
  return path;
}

/// The file of that name, plain or compressed; empty: there is none.
std::string find_beside(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  for (const auto ending : compressions())
    if (std::filesystem::is_regular_file(path + std::string(ending), ignored)) return path + std::string(ending);
  return {};
}

/// The fields of a file of names, column after column: names, and perhaps symbols and types.
std::vector<std::vector<std::string>> read_fields(const Reading& reading, const std::string& path) {
  std::vector<std::vector<std::string>> columns(1);
  if (path.empty()) return columns;
  const TextSource source(path, reading.context.progress(), reading.context.stop(), cpu_budget(reading.context));
  const Reading own{reading.context, source.text(), path, reading.options};
  for (const char* at = own.text.data(); at < own.limit();) {
    const char* stop = line_end(at, own.limit());
    std::string_view line(at, static_cast<std::size_t>(stop - at));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto before = columns.front().size();
    for (std::size_t field = 0, begin = 0; !line.empty() && begin <= line.size(); ++field) {
      const auto end = std::min(line.find('\t', begin), line.size());
      if (field == columns.size()) columns.emplace_back(before);
      columns[field].push_back(checked_name(own, line.substr(begin, end - begin), at));
      begin = end + 1;
    }
    for (auto& column : columns) column.resize(columns.front().size());
    at = stop + 1;
  }
  source.check_whole();
  return columns;
}

std::string tsv_field(const std::string& text) {
  if (text.find_first_of("\t\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// Ids, names and types, as Cell Ranger writes them. The name is the annotation called so, else the first one, else the
/// id.
template <class T>
void write_features(const Dataset<T>& dataset, Sink& to) {
  const auto find = [&](const std::string& name) {
    const auto& all = dataset.annotations;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
  };
  const auto* types = find(annotation_names[1]);
  const auto* symbols = find(annotation_names[0]);
  for (const auto& column : dataset.annotations)
    if (symbols == nullptr && &column != types) symbols = &column;
  const auto names = written_feature_names(dataset);
  for (std::size_t j = 0; j < names.size(); ++j)
    to.write(fmt::format("{}\t{}\t{}\n", tsv_field(names[j]), tsv_field(symbols ? symbols->values[j] : names[j]),
                         types ? tsv_field(types->values[j]) : "Feature"));
}

/// Columns about the rows, with their ids.
template <class T>
std::string metadata_text(const Dataset<T>& dataset, const std::vector<WrittenColumn>& columns,
                          const std::vector<std::string>& names) {
  std::string text = "id";
  for (const auto& column : columns) text += '\t' + tsv_field(column.name);
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    text += '\n' + tsv_field(names[row]);
    for (const auto& column : columns) text += '\t' + tsv_field(column.texts[row]);
  }
  return text + '\n';
}

}  // namespace

std::string find_market_in(const std::string& folder) {
  return find_beside((std::filesystem::path(folder) / "matrix.mtx").string());
}

std::vector<std::string> market_names_files(const std::string& path) {
  const auto prefix = names_prefix(path);
  const auto* compression = find_compression_by_ending(path);
  const auto ending = fmt::format(".tsv{}", compression == nullptr ? "" : compression->ending);
  return {prefix + "features" + ending, prefix + "barcodes" + ending, prefix + "metadata" + ending};
}

NamesFiles::NamesFiles(const std::string& path) {
  const auto prefix = names_prefix(path);
  features = find_beside(prefix + "features.tsv");
  if (features.empty()) features = find_beside(prefix + "genes.tsv");
  barcodes = find_beside(prefix + "barcodes.tsv");
  metadata = find_beside(prefix + "metadata.tsv");
}

template <class T>
MarketNames read_market_names(const Reading& reading, std::int64_t rows, std::int64_t columns, const NamesFiles& files,
                              Dataset<T>& dataset) {
  if (files.features.empty() && files.barcodes.empty()) return {reading.options.transpose, {}};
  if (reading.options.transpose)
    fail_usage("{}: --transpose cannot be given, since {} says which are the {}", reading.name,
               files.features.empty() ? files.barcodes : files.features,
               files.features.empty() ? "samples" : "features");
  auto about_features = read_fields(reading, files.features);
  auto& features = about_features.front();
  auto samples = read_fields(reading, files.barcodes).front();
  const auto fits = [](const std::vector<std::string>& names, std::int64_t count) {
    return names.empty() || std::ssize(names) == count;
  };
  const bool turned = fits(features, rows) && fits(samples, columns);
  if (!turned && !(fits(features, columns) && fits(samples, rows)))
    fail(
        "{}: has {} and {}, and beside it stand {} ({}) and {} ({}); as many are "
        "expected",
        reading.name, counted(rows, "row"), counted(columns, "column"), counted(features.size(), "feature"),
        files.features, counted(samples.size(), "sample"), files.barcodes);
  dataset.feature_names = feature_names_of(reading, std::move(features), dataset.notes);
  dataset.row_names = row_names_of(reading, std::move(samples));
  about_features.erase(about_features.begin());
  return {turned, std::move(about_features)};
}

template <class T>
void annotate_features(const Reading& reading, MarketNames names, Dataset<T>& dataset) {
  for (std::size_t c = 0; c < std::min(names.about_features.size(), annotation_names.size()); ++c)
    annotate(reading, annotation_names[c], std::move(names.about_features[c]), dataset);
}

template <class T>
NamesWriter::NamesWriter(const Writing<T>& writing) {
  const auto& dataset = writing.dataset;
  const auto paths = market_names_files(writing.path);
  const auto names = written_row_names(dataset);
  write_features(dataset, *files_.emplace_back(open_sink(paths[0])));
  auto& barcodes = *files_.emplace_back(open_sink(paths[1]));
  for (const auto& name : names) barcodes.write(tsv_field(name) + '\n');
  if (const auto columns = written_columns(dataset); !columns.empty())
    files_.emplace_back(open_sink(paths[2]))->write(metadata_text(dataset, columns, names));
}

void NamesWriter::finish() {
  for (const auto& file : files_) file->finish();
}

template MarketNames read_market_names(const Reading&, std::int64_t, std::int64_t, const NamesFiles&, Dataset<float>&);
template MarketNames read_market_names(const Reading&, std::int64_t, std::int64_t, const NamesFiles&, Dataset<double>&);
template void annotate_features(const Reading&, MarketNames, Dataset<float>&);
template void annotate_features(const Reading&, MarketNames, Dataset<double>&);
template NamesWriter::NamesWriter(const Writing<float>&);
template NamesWriter::NamesWriter(const Writing<double>&);

}  // namespace sheaf
