// Kernel rows on a GPU: some rows of one table against a range of rows of another. Dense rows of few features: a
// product that applies the kernel function before it stores; wider ones: cuBLAS and a second pass; sparse ones: a
// product with 128 rows laid side by side.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "kernel/values/kernels.hpp"
#include "kernel/values/table_cuda.cuh"

namespace sheaf::kernel::gpu {

/// Lanes of the sparse product: a warp's threads hold four each.
inline constexpr int lanes = 128;
inline constexpr int tile_rows = 32;
/// Memory for inner products before the kernel function is applied, and for as many rows laid side by side.
inline constexpr std::int64_t most_between_bytes = std::int64_t{256} << 20;

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
__global__ void apply_kernel(Kernel kernel, const A* dots, std::int64_t width, std::int64_t to, const A* terms,
                             const A* from_terms, const std::int32_t* positions, Out* const* rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto r = static_cast<std::int64_t>(blockIdx.y);
  if (i < width) rows[r][to + i] = static_cast<Out>(kernel(dots[r * width + i], terms[i], from_terms[positions[r]]));
}

template <class A>
struct alignas(4 * sizeof(A) < 16 ? 4 * sizeof(A) : 16) Four {
  A part[4];
};

/// tile_rows rows of a sparse table against all lanes; each warp takes every eighth row.
template <class A, class Kernel, class Out>
__global__ void __launch_bounds__(row_threads)
    sparse_kernel_rows(Kernel kernel, const std::int64_t* offsets, const std::int32_t* indices, const A* values,
                       Range against, const A* side_by_side, const A* terms, const A* from_terms,
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
    rows[r][to + i - against.begin] = static_cast<Out>(kernel(tile[lane][r], terms[i], from_terms[positions[r]]));
}

/// Features up to which dense rows are taken by the kernel below: cuBLAS would write inner products and read them
/// again, which then costs more than they do.
template <class A>
inline constexpr std::int64_t narrow = sizeof(A) == 4 ? 192 : 64;

inline constexpr int narrow_rows = 128;
inline constexpr int narrow_lanes = 64;
inline constexpr int narrow_depth = 16;

/// narrow_rows rows of a dense table against narrow_lanes rows of another; a thread holds 8 x 4 inner products. They
/// are added up feature by feature whatever the shape, so that a value does not depend on the other values of the tile.
template <class A, class Kernel, class Out>
__global__ void __launch_bounds__(256)
    narrow_kernel_rows(Kernel kernel, const A* x, std::int64_t features, std::int64_t width, const A* from,
                       std::int64_t from_features, const std::int32_t* positions, int count, const A* terms,
                       const A* from_terms, Out* const* rows, std::int64_t to) {
  __shared__ A xs[narrow_depth][narrow_rows + 4];
  __shared__ A others[narrow_depth][narrow_lanes + 4];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * narrow_rows;
  const int first_lane = static_cast<int>(blockIdx.y) * narrow_lanes;
  const int across = static_cast<int>(threadIdx.x) % 16;
  const int down = static_cast<int>(threadIdx.x) / 16;
  const std::int64_t shared_features = min(features, from_features);
  A sums[8][4] = {};
  for (std::int64_t begin = 0; begin < shared_features; begin += narrow_depth) {
    const std::int64_t j = begin + across;
    for (int i = down; i < narrow_rows; i += 16)
      xs[across][i] = first + i < width && j < shared_features ? x[(first + i) * features + j] : A(0);
    for (int r = down; r < narrow_lanes; r += 16)
      others[across][r] = first_lane + r < count && j < shared_features
                              ? from[static_cast<std::int64_t>(positions[first_lane + r]) * from_features + j]
                              : A(0);
    __syncthreads();
    for (int k = 0; k < narrow_depth; ++k) {
      A other[4];
      for (int b = 0; b < 4; ++b) other[b] = others[k][down * 4 + b];
      for (int a = 0; a < 8; ++a) {
        const A value = xs[k][across + 16 * a];
        for (int b = 0; b < 4; ++b) sums[a][b] += value * other[b];
      }
    }
    __syncthreads();
  }
  for (int b = 0; b < 4; ++b) {
    const int r = first_lane + down * 4 + b;
    if (r >= count) return;
    const A term = from_terms[positions[r]];
    for (int a = 0; a < 8; ++a) {
      const std::int64_t i = first + across + 16 * a;
      if (i < width) rows[r][to + i] = static_cast<Out>(kernel(sums[a][b], terms[i], term));
    }
  }
}

inline void gemm(cublasHandle_t blas, int m, int n, int k, const float* a, const float* b, float* c) {
  const float one = 1;
  const float zero = 0;
  cuda::check(cuda::cublas().sgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, k, b, k, &zero, c, m),
              "a dense product");
}
inline void gemm(cublasHandle_t blas, int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1;
  const double zero = 0;
  cuda::check(cuda::cublas().dgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, k, b, k, &zero, c, m),
              "a dense product");
}

