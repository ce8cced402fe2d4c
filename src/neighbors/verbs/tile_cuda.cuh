// Comparisons of a filter, 128 queries x 128 rows at a time: inner products of bf16 on the tensor cores, or sums of
// absolute differences of floats. The results stay in registers, where the caller uses them: a matrix of all would take
// longer to write and read than to compute.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>

namespace sheaf::neighbors::gpu {

inline constexpr int tile_side = 128;     // queries, and rows of the data
inline constexpr int tile_stages = 3;     // in flight or in use
inline constexpr int tile_threads = 256;  // eight warps, each 64 queries x 32 rows

/// The products or sums that a thread holds: fragments of 16 queries x 8 rows, four numbers of each. Number n of a
/// fragment belongs to query 8 (n / 2) + lane / 4 and row 2 (lane % 4) + n % 2.
struct TileResults {
  float values[4][4][4];
};

/// Position of the thread's results within a tile.
struct TilePlace {
  __device__ TilePlace()
      : query(static_cast<int>(threadIdx.x / 32 % 2 * 64 + threadIdx.x % 32 / 4)),
        row(static_cast<int>(threadIdx.x / 64 * 32 + threadIdx.x % 4 * 2)) {}
  int query;  ///< of fragment 0; fragment m is 16 m further on
  int row;    ///< of fragment 0; fragment n is 8 n further on
};

template <class Value>
struct TileRows {
  const Value* values;
  std::int64_t end;  ///< rows from here on count as zeros
  std::int64_t columns;
};

/// Addresses from which a thread loads its share of 128 rows, whose values are loaded in `pieces` pieces of `width`
/// side by side: one piece of every so-many-th row. Addresses are computed beforehand as far as possible: they would
/// cost as much as the products. Rows have a multiple of `width` columns.
template <class Value, int width, int pieces>
class TileReader {
 public:
  __device__ TileReader(const TileRows<Value>& rows, std::int64_t first)
      : from_(rows.values + (first + threadIdx.x / pieces) * rows.columns + threadIdx.x % pieces * width),
        step_(tile_threads / pieces * rows.columns),
        left_(rows.end - first),
        columns_(rows.columns) {}

  __device__ void go_on() {
    from_ += tile_side * columns_;
    left_ -= tile_side;
  }

  /// Calls copy(row of the tile, piece, address of its values, whether there are any) for all that the thread loads of
  /// the columns from `column` on.
  template <class Copy>
  __device__ void for_pieces(int column, const Copy& copy) const {
    const int piece = static_cast<int>(threadIdx.x % pieces);
    const bool there = column + piece * width < columns_;
#pragma unroll
    for (int pass = 0; pass < tile_side * pieces / tile_threads; ++pass) {
      const int row = static_cast<int>(threadIdx.x / pieces) + pass * (tile_threads / pieces);
      copy(row, piece, from_ + column + pass * step_, there && row < left_);
    }
  }

 private:
  const Value* from_;
  std::int64_t step_;  ///< to the next row that the thread brings
  std::int64_t left_;  ///< rows that there are
  std::int64_t columns_;
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

/// Inner products.
struct ProductTile {
  using Value = __nv_bfloat16;
  using Reader = TileReader<Value, 8, 8>;
  static constexpr int depth = 64;                     ///< values of a row that are brought at a time
  static constexpr int bytes = tile_side * depth * 2;  ///< of one operand and stage
  static constexpr int memory = tile_stages * 2 * bytes;

  /// Brings `depth` values of the rows into shared memory. Pieces of 16 bytes trade places by row, so that eight rows
  /// read at one piece never share a bank.
  __device__ static void bring(const Reader& reader, unsigned to, int column) {
    reader.for_pieces(column, [&](int row, int piece, const Value* from, bool there) {
      asm volatile(
          "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to + row * 128 + ((piece ^ (row % 8)) * 16)),
          "l"(from), "r"(there ? 16 : 0));
    });
  }

