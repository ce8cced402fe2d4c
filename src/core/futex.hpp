// Threads that sleep until a word changes (Linux's futex).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sheaf {

using FutexWord = std::atomic<std::uint32_t>;
static_assert(sizeof(FutexWord) == sizeof(std::uint32_t) && FutexWord::is_always_lock_free);

/// Sleeps while the word is `value`, at most so long; may return early.
inline void futex_wait(FutexWord& word, std::uint32_t value, std::chrono::nanoseconds longest) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(seconds.count());
  time.tv_nsec = static_cast<long>((longest - seconds).count());
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0);
}

/// Wakes up to `count` of those who sleep on the word.
inline void futex_wake(FutexWord& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace sheaf
