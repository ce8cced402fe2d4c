// Archives of NumPy arrays. A dense matrix is the array X (or the only one of two dimensions); a sparse one is as
// scipy.sparse.save_npz() has it: format, shape, data and indices, indptr or row, col. Beside it may stand
// feature_names, row_names, and arrays with one entry a row, of which y is the label.
#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/bytes/zip.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/matrices/npy.hpp"
#include "data/read/columns.hpp"

namespace sheaf {
namespace {

constexpr std::string_view npy_ending = ".npy";

/// The arrays of an archive. They are unpacked when they are requested.
class Archive {
 public:
  explicit Archive(const Reading& reading) : reading_(reading), zip_(reading.text, reading.name) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& member : zip_.members())
      if (member.name.ends_with(npy_ending))
        names.push_back(member.name.substr(0, member.name.size() - npy_ending.size()));
    return names;
  }
  bool has(const std::string& name) const { return zip_.find(name + std::string(npy_ending)) != nullptr; }

  /// An Error if it is not there. The memory lives as long as the archive.
  NpyArray array(const std::string& name) {
    const auto* member = zip_.find(name + std::string(npy_ending));
    if (member == nullptr) fail("{}: has no array '{}'; its arrays are {}", reading_.name, name, some_names(names()));
    contents_.push_back(zip_.read(*member, cpu_budget(reading_.context) - unpacked_));
    unpacked_ += contents_.back().memory.size();
    return parse_npy(reading_, contents_.back().bytes, fmt::format("the array '{}'", name));
  }
  /// "X (3 x 2), y (3)".
  std::string list() {
    std::vector<std::string> texts;
    for (const auto& name : names()) texts.push_back(fmt::format("{} ({})", name, array(name).shape_text()));
    return some_names(texts);
  }

 private:
  const Reading& reading_;
  ZipArchive zip_;
  std::deque<ZipArchive::Content> contents_;
  std::int64_t unpacked_ = 0;
};

std::string find_matrix(const Reading& reading, Archive& archive) {
  for (const auto* name : {"X", "x"})
    if (archive.has(name)) return name;
  std::string found;
  for (const auto& name : archive.names()) {
    if (archive.array(name).shape.size() != 2) continue;
    if (!found.empty()) found = "?";
    if (found.empty()) found = name;
  }
  if (found.empty() || found == "?")
    fail(
        "{}: which of its arrays is the matrix does not show: {}; save it as X, and the labels as y: numpy.savez(path, "
        "X=x, y=y)",
        reading.name, archive.list());
  return found;
}

std::vector<std::int64_t> sizes_of(const Reading& reading, Archive& archive) {
  const auto shape = archive.array("shape");
  const auto sizes = elements_of<std::int64_t>(reading, shape);
  if (sizes.size() != 2) fail("{}: its shape has {} sizes; two are expected", reading.name, sizes.size());
  return {sizes[0], sizes[1]};
}

template <class T>
SparseMatrix<T> read_sparse(const Reading& reading, Archive& archive) {
  const auto format = texts_of(reading, archive.array("format"));
  const auto kind = format.empty() ? std::string() : format.front();
  auto sizes = sizes_of(reading, archive);
  const bool transpose = reading.options.transpose;
  if (kind != "csr" && kind != "csc" && kind != "coo")
    fail("{}: is a sparse matrix of SciPy in the format {}; csr, csc or coo is expected: x.tocsr()", reading.name,
         shown(kind));
  if (transpose) std::swap(sizes[0], sizes[1]);
  check_shape(reading, sizes[0], sizes[1]);
  auto values = elements_of<T>(reading, archive.array("data"));
  if (kind == "coo") {
    auto rows = elements_of<std::int32_t>(reading, archive.array("row"));
    auto columns = elements_of<std::int32_t>(reading, archive.array("col"));
    if (rows.size() != values.size() || columns.size() != values.size())
      fail("{}: has {}, {} and {} of them; as many of each are expected", reading.name, counted(values.size(), "value"),
           counted(rows.size(), "row"), counted(columns.size(), "column"));
    if (transpose) std::swap(rows, columns);
    return make_sparse<T>(reading,
                          Triplets<T>{sizes[0], sizes[1], std::move(rows), std::move(columns), std::move(values)});
  }
  auto offsets = elements_of<std::int64_t>(reading, archive.array("indptr"));
  auto indices = elements_of<std::int32_t>(reading, archive.array("indices"));
  return make_sparse<T>(reading, CompressedArrays<T>{sizes[0], sizes[1], std::move(offsets), std::move(indices),
                                                     std::move(values), (kind == "csc") != transpose});
}

