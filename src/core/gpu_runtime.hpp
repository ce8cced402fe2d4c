// The part of the CUDA runtime that the core needs, in a header that any compiler can read: runtime.cu with CUDA,
// absent.cpp without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/solvers/device.hpp>

namespace sheaf::cuda {

/// Every GPU the driver shows; when there is none, one unusable entry that states why.
std::vector<DeviceInfo> list_devices();
/// Whether the libraries that are opened when a GPU is used (cuBLAS) are installed.
bool libraries_found();

void* allocate(int index, std::int64_t bytes);
void release(int index, void* memory) noexcept;
/// Memory that was given back goes to the driver; no GPU is touched if none was used.
void release_cached(int index) noexcept;
void copy_to_host(void* to, int index, const void* from, std::int64_t bytes);
void copy_from_host(int index, void* to, const void* from, std::int64_t bytes);
void copy_between(int to_index, void* to, int from_index, const void* from, std::int64_t bytes);
void fill(int index, void* memory, int value, std::int64_t bytes);

}  // namespace sheaf::cuda
