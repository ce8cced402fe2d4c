// Shared by the checks of arguments.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <sheaf/solvers/array.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf::memory {

constexpr std::int64_t entry_grain = 1 << 16;

/// "argument 'NAME': ..."
template <class... Args>
[[noreturn]] void fail_argument(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format("argument '{}': {}", name, fmt::format(format, std::forward<Args>(args)...)));
}

/// Rows or columns: their numbers fit 32 bits.
inline void check_extent(std::string_view name, std::int64_t count) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (count < 0 || count > most) fail_argument(name, "is {}, but 0 to {} is expected", count, most);
}

/// The lowest k from 0 on with is_wrong(k); `count` if there is none. Whole blocks are tested at once, so that simple
/// questions become vector instructions.
template <class Question>
std::int64_t find_first(int threads, std::int64_t count, Question&& is_wrong) {
  constexpr std::int64_t block = 1024;
  std::atomic<std::int64_t> first = count;
  parallel_ranges(threads, count, entry_grain, [&](Range range) {
    for (std::int64_t begin = range.begin; begin < range.end && begin < first; begin += block) {
      const std::int64_t end = std::min(begin + block, range.end);
      bool any = false;
      for (std::int64_t k = begin; k < end; ++k) any |= is_wrong(k);
      if (!any) continue;
      std::int64_t found = begin;
      while (!is_wrong(found)) ++found;
      std::int64_t known = first;
      while (found < known && !first.compare_exchange_weak(known, found)) continue;
      return;
    }
  });
  return first;
}

inline bool is_aligned(const void* memory, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

/// Whether kernels can read it as it is: they load up to 16 bytes at once.
template <class T>
bool suits_kernels(std::span<const T> values) {
  return is_aligned(values.data(), 16);
}

/// The memory itself if it is the CPU's, else a copy there.
template <class T>
Array<T> on_host(std::string_view argument, std::span<const T> values, Device device) {
  if (!is_aligned(values.data(), alignof(T)))
    fail_argument(argument, "the memory begins at no multiple of {} bytes; copy it to memory of its own", alignof(T));
  const auto size = static_cast<std::int64_t>(values.size());
  auto borrowed = Array<T>::over(values.data(), size, device);
  return device.is_cpu() ? std::move(borrowed) : borrowed.to(Device::cpu());
}

/// The array as it is, or its elements as another type.
template <class To, class From>
Array<To> converted(Array<From> from, int threads) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    Array<To> to(from.size());
    parallel_ranges(threads, from.size(), entry_grain, [&](Range range) {
      for (std::int64_t k = range.begin; k < range.end; ++k) to[k] = static_cast<To>(from[k]);
    });
    return to;
  }
}

}  // namespace sheaf::memory