  /// Adds those of one stage.
  __device__ static void add(TileResults& products, const unsigned char* query_values,
                             const unsigned char* row_values) {
    const auto queries = static_cast<unsigned>(__cvta_generic_to_shared(query_values));
    const auto rows = static_cast<unsigned>(__cvta_generic_to_shared(row_values));
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
#pragma unroll
    for (int k = 0; k < depth / 16; ++k) {
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
};

/// Sums of absolute differences, of one column after another.
struct SumTile {
  using Value = float;
  static constexpr int depth = 16;
  using Reader = TileReader<Value, 1, depth>;
  /// From one column to the next in shared memory: neither rows that are written nor pairs that are read share a bank.
  static constexpr int stride = tile_side + 2;
  static constexpr int bytes = depth * stride * 4;
  static constexpr int memory = tile_stages * 2 * bytes;

  /// Brings `depth` values of the rows into shared memory, column after column.
  __device__ static void bring(const Reader& reader, unsigned to, int column) {
    reader.for_pieces(column, [&](int row, int piece, const Value* from, bool there) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(to + (piece * stride + row) * 4), "l"(from),
                   "r"(there ? 4 : 0));
    });
  }

  __device__ static void add(TileResults& sums, const unsigned char* query_values, const unsigned char* row_values) {
    const TilePlace place;
    const float* queries = reinterpret_cast<const float*>(query_values) + place.query;
    const float* rows = reinterpret_cast<const float*>(row_values) + place.row;
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      float query[8];
      float2 row[4];
#pragma unroll
      for (int m = 0; m < 8; ++m) query[m] = queries[k * stride + m * 8];
#pragma unroll
      for (int n = 0; n < 4; ++n) row[n] = *reinterpret_cast<const float2*>(rows + k * stride + n * 8);
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
#pragma unroll
          for (int v = 0; v < 4; ++v)
            sums.values[m][n][v] += fabsf(query[m * 2 + v / 2] - (v % 2 == 0 ? row[n].x : row[n].y));
    }
  }
};

/// For `tiles` tiles one after another, the first of which begins at `row`, of the 128 queries from `query` on: calls
/// begin(first row), adds up the terms of the kind of tile, and calls use(results, first row). All threads of the block
/// call it, with Tile::memory bytes of shared memory.
template <class Tile, class Begin, class Use>
__device__ void for_tiles(const TileRows<typename Tile::Value>& queries, std::int64_t query,
                          const TileRows<typename Tile::Value>& data, std::int64_t row, int tiles, const Begin& begin,
                          const Use& use) {
  extern __shared__ __align__(128) unsigned char tile_space[];
  const auto space = static_cast<unsigned>(__cvta_generic_to_shared(tile_space));
  const int steps = static_cast<int>((data.columns + Tile::depth - 1) / Tile::depth);  // of one tile
  typename Tile::Reader query_reader(queries, query);
  typename Tile::Reader row_reader(data, row);
  int to_bring = steps * tiles;
  int column = 0;
  int free_stage = 0;
  const auto bring = [&] {
    if (to_bring > 0) {
      const unsigned to = space + static_cast<unsigned>(free_stage * 2 * Tile::bytes);
      Tile::bring(query_reader, to, column);
      Tile::bring(row_reader, to + Tile::bytes, column);
      --to_bring;
      if (++free_stage == tile_stages) free_stage = 0;
      column += Tile::depth;
      if (column >= data.columns) {
        column = 0;
        row_reader.go_on();
      }
    }
    asm volatile("cp.async.commit_group;\n" ::);
  };
  for (int s = 0; s < tile_stages - 1; ++s) bring();
  int stage = 0;
  for (int tile = 0; tile < tiles; ++tile, row += tile_side) {
    begin(row);
    TileResults results = {};
    for (int s = 0; s < steps; ++s) {
      asm volatile("cp.async.wait_group %0;\n" ::"n"(tile_stages - 2));
      __syncthreads();  // the stage is there for all, and the one before it is free
      bring();
      const unsigned char* at = tile_space + stage * 2 * Tile::bytes;
      if (++stage == tile_stages) stage = 0;
      Tile::add(results, at, at + Tile::bytes);
    }
    use(results, row);
  }
  asm volatile("cp.async.wait_all;\n" ::);
}

}  // namespace sheaf::neighbors::gpu
