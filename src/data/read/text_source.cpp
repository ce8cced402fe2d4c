#include "data/read/text_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "data/compress/compression.hpp"

namespace sheaf {
namespace {

/// Closes what it opened; standard input stays open.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("{}: cannot be opened: {}", path, std::strerror(errno));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ != STDIN_FILENO) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Returns when there is something to read; a pipe may leave us waiting for it.
void wait_for_bytes(int file, const std::stop_token& stop) {
  constexpr int milliseconds = 100;
  if (!stop.stop_possible()) return;
  for (pollfd one{file, POLLIN, 0};;) {
    if (stop.stop_requested()) throw Stopped();
    if (poll(&one, 1, milliseconds) > 0) return;  // a signal ends it early
  }
}

}  // namespace

char* ByteBuffer::room(std::int64_t bytes) {
  if (free_bytes() < bytes) {
    Array<char> larger(std::max(size_ + bytes, 2 * memory_.size()));
    if (size_ > 0) std::memcpy(larger.data(), memory_.data(), static_cast<std::size_t>(size_));
    memory_ = std::move(larger);
  }
  return memory_.data() + size_;
}

FileBytes::FileBytes(const std::string& path, const std::stop_token& stop) {
  const OpenFile file(path);
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0) fail("{}: cannot be read: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("{}: is a directory; name a file", path);
  // Standard input may be a file that was read from already.
  const bool from_start = path != "-" || lseek(file.descriptor(), 0, SEEK_CUR) == 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && from_start)
    map(file.descriptor(), static_cast<std::size_t>(status.st_size));
  if (mapped_ == nullptr) read_all(file.descriptor(), path, stop);
}

FileBytes::~FileBytes() {
  if (mapped_ != nullptr) munmap(const_cast<char*>(mapped_), mapped_size_);
}

void FileBytes::map(int file, std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return;  // some file systems cannot; reading works everywhere
  madvise(memory, size, MADV_WILLNEED);
  mapped_ = static_cast<const char*>(memory);
  mapped_size_ = size;
}

void FileBytes::read_all(int file, const std::string& path, const std::stop_token& stop) {
  constexpr std::int64_t least = 1 << 20;
  for (;;) {
    char* room = buffer_.room(least);
    wait_for_bytes(file, stop);
    const ssize_t got = read(file, room, static_cast<std::size_t>(buffer_.free_bytes()));
    if (got == 0) return;
    if (got > 0)
      buffer_.written(got);
    else if (errno != EINTR)
      fail("{}: cannot be read: {}", path, std::strerror(errno));
  }
}

TextSource::TextSource(const std::string& path, Progress& progress, const std::stop_token& stop) : bytes_(path, stop) {
  const Compression* compression = find_compression(bytes_.view());
  if (compression == nullptr) return;
  compressed_ = true;
  Stage stage(progress, fmt::format("decompressing {}", path), static_cast<std::int64_t>(bytes_.view().size()), stop);
  compression->decompress(bytes_.view(), path, stage, plain_);
}

}  // namespace sheaf
