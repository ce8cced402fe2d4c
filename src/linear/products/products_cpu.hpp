// Block products on CPU cores. A tile of tasks is held in registers while one row of X passes by; sums over more than
// `segment` terms continue in double. Results do not depend on the number of threads, except if OpenBLAS is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace sheaf::linear::cpu {

inline constexpr std::int64_t segment = 1024;
/// Rows of a block of tasks that stay in the first-level cache while columns pass by.
inline constexpr std::int64_t short_segment = 256;

/// Calls tile(width, column) with compile-time widths up to Most that cover a stride of 1, 2, 4 or a multiple of 8.
template <int Most = 32, class F>
void for_tiles(std::int32_t stride, F&& tile) {
  std::int32_t column = 0;
  const auto take = [&](auto width) {
    while (stride - column >= width()) {
      tile(width, column);
      column += width();
    }
  };
  if constexpr (Most >= 32) take(std::integral_constant<int, 32>{});
  if constexpr (Most >= 16) take(std::integral_constant<int, 16>{});
  if constexpr (Most >= 8) take(std::integral_constant<int, 8>{});
  if constexpr (Most >= 4) take(std::integral_constant<int, 4>{});
  take(std::integral_constant<int, 2>{});
  take(std::integral_constant<int, 1>{});
}

/// The compressed rows of one matrix and the block they are multiplied with.
template <class T>
struct Gather {
  const SparseMatrix<T>& a;
  BlockView<const T> b;
  BlockView<T> out;
};

/// Entries ahead whose rows of b are fetched in time. The next row's entries follow in memory, so only the end of the
/// matrix limits it.
inline constexpr std::int64_t ahead = 16;

template <int Width, class T>
void prefetch(const T* from) {
  constexpr int line = 64;
  for (int byte = 0; byte < Width * static_cast<int>(sizeof(T)); byte += line)
    __builtin_prefetch(reinterpret_cast<const char*>(from) + byte);
}

/// sum over entries k of values[k] (or its square) * b[indices[k]], for one tile of tasks.
template <bool Squares, int Width, class T>
Lanes<T, Width> gather(const Gather<T>& g, std::int64_t begin, std::int64_t end, std::int32_t column) {
  const std::int32_t* indices = g.a.indices.data();
  const T* values = g.a.values.data();
  const T* b = g.b.data + column;
  const std::int64_t stride = g.b.stride;
  constexpr bool wide =
      Width * sizeof(T) >= 64;  // narrower rows of b mostly sit in the cache: fetching ahead costs more
  const std::int64_t fetchable = std::min(end, g.a.nonzeros() - ahead);
  const auto add = [&](Lanes<T, Width>& sum, std::int64_t k) {
    sum.add_scaled(Squares ? values[k] * values[k] : values[k], b + indices[k] * stride);
  };
  auto sum = Lanes<T, Width>::zero();
  std::int64_t k = begin;
  if constexpr (wide) {
    for (; k < fetchable; ++k) {
      prefetch<Width>(b + indices[k + ahead] * stride);
      add(sum, k);
    }
  }
  for (; k < end; ++k) add(sum, k);
  return sum;
}

template <bool Squares, int Width, class T>
void gather_long(const Gather<T>& g, std::int64_t begin, std::int64_t end, std::int32_t column, T* out) {
  double total[Width] = {};
  for (std::int64_t first = begin; first < end; first += segment) {
    T part[Width];
    gather<Squares, Width>(g, first, std::min(first + segment, end), column).store(part);
    for (int t = 0; t < Width; ++t) total[t] += static_cast<double>(part[t]);
  }
  for (int t = 0; t < Width; ++t) out[t] = static_cast<T>(total[t]);
}

template <bool Squares, int Width, class T>
void gather_rows(const Gather<T>& g, Range rows, std::int32_t column) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t begin = g.a.offsets[i];
    const std::int64_t end = g.a.offsets[i + 1];
    T* to = g.out.data + i * g.out.stride + column;
    if (end - begin <= segment)
      gather<Squares, Width>(g, begin, end, column).store(to);
    else
      gather_long<Squares, Width>(g, begin, end, column, to);
  }
}

