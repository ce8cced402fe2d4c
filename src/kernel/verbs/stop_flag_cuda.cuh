// A stop that reaches a kernel at work: one launch may take many steps, and the host can do nothing but wait for it.
#pragma once

#include <stop_token>

#include "cuda/staging.cuh"

namespace sheaf::kernel::gpu {

/// A word of host memory that kernels read where it is: 1 from the moment on when the token is asked to stop.
class StopFlag {
 public:
  explicit StopFlag(const std::stop_token& stop) : word_(memory_.room<int>(1)), raise_(stop, Raise{word_}) {}
  const volatile int* word() const { return word_; }

 private:
  struct Raise {
    volatile int* word;
    explicit Raise(volatile int* at) : word(at) { *word = 0; }
    void operator()() const { *word = 1; }
  };

  cuda::Staging memory_;
  volatile int* word_;
  std::stop_callback<Raise> raise_;
};

/// Whether a block is to end; all its threads must call it.
__device__ inline bool block_must_stop(const volatile int* word) {
  return __syncthreads_or(threadIdx.x == 0 && *word != 0 ? 1 : 0) != 0;
}

}  // namespace sheaf::kernel::gpu
