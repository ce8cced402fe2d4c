// The bytes of a file or of standard input, decompressed where they are compressed.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include <sheaf/array.hpp>
#include <sheaf/progress.hpp>

namespace sheaf {

/// Memory that grows at its end.
class ByteBuffer {
 public:
  /// Room for at least `bytes` more; call written() with how many were used.
  char* room(std::int64_t bytes);
  std::int64_t free_bytes() const { return memory_.size() - size_; }
  void written(std::int64_t bytes) { size_ += bytes; }
  std::string_view view() const { return {memory_.data(), static_cast<std::size_t>(size_)}; }

 private:
  Array<char> memory_;
  std::int64_t size_ = 0;
};

/// A file's bytes: mapped where the system can, else read. A file that another process cuts short while it is mapped
/// ends this process with SIGBUS; no program that maps files can do otherwise.
class FileBytes {
 public:
  /// "-" is standard input.
  explicit FileBytes(const std::string& path, const std::stop_token& stop = {});
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::string_view view() const {
    return mapped_ != nullptr ? std::string_view(mapped_, mapped_size_) : buffer_.view();
  }
  bool mapped() const { return mapped_ != nullptr; }

 private:
  void map(int file, std::size_t size);
  void read_all(int file, const std::string& path, const std::stop_token& stop);

  const char* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  ByteBuffer buffer_;
};

/// The text of a file or of standard input ("-").
class TextSource {
 public:
  TextSource(const std::string& path, Progress& progress, const std::stop_token& stop = {});
  std::string_view text() const { return compressed_ ? plain_.view() : bytes_.view(); }
  /// Whether the text is the file itself, mapped.
  bool mapped() const { return !compressed_ && bytes_.mapped(); }

 private:
  FileBytes bytes_;
  bool compressed_ = false;
  ByteBuffer plain_;
};

}  // namespace sheaf