/// First row of part `part` of `parts` with nearly equal work, each row counting as one more entry.
template <class T>
std::int64_t first_row(const SparseMatrix<T>& a, std::int64_t parts, std::int64_t part) {
  if (part == parts) return a.rows;
  const std::int64_t wanted = part_of(a.nonzeros() + a.rows, parts, part).begin;
  std::int64_t low = 0;
  std::int64_t high = a.rows;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (a.offsets[middle] + middle < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// out = A b (or (A o A) b) for compressed rows A. All rows pass by for one tile of tasks before the next tile begins,
/// so that the frequent rows of b of that tile stay in the cache.
template <bool Squares, class T>
void sparse_product(const SparseMatrix<T>& a, BlockView<const T> b, BlockView<T> out, int threads) {
  const Gather<T> g{a, b, out};
  const std::int64_t parts = std::clamp<std::int64_t>((a.nonzeros() + a.rows) / 8192, 1, 4096);
  const int team = team_for(threads, (a.nonzeros() + a.rows) * std::min(out.stride, 32));
  for_tiles(out.stride, [&](auto width, std::int32_t column) {
    constexpr int lanes = width();
    parallel_for(team, parts, [&](std::int64_t part) {
      gather_rows<Squares, lanes>(g, {first_row(a, parts, part), first_row(a, parts, part + 1)}, column);
    });
  });
}

/// out = the sum of `parts` arrays of `size` numbers, in their order.
template <class From, class T>
void add_parts(const From* totals, std::int64_t parts, std::int64_t size, T* out, int threads) {
  const int team = team_for(threads, parts * size);
  parallel_parts(team, size, [&](Range range) {
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      double total = 0;
      for (std::int64_t part = 0; part < parts; ++part) total += static_cast<double>(totals[part * size + e]);
      out[e] = static_cast<T>(total);
    }
  });
}

/// Our own kernels serve matrices of few columns and blocks of few tasks; OpenBLAS, which packs both operands before it
/// multiplies, serves the rest.
inline constexpr std::int64_t narrow = 256;
inline constexpr std::int32_t few_tasks = 16;
inline bool own_dense_kernel(std::int64_t columns, std::int32_t stride) {
  return columns <= narrow || (stride > 1 && stride <= few_tasks);
}

/// One row against one task: the lanes go along the features.
template <class T>
T dense_dot(const T* x, const T* w, std::int64_t columns) {
  constexpr int width = 8;
  auto sums = Lanes<T, width>::zero();
  std::int64_t j = 0;
  for (; j + width <= columns; j += width) sums.add_product(x + j, w + j);
  T part[width];
  sums.store(part);
  T total = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (; j < columns; ++j) total += x[j] * w[j];
  return total;
}

/// z (Rows x Width) (+)= X w over `columns` columns of rows that are `pitch` apart; the sums stay in registers.
template <int Rows, int Width, class T>
void dense_rows(const T* x, std::int64_t pitch, std::int64_t columns, const T* w, std::int64_t stride, T* z, bool add) {
  Lanes<T, Width> sum[Rows] = {};
  if (add)
    for (int r = 0; r < Rows; ++r) sum[r] = Lanes<T, Width>::load(z + r * stride);
  for (std::int64_t j = 0; j < columns; ++j) {
    const auto weights = Lanes<T, Width>::load(w + j * stride);
    for (int r = 0; r < Rows; ++r) sum[r].add_scaled(x[r * pitch + j], weights);
  }
  for (int r = 0; r < Rows; ++r) sum[r].store(z + r * stride);
}

/// Rows held at a time, so that Rows x Width sums fill the registers.
template <int Width>
inline constexpr int held = Width <= 8 ? 8 : 4;

/// `z` holds the range's rows.
template <int Width, class T>
void dense_range(const DenseMatrix<T>& x, Range rows, Range columns, const T* w, std::int64_t stride, T* z) {
  const std::int64_t count = columns.end - columns.begin;
  const T* from = x.values.data() + rows.begin * x.columns + columns.begin;
  const std::int64_t height = rows.end - rows.begin;
  std::int64_t i = 0;
  for (; i + held<Width> <= height; i += held<Width>)
    dense_rows<held<Width>, Width>(from + i * x.columns, x.columns, count, w, stride, z + i * stride,
                                   columns.begin > 0);
  for (; i < height; ++i)
    dense_rows<1, Width>(from + i * x.columns, x.columns, count, w, stride, z + i * stride, columns.begin > 0);
}

/// z = X w, panel by panel of the columns, so that a tile of the panel's weights stays in the cache while rows pass by.
template <class T>
void dense_product(const DenseMatrix<T>& x, BlockView<const T> w, BlockView<T> z, int threads) {
  constexpr std::int64_t panel = 1024;
  const std::int64_t parts = std::max<std::int64_t>(1, x.rows / 128);
  const std::int64_t panels = std::max<std::int64_t>(1, (x.columns + panel - 1) / panel);
  const int team = team_for(threads, x.rows * x.columns * z.stride);
  parallel_for(team, parts, [&](std::int64_t part) {
    const auto rows = part_of(x.rows, parts, part);
    if (z.stride == 1) {
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        z.data[i] = dense_dot(x.values.data() + i * x.columns, w.data, x.columns);
      return;
    }
    for (std::int64_t p = 0; p < panels; ++p) {
      const auto columns = part_of(x.columns, panels, p);
      for_tiles<16>(z.stride, [&](auto width, std::int32_t column) {
        dense_range<width()>(x, rows, columns, w.data + columns.begin * w.stride + column, z.stride,
                             z.data + rows.begin * z.stride + column);
      });
    }
  });
}

/// sums (Columns x Width) = X' Z over `rows` rows, held in registers; added to totals, whose rows are `stride` apart.
template <bool Squares, int Columns, int Width, class T>
void outer_rows(const T* x, std::int64_t pitch, std::int64_t rows, const T* z, std::int64_t stride, double* totals) {
  Lanes<T, Width> sum[Columns] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto factors = Lanes<T, Width>::load(z + i * stride);
    for (int j = 0; j < Columns; ++j) {
      const T value = x[i * pitch + j];
      sum[j].add_scaled(Squares ? value * value : value, factors);
    }
  }
  for (int j = 0; j < Columns; ++j) {
    T part[Width];
    sum[j].store(part);
    for (int t = 0; t < Width; ++t) totals[j * stride + t] += static_cast<double>(part[t]);
  }
}