/// Names of rows or features; an Error unless there are `count`.
std::vector<std::string> read_names(const Reading& reading, Archive& archive, const std::string& name,
                                    std::int64_t count, std::string_view what) {
  if (!archive.has(name)) return {};
  auto names = texts_of(reading, archive.array(name));
  if (std::ssize(names) != count)
    fail("{}: '{}' has {}, and the matrix has {} {}s", reading.name, name, counted(names.size(), "entry"), count, what);
  return names;
}

std::string_view bytes_of(const void* data, std::int64_t bytes) {
  return {static_cast<const char*>(data), static_cast<std::size_t>(bytes)};
}

constexpr char order_here = std::endian::native == std::endian::little ? '<' : '>';

template <class Element>
void add_array(ZipWriter& zip, const std::string& name, const Array<Element>& values,
               std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {values.size()};
  const auto descr = fmt::format("{}{}{}", order_here, std::is_floating_point_v<Element> ? 'f' : 'i', sizeof(Element));
  zip.add(name + std::string(npy_ending), {npy_header(descr, shape), bytes_of(values.data(), values.bytes())});
}

/// Code points of a UTF-8 text.
std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) == 0x80 && !codes.empty())
      codes.back() = codes.back() << 6U | (byte & 0x3FU);
    else
      codes.push_back(byte < 0x80 ? byte : byte < 0xE0 ? byte & 0x1FU : byte < 0xF0 ? byte & 0xFU : byte & 7U);
  }
  return codes;
}

/// Stored as NumPy's texts of a fixed length. `shape` empty: a single text.
void add_texts(ZipWriter& zip, const std::string& name, const std::vector<std::string>& texts, bool single = false) {
  std::vector<std::vector<std::uint32_t>> codes;
  std::size_t longest = 1;
  for (const auto& text : texts) longest = std::max(longest, codes.emplace_back(code_points(text)).size());
  std::vector<std::uint32_t> data(longest * texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(codes[i].begin(), codes[i].end(), data.begin() + static_cast<std::ptrdiff_t>(i * longest));
  const auto shape = single ? std::vector<std::int64_t>{} : std::vector{std::ssize(texts)};
  zip.add(name + std::string(npy_ending),
          {npy_header(fmt::format("{}U{}", order_here, longest), shape),
           bytes_of(data.data(), static_cast<std::int64_t>(data.size() * sizeof(std::uint32_t)))});
}

}  // namespace

bool looks_like_npz(std::string_view bytes) {
  if (!is_zip(bytes)) return false;
  try {
    const std::string name;
    const auto members = ZipArchive(bytes, name).members();
    return std::any_of(members.begin(), members.end(), [](const auto& one) { return one.name.ends_with(npy_ending); });
  } catch (const Error&) {
    return false;
  }
}

