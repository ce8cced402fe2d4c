// Targets of written bytes: a file that appears complete or not at all, standard output, a compressor before one of
// them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/temporary.hpp"

namespace sheaf {

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
  /// All is written. Without it nothing appears under the file's name.
  virtual void finish() = 0;
};

/// Bytes that are kept.
class TextSink : public Sink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}

  std::string text;
};

/// A file, or standard output for "-"; compressed if the file's name has such an ending.
std::unique_ptr<Sink> open_sink(const std::string& path);

/// A file, never compressed.
std::unique_ptr<Sink> open_plain_file(const std::string& path, Links links);

/// A file of such bytes, never compressed.
void write_file(const std::string& path, std::string_view text, Links links);

/// The same if there is no file of that name yet. False: there is one, which stays; of several processes that write it,
/// one alone succeeds.
bool write_new_file(const std::string& path, std::string_view text);

}  // namespace sheaf
