// Dense block products of 8 or 16 tasks on tensor cores, for data of some hundred features: X passes by in tiles of 16
// rows through shared memory, fetched ahead, and is read once at the memory's speed.
//
// Tensor cores multiply numbers of 11 bits. Each float is the sum of two such numbers up to 2^-22 of it, and three of
// the four products are taken: errors are those of float arithmetic (Markidis et al. 2018; Ootomo, Yokota 2022).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <cuda_pipeline.h>

#include "cuda/check.cuh"

namespace sheaf::linear::gpu {

inline constexpr int tensor_rows = 16;  // of a tile
inline constexpr int tensor_warps = 16;
inline constexpr int tensor_threads = 32 * tensor_warps;
inline constexpr int tensor_step = 8;  // the length of one multiplication's inner products
// With fewer columns a tile is too small to be worth its waits; sums and weights of more do not fit the registers.
inline constexpr std::int64_t fewest_tensor_columns = 256;
inline constexpr std::int64_t most_tensor_columns = 1024;
inline constexpr int tensor_steps = static_cast<int>(most_tensor_columns) / tensor_step / tensor_warps;  // of a warp
inline constexpr int tensor_panels = static_cast<int>(most_tensor_columns) / tensor_rows / tensor_warps;

/// A float as the sum of two numbers that tensor cores take.
struct SplitFloat {
  unsigned high, low;
};
__device__ inline SplitFloat split(float value) {
  SplitFloat result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result.high) : "f"(value));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result.low) : "f"(value - __uint_as_float(result.high)));
  return result;
}

/// The part that one thread of a warp holds of a 16 x 8 matrix A, of an 8 x 8 matrix B and of a 16 x 8 matrix C: with g
/// = lane / 4 and t = lane % 4 the elements (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4) of A, (t, g), (t + 4, g) of
/// B, and (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) of C.
struct PieceOfA {
  SplitFloat value[4];
};
struct PieceOfB {
  SplitFloat value[2];
};
struct PieceOfC {
  float value[4];
};

