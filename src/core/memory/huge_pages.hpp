// Huge pages for large memory: fewer page faults and address look-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

namespace sheaf {

inline constexpr std::int64_t huge_page = 2 << 20;

/// For the whole pages within the memory; refused on some kernels, which costs nothing.
inline void prefer_huge_pages(void* memory, std::int64_t bytes) {
  constexpr auto size = static_cast<std::uintptr_t>(huge_page);
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = (at + size - 1) / size * size;
  const auto end = (at + static_cast<std::uintptr_t>(bytes)) / size * size;
  if (begin < end)
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

/// resize() of an empty vector, in huge pages.
template <class T>
void resize_in_huge_pages(std::vector<T>& values, std::size_t count) {
  values.reserve(count);
  prefer_huge_pages(values.data(), static_cast<std::int64_t>(count * sizeof(T)));
  values.resize(count);
}

}  // namespace sheaf
