// Host memory for data that go to a GPU and back often, or are read from there: copies from elsewhere would wait.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "cuda/check.cuh"

namespace sheaf::cuda {

/// Host memory the GPU copies from and to without a detour, and can read where it is.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { cudaFreeHost(memory_); }
  template <class T>
  T* room(std::size_t count) {
    if (bytes_ < count * sizeof(T)) {
      cudaFreeHost(memory_);
      memory_ = nullptr;
      bytes_ = count * sizeof(T) * 3 / 2;
      check(cudaMallocHost(&memory_, bytes_), "taking pinned memory");
    }
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A little pinned memory for the small vectors that cross between the launches of one stream: a copy from other memory
/// waits until the stream is idle. Pinning takes as long as a small fit, so the rings of finished work are kept for the
/// next.
class StagingRing {
 public:
  explicit StagingRing(const Stream& stream) : stream_(stream), memory_(take()) {}
  StagingRing(const StagingRing&) = delete;
  StagingRing& operator=(const StagingRing&) = delete;
  ~StagingRing() {
    cudaStreamSynchronize(stream_);
    const std::lock_guard lock(mutex_);
    free_.push_back(memory_);
  }

  /// Room that copies of the stream may use until `ring_bytes` more are requested; nullptr: too much for the ring.
  template <class T>
  T* room(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    if (bytes > ring_bytes) return nullptr;
    if (used_ + bytes > ring_bytes) {
      stream_.synchronize();
      used_ = 0;
    }
    used_ += bytes;
    return reinterpret_cast<T*>(memory_ + used_ - bytes);
  }

 private:
  static constexpr std::size_t ring_bytes = std::size_t{256} << 10;
  static constexpr std::size_t alignment = 16;

  static std::byte* take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto* memory = free_.back();
        free_.pop_back();
        return memory;
      }
    }
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, ring_bytes, cudaHostAllocPortable), "taking pinned memory");
    return static_cast<std::byte*>(memory);
  }

  inline static std::mutex mutex_;
  inline static std::vector<std::byte*> free_;
  const Stream& stream_;
  std::byte* memory_;
  std::size_t used_ = 0;
};

}  // namespace sheaf::cuda
