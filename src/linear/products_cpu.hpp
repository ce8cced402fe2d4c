// Block products on CPU cores. A tile of tasks is held in registers while one row of X passes by; sums over more than
// `segment` terms go on in double. Results do not depend on the number of threads, except where OpenBLAS is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <cblas.h>

#include <sheaf/array.hpp>
#include <sheaf/matrix.hpp>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace sheaf::linear::cpu {

inline constexpr std::int64_t segment = 1024;

/// Calls tile(width, column) with compile-time widths that cover a stride of 1, 2, 4 or a multiple of 8.
template <class F>
void for_tiles(std::int32_t stride, F&& tile) {
  std::int32_t column = 0;
  const auto take = [&](auto width) {
    while (stride - column >= width()) {
      tile(width, column);
      column += width();
    }
  };
  take(std::integral_constant<int, 32>{});
  take(std::integral_constant<int, 16>{});
  take(std::integral_constant<int, 8>{});
  take(std::integral_constant<int, 4>{});
  take(std::integral_constant<int, 2>{});
  take(std::integral_constant<int, 1>{});
}

/// sum over entries k of values[k] (or its square) * b[indices[k]], for one tile of tasks.
template <bool Squares, int Width, class T>
Lanes<T, Width> gather(const std::int32_t* indices, const T* values, std::int64_t count, const T* b, std::int64_t stride) {
  auto sum = Lanes<T, Width>::zero();
  for (std::int64_t k = 0; k < count; ++k) {
    const T value = Squares ? values[k] * values[k] : values[k];
    sum.add_scaled(value, b + indices[k] * stride);
  }
  return sum;
}

template <bool Squares, int Width, class T>
void gather_long(const std::int32_t* indices, const T* values, std::int64_t count, const T* b, std::int64_t stride, T* out) {
  double total[Width] = {};
  for (std::int64_t first = 0; first < count; first += segment) {
    const auto size = std::min(segment, count - first);
    T part[Width];
    gather<Squares, Width>(indices + first, values + first, size, b, stride).store(part);
    for (int t = 0; t < Width; ++t) total[t] += static_cast<double>(part[t]);
  }
  for (int t = 0; t < Width; ++t) out[t] = static_cast<T>(total[t]);
}

/// out = A b (or (A o A) b) for compressed rows A, with rows taken in parts of nearly equal numbers of entries.
template <bool Squares, class T>
void sparse_product(const SparseMatrix<T>& a, BlockView<const T> b, BlockView<T> out, int threads) {
  const std::int64_t entries = a.nonzeros() + a.rows;
  const std::int64_t parts = std::clamp<std::int64_t>(entries / 8192, 1, 4096);
  const auto first_row = [&](std::int64_t part) {  // row r starts at offsets[r] + r, counting each row as one more entry
    const std::int64_t wanted = part_of(entries, parts, part).begin;
    std::int64_t low = 0;
    std::int64_t high = a.rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (a.offsets[middle] + middle < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t end = part + 1 < parts ? first_row(part + 1) : a.rows;
    for (std::int64_t i = first_row(part); i < end; ++i) {
      const std::int64_t begin = a.offsets[i];
      const std::int64_t count = a.offsets[i + 1] - begin;
      const std::int32_t* indices = a.indices.data() + begin;
      const T* values = a.values.data() + begin;
      for_tiles(out.stride, [&](auto width, std::int32_t column) {
        T* to = out.data + i * out.stride + column;
        if (count <= segment)
          gather<Squares, width()>(indices, values, count, b.data + column, b.stride).store(to);
        else
          gather_long<Squares, width()>(indices, values, count, b.data + column, b.stride, to);
      });
    }
  }
}

inline void gemm(CBLAS_TRANSPOSE transpose, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                 const float* b, std::int64_t ldb, float* c, std::int64_t ldc) {
  cblas_sgemm(CblasRowMajor, transpose, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), 0, c, static_cast<int>(ldc));
}
inline void gemm(CBLAS_TRANSPOSE transpose, std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
                 const double* b, std::int64_t ldb, double* c, std::int64_t ldc) {
  cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), 0, c, static_cast<int>(ldc));
}

/// Columns up to which our own kernels beat OpenBLAS, which packs both operands before it multiplies.
inline constexpr std::int64_t narrow = 256;

/// Four rows of a narrow dense X at a time against one tile of weights, which stays in the first-level cache.
template <int Rows, int Width, class T>
void dense_rows(const T* x, std::int64_t columns, const T* w, std::int64_t stride, T* z) {
  Lanes<T, Width> sum[Rows] = {};
  for (std::int64_t j = 0; j < columns; ++j) {
    const auto weights = Lanes<T, Width>::load(w + j * stride);
    for (int r = 0; r < Rows; ++r) sum[r].add_scaled(x[r * columns + j], weights);
  }
  for (int r = 0; r < Rows; ++r) sum[r].store(z + r * stride);
}

