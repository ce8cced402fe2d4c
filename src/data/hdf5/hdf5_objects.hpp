// Objects of an HDF5 file: groups, and arrays with their types, shapes and places. Read from the bytes of the file,
// every size and place checked, for libhdf5 ends the process at some damaged files. What later versions of the format
// added (large groups, new indices of chunks) is NotKnown. Soft links are no members.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/hdf5/hdf5_bytes.hpp"

namespace sheaf::hdf5 {

/// The type of elements.
struct Type {
  enum class Kind { number, truth, text, heap_text, other };
  Kind kind = Kind::other;
  ElementType element;    ///< of numbers; a truth value is an enumeration of one byte
  std::size_t bytes = 0;  ///< of one element
};

struct StoredChunk {
  std::string_view bytes;
  std::uint32_t left_out = 0;  ///< bit k: filter k was not used
};

/// The rows and columns at which a chunk begins.
using ChunkPlace = std::pair<std::int64_t, std::int64_t>;

enum class Filter : std::uint16_t { deflate = 1, shuffle = 2, lzf = 32000 };

struct StoredArray {
  Type type;
  std::vector<std::int64_t> shape;
  std::vector<Filter> filters;               ///< in the order of writing
  std::string_view whole;                    ///< all elements, if they are at one place
  std::vector<std::int64_t> chunk;           ///< the shape of chunks; empty: there are none
  std::map<ChunkPlace, StoredChunk> chunks;  ///< those that were written
  std::string_view fill;                     ///< the element that was not written; empty: zero
  std::int64_t stored_bytes = 0;
};

/// deflate makes at most so many bytes of one.
constexpr std::size_t best_ratio = 1032;

/// Elements of an array whose stored bytes can hold them.
std::int64_t count(const StoredArray& array);

struct Attribute {
  Type type;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

class Objects {
 public:
  Objects(std::string_view bytes, std::string_view name);

  /// The place of an object; nothing: there is none of that path.
  std::optional<std::uint64_t> find(const std::string& path) const;
  bool is_group(std::uint64_t object) const;
  bool is_array(std::uint64_t object) const;
  /// The names in a group, sorted.
  std::vector<std::string> members(std::uint64_t group) const;
  StoredArray array(std::uint64_t object) const;
  std::optional<Attribute> attribute(std::uint64_t object, const std::string& name) const;

 private:
  struct Message {
    std::uint16_t type;
    bool shared;
    Bytes content;
  };
  using Messages = std::vector<Message>;
  using Members = std::map<std::string, std::uint64_t>;

  Messages messages(std::uint64_t object) const;
  void read_version_1(std::uint64_t object, Messages& to) const;
  void read_version_2(std::uint64_t object, Messages& to) const;
  const Members& group(std::uint64_t object) const;
  void read_symbols(std::uint64_t node, std::uint64_t names, Members& to) const;
  std::optional<Bytes> content(const Messages& all, std::uint16_t type) const;
  Bytes required(const Messages& all, std::uint16_t type) const;
  void read_layout(const Messages& all, StoredArray& array) const;
  void read_chunks(std::uint64_t node, StoredArray& array) const;

  FileBytes file_;
  std::uint64_t root_ = 0;
  bool is_later_ = false;                            ///< of HDF5 1.8 or later, which may have what is not known here
  mutable std::map<std::uint64_t, Members> groups_;  ///< those that were read
};

}  // namespace sheaf::hdf5
