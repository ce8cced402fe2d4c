#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>

#include "core/fail.hpp"
#include "core/gpu_runtime.hpp"
#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t alignment = 64;
constexpr std::int64_t huge_page = 2 << 20;

void* allocate_cpu(std::int64_t bytes) {
  const std::int64_t unit = bytes >= 2 * huge_page ? huge_page : alignment;
  const std::int64_t rounded = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(static_cast<std::size_t>(unit), static_cast<std::size_t>(rounded));
  if (memory == nullptr) fail("out of memory: {} bytes could not be had", bytes);
  // Fewer page faults and address look-ups; refused on some kernels, which costs nothing.
  if (unit == huge_page) madvise(memory, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
  return memory;
}

}  // namespace

void* allocate(Device device, std::int64_t bytes) {
  require(bytes >= 0, "a negative number of bytes was asked for");
  if (bytes == 0) return nullptr;
  if (device.is_cpu()) return allocate_cpu(bytes);
  return cuda::allocate(device.index, bytes);
}

void release(Device device, void* memory) noexcept {
  if (memory == nullptr) return;
  if (device.is_cpu())
    std::free(memory);
  else
    cuda::release(device.index, memory);
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::int64_t bytes) {
  if (bytes == 0) return;
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  if (to_device.is_cpu())
    cuda::copy_to_host(to, from_device.index, from, bytes);
  else if (from_device.is_cpu())
    cuda::copy_from_host(to_device.index, to, from, bytes);
  else
    cuda::copy_between(to_device.index, to, from_device.index, from, bytes);
}

void fill_bytes(void* memory, Device device, int value, std::int64_t bytes) {
  if (bytes == 0) return;
  if (device.is_cpu()) {
    std::memset(memory, value, static_cast<std::size_t>(bytes));
    return;
  }
  cuda::fill(device.index, memory, value, bytes);
}

void parallel_copy(void* to, const void* from, std::int64_t bytes) {
  constexpr int most_threads = 8;
  static const int threads = std::min(most_threads, available_threads());
  parallel_ranges(threads, bytes, 1 << 18, [&](Range range) {
    std::memcpy(static_cast<char*>(to) + range.begin, static_cast<const char*>(from) + range.begin,
                static_cast<std::size_t>(range.end - range.begin));
  });
}

}  // namespace sheaf
