// AnnData (.h5ad): X or a layer, dense or compressed rows or columns; obs are columns about the rows, var names
// features. 10x Genomics (.h5): compressed columns of a matrix of genes x cells, which are compressed rows of cells.
#include <algorithm>
#include <memory>

#include "core/fail.hpp"
#include "data/budget.hpp"
#include "data/hdf5/hdf5.hpp"
#include "data/matrices/annotations.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/read/columns.hpp"

namespace sheaf {
namespace {

using File = std::shared_ptr<Hdf5File>;

/// The index of a data frame (obs or var).
std::string index_of(const Reading& reading, const Hdf5File& file, const std::string& frame) {
  if (!file.is_group(frame))
    fail("{}: its '{}' is no group; files of anndata before 0.7 are not read: open it there and write it again",
         reading.name, frame);
  if (file.has_attribute(frame, "_index")) return file.text_attribute(frame, "_index");
  for (const auto* name : {"_index", "index"})
    if (file.has(frame + "/" + name)) return name;
  fail("{}: '{}' has no index of names", reading.name, frame);
}

std::vector<std::string> from_codes(const Reading& reading, const Hdf5File& file, const std::string& codes,
                                    const std::string& categories) {
  const auto names = file.texts(categories);
  std::vector<std::string> cells;
  for (const auto code : file.numbers<std::int64_t>(codes)) {
    if (code >= std::ssize(names))
      fail("{}: '{}' has the code {}, and there are {} categories", reading.name, codes, code, names.size());
    cells.push_back(code < 0 ? std::string() : names[static_cast<std::size_t>(code)]);
  }
  return cells;
}

/// A column of obs or var: an array, a categorical one (since 0.8 a group, before that codes), or one with a mask.
std::vector<std::string> frame_cells(const Reading& reading, const Hdf5File& file, const std::string& frame,
                                     const std::string& name, std::int64_t count) {
  const auto path = frame + "/" + name;
  const auto before = frame + "/__categories/" + name;
  std::vector<std::string> cells;
  if (file.is_group(path) && file.has(path + "/codes")) {
    cells = from_codes(reading, file, path + "/codes", path + "/categories");
  } else if (file.is_group(path) && file.has(path + "/mask")) {
    cells = file.texts(path + "/values");
    const auto mask = file.numbers<std::int32_t>(path + "/mask");
    if (mask.size() != std::ssize(cells))
      fail("{}: '{}' has {} values and {} entries of its mask", reading.name, path, cells.size(), mask.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (mask[static_cast<std::int64_t>(i)] != 0) cells[i].clear();
  } else if (file.is_group(path)) {
    fail("{}: '{}' is stored in a way that is not known; write it as a plain column", reading.name, path);
  } else {
    cells = file.has(before) ? from_codes(reading, file, path, before) : file.texts(path);
  }
  if (std::ssize(cells) != count)
    fail("{}: '{}' has {} entries, and {} are expected by the matrix", reading.name, path, cells.size(), count);
  return cells;
}

/// Whether a column of a data frame holds texts or categories; numbers, such as mean counts, are no annotation.
bool holds_texts(const Hdf5File& file, const std::string& frame, const std::string& name) {
  const auto path = frame + "/" + name;
  if (file.is_group(path)) return file.has(path + "/categories") && file.is_text(path + "/categories");
  const auto before = frame + "/__categories/" + name;
  return file.has(before) ? file.is_text(before) : file.is_text(path);
}

template <class T>
void read_annotations(const Reading& reading, const Hdf5File& file, const std::string& frame, Dataset<T>& dataset) {
  const auto index = index_of(reading, file, frame);
  for (const auto& name : file.members(frame))
    if (name != index && name != "__categories" && holds_texts(file, frame, name))
      annotate(reading, name, frame_cells(reading, file, frame, name, dataset.features()), dataset);
}

template <class T>
SparseMatrix<T> read_columns(const Reading& reading, const Hdf5File& file, const std::string& path, std::int64_t rows,
                             std::int64_t columns) {
  const auto length = [&](const std::string& part) { return file.count(path + part); };
  return make_sparse<T>(
      reading, ColumnPieces<T>{
                   rows, columns, file.numbers<std::int64_t>(path + "/indptr"), length("/indices"), length("/data"),
                   [&](std::int64_t first, std::span<std::int32_t> to) { file.numbers(path + "/indices", first, to); },
                   [&](std::int64_t first, std::span<T> to) { file.numbers(path + "/data", first, to); }});
}

template <class T>
Matrix<T> read_x(const Reading& reading, const Hdf5File& file, const std::string& path) {
  if (!file.is_group(path)) {
    const auto shape = file.shape(path);
    if (shape.size() != 2) fail("{}: '{}' has {} dimensions; two are expected", reading.name, path, shape.size());
    check_shape(reading, shape[0], shape[1]);
    return DenseMatrix<T>{shape[0], shape[1], file.numbers<T>(path)};
  }
  const bool old = !file.has_attribute(path, "encoding-type");
  const auto kind = file.text_attribute(path, old ? "h5sparse_format" : "encoding-type");
  const auto shape = file.number_attribute(path, old ? "h5sparse_shape" : "shape");
  const bool by_rows = kind.starts_with("csr");
  if (!by_rows && !kind.starts_with("csc"))
    fail("{}: '{}' is stored as {}; an array, csr_matrix or csc_matrix is expected", reading.name, path, shown(kind));
  if (shape.size() != 2) fail("{}: the shape of '{}' has {} sizes; two are expected", reading.name, path, shape.size());
  check_shape(reading, shape[0], shape[1]);
  if (!by_rows) return read_columns<T>(reading, file, path, shape[0], shape[1]);
  return make_sparse<T>(reading, CompressedArrays<T>{shape[0], shape[1], file.numbers<std::int64_t>(path + "/indptr"),
                                                     file.numbers<std::int32_t>(path + "/indices"),
                                                     file.numbers<T>(path + "/data"), false});
}

/// The matrix that the options mean, and the frame that names its features.
std::pair<std::string, std::string> find_x(const Reading& reading, const Hdf5File& file) {
  const auto& layer = reading.options.layer;
  if ((layer.empty() || layer == "X") && file.has("X")) return {"X", "var"};
  std::vector<std::string> layers;
  if (file.is_group("layers")) layers = file.members("layers");
  if (std::find(layers.begin(), layers.end(), layer) != layers.end()) return {"layers/" + layer, "var"};
  if (layer == "raw" && file.has("raw/X")) return {"raw/X", "raw/var"};
  if (file.has("raw/X")) layers.emplace_back("raw");
  if (layers.empty()) fail("{}: has no matrix X{}", reading.name, layer.empty() ? "" : " and no layers (--layer)");
  fail_usage("{}: has no {}; --layer names one of {}", reading.name,
             layer.empty() ? "matrix X" : fmt::format("layer {}", shown(layer)), some_names(layers));
}

void refuse_transpose(const Reading& reading) {
  if (reading.options.transpose)
    fail_usage("{}: --transpose cannot be given: the file says which are its cells", reading.name);
}

template <class T>
void check_names_count(const Reading& reading, const Dataset<T>& dataset) {
  if (std::ssize(dataset.row_names) != dataset.rows() || std::ssize(dataset.feature_names) != dataset.features())
    fail("{}: the matrix has {} rows and {} features, and there are names of {} and {}", reading.name, dataset.rows(),
         dataset.features(), dataset.row_names.size(), dataset.feature_names.size());
}

void encode(Hdf5Writer& file, const std::string& path, const std::string& type, const std::string& version) {
  file.attribute(path, "encoding-type", type);
  file.attribute(path, "encoding-version", version);
}

void write_strings(Hdf5Writer& file, const std::string& path, const std::vector<std::string>& texts) {
  file.texts(path, texts);
  encode(file, path, "string-array", "0.2.0");
}

void write_frame(Hdf5Writer& file, const std::string& path, const std::vector<std::string>& names,
                 const std::vector<std::string>& columns) {
  file.group(path);
  encode(file, path, "dataframe", "0.2.0");
  file.attribute(path, "_index", std::string("_index"));
  file.attribute(path, "column-order", columns);
  write_strings(file, path + "/_index", names);
}

void write_categories(Hdf5Writer& file, const std::string& path, const std::vector<std::string>& names,
                      const std::vector<std::int32_t>& codes) {
  file.group(path);
  encode(file, path, "categorical", "0.2.0");
  file.truth_attribute(path, "ordered", false);
  write_strings(file, path + "/categories", names);
  file.numbers<std::int32_t>(path + "/codes", codes);
  encode(file, path + "/codes", "array", "0.2.0");
}

template <class T>
void write_x(Hdf5Writer& file, const Matrix<T>& matrix) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&matrix)) {
    file.numbers<T>("X", dense->values.span(), {dense->rows, dense->columns});
    encode(file, "X", "array", "0.2.0");
    return;
  }
  const auto& x = std::get<SparseMatrix<T>>(matrix);
  file.group("X");
  encode(file, "X", "csr_matrix", "0.1.0");
  file.attribute("X", "shape", std::vector<std::int64_t>{x.rows, x.columns});
  file.numbers<T>("X/data", x.values.span());
  file.numbers<std::int32_t>("X/indices", x.indices.span());
  if (x.nonzeros() > std::numeric_limits<std::int32_t>::max())
    return file.numbers<std::int64_t>("X/indptr", x.offsets.span());
  const std::vector<std::int32_t> offsets(x.offsets.begin(), x.offsets.end());  // SciPy requires both of one type
  file.numbers<std::int32_t>("X/indptr", offsets);
}

}  // namespace

