// Dense block products on the GPU. Wide matrices go to cuBLAS. For narrow ones (tall data of at most `narrow` features) a
// thread holds the weights, or the sums, of its tasks in registers while the rows of X pass by in shared memory: X is read
// once for all tasks of a tile, and each value of X read from shared memory serves Tasks multiplications.
#pragma once

#include <algorithm>
#include <cstdint>

#include <sheaf/array.hpp>
#include <sheaf/matrix.hpp>

#include "cuda/check.cuh"

namespace sheaf::linear::gpu {

inline constexpr int narrow = 32;
inline constexpr int dense_threads = 256;
inline constexpr int staged_rows = 64;

/// Copies `columns` columns of rows first .. first + count - 1 of X, whose rows are `pitch` apart, to shared memory, where
/// they are `Columns` apart with zeros behind the last.
template <bool Squares, int Columns, class T>
__device__ void stage_rows(const T* x, std::int64_t pitch, std::int64_t first, int count, int columns, T* staged) {
  for (int e = threadIdx.x; e < count * Columns; e += dense_threads) {
    const int row = e / Columns;
    const int column = e % Columns;
    const T value = column < columns ? x[(first + row) * pitch + column] : T(0);
    staged[e] = Squares ? value * value : value;
  }
}

/// Where a thread stands: `across` threads side by side share the tasks of a tile, the others take other rows.
template <int Tasks>
struct DensePlace {
  int across, lane, lanes, column;
  __device__ explicit DensePlace(int across_)
      : across(across_),
        lane(static_cast<int>(threadIdx.x) / across_),
        lanes(dense_threads / across_),
        column((blockIdx.y * across_ + threadIdx.x % across_) * Tasks) {}
};

template <int Columns, int Tasks, class T>
__global__ void __launch_bounds__(dense_threads)
    narrow_product(const T* x, std::int64_t rows, int columns, const T* w, T* z, int stride, int across) {
  __shared__ __align__(16) T staged[staged_rows * Columns];
  const DensePlace<Tasks> place(across);
  const bool active = place.column < stride;
  T weights[Columns][Tasks];
#pragma unroll
  for (int j = 0; j < Columns; ++j)
#pragma unroll
    for (int t = 0; t < Tasks; ++t)
      weights[j][t] = active && j < columns ? w[static_cast<std::int64_t>(j) * stride + place.column + t] : T(0);
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * staged_rows; first < rows;
       first += static_cast<std::int64_t>(gridDim.x) * staged_rows) {
    const int count = static_cast<int>(min(static_cast<std::int64_t>(staged_rows), rows - first));
    __syncthreads();
    stage_rows<false, Columns>(x, columns, first, count, columns, staged);
    __syncthreads();
    if (!active) continue;
    for (int r = place.lane; r < count; r += place.lanes) {
      T sum[Tasks] = {};
#pragma unroll
      for (int j = 0; j < Columns; ++j)
#pragma unroll
        for (int t = 0; t < Tasks; ++t) sum[t] += staged[r * Columns + j] * weights[j][t];
#pragma unroll
      for (int t = 0; t < Tasks; ++t) z[(first + r) * stride + place.column + t] = sum[t];
    }
  }
}

/// partial[block][j][t] = the sum over the block's rows of x_j * z_t.
template <bool Squares, int Columns, int Tasks, class T>
__global__ void __launch_bounds__(dense_threads)
    narrow_transposed(const T* x, std::int64_t pitch, std::int64_t rows, int columns, const T* z, int stride, int across, T* partial) {
  __shared__ __align__(16) T staged[staged_rows * Columns];
  const DensePlace<Tasks> place(across);
  const bool active = place.column < stride;
  T sum[Columns][Tasks] = {};
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * staged_rows; first < rows;
       first += static_cast<std::int64_t>(gridDim.x) * staged_rows) {
    const int count = static_cast<int>(min(static_cast<std::int64_t>(staged_rows), rows - first));
    __syncthreads();
    stage_rows<Squares, Columns>(x, pitch, first, count, columns, staged);
    __syncthreads();
    if (!active) continue;
    for (int r = place.lane; r < count; r += place.lanes) {
      T factor[Tasks];
#pragma unroll
      for (int t = 0; t < Tasks; ++t) factor[t] = z[(first + r) * stride + place.column + t];
#pragma unroll
      for (int j = 0; j < Columns; ++j)
#pragma unroll
        for (int t = 0; t < Tasks; ++t) sum[j][t] += staged[r * Columns + j] * factor[t];
    }
  }
  // Threads with the same tasks add up their sums, one column at a time, in the order of their lanes.
  __shared__ T gathered[dense_threads * Tasks];
