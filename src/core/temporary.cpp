#include "core/temporary.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/files/lost_input.hpp"
#include "core/removed_name.hpp"

namespace sheaf {
namespace {

// A signal handler may neither lock nor allocate, so names stand in fixed slots and one atomic says which are in use.
constexpr std::size_t longest_name = 4096;
struct Slot {
  enum State : int { unused, changing, in_use };
  std::atomic<int> state{unused};
  std::array<char, longest_name> name{};
};
std::array<Slot, 64> slots;
static_assert(std::atomic<int>::is_always_lock_free);

int remember(const std::string& path) {
  require(path.size() < longest_name, "the name of a temporary file is too long to be remembered");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::unused;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::changing)) continue;
    std::memcpy(slots[i].name.data(), path.c_str(), path.size() + 1);
    slots[i].state = Slot::in_use;
    return static_cast<int>(i);
  }
  throw InternalError("more files are being written at once than can be remembered");
}

constexpr std::string_view ending = ".part";
constexpr std::size_t random_digits = 16;

std::string random_name(const std::string& target) {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    bits = std::random_device{}() * std::uint64_t{0x9E3779B97F4A7C15};
  return fmt::format("{}.{:016x}{}", target, bits, ending);
}

/// /dev/stdout, /dev/fd/3: to open these anew would begin at the file's first byte. -1: no descriptor is named.
int named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int number = -1;
    const auto* end = path.data() + path.size();
    const auto result = std::from_chars(path.data() + prefix.size(), end, number);
    if (result.ec == std::errc() && result.ptr == end) return number;
  }
  return -1;
}

}  // namespace

std::string without_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most = 40;  // as the kernel
  fs::path now = path;
  std::error_code error;
  for (int k = 0; k < most && fs::is_symlink(fs::symlink_status(now, error)); ++k) {
    const auto next = fs::read_symlink(now, error);
    if (error) return path;
    now = next.is_absolute() ? next : now.parent_path() / next;
  }
  return now.string();
}

void synchronise_folder_of(const std::string& path) noexcept {
  const auto slash = path.rfind('/');
  std::array<char, longest_name> name{'.'};
  if (slash != std::string::npos) path.copy(name.data(), std::min(std::max(slash, std::size_t{1}), name.size() - 1));
  const int folder = ::open(name.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

bool is_temporary_name(std::string_view name, std::string_view target) {
  if (name.size() != target.size() + 1 + random_digits + ending.size() || !name.starts_with(target) ||
      !name.ends_with(ending) || name[target.size()] != '.')
    return false;
  return name.substr(target.size() + 1, random_digits).find_first_not_of("0123456789abcdef") == name.npos;
}

TemporaryFile::TemporaryFile(const std::string& target, Links links)
    : given_(target), target_(links == Links::follow ? without_links(target) : target), path_(target_) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(target_, error);
  if (std::filesystem::is_directory(status)) fail("{}: is a folder, not a file", given_);
  const int number = links == Links::follow ? named_descriptor(target) : -1;
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (number < 0 && (!special || links == Links::replace)) {
    create();
    return;
  }
  descriptor_ = number >= 0 ? ::fcntl(number, F_DUPFD_CLOEXEC, 0) : ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  path_ = given_;
  if (descriptor_ < 0) fail("{}: cannot be written: {}", given_, std::strerror(errno));
}

void TemporaryFile::create() {
  struct stat old {};
  const bool replaces = ::lstat(target_.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  const mode_t mode = replaces ? S_IRUSR | S_IWUSR : 0666;
  constexpr int attempts = 100;
  for (int k = 0; k < attempts && descriptor_ < 0; ++k) {
    path_ = random_name(target_);
    if (path_.size() >= longest_name) fail("{}: the name is too long", given_);
    slot_ = remember(path_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor_ >= 0) break;
    const int error = errno;
    forget();
    if (error != EEXIST) fail("{}: cannot be written: {}", given_, std::strerror(error));
  }
  if (descriptor_ < 0) fail("{}: cannot be written: {}", given_, std::strerror(EEXIST));
  if (!replaces) return;
  // Another owner's file stays that owner's if this process may give it away; else its group is kept if possible.
  [[maybe_unused]] const bool kept = ::fchown(descriptor_, old.st_uid, old.st_gid) == 0 ||
                                     ::fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) == 0;
  ::fchmod(descriptor_, old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (slot_ < 0) return;
  ::unlink(path_.c_str());
  forget();
}

/// Some file systems report a full disk only here.
void TemporaryFile::close_checked() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("{}: cannot be written: {}", given_, std::strerror(errno));
}

void TemporaryFile::synchronise() {
  close_checked();
  // Opened again: a compiler that was given the name has replaced the file.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor_ < 0 || ::fsync(descriptor_) != 0) fail("{}: cannot be written: {}", given_, std::strerror(errno));
  close_checked();
}

void TemporaryFile::publish() {
  check_inputs();
  if (slot_ < 0) return close_checked();
  synchronise();
  if (std::rename(path_.c_str(), target_.c_str()) != 0) fail("{}: cannot be written: {}", given_, std::strerror(errno));
  forget();
  synchronise_folder_of(target_);
}

bool TemporaryFile::publish_first() {
  check_inputs();
  synchronise();
  const bool first = ::link(path_.c_str(), target_.c_str()) == 0;
  if (!first && (errno == EPERM || errno == EOPNOTSUPP))
    fail("{}: the file system makes no hard links, by which processes share a work; name a folder elsewhere", given_);
  if (!first && errno != EEXIST) fail("{}: cannot be written: {}", given_, std::strerror(errno));
  ::unlink(path_.c_str());
  forget();
  synchronise_folder_of(target_);
  return first;
}

void TemporaryFile::forget() noexcept {
  slots[static_cast<std::size_t>(slot_)].state = Slot::unused;
  slot_ = -1;
}

RemovedName::RemovedName(const std::string& path) : slot_(remember(path)) {}

RemovedName::~RemovedName() {
  auto& slot = slots[static_cast<std::size_t>(slot_)];
  ::unlink(slot.name.data());
  slot.state = Slot::unused;
}

void remove_temporaries() noexcept {
  for (auto& slot : slots)
    if (slot.state == Slot::in_use) ::unlink(slot.name.data());
}

}  // namespace sheaf
