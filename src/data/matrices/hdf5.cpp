#include "data/matrices/hdf5.hpp"

#ifdef SHEAF_HDF5
#include <dlfcn.h>

#include "data/matrices/hdf5_library.hpp"
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <type_traits>

#include <fmt/format.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "data/bytes/compression.hpp"

namespace sheaf {

bool is_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1A\n"); }

std::string hdf5_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
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

/// libhdf5 keeps global state.
std::recursive_mutex& library() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Closes an identifier of libhdf5.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&&) = delete;
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void be_silent() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

template <class Number>
hid_t native_type() {
  if constexpr (std::is_same_v<Number, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<Number, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<Number, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<Number, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<Number, std::int64_t>) return H5T_NATIVE_INT64;
}

Id text_type() {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// Whether `stored` bytes can hold a dataset: deflate makes at most 1032 of one. An array that was never written has
/// none and is all zeros.
bool is_possible(double logical, hsize_t stored) {
  constexpr double best_ratio = 1032;
  return stored == 0 || logical <= static_cast<double>(stored) * best_ratio;
}

}  // namespace

struct Hdf5File::Handles {
  std::unique_lock<std::recursive_mutex> lock{library()};
  const std::string& name;
  Id file;

  explicit Handles(const Reading& reading) : name(reading.name), file((be_silent(), open(reading.text)), H5Fclose) {
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

Hdf5File::Hdf5File(const Reading& reading) : reading_(reading) {
  if (!is_hdf5(reading.text))
    fail("{}: is no HDF5 file: it begins with {}, and \\x89HDF is expected", reading.name,
         shown(reading.text.substr(0, 8)));
  handles_ = std::make_unique<Handles>(reading);
}

Hdf5File::~Hdf5File() = default;

bool Hdf5File::has(const std::string& path) const { return handles_->has(path); }

bool Hdf5File::is_group(const std::string& path) const { return has(path) && handles_->kind(path) == H5I_GROUP; }

std::vector<std::string> Hdf5File::members(const std::string& group) const {
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

std::vector<std::int64_t> Hdf5File::shape(const std::string& dataset) const {
  const auto array = handles_->dataset(dataset);
  return Handles::shape_of(Id(H5Dget_space(array.get()), H5Sclose));
}

template <class Number>
Array<Number> Hdf5File::numbers(const std::string& dataset) const {
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

std::vector<std::string> Hdf5File::texts(const std::string& dataset) const {
  const auto array = handles_->dataset(dataset);
  const Id type(H5Dget_type(array.get()), H5Tclose);
  const auto kind = H5Tget_class(type.get());
  std::vector<std::string> texts;
  if (kind == H5T_STRING) {
    const auto count = handles_->count(array, dataset);
    const bool variable = H5Tis_variable_str(type.get()) > 0;
    const auto bytes = variable ? sizeof(char*) : H5Tget_size(type.get());
    check_memory(reading_, static_cast<double>(count) * static_cast<double>(bytes + sizeof(std::string)),
                 fmt::format("{} texts of '{}'", count, dataset));
    const auto refuse = [&] { handles_->fail_path(dataset, "cannot be read; the file is damaged"); };
    if (count == 0) return texts;
    if (variable) {
      std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
      const Id memory(H5Tcopy(type.get()), H5Tclose);
      const Id space(H5Dget_space(array.get()), H5Sclose);
      if (H5Dread(array.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0) refuse();
      for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
      H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
    } else {
      std::vector<char> all(static_cast<std::size_t>(count) * bytes);
      if (H5Dread(array.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0) refuse();
      for (std::int64_t k = 0; k < count; ++k) {
        std::string_view text(all.data() + static_cast<std::size_t>(k) * bytes, bytes);
        texts.emplace_back(text.substr(0, text.find('\0')));
      }
    }
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

bool Hdf5File::has_attribute(const std::string& path, const std::string& name) const {
  return H5Aexists_by_name(handles_->file.get(), path.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string Hdf5File::text_attribute(const std::string& path, const std::string& name) const {
  const auto attribute = handles_->attribute(path, name);
  const Id type(H5Aget_type(attribute.get()), H5Tclose);
  const Id space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
    handles_->fail_path(path, fmt::format("has the attribute '{}', which is not one text", name));
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    H5Aread(attribute.get(), type.get(), &text);
    std::string result(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &text);
    return result;
  }
  std::string text(H5Tget_size(type.get()), '\0');
  H5Aread(attribute.get(), type.get(), text.data());
  return text.substr(0, text.find('\0'));
}

std::vector<std::int64_t> Hdf5File::number_attribute(const std::string& path, const std::string& name) const {
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

bool hdf5_has(std::string_view bytes, std::initializer_list<std::string_view> paths) {
  if (!is_hdf5(bytes)) return false;
  const std::unique_lock lock(library());
  be_silent();
  const Id file(H5LTopen_file_image(const_cast<char*>(bytes.data()), bytes.size(),
                                    H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE),
                H5Fclose);
  return file.ok() && std::all_of(paths.begin(), paths.end(), [&](auto path) {
           return H5Lexists(file.get(), std::string(path).c_str(), H5P_DEFAULT) > 0;
         });
}

struct Hdf5Writer::Handles {
  std::unique_lock<std::recursive_mutex> lock{library()};
  TemporaryFile temporary;
  Id file;

  explicit Handles(const std::string& path)
      : temporary(path),
        file((be_silent(), H5Fcreate(temporary.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), H5Fclose) {}
};

namespace {

[[noreturn]] void fail_written(const std::string& path) {
  fail("{}: cannot be written as an HDF5 file; is there room on the disk?", path);
}

Id space_of(const std::vector<std::int64_t>& shape) {
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
}

/// Without times, so that equal datasets are equal files.
Id new_dataset(hid_t file, const std::string& path, hid_t type, const std::vector<std::int64_t>& shape) {
  const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.get(), false);
  const auto space = space_of(shape);
  return {H5Dcreate2(file, path.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose};
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const auto& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

bool write_attribute(hid_t file, const std::string& path, const std::string& name, hid_t type, const Id& space,
                     const void* values) {
  const Id attribute(
      H5Acreate_by_name(file, path.c_str(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const bool empty = H5Sget_simple_extent_npoints(space.get()) == 0;
  return attribute.ok() && (empty || H5Awrite(attribute.get(), type, values) >= 0);
}

Id one_value() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

}  // namespace

Hdf5Writer::Hdf5Writer(const std::string& path) : path_(path) {
  if (path == "-" || find_compression_by_ending(path) != nullptr)
    fail_usage("{}: an HDF5 file is written to a file of its own, not compressed; name one", path);
  handles_ = std::make_unique<Handles>(path);
  if (!handles_->file.ok()) fail_written(path);
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(const std::string& path) {
  const Id made(H5Gcreate2(handles_->file.get(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!made.ok()) fail_written(path_);
}

template <class Number>
void Hdf5Writer::numbers(const std::string& path, std::span<const Number> values, std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {std::ssize(values)};
  const auto made = new_dataset(handles_->file.get(), path, native_type<Number>(), shape);
  if (!made.ok() || (!values.empty() &&
                     H5Dwrite(made.get(), native_type<Number>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0))
    fail_written(path_);
}

void Hdf5Writer::texts(const std::string& path, const std::vector<std::string>& values) {
  const auto type = text_type();
  const auto made = new_dataset(handles_->file.get(), path, type.get(), {std::ssize(values)});
  const auto pointers = pointers_to(values);
  if (!made.ok() ||
      (!values.empty() && H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0))
    fail_written(path_);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, const std::string& value) {
  const auto type = text_type();
  const char* text = value.c_str();
  if (!write_attribute(handles_->file.get(), path, name, type.get(), one_value(), &text)) fail_written(path_);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, const std::vector<std::string>& values) {
  const auto type = text_type();
  const auto pointers = pointers_to(values);
  if (!write_attribute(handles_->file.get(), path, name, type.get(), space_of({std::ssize(values)}), pointers.data()))
    fail_written(path_);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, const std::vector<std::int64_t>& values) {
  if (!write_attribute(handles_->file.get(), path, name, H5T_NATIVE_INT64, space_of({std::ssize(values)}),
                       values.data()))
    fail_written(path_);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, std::int64_t value) {
  if (!write_attribute(handles_->file.get(), path, name, H5T_NATIVE_INT64, one_value(), &value)) fail_written(path_);
}

void Hdf5Writer::truth_attribute(const std::string& path, const std::string& name, bool value) {
  const Id type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  for (const std::int8_t code : {std::int8_t{0}, std::int8_t{1}})
    H5Tenum_insert(type.get(), code == 0 ? "FALSE" : "TRUE", &code);
  const std::int8_t code = value ? 1 : 0;
  if (!write_attribute(handles_->file.get(), path, name, type.get(), one_value(), &code)) fail_written(path_);
}

void Hdf5Writer::finish() {
  if (H5Fflush(handles_->file.get(), H5F_SCOPE_GLOBAL) < 0) fail_written(path_);
  { const Id closed(std::move(handles_->file)); }
  handles_->temporary.publish();
}
#else

struct Hdf5File::Handles {};
struct Hdf5Writer::Handles {};

namespace {

[[noreturn]] void fail_without_hdf5(std::string_view file) {
  fail("{}: is an HDF5 file, and this build has no libhdf5; install libhdf5-dev and build again", file);
}

}  // namespace

Hdf5File::Hdf5File(const Reading& reading) : reading_(reading) { fail_without_hdf5(reading_.name); }
Hdf5File::~Hdf5File() = default;
bool Hdf5File::has(const std::string&) const { return false; }
bool Hdf5File::is_group(const std::string&) const { return false; }
std::vector<std::string> Hdf5File::members(const std::string&) const { return {}; }
std::vector<std::int64_t> Hdf5File::shape(const std::string&) const { return {}; }
template <class Number>
Array<Number> Hdf5File::numbers(const std::string&) const {
  return {};
}
std::vector<std::string> Hdf5File::texts(const std::string&) const { return {}; }
bool Hdf5File::has_attribute(const std::string&, const std::string&) const { return false; }
std::string Hdf5File::text_attribute(const std::string&, const std::string&) const { return {}; }
std::vector<std::int64_t> Hdf5File::number_attribute(const std::string&, const std::string&) const { return {}; }
bool hdf5_has(std::string_view bytes, std::initializer_list<std::string_view>) { return is_hdf5(bytes); }

Hdf5Writer::Hdf5Writer(const std::string& path) { fail_without_hdf5(path); }
Hdf5Writer::~Hdf5Writer() = default;
void Hdf5Writer::group(const std::string&) {}
template <class Number>
void Hdf5Writer::numbers(const std::string&, std::span<const Number>, std::vector<std::int64_t>) {}
void Hdf5Writer::texts(const std::string&, const std::vector<std::string>&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::string&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::vector<std::string>&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::vector<std::int64_t>&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, std::int64_t) {}
void Hdf5Writer::truth_attribute(const std::string&, const std::string&, bool) {}
void Hdf5Writer::finish() {}
#endif

template Array<float> Hdf5File::numbers(const std::string&) const;
template Array<double> Hdf5File::numbers(const std::string&) const;
template Array<std::int32_t> Hdf5File::numbers(const std::string&) const;
template Array<std::int64_t> Hdf5File::numbers(const std::string&) const;
template void Hdf5Writer::numbers(const std::string&, std::span<const float>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const double>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int8_t>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int32_t>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int64_t>, std::vector<std::int64_t>);

}  // namespace sheaf
