// Texts of variable length in HDF5 files. They stand in collections of the file's global heap, and datasets hold
// references to them. libhdf5 copies an object of the heap to memory of the length that the reference claims, without
// comparing both, so that a damaged file would write behind it: here the bytes are read and compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sheaf {

/// The place of a text. A collection at 0 means no text.
struct HeapReference {
  std::uint32_t bytes = 0;
  std::uint64_t collection = 0;  ///< its place in the file
  std::uint32_t object = 0;      ///< a number in the collection

  /// In the form of files.
  static constexpr std::size_t stored_bytes = 16;
  static HeapReference load(const char* stored);
};

/// The global heap of a file whose bytes must outlive it.
class Hdf5Heap {
 public:
  explicit Hdf5Heap(std::string_view file) : file_(file) {}

  /// The bytes that a reference means; nothing if it leads to none, or to fewer.
  std::optional<std::string_view> find(const HeapReference& reference);

 private:
  struct Object {
    std::uint16_t number;
    std::string_view bytes;
  };
  const std::vector<Object>& collection(std::uint64_t at);
  std::vector<Object> read_collection(std::uint64_t at) const;

  std::string_view file_;
  std::unordered_map<std::uint64_t, std::vector<Object>> collections_;  ///< some of those that were read
  std::size_t kept_ = 0;                                                ///< objects in them
};

}  // namespace sheaf
