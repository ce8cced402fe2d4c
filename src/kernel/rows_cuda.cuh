// Kernel rows on a GPU: some rows of one table against a range of the rows of another. Dense tables by cuBLAS, sparse
// ones by a product of our own with 128 rows laid side by side; the kernel function is applied on the way out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "kernel/kernels.hpp"
#include "kernel/table_cuda.cuh"

namespace sheaf::kernel::gpu {

/// Lanes of the sparse product: a warp's threads hold four each.
inline constexpr int lanes = 128;
inline constexpr int tile_rows = 32;
/// Inner products on their way to becoming kernel values.
inline constexpr std::int64_t between_bytes = std::int64_t{256} << 20;

/// Rows of a table as lanes: row-major for dense products, feature-major for sparse ones.
template <class A>
__global__ void lay_out_rows(SourceRows<A> from, const std::int32_t* positions, int count, std::int64_t features,
                             std::int64_t row_step, std::int64_t feature_step, A* to) {
  const int r = static_cast<int>(blockIdx.x) * rows_a_block + static_cast<int>(threadIdx.x) / 32;
  if (r >= count) return;
  visit_row(from, positions[r], [&](std::int64_t, std::int64_t j, A value) {
    if (j < features) to[r * row_step + j * feature_step] = value;
  });
}

/// rows[r][to + i] = the kernel value of inner product dots[r][i].
template <class A, class Kernel, class Out>
__global__ void apply_kernel(Kernel kernel, const A* dots, std::int64_t width, std::int64_t to, const A* norms,
                             const A* from_norms, const std::int32_t* positions, Out* const* rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto r = static_cast<std::int64_t>(blockIdx.y);
  if (i < width) rows[r][to + i] = static_cast<Out>(kernel(dots[r * width + i], norms[i], from_norms[positions[r]]));
}

template <class A>
struct alignas(4 * sizeof(A) < 16 ? 4 * sizeof(A) : 16) Four {
  A part[4];
};

/// tile_rows rows of a sparse table against all lanes; each warp takes every eighth row.
template <class A, class Kernel, class Out>
__global__ void __launch_bounds__(row_threads)
    sparse_kernel_rows(Kernel kernel, const std::int64_t* offsets, const std::int32_t* indices, const A* values,
                       Range against, const A* side_by_side, const A* norms, const A* from_norms,
                       const std::int32_t* positions, int count, Out* const* rows, std::int64_t to) {
  __shared__ A tile[tile_rows][lanes + 1];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first = against.begin + static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  for (int r = warp; r < tile_rows && first + r < against.end; r += rows_a_block) {
    Four<A> sum{};
    for (std::int64_t k = offsets[first + r]; k < offsets[first + r + 1]; ++k) {
      const A value = values[k];
      const auto other =
          reinterpret_cast<const Four<A>*>(side_by_side + static_cast<std::int64_t>(indices[k]) * lanes)[lane];
      for (int part = 0; part < 4; ++part) sum.part[part] += value * other.part[part];
    }
    for (int part = 0; part < 4; ++part) tile[r][lane * 4 + part] = sum.part[part];
  }
  __syncthreads();
  const std::int64_t i = first + lane;
  if (i >= against.end) return;
  for (int r = warp; r < count; r += rows_a_block)
    rows[r][to + i - against.begin] = static_cast<Out>(kernel(tile[lane][r], norms[i], from_norms[positions[r]]));
}

inline void gemm(cublasHandle_t blas, int m, int n, int k, const float* a, const float* b, float* c) {
  const float one = 1;
  const float zero = 0;
  cuda::check(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, k, b, k, &zero, c, m), "cublasSgemm");
}
inline void gemm(cublasHandle_t blas, int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1;
  const double zero = 0;
  cuda::check(cublasDgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, k, b, k, &zero, c, m), "cublasDgemm");
}

template <class A>
SourceRows<A> source_of(const DeviceTable<A>& table) {
  if (table.is_dense) return {table.dense.data(), nullptr, nullptr, table.columns};
  return {table.values.data(), table.offsets.data(), table.indices.data(), table.columns};
}

