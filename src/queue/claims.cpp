#include "queue/claims.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "data/bytes/sink.hpp"
#include "data/write/record_file.hpp"

namespace sheaf::queue {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int signs_per_lease = 6;
constexpr std::string_view left = "left";
constexpr std::string_view lease_word = ".lease-";
constexpr std::string_view worker_word = ".worker";
constexpr std::string_view part_word = ".part";

/// The machine, the process, and a number that no other process has, since names of machines may repeat.
std::string worker_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  std::string name = host.data();
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; });
  std::random_device random;
  return fmt::format("{}-{}-{:08x}", name, ::getpid(), random());
}

/// An open file; a refusal of the system is in errno.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  bool write(std::string_view text) const {
    for (std::int64_t at = 0; !text.empty();) {
      const auto done = ::pwrite(descriptor_, text.data(), text.size(), at);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(done));
      at += done;
    }
    return true;
  }
  std::string read() const {
    std::string text;
    std::array<char, 1 << 16> buffer{};
    while (true) {
      const auto got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  /// NFS writes what is left, and may refuse.
  bool close() {
    const int open = std::exchange(descriptor_, -1);
    return open < 0 || ::close(open) == 0;
  }

 private:
  int descriptor_;
};

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Whether the error says that the folder was removed.
bool is_missing(int error) { return error == ENOENT || error == ESTALE; }

std::optional<std::string> text_of(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file && !is_missing(errno)) fail("{}: cannot be read: {}", path, std::strerror(errno));
  if (!file) return std::nullopt;
  return file.read();
}

/// None: there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error && !is_missing(error.value())) fail("{}: cannot be read: {}", folder, error.message());
  return names;
}

/// None: there is no such file, or it was damaged.
std::optional<Json> record_of(const std::string& path) {
  const auto text = text_of(path);
  if (!text || !text->ends_with('\n')) return std::nullopt;
  auto record = parse_record(std::string_view(*text).substr(0, text->size() - 1));
  if (record.is_discarded() || !record.contains("result")) return std::nullopt;
  return std::move(record["result"]);
}

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  fail("{}: cannot be written: {}; what is in the folder stays, and --join goes on from there", path,
       std::strerror(error));
}

[[noreturn]] void fail_to_link(const std::string& path, int error) {
  if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS)
    fail("{}: the file system makes no hard links, by which processes share a work; name a folder elsewhere", path);
  fail_to_write(path, error);
}

}  // namespace

Claims::Claims(std::string folder, Clock::duration lease)
    : folder_(std::move(folder)), name_(worker_name()), lease_(lease) {
  enter();
  heart_ = std::jthread([this](const std::stop_token& stop) { live(stop); });
}

Claims::~Claims() {
  heart_.request_stop();
  heart_.join();
  beat(std::string(left));
  ::unlink(path(name_ + std::string(worker_word)).c_str());
  ::rmdir(folder_.c_str());  // refused unless it is empty: then this process came after the end, or did nothing
}

/// The folder may be removed between these steps, by a process that ends the work.
void Claims::enter() {
  const auto worker = path(name_ + std::string(worker_word));
  while (true) {
    std::error_code error;
    fs::create_directory(folder_, error);
    if (error) fail("{}: the folder cannot be made: {}", folder_, error.message());
    const bool made = static_cast<bool>(Descriptor(worker, O_WRONLY | O_CREAT | O_EXCL));
    if (made && beat("0")) return;
    if (!is_missing(errno)) fail_to_write(worker, errno);
  }
}

/// False: errno says why. Opened and closed each time, so that other machines see it.
bool Claims::beat(const std::string& state) {
  Descriptor file(path(name_ + std::string(worker_word)), O_WRONLY);
  if (!file) return false;
  return file.write(fmt::format("{} {:>12}\n", name_, state)) && file.close();
}

/// An error other than a missing folder is not the end: the disk may be full for a moment.
void Claims::live(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  for (std::int64_t sign = 1; !stop.stop_requested(); ++sign) {
    if (!beat(std::to_string(sign)) && is_missing(errno)) over_ = true;
    stopped.wait_for(lock, stop, lease_ / signs_per_lease, [] { return false; });
  }
}