bool looks_like_h5ad(std::string_view bytes) { return hdf5_has(bytes, {"obs", "var"}); }

bool looks_like_tenx(std::string_view bytes) { return hdf5_has(bytes, {"matrix", "matrix/barcodes"}); }

template <class T>
Dataset<T> read_h5ad(const Reading& reading) {
  refuse_transpose(reading);
  const auto file = std::make_shared<Hdf5File>(reading);
  if (!file->has("obs") || !file->has("var"))
    fail("{}: is an HDF5 file, but none of AnnData: it has no 'obs' and 'var'", reading.name);
  const auto [matrix, frame] = find_x(reading, *file);
  MatrixFile<T> result;
  auto& dataset = result.dataset;
  dataset.x = read_x<T>(reading, *file, matrix);
  const auto index = index_of(reading, *file, "obs");
  dataset.row_names = row_names_of(reading, file->texts("obs/" + index));
  dataset.feature_names =
      feature_names_of(reading, file->texts(frame + "/" + index_of(reading, *file, frame)), dataset.notes);
  check_names_count(reading, dataset);
  const auto rows = dataset.rows();
  for (const auto& name : file->members("obs"))
    if (name != index && name != "__categories")
      result.table.columns.push_back(
          {name, [&reading, file, name, rows] { return frame_cells(reading, *file, "obs", name, rows); }});
  read_annotations(reading, *file, frame, dataset);
  return finish_dataset(reading, std::move(result));
}

