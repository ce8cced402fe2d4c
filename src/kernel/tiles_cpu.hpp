// Kernel values on CPU cores. Some rows ("lanes") are laid side by side, feature by feature, and held in registers
// while other rows pass by; results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/simd.hpp"
#include "kernel/kernels.hpp"
#include "kernel/table.hpp"

namespace sheaf::kernel::cpu {

/// Rows side by side: 64 bytes.
template <class A>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(A));
/// Rows that pass by in one tile, which stays in the first-level cache.
inline constexpr std::int64_t tile_rows = 64;

/// Up to lanes<A> rows of a table, feature-major; missing ones are zeros. Features from `features` on, which the rows
/// that pass by do not have, count in the norms alone.
template <class A>
class LaneRows {
 public:
  LaneRows(const Table<A>& from, std::span<const std::int32_t> positions, std::int64_t features)
      : values_(static_cast<std::size_t>(features * lanes<A>), A(0)), features_(features), norms_{} {
    for (std::size_t r = 0; r < positions.size(); ++r) put(from, positions[r], r);
  }
  const A* values() const { return values_.data(); }
  const A* norms() const { return norms_; }

 private:
  void put(const Table<A>& from, std::int64_t position, std::size_t lane) {
    norms_[lane] = from.norms[position];
    if (const auto* dense = std::get_if<DenseMatrix<A>>(&from.x)) {
      for (std::int64_t j = 0; j < std::min(dense->columns, features_); ++j)
        values_[static_cast<std::size_t>(j * lanes<A>) + lane] = dense->values[position * dense->columns + j];
      return;
    }
    const auto& sparse = std::get<SparseMatrix<A>>(from.x);
    for (std::int64_t k = sparse.offsets[position]; k < sparse.offsets[position + 1]; ++k)
      if (sparse.indices[k] < features_)
        values_[static_cast<std::size_t>(sparse.indices[k]) * static_cast<std::size_t>(lanes<A>) + lane] =
            sparse.values[k];
  }

  std::vector<A> values_;
  std::int64_t features_;
  A norms_[lanes<A>];
};

template <class A>
void dense_dots(const DenseMatrix<A>& x, std::int64_t first, std::int64_t count, const A* w, A* tile) {
  using Lane = Lanes<A, lanes<A>>;
  constexpr int together = 4;
  const std::int64_t p = x.columns;
  std::int64_t i = 0;
  for (; i + together <= count; i += together) {
    const A* row = x.values.data() + (first + i) * p;
    Lane sums[together] = {Lane::zero(), Lane::zero(), Lane::zero(), Lane::zero()};
    for (std::int64_t j = 0; j < p; ++j) {
      const Lane factors = Lane::load(w + j * lanes<A>);
      for (int k = 0; k < together; ++k) sums[k].add_scaled(row[k * p + j], factors);
    }
    for (int k = 0; k < together; ++k) sums[k].store(tile + (i + k) * lanes<A>);
  }
  for (; i < count; ++i) {
    const A* row = x.values.data() + (first + i) * p;
    Lane sum = Lane::zero();
    for (std::int64_t j = 0; j < p; ++j) sum.add_scaled(row[j], w + j * lanes<A>);
    sum.store(tile + i * lanes<A>);
  }
}

template <class A>
void sparse_dots(const SparseMatrix<A>& x, std::int64_t first, std::int64_t count, const A* w, A* tile) {
  using Lane = Lanes<A, lanes<A>>;
  for (std::int64_t i = 0; i < count; ++i) {
    Lane even = Lane::zero();
    Lane odd = Lane::zero();
    std::int64_t k = x.offsets[first + i];
    const std::int64_t end = x.offsets[first + i + 1];
    for (; k + 2 <= end; k += 2) {
      even.add_scaled(x.values[k], w + static_cast<std::int64_t>(x.indices[k]) * lanes<A>);
      odd.add_scaled(x.values[k + 1], w + static_cast<std::int64_t>(x.indices[k + 1]) * lanes<A>);
    }
    if (k < end) even.add_scaled(x.values[k], w + static_cast<std::int64_t>(x.indices[k]) * lanes<A>);
    even.add_scaled(A(1), odd);
    even.store(tile + i * lanes<A>);
  }
}

/// tile[i][lane] = the inner product of row first + i and a lane, for `count` <= tile_rows rows.
template <class A>
void dots(const Table<A>& table, std::int64_t first, std::int64_t count, const A* w, A* tile) {
  if (const auto* dense = std::get_if<DenseMatrix<A>>(&table.x)) return dense_dots(*dense, first, count, w, tile);
  sparse_dots(std::get<SparseMatrix<A>>(table.x), first, count, w, tile);
}

/// Turns inner products into kernel values.
template <class A, class Kernel>
void apply(const Kernel& kernel, const Table<A>& table, std::int64_t first, std::int64_t count, const A* lane_norms,
           const A* tile, float* values) {
  for (std::int64_t i = 0; i < count; ++i) {
    const A norm = table.norms[first + i];
    for (int r = 0; r < lanes<A>; ++r) values[i * lanes<A> + r] = kernel(tile[i * lanes<A> + r], norm, lane_norms[r]);
  }
}

/// Kernel values of rows first .. first + count - 1 and the lanes: values[i][lane].
template <class A>
void kernel_tile(const KernelParams& params, const Table<A>& table, std::int64_t first, std::int64_t count,
                 const LaneRows<A>& rows, float* values) {
  alignas(64) A tile[tile_rows * lanes<A>];
  dots(table, first, count, rows.values(), tile);
  with_kernel<A>(params, [&](auto kernel) { apply(kernel, table, first, count, rows.norms(), tile, values); });
}

}  // namespace sheaf::kernel::cpu