#pragma unroll
  for (int j = 0; j < Columns; ++j) {
    __syncthreads();
#pragma unroll
    for (int t = 0; t < Tasks; ++t) gathered[threadIdx.x * Tasks + t] = sum[j][t];
    __syncthreads();
    if (place.lane != 0 || !active || j >= columns) continue;
#pragma unroll
    for (int t = 0; t < Tasks; ++t) {
      T total = 0;
      for (int lane = 0; lane < place.lanes; ++lane) total += gathered[(lane * across + threadIdx.x) * Tasks + t];
      partial[(static_cast<std::int64_t>(blockIdx.x) * columns + j) * stride + place.column + t] = total;
    }
  }
}

/// out[e] = the sum over p of partial[p * size + e], in order and in double.
template <class T>
__global__ void add_parts(const T* partial, int parts, std::int64_t size, T* out) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  double sum = 0;
  for (int p = 0; p < parts; ++p) sum += static_cast<double>(partial[p * size + e]);
  out[e] = static_cast<T>(sum);
}

inline bool own_kernels() { return getenv("SHEAF_CUBLAS") == nullptr; }

inline void gemm_batch(cublasHandle_t handle, cublasOperation_t second, int m, int n, int k, const float* a, int lda,
                       long long step_a, const float* b, int ldb, long long step_b, float* c, int ldc, long long step_c,
                       int count) {
  const float one = 1;
  const float zero = 0;
  cuda::check(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, second, m, n, k, &one, a, lda, step_a, b, ldb, step_b, &zero, c,
                                        ldc, step_c, count), "a dense product");
}
inline void gemm_batch(cublasHandle_t handle, cublasOperation_t second, int m, int n, int k, const double* a, int lda,
                       long long step_a, const double* b, int ldb, long long step_b, double* c, int ldc, long long step_c,
                       int count) {
  const double one = 1;
  const double zero = 0;
  cuda::check(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, second, m, n, k, &one, a, lda, step_a, b, ldb, step_b, &zero, c,
                                        ldc, step_c, count), "a dense product");
}

/// Calls f(columns) with the smallest compile-time width that holds `columns`.
template <class F>
void with_columns(std::int64_t columns, F&& f) {
  if (columns <= 8) f(std::integral_constant<int, 8>{});
  else if (columns <= 16) f(std::integral_constant<int, 16>{});
  else if (columns <= 28) f(std::integral_constant<int, 28>{});
  else f(std::integral_constant<int, narrow>{});
}

template <class T>
class DenseProduct {
 public:
  DenseProduct(const DenseMatrix<T>& x, Array<T>& partial, cudaStream_t stream, cublasHandle_t blas, int processors)
      : x_(x), partial_(partial), stream_(stream), blas_(blas), processors_(processors) {}

  // Row-major blocks are cuBLAS's column-major transposes: z' = w' x'.
  void multiply(BlockView<const T> w, BlockView<T> z, bool own = own_kernels()) {
    if (x_.rows == 0) return;
    if (own && x_.columns <= narrow) {
      with_columns(x_.columns, [&](auto columns) { by_tasks(z.stride, [&](auto tasks) { product<columns(), tasks()>(w, z); }); });
      return;
    }
    const auto columns = static_cast<int>(x_.columns);
    for (std::int64_t first = 0; first < x_.rows; first += most_rows) {
      const auto rows = static_cast<int>(std::min(most_rows, x_.rows - first));
      gemm_batch(blas_, CUBLAS_OP_N, z.stride, rows, columns, w.data, w.stride, 0, x_.values.data() + first * x_.columns,
                 columns, 0, z.data + first * z.stride, z.stride, 0, 1);
    }
  }

  template <bool Squares>
  void transposed(BlockView<const T> z, BlockView<T> g, bool own = own_kernels()) {
    if (x_.columns == 0) return;
    if (x_.rows == 0) {
      cuda::check(cudaMemsetAsync(g.data, 0, static_cast<std::size_t>(x_.columns * g.stride) * sizeof(T), stream_), "clearing");
      return;
    }
    if (Squares || (own && x_.columns <= narrow)) panels<Squares>(z, g);
    else chunked_gemm(z, g);
  }

 private:
  static constexpr std::int64_t most_rows = std::int64_t{1} << 24;  // cuBLAS counts in int

