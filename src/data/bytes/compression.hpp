// gzip, xz and Zstandard: one row each in a table. A build without one of the libraries keeps the row and says so.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sheaf/solvers/progress.hpp>

#include "data/bytes/sink.hpp"
#include "data/bytes/text_source.hpp"

namespace sheaf {

struct Compression {
  std::string_view ending;  ///< with the dot
  std::string_view magic;   ///< the first bytes of every such file
  bool built;               ///< whether this build has the library
  /// Appends all that `bytes` hold, however many members stand one behind the other. `file` is for messages.
  void (*decompress)(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to);
  /// Everything written to the result goes compressed to `to`, which must live as long.
  std::unique_ptr<Sink> (*compress)(Sink& to);
};

/// By the first bytes; nullptr: not compressed.
const Compression* find_compression(std::string_view bytes);
/// By the end of a file's name; nullptr: none.
const Compression* find_compression_by_ending(std::string_view path);

}  // namespace sheaf
