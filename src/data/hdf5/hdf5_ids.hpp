// Shared by the reader and the writer of HDF5 files: identifiers of libhdf5, its lock, its types. Only for builds that
// have its headers.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/fail.hpp"
#include "data/hdf5/hdf5_heap.hpp"
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

/// Texts of variable length.
inline Id text_type() {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// References to the heap as files hold them: what texts are read as, for libhdf5 must not follow them (hdf5_heap.hpp).
inline Id reference_type() {
  static constexpr const char* first_member = "bytes in the heap";
  // libhdf5 calls this before it converts, and to convert: it leaves stored texts as they are.
  constexpr H5T_conv_t keep = [](hid_t from, hid_t to, H5T_cdata_t* conversion, std::size_t, std::size_t, std::size_t,
                                 void*, void*, hid_t) -> herr_t {
    conversion->need_bkg = H5T_BKG_NO;
    const bool is_ours = H5Tget_size(from) == HeapReference::stored_bytes && H5Tget_member_index(to, first_member) == 0;
    return conversion->command != H5T_CONV_INIT || is_ours ? 0 : -1;
  };
  Id type(H5Tcreate(H5T_COMPOUND, HeapReference::stored_bytes), H5Tclose);
  H5Tinsert(type.get(), first_member, 0, H5T_STD_U32LE);
  H5Tinsert(type.get(), "collection", 4, H5T_STD_U64LE);
  H5Tinsert(type.get(), "object", 12, H5T_STD_U32LE);
  static const herr_t registered = H5Tregister(H5T_PERS_SOFT, "keep", text_type().get(), type.get(), keep);
  require(registered >= 0, "libhdf5 does not take a conversion");
  return type;
}

}  // namespace sheaf::hdf5
