// Kernel values on CPU cores. A few rows are laid side by side, one per lane of a vector, and held in registers while
// other rows pass by. Results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/simd.hpp"
#include "kernel/values/kernels.hpp"
#include "kernel/values/table.hpp"

namespace sheaf::kernel::cpu {

/// Rows side by side: 64 bytes of each feature.
template <class A>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(A));
/// Rows that pass by in one tile, which stays in the first-level cache.
inline constexpr std::int64_t tile_rows = 64;

/// Up to lanes<A> rows of a table, feature-major; missing ones are zeros. Features from `features` on, which the rows
/// that pass by do not have, count in the terms alone.
template <class A>
class LaneRows {
 public:
  LaneRows(const Table<A>& from, std::span<const std::int32_t> positions, std::int64_t features)
      : values_(static_cast<std::size_t>(features * lanes<A>), A(0)), features_(features) {
    for (std::size_t r = 0; r < positions.size(); ++r) put(from, positions[r], r);
  }
  const A* values() const { return values_.data(); }
  const A* terms() const { return terms_; }

 private:
  void put(const Table<A>& from, std::int64_t position, std::size_t lane) {
    terms_[lane] = from.terms[position];
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
  A terms_[lanes<A>] = {};
};

/// All rows go through the same instructions, the last ones padded with rows whose results are not kept: the value of
/// two rows must not depend on where they stand, in its last digit neither.
template <class A>
void dense_dots(const DenseMatrix<A>& x, std::int64_t first, std::int64_t count, const A* w, A* tile) {
  using Lane = Lanes<A, lanes<A>>;
  constexpr int together = 4;
  const std::int64_t p = x.columns;
  for (std::int64_t i = 0; i < count; i += together) {
    const A* rows[together];
    for (int k = 0; k < together; ++k) rows[k] = x.values.data() + (first + std::min(i + k, count - 1)) * p;
    Lane sums[together] = {Lane::zero(), Lane::zero(), Lane::zero(), Lane::zero()};
    for (std::int64_t j = 0; j < p; ++j) {
      const Lane factors = Lane::load(w + j * lanes<A>);
      for (int k = 0; k < together; ++k) sums[k].add_scaled(rows[k][j], factors);
    }
    for (int k = 0; k < together && i + k < count; ++k) sums[k].store(tile + (i + k) * lanes<A>);
  }
}

template <class A, int Width>
void add_square(Lanes<A, Width>& sum, const Lanes<A, Width>& from, A value) {
  for (int u = 0; u < Lanes<A, Width>::units; ++u) {
    const auto apart = from.unit[u] - value;
    sum.unit[u] += apart * apart;
  }
}

/// tile[i][lane] = |row first + i - lane|^2.
template <class A>
void dense_distances(const DenseMatrix<A>& x, std::int64_t first, std::int64_t count, const A* w, A* tile) {
  using Lane = Lanes<A, lanes<A>>;
  constexpr int together = 2;
  const std::int64_t p = x.columns;
  for (std::int64_t i = 0; i < count; i += together) {
    const A* row = x.values.data() + (first + i) * p;
    const A* other = i + 1 < count ? row + p : row;
    Lane sums[together] = {Lane::zero(), Lane::zero()};
    for (std::int64_t j = 0; j < p; ++j) {
      const Lane factors = Lane::load(w + j * lanes<A>);
      add_square(sums[0], factors, row[j]);
      add_square(sums[1], factors, other[j]);
    }
    sums[0].store(tile + i * lanes<A>);
    if (i + 1 < count) sums[1].store(tile + (i + 1) * lanes<A>);
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

/// No wider than the lanes of a tile of doubles.
inline constexpr int vector_bytes = native_vector_bytes < 32 ? native_vector_bytes : 32;
// NOLINTBEGIN(modernize-use-using): the attribute of an alias is not honoured by every compiler
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef std::int32_t Ints __attribute__((vector_size(vector_bytes)));
// NOLINTEND(modernize-use-using)

/// e^x for x <= 0, to about 1e-7 of its value (Cephes' polynomial); 0 below e^-87. Part of
/// the loop that calls it: a call would load the constants again for every vector.
[[gnu::always_inline]] inline Floats exp_of_negative(Floats x) {
  constexpr float least = -87.0F;
  const Ints vanishes = x < least;
  const Floats clipped = vanishes ? Floats{} + least : x;
  const Ints power = __builtin_convertvector(clipped * 1.44269504F - 0.5F, Ints);  // rounds, as x <= 0
  const Floats rounded = __builtin_convertvector(power, Floats);
  const Floats rest = (clipped - rounded * 0.693359375F) + rounded * 2.12194440e-4F;
  Floats sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const auto scaled = reinterpret_cast<Floats>(reinterpret_cast<Ints>(sum) + (power << 23));
  return vanishes ? Floats{} : scaled;
}

/// values[e] = the kernel of scaled distance values[e].
template <class Kernel>
void apply_to_distances(const Kernel& /*kernel*/, float* values, std::int64_t count) {
  for (std::int64_t e = 0; e < count; ++e) values[e] = Kernel::of(values[e]);
}
/// The exponential is left to vectors, which compilers do not make of it.
template <class A>
void apply_to_distances(const Rbf<A>& /*kernel*/, float* values, std::int64_t count) {
  static_assert(lanes<A> * sizeof(float) % vector_bytes == 0);
  constexpr std::int64_t step = vector_bytes / static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t e = 0; e < count; e += step) {
    Floats t;
    std::memcpy(&t, values + e, sizeof t);
    const Floats value = exp_of_negative(-t);
    std::memcpy(values + e, &value, sizeof value);
  }
}

/// Turns inner products into kernel values.
template <class A, class Kernel, class Value>
void apply(const Kernel& kernel, const Table<A>& table, std::int64_t first, std::int64_t count, const A* lane_terms,
           const A* tile, Value* values) {
  for (std::int64_t i = 0; i < count; ++i) {
    const A term = table.terms[first + i];
    for (int r = 0; r < lanes<A>; ++r) {
      const std::int64_t e = i * lanes<A> + r;
      if constexpr (OfDistance<Kernel> && std::is_same_v<Value, float>)
        values[e] = scaled_distance(kernel.gamma, tile[e], term, lane_terms[r]);
      else
        values[e] = static_cast<Value>(kernel(tile[e], term, lane_terms[r]));
    }
  }
  if constexpr (OfDistance<Kernel> && std::is_same_v<Value, float>)
    apply_to_distances(kernel, values, count * lanes<A>);
}

/// Turns squared distances into kernel values.
template <class A, class Kernel, class Value>
void apply_to_squares(const Kernel& kernel, std::int64_t count, const A* tile, Value* values) {
  if constexpr (OfDistance<Kernel> && std::is_same_v<Value, float>) {
    for (std::int64_t e = 0; e < count * lanes<A>; ++e) values[e] = static_cast<float>(kernel.gamma * tile[e]);
    apply_to_distances(kernel, values, count * lanes<A>);
  }
}

/// Kernel values of rows first .. first + count - 1 and the lanes: values[i][lane]. Kernels of summed distances use
/// float.
template <class A, class Value>
void kernel_tile(const KernelParams& params, const Table<A>& table, std::int64_t first, std::int64_t count,
                 const LaneRows<A>& rows, Value* values) {
  alignas(64) A tile[tile_rows * lanes<A>];
  if (table.distances) {
    dense_distances(std::get<DenseMatrix<A>>(table.x), first, count, rows.values(), tile);
    with_kernel<A>(params, [&](auto kernel) { apply_to_squares(kernel, count, tile, values); });
    return;
  }
  dots(table, first, count, rows.values(), tile);
  with_kernel<A>(params, [&](auto kernel) { apply(kernel, table, first, count, rows.terms(), tile, values); });
}

}  // namespace sheaf::kernel::cpu
