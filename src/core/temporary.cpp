#include "core/temporary.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "core/fail.hpp"

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

std::string without_links(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

bool written_directly(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& target) : target_(without_links(target)), path_(target_) {
  if (written_directly(target)) return;
  static std::atomic<unsigned> count{0};
  path_ = fmt::format("{}.{}-{}.part", target_, getpid(), count++);
  if (path_.size() >= longest_name) fail("{}: the name is too long", target);
  slot_ = remember(path_);
}

TemporaryFile::~TemporaryFile() {
  if (slot_ < 0) return;
  ::unlink(path_.c_str());
  forget();
}

void TemporaryFile::publish() {
  if (slot_ < 0) return;
  if (std::rename(path_.c_str(), target_.c_str()) != 0) fail("{}: {}", target_, std::strerror(errno));
  forget();
}

void TemporaryFile::forget() noexcept {
  slots[static_cast<std::size_t>(slot_)].state = Slot::unused;
  slot_ = -1;
}

void remove_temporaries() noexcept {
  for (auto& slot : slots)
    if (slot.state == Slot::in_use) ::unlink(slot.name.data());
}

}  // namespace sheaf
