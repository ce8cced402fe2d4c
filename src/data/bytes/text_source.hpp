// The bytes of a file or of standard input, decompressed if they are compressed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <sheaf/solvers/progress.hpp>

#include "data/bytes/mapped_file.hpp"

namespace sheaf {

/// Memory that grows at its end.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  /// Room for more than `most` bytes is an Error that names the file whose text it holds.
  ByteBuffer(std::string file, std::int64_t most) : file_(std::move(file)), most_(most) {}

  /// Room for at least `bytes` more; call written() with how many were used.
  char* room(std::int64_t bytes);
  std::int64_t free_bytes() const { return capacity_ - size_; }
  std::int64_t most() const { return most_; }
  void written(std::int64_t bytes) { size_ += bytes; }
  std::string_view view() const { return {memory_.get(), static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
  std::string file_;
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
};

/// 80 % of what is free now.
std::int64_t most_text_bytes();

/// A file's bytes: mapped if the system can, else read.
class FileBytes {
 public:
  /// "-" is standard input. `most`: bytes that may be read into memory; a mapped file takes none.
  explicit FileBytes(const std::string& path, const std::stop_token& stop = {}, std::int64_t most = most_text_bytes());

  std::string_view view() const { return file_.mapped() ? file_.view() : buffer_.view(); }
  bool mapped() const { return file_.mapped(); }
  /// Throws if another process has cut the file short since it was opened.
  void check_whole() const;
  /// See MappedFile.
  void keep_in_use() const { file_.keep_in_use(path_); }

 private:
  void read_all(int file, const std::stop_token& stop);

  std::string path_;
  MappedFile file_;
  ByteBuffer buffer_;
};

/// The text of a file or of standard input ("-").
class TextSource {
 public:
  /// `most`: bytes that its text may take in memory, decompressed or from a pipe.
  TextSource(const std::string& path, Progress& progress, const std::stop_token& stop = {},
             std::int64_t most = most_text_bytes());
  std::string_view text() const { return compressed_ ? plain_.view() : bytes_.view(); }
  /// Whether the text is the file itself, mapped.
  bool mapped() const { return !compressed_ && bytes_.mapped(); }
  /// Throws if another process has cut the file short since it was opened: what was read of it since is not to be
  /// trusted.
  void check_whole() const { bytes_.check_whole(); }
  /// The text stays in use where it is mapped.
  void keep_in_use() const { bytes_.keep_in_use(); }

 private:
  FileBytes bytes_;
  bool compressed_ = false;
  ByteBuffer plain_;
};

}  // namespace sheaf
