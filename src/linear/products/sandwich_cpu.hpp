// X' D X d in one pass over X on CPU cores, for blocks that are narrow enough: each row (or short segment of rows) is
// still in the cache when it is used the second time, and sparse rows without curvature are not read at all. Sums are
// kept in parts fixed by the shape alone, so that the result does not depend on the number of threads.
#pragma once

#include <bit>

#include "linear/products/products_cpu.hpp"

namespace sheaf::linear::cpu {

/// The operands of the product: X' is applied to u for tasks that are not wanted.
template <class T>
struct Sandwich {
  BlockView<const T> d, curvatures, u;
  const std::uint8_t* wanted;  // one flag for each column of the stride
  T bias;                      // 0: none
  BlockView<T> q;              // empty: X d is not kept
};

inline constexpr std::int32_t most_scattered = 4;
inline constexpr std::int64_t most_parts = 16;

/// Parts of the rows of a sparse matrix, each with sums of its own that take a small share of the matrix's memory.
template <class T>
std::int64_t scatter_parts(const SparseMatrix<T>& x, std::int32_t stride) {
  const std::int64_t affordable = x.nonzeros() / (8 * (x.columns + 1) * stride);
  if (affordable < 1) return 0;
  return std::min(most_parts, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(affordable))));
}

template <class T>
bool fuses(const SparseMatrix<T>& x, std::int32_t stride) {
  return stride <= most_scattered && scatter_parts(x, stride) >= 2;
}
template <class T>
bool fuses(const DenseMatrix<T>& x, std::int32_t) {
  return x.columns <= narrow;
}

/// The compressed rows of a matrix as plain pointers, so that no store through another makes them be read again.
template <class T>
struct RowPointers {
  const std::int64_t* offsets;
  const std::int32_t* indices;
  const T* values;
  explicit RowPointers(const SparseMatrix<T>& x)
      : offsets(x.offsets.data()), indices(x.indices.data()), values(x.values.data()) {}
};

/// Rows in which some task has something to add, listed without a branch that depends on the data.
template <int Width, class T>
std::int64_t list_rows(const Sandwich<T>& s, Range rows, std::int32_t* list) {
  std::int64_t count = 0;
  const bool all = s.q.data != nullptr;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    bool some = all;
    for (int t = 0; t < Width; ++t) some |= (s.wanted[t] != 0 ? s.curvatures : s.u).data[i * Width + t] != 0;
    list[count] = static_cast<std::int32_t>(i);
    count += some ? 1 : 0;
  }
  return count;
}

/// The factors of row i to which X' is applied.
template <int Width, class T>
void row_factors(const RowPointers<T>& x, const Sandwich<T>& s, std::int64_t i, const T* bias_weights, T* factors) {
  const T* d = s.d.data;
  T sums[Width] = {};
  const std::int64_t end = x.offsets[i + 1];
  for (std::int64_t k = x.offsets[i]; k < end; ++k)
    for (int t = 0; t < Width; ++t) sums[t] += x.values[k] * d[static_cast<std::int64_t>(x.indices[k]) * Width + t];
  for (int t = 0; t < Width && s.bias > 0; ++t) sums[t] += s.bias * bias_weights[t];
  for (int t = 0; t < Width && s.q.data != nullptr; ++t) s.q.data[i * Width + t] = sums[t];
  for (int t = 0; t < Width; ++t)
    factors[t] = s.wanted[t] != 0 ? s.curvatures.data[i * Width + t] * sums[t] : s.u.data[i * Width + t];
}

/// totals += X' D X d (or with the squares of the outer X) over some rows of a sparse matrix; through: some task has
/// curvatures.
template <bool Squares, int Width, class T>
void scatter_rows(const SparseMatrix<T>& matrix, const Sandwich<T>& s, bool through, Range rows, double* totals) {
  const RowPointers<T> x(matrix);
  const T* bias_weights = s.d.data + matrix.columns * Width;
  const T outer_bias = Squares ? s.bias * s.bias : s.bias;
  double* bias_totals = totals + matrix.columns * Width;
  std::vector<std::int32_t> list(short_segment);
  for (std::int64_t first = rows.begin; first < rows.end; first += short_segment) {
    const Range part{first, std::min(first + short_segment, rows.end)};
    const std::int64_t count = list_rows<Width>(s, part, list.data());
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t i = list[static_cast<std::size_t>(r)];
      T factors[Width];
      if (through)
        row_factors<Width>(x, s, i, bias_weights, factors);
      else
        std::copy_n(s.u.data + i * Width, Width, factors);
      const std::int64_t end = x.offsets[i + 1];
      for (std::int64_t k = x.offsets[i]; k < end; ++k) {
        double* to = totals + static_cast<std::int64_t>(x.indices[k]) * Width;
        const T value = Squares ? x.values[k] * x.values[k] : x.values[k];
        for (int t = 0; t < Width; ++t) to[t] += static_cast<double>(value * factors[t]);
      }
      for (int t = 0; t < Width && s.bias > 0; ++t) bias_totals[t] += static_cast<double>(outer_bias * factors[t]);
    }
  }
}

