// Source code put before every snippet: for NVRTC next to nothing, for the CPU's compiler the keywords of CUDA.
#pragma once

#include <string_view>

namespace sheaf::snippets {

inline constexpr std::string_view cuda_prologue = R"(
#define SHEAF_INLINE static __device__ __forceinline__
)";

/// Headers of the standard library that kernels need, before anything of CUDA is defined.
inline constexpr std::string_view host_kernel_includes = R"(
#include <atomic>
#include <memory>
#include <ucontext.h>
#include <vector>
)";

/// Functions that CUDA has and C++ has not, or elsewhere.
inline constexpr std::string_view host_prologue = R"(
#include <math.h>
#include <stdint.h>
#define SHEAF_INLINE static inline
#define __device__
#define __host__
#define __global__ __attribute__((visibility("hidden")))
#define __constant__ static const
#define __forceinline__ inline
#define __noinline__
#define __restrict__ __restrict
#define __launch_bounds__(...)
template <class A, class B> static inline auto min(A a, B b) { return b < a ? b : a; }
template <class A, class B> static inline auto max(A a, B b) { return a < b ? b : a; }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
#define __expf expf
#define __logf logf
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
)";

/// Definitions that kernels need in addition: the place of a thread, shared memory, atomics. Threads of a block run one
/// after the other on one core; with barriers they are fibers that switch at each of them; blocks run on all cores.
inline constexpr std::string_view host_kernel_prologue = R"(
#define __shared__ static thread_local
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
static thread_local uint3 threadIdx, blockIdx;
static thread_local dim3 blockDim, gridDim;
static constexpr int warpSize = 32;
static thread_local std::vector<double> sheaf_shared_memory;
template <class T, class F> static inline T sheaf_atomic(T* at, F change) {
  std::atomic_ref<T> value(*at);
  T old = value.load();
  while (!value.compare_exchange_weak(old, change(old))) {}
  return old;
}
template <class T> static inline T atomicAdd(T* at, T by) { return sheaf_atomic(at, [&](T x) { return T(x + by); }); }
template <class T> static inline T atomicSub(T* at, T by) { return sheaf_atomic(at, [&](T x) { return T(x - by); }); }
template <class T> static inline T atomicMin(T* at, T with) { return sheaf_atomic(at, [&](T x) { return with < x ? with : x; }); }
template <class T> static inline T atomicMax(T* at, T with) { return sheaf_atomic(at, [&](T x) { return x < with ? with : x; }); }
template <class T> static inline T atomicExch(T* at, T with) { return sheaf_atomic(at, [&](T) { return with; }); }
template <class T> static inline T atomicCAS(T* at, T expected, T with) {
  return sheaf_atomic(at, [&](T x) { return x == expected ? with : x; });
}
static inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static inline void __threadfence_block() {}
static inline uint3 sheaf_place(unsigned long long number, const dim3& of) {
  return {unsigned(number % of.x), unsigned(number / of.x % of.y), unsigned(number / of.x / of.y)};
}
)";

/// One block without barriers: a loop.
inline constexpr std::string_view host_plain_block = R"(
template <class Kernel> static void sheaf_run_block(const Kernel& kernel) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  for (unsigned t = 0; t < threads; ++t) {
    threadIdx = sheaf_place(t, blockDim);
    kernel();
  }
}
)";

/// One block with barriers: each thread a fiber. At a barrier a fiber hands back to the loop, which goes round until
/// all have returned.
inline constexpr std::string_view host_barrier_block = R"(
static thread_local ucontext_t sheaf_loop;
static thread_local ucontext_t* sheaf_fiber;
static thread_local bool sheaf_returned;
static thread_local const void* sheaf_entry;
static inline void __syncthreads() { swapcontext(sheaf_fiber, &sheaf_loop); }
template <class Kernel> static void sheaf_enter() {
  (*static_cast<const Kernel*>(sheaf_entry))();
  sheaf_returned = true;
}
template <class Kernel> static void sheaf_run_block(const Kernel& kernel) {
  constexpr std::size_t stack = 64 << 10;
  static thread_local std::vector<ucontext_t> fibers;
  static thread_local std::unique_ptr<char[]> stacks;
  static thread_local std::size_t made = 0;
  const std::size_t threads = std::size_t(blockDim.x) * blockDim.y * blockDim.z;
  if (made < threads) {
    stacks.reset(new char[threads * stack]);
    made = threads;
  }
  fibers.resize(threads);
  std::vector<bool> done(threads, false);
  sheaf_entry = &kernel;
  for (std::size_t t = 0; t < threads; ++t) {
    getcontext(&fibers[t]);
    fibers[t].uc_stack.ss_sp = stacks.get() + t * stack;
    fibers[t].uc_stack.ss_size = stack;
    fibers[t].uc_link = &sheaf_loop;
    makecontext(&fibers[t], &sheaf_enter<Kernel>, 0);
  }
  for (std::size_t left = threads; left > 0;)
    for (std::size_t t = 0; t < threads; ++t) {
      if (done[t]) continue;
      threadIdx = sheaf_place(t, blockDim);
      sheaf_fiber = &fibers[t];
      sheaf_returned = false;
      swapcontext(&sheaf_loop, sheaf_fiber);
      if (sheaf_returned) { done[t] = true; --left; }
    }
}
)";

}  // namespace sheaf::snippets
