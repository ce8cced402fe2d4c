// HDF5 files by libhdf5.
#include "data/hdf5/hdf5.hpp"
#include "data/hdf5/hdf5_reader.hpp"

#ifdef SHEAF_HDF5
#include <dlfcn.h>

#include "data/hdf5/hdf5_ids.hpp"
#endif

#include <algorithm>

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

namespace hdf5 {
namespace {

class ByLibrary : public Reader {
 public:
  explicit ByLibrary(const Reading& from)
      : Reader(from), file_((be_silent(), open(from.text)), H5Fclose), heap_(from.text) {
    if (!file_.ok()) fail("{}: cannot be read as an HDF5 file; it is cut short or damaged", from.name);
  }

  /// Each part of the path is looked up, as libhdf5 requires.
  bool has(const std::string& path) override {
    for (std::size_t at = 0; at != std::string::npos;) {
      at = path.find('/', at + 1);
      if (H5Lexists(file_.get(), path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(file_.get(), path.c_str(), H5P_DEFAULT) > 0;
  }
  bool is_group(const std::string& path) override { return has(path) && kind(path) == H5I_GROUP; }
  std::vector<std::string> members(const std::string& group) override {
    const Id opened(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
    if (!opened.ok()) fail_path(group, "is no group");
    H5G_info_t info{};
    H5Gget_info(opened.get(), &info);
    std::vector<std::string> names;
    for (hsize_t k = 0; k < info.nlinks; ++k) {
      const auto size = H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, k, nullptr, 0, H5P_DEFAULT);
      if (size < 0) fail_path(group, "cannot be listed; the file is damaged");
      std::string name(static_cast<std::size_t>(size) + 1, '\0');
      H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, k, name.data(), name.size(), H5P_DEFAULT);
      name.pop_back();
      names.push_back(std::move(name));
    }
    return names;
  }
  std::vector<std::int64_t> shape(const std::string& path) override { return Opened(*this, path).shape(); }
  std::int64_t count(const std::string& path) override { return count(Opened(*this, path), path); }
  Elements elements(const std::string& path) override {
    const Opened array(*this, path);
    const bool small = H5Tget_size(array.type.get()) <= sizeof(float);
    switch (H5Tget_class(array.type.get())) {
      case H5T_STRING:
        return Elements::texts;
      case H5T_INTEGER:
        return Elements::whole_numbers;
      case H5T_FLOAT:
        return small ? Elements::floats : Elements::doubles;
      case H5T_ENUM:
        if (H5Tget_size(array.type.get()) == 1) return Elements::truths;
        fail_path(path, "holds names of an enumeration, and no numbers");
      default:
        fail_path(path, "holds neither texts nor numbers");
    }
  }
  void numbers(const std::string& path, std::int64_t first, const Numbers& to) override {
    std::visit([&](auto values) { read(Opened(*this, path), path, first, values); }, to);
  }
  std::vector<std::string> texts(const std::string& path) override {
    const Opened array(*this, path);
    const auto size = count(array, path);
    const bool variable = H5Tis_variable_str(array.type.get()) > 0;
    const auto bytes = variable ? HeapReference::stored_bytes : H5Tget_size(array.type.get());
    check_memory(reading(), static_cast<double>(size) * static_cast<double>(bytes + sizeof(std::string)),
                 fmt::format("{} texts of '{}'", size, path));
    std::vector<std::string> texts;
    if (size == 0) return texts;
    std::vector<char> all(static_cast<std::size_t>(size) * bytes);
    if (H5Dread(array.id.get(), text_memory(array.type).get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0)
      fail_path(path, "cannot be read; the file is damaged");
    for (std::size_t at = 0; at < all.size(); at += bytes)
      texts.push_back(text(variable, {all.data() + at, bytes}, path));
    return texts;
  }
  bool has_attribute(const std::string& path, const std::string& name) override {
    return H5Aexists_by_name(file_.get(), path.c_str(), name.c_str(), H5P_DEFAULT) > 0;
  }
  std::string text_attribute(const std::string& path, const std::string& name) override {
    const auto [id, type, size] = attribute(path, name);
    if (H5Tget_class(type.get()) != H5T_STRING || size != 1) fail_not_one_text(path, name);
    const bool variable = H5Tis_variable_str(type.get()) > 0;
    std::string stored(variable ? HeapReference::stored_bytes : H5Tget_size(type.get()), '\0');
    if (H5Aread(id.get(), text_memory(type).get(), stored.data()) < 0)
      fail_path(path, fmt::format("has the attribute '{}', which cannot be read; the file is damaged", name));
    return text(variable, stored, path);
  }
  std::vector<std::int64_t> number_attribute(const std::string& path, const std::string& name) override {
    const auto [id, type, size] = attribute(path, name);
    if (H5Tget_class(type.get()) != H5T_INTEGER || size < 1 || size > longest_list) fail_no_number_list(path, name);
    std::vector<std::int64_t> values(static_cast<std::size_t>(size));
    H5Aread(id.get(), H5T_NATIVE_INT64, values.data());
    return values;
  }

 private:
  /// Nothing is copied, and nothing is written to the bytes.
  static hid_t open(std::string_view bytes) {
    return H5LTopen_file_image(const_cast<char*>(bytes.data()), bytes.size(),
                               H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE);
  }
  H5I_type_t kind(const std::string& path) const {
    const Id object(H5Oopen(file_.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
    return object.ok() ? H5Iget_type(object.get()) : H5I_BADID;
  }
  Id open_array(const std::string& path) {
    if (!has(path)) fail("{}: has no '{}'", reading().name, path);
    if (kind(path) != H5I_DATASET) fail_path(path, "is no array");
    return {H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), H5Dclose};
  }

  struct Opened {
    Id id, type, space;

    Opened(ByLibrary& from, const std::string& path)
        : id(from.open_array(path)), type(H5Dget_type(id.get()), H5Tclose), space(H5Dget_space(id.get()), H5Sclose) {}
    std::vector<std::int64_t> shape() const {
      const int dimensions = H5Sget_simple_extent_ndims(space.get());
      std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(dimensions, 0)));
      if (dimensions > 0) H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
      std::vector<std::int64_t> shape;
      for (const auto size : sizes) shape.push_back(static_cast<std::int64_t>(std::min<hsize_t>(size, INT64_MAX)));
      return shape;
    }
  };

  std::int64_t count(const Opened& array, const std::string& path) const {
    return checked_count(path, array.shape(), H5Tget_size(array.type.get()),
                         static_cast<std::int64_t>(H5Dget_storage_size(array.id.get())));
  }
  template <class Number>
  void read(const Opened& array, const std::string& path, std::int64_t first, std::span<Number> to) {
    const auto size = count(array, path);
    if (to.empty()) return;
    const bool all = first == 0 && std::ssize(to) == size;
    const hsize_t begin = static_cast<hsize_t>(first), some = to.size();
    const bool one_dimension = H5Sget_simple_extent_ndims(array.space.get()) == 1;
    const bool selected =
        all || (one_dimension && first + std::ssize(to) <= size &&
                H5Sselect_hyperslab(array.space.get(), H5S_SELECT_SET, &begin, nullptr, &some, nullptr) >= 0);
    const Id memory(H5Screate_simple(1, &some, nullptr), H5Sclose);
    const bool truths = H5Tget_class(array.type.get()) == H5T_ENUM;
    std::vector<std::int8_t> codes(truths ? to.size() : 0);
    if (!selected || H5Dread(array.id.get(), truths ? array.type.get() : native_type<Number>(), memory.get(),
                             array.space.get(), H5P_DEFAULT, truths ? static_cast<void*>(codes.data()) : to.data()) < 0)
      fail_path(path, "cannot be read; the file is damaged or uses a filter that is not there");
    std::transform(codes.begin(), codes.end(), to.begin(), [](auto code) { return static_cast<Number>(code); });
  }
  /// The type of texts in memory.
  static Id text_memory(const Id& type) {
    return H5Tis_variable_str(type.get()) > 0 ? reference_type() : Id(H5Tcopy(type.get()), H5Tclose);
  }
  std::string text(bool variable, std::string_view stored, const std::string& path) {
    return checked_text(path, variable ? heap_.find(HeapReference::load(stored.data())) : stored);
  }
  /// An attribute, its type, and the number of its elements.
  std::tuple<Id, Id, hssize_t> attribute(const std::string& path, const std::string& name) const {
    Id found(H5Aopen_by_name(file_.get(), path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!found.ok()) fail_no_attribute(path, name);
    Id type(H5Aget_type(found.get()), H5Tclose);
    const Id space(H5Aget_space(found.get()), H5Sclose);
    const auto size = H5Sget_simple_extent_npoints(space.get());
    return {std::move(found), std::move(type), size};
  }

  std::unique_lock<std::recursive_mutex> lock_{library()};
  Id file_;
  Hdf5Heap heap_;
};

}  // namespace

std::unique_ptr<Reader> read_by_library(const Reading& reading) { return std::make_unique<ByLibrary>(reading); }

}  // namespace hdf5

#else

std::unique_ptr<hdf5::Reader> hdf5::read_by_library(const Reading& reading) { fail_without_hdf5(reading.name); }

#endif

}  // namespace sheaf
