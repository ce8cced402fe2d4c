// Inverse Cholesky factors of X' D X on the GPU, with D of each task, all matrices at once and in double. Blocks of
// `factor_width` columns follow each other: one kernel inverts the factor of a block on the diagonal, the blocks below
// and beside it are products of matrices, for which cuBLAS has batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "cuda/check.cuh"
#include "linear/products/dense_cuda.cuh"
#include "linear/products/ops.hpp"

namespace sheaf::linear::gpu {

inline constexpr int factor_width = 64;
inline constexpr int factor_threads = 256;
inline constexpr int transpose_width = 32;

inline unsigned factor_blocks(std::int64_t size) {
  return static_cast<unsigned>((size + factor_threads - 1) / factor_threads);
}

/// taken[r][j] = x[rows[r]][j], or x[r][j] without `rows`, and the bias behind the last feature.
template <class T>
__global__ void take_dense_rows(const T* x, std::int64_t features, const std::int32_t* rows, T bias, std::int64_t size,
                                std::int64_t elements, T* taken) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  const std::int64_t j = e % size;
  const std::int64_t row = rows != nullptr ? rows[e / size] : e / size;
  taken[e] = j < features ? x[row * features + j] : bias;
}

/// scaled[r][c][j] = d[rows[r]][c] * taken[r][j] for `columns` columns c of d.
template <class T>
__global__ void scale_taken_rows(const T* taken, const std::int32_t* rows, const T* d, int stride, int columns,
                                 std::int64_t size, std::int64_t elements, T* scaled) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  const std::int64_t r = e / (columns * size);
  const auto c = static_cast<int>(e / size % columns);
  scaled[e] = d[static_cast<std::int64_t>(rows[r]) * stride + c] * taken[r * size + e % size];
}

/// matrices[c][i][j] = scale * products[i][c][j].
template <class T>
__global__ void widen_products(const T* products, double scale, int columns, std::int64_t size, std::int64_t elements,
                               double* matrices) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  const std::int64_t c = e / (size * size);
  const std::int64_t i = e / size % size;
  matrices[e] = scale * static_cast<double>(products[(i * columns + c) * size + e % size]);
}

/// The diagonals become what they are at least, and are raised. A block of threads a matrix.
template <class T>
__global__ void __launch_bounds__(factor_threads)
    raise_diagonals(const T* least, int stride, double ridge, double share, std::int64_t size, double* matrices) {
  __shared__ double largest[factor_threads];
  double* matrix = matrices + blockIdx.x * size * size;
  double mine = 0;
  for (std::int64_t j = threadIdx.x; j < size; j += factor_threads) {
    const double own = max(matrix[j * (size + 1)], static_cast<double>(least[j * stride + blockIdx.x]));
    matrix[j * (size + 1)] = own;
    mine = max(mine, own);
  }
  largest[threadIdx.x] = mine;
  for (int half = factor_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) largest[threadIdx.x] = max(largest[threadIdx.x], largest[threadIdx.x + half]);
  }
  __syncthreads();
  const double more = ridge + share * largest[0];
  for (std::int64_t j = threadIdx.x; j < size; j += factor_threads) matrix[j * (size + 1)] += more;
}

