// What the reader and the writer of HDF5 files share: identifiers of libhdf5, its lock, its types. Only for builds that
// have its headers.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include "data/hdf5/hdf5_library.hpp"

namespace sheaf::hdf5 {

/// libhdf5 keeps global state.
inline std::recursive_mutex& library() {
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

inline void be_silent() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

template <class Number>
hid_t native_type() {
  if constexpr (std::is_same_v<Number, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<Number, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<Number, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<Number, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<Number, std::int64_t>) return H5T_NATIVE_INT64;
}

}  // namespace sheaf::hdf5
