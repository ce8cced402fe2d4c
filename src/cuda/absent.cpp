// Stands in for runtime.cu in a build without CUDA: there is no GPU, and errors state why.
#if !SHEAF_CUDA

#include <sheaf/error.hpp>

#include "core/gpu_runtime.hpp"

namespace sheaf::cuda {
namespace {
constexpr const char* asked = "GPU memory was asked for in a build without CUDA";
}  // namespace

std::vector<DeviceInfo> list_devices() {
  DeviceInfo none;
  none.device = Device::cuda(0);
  none.name = "NVIDIA GPU";
  none.why_not = "this build has no CUDA; install the CUDA toolkit and build again";
  return {none};
}

bool libraries_found() { return false; }

void* allocate(int /*index*/, std::int64_t /*bytes*/) { throw InternalError(asked); }
void release(int /*index*/, void* /*memory*/) noexcept {}
void release_cached(int /*index*/) noexcept {}
void copy_to_host(void* /*to*/, int /*index*/, const void* /*from*/, std::int64_t /*bytes*/) {
  throw InternalError(asked);
}
void copy_from_host(int /*index*/, void* /*to*/, const void* /*from*/, std::int64_t /*bytes*/) {
  throw InternalError(asked);
}
void copy_between(int /*to_index*/, void* /*to*/, int /*from_index*/, const void* /*from*/, std::int64_t /*bytes*/) {
  throw InternalError(asked);
}
void fill(int /*index*/, void* /*memory*/, int /*value*/, std::int64_t /*bytes*/) { throw InternalError(asked); }

}  // namespace sheaf::cuda

#endif