/// The inverse of the Cholesky factor of the block of `height` rows at `first` on the diagonal of each matrix. A thread
/// holds every fourth element of a row. When column j is eliminated, elements to its left are those of the inverse
/// already, and those to its right still those of the matrix; elements above the diagonal are never used.
__global__ void __launch_bounds__(factor_threads)
    invert_diagonal_block(const double* matrices, double* inverses, std::int64_t size, std::int64_t first, int height,
                          int* failed) {
  constexpr int across = factor_threads / factor_width;
  constexpr int own = factor_width / across;
  __shared__ double shared[2][factor_width];
  const std::int64_t corner = blockIdx.x * size * size + first * (size + 1);
  const int i = threadIdx.x / across;
  const int q = threadIdx.x % across;
  double a[own];
#pragma unroll
  for (int s = 0; s < own; ++s) {
    const int k = q + across * s;
    a[s] = i < height && k <= i ? matrices[corner + i * size + k] : (i == k ? 1.0 : 0.0);
  }
#pragma unroll
  for (int group = 0; group < own; ++group)
    for (int j = group * across; j < (group + 1) * across; ++j) {
      double* u = shared[j % 2];  // row j up to the diagonal, and column j from there on
      if (i == j)
#pragma unroll
        for (int s = 0; s < own; ++s)
          if (q + across * s < j) u[q + across * s] = a[s];
      if (i >= j && q == j % across) u[i] = a[group];
      __syncthreads();
      const double pivot = u[j];
      if (!(pivot > 0)) {  // all threads see the same
        if (threadIdx.x == 0) *failed = 1;
        return;
      }
      const double inverse = rsqrt(pivot);
      const double factor = i == j ? inverse : -u[i] * inverse * inverse;
      if (i < j) continue;
#pragma unroll
      for (int s = 0; s < own; ++s) {
        const int k = q + across * s;
        const double before = i == j || k == j ? 0.0 : a[s];
        a[s] = before + factor * (k == j ? 1.0 : u[k]);
      }
    }
#pragma unroll
  for (int s = 0; s < own; ++s) {
    const int k = q + across * s;
    if (i < height && k < height) inverses[corner + i * size + k] = k <= i ? a[s] : 0.0;
  }
}

/// by_rows = inverses and by_columns their transposes.
template <class T>
__global__ void keep_inverses(const double* inverses, std::int64_t size, T* by_rows, T* by_columns) {
  __shared__ T tile[transpose_width][transpose_width + 1];
  const std::int64_t first = blockIdx.z * size * size;
  const std::int64_t top = static_cast<std::int64_t>(blockIdx.y) * transpose_width;
  const std::int64_t left = static_cast<std::int64_t>(blockIdx.x) * transpose_width;
  for (int i = threadIdx.y; i < transpose_width; i += blockDim.y) {
    const std::int64_t at = first + (top + i) * size + left + threadIdx.x;
    if (top + i >= size || left + threadIdx.x >= size) continue;
    tile[i][threadIdx.x] = static_cast<T>(inverses[at]);
    by_rows[at] = tile[i][threadIdx.x];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < transpose_width; i += blockDim.y)
    if (left + i < size && top + threadIdx.x < size)
      by_columns[first + (left + i) * size + top + threadIdx.x] = tile[threadIdx.x][i];
}

/// w[j][c] = the sum over i of matrix[j][i] v[i][c], a warp for each j; of a triangle, whose other elements are 0.
template <class T>
__global__ void __launch_bounds__(factor_threads)
    multiply_each(const T* matrices, std::int64_t size, int count, bool upper, const T* v, T* w, int stride) {
  extern __shared__ __align__(16) unsigned char shared[];
  T* staged = reinterpret_cast<T*>(shared);
  const int c = blockIdx.y;
  for (std::int64_t i = threadIdx.x; i < size; i += factor_threads) staged[i] = v[i * stride + c];
  __syncthreads();
  const std::int64_t j =
      static_cast<std::int64_t>(blockIdx.x) * (factor_threads / 32) + static_cast<std::int64_t>(threadIdx.x) / 32;
  if (j >= size) return;
  const T* row = matrices + (c % count * size + j) * size;
  const int lane = threadIdx.x % 32;
  const std::int64_t end = upper ? size : j + 1;
  T sum = 0;
  for (std::int64_t i = (upper ? j / 32 * 32 : 0) + lane; i < end; i += 32) sum += row[i] * staged[i];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (lane == 0) w[j * stride + c] = sum;
}

