#include "cuda/runtime.hpp"

#include "cuda/check.cuh"

namespace sheaf::cuda {
namespace {

DeviceInfo describe_gpu(int index) {
  DeviceInfo info;
  info.device = Device::cuda(index);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "reading the GPU's properties");
  info.name = properties.name;
  info.units = properties.multiProcessorCount;
  info.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.detail = "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor);
  try {
    const Current current(index);
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "starting the GPU");
    info.free_bytes = static_cast<std::int64_t>(free_bytes);
    info.usable = properties.major >= 8;
    if (!info.usable) info.why_not = "compute capability 8.0 or newer is needed";
  } catch (const Error& error) {
    info.why_not = error.what();
  }
  return info;
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) {
    std::vector<DeviceInfo> infos;
    for (int i = 0; i < count; ++i) infos.push_back(describe_gpu(i));
    return infos;
  }
  cudaGetLastError();
  DeviceInfo none;
  none.device = Device::cuda(0);
  none.name = "NVIDIA GPU";
  if (status == cudaErrorInsufficientDriver)
    none.why_not = "no NVIDIA driver, or one too old for this build's CUDA runtime; install a newer driver";
  else if (status == cudaErrorNoDevice || status == cudaSuccess)
    none.why_not = "the driver shows no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  else
    none.why_not = cudaGetErrorString(status);
  return {none};
}

void* allocate(int index, std::int64_t bytes) {
  const Current current(index);
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "taking GPU memory");
  return memory;
}

void release(int index, void* memory) noexcept {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(index);
  cudaFree(memory);
  cudaSetDevice(before);
}

void copy_to_host(void* to, int index, const void* from, std::int64_t bytes) {
  const Current current(index);
  const Stream stream;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream),
        "copying from the GPU");
  stream.synchronize();
}

void copy_from_host(int index, void* to, const void* from, std::int64_t bytes) {
  const Current current(index);
  const Stream stream;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream),
        "copying to the GPU");
  stream.synchronize();
}

void copy_between(int to_index, void* to, int from_index, const void* from, std::int64_t bytes) {
  const Current current(to_index);
  const Stream stream;
  check(cudaMemcpyPeerAsync(to, to_index, from, from_index, static_cast<std::size_t>(bytes), stream),
        "copying between GPUs");
  stream.synchronize();
}

void fill(int index, void* memory, int value, std::int64_t bytes) {
  const Current current(index);
  const Stream stream;
  check(cudaMemsetAsync(memory, value, static_cast<std::size_t>(bytes), stream), "filling GPU memory");
  stream.synchronize();
}

}  // namespace sheaf::cuda
