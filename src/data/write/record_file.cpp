#include "data/write/record_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "data/text/json_text.hpp"

namespace sheaf {
namespace {

constexpr std::size_t check_digits = 16;

std::string check(std::string_view text) { return sha256(text).substr(0, check_digits); }

/// Whether `line` may be the first part of a record. A loss of power can leave zeros in the place of written bytes.
bool is_torn_record(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  if (line.substr(0, check_digits).find_first_not_of("0123456789abcdef") != line.npos) return false;
  return line.size() <= check_digits || std::string_view(" {").starts_with(line.substr(check_digits, 2));
}

std::string read_all(int descriptor, const std::string& path) {
  std::string text;
  std::string buffer(std::size_t{1} << 20U, '\0');
  for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path, std::strerror(errno));
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::string record_line(const nlohmann::json& record) {
  const auto json = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("{} {}\n", check(json), json);
}

nlohmann::json parse_record(std::string_view line) {
  const bool whole = line.size() > check_digits && line.substr(0, check_digits) == check(line.substr(check_digits + 1));
  return parse_json<nlohmann::json>(whole ? line.substr(check_digits + 1) : std::string_view());
}

RecordFile::RecordFile(std::string path, Access access) : path_(std::move(path)), access_(access) {
  try {
    while (!open_and_lock()) {
    }
    text_ = read_all(descriptor_, path_);
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
}

RecordFile::~RecordFile() { ::close(descriptor_); }

/// False: another process has removed the file meanwhile.
bool RecordFile::open_and_lock() {
  constexpr int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = ::open(path_.c_str(), flags | O_CREAT | O_EXCL, 0666);
  new_ = descriptor_ >= 0;
  if (!new_ && errno == EEXIST) descriptor_ = ::open(path_.c_str(), flags);
  if (descriptor_ < 0 && errno == ENOENT && ::access(path_.substr(0, path_.rfind('/')).c_str(), F_OK) == 0)
    return false;
  if (descriptor_ < 0 && errno == ELOOP) fail("{}: is a symbolic link, and a journal is a file", path_);
  if (descriptor_ < 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
  struct stat file {
  }, named{};
  if (::fstat(descriptor_, &file) != 0 || !S_ISREG(file.st_mode)) fail("{}: is no regular file", path_);
  lock();
  return ::lstat(path_.c_str(), &named) == 0 && named.st_ino == file.st_ino && named.st_dev == file.st_dev;
}

void RecordFile::lock() {
  const int how = access_ == Access::alone ? LOCK_EX : LOCK_SH;
  if (::flock(descriptor_, how | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    fail("{}: another process is at work there; wait until it has ended, or name another folder", path_);
  if (access_ == Access::alone) fail("{}: cannot be locked: {}", path_, std::strerror(errno));
}

bool RecordFile::is_alone() { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

bool RecordFile::is_record_file() const {
  const auto end = text_.find('\n');
  const auto first = std::string_view(text_).substr(0, end);
  return (end != std::string::npos && !parse_record(first).is_discarded()) ||
         (end == std::string::npos && is_torn_record(first));
}

void RecordFile::read(const std::function<void(const nlohmann::json&)>& take) {
  std::size_t good = 0;
  while (true) {
    const auto end = text_.find('\n', good);
    if (end == std::string::npos) break;
    const auto record = parse_record(std::string_view(text_).substr(good, end - good));
    if (record.is_discarded()) break;
    take(record);
    good = end + 1;
  }
  if (good < text_.size()) good_ = static_cast<std::int64_t>(good);
  text_ = {};
}

void RecordFile::synchronise() {
  if (::fsync(descriptor_) != 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
}

void RecordFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail("{}: cannot be emptied: {}", path_, std::strerror(errno));
  good_ = -1;
  synchronise();
}

void RecordFile::append(const nlohmann::json& record) {
  if (good_ >= 0 && ::ftruncate(descriptor_, std::exchange(good_, -1)) != 0)
    fail("{}: cannot be written: {}", path_, std::strerror(errno));
  const auto line = record_line(record);
  std::string_view left = line;
  while (!left.empty()) {
    const auto done = ::write(descriptor_, left.data(), left.size());
    if (done >= 0)
      left.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      fail("{}: cannot be written: {}; what is in it stays, and --resume goes on from there", path_,
           std::strerror(errno));
  }
  synchronise();
}

}  // namespace sheaf