  template <class F>
  static void by_tasks(int stride, F&& f) {
    if (stride >= 64 && sizeof(T) == 4) f(std::integral_constant<int, 2>{});
    else f(std::integral_constant<int, 1>{});
  }
  /// Threads side by side over the tasks of a tile.
  static int threads_across(int stride, int tasks) {
    int across = 1;
    while (across < 64 && across * tasks < stride) across *= 2;
    return across;
  }
  dim3 grid_for(int across, int stride, int tasks, int waves) const {
    const auto tiles = static_cast<unsigned>((stride + across * tasks - 1) / (across * tasks));
    const std::int64_t chunks = (x_.rows + staged_rows - 1) / staged_rows;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(chunks, static_cast<std::int64_t>(processors_) * waves));
    return {blocks, tiles};
  }
  T* partial(std::int64_t size) {
    if (partial_.size() < size) partial_ = Array<T>(size, x_.values.device());
    return partial_.data();
  }
  void add_up(const T* from, int parts, std::int64_t size, T* to) {
    add_parts<T><<<static_cast<unsigned>((size + 127) / 128), 128, 0, stream_>>>(from, parts, size, to);
    cuda::check_launch("add_parts");
  }

  template <int Columns, int Tasks>
  void product(BlockView<const T> w, BlockView<T> z) {
    const int across = threads_across(z.stride, Tasks);
    narrow_product<Columns, Tasks, T><<<grid_for(across, z.stride, Tasks, 16), dense_threads, 0, stream_>>>(
        x_.values.data(), x_.rows, static_cast<int>(x_.columns), w.data, z.data, z.stride, across);
    cuda::check_launch("narrow_product");
  }

  /// Panels of at most `narrow` columns. Wide matrices come here only for squares, which a preconditioner asks for once in
  /// a while.
  template <bool Squares>
  void panels(BlockView<const T> z, BlockView<T> g) {
    for (std::int64_t first = 0; first < x_.columns; first += narrow) {
      const auto count = static_cast<int>(std::min<std::int64_t>(narrow, x_.columns - first));
      with_columns(count, [&](auto columns) {
        by_tasks(g.stride, [&](auto tasks) { panel<Squares, columns(), tasks()>(first, count, z, g); });
      });
    }
  }

  template <bool Squares, int Columns, int Tasks>
  void panel(std::int64_t first, int count, BlockView<const T> z, BlockView<T> g) {
    const int across = threads_across(g.stride, Tasks);
    const dim3 grid = grid_for(across, g.stride, Tasks, 8);
    const std::int64_t size = static_cast<std::int64_t>(count) * g.stride;
    T* parts = partial(grid.x * size);
    narrow_transposed<Squares, Columns, Tasks, T><<<grid, dense_threads, 0, stream_>>>(
        x_.values.data() + first, x_.columns, x_.rows, count, z.data, g.stride, across, parts);
    cuda::check_launch("narrow_transposed");
    add_up(parts, static_cast<int>(grid.x), size, g.data + first * g.stride);
  }

  /// Chunks of rows as one batch of products, their results added in double: short sums, and work for every processor.
  void chunked_gemm(BlockView<const T> z, BlockView<T> g) {
    const std::int64_t size = x_.columns * g.stride;
    const std::int64_t affordable = std::max<std::int64_t>(1, (std::int64_t{256} << 20) / (size * static_cast<std::int64_t>(sizeof(T))));
    const std::int64_t chunk = std::max<std::int64_t>(4096, (x_.rows + affordable - 1) / affordable);
    const std::int64_t whole = x_.rows / chunk;
    const std::int64_t rest = x_.rows % chunk;
    const std::int64_t parts = whole + (rest > 0 ? 1 : 0);
    T* to = parts > 1 ? partial(parts * size) : g.data;
    const auto columns = static_cast<int>(x_.columns);
    const T* x = x_.values.data();
    if (whole > 0)
      gemm_batch(blas_, CUBLAS_OP_T, g.stride, columns, static_cast<int>(chunk), z.data, z.stride, chunk * z.stride, x, columns,
                 chunk * columns, to, g.stride, size, static_cast<int>(whole));
    if (rest > 0)
      gemm_batch(blas_, CUBLAS_OP_T, g.stride, columns, static_cast<int>(rest), z.data + whole * chunk * z.stride, z.stride, 0,
                 x + whole * chunk * columns, columns, 0, to + whole * size, g.stride, 0, 1);
    if (parts > 1) add_up(to, static_cast<int>(parts), size, g.data);
  }

  const DenseMatrix<T>& x_;
  Array<T>& partial_;
  cudaStream_t stream_;
  cublasHandle_t blas_;
  int processors_;
};

}  // namespace sheaf::linear::gpu