template <bool Squares, class T>
void scatter(const SparseMatrix<T>& x, const Sandwich<T>& s, BlockView<T> hd, Array<double>& totals, int threads) {
  const std::int64_t size = hd.rows * hd.stride;
  const std::int64_t parts = scatter_parts(x, hd.stride);
  if (totals.size() < parts * size) totals = Array<double>(parts * size);
  const bool through = std::any_of(s.wanted, s.wanted + hd.stride, [](std::uint8_t flag) { return flag != 0; });
  const int team = team_for(threads, x.nonzeros() * hd.stride);
  parallel_for(team, parts, [&](std::int64_t part) {
    double* mine = totals.data() + part * size;
    std::fill_n(mine, size, 0.0);
    const Range rows{first_row(x, parts, part), first_row(x, parts, part + 1)};
    for_tiles<4>(hd.stride,
                 [&](auto width, std::int32_t) { scatter_rows<Squares, width()>(x, s, through, rows, mine); });
  });
  add_parts(totals.data(), parts, size, hd.data, threads);
}

template <class T>
void sandwich(const SparseMatrix<T>& x, const Sandwich<T>& s, BlockView<T> hd, Array<double>& totals, int threads) {
  scatter<false>(x, s, hd, totals, threads);
}

/// Two blocks that X' and (X o X)' are applied to.
template <class T>
struct Pair {
  BlockView<const T> z, d;
};

/// totals(j, 2 t) += X' z and totals(j, 2 t + 1) += (X o X)' d over some rows of a sparse matrix.
template <int Width, class T>
void scatter_pairs(const SparseMatrix<T>& matrix, T bias, const Pair<T>& pair, Range rows, double* totals) {
  const RowPointers<T> x(matrix);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    T z[Width];
    T d[Width];
    std::copy_n(pair.z.data + i * Width, Width, z);
    std::copy_n(pair.d.data + i * Width, Width, d);
    bool some = false;
    for (int t = 0; t < Width; ++t) some = some || z[t] != 0 || d[t] != 0;
    if (!some) continue;
    const auto add = [&](T value, std::int64_t column) {
      double* to = totals + column * 2 * Width;
      for (std::int64_t t = 0; t < Width; ++t) {
        to[2 * t] += static_cast<double>(value * z[t]);
        to[2 * t + 1] += static_cast<double>(value * value * d[t]);
      }
    };
    const std::int64_t end = x.offsets[i + 1];
    for (std::int64_t k = x.offsets[i]; k < end; ++k) add(x.values[k], x.indices[k]);
    if (bias > 0) add(bias, matrix.columns);
  }
}

/// g = X' z and h = (X o X)' d in one pass.
template <class T>
void scatter_both(const SparseMatrix<T>& x, T bias, const Pair<T>& pair, BlockView<T> g, BlockView<T> h,
                  Array<double>& totals, int threads) {
  const std::int64_t size = g.rows * g.stride;
  const std::int64_t parts = scatter_parts(x, 2 * g.stride);
  if (totals.size() < 2 * parts * size) totals = Array<double>(2 * parts * size);
  const int team = team_for(threads, x.nonzeros() * g.stride);
  parallel_for(team, parts, [&](std::int64_t part) {
    double* mine = totals.data() + part * 2 * size;
    std::fill_n(mine, 2 * size, 0.0);
    const Range rows{first_row(x, parts, part), first_row(x, parts, part + 1)};
    for_tiles<2>(g.stride, [&](auto width, std::int32_t) { scatter_pairs<width()>(x, bias, pair, rows, mine); });
  });
  for (std::int64_t e = 0; e < size; ++e) {
    double sums[2] = {};
    for (std::int64_t part = 0; part < parts; ++part)
      for (int k = 0; k < 2; ++k) sums[k] += totals[(part * size + e) * 2 + k];
    g.data[e] = static_cast<T>(sums[0]);
    h.data[e] = static_cast<T>(sums[1]);
  }
}

/// factors = the operand of X' in a segment of rows of a dense matrix.
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
      if (s.q.data != nullptr) s.q.data[at + e] = decision;
      factors[e] = s.wanted[t] != 0 ? s.curvatures.data[at + e] * decision : s.u.data[at + e];
    }
}

/// totals += X' D X d over some rows of a dense matrix, segment by segment.
template <class T>
void dense_sandwich_rows(const DenseMatrix<T>& x, const Sandwich<T>& s, Range rows, double* totals) {
  const std::int32_t stride = s.d.stride;
  Array<T> factors(short_segment * stride);
  for (std::int64_t first = rows.begin; first < rows.end; first += short_segment) {
    const Range part{first, std::min(first + short_segment, rows.end)};
    segment_factors(x, s, part, factors.data());
    outer_segment<false>(x, part, {0, x.columns}, factors.data(), stride, totals);
    if (s.bias == 0) continue;
    double* bias_totals = totals + x.columns * stride;
    for (std::int64_t i = 0; i < part.end - part.begin; ++i)
      for (std::int32_t t = 0; t < stride; ++t) bias_totals[t] += static_cast<double>(s.bias * factors[i * stride + t]);
  }
}

template <class T>
void sandwich(const DenseMatrix<T>& x, const Sandwich<T>& s, BlockView<T> hd, Array<double>& totals, int threads) {
  const std::int64_t size = hd.rows * hd.stride;
  const std::int64_t parts = std::clamp<std::int64_t>(x.rows / segment, 1, 64);
  if (totals.size() < parts * size) totals = Array<double>(parts * size);
  const int team = team_for(threads, x.rows * size);
  parallel_for(team, parts, [&](std::int64_t part) {
    double* mine = totals.data() + part * size;
    std::fill_n(mine, size, 0.0);
    dense_sandwich_rows(x, s, part_of(x.rows, parts, part), mine);
  });
  add_parts(totals.data(), parts, size, hd.data, threads);
}

}  // namespace sheaf::linear::cpu
