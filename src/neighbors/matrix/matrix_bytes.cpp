#include "neighbors/matrix/matrix_bytes.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"

namespace sheaf::neighbors {

namespace fs = std::filesystem;

MatrixBytes::MatrixBytes(std::string path, int flags, const std::string& target) : path_(std::move(path)) {
  struct stat old {};
  const bool replaces = !target.empty() && ::stat(target.c_str(), &old) == 0;
  const mode_t mode = replaces ? (old.st_mode & 0666) | S_IRUSR | S_IWUSR : 0666;
  descriptor_ = ::open(path_.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  if (descriptor_ < 0 && errno == ELOOP) fail("{}: is a symbolic link, and is not followed; remove it", path_);
  if (descriptor_ < 0 && (flags & O_ACCMODE) == O_RDONLY) fail("{}: cannot be read: {}", path_, std::strerror(errno));
  if (descriptor_ < 0) fail_to_write();
}

MatrixBytes::~MatrixBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MatrixBytes::fail_to_write() const { fail("{}: cannot be written: {}", path_, std::strerror(errno)); }

std::int64_t MatrixBytes::size() const {
  struct stat now {};
  if (::fstat(descriptor_, &now) != 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
  return now.st_size;
}

void MatrixBytes::set_size(std::int64_t bytes) {
  if (::ftruncate(descriptor_, bytes) != 0) fail_to_write();
}

void MatrixBytes::write_at(std::int64_t offset, const void* bytes, std::int64_t count) {
  for (const auto* from = static_cast<const char*>(bytes); count > 0;) {
    const auto written = ::pwrite(descriptor_, from, static_cast<std::size_t>(count), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_to_write();
    from += written;
    offset += written;
    count -= written;
  }
}

bool MatrixBytes::read_at(std::int64_t offset, void* bytes, std::int64_t count) const {
  for (auto* to = static_cast<char*>(bytes); count > 0;) {
    const auto got = ::pread(descriptor_, to, static_cast<std::size_t>(count), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
    if (got == 0) return false;
    to += got;
    offset += got;
    count -= got;
  }
  return true;
}

bool MatrixBytes::holds(const MatrixLayout& layout, Range block, const std::string& check,
                        std::vector<double>& room) const {
  const auto bytes = layout.bytes_of(block);
  room.resize(static_cast<std::size_t>(bytes / matrix_value_bytes));
  return read_at(layout.offset(block.begin), room.data(), bytes) && check_of_block(room.data(), bytes) == check;
}

void MatrixBytes::synchronise() {
  if (::fdatasync(descriptor_) != 0) fail_to_write();
}

bool MatrixBytes::publish(const std::string& from, const std::string& to) {
  if (struct stat old{}; ::stat(to.c_str(), &old) == 0) ::fchmod(descriptor_, old.st_mode & 0777);
  const bool closed = ::fsync(descriptor_) == 0 && ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed) fail_to_write();
  std::error_code error;
  fs::rename(from, to, error);
  if (error == std::errc::no_such_file_or_directory) return false;
  if (error) fail("{}: cannot be given its name: {}; its contents are in {}", to, error.message(), from);
  synchronise_folder_of(to);
  return true;
}

bool MatrixBytes::is_at(const std::string& path) const {
  struct stat mine {
  }, there{};
  return ::fstat(descriptor_, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

}  // namespace sheaf::neighbors