/// The same for one task: the lanes go along the features.
template <bool Squares, int Width, class T>
void outer_single(const T* x, std::int64_t pitch, std::int64_t rows, const T* z, double* totals) {
  auto sum = Lanes<T, Width>::zero();
  for (std::int64_t i = 0; i < rows; ++i) {
    if constexpr (Squares)
      sum.add_scaled_square(z[i], x + i * pitch);
    else
      sum.add_scaled(z[i], x + i * pitch);
  }
  T part[Width];
  sum.store(part);
  for (int j = 0; j < Width; ++j) totals[j] += static_cast<double>(part[j]);
}

/// totals += X' Z over one segment of rows and a range of columns; `factors` holds the segment's rows of Z.
template <bool Squares, class T>
void outer_segment(const DenseMatrix<T>& x, Range rows, Range columns, const T* factors, std::int32_t stride,
                   double* totals) {
  const std::int64_t count = rows.end - rows.begin;
  const T* from = x.values.data() + rows.begin * x.columns;
  if (stride == 1) {
    std::int64_t j = columns.begin;
    for (; j + 32 <= columns.end; j += 32) outer_single<Squares, 32>(from + j, x.columns, count, factors, totals + j);
    for (; j + 4 <= columns.end; j += 4) outer_single<Squares, 4>(from + j, x.columns, count, factors, totals + j);
    for (; j < columns.end; ++j) outer_single<Squares, 1>(from + j, x.columns, count, factors, totals + j);
    return;
  }
  for_tiles<16>(stride, [&](auto width, std::int32_t column) {
    constexpr int block = held<width()>;
    std::int64_t j = columns.begin;
    for (; j + block <= columns.end; j += block)
      outer_rows<Squares, block, width()>(from + j, x.columns, count, factors + column, stride,
                                          totals + j * stride + column);
    for (; j < columns.end; ++j)
      outer_rows<Squares, 1, width()>(from + j, x.columns, count, factors + column, stride,
                                      totals + j * stride + column);
  });
}

/// g = X' z (or (X o X)' z) for dense X: parts of rows and columns fixed by the shape alone, each summed in double over
/// segments of rows, then added in order.
template <bool Squares, class T>
void dense_transposed(const DenseMatrix<T>& x, BlockView<const T> z, BlockView<T> g, int threads) {
  const std::int64_t size = x.columns * g.stride;
  const std::int64_t row_parts = std::clamp<std::int64_t>(x.rows / segment, 1, x.columns <= narrow ? 64 : 1);
  const std::int64_t column_parts = std::max<std::int64_t>(1, (x.columns + narrow - 1) / narrow);
  auto totals = Array<double>::zeros(row_parts * size);
  const int team = team_for(threads, x.rows * size);
  parallel_for(team, row_parts * column_parts, [&](std::int64_t part) {
    const auto rows = part_of(x.rows, row_parts, part / column_parts);
    const auto columns = part_of(x.columns, column_parts, part % column_parts);
    double* to = totals.data() + part / column_parts * size;
    for (std::int64_t first = rows.begin; first < rows.end; first += short_segment)
      outer_segment<Squares>(x, {first, std::min(first + short_segment, rows.end)}, columns, z.data + first * z.stride,
                             z.stride, to);
  });
  add_parts(totals.data(), row_parts, size, g.data, threads);
}

}  // namespace sheaf::linear::cpu
