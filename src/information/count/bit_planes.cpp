#include "information/count/bit_planes.hpp"

#include <algorithm>
#include <bit>

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "core/parallel.hpp"

namespace sheaf::information {
namespace {

/// Ones that a and each of Count planes share.
template <int Count>
void add_ones(const std::uint64_t* a, const std::uint64_t* b, std::int64_t apart, std::int64_t words,
              std::uint32_t times, std::uint32_t* out) {
#if defined(__ARM_NEON)
  constexpr std::int64_t most_vectors = 31;  // a byte holds the ones of so many bytes
  for (std::int64_t first = 0; first < words; first += 2 * most_vectors) {
    const std::int64_t end = std::min(words, first + 2 * most_vectors);
    uint8x16_t ones[Count];
    for (int k = 0; k < Count; ++k) ones[k] = vdupq_n_u8(0);
    for (std::int64_t w = first; w < end; w += 2) {
      const uint64x2_t of_a = vld1q_u64(a + w);
      for (int k = 0; k < Count; ++k) {
        const uint64x2_t both = vandq_u64(of_a, vld1q_u64(b + k * apart + w));
        ones[k] = vaddq_u8(ones[k], vcntq_u8(vreinterpretq_u8_u64(both)));
      }
    }
    for (int k = 0; k < Count; ++k) out[k] += times * vaddlvq_u8(ones[k]);
  }
#else
  std::uint64_t ones[Count] = {};
  for (std::int64_t w = 0; w < words; ++w)
    for (int k = 0; k < Count; ++k) ones[k] += static_cast<std::uint64_t>(std::popcount(a[w] & b[k * apart + w]));
  for (int k = 0; k < Count; ++k) out[k] += times * static_cast<std::uint32_t>(ones[k]);
#endif
}

/// Counts ones in the words of one class, by weight.
std::uint32_t count_ones(const std::uint64_t* plane, std::span<const std::uint64_t> weights, std::int64_t words,
                         Range range) {
  std::uint32_t count = 0;
  if (weights.empty())
    count_shared_ones(plane + range.begin, plane + range.begin, 0, 1, range.end - range.begin, 1, &count);
  for (std::size_t b = 0; b * static_cast<std::size_t>(words) < weights.size(); ++b)
    count_shared_ones(plane + range.begin, weights.data() + static_cast<std::int64_t>(b) * words + range.begin, 0, 1,
                      range.end - range.begin, 1U << b, &count);
  return count;
}

void set_bit(std::uint64_t* plane, std::int64_t place) { plane[place / 64] |= std::uint64_t{1} << (place % 64); }

/// 64 places at a time, a word of each state on the way; that of the last state goes nowhere.
void write_planes(const std::uint8_t* codes, Range places, int planes, std::int64_t words, std::uint64_t* out) {
  for (std::int64_t first = places.begin; first < places.end; first += 64) {
    std::uint64_t of_states[256];
    std::fill_n(of_states, planes + 1, std::uint64_t{0});
    const std::int64_t count = std::min<std::int64_t>(64, places.end - first);
    for (std::int64_t i = 0; i < count; ++i) of_states[codes[first + i]] |= std::uint64_t{1} << i;
    for (int p = 0; p < planes; ++p) out[p * words + first / 64] = of_states[p];
  }
}

}  // namespace

PlaneTable::PlaneTable(const Problem& problem, int threads) : order_(order_by_class(problem, unit)), first_{0} {
  const BinnedTable& table = *problem.table;
  for (const std::int32_t states : table.states) first_.push_back(first_.back() + states - 1);
  bits_.assign(static_cast<std::size_t>(first_.back() * words()), 0);
  parallel_ranges(threads, table.features, 16, [&](Range range) {
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(order_.stride));
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      place_columns(table, order_, {j, j + 1}, 1, codes.data());
      std::uint64_t* own = bits_.data() + first_[static_cast<std::size_t>(j)] * words();
      for (std::size_t y = 0; y < order_.begins.size(); ++y)
        write_planes(codes.data(), {order_.begins[y], order_.ends[y]}, planes(j), words(), own);
    }
  });
}

std::vector<std::uint64_t> planes_of_weights(const PlaneTable& table, std::span<const std::uint32_t> weights) {
  if (weights.empty()) return {};
  const auto bits = static_cast<int>(std::bit_width(*std::max_element(weights.begin(), weights.end())));
  std::vector<std::uint64_t> planes(static_cast<std::size_t>(bits * table.words()), 0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (int b = 0; b < bits; ++b)
      if (((weights[i] >> b) & 1U) != 0) set_bit(planes.data() + b * table.words(), table.order().places[i]);
  return planes;
}

PlaneCounts::PlaneCounts(const PlaneTable& table, std::span<const std::uint64_t> weights, int threads) {
  const auto classes = static_cast<std::size_t>(table.classes());
  const auto planes = static_cast<std::size_t>(table.first().back());
  const auto count = [&](const std::uint64_t* plane, std::uint32_t* out) {
    for (std::size_t y = 0; y < classes; ++y) {
      const Range range{table.order().begins[y] / 64,
                        (table.order().ends[y] + PlaneTable::unit - 1) / PlaneTable::unit * 2};
      out[y] = count_ones(plane, weights, table.words(), range);
      out[classes] += out[y];
    }
  };
  of_planes.assign(planes * (classes + 1), 0);
  parallel_ranges(threads, static_cast<std::int64_t>(planes), 64, [&](Range range) {
    for (std::int64_t p = range.begin; p < range.end; ++p)
      count(table.bits().data() + p * table.words(), of_planes.data() + static_cast<std::size_t>(p) * (classes + 1));
  });
  of_classes.assign(classes + 1, 0);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(table.words()), 0);
  for (const std::int64_t place : table.order().places) set_bit(all.data(), place);
  count(all.data(), of_classes.data());
}

void count_shared_ones(const std::uint64_t* a, const std::uint64_t* b, std::int64_t apart, int count,
                       std::int64_t words, std::uint32_t times, std::uint32_t* out) {
  for (; count >= 4; count -= 4, b += 4 * apart, out += 4) add_ones<4>(a, b, apart, words, times, out);
  if (count == 3) add_ones<3>(a, b, apart, words, times, out);
  if (count == 2) add_ones<2>(a, b, apart, words, times, out);
  if (count == 1) add_ones<1>(a, b, apart, words, times, out);
}

}  // namespace sheaf::information
