// Dense block products on the GPU. Those of many tasks go to cuBLAS: X w as it is, X' z as a batch of chunks of rows;
// few tasks have kernels of their own (few_tasks_cuda.cuh). Two more products have their own kernels: X w of narrow
// data (at most `narrow` features), in which a thread holds the weights of its tasks in registers while the rows of X
// pass by in shared memory, fetched one chunk ahead; and (X o X)' z, which no library offers.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_pipeline.h>

#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "cuda/check.cuh"
#include "cuda/reduce.cuh"
#include "linear/products/few_tasks_cuda.cuh"
#include "linear/products/tensor_cuda.cuh"

namespace sheaf::linear::gpu {

inline constexpr int narrow = 32;
inline constexpr int dense_threads = 256;
inline constexpr int staged_rows = 64;

/// The chunks of rows one block works through, each fetched to shared memory while the one before is used.
template <int Columns, class T, int Rows = staged_rows>
class StagedRows {
 public:
  /// `columns` columns of X, whose rows are `pitch` apart, stand `Columns` apart in `buffer` with zeros behind the
  /// last.
  __device__ StagedRows(const T* x, std::int64_t pitch, std::int64_t rows, int columns, T* buffer)
      : x_(x), pitch_(pitch), rows_(rows), columns_(columns), buffer_(buffer) {
    for (int e = threadIdx.x; e < 2 * Rows * Columns; e += dense_threads)
      if (e % Columns >= columns) buffer_[e] = T(0);
    fetch(first());
  }
  __device__ std::int64_t first() const { return static_cast<std::int64_t>(blockIdx.x) * Rows; }
  __device__ std::int64_t step() const { return static_cast<std::int64_t>(gridDim.x) * Rows; }
  __device__ int count(std::int64_t at) const {
    return static_cast<int>(min(static_cast<std::int64_t>(Rows), rows_ - at));
  }
  /// The chunk at `at`, once every thread has arrived; the next one is on its way. leave() before the next call.
  __device__ const T* enter(std::int64_t at) {
    const T* here = buffer_ + turn_ * Rows * Columns;
    turn_ ^= 1;
    fetch(at + step());
    __pipeline_wait_prior(1);
    __syncthreads();
    return here;
  }
  __device__ void leave() { __syncthreads(); }

 private:
  __device__ void fetch(std::int64_t at) {
    T* to = buffer_ + turn_ * Rows * Columns;
    const int size = at < rows_ ? count(at) * Columns : 0;
    if (columns_ == Columns && pitch_ == Columns) {
      constexpr int width = 16 / static_cast<int>(sizeof(T));
      static_assert(Columns % width == 0);
      for (int e = threadIdx.x * width; e < size; e += dense_threads * width)
        __pipeline_memcpy_async(to + e, x_ + at * Columns + e, 16);
    } else {
      for (int e = threadIdx.x; e < size; e += dense_threads)
        if (e % Columns < columns_)
          __pipeline_memcpy_async(to + e, x_ + (at + e / Columns) * pitch_ + e % Columns, sizeof(T));
    }
    __pipeline_commit();
  }

  const T* x_;
  std::int64_t pitch_, rows_;
  int columns_;
  T* buffer_;
  int turn_ = 0;
};

/// Position of a thread: `across` threads side by side share the tasks of a tile, the others take other rows.
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
  __shared__ __align__(16) T buffer[2 * staged_rows * Columns];
  const DensePlace<Tasks> place(across);
  const bool active = place.column < stride;
  using Values = RowOfTasks<T, Tasks>;
  Values weights[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j)
    weights[j] = active && j < columns
                     ? *reinterpret_cast<const Values*>(w + static_cast<std::int64_t>(j) * stride + place.column)
                     : Values{};
  StagedRows<Columns, T> chunks(x, columns, rows, columns, buffer);
  for (std::int64_t first = chunks.first(); first < rows; first += chunks.step()) {
    const T* staged = chunks.enter(first);
    const int count = active ? chunks.count(first) : 0;
    for (int r = place.lane; r < count; r += place.lanes) {
      Values sum{};
#pragma unroll
      for (int j = 0; j < Columns; ++j)
#pragma unroll
        for (int t = 0; t < Tasks; ++t) sum.value[t] += staged[r * Columns + j] * weights[j].value[t];
      *reinterpret_cast<Values*>(z + (first + r) * stride + place.column) = sum;
    }
    chunks.leave();
  }
}

