// The filter's tiles on CPU cores: a few rows against a few panels, joined in registers and compared with both rows'
// limits at once.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "neighbors/verbs/panels_cpu.hpp"

namespace sheaf::neighbors::cpu {

// NOLINTBEGIN(modernize-use-using): the attribute of an alias is not honoured by every compiler
typedef float Floats __attribute__((vector_size(native_vector_bytes)));
typedef std::int32_t Ints __attribute__((vector_size(native_vector_bytes)));
// NOLINTEND(modernize-use-using)

inline Floats load_lanes(const float* from) {
  Floats result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

/// Bit l is set if value[l] <= limit[l].
inline unsigned at_most(const Floats& value, const Floats& limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(value), reinterpret_cast<__m512>(limit), _CMP_LE_OQ);
#elif defined(__AVX__)
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(reinterpret_cast<__m256>(value), reinterpret_cast<__m256>(limit), _CMP_LE_OQ)));
#else
  unsigned bits = 0;
  for (int l = 0; l < lanes; ++l) bits |= (value[l] <= limit[l] ? 1U : 0U) << l;
  return bits;
#endif
}

struct JoinProducts {
  static constexpr float factor = -2;
  static void join(Floats& sum, float a, const Floats& b) { sum += a * b; }
  static void join(Floats& sum, const Floats& other) { sum += other; }
};
struct JoinDifferences {
  static constexpr float factor = 1;
  static void join(Floats& sum, float a, const Floats& b) {
    const Floats apart = b - a;
    sum += reinterpret_cast<Floats>(reinterpret_cast<Ints>(apart) & 0x7fffffff);
  }
  static void join(Floats& sum, const Floats& other) { sum += other; }
};
struct JoinLargest {
  static constexpr float factor = 1;
  static void join(Floats& most, float a, const Floats& b) {
    const Floats apart = b - a;
    join(most, reinterpret_cast<Floats>(reinterpret_cast<Ints>(apart) & 0x7fffffff));
  }
  static void join(Floats& most, const Floats& other) { most = most > other ? most : other; }
};
struct JoinUnequal {
  static constexpr float factor = 1;
  static void join(Floats& sum, float a, const Floats& b) {
    const Floats one = Floats{} + 1.0F;
    sum += b != a ? one : Floats{};
  }
  static void join(Floats& sum, const Floats& other) { sum += other; }
};

template <class Work>
void with_join(FilterKind kind, const Work& work) {
  switch (kind) {
    case FilterKind::products:
      return work(JoinProducts{});
    case FilterKind::manhattan:
      return work(JoinDifferences{});
    case FilterKind::chebyshev:
      return work(JoinLargest{});
    case FilterKind::hamming:
      return work(JoinUnequal{});
  }
}

using Tile = Floats[rows_together][panels_together];

/// Joins rows_together rows from `a` on (a lane of each feature of a panel) with panels_together panels.
template <class Join>
inline void join_tile(const float* a, const float* const* b, std::int64_t columns, Tile& total) {
  for (auto& row : total)
    for (auto& sum : row) sum = Floats{};
  for (std::int64_t begin = 0; begin < columns; begin += chunk) {
    const auto end = begin + chunk < columns ? begin + chunk : columns;
    Floats sums[rows_together][panels_together] = {};
    for (std::int64_t j = begin; j < end; ++j) {
      Floats right[panels_together];
#pragma GCC unroll 8
      for (int v = 0; v < panels_together; ++v) right[v] = load_lanes(b[v] + j * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows_together; ++r) {
        const float left = a[j * lanes + r];
#pragma GCC unroll 8
        for (int v = 0; v < panels_together; ++v) Join::join(sums[r][v], left, right[v]);
      }
    }
    for (int r = 0; r < rows_together; ++r)
      for (int v = 0; v < panels_together; ++v) Join::join(total[r][v], sums[r][v]);
  }
}

/// Bytes of the panels that stay in the second-level cache while rows pass by.
inline constexpr std::int64_t resident_bytes = 512 << 10;

/// Offers the sink all pairs of rows of `a` in `left` and of `b` in `right` whose lower bound is at most the larger of
/// both limits: sink.offer(i, j, lower). Both ranges begin and end at whole tiles. Limits of the right side count if
/// `both`; they are read anew for each tile of rows.
template <class Join, class Sink>
void filter_block(const Panels& a, Range left, const Panels& b, Range right, bool both, Sink& sink) {
  const std::int64_t columns = a.columns;
  const std::int64_t tile_bytes = std::max<std::int64_t>(1, padding * columns * std::int64_t{sizeof(float)});
  const std::int64_t step = std::max<std::int64_t>(1, resident_bytes / tile_bytes) * padding;
  Tile total;
  for (std::int64_t from = right.begin; from < right.end; from += step) {
    const auto to = std::min(from + step, right.end);
    for (std::int64_t i = left.begin; i < left.end; i += rows_together)
      for (std::int64_t j = from; j < to; j += padding) {
        const float* panels[panels_together];
        for (int v = 0; v < panels_together; ++v) panels[v] = b.panel(j + v * lanes);
        join_tile<Join>(a.panel(i) + i % lanes, panels, columns, total);
        for (int v = 0; v < panels_together; ++v) {
          const auto column = j + v * lanes;
          const Floats base = load_lanes(b.base.data() + column);
          const Floats limits =
              both ? load_lanes(sink.right_limits() + column) : Floats{} - std::numeric_limits<float>::max();
          for (int r = 0; r < rows_together; ++r) {
            const float limit = sink.limits()[i + r];
            const Floats lower = (base + a.base[i + r]) + Join::factor * total[r][v];
            const Floats own = Floats{} + limit;
            for (auto bits = at_most(lower, limits > own ? limits : own); bits != 0; bits &= bits - 1) {
              const int lane = __builtin_ctz(bits);
              sink.offer(i + r, column + lane, lower[lane]);
            }
          }
        }
      }
  }
}

}  // namespace sheaf::neighbors::cpu