template <class T>
Dataset<T> read_tenx(const Reading& reading) {
  refuse_transpose(reading);
  const Hdf5File file(reading);
  for (const auto* part : {"barcodes", "data", "indices", "indptr", "shape", "features/id"})
    if (!file.has(std::string("matrix/") + part))
      fail("{}: is no file of Cell Ranger 3 or later: it has no 'matrix/{}'", reading.name, part);
  const auto shape = file.numbers<std::int64_t>("matrix/shape");
  if (shape.size() != 2) fail("{}: 'matrix/shape' has {} sizes; two are expected", reading.name, shape.size());
  check_shape(reading, shape[1], shape[0]);
  MatrixFile<T> result;
  auto& dataset = result.dataset;
  dataset.x =
      make_sparse<T>(reading, CompressedArrays<T>{shape[1], shape[0], file.numbers<std::int64_t>("matrix/indptr"),
                                                  file.numbers<std::int32_t>("matrix/indices"),
                                                  file.numbers<T>("matrix/data"), false});
  dataset.row_names = row_names_of(reading, file.texts("matrix/barcodes"));
  dataset.feature_names = feature_names_of(reading, file.texts("matrix/features/id"), dataset.notes);
  check_names_count(reading, dataset);
  for (const auto* name : {"name", "feature_type", "genome"})
    if (const auto path = std::string("matrix/features/") + name; file.has(path))
      annotate(reading, name, file.texts(path), dataset);
  return finish_dataset(reading, std::move(result));
}

template <class T>
void write_h5ad(const Writing<T>& writing) {
  check_numbers_only(writing);
  const auto& dataset = writing.dataset;
  Hdf5Writer file(writing.path);
  encode(file, "/", "anndata", "0.1.0");
  write_x(file, dataset.x);
  const auto columns = written_columns(dataset);
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(hdf5_name(column.name));
  write_frame(file, "obs", written_row_names(dataset), names);
  std::vector<std::string> annotations;
  for (const auto& column : dataset.annotations) annotations.push_back(hdf5_name(column.name));
  write_frame(file, "var", written_feature_names(dataset), annotations);
  for (std::size_t k = 0; k < annotations.size(); ++k)
    write_strings(file, "var/" + annotations[k], dataset.annotations[k].values);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto path = "obs/" + names[k];
    const bool is_label = !dataset.target.empty() && k + 1 == columns.size();
    if (is_label && columns[k].numbers.empty()) {
      write_categories(file, path, dataset.target.class_names, dataset.target.classes);
    } else if (is_label) {
      file.numbers<double>(path, columns[k].numbers);
      encode(file, path, "array", "0.2.0");
    } else {
      write_strings(file, path, columns[k].texts);
    }
  }
  for (const auto* group : {"layers", "obsm", "obsp", "varm", "varp", "uns"}) {
    file.group(group);
    encode(file, group, "dict", "0.1.0");
  }
  file.finish();
}

template Dataset<float> read_h5ad(const Reading&);
template Dataset<double> read_h5ad(const Reading&);
template Dataset<float> read_tenx(const Reading&);
template Dataset<double> read_tenx(const Reading&);
template void write_h5ad(const Writing<float>&);
template void write_h5ad(const Writing<double>&);

}  // namespace sheaf