/// partial[block][j][t] = the sum over the block's rows of x_j^2 * z_t.
template <int Columns, int Tasks, class T>
__global__ void __launch_bounds__(dense_threads)
    squared_sums(const T* x, std::int64_t pitch, std::int64_t rows, int columns, const T* z, int stride, int across,
                 T* partial) {
  __shared__ __align__(16) T buffer[2 * staged_rows * Columns];
  const DensePlace<Tasks> place(across);
  const bool active = place.column < stride;
  using Values = RowOfTasks<T, Tasks>;
  constexpr int ahead = 4;  // rows whose z is on its way at once
  T sum[Columns][Tasks] = {};
  StagedRows<Columns, T> chunks(x, pitch, rows, columns, buffer);
  for (std::int64_t first = chunks.first(); first < rows; first += chunks.step()) {
    const int count = active ? chunks.count(first) : 0;
    const T* staged = chunks.enter(first);
    for (int base = place.lane; base < count; base += place.lanes * ahead) {
      Values factor[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        const int r = base + u * place.lanes;
        factor[u] = r < count ? *reinterpret_cast<const Values*>(z + (first + r) * stride + place.column) : Values{};
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        const int r = min(base + u * place.lanes, count - 1);  // a row that is not there has factors of zero
#pragma unroll
        for (int j = 0; j < Columns; ++j) {
          const T value = staged[r * Columns + j];
#pragma unroll
          for (int t = 0; t < Tasks; ++t) sum[j][t] += value * value * factor[u].value[t];
        }
      }
    }
    chunks.leave();
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

inline void gemm_batch(cublasHandle_t handle, cublasOperation_t second, int m, int n, int k, const float* a, int lda,
                       long long step_a, const float* b, int ldb, long long step_b, float* c, int ldc, long long step_c,
                       int count) {
  const float one = 1;
  const float zero = 0;
  cuda::check(cuda::cublas().sgemm_strided_batched(handle, CUBLAS_OP_N, second, m, n, k, &one, a, lda, step_a, b, ldb,
                                                   step_b, &zero, c, ldc, step_c, count),
              "a dense product");
}
inline void gemm_batch(cublasHandle_t handle, cublasOperation_t second, int m, int n, int k, const double* a, int lda,
                       long long step_a, const double* b, int ldb, long long step_b, double* c, int ldc,
                       long long step_c, int count) {
  const double one = 1;
  const double zero = 0;
  cuda::check(cuda::cublas().dgemm_strided_batched(handle, CUBLAS_OP_N, second, m, n, k, &one, a, lda, step_a, b, ldb,
                                                   step_b, &zero, c, ldc, step_c, count),
              "a dense product");
}

/// Calls f(columns) with the smallest compile-time width that holds `columns`.
template <class F>
void with_columns(std::int64_t columns, F&& f) {
  if (columns <= 8)
    f(std::integral_constant<int, 8>{});
  else if (columns <= 16)
    f(std::integral_constant<int, 16>{});
  else if (columns <= 28)
    f(std::integral_constant<int, 28>{});
  else
    f(std::integral_constant<int, narrow>{});
}

template <class T>
class DenseProduct {
 public:
  DenseProduct(const DenseMatrix<T>& x, Array<T>& partial, cudaStream_t stream, const cuda::Blas& blas, int processors)
      : x_(x), partial_(partial), stream_(stream), blas_(blas), processors_(processors) {}

  // Row-major blocks are cuBLAS's column-major transposes: z' = w' x'.
  void multiply(BlockView<const T> w, BlockView<T> z) {
    if (x_.rows == 0) return;
    if (x_.columns == 0) return clear(z.data, x_.rows * z.stride);
    if (x_.columns <= narrow && z.stride >= 8) {
      with_columns(x_.columns,
                   [&](auto columns) { by_tasks(z.stride, [&](auto tasks) { product<columns(), tasks()>(w, z); }); });
      return;
    }
    const auto columns = static_cast<int>(x_.columns);
    if (suits_tensor_cores(x_.values.data(), x_.columns, z.stride)) return tensor_products(w, z);
    if (few(z.stride) && (x_.rows >= enough_rows || x_.columns <= few_columns))
      return launch_few_tasks_product(x_.values.data(), x_.rows, columns, w.data, z.data, z.stride, stream_);
    for (std::int64_t first = 0; first < x_.rows; first += most_rows) {
      const auto rows = static_cast<int>(std::min(most_rows, x_.rows - first));
      gemm_batch(blas_, CUBLAS_OP_N, z.stride, rows, columns, w.data, w.stride, 0,
                 x_.values.data() + first * x_.columns, columns, 0, z.data + first * z.stride, z.stride, 0, 1);
    }
  }

  template <bool Squares>
  void transposed(BlockView<const T> z, BlockView<T> g) {
    if (x_.columns == 0) return;
    if (x_.rows == 0) return clear(g.data, x_.columns * g.stride);
    if (!Squares && suits_tensor_cores(x_.values.data(), x_.columns, z.stride))
      tensor_sums(z, g);
    else if (few(z.stride))
      few_tasks_sums<Squares>(z, g);
    else if constexpr (Squares)
      squared_panels(z, g);
    else
      chunked_gemm(z, g);
  }

 private:
  static constexpr std::int64_t most_rows = std::int64_t{1} << 24;  // cuBLAS counts in int
  // A warp goes through all columns of its rows: that pays if there are rows for all warps, or few columns.
  static constexpr std::int64_t enough_rows = 8192;
  static constexpr std::int64_t few_columns = 2048;

  bool few(int stride) const { return stride <= few_tasks && x_.columns > narrow; }

  void clear(T* data, std::int64_t size) {
    cuda::check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(size) * sizeof(T), stream_), "clearing a block");
  }

  template <class F>
  static void by_tasks(int stride, F&& f) {
    if (stride >= 8)
      f(std::integral_constant<int, 2>{});
    else
      f(std::integral_constant<int, 1>{});
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
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>(chunks, static_cast<std::int64_t>(processors_) * waves));
    return {blocks, tiles};
  }
  T* partial(std::int64_t size) {
    if (partial_.size() < size) partial_ = Array<T>(size, x_.values.device());
    return partial_.data();
  }
  template <int Columns, int Tasks>
  void product(BlockView<const T> w, BlockView<T> z) {
    const int across = threads_across(z.stride, Tasks);
    narrow_product<Columns, Tasks, T><<<grid_for(across, z.stride, Tasks, 16), dense_threads, 0, stream_>>>(
        x_.values.data(), x_.rows, static_cast<int>(x_.columns), w.data, z.data, z.stride, across);
    cuda::check_launch("narrow_product");
  }

  /// The diagonal of X' diag(z) X in panels of at most `narrow` columns. A preconditioner uses it once in a while.
  void squared_panels(BlockView<const T> z, BlockView<T> g) {
    for (std::int64_t first = 0; first < x_.columns; first += narrow) {
      const auto count = static_cast<int>(std::min<std::int64_t>(narrow, x_.columns - first));
      with_columns(count, [&](auto columns) {
        by_tasks(g.stride, [&](auto tasks) { squared_panel<columns(), tasks()>(first, count, z, g); });
      });
    }
  }

  template <int Columns, int Tasks>
  void squared_panel(std::int64_t first, int count, BlockView<const T> z, BlockView<T> g) {
    const int across = threads_across(g.stride, Tasks);
    const dim3 grid = grid_for(across, g.stride, Tasks, 8);
    const std::int64_t size = static_cast<std::int64_t>(count) * g.stride;
    T* parts = partial(grid.x * size);
    squared_sums<Columns, Tasks, T><<<grid, dense_threads, 0, stream_>>>(x_.values.data() + first, x_.columns, x_.rows,
                                                                         count, z.data, g.stride, across, parts);
    cuda::check_launch("squared_sums");
    cuda::add_parts(parts, static_cast<int>(grid.x), size, g.data + first * g.stride, stream_);
  }

  /// Calls f with the number of groups of eight tasks.
  template <class F>
  static void with_groups(int stride, F&& f) {
    if (stride == 8)
      f(std::integral_constant<int, 1>{});
    else
      f(std::integral_constant<int, 2>{});
  }
  void tensor_products(BlockView<const T> w, BlockView<T> z) {
    if constexpr (std::is_same_v<T, float>)
      with_groups(z.stride, [&](auto groups) {
        launch_tensor_product<groups()>(x_.values.data(), x_.rows, static_cast<int>(x_.columns), w.data, z.data,
                                        processors_, stream_);
      });
  }
  /// Sums of blocks of threads, added in double.
  void tensor_sums(BlockView<const T> z, BlockView<T> g) {
    if constexpr (std::is_same_v<T, float>) {
      const unsigned parts = tensor_blocks(x_.rows, processors_);
      const std::int64_t size = x_.columns * g.stride;
      T* to = parts > 1 ? partial(parts * size) : g.data;
      with_groups(z.stride, [&](auto groups) {
        launch_tensor_transposed<groups()>(x_.values.data(), x_.rows, static_cast<int>(x_.columns), z.data, to,
                                           processors_, stream_);
      });
      if (parts > 1) cuda::add_parts(to, static_cast<int>(parts), size, g.data, stream_);
    }
  }

  /// Chunks of rows, as many as fill the processors, added in double.
  template <bool Squares>
  void few_tasks_sums(BlockView<const T> z, BlockView<T> g) {
    constexpr std::int64_t blocks_per_processor = 8;
    constexpr std::int64_t fewest_rows = 64;
    const std::int64_t tiles = (x_.columns + few_threads - 1) / few_threads;
    const std::int64_t wanted = std::clamp<std::int64_t>(processors_ * blocks_per_processor / tiles, 1,
                                                         (x_.rows + fewest_rows - 1) / fewest_rows);
    const std::int64_t chunk = (x_.rows + wanted - 1) / wanted;
    const std::int64_t parts = (x_.rows + chunk - 1) / chunk;
    const std::int64_t size = x_.columns * g.stride;
    T* to = parts > 1 ? partial(parts * size) : g.data;
    with_few_tasks(g.stride, [&](auto tasks) {
      few_tasks_transposed<Squares, tasks(), T>
          <<<dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(parts)), few_threads, 0, stream_>>>(
              x_.values.data(), x_.rows, static_cast<int>(x_.columns), z.data, chunk, to);
    });
    cuda::check_launch("few_tasks_transposed");
    if (parts > 1) cuda::add_parts(to, static_cast<int>(parts), size, g.data, stream_);
  }

  /// Chunks of rows as one batch of products, their results added in double: short sums, and work for every processor.
  void chunked_gemm(BlockView<const T> z, BlockView<T> g) {
    const std::int64_t size = x_.columns * g.stride;
    const std::int64_t affordable =
        std::max<std::int64_t>(1, (std::int64_t{256} << 20) / (size * static_cast<std::int64_t>(sizeof(T))));
    const std::int64_t chunk = std::max<std::int64_t>(4096, (x_.rows + affordable - 1) / affordable);
    const std::int64_t whole = x_.rows / chunk;
    const std::int64_t rest = x_.rows % chunk;
    const std::int64_t parts = whole + (rest > 0 ? 1 : 0);
    T* to = parts > 1 ? partial(parts * size) : g.data;
    const auto columns = static_cast<int>(x_.columns);
    const T* x = x_.values.data();
    if (whole > 0)
      gemm_batch(blas_, CUBLAS_OP_T, g.stride, columns, static_cast<int>(chunk), z.data, z.stride, chunk * z.stride, x,
                 columns, chunk * columns, to, g.stride, size, static_cast<int>(whole));
    if (rest > 0)
      gemm_batch(blas_, CUBLAS_OP_T, g.stride, columns, static_cast<int>(rest), z.data + whole * chunk * z.stride,
                 z.stride, 0, x + whole * chunk * columns, columns, 0, to + whole * size, g.stride, 0, 1);
    if (parts > 1) cuda::add_parts(to, static_cast<int>(parts), size, g.data, stream_);
  }

  const DenseMatrix<T>& x_;
  Array<T>& partial_;
  cudaStream_t stream_;
  const cuda::Blas& blas_;
  int processors_;
};

}  // namespace sheaf::linear::gpu