template <class A>
SourceRows<A> source_of(const DeviceTable<A>& table) {
  if (table.is_dense) return {table.dense.data(), nullptr, nullptr, table.columns};
  return {table.values.data(), table.offsets.data(), table.indices.data(), table.columns};
}

template <class A>
class KernelRows {
 public:
  /// `room`: bytes that may be taken.
  KernelRows(const KernelParams& kernel, Device device, std::int64_t room, cudaStream_t stream, const cuda::Blas& blas)
      : kernel_(kernel),
        device_(device),
        between_bytes_(std::min(most_between_bytes, room / 2)),
        stream_(stream),
        blas_(blas) {}

  std::int64_t bytes() const { return 2 * between_bytes_; }

  /// rows[r][to + i] = K(row positions[r] of `from`, row against.begin + i of `table`). `positions` and `rows` lie on
  /// the device.
  template <class Out>
  void compute(const DeviceTable<A>& table, Range against, const DeviceTable<A>& from, const std::int32_t* positions,
               std::int64_t count, Out* const* rows, std::int64_t to) {
    if (against.begin == against.end) return;
    if (table.is_dense && from.is_dense && table.columns <= narrow<A>) {
      constexpr std::int64_t most_lanes = std::int64_t{65535} * narrow_lanes;
      for (std::int64_t first = 0; first < count; first += most_lanes)
        narrow_rows_of(table, against, from, positions + first, static_cast<int>(std::min(most_lanes, count - first)),
                       rows + first, to);
      return;
    }
    const std::int64_t most = table.is_dense
                                  ? std::clamp<std::int64_t>(between_bytes_ / width_bytes(against, table), 1, 32768)
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
  static std::int64_t width_bytes(Range against, const DeviceTable<A>& table) {
    return std::max(against.end - against.begin, table.columns) * static_cast<std::int64_t>(sizeof(A));
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
  void narrow_rows_of(const DeviceTable<A>& table, Range against, const DeviceTable<A>& from,
                      const std::int32_t* positions, int count, Out* const* rows, std::int64_t to) {
    const std::int64_t width = against.end - against.begin;
    const dim3 blocks(static_cast<unsigned>((width + narrow_rows - 1) / narrow_rows),
                      static_cast<unsigned>((count + narrow_lanes - 1) / narrow_lanes));
    with_kernel<A>(kernel_, [&](auto kernel) {
      narrow_kernel_rows<A, decltype(kernel), Out><<<blocks, 256, 0, stream_>>>(
          kernel, table.dense.data() + against.begin * table.columns, table.columns, width, from.dense.data(),
          from.columns, positions, count, table.terms.data() + against.begin, from.terms.data(), rows, to);
      cuda::check_launch("narrow_kernel_rows");
    });
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
          kernel, between_.data(), width, to, table.terms.data() + against.begin, from.terms.data(), positions, rows);
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
          table.terms.data(), from.terms.data(), positions, count, rows, to);
      cuda::check_launch("sparse_kernel_rows");
    });
  }

  KernelParams kernel_;
  Device device_;
  std::int64_t between_bytes_;
  cudaStream_t stream_;
  const cuda::Blas& blas_;
  Array<A> laid_out_, between_;
};

}  // namespace sheaf::kernel::gpu