template <class T>
void launch_multiply_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v, BlockView<T> w,
                          cudaStream_t stream) {
  constexpr std::int64_t rows = factor_threads / 32;
  if (v.tasks == 0 || factors.size == 0) return;
  const dim3 grid(static_cast<unsigned>((factors.size + rows - 1) / rows), static_cast<unsigned>(v.tasks));
  const auto& matrices = transposed ? factors.by_columns : factors.by_rows;
  multiply_each<T><<<grid, factor_threads, static_cast<std::size_t>(factors.size) * sizeof(T), stream>>>(
      matrices.data(), factors.size, factors.count, transposed, v.data, w.data, v.stride);
  cuda::check_launch("multiply_each");
}

/// A batch of matrices by rows that are `pitch` apart, from one element on.
struct FactorParts {
  double* data;
  std::int64_t pitch;
  std::int64_t step;  // from one matrix to the next
};

template <class T>
class InverseFactorsMaker {
 public:
  /// `x` lives on the GPU, and so do the numbers of `count` rows: in x (nullptr: they are all of x), and in a dataset.
  InverseFactorsMaker(const DenseMatrix<T>& x, const std::int32_t* in_x, const std::int32_t* rows, std::int64_t count,
                      T bias, const cuda::Blas& blas, cudaStream_t stream)
      : size_(x.columns + (bias > 0 ? 1 : 0)),
        count_(count),
        rows_(rows),
        blas_(blas),
        stream_(stream),
        device_(x.values.device()),
        taken_(count * size_, device_) {
    const std::int64_t elements = taken_.size();
    take_dense_rows<T><<<factor_blocks(elements), factor_threads, 0, stream_>>>(x.values.data(), x.columns, in_x, bias,
                                                                                size_, elements, taken_.data());
    cuda::check_launch("take_dense_rows");
  }

  /// `scale`: all rows for each of those taken. `d` has a row for each row of the dataset.
  InverseFactors<T> make(double scale, BlockView<const T> d, BlockView<const T> diagonal, double ridge, double share) {
    const auto matrices = static_cast<std::int64_t>(d.tasks);
    Array<double> whole(matrices * size_ * size_, device_);
    fill(whole, scale, d);
    raise_diagonals<T><<<static_cast<unsigned>(matrices), factor_threads, 0, stream_>>>(
        diagonal.data, diagonal.stride, ridge, share, size_, whole.data());
    cuda::check_launch("raise_diagonals");
    Array<double> inverses(whole.size(), device_);
    if (!invert(d.tasks, whole, inverses)) return {};
    InverseFactors<T> result{size_, d.tasks, Array<T>(whole.size(), device_), Array<T>(whole.size(), device_)};
    const auto tiles = static_cast<unsigned>((size_ + transpose_width - 1) / transpose_width);
    keep_inverses<T><<<dim3(tiles, tiles, static_cast<unsigned>(matrices)), dim3(transpose_width, 8), 0, stream_>>>(
        inverses.data(), size_, result.by_rows.data(), result.by_columns.data());
    cuda::check_launch("keep_inverses");
    wait();
    return result;
  }

 private:
  /// Some columns of d at a time, so that the scaled rows stay small.
  void fill(Array<double>& whole, double scale, BlockView<const T> d) {
    constexpr std::int64_t most_bytes = std::int64_t{128} << 20;
    const std::int64_t bytes = std::max<std::int64_t>(1, taken_.size()) * static_cast<std::int64_t>(sizeof(T));
    const auto together = static_cast<std::int32_t>(std::clamp<std::int64_t>(most_bytes / bytes, 1, d.tasks));
    Array<T> scaled(together * taken_.size(), device_);
    Array<T> products(together * size_ * size_, device_);
    for (std::int32_t first = 0; first < d.tasks; first += together) {
      const std::int32_t columns = std::min(together, d.tasks - first);
      const std::int64_t elements = columns * taken_.size();
      scale_taken_rows<T><<<factor_blocks(elements), factor_threads, 0, stream_>>>(
          taken_.data(), rows_, d.data + first, d.stride, columns, size_, elements, scaled.data());
      cuda::check_launch("scale_taken_rows");
      const auto width = static_cast<int>(columns * size_);
      gemm_batch(blas_, CUBLAS_OP_T, width, static_cast<int>(size_), static_cast<int>(count_), scaled.data(), width, 0,
                 taken_.data(), static_cast<int>(size_), 0, products.data(), width, 0, 1);
      const std::int64_t results = columns * size_ * size_;
      widen_products<T><<<factor_blocks(results), factor_threads, 0, stream_>>>(
          products.data(), scale, columns, size_, results, whole.data() + first * size_ * size_);
      cuda::check_launch("widen_products");
    }
    wait();  // for the memory
  }