bool Claims::others() const {
  const auto names = names_in(folder_);
  const auto own = name_ + std::string(worker_word);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.ends_with(worker_word) && name != own; });
}

bool Claims::is_over() const { return over_ || !is_there(path(name_ + std::string(worker_word))); }

bool Claims::is_mine(const std::string& lease) const {
  struct stat mine {
  }, theirs{};
  return ::stat(path(name_ + std::string(worker_word)).c_str(), &mine) == 0 && ::stat(lease.c_str(), &theirs) == 0 &&
         mine.st_ino == theirs.st_ino && mine.st_dev == theirs.st_dev;
}

/// Counted from when this process saw the sign first.
bool Claims::has_expired(const std::string& sign) {
  if (sign.ends_with(fmt::format(" {}\n", left))) return true;
  const auto [found, fresh] = signs_.try_emplace(sign.substr(0, sign.find(' ')), Sign{sign, Clock::now()});
  auto& last = found->second;
  if (!fresh && last.text != sign) last = {sign, Clock::now()};
  return Clock::now() - last.since > lease_;
}

/// The next lease is taken only after the one before has expired. Leases are removed only when the unit is finished.
bool Claims::claim(const std::string& unit) {
  const auto worker = path(name_ + std::string(worker_word));
  for (int number = 0; !is_finished(unit); ++number) {
    const auto lease = path(fmt::format("{}{}{}", unit, lease_word, number));
    const bool made = ::link(worker.c_str(), lease.c_str()) == 0;
    const int error = errno;
    if (!made && error != EEXIST) {
      if (!is_missing(error)) fail_to_link(lease, error);
      over_ = true;
      return false;
    }
    if (made || is_mine(lease)) {  // NFS may do it and say that it was there
      held_[unit] = lease;
      if (!is_finished(unit)) return true;
      ::unlink(lease.c_str());  // somebody has finished it meanwhile
      return false;
    }
    const auto sign = text_of(lease);
    if (!sign || !has_expired(*sign)) return false;
  }
  return false;
}

bool Claims::holds(const std::string& unit) const {
  const auto found = held_.find(unit);
  if (found == held_.end() || !is_mine(found->second)) return false;
  const auto number = std::stoi(found->second.substr(found->second.rfind('-') + 1));
  return !is_there(path(fmt::format("{}{}{}", unit, lease_word, number + 1)));
}

/// One that a loss of power has damaged is replaced.
void Claims::write_first(const std::string& name, const Json& result) {
  const auto text = record_line({{"result", result}});
  try {
    if (!write_new_file(path(name), text) && !find(name)) write_file(path(name), text, Links::replace);
  } catch (const Error&) {  // of a folder that was removed
    if (!is_over()) throw;
  }
}

void Claims::keep(const std::string& unit, const Json& result) {
  write_first(unit, result);
  if (const auto held = held_.find(unit); held != held_.end()) {
    ::unlink(held->second.c_str());
    held_.erase(held);
  }
}

/// A damaged result is none.
bool Claims::is_finished(const std::string& unit) const { return is_there(path(unit)) && find(unit); }

std::optional<Json> Claims::find(const std::string& unit) const { return record_of(path(unit)); }

Json Claims::agree(const std::string& question, const Json& proposed) {
  write_first(question, proposed);
  return find(question).value_or(proposed);
}

/// Renamed first: from then on all processes see that it is over.
void Claims::end() {
  const auto done = fmt::format("{}.{}.done", folder_, name_);
  std::error_code ignored;
  fs::rename(folder_, done, ignored);
  over_ = true;
  fs::remove_all(done, ignored);
}

std::map<std::string, Json> Claims::results(const std::string& folder) {
  std::map<std::string, Json> found;
  for (const auto& name : names_in(folder)) {
    if (name.ends_with(worker_word) || name.ends_with(part_word) || name.find(lease_word) != name.npos) continue;
    if (auto result = record_of((fs::path(folder) / name).string())) found.emplace(name, std::move(*result));
  }
  return found;
}

}  // namespace sheaf::queue