__device__ inline void add_product(PieceOfC& c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                   unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c.value[0]), "+f"(c.value[1]), "+f"(c.value[2]), "+f"(c.value[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
/// C += A B, the small parts first.
__device__ inline void add_product(PieceOfC& c, const PieceOfA& a, const PieceOfB& b) {
  const auto& [a0, a1, a2, a3] = a.value;
  const auto& [b0, b1] = b.value;
  add_product(c, a0.low, a1.low, a2.low, a3.low, b0.high, b1.high);
  add_product(c, a0.high, a1.high, a2.high, a3.high, b0.low, b1.low);
  add_product(c, a0.high, a1.high, a2.high, a3.high, b0.high, b1.high);
}

/// The tiles of rows that a block works through, each fetched some tiles ahead: 16 rows of X as they lie in memory, and
/// of z if there is one, with zeros behind the last row.
template <int Tasks>
class RowTiles {
 public:
  static constexpr int stages = 3;
  /// Numbers of shared memory for one tile; elements read behind the last row of X counts 0.
  static __host__ __device__ int size(int columns) { return tensor_rows * columns + padding + tensor_rows * Tasks; }

  __device__ RowTiles(const float* x, const float* z, std::int64_t rows, int columns, float* buffer)
      : x_(x), z_(z), rows_(rows), columns_(columns), buffer_(buffer) {
    for (int e = threadIdx.x; e < stages * padding; e += tensor_threads)
      buffer_[e / padding * size(columns) + tensor_rows * columns + e % padding] = 0;
    for (int s = 0; s < stages; ++s) fetch(first() + s * gridDim.x, buffer_ + s * size(columns));
  }
  __device__ std::int64_t first() const { return blockIdx.x; }
  __device__ std::int64_t count() const { return (rows_ + tensor_rows - 1) / tensor_rows; }
  /// The next tile, once every thread has arrived.
  __device__ const float* enter() {
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    return buffer_ + turn_ * size(columns_);
  }
  /// The rows of z of a tile.
  __device__ const float* block_rows(const float* tile) const { return tile + tensor_rows * columns_ + padding; }
  /// No thread reads tile number `tile` any more: the one that follows in its place is fetched.
  __device__ void leave(std::int64_t tile) {
    __syncthreads();
    fetch(tile + static_cast<std::int64_t>(stages) * gridDim.x, buffer_ + turn_ * size(columns_));
    turn_ = turn_ + 1 == stages ? 0 : turn_ + 1;
  }

 private:
  static constexpr int padding = 16;

  __device__ void fetch(std::int64_t tile, float* to) {
    if (tile < count()) {
      const std::int64_t row = tile * tensor_rows;
      const auto rows = static_cast<int>(min(static_cast<std::int64_t>(tensor_rows), rows_ - row));
      copy(x_ + row * columns_, rows * columns_, tensor_rows * columns_, to);
      if constexpr (Tasks > 0)
        copy(z_ + row * Tasks, rows * Tasks, tensor_rows * Tasks, to + tensor_rows * columns_ + padding);
    }
    __pipeline_commit();
  }
  /// `count` numbers, and zeros up to `all`.
  __device__ static void copy(const float* from, int count, int all, float* to) {
    constexpr int together = 4;
    const int whole = count / together * together;
    for (int e = threadIdx.x * together; e < whole; e += tensor_threads * together)
      __pipeline_memcpy_async(to + e, from + e, together * sizeof(float));
    for (int e = whole + threadIdx.x; e < all; e += tensor_threads) to[e] = e < count ? from[e] : 0.0F;
  }

  const float* x_;
  const float* z_;
  std::int64_t rows_;
  int columns_;
  float* buffer_;
  int turn_ = 0;
};

/// z = X w. The warps share the columns, each with its weights in registers, and their sums are added in order.
template <int Groups>
__global__ void __launch_bounds__(tensor_threads, 1)
    tensor_product(const float* x, std::int64_t rows, int columns, const float* w, float* z) {
  constexpr int tasks = 8 * Groups;
  constexpr int sums = tensor_rows * tasks;
  extern __shared__ __align__(16) float tensor_shared[];
  RowTiles<0> tiles(x, nullptr, rows, columns, tensor_shared + tensor_warps * sums);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int g = lane / 4;
  const int t = lane % 4;
  PieceOfB weights[tensor_steps][Groups];
#pragma unroll
  for (int s = 0; s < tensor_steps; ++s)
#pragma unroll
    for (int group = 0; group < Groups; ++group)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int j = (warp + s * tensor_warps) * tensor_step + t + 4 * half;
        weights[s][group].value[half] = split(j < columns ? w[j * tasks + group * 8 + g] : 0.0F);
      }
  for (std::int64_t tile = tiles.first(); tile < tiles.count(); tile += gridDim.x) {
    const float* here = tiles.enter();
    PieceOfC mine[Groups] = {};
#pragma unroll
    for (int s = 0; s < tensor_steps; ++s) {
      const int first = (warp + s * tensor_warps) * tensor_step;
      if (first >= columns) break;
      const float* upper = here + g * columns + first + t;
      const float* lower = upper + 8 * columns;
      const PieceOfA a{split(upper[0]), split(lower[0]), split(upper[4]), split(lower[4])};
#pragma unroll
      for (int group = 0; group < Groups; ++group) add_product(mine[group], a, weights[s][group]);
    }
#pragma unroll
    for (int group = 0; group < Groups; ++group)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        tensor_shared[warp * sums + (g + k / 2 * 8) * tasks + group * 8 + 2 * t + k % 2] = mine[group].value[k];
    tiles.leave(tile);
    for (int e = threadIdx.x; e < sums; e += tensor_threads) {
      float sum = 0;
      for (int from = 0; from < tensor_warps; ++from) sum += tensor_shared[from * sums + e];
      if (tile * tensor_rows + e / tasks < rows) z[tile * sums + e] = sum;
    }
  }
}

/// partial[block][j][t] = the sum over the block's rows of x_j z_t. A warp has panels of 16 columns.
template <int Groups>
__global__ void __launch_bounds__(tensor_threads, 1)
    tensor_transposed(const float* x, std::int64_t rows, int columns, const float* z, float* partial) {
  constexpr int tasks = 8 * Groups;
  extern __shared__ __align__(16) float tensor_shared[];
  RowTiles<tasks> tiles(x, z, rows, columns, tensor_shared);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int g = lane / 4;
  const int t = lane % 4;
  PieceOfC sums[tensor_panels][Groups] = {};
  for (std::int64_t tile = tiles.first(); tile < tiles.count(); tile += gridDim.x) {
    const float* here = tiles.enter();
    const float* factors = tiles.block_rows(here);
#pragma unroll
    for (int half = 0; half < tensor_rows / tensor_step; ++half) {
      const int row = half * tensor_step + t;
      PieceOfB b[Groups];
#pragma unroll
      for (int group = 0; group < Groups; ++group)
        b[group] = {split(factors[row * tasks + group * 8 + g]), split(factors[(row + 4) * tasks + group * 8 + g])};
#pragma unroll
      for (int panel = 0; panel < tensor_panels; ++panel) {
        const int first = (warp + panel * tensor_warps) * tensor_rows;
        if (first >= columns) break;
        const float* upper = here + row * columns + first + g;
        const float* lower = upper + 4 * columns;
        const PieceOfA a{split(upper[0]), split(upper[8]), split(lower[0]), split(lower[8])};
#pragma unroll
        for (int group = 0; group < Groups; ++group) add_product(sums[panel][group], a, b[group]);
      }
    }
    tiles.leave(tile);
  }
  float* to = partial + static_cast<std::int64_t>(blockIdx.x) * columns * tasks;
#pragma unroll
  for (int panel = 0; panel < tensor_panels; ++panel)
#pragma unroll
    for (int group = 0; group < Groups; ++group)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int j = (warp + panel * tensor_warps) * tensor_rows + g + k / 2 * 8;
        if (j < columns) to[j * tasks + group * 8 + 2 * t + k % 2] = sums[panel][group].value[k];
      }
}

