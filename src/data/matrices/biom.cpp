// BIOM tables: version 1.0 (JSON, biom_json.cpp) and 2.1 (HDF5), and QIIME 2's artifacts (.qza), which are zip archives
// with such a table inside. Observations are features, samples are rows. Metadata of samples are columns about the
// rows, those of observations annotations of the features.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <fmt/chrono.h>
#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/bytes/zip.hpp"
#include "data/hdf5/hdf5.hpp"
#include "data/matrices/annotations.hpp"
#include "data/matrices/biom_json.hpp"
#include "data/matrices/matrix_file.hpp"

namespace sheaf {
namespace {

/// Metadata that biom-format keeps as lists: so many texts for each feature.
constexpr std::array<std::string_view, 2> lists_of_texts{"taxonomy", "collapsed_ids"};

/// A text for each feature; the texts of a list are joined by semicolons, as taxonomies are written.
std::vector<std::string> read_annotation(const Hdf5File& file, const std::string& path, std::int64_t features) {
  auto texts = file.texts(path);
  const auto shape = file.shape(path);
  if (shape.size() != 2 || shape.front() != features) return texts;
  std::vector<std::string> joined(static_cast<std::size_t>(features));
  for (std::size_t k = 0; k < texts.size(); ++k) {
    auto& to = joined[k / static_cast<std::size_t>(shape.back())];
    if (!texts[k].empty()) to += (to.empty() ? "" : "; ") + texts[k];
  }
  return joined;
}

/// The parts between semicolons, without blanks around them.
std::vector<std::string> split_taxonomy(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(';', at), text.size());
    const auto first = std::min(text.find_first_not_of(' ', at), end);
    const auto last = text.find_last_not_of(' ', end - (end > at ? 1 : 0));
    parts.push_back(first < end ? text.substr(first, last + 1 - first) : std::string());
    at = end + 1;
  }
  return parts;
}

void write_annotation(Hdf5Writer& file, const AnnotationColumn& column) {
  const auto path = "observation/metadata/" + hdf5_name(column.name);
  if (std::find(lists_of_texts.begin(), lists_of_texts.end(), column.name) == lists_of_texts.end())
    return file.texts(path, column.values);
  std::vector<std::vector<std::string>> lists;
  std::size_t longest = 1;
  for (const auto& text : column.values) {
    lists.push_back(split_taxonomy(text));
    longest = std::max(longest, lists.back().size());
  }
  std::vector<std::string> all;
  for (auto& list : lists) {
    list.resize(longest);
    all.insert(all.end(), list.begin(), list.end());
  }
  file.texts(path, all, {std::ssize(lists), static_cast<std::int64_t>(longest)});
}

/// Samples own compressed rows of their own in the file, so that nothing is transposed.
template <class T>
MatrixFile<T> read_biom_hdf5(const Reading& reading, const std::shared_ptr<Hdf5File>& file) {
  MatrixFile<T> result;
  auto& dataset = result.dataset;
  dataset.row_names = row_names_of(reading, file->texts("sample/ids"));
  dataset.feature_names = feature_names_of(reading, file->texts("observation/ids"), dataset.notes);
  const auto samples = std::ssize(dataset.row_names);
  const auto features = std::ssize(dataset.feature_names);
  check_shape(reading, samples, features);
  dataset.x = make_sparse<T>(reading,
                             CompressedArrays<T>{samples, features, file->numbers<std::int64_t>("sample/matrix/indptr"),
                                                 file->numbers<std::int32_t>("sample/matrix/indices"),
                                                 file->numbers<T>("sample/matrix/data"), false});
  if (file->is_group("observation/metadata"))
    for (const auto& name : file->members("observation/metadata"))
      if (const auto path = "observation/metadata/" + name; !file->is_group(path))
        annotate(reading, name, read_annotation(*file, path, features), dataset);
  if (!file->is_group("sample/metadata")) return result;
  for (const auto& name : file->members("sample/metadata")) {
    const auto path = "sample/metadata/" + name;
    if (file->is_group(path) || file->shape(path) != std::vector{samples}) continue;  // lists, such as taxonomies
    result.table.columns.push_back({name, [file, path] { return file->texts(path); }});
  }
  return result;
}

/// The time of writing as BIOM requires it. SOURCE_DATE_EPOCH stands for it if it is set, so that equal datasets can be
/// equal files.
std::string creation_date() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"))
    now = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(now));
}

