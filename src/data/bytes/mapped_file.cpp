#include "data/bytes/mapped_file.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

#include "core/files/lost_input.hpp"

namespace sheaf {
namespace {

/// A mapping that the handler below knows.
struct MappedRange {
  std::atomic<std::uintptr_t> begin = 0;  // 0: the slot is free
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> cut = false;
  std::atomic<const char*> name = nullptr;  // of a file in use
};

std::array<MappedRange, 64> ranges;  // a signal handler must not allocate
std::mutex ranges_mutex;
int used_ranges = 0;  // under the mutex
struct sigaction previous_action {};
std::uintptr_t page_bytes = 4096;

/// Does what the system would have done without us.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) return previous_action.sa_sigaction(signal, info, context);
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN)
    return previous_action.sa_handler(signal);
  sigaction(signal, &previous_action, nullptr);  // the access is tried again, and ends the process
}

/// Zeros in place of the pages behind the new end of a file.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (auto& range : ranges) {
    const auto end = range.end.load();
    if (at < range.begin.load() || at >= end || range.begin.load() == 0) continue;
    const auto page = at / page_bytes * page_bytes;
    range.cut = true;
    if (const char* name = range.name.load()) lose_input(name);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the page of an address inside the mapping
    if (mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED)
      return;
  }
  pass_on(signal, info, context);
}

void watch() {
  if (used_ranges++ > 0) return;
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous_action);
}

void stop_watching() {
  if (--used_ranges > 0) return;
  struct sigaction now {};
  sigaction(SIGBUS, nullptr, &now);
  const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error;
  if (ours) sigaction(SIGBUS, &previous_action, nullptr);
}

}  // namespace

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(ranges_mutex);
  ranges[slot_].name = nullptr;
  forget_lost_input(name_.c_str());
  ranges[slot_].end = 0;
  ranges[slot_].begin = 0;
  munmap(const_cast<char*>(data_), size_);
  stop_watching();
}

bool MappedFile::map(int file, std::size_t size) {
  const std::lock_guard lock(ranges_mutex);
  while (slot_ < ranges.size() && ranges[slot_].begin != 0) ++slot_;
  if (slot_ == ranges.size()) return false;
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return false;
  watch();
  data_ = static_cast<const char*>(memory);
  size_ = size;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  ranges[slot_].cut = false;
  ranges[slot_].end = (begin + size + page_bytes - 1) / page_bytes * page_bytes;
  ranges[slot_].begin = begin;
  return true;
}

bool MappedFile::cut_short() const { return data_ != nullptr && ranges[slot_].cut; }

void MappedFile::read_ahead() const {
  if (data_ != nullptr) madvise(const_cast<char*>(data_), size_, MADV_WILLNEED);
}

void MappedFile::keep_in_use(const std::string& name) const {
  if (data_ == nullptr || ranges[slot_].name != nullptr) return;
  name_ = name;
  ranges[slot_].name = name_.c_str();
  if (ranges[slot_].cut) lose_input(name_.c_str());
}

}  // namespace sheaf
