#include "core/gpu_runtime.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/parallel.hpp"
#include "cuda/check.cuh"

namespace sheaf::cuda {
namespace {

constexpr std::int64_t kept_bytes = std::int64_t{256} << 20;
constexpr std::int64_t staged_bytes = std::int64_t{8} << 20;

/// Memory of one GPU that was given back and waits for its next use. Solvers make and drop blocks by the dozen, and
/// asking the driver for memory costs as much as a product. No more waits than is in use, or an eighth of what was free
/// at first; half of the rest stays free for the driver and cuBLAS; 256 MiB wait if nothing is in use any more. Never
/// destroyed: the driver may be gone before us.
class Pool {
 public:
  static Pool& of(int index) {
    static auto* pools = new std::map<int, Pool>();
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    return (*pools)[index];
  }

  void* take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::int64_t size = rounded(bytes);
    // A waiting piece may be a quarter too large, no more.
    if (const auto found = waiting_.lower_bound(size); found != waiting_.end() && found->first <= size + size / 4) {
      void* memory = found->second;
      sizes_[memory] = found->first;
      used_bytes_ += found->first;
      waiting_bytes_ -= found->first;
      waiting_.erase(found);
      return memory;
    }
    void* memory = nullptr;
    if (cudaMalloc(&memory, static_cast<std::size_t>(size)) != cudaSuccess) {
      cudaGetLastError();
      give_back(0);
      check(cudaMalloc(&memory, static_cast<std::size_t>(size)), "taking GPU memory");
    }
    sizes_[memory] = size;
    used_bytes_ += size;
    return memory;
  }

  /// Work in flight may still use the memory: its next user must wait for that work.
  void put(void* memory) noexcept {
    cudaDeviceSynchronize();
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    waiting_.emplace(found->second, memory);
    waiting_bytes_ += found->second;
    used_bytes_ -= found->second;
    sizes_.erase(found);
    const std::int64_t rest = std::max<std::int64_t>(0, available() - used_bytes_) / 2;
    give_back(std::min(rest, used_bytes_ == 0 ? kept_bytes : std::max(used_bytes_, available() / 8)));
  }

  /// To the driver, the largest pieces first, until no more than so many bytes wait.
  void trim(std::int64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    give_back(bytes);
  }

  std::int64_t waiting_bytes() {
    const std::lock_guard lock(mutex_);
    return waiting_bytes_;
  }

  /// For copies and fills, which wait for their own end.
  const Stream& stream() {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr) stream_ = new Stream();
    return *stream_;
  }

  /// To the GPU through memory that its own engine can read: one piece is on its way while the next is put there.
  void send(void* to, const void* from, std::int64_t bytes) {
    const Stream& through = stream();
    const std::lock_guard lock(staging_mutex_);
    if (staging_ == nullptr) staging_ = new Staging();
    for (std::int64_t at = 0, turn = 0; at < bytes; at += staged_bytes, turn ^= 1) {
      const std::int64_t size = std::min(staged_bytes, bytes - at);
      check(cudaEventSynchronize(staging_->sent[turn]), "waiting for a copy");
      parallel_copy(staging_->memory[turn], static_cast<const char*>(from) + at, size);
      check(cudaMemcpyAsync(static_cast<char*>(to) + at, staging_->memory[turn], static_cast<std::size_t>(size),
                            cudaMemcpyHostToDevice, through),
            "copying to the GPU");
      check(cudaEventRecord(staging_->sent[turn], through), "marking a copy");
    }
    through.synchronize();
  }