/// Bytes of shared memory that a block of tensor_product() takes, and of tensor_transposed().
template <int Groups>
int product_bytes(int columns) {
  const int sums = tensor_warps * tensor_rows * 8 * Groups;
  return (RowTiles<0>::stages * RowTiles<0>::size(columns) + sums) * static_cast<int>(sizeof(float));
}
template <int Groups>
int transposed_bytes(int columns) {
  using Tiles = RowTiles<8 * Groups>;
  return Tiles::stages * Tiles::size(columns) * static_cast<int>(sizeof(float));
}

/// Shared memory that a block may have on the current GPU.
inline int most_shared_bytes() {
  int device = 0;
  int bytes = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "asking for the shared memory of a block");
  return bytes;
}

/// Whether a product of X with a block of this stride is for the kernels above. They copy 16 bytes at once.
template <class T>
bool suits_tensor_cores(const T* x, std::int64_t columns, int stride) {
  if (!std::is_same_v<T, float> || (stride != 8 && stride != 16)) return false;
  if (columns < fewest_tensor_columns || columns > most_tensor_columns) return false;
  if (reinterpret_cast<std::uintptr_t>(x) % 16 != 0) return false;
  const auto count = static_cast<int>(columns);
  return std::max(product_bytes<2>(count), transposed_bytes<2>(count)) <= most_shared_bytes();
}

inline unsigned tensor_blocks(std::int64_t rows, int processors) {
  return static_cast<unsigned>(std::min<std::int64_t>((rows + tensor_rows - 1) / tensor_rows, processors));
}

template <int Groups>
void launch_tensor_product(const float* x, std::int64_t rows, int columns, const float* w, float* z, int processors,
                           cudaStream_t stream) {
  const int bytes = product_bytes<Groups>(columns);
  cuda::check(cudaFuncSetAttribute(tensor_product<Groups>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "asking for shared memory");
  tensor_product<Groups><<<tensor_blocks(rows, processors), tensor_threads, bytes, stream>>>(x, rows, columns, w, z);
  cuda::check_launch("tensor_product");
}

/// Fills partial: tensor_blocks() x columns x tasks.
template <int Groups>
void launch_tensor_transposed(const float* x, std::int64_t rows, int columns, const float* z, float* partial,
                              int processors, cudaStream_t stream) {
  const int bytes = transposed_bytes<Groups>(columns);
  cuda::check(cudaFuncSetAttribute(tensor_transposed<Groups>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "asking for shared memory");
  tensor_transposed<Groups>
      <<<tensor_blocks(rows, processors), tensor_threads, bytes, stream>>>(x, rows, columns, z, partial);
  cuda::check_launch("tensor_transposed");
}

}  // namespace sheaf::linear::gpu
