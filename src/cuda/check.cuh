// Every CUDA and cuBLAS call goes through these; RAII owners of streams and handles. No work runs on the
// default stream.
#pragma once

#include <string>

#include <cuda_runtime.h>

#include "core/memory/out_of_memory.hpp"
#include "cuda/cublas.hpp"

namespace sheaf::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not fail the next one
  if (status == cudaErrorMemoryAllocation)
    throw OutOfMemory(std::string(what) + ": the GPU is out of memory; give a smaller --memory, or use --device cpu");
  throw Error(std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

inline void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED)  // of its workspace
    return check(cudaErrorMemoryAllocation, what);
  throw Error(std::string(what) + ": " + cublas().status_string(status));
}

/// After a launch: bad configurations are reported here, faults inside the kernel at the next synchronisation.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

/// Makes a GPU current while it lives.
class Current {
 public:
  explicit Current(int index) {
    check(cudaGetDevice(&before_), "asking for the current GPU");
    if (index != before_) check(cudaSetDevice(index), "choosing a GPU");
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor): it is the stream
  void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// cuBLAS on a stream. It is opened and started by the first product: that takes 60 ms, which work without dense
/// products does not wait for.
class Blas {
 public:
  explicit Blas(cudaStream_t stream) : stream_(stream) {}
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas() {
    if (handle_ != nullptr) cublas().destroy(handle_);
  }
  operator cublasHandle_t() const {  // NOLINT(google-explicit-constructor): it is the handle
    if (handle_ == nullptr) start();
    return handle_;
  }

 private:
  void start() const {
    check(cublas().create(&handle_), "starting cuBLAS");
    check(cublas().set_stream(handle_, stream_), "giving cuBLAS its stream");
  }

  cudaStream_t stream_;
  mutable cublasHandle_t handle_ = nullptr;
};

}  // namespace sheaf::cuda
