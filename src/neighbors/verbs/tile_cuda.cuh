// Inner products of rows of bf16 on the tensor cores, 128 queries x 128 rows at a time. The products stay in registers,
// where the caller uses them: a matrix of all products would take longer to write and read than to compute.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>

namespace sheaf::neighbors::gpu {

inline constexpr int tile_side = 128;                             // queries, and rows of the data
inline constexpr int tile_depth = 64;                             // values of a row that are brought at a time
inline constexpr int tile_stages = 3;                             // in flight or in use
inline constexpr int tile_threads = 256;                          // eight warps, each 64 queries x 32 rows
inline constexpr int tile_bytes = tile_side * tile_depth * 2;     // of one operand and stage
inline constexpr int tile_memory = tile_stages * 2 * tile_bytes;  // dynamic shared memory of a block

/// The products that a thread holds: fragments of 16 queries x 8 rows, four numbers of each. Number n of a fragment
/// belongs to query 8 (n / 2) + lane / 4 and row 2 (lane % 4) + n % 2.
struct TileProducts {
  float values[4][4][4];
};

/// Where the thread's products are within a tile.
struct TilePlace {
  __device__ TilePlace()
      : query(static_cast<int>(threadIdx.x / 32 % 2 * 64 + threadIdx.x % 32 / 4)),
        row(static_cast<int>(threadIdx.x / 64 * 32 + threadIdx.x % 4 * 2)) {}
  int query;  ///< of fragment 0; fragment m is 16 m further on
  int row;    ///< of fragment 0; fragment n is 8 n further on
};

/// Rows of `columns` bf16 values, a multiple of eight.
struct TileRows {
  const __nv_bfloat16* values;
  std::int64_t end;  ///< rows from here on count as zeros
  std::int64_t columns;
};

/// Where a thread reads what it brings of 128 rows: 16 bytes of every 32nd row. What can be known before is computed
/// before: addresses would cost as much as the products.
struct TileReader {
  __device__ TileReader(const TileRows& rows, std::int64_t first)
      : from(rows.values + (first + threadIdx.x / 8) * rows.columns + threadIdx.x % 8 * 8),
        step(tile_threads / 8 * rows.columns),
        left(rows.end - first) {}

  __device__ void go_on(const TileRows& rows) {
    from += tile_side * rows.columns;
    left -= tile_side;
  }

  /// Brings 64 values of the rows into shared memory. Pieces of 16 bytes trade places by row, so that eight rows read
  /// at one piece never meet in a bank.
  __device__ void bring(unsigned to, int column, bool there) const {
    const int piece = static_cast<int>(threadIdx.x % 8);
#pragma unroll
    for (int pass = 0; pass < tile_side * 8 / tile_threads; ++pass) {
      const int row = static_cast<int>(threadIdx.x / 8) + pass * (tile_threads / 8);
      asm volatile(
          "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to + row * 128 + ((piece ^ (row % 8)) * 16)),
          "l"(from + column + pass * step), "r"(there && row < left ? 16 : 0));
    }
  }

  const __nv_bfloat16* from;
  std::int64_t step;  ///< to the next row that the thread brings
  std::int64_t left;  ///< rows that there are
};

__device__ inline void load_fragments(unsigned (&to)[4], unsigned base, int row, int piece) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(base + row * 128 + ((piece ^ (row % 8)) * 16)));
}

__device__ inline void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Adds the products of one stage.
__device__ inline void multiply_stage(TileProducts& products, unsigned queries, unsigned rows) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
#pragma unroll
  for (int k = 0; k < tile_depth / 16; ++k) {
    unsigned a[4][4];
    unsigned b[2][4];
#pragma unroll
    for (int m = 0; m < 4; ++m) load_fragments(a[m], queries, warp % 2 * 64 + m * 16 + lane % 16, k * 2 + lane / 16);
#pragma unroll
    for (int n = 0; n < 2; ++n)
      load_fragments(b[n], rows, warp / 2 * 32 + n * 16 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2);
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
      for (int n = 0; n < 4; ++n) multiply(products.values[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
  }
}

/// For `tiles` tiles one after another, the first of which begins at `row`, of the 128 queries from `query` on: calls
/// begin(first row), adds up the products, and calls use(products, first row). All threads of the block call it, with
/// `tile_memory` bytes of shared memory.
template <class Begin, class Use>
__device__ void for_tiles(const TileRows& queries, std::int64_t query, const TileRows& data, std::int64_t row,
                          int tiles, const Begin& begin, const Use& use) {
  extern __shared__ __align__(128) unsigned char tile_space[];
  const auto space = static_cast<unsigned>(__cvta_generic_to_shared(tile_space));
  const int steps = static_cast<int>((data.columns + tile_depth - 1) / tile_depth);  // of one tile
  TileReader query_reader(queries, query);
  TileReader row_reader(data, row);
  int to_bring = steps * tiles;
  int column = 0;
  int free_stage = 0;
  const auto bring = [&] {
    if (to_bring > 0) {
      const unsigned to = space + static_cast<unsigned>(free_stage * 2 * tile_bytes);
      const bool there = column + static_cast<int>(threadIdx.x % 8 * 8) < data.columns;
      query_reader.bring(to, column, there);
      row_reader.bring(to + tile_bytes, column, there);
      --to_bring;
      if (++free_stage == tile_stages) free_stage = 0;
      column += tile_depth;
      if (column >= data.columns) {
        column = 0;
        row_reader.go_on(data);
      }
    }
    asm volatile("cp.async.commit_group;\n" ::);
  };
  for (int s = 0; s < tile_stages - 1; ++s) bring();
  int stage = 0;
  for (int tile = 0; tile < tiles; ++tile, row += tile_side) {
    begin(row);
    TileProducts products = {};
    for (int s = 0; s < steps; ++s) {
      asm volatile("cp.async.wait_group %0;\n" ::"n"(tile_stages - 2));
      __syncthreads();  // the stage is there for all, and the one before it is free
      bring();
      const unsigned at = space + static_cast<unsigned>(stage * 2 * tile_bytes);
      if (++stage == tile_stages) stage = 0;
      multiply_stage(products, at, at + tile_bytes);
    }
    use(products, row);
  }
  asm volatile("cp.async.wait_all;\n" ::);
}

}  // namespace sheaf::neighbors::gpu