template <class T>
void narrow_product(const DenseMatrix<T>& x, BlockView<const T> w, BlockView<T> z, int threads) {
  const std::int64_t parts = (x.rows + segment - 1) / segment;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto range = part_of(x.rows, parts, part);
    for_tiles(z.stride, [&](auto width, std::int32_t column) {
      constexpr int tile = width() > 16 ? 16 : width();
      for (std::int32_t inner = 0; inner < width(); inner += tile) {
        const T* weights = w.data + column + inner;
        std::int64_t i = range.begin;
        for (; i + 4 <= range.end; i += 4)
          dense_rows<4, tile>(x.values.data() + i * x.columns, x.columns, weights, z.stride,
                              z.data + i * z.stride + column + inner);
        for (; i < range.end; ++i)
          dense_rows<1, tile>(x.values.data() + i * x.columns, x.columns, weights, z.stride,
                              z.data + i * z.stride + column + inner);
      }
    });
  }
}

/// sum (columns x Width) += X' Z over four rows at a time, so that each element of the sum is loaded once for four terms.
/// `x` points at the first of `columns` columns; its rows are `pitch` apart.
template <bool Squares, int Rows, int Width, class T>
void add_outer(const T* x, std::int64_t pitch, std::int64_t columns, const T* z, std::int64_t stride, T* sum) {
  Lanes<T, Width> row[Rows];
  for (int r = 0; r < Rows; ++r) row[r] = Lanes<T, Width>::load(z + r * stride);
  for (std::int64_t j = 0; j < columns; ++j) {
    auto total = Lanes<T, Width>::load(sum + j * Width);
    for (int r = 0; r < Rows; ++r) {
      const T value = x[r * pitch + j];
      total.add_scaled(Squares ? value * value : value, row[r]);
    }
    total.store(sum + j * Width);
  }
}

/// totals (a tile of columns.end - columns.begin rows, `stride` apart) += X' Z over `rows`.
template <bool Squares, int Width, class T>
void add_rows(const DenseMatrix<T>& x, Range rows, Range columns, const T* z, std::int64_t stride, T* sum, double* totals) {
  const std::int64_t count = columns.end - columns.begin;
  std::fill_n(sum, count * Width, T(0));
  const T* from = x.values.data() + columns.begin;
  std::int64_t i = rows.begin;
  for (; i + 4 <= rows.end; i += 4)
    add_outer<Squares, 4, Width>(from + i * x.columns, x.columns, count, z + i * stride, stride, sum);
  for (; i < rows.end; ++i)
    add_outer<Squares, 1, Width>(from + i * x.columns, x.columns, count, z + i * stride, stride, sum);
  for (std::int64_t j = 0; j < count; ++j)
    for (int t = 0; t < Width; ++t) totals[j * stride + t] += static_cast<double>(sum[j * Width + t]);
}

/// g = X' z (or (X o X)' z) for dense X: parts of rows and columns fixed by the shape alone, each summed in double over
/// segments of rows, then added in order.
template <bool Squares, class T>
void dense_transposed(const DenseMatrix<T>& x, BlockView<const T> z, BlockView<T> g, int threads) {
  const std::int64_t size = x.columns * g.stride;
  const std::int64_t row_parts = std::clamp<std::int64_t>(x.rows / segment, 1, x.columns <= narrow ? 64 : 1);
  const std::int64_t column_parts = std::max<std::int64_t>(1, (x.columns + narrow - 1) / narrow);
  auto totals = Array<double>::zeros(row_parts * size);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t part = 0; part < row_parts * column_parts; ++part) {
    const auto rows = part_of(x.rows, row_parts, part / column_parts);
    const auto columns = part_of(x.columns, column_parts, part % column_parts);
    double* to = totals.data() + part / column_parts * size + columns.begin * g.stride;
    std::vector<T> sum(static_cast<std::size_t>(narrow * 32));
    for (std::int64_t first = rows.begin; first < rows.end; first += segment)
      for_tiles(g.stride, [&](auto width, std::int32_t column) {
        const Range some{first, std::min(first + segment, rows.end)};
        add_rows<Squares, width()>(x, some, columns, z.data + column, z.stride, sum.data(), to + column);
      });
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t e = 0; e < size; ++e) {
    double total = 0;
    for (std::int64_t part = 0; part < row_parts; ++part) total += totals[part * size + e];
    g.data[e] = static_cast<T>(total);
  }
}

}  // namespace sheaf::linear::cpu
