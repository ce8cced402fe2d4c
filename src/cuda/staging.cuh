// Host memory for what goes to a GPU and back often, or is read from there: copies from elsewhere would wait.
#pragma once

#include <cstddef>

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

}  // namespace sheaf::cuda
