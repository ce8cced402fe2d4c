// X' D X d in one pass over X on CPU cores, for blocks that are narrow enough: each row (or short segment of rows) is
// still in the cache when it is used the second time, and sparse rows without curvature are not read at all. Sums are
// kept in parts fixed by the shape alone, so that the result does not depend on the number of threads.
#pragma once

#include <bit>

#include "linear/products_cpu.hpp"

namespace sheaf::linear::cpu {

/// The operands of the product: u is what X' is applied to for tasks that are not wanted.
template <class T>
struct Sandwich {
  BlockView<const T> d, curvatures, u;
  const std::uint8_t* wanted;  // one flag for each column of the stride
  T bias;                      // 0: none
};

inline constexpr std::int32_t most_scattered = 4;
inline constexpr std::int64_t most_parts = 16;

/// Parts of the rows of a sparse matrix, each with sums of its own that take a small share of the matrix's memory.
template <class T>
std::int64_t scatter_parts(const SparseMatrix<T>& x, std::int32_t stride) {
  const std::int64_t affordable = x.nonzeros() / (4 * (x.columns + 1) * stride);
  if (affordable < 1) return 0;
  return std::min<std::int64_t>(most_parts, std::bit_floor(static_cast<std::uint64_t>(affordable)));
}

template <class T>
bool fuses(const SparseMatrix<T>& x, std::int32_t stride) {
  return stride <= most_scattered && scatter_parts(x, stride) >= 2;
}
template <class T>
bool fuses(const DenseMatrix<T>& x, std::int32_t) {
  return x.columns <= narrow;
}

/// What X' is applied to in one row, for one tile of tasks; false: nothing.
template <int Width, class T, class Decide>
bool row_factors(const Sandwich<T>& s, std::int64_t i, std::int32_t column, T* factors, Decide&& decide) {
  const std::int64_t at = i * s.u.stride + column;
  bool some = false;
  bool curved = false;
  for (int t = 0; t < Width; ++t) {
    factors[t] = s.wanted[column + t] != 0 ? s.curvatures.data[at + t] : s.u.data[at + t];
    some = some || factors[t] != 0;
    curved = curved || (s.wanted[column + t] != 0 && factors[t] != 0);
  }
  if (!curved) return some;
  T decisions[Width];
  decide(decisions);
  for (int t = 0; t < Width; ++t)
    if (s.wanted[column + t] != 0) factors[t] *= decisions[t];
  return true;
}

/// totals += X' D X d (or with the squares of the outer X) over some rows of a sparse matrix.
template <bool Squares, int Width, class T>
void scatter_rows(const SparseMatrix<T>& x, const Sandwich<T>& s, Range rows, double* totals) {
  const Gather<T> gathered{x, s.d, {}};
  const T outer_bias = Squares ? s.bias * s.bias : s.bias;
  const T* bias_weights = s.d.data + x.columns * Width;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t begin = x.offsets[i];
    const std::int64_t end = x.offsets[i + 1];
    T factors[Width];
    const bool some = row_factors<Width>(s, i, 0, factors, [&](T* decisions) {
      gather<false, Width>(gathered, begin, end, 0).store(decisions);
      for (int t = 0; t < Width && s.bias > 0; ++t) decisions[t] += s.bias * bias_weights[t];
    });
    if (!some) continue;
    for (std::int64_t k = begin; k < end; ++k) {
      double* to = totals + static_cast<std::int64_t>(x.indices[k]) * Width;
      const T value = Squares ? x.values[k] * x.values[k] : x.values[k];
      for (int t = 0; t < Width; ++t) to[t] += static_cast<double>(value * factors[t]);
    }
    for (int t = 0; t < Width && s.bias > 0; ++t)
      totals[x.columns * Width + t] += static_cast<double>(outer_bias * factors[t]);
  }
}

template <bool Squares, class T>
void sandwich(const SparseMatrix<T>& x, const Sandwich<T>& s, BlockView<T> hd, Array<double>& totals, int threads) {
  const std::int64_t size = hd.rows * hd.stride;
  const std::int64_t parts = scatter_parts(x, hd.stride);
  if (totals.size() < parts * size) totals = Array<double>(parts * size);
  const int team = team_for(threads, x.nonzeros() * hd.stride);
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    double* mine = totals.data() + part * size;
    std::fill_n(mine, size, 0.0);
    const Range rows{first_row(x, parts, part), first_row(x, parts, part + 1)};
    for_tiles<4>(hd.stride, [&](auto width, std::int32_t) { scatter_rows<Squares, width()>(x, s, rows, mine); });
  }
  add_parts(totals.data(), parts, size, hd.data, threads);
}

/// factors = what X' is applied to in a segment of rows of a dense matrix.
template <class T>
void segment_factors(const DenseMatrix<T>& x, const Sandwich<T>& s, Range rows, T* factors) {
  const std::int32_t stride = s.d.stride;
  const std::int64_t count = rows.end - rows.begin;
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i)
      factors[i] = dense_dot(x.values.data() + (rows.begin + i) * x.columns, s.d.data, x.columns);
  } else {
    for_tiles<16>(stride, [&](auto width, std::int32_t column) {
      dense_range<width()>(x, rows, {0, x.columns}, s.d.data + column, stride, factors + column);
    });
  }
  const T* bias_weights = s.d.data + x.columns * stride;
  const std::int64_t at = rows.begin * stride;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int32_t t = 0; t < stride; ++t) {
      const std::int64_t e = i * stride + t;
      const T decision = s.bias > 0 ? factors[e] + s.bias * bias_weights[t] : factors[e];
      factors[e] = s.wanted[t] != 0 ? s.curvatures.data[at + e] * decision : s.u.data[at + e];
    }
}

/// totals += X' D X d over some rows of a dense matrix, segment by segment.
template <bool Squares, class T>
void dense_sandwich_rows(const DenseMatrix<T>& x, const Sandwich<T>& s, Range rows, double* totals) {
  const std::int32_t stride = s.d.stride;
  Array<T> factors(short_segment * stride);
  for (std::int64_t first = rows.begin; first < rows.end; first += short_segment) {
    const Range part{first, std::min(first + short_segment, rows.end)};
    segment_factors(x, s, part, factors.data());
    outer_segment<Squares>(x, part, {0, x.columns}, factors.data(), stride, totals);
    if (s.bias == 0) continue;
    double* bias_totals = totals + x.columns * stride;
    for (std::int64_t i = 0; i < part.end - part.begin; ++i)
      for (std::int32_t t = 0; t < stride; ++t)
        bias_totals[t] += static_cast<double>(s.bias * factors[i * stride + t]);
  }
}

template <bool Squares, class T>
void sandwich(const DenseMatrix<T>& x, const Sandwich<T>& s, BlockView<T> hd, Array<double>& totals, int threads) {
  const std::int64_t size = hd.rows * hd.stride;
  const std::int64_t parts = std::clamp<std::int64_t>(x.rows / segment, 1, 64);
  if (totals.size() < parts * size) totals = Array<double>(parts * size);
  const int team = team_for(threads, x.rows * size);
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    double* mine = totals.data() + part * size;
    std::fill_n(mine, size, 0.0);
    dense_sandwich_rows<Squares>(x, s, part_of(x.rows, parts, part), mine);
  }
  add_parts(totals.data(), parts, size, hd.data, threads);
}

}  // namespace sheaf::linear::cpu