  /// The way back.
  void receive(void* to, const void* from, std::int64_t bytes) {
    const Stream& through = stream();
    const std::lock_guard lock(staging_mutex_);
    if (staging_ == nullptr) staging_ = new Staging();
    const auto ask = [&](std::int64_t at, std::int64_t turn) {
      check(cudaMemcpyAsync(staging_->memory[turn], static_cast<const char*>(from) + at,
                            static_cast<std::size_t>(std::min(staged_bytes, bytes - at)), cudaMemcpyDeviceToHost,
                            through),
            "copying from the GPU");
      check(cudaEventRecord(staging_->sent[turn], through), "marking a copy");
    };
    ask(0, 0);
    for (std::int64_t at = 0, turn = 0; at < bytes; at += staged_bytes, turn ^= 1) {
      if (at + staged_bytes < bytes) ask(at + staged_bytes, turn ^ 1);
      check(cudaEventSynchronize(staging_->sent[turn]), "waiting for a copy");
      parallel_copy(static_cast<char*>(to) + at, staging_->memory[turn], std::min(staged_bytes, bytes - at));
    }
  }

 private:
  struct Staging {
    void* memory[2] = {};
    cudaEvent_t sent[2] = {};
    Staging() {
      for (int turn = 0; turn < 2; ++turn) {
        check(cudaMallocHost(&memory[turn], static_cast<std::size_t>(staged_bytes)), "pinning memory");
        check(cudaEventCreateWithFlags(&sent[turn], cudaEventDisableTiming), "making an event");
      }
    }
  };

  static std::int64_t rounded(std::int64_t bytes) {
    const std::int64_t unit = bytes < (1 << 20) ? 512 : 1 << 20;
    return (bytes + unit - 1) / unit * unit;
  }
  void give_back(std::int64_t bytes) noexcept {
    while (waiting_bytes_ > bytes) {
      const auto largest = std::prev(waiting_.end());
      cudaFree(largest->second);
      waiting_bytes_ -= largest->first;
      waiting_.erase(largest);
    }
  }
  /// The current GPU's memory that was free when the first piece was given back, or was ours.
  std::int64_t available() noexcept {
    if (available_ > 0) return available_;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
      available_ = static_cast<std::int64_t>(free_bytes) + used_bytes_ + waiting_bytes_;
    return available_;
  }

  std::mutex mutex_;
  std::multimap<std::int64_t, void*> waiting_;
  std::unordered_map<void*, std::int64_t> sizes_;
  std::int64_t waiting_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
  std::int64_t available_ = 0;
  Stream* stream_ = nullptr;
  std::mutex staging_mutex_;
  Staging* staging_ = nullptr;
};

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
    info.free_bytes = static_cast<std::int64_t>(free_bytes) + Pool::of(index).waiting_bytes();
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
  return Pool::of(index).take(bytes);
}

void release(int index, void* memory) noexcept {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(index);
  Pool::of(index).put(memory);
  cudaSetDevice(before);
}

void release_cached(int index) noexcept {
  if (Pool::of(index).waiting_bytes() == 0) return;
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(index);
  Pool::of(index).trim(0);
  cudaSetDevice(before);
}

void copy_to_host(void* to, int index, const void* from, std::int64_t bytes) {
  const Current current(index);
  if (bytes > staged_bytes) return Pool::of(index).receive(to, from, bytes);
  const Stream& stream = Pool::of(index).stream();
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream),
        "copying from the GPU");
  stream.synchronize();
}

void copy_from_host(int index, void* to, const void* from, std::int64_t bytes) {
  const Current current(index);
  if (bytes > staged_bytes) return Pool::of(index).send(to, from, bytes);
  const Stream& stream = Pool::of(index).stream();
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream),
        "copying to the GPU");
  stream.synchronize();
}

void copy_between(int to_index, void* to, int from_index, const void* from, std::int64_t bytes) {
  const Current current(to_index);
  const Stream& stream = Pool::of(to_index).stream();
  check(cudaMemcpyPeerAsync(to, to_index, from, from_index, static_cast<std::size_t>(bytes), stream),
        "copying between GPUs");
  stream.synchronize();
}

void fill(int index, void* memory, int value, std::int64_t bytes) {
  const Current current(index);
  const Stream& stream = Pool::of(index).stream();
  check(cudaMemsetAsync(memory, value, static_cast<std::size_t>(bytes), stream), "filling GPU memory");
  stream.synchronize();
}

}  // namespace sheaf::cuda
