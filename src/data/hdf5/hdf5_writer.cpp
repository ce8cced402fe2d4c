// Writes HDF5 files. The reader is in hdf5.cpp.
#include "data/hdf5/hdf5.hpp"

#ifdef SHEAF_HDF5
#include "data/hdf5/hdf5_ids.hpp"
#endif

#include <algorithm>

#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "data/bytes/compression.hpp"

namespace sheaf {

std::string hdf5_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

#ifdef SHEAF_HDF5

using namespace hdf5;  // NOLINT(google-build-using-namespace): identifiers of libhdf5

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

void Hdf5Writer::texts(const std::string& path, const std::vector<std::string>& values,
                       std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {std::ssize(values)};
  const auto type = text_type();
  const auto made = new_dataset(handles_->file.get(), path, type.get(), shape);
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

struct Hdf5Writer::Handles {};

Hdf5Writer::Hdf5Writer(const std::string& path) { fail_without_hdf5(path); }
Hdf5Writer::~Hdf5Writer() = default;
void Hdf5Writer::group(const std::string&) {}
template <class Number>
void Hdf5Writer::numbers(const std::string&, std::span<const Number>, std::vector<std::int64_t>) {}
void Hdf5Writer::texts(const std::string&, const std::vector<std::string>&, std::vector<std::int64_t>) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::string&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::vector<std::string>&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const std::vector<std::int64_t>&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, std::int64_t) {}
void Hdf5Writer::truth_attribute(const std::string&, const std::string&, bool) {}
void Hdf5Writer::finish() {}
#endif

template void Hdf5Writer::numbers(const std::string&, std::span<const float>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const double>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int8_t>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int32_t>, std::vector<std::int64_t>);
template void Hdf5Writer::numbers(const std::string&, std::span<const std::int64_t>, std::vector<std::int64_t>);

}  // namespace sheaf
