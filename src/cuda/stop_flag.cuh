// How kernels that run long learn that the work is to end.
#pragma once

#include <stop_token>

#include "cuda/staging.cuh"

namespace sheaf::cuda {

/// A number in host memory that kernels read where it is: 0, and 1 once the work is to end.
class StopFlag {
 public:
  explicit StopFlag(const std::stop_token& stop) : flag_(memory_.room<int>(1)), on_stop_(stop, Raise{cleared(flag_)}) {}
  const volatile int* get() const { return flag_; }

 private:
  struct Raise {
    volatile int* flag;
    void operator()() const { *flag = 1; }
  };
  static volatile int* cleared(volatile int* flag) {
    *flag = 0;
    return flag;
  }

  Staging memory_;
  volatile int* flag_;
  std::stop_callback<Raise> on_stop_;
};

/// Whether a block is to end; all its threads must call it.
__device__ inline bool block_must_stop(const volatile int* flag) {
  return __syncthreads_or(threadIdx.x == 0 && *flag != 0 ? 1 : 0) != 0;
}

}  // namespace sheaf::cuda