template <class T>
void write_axis(Hdf5Writer& file, const std::string& axis, const std::vector<std::string>& names,
                const SparseMatrix<T>& x) {
  file.group(axis);
  file.texts(axis + "/ids", names);
  file.group(axis + "/matrix");
  const std::vector<double> values(x.values.begin(), x.values.end());
  const std::vector<std::int32_t> offsets(x.offsets.begin(), x.offsets.end());
  file.numbers<double>(axis + "/matrix/data", values);
  file.numbers<std::int32_t>(axis + "/matrix/indices", x.indices.span());
  file.numbers<std::int32_t>(axis + "/matrix/indptr", offsets);
  file.group(axis + "/metadata");
  file.group(axis + "/group-metadata");
}

const ZipArchive::Member* find_table(const ZipArchive& archive) {
  for (const auto& member : archive.members())
    if (member.name.find("/data/") != std::string::npos && member.name.ends_with(".biom")) return &member;
  return nullptr;
}

}  // namespace

bool looks_like_biom(std::string_view bytes) {
  return hdf5_has(bytes, {"observation", "sample"}) || is_biom_json(bytes);
}

bool looks_like_qza(std::string_view bytes) {
  if (!is_zip(bytes)) return false;
  try {
    const std::string name;
    return find_table(ZipArchive(bytes, name)) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

template <class T>
Dataset<T> read_biom(const Reading& reading) {
  if (reading.options.transpose)
    fail_usage("{}: --transpose cannot be given: a BIOM table says which are its samples", reading.name);
  if (!is_hdf5(reading.text)) return finish_dataset(reading, read_biom_json<T>(reading));
  return finish_dataset(reading, read_biom_hdf5<T>(reading, std::make_shared<Hdf5File>(reading)));
}

template <class T>
Dataset<T> read_qza(const Reading& reading) {
  if (!is_zip(reading.text))
    fail("{}: is no artifact of QIIME 2: it begins with {}, and a zip archive is expected", reading.name,
         shown(reading.text.substr(0, 4)));
  const ZipArchive archive(reading.text, reading.name);
  const auto* table = find_table(archive);
  if (table == nullptr)
    fail("{}: holds no feature table (data/feature-table.biom); export one of the type FeatureTable", reading.name);
  const auto content = archive.read(*table, cpu_budget(reading.context));
  return read_biom<T>({reading.context, content.bytes, reading.name, reading.options, reading.chunk_bytes});
}

template <class T>
void write_biom(const Writing<T>& writing) {
  check_numbers_only(writing);
  const auto& dataset = writing.dataset;
  const int threads = writing.context.threads();
  const auto* sparse = std::get_if<SparseMatrix<T>>(&dataset.x);
  SparseMatrix<T> made;
  if (sparse == nullptr) made = to_sparse(std::get<DenseMatrix<T>>(dataset.x), threads);
  const auto& by_samples = sparse == nullptr ? made : *sparse;
  if (by_samples.nonzeros() > std::numeric_limits<std::int32_t>::max())
    fail("{}: BIOM counts in 32 bits, and the dataset has {}; write h5ad or npz", writing.path,
         counted(by_samples.nonzeros(), "value"));
  Hdf5Writer file(writing.path);
  file.attribute("/", "id", std::string("No Table ID"));
  file.attribute("/", "type", std::string());
  file.attribute("/", "format-url", std::string("http://biom-format.org"));
  file.attribute("/", "format-version", std::vector<std::int64_t>{2, 1});
  file.attribute("/", "generated-by", fmt::format("sheaf {}", sheaf::version()));
  file.attribute("/", "creation-date", creation_date());
  file.attribute("/", "shape", std::vector<std::int64_t>{dataset.features(), dataset.rows()});
  file.attribute("/", "nnz", by_samples.nonzeros());
  write_axis(file, "observation", written_feature_names(dataset), transpose(by_samples, threads));
  write_axis(file, "sample", written_row_names(dataset), by_samples);
  for (const auto& column : dataset.annotations) write_annotation(file, column);
  for (const auto& column : written_columns(dataset)) {
    const auto path = "sample/metadata/" + hdf5_name(column.name);
    if (column.numbers.empty())
      file.texts(path, column.texts);
    else
      file.numbers<double>(path, column.numbers);
  }
  file.finish();
}

template Dataset<float> read_biom(const Reading&);
template Dataset<double> read_biom(const Reading&);
template Dataset<float> read_qza(const Reading&);
template Dataset<double> read_qza(const Reading&);
template void write_biom(const Writing<float>&);
template void write_biom(const Writing<double>&);

}  // namespace sheaf
