#include "search/journal/record_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/sha256.hpp"

namespace sheaf::engine {
namespace {

using Json = nlohmann::json;

constexpr std::size_t check_digits = 16;

std::string check(std::string_view text) { return sha256(text).substr(0, check_digits); }

/// Discarded where the line is torn or damaged.
Json parsed(std::string_view line) {
  const bool whole = line.size() > check_digits && line.substr(0, check_digits) == check(line.substr(check_digits + 1));
  return Json::parse(whole ? line.substr(check_digits + 1) : std::string_view(), nullptr, false);
}

}  // namespace

RecordFile::RecordFile(std::string path, const std::function<void(const Json&)>& take)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    fail("{}: another search is at work there", path_);
  }
  const auto text = read_all();
  std::size_t good = 0;
  while (true) {
    const auto end = text.find('\n', good);
    if (end == std::string::npos) break;
    const auto record = parsed(std::string_view(text).substr(good, end - good));
    if (record.is_discarded()) break;
    take(record);
    good = end + 1;
  }
  if (good < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(good)) != 0)
    fail("{}: cannot be written: {}", path_, std::strerror(errno));
}

RecordFile::~RecordFile() { ::close(descriptor_); }

std::string RecordFile::read_all() const {
  std::string text;
  std::string buffer(std::size_t{1} << 20U, '\0');
  for (ssize_t got = 0; (got = ::read(descriptor_, buffer.data(), buffer.size())) != 0;) {
    if (got < 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return text;
}

void RecordFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail("{}: cannot be emptied: {}", path_, std::strerror(errno));
}

void RecordFile::append(const Json& record) {
  const auto json = record.dump();
  const auto line = fmt::format("{} {}\n", check(json), json);
  std::string_view left = line;
  while (!left.empty()) {
    const auto done = ::write(descriptor_, left.data(), left.size());
    if (done >= 0)
      left.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      fail("{}: cannot be written: {}; what is in it stays, and --resume goes on from there", path_,
           std::strerror(errno));
  }
  if (::fsync(descriptor_) != 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace sheaf::engine
