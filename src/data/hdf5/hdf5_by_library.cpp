#include "data/hdf5/hdf5_by_library.hpp"

#ifdef SHEAF_HDF5
#include <dlfcn.h>

#include "data/hdf5/hdf5_ids.hpp"
#endif

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/fail.hpp"

namespace sheaf {

[[noreturn]] void fail_without_hdf5(std::string_view file) {
  fail("{}: is an HDF5 file, and this build has no libhdf5; install libhdf5-dev and build again", file);
}

#ifdef SHEAF_HDF5

void* hdf5_symbol(const char* name) {
  static void* const library = dlopen(SHEAF_HDF5, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(
        "HDF5 files are read and written by {}, which can not be loaded; install libhdf5 (Debian: apt-get install "
        "libhdf5-dev)",
        SHEAF_HDF5);
  void* found = dlsym(library, name);
  require(found != nullptr, "libhdf5 lacks a function that it had when this program was built");
  return found;
}

namespace {

using namespace hdf5;  // NOLINT(google-build-using-namespace): identifiers of libhdf5

/// Whether `stored` bytes can hold a dataset: deflate makes at most 1032 of one. An array that was never written has
/// none and is all zeros.
bool is_possible(double logical, hsize_t stored) {
  constexpr double best_ratio = 1032;
  return stored == 0 || logical <= static_cast<double>(stored) * best_ratio;
}

std::string until_nul(std::string_view text) { return std::string(text.substr(0, text.find('\0'))); }

}  // namespace

struct Hdf5ByLibrary::Handles {
  std::unique_lock<std::recursive_mutex> lock{library()};
  const std::string& name;
  Id file;
  Hdf5Heap heap;

  explicit Handles(const Reading& reading)
      : name(reading.name), file((be_silent(), open(reading.text)), H5Fclose), heap(reading.text) {
    if (!file.ok()) fail("{}: cannot be read as an HDF5 file; it is cut short or damaged", name);
  }
  /// Nothing is copied, and nothing is written to the bytes.
  static hid_t open(std::string_view bytes) {
    return H5LTopen_file_image(const_cast<char*>(bytes.data()), bytes.size(),
                               H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE);
  }

  [[noreturn]] void fail_path(const std::string& path, std::string_view problem) const {
    fail("{}: '{}' {}", name, path, problem);
  }
  std::string heap_text(const char* stored, const std::string& path) {
    const auto text = heap.find(HeapReference::load(stored));
    if (!text) fail_path(path, "holds a text that is not where it should be in the file; the file is damaged");
    return until_nul(*text);
  }
  /// Each part of the path is looked up, as libhdf5 requires.
  bool has(const std::string& path) const {
    for (std::size_t at = 0; at != std::string::npos;) {
      at = path.find('/', at + 1);
      if (H5Lexists(file.get(), path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(file.get(), path.c_str(), H5P_DEFAULT) > 0;
  }
  H5I_type_t kind(const std::string& path) const {
    const Id object(H5Oopen(file.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
    return object.ok() ? H5Iget_type(object.get()) : H5I_BADID;
  }
  Id dataset(const std::string& path) const {
    if (!has(path)) fail("{}: has no '{}'", name, path);
    if (kind(path) != H5I_DATASET) fail_path(path, "is no array");
    return {H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT), H5Dclose};
  }
  static std::vector<std::int64_t> shape_of(const Id& space) {
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(dimensions, 0)));
    if (dimensions > 0) H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    std::vector<std::int64_t> shape;
    for (const auto size : sizes) shape.push_back(static_cast<std::int64_t>(std::min<hsize_t>(size, INT64_MAX)));
    return shape;
  }
  /// Elements of an array; an Error if the file cannot hold as many.
  std::int64_t count(const Id& array, const std::string& path) const {
    double elements = 1;
    const auto shape = shape_of(Id(H5Dget_space(array.get()), H5Sclose));
    for (const auto size : shape) elements *= static_cast<double>(size);
    const Id type(H5Dget_type(array.get()), H5Tclose);
    const auto stored = H5Dget_storage_size(array.get());
    if (!is_possible(elements * static_cast<double>(H5Tget_size(type.get())), stored) || elements > 9e15)
      fail_path(path,
                fmt::format("declares {:.0f} elements, more than its {} stored bytes can hold", elements, stored));
    return static_cast<std::int64_t>(elements);
  }
  Id attribute(const std::string& path, const std::string& attribute_name) const {
    Id found(H5Aopen_by_name(file.get(), path.c_str(), attribute_name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!found.ok()) fail_path(path, fmt::format("has no attribute '{}'", attribute_name));
    return found;
  }
};

Hdf5ByLibrary::Hdf5ByLibrary(const Reading& reading)
    : reading_(reading), handles_(std::make_unique<Handles>(reading)) {}

Hdf5ByLibrary::~Hdf5ByLibrary() = default;

bool Hdf5ByLibrary::has(const std::string& path) const { return handles_->has(path); }

bool Hdf5ByLibrary::is_group(const std::string& path) const { return has(path) && handles_->kind(path) == H5I_GROUP; }

std::vector<std::string> Hdf5ByLibrary::members(const std::string& group) const {
  const Id opened(H5Gopen2(handles_->file.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened.ok()) handles_->fail_path(group, "is no group");
  H5G_info_t info{};
  H5Gget_info(opened.get(), &info);
  std::vector<std::string> names;
  for (hsize_t k = 0; k < info.nlinks; ++k) {
    const auto size = H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, k, nullptr, 0, H5P_DEFAULT);
    if (size < 0) handles_->fail_path(group, "cannot be listed; the file is damaged");
    std::string name(static_cast<std::size_t>(size) + 1, '\0');
    H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, k, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::int64_t> Hdf5ByLibrary::shape(const std::string& dataset) const {
  const auto array = handles_->dataset(dataset);
  return Handles::shape_of(Id(H5Dget_space(array.get()), H5Sclose));
}

std::int64_t Hdf5ByLibrary::count(const std::string& dataset) const {
  return handles_->count(handles_->dataset(dataset), dataset);
}

template <class Number>
Array<Number> Hdf5ByLibrary::numbers(const std::string& dataset) const {
  const auto array = handles_->dataset(dataset);
  const Id type(H5Dget_type(array.get()), H5Tclose);
  const auto kind = H5Tget_class(type.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) handles_->fail_path(dataset, "holds no numbers");
  const auto count = handles_->count(array, dataset);
  check_memory(reading_, static_cast<double>(count) * sizeof(Number),
               fmt::format("{} numbers of '{}'", count, dataset));
  Array<Number> values(count);
  if (count == 0) return values;
  herr_t status = -1;
  if (kind == H5T_ENUM) {  // truth values
    if (H5Tget_size(type.get()) != 1) handles_->fail_path(dataset, "holds names of an enumeration, and no numbers");
    std::vector<std::int8_t> codes(static_cast<std::size_t>(count));
    status = H5Dread(array.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, codes.data());
    std::transform(codes.begin(), codes.end(), values.begin(), [](auto code) { return static_cast<Number>(code); });
  } else {
    status = H5Dread(array.get(), native_type<Number>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  if (status < 0)
    handles_->fail_path(dataset, "cannot be read; the file is damaged or uses a filter that is not there");
  return values;
}

template <class Number>
void Hdf5ByLibrary::numbers(const std::string& dataset, std::int64_t first, std::span<Number> to) const {
  const auto array = handles_->dataset(dataset);
  const Id type(H5Dget_type(array.get()), H5Tclose);
  const auto kind = H5Tget_class(type.get());
  const bool truth = kind == H5T_ENUM && H5Tget_size(type.get()) == 1;
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && !truth) handles_->fail_path(dataset, "holds no numbers");
  const Id space(H5Dget_space(array.get()), H5Sclose);
  const bool one_dimension = H5Sget_simple_extent_ndims(space.get()) == 1;
  const bool inside = first + std::ssize(to) <= handles_->count(array, dataset);
  const hsize_t begin = static_cast<hsize_t>(first), count = to.size();
  const Id memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  std::vector<std::int8_t> codes(truth ? to.size() : 0);
  const bool selected = one_dimension && inside &&
                        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) >= 0;
  if (!selected || H5Dread(array.get(), truth ? type.get() : native_type<Number>(), memory.get(), space.get(),
                           H5P_DEFAULT, truth ? static_cast<void*>(codes.data()) : to.data()) < 0)
    handles_->fail_path(dataset, "cannot be read; the file is damaged or uses a filter that is not there");
  std::transform(codes.begin(), codes.end(), to.begin(), [](auto code) { return static_cast<Number>(code); });
}

bool Hdf5ByLibrary::is_text(const std::string& dataset) const {
  const Id type(H5Dget_type(handles_->dataset(dataset).get()), H5Tclose);
  return H5Tget_class(type.get()) == H5T_STRING;
}

std::vector<std::string> Hdf5ByLibrary::texts(const std::string& dataset) const {
  const auto array = handles_->dataset(dataset);
  const Id type(H5Dget_type(array.get()), H5Tclose);
  const auto kind = H5Tget_class(type.get());
  std::vector<std::string> texts;
  if (kind == H5T_STRING) {
    const auto count = handles_->count(array, dataset);
    const bool variable = H5Tis_variable_str(type.get()) > 0;
    const auto bytes = variable ? HeapReference::stored_bytes : H5Tget_size(type.get());
    check_memory(reading_, static_cast<double>(count) * static_cast<double>(bytes + sizeof(std::string)),
                 fmt::format("{} texts of '{}'", count, dataset));
    if (count == 0) return texts;
    std::vector<char> all(static_cast<std::size_t>(count) * bytes);
    const Id memory = variable ? reference_type() : Id(H5Tcopy(type.get()), H5Tclose);
    if (H5Dread(array.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0)
      handles_->fail_path(dataset, "cannot be read; the file is damaged");
    for (std::size_t at = 0; at < all.size(); at += bytes)
      texts.push_back(variable ? handles_->heap_text(all.data() + at, dataset) : until_nul({all.data() + at, bytes}));
    return texts;
  }
  if (kind == H5T_ENUM) {
    for (const auto value : numbers<std::int64_t>(dataset)) texts.emplace_back(value != 0 ? "True" : "False");
  } else if (kind == H5T_INTEGER) {
    for (const auto value : numbers<std::int64_t>(dataset)) texts.push_back(fmt::format("{}", value));
  } else if (H5Tget_size(type.get()) <= sizeof(float)) {
    for (const auto value : numbers<float>(dataset)) texts.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
  } else {
    for (const auto value : numbers<double>(dataset))
      texts.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
  }
  return texts;
}

bool Hdf5ByLibrary::has_attribute(const std::string& path, const std::string& name) const {
  return H5Aexists_by_name(handles_->file.get(), path.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string Hdf5ByLibrary::text_attribute(const std::string& path, const std::string& name) const {
  const auto attribute = handles_->attribute(path, name);
  const Id type(H5Aget_type(attribute.get()), H5Tclose);
  const Id space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
    handles_->fail_path(path, fmt::format("has the attribute '{}', which is not one text", name));
  const bool variable = H5Tis_variable_str(type.get()) > 0;
  std::string stored(variable ? HeapReference::stored_bytes : H5Tget_size(type.get()), '\0');
  const Id memory = variable ? reference_type() : Id(H5Tcopy(type.get()), H5Tclose);
  if (H5Aread(attribute.get(), memory.get(), stored.data()) < 0)
    handles_->fail_path(path, fmt::format("has the attribute '{}', which cannot be read; the file is damaged", name));
  return variable ? handles_->heap_text(stored.data(), path) : until_nul(stored);
}

std::vector<std::int64_t> Hdf5ByLibrary::number_attribute(const std::string& path, const std::string& name) const {
  const auto attribute = handles_->attribute(path, name);
  const Id type(H5Aget_type(attribute.get()), H5Tclose);
  const Id space(H5Aget_space(attribute.get()), H5Sclose);
  const auto count = H5Sget_simple_extent_npoints(space.get());
  constexpr hssize_t most = 16;
  if (H5Tget_class(type.get()) != H5T_INTEGER || count < 1 || count > most)
    handles_->fail_path(path, fmt::format("has the attribute '{}', which is no list of whole numbers", name));
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data());
  return values;
}

#else

struct Hdf5ByLibrary::Handles {};

Hdf5ByLibrary::Hdf5ByLibrary(const Reading& reading) : reading_(reading) { fail_without_hdf5(reading_.name); }
Hdf5ByLibrary::~Hdf5ByLibrary() = default;
bool Hdf5ByLibrary::has(const std::string&) const { return false; }
bool Hdf5ByLibrary::is_group(const std::string&) const { return false; }
std::vector<std::string> Hdf5ByLibrary::members(const std::string&) const { return {}; }
std::vector<std::int64_t> Hdf5ByLibrary::shape(const std::string&) const { return {}; }
std::int64_t Hdf5ByLibrary::count(const std::string&) const { return 0; }
template <class Number>
Array<Number> Hdf5ByLibrary::numbers(const std::string&) const {
  return {};
}
template <class Number>
void Hdf5ByLibrary::numbers(const std::string&, std::int64_t, std::span<Number>) const {}
bool Hdf5ByLibrary::is_text(const std::string&) const { return false; }
std::vector<std::string> Hdf5ByLibrary::texts(const std::string&) const { return {}; }
bool Hdf5ByLibrary::has_attribute(const std::string&, const std::string&) const { return false; }
std::string Hdf5ByLibrary::text_attribute(const std::string&, const std::string&) const { return {}; }
std::vector<std::int64_t> Hdf5ByLibrary::number_attribute(const std::string&, const std::string&) const { return {}; }
#endif

template void Hdf5ByLibrary::numbers(const std::string&, std::int64_t, std::span<float>) const;
template void Hdf5ByLibrary::numbers(const std::string&, std::int64_t, std::span<double>) const;
template void Hdf5ByLibrary::numbers(const std::string&, std::int64_t, std::span<std::int32_t>) const;
template Array<float> Hdf5ByLibrary::numbers(const std::string&) const;
template Array<double> Hdf5ByLibrary::numbers(const std::string&) const;
template Array<std::int32_t> Hdf5ByLibrary::numbers(const std::string&) const;
template Array<std::int64_t> Hdf5ByLibrary::numbers(const std::string&) const;

}  // namespace sheaf
