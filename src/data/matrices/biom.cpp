// BIOM tables: version 1.0 (JSON) and 2.1 (HDF5), and QIIME 2's artifacts (.qza), which are zip archives with such a
// table inside. Observations are features, samples are rows. Metadata of samples are columns about the rows.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "data/budget.hpp"
#include "data/bytes/zip.hpp"
#include "data/matrices/hdf5.hpp"
#include "data/matrices/matrix_file.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::json;

constexpr std::string_view biom_words = "Biological Observation Matrix";

/// Whether the text is JSON that identifies itself near its beginning or end, where writers put it.
bool is_biom_json(std::string_view bytes) {
  constexpr std::size_t looked_at = 1 << 16;
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '{') return false;
  const auto holds = [](std::string_view part) { return part.find(biom_words) != std::string_view::npos; };
  return holds(bytes.substr(0, looked_at)) || holds(bytes.substr(bytes.size() - std::min(bytes.size(), looked_at)));
}

/// A value of metadata as text: parts of a list are joined.
std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& part : value) text += (text.empty() ? "" : "; ") + text_of(part);
  return text;
}

class BiomJson {
 public:
  explicit BiomJson(const Reading& reading) : reading_(reading) {
    constexpr double bytes_for_one = 16;  // of the tree, for one of the text
    check_memory(reading, static_cast<double>(reading.text.size()) * bytes_for_one, "a BIOM table as JSON");
    table_ = Json::parse(reading.text, nullptr, false);
    if (table_.is_discarded() || !table_.is_object())
      fail("{}: is no JSON; a BIOM table (1.0: JSON, 2.1: HDF5) is expected", reading.name);
  }

  template <class T>
  MatrixFile<T> read() const {
    const auto& shape = member("shape");
    if (!shape.is_array() || shape.size() != 2) fail("{}: its 'shape' must be two numbers", reading_.name);
    const auto features = index(shape[0], "shape");
    const auto samples = index(shape[1], "shape");
    check_shape(reading_, samples, features);
    MatrixFile<T> file;
    auto& dataset = file.dataset;
    dataset.feature_names = feature_names_of(reading_, ids("rows", features), dataset.notes);
    dataset.row_names = row_names_of(reading_, ids("columns", samples));
    const auto kind = text_of(member("matrix_type"));
    if (kind == "sparse")
      dataset.x = sparse<T>(samples, features);
    else if (kind == "dense")
      dataset.x = dense<T>(samples, features);
    else
      fail("{}: its 'matrix_type' is {}; sparse or dense is expected", reading_.name, shown(kind));
    file.table = table_of_samples();
    return file;
  }

 private:
  const Json& member(const char* name) const {
    const auto found = table_.find(name);
    if (found == table_.end()) fail("{}: has no '{}', which every BIOM table has", reading_.name, name);
    return *found;
  }
  std::int64_t index(const Json& value, std::string_view what) const {
    if (!value.is_number_integer())
      fail("{}: a whole number expected in '{}', found {}", reading_.name, what, shown(value.dump()));
    return value.get<std::int64_t>();
  }
  template <class T>
  T number(const Json& value) const {
    if (value.is_null()) return std::numeric_limits<T>::quiet_NaN();
    if (!value.is_number()) fail("{}: a number expected in 'data', found {}", reading_.name, shown(value.dump()));
    return value.get<T>();
  }
  std::vector<std::string> ids(const char* name, std::int64_t count) const {
    const auto& list = member(name);
    if (!list.is_array() || static_cast<std::int64_t>(list.size()) != count)
      fail("{}: '{}' has {} entries, and the shape says {}", reading_.name, name, list.size(), count);
    std::vector<std::string> result;
    for (const auto& one : list) {
      if (!one.is_object() || !one.contains("id")) fail("{}: an entry of '{}' has no id", reading_.name, name);
      result.push_back(text_of(one["id"]));
    }
    return result;
  }
  const Json& data() const {
    const auto& list = member("data");
    if (!list.is_array()) fail("{}: its 'data' is no list", reading_.name);
    return list;
  }
  template <class T>
  SparseMatrix<T> sparse(std::int64_t samples, std::int64_t features) const {
    const auto& list = data();
    const auto count = static_cast<std::int64_t>(list.size());
    Triplets<T> triplets{samples, features, Array<std::int32_t>(count), Array<std::int32_t>(count), Array<T>(count)};
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t k = 0; k < count; ++k) {
      const auto& entry = list[static_cast<std::size_t>(k)];
      if (!entry.is_array() || entry.size() != 3)
        fail("{}: entry {} of 'data' must be [observation, sample, value], found {}", reading_.name, k + 1,
             shown(entry.dump()));
      triplets.column_of[k] = static_cast<std::int32_t>(std::clamp<std::int64_t>(index(entry[0], "data"), -1, most));
      triplets.row_of[k] = static_cast<std::int32_t>(std::clamp<std::int64_t>(index(entry[1], "data"), -1, most));
      triplets.values[k] = number<T>(entry[2]);
    }
    return make_sparse<T>(reading_, std::move(triplets));
  }
  template <class T>
  DenseMatrix<T> dense(std::int64_t samples, std::int64_t features) const {
    const auto& list = data();
    check_memory(reading_, dense_bytes(samples, features, sizeof(T)),
                 fmt::format("{} rows of {} features", samples, features));
    if (static_cast<std::int64_t>(list.size()) != features)
      fail("{}: 'data' has {} rows, and the shape says {}", reading_.name, list.size(), features);
    DenseMatrix<T> x{samples, features, Array<T>(samples * features)};
    for (std::int64_t j = 0; j < features; ++j) {
      const auto& row = list[static_cast<std::size_t>(j)];
      if (!row.is_array() || static_cast<std::int64_t>(row.size()) != samples)
        fail("{}: row {} of 'data' has {} values, and the shape says {}", reading_.name, j + 1, row.size(), samples);
      for (std::int64_t i = 0; i < samples; ++i)
        x.values[i * features + j] = number<T>(row[static_cast<std::size_t>(i)]);
    }
    return x;
  }
  RowTable table_of_samples() const {
    std::vector<std::string> names;
    const auto& samples = member("columns");
    for (const auto& sample : samples) {
      if (!sample.contains("metadata") || !sample["metadata"].is_object()) continue;
      for (const auto& [name, value] : sample["metadata"].items())
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    RowTable table;
    for (const auto& name : names) {
      std::vector<std::string> cells;
      for (const auto& sample : samples) {
        const bool there =
            sample.contains("metadata") && sample["metadata"].is_object() && sample["metadata"].contains(name);
        cells.push_back(there ? text_of(sample["metadata"][name]) : std::string());
      }
      table.columns.push_back({name, [cells] { return cells; }});
    }
    return table;
  }

  const Reading& reading_;
  Json table_;
};

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
  if (!is_hdf5(reading.text)) return finish_dataset(reading, BiomJson(reading).read<T>());
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
    fail("{}: BIOM counts in 32 bits, and the dataset has {} values; write h5ad or npz", writing.path,
         by_samples.nonzeros());
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