template <class T>
Dataset<T> read_npz(const Reading& reading) {
  if (!is_zip(reading.text))
    fail("{}: is no archive of NumPy arrays: it begins with {}, and a zip archive is expected", reading.name,
         shown(reading.text.substr(0, 6)));
  const auto archive = std::make_shared<Archive>(reading);
  std::vector<std::string> taken{"format", "shape", "data", "indices", "indptr", "row", "col"};
  MatrixFile<T> file;
  auto& dataset = file.dataset;
  if (archive->has("format") && archive->has("data")) {
    dataset.x = read_sparse<T>(reading, *archive);
  } else {
    taken = {find_matrix(reading, *archive)};
    dataset.x = dense_of<T>(reading, archive->array(taken.front()), reading.options.transpose);
  }
  dataset.feature_names = feature_names_of(
      reading, read_names(reading, *archive, "feature_names", dataset.features(), "feature"), dataset.notes);
  dataset.row_names = row_names_of(reading, read_names(reading, *archive, "row_names", dataset.rows(), "row"));
  std::string label = "y";
  if (archive->has("label_name"))
    if (const auto names = texts_of(reading, archive->array("label_name")); names.size() == 1) label = names.front();
  taken.insert(taken.end(), {"feature_names", "row_names", "label_name"});
  for (const auto& name : archive->names()) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) continue;
    const auto rows = dataset.rows();
    file.table.columns.push_back({name, [&reading, archive, name, rows] {
                                    const auto array = archive->array(name);
                                    const bool column =
                                        array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1);
                                    if (!column || array.shape[0] != rows)
                                      fail("{}: {} has the shape {}; one entry for each of the {} is expected",
                                           reading.name, array.what, array.shape_text(), counted(rows, "row"));
                                    return texts_of(reading, array);
                                  }});
  }
  auto result = finish_dataset(reading, std::move(file));
  if (result.target.name == "y") result.target.name = label;
  return result;
}

template <class T>
void write_npz(const Writing<T>& writing) {
  check_numbers_only(writing);
  const auto& dataset = writing.dataset;
  const auto sink = open_sink(writing.path);
  ZipWriter zip(*sink);
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    add_array(zip, "X", dense->values, {dense->rows, dense->columns});
  } else {
    const auto& x = std::get<SparseMatrix<T>>(dataset.x);
    const std::array<std::int64_t, 2> shape{x.rows, x.columns};
    const bool small = x.nonzeros() <= std::numeric_limits<std::int32_t>::max();
    zip.add("format.npy", {npy_header("|S3", {}), "csr"});
    add_array(zip, "shape", Array<std::int64_t>::copy_of(shape));
    add_array(zip, "data", x.values);
    add_array(zip, "indices", x.indices);
    if (small) {  // SciPy requires indices and offsets of one type
      Array<std::int32_t> offsets(x.offsets.size());
      std::transform(x.offsets.begin(), x.offsets.end(), offsets.begin(),
                     [](auto k) { return static_cast<std::int32_t>(k); });
      add_array(zip, "indptr", offsets);
    } else {
      add_array(zip, "indptr", x.offsets);
    }
  }
  if (!dataset.feature_names.empty()) add_texts(zip, "feature_names", dataset.feature_names);
  if (const auto names = written_row_names(dataset); names.back() != std::to_string(names.size()))
    add_texts(zip, "row_names", names);
  auto columns = written_columns(dataset);
  std::set<std::string> written{"X",      "x",     "feature_names", "row_names", "label_name",
                                "format", "shape", "data",          "indices",   "indptr"};
  if (!dataset.target.empty()) {
    std::rotate(columns.begin(), columns.end() - 1, columns.end());
    if (!dataset.target.name.empty() && dataset.target.name != "y")
      add_texts(zip, "label_name", {dataset.target.name}, true);
    columns.front().name = "y";
  }
  for (auto& column : columns) {
    while (written.count(column.name) > 0) column.name += '_';
    written.insert(column.name);
    if (column.numbers.empty())
      add_texts(zip, column.name, column.texts);
    else
      add_array(zip, column.name, Array<double>::copy_of(column.numbers));
  }
  zip.finish();
  sink->finish();
}

template Dataset<float> read_npz(const Reading&);
template Dataset<double> read_npz(const Reading&);
template void write_npz(const Writing<float>&);
template void write_npz(const Writing<double>&);

}  // namespace sheaf