template <class A>
class KernelRows {
 public:
  KernelRows(const KernelParams& kernel, Device device, cudaStream_t stream, cublasHandle_t blas)
      : kernel_(kernel), device_(device), stream_(stream), blas_(blas) {}

  /// rows[r][to + i] = K(row positions[r] of `from`, row against.begin + i of `table`). `positions` and `rows` lie on
  /// the device.
  template <class Out>
  void compute(const DeviceTable<A>& table, Range against, const DeviceTable<A>& from, const std::int32_t* positions,
               std::int64_t count, Out* const* rows, std::int64_t to) {
    if (against.begin == against.end) return;
    const std::int64_t most = table.is_dense
                                  ? std::clamp<std::int64_t>(between_bytes / (width_bytes(against)), 1, 32768)
                                  : std::int64_t{lanes};
    for (std::int64_t first = 0; first < count; first += most) {
      const int here = static_cast<int>(std::min(most, count - first));
      if (table.is_dense)
        dense_rows(table, against, from, positions + first, here, rows + first, to);
      else
        sparse_rows(table, against, from, positions + first, here, rows + first, to);
    }
  }

 private:
  static std::int64_t width_bytes(Range against) {
    return (against.end - against.begin) * static_cast<std::int64_t>(sizeof(A));
  }

  void lay_out(const DeviceTable<A>& from, const std::int32_t* positions, int count, std::int64_t features,
               std::int64_t row_step, std::int64_t feature_step, std::int64_t size) {
    if (laid_out_.size() < size) laid_out_ = Array<A>(size, device_);
    if (size == 0) return;
    cuda::check(cudaMemsetAsync(laid_out_.data(), 0, static_cast<std::size_t>(size) * sizeof(A), stream_),
                "clearing lanes");
    lay_out_rows<<<row_blocks(count), row_threads, 0, stream_>>>(source_of(from), positions, count, features, row_step,
                                                                 feature_step, laid_out_.data());
    cuda::check_launch("lay_out_rows");
  }

  template <class Out>
  void dense_rows(const DeviceTable<A>& table, Range against, const DeviceTable<A>& from, const std::int32_t* positions,
                  int count, Out* const* rows, std::int64_t to) {
    const std::int64_t width = against.end - against.begin;
    const std::int64_t p = table.columns;
    lay_out(from, positions, count, p, p, 1, count * p);
    if (between_.size() < count * width) between_ = Array<A>(count * width, device_);
    if (p > 0)
      gemm(blas_, static_cast<int>(width), count, static_cast<int>(p), table.dense.data() + against.begin * p,
           laid_out_.data(), between_.data());
    else
      cuda::check(cudaMemsetAsync(between_.data(), 0, static_cast<std::size_t>(between_.bytes()), stream_), "clearing");
    with_kernel<A>(kernel_, [&](auto kernel) {
      const dim3 blocks(static_cast<unsigned>((width + 255) / 256), static_cast<unsigned>(count));
      apply_kernel<A, decltype(kernel), Out><<<blocks, 256, 0, stream_>>>(
          kernel, between_.data(), width, to, table.norms.data() + against.begin, from.norms.data(), positions, rows);
      cuda::check_launch("apply_kernel");
    });
  }

  template <class Out>
  void sparse_rows(const DeviceTable<A>& table, Range against, const DeviceTable<A>& from,
                   const std::int32_t* positions, int count, Out* const* rows, std::int64_t to) {
    lay_out(from, positions, count, table.columns, 1, lanes, table.columns * lanes);
    with_kernel<A>(kernel_, [&](auto kernel) {
      const auto blocks = static_cast<unsigned>((against.end - against.begin + tile_rows - 1) / tile_rows);
      sparse_kernel_rows<A, decltype(kernel), Out><<<blocks, row_threads, 0, stream_>>>(
          kernel, table.offsets.data(), table.indices.data(), table.values.data(), against, laid_out_.data(),
          table.norms.data(), from.norms.data(), positions, count, rows, to);
      cuda::check_launch("sparse_kernel_rows");
    });
  }

  KernelParams kernel_;
  Device device_;
  cudaStream_t stream_;
  cublasHandle_t blas_;
  Array<A> laid_out_, between_;
};

}  // namespace sheaf::kernel::gpu
