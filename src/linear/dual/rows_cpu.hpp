// Rows of a dataset on a CPU core: products with several columns of weights at once, and visits in the order of a pass.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/matrix.hpp>

#include "core/simd.hpp"
#include "linear/dual/order.hpp"

namespace sheaf::linear::dual {

/// The entries of a row.
template <class T>
struct SparseRow {
  const std::int32_t* indices;
  const T* values;
  std::int64_t size;

  std::int64_t index(std::int64_t k) const { return indices[k]; }
  void prefetch() const {
    for (int line = 0; line < 4; ++line) __builtin_prefetch(reinterpret_cast<const char*>(values) + 64 * line);
    for (int line = 0; line < 2; ++line) __builtin_prefetch(reinterpret_cast<const char*>(indices) + 64 * line);
  }
};
template <class T>
struct DenseRow {
  const T* values;
  std::int64_t size;

  static std::int64_t index(std::int64_t k) { return k; }
  void prefetch() const {
    for (int line = 0; line < 4; ++line) __builtin_prefetch(reinterpret_cast<const char*>(values) + 64 * line);
  }
};

template <class T>
SparseRow<T> row_of(const SparseMatrix<T>& x, std::int64_t i) {
  const std::int64_t begin = x.offsets.data()[i];
  return {x.indices.data() + begin, x.values.data() + begin, x.offsets.data()[i + 1] - begin};
}
template <class T>
DenseRow<T> row_of(const DenseMatrix<T>& x, std::int64_t i) {
  return {x.values.data() + i * x.columns, x.columns};
}

/// The row times `Width` neighbouring columns of w, whose rows are `stride` apart. Four sums, so that no addition waits
/// for the one before.
template <int Width, class T, class Row>
Lanes<T, Width> multiply(const Row& row, const T* w, std::int64_t stride) {
  using L = Lanes<T, Width>;
  L sums[4] = {L::zero(), L::zero(), L::zero(), L::zero()};
  std::int64_t k = 0;
  for (; k + 4 <= row.size; k += 4)
    for (int s = 0; s < 4; ++s) sums[s].add_scaled(row.values[k + s], w + row.index(k + s) * stride);
  for (; k < row.size; ++k) sums[0].add_scaled(row.values[k], w + row.index(k) * stride);
  sums[0].add_scaled(T(1), sums[1]);
  sums[2].add_scaled(T(1), sums[3]);
  sums[0].add_scaled(T(1), sums[2]);
  return sums[0];
}

/// w += step * x, likewise.
template <int Width, class T, class Row>
void add_row(const Row& row, const T* steps, T* w, std::int64_t stride) {
  const auto step = Lanes<T, Width>::load(steps);
  for (std::int64_t k = 0; k < row.size; ++k) {
    T* to = w + row.index(k) * stride;
    auto sum = Lanes<T, Width>::load(to);
    sum.add_scaled(row.values[k], step);
    sum.store(to);
  }
}

/// Calls visit(row) for the listed rows in the given order; the next row is fetched meanwhile.
template <class X, class Visit>
void for_rows(const X& x, const std::vector<std::int32_t>& list, const RowOrder& order, const Visit& visit) {
  std::uint64_t at = order.place;
  const auto next = [&] {
    const std::int64_t i = list[at];
    at += order.length;
    if (at >= order.rows) at -= order.rows;
    return i;
  };
  std::int64_t i = order.rows > 0 ? next() : 0;
  for (std::uint64_t n = 0; n < order.rows; ++n) {
    const std::int64_t after = next();
    row_of(x, after).prefetch();
    visit(i);
    i = after;
  }
}

}  // namespace sheaf::linear::dual
