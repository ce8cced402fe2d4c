#include "data/bytes/text_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sheaf/context.hpp>
#include <sheaf/solvers/device.hpp>

#include "core/fail.hpp"
#include "data/bytes/compression.hpp"

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
    if (size_ > most_ - bytes)
      fail(
          "{}: its text takes more than {} of memory, which is the budget; give a larger --memory, or a plain file, "
          "which takes none",
          file_, format_bytes(most_));
    const auto larger = std::min(std::max(size_ + bytes, 2 * capacity_), most_);
    auto* memory = static_cast<char*>(std::realloc(memory_.get(), static_cast<std::size_t>(larger)));
    if (memory == nullptr) throw std::bad_alloc();
    static_cast<void>(memory_.release());
    memory_.reset(memory);
    capacity_ = larger;
  }
  return memory_.get() + size_;
}

std::int64_t most_text_bytes() { return describe(Device::cpu()).free_bytes / 5 * 4; }

FileBytes::FileBytes(const std::string& path, const std::stop_token& stop, std::int64_t most)
    : path_(path == "-" ? "standard input" : path), buffer_(path_, most) {
  const OpenFile file(path);
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0) fail("{}: cannot be read: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("{}: is a directory; name a file", path);
  // Standard input may be a file that was read from already.
  const bool from_start = path != "-" || lseek(file.descriptor(), 0, SEEK_CUR) == 0;
  const bool regular = S_ISREG(status.st_mode) && status.st_size > 0 && from_start;
  if (!regular || !file_.map(file.descriptor(), static_cast<std::size_t>(status.st_size)))
    read_all(file.descriptor(), stop);
  else if (!file_.view().starts_with(sheaf_magic))
    file_.read_ahead();
}

void FileBytes::check_whole() const {
  if (file_.cut_short())
    fail("{}: was cut short by another program while it was read; read it again when it is complete", path_);
}

void FileBytes::read_all(int file, const std::stop_token& stop) {
  constexpr std::int64_t least = 1 << 20;
  for (;;) {
    char* room = buffer_.room(least);
    wait_for_bytes(file, stop);
    const ssize_t got = read(file, room, static_cast<std::size_t>(buffer_.free_bytes()));
    if (got == 0) return;
    if (got > 0)
      buffer_.written(got);
    else if (errno != EINTR)
      fail("{}: cannot be read: {}", path_, std::strerror(errno));
  }
}

TextSource::TextSource(const std::string& path, Progress& progress, const std::stop_token& stop, std::int64_t most)
    : bytes_(path, stop, most), plain_(path == "-" ? "standard input" : path, most) {
  const Compression* compression = find_compression(bytes_.view());
  if (compression == nullptr) return;
  compressed_ = true;
  Stage stage(progress, fmt::format("decompressing {}", path), static_cast<std::int64_t>(bytes_.view().size()), stop);
  try {
    compression->decompress(bytes_.view(), path, stage, plain_);
  } catch (const Error&) {
    check_whole();
    throw;
  }
  check_whole();
}

}  // namespace sheaf