  /// c = alpha a op(b) + beta c of all matrices: m x n, with k terms a sum.
  void multiply(std::int32_t matrices, double alpha, FactorParts a, FactorParts b, bool b_transposed, double beta,
                FactorParts c, std::int64_t m, std::int64_t n, std::int64_t k) {
    // Matrices by rows are cuBLAS's transposes: c' = op(b)' a'.
    cuda::check(cuda::cublas().dgemm_strided_batched(
                    blas_, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(n),
                    static_cast<int>(m), static_cast<int>(k), &alpha, b.data, static_cast<int>(b.pitch), b.step, a.data,
                    static_cast<int>(a.pitch), a.step, &beta, c.data, static_cast<int>(c.pitch), c.step, matrices),
                "a product of factors");
  }

  /// Row by row of blocks; `whole` is lost. Whether all were positive definite.
  bool invert(std::int32_t matrices, Array<double>& whole, Array<double>& inverses) {
    Array<double> factors(whole.size(), device_);  // below the diagonal blocks alone
    Array<double> beside(matrices * factor_width * size_, device_);
    Array<int> failed(1, device_);
    cuda::check(cudaMemsetAsync(failed.data(), 0, sizeof(int), stream_), "clearing a flag");
    cuda::check(
        cudaMemsetAsync(inverses.data(), 0, static_cast<std::size_t>(inverses.size()) * sizeof(double), stream_),
        "clearing matrices");
    const auto part = [&](Array<double>& of, std::int64_t i, std::int64_t j) {
      return FactorParts{of.data() + i * size_ + j, size_, size_ * size_};
    };
    const FactorParts scratch{beside.data(), size_, factor_width * size_};
    for (std::int64_t first = 0; first < size_; first += factor_width) {
      const std::int64_t height = std::min<std::int64_t>(factor_width, size_ - first);
      const std::int64_t below = first + height;
      const std::int64_t rest = size_ - below;
      invert_diagonal_block<<<static_cast<unsigned>(matrices), factor_threads, 0, stream_>>>(
          whole.data(), inverses.data(), size_, first, static_cast<int>(height), failed.data());
      cuda::check_launch("invert_diagonal_block");
      const auto own = part(inverses, first, first);
      if (rest > 0) {
        const auto panel = part(factors, below, first);
        multiply(matrices, 1, part(whole, below, first), own, true, 0, panel, rest, height, height);
        multiply(matrices, -1, panel, panel, true, 1, part(whole, below, below), rest, rest, height);
      }
      if (first > 0) {
        multiply(matrices, 1, part(factors, first, 0), part(inverses, 0, 0), false, 0, scratch, height, first, first);
        multiply(matrices, -1, own, scratch, false, 0, part(inverses, first, 0), height, first, height);
      }
    }
    wait();
    return failed.to(Device::cpu())[0] == 0;
  }

  void wait() { cuda::check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

  std::int64_t size_, count_;
  const std::int32_t* rows_;
  const cuda::Blas& blas_;
  cudaStream_t stream_;
  Device device_;
  Array<T> taken_;
};

}  // namespace sheaf::linear::gpu
