// Order-free sums of pairs of few states, counted in bit planes, on one CPU core.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "information/count/bit_plane_sums.hpp"
#include "information/count/bit_planes.hpp"
#include "information/count/sums_cpu.hpp"

namespace sheaf::information::cpu {

/// A partner's planes, each as often as weights have bits, joined with those: [(plane * bits + bit) * words].
struct WeightedPlanes {
  std::vector<std::uint64_t> bits;  ///< empty: the dataset's own planes, for every row counts once
  int weight_bits = 1;
};

inline WeightedPlanes weigh_planes(const PlaneTable& table, std::int64_t feature,
                                   std::span<const std::uint64_t> weights) {
  WeightedPlanes result;
  if (weights.empty()) return result;
  const auto words = static_cast<std::size_t>(table.words());
  result.weight_bits = static_cast<int>(weights.size() / words);
  for (int p = 0; p < table.planes(feature); ++p)
    for (std::size_t w = 0; w < weights.size(); ++w)
      result.bits.push_back(table.of(feature)[static_cast<std::size_t>(p) * words + w % words] & weights[w]);
  return result;
}

class PlaneSums {
 public:
  PlaneSums(const FixedLog& log, const PlaneTable& table, const PlaneCounts& counts, Scratch& scratch)
      : log_(log), table_(table), counts_(counts), scratch_(scratch) {}

  JointSums operator()(std::int64_t partner, const WeightedPlanes& weighted, std::int64_t candidate, bool with_class) {
    const int classes = table_.classes();
    if (!with_class) {
      count(partner, weighted, candidate, {0, table_.words()});
      return {add_up(partner, candidate, classes, nullptr), 0};
    }
    const int planes = table_.planes(partner);
    if (weighted.bits.empty() && planes == table_.planes(candidate) && table_.words() <= most_few_words) {
      if (planes == 1) return count_few<1>(partner, candidate);
      if (planes == 2) return count_few<2>(partner, candidate);
      if (planes == 3) return count_few<3>(partner, candidate);
      if (planes == 4) return count_few<4>(partner, candidate);
    }
    JointSums sums;
    const std::size_t cells = states(partner) * states(candidate);
    std::uint32_t* merged = cleared(scratch_.merged, cells);
    for (int y = 0; y < classes; ++y) {
      count(partner, weighted, candidate, words_of(y));
      sums.with_class += add_up(partner, candidate, y, merged);
    }
    for (std::size_t e = 0; e < cells; ++e) sums.pair += log_(merged[e]);
    return sums;
  }

 private:
  static constexpr std::int64_t most_few_words = 16;  // of more, count_shared_ones() takes less time

  /// The same for few words of so many planes of each side, whose counts stay in registers.
  template <int Planes>
  JointSums count_few(std::int64_t partner, std::int64_t candidate) const {
    constexpr std::size_t last = Planes;
    using Cells = std::array<std::array<std::uint32_t, last + 1>, last + 1>;
    const std::uint64_t* own = table_.of(partner);
    const std::uint64_t* other = table_.of(candidate);
    const std::int64_t words = table_.words();
    Cells merged{};
    JointSums sums;
    for (int y = 0; y < table_.classes(); ++y) {
      Cells cells{};
      const Range range = words_of(y);
      for (std::int64_t w = range.begin; w < range.end; ++w)
        for (std::size_t s = 0; s < last; ++s)
          for (std::size_t x = 0; x < last; ++x)
            cells[s][x] += static_cast<std::uint32_t>(std::popcount(own[static_cast<std::int64_t>(s) * words + w] &
                                                                    other[static_cast<std::int64_t>(x) * words + w]));
      const PlaneSide mine = side(partner, y);
      const PlaneSide theirs = side(candidate, y);
      cells[last][last] = counts_.of_classes[static_cast<std::size_t>(y)];
      for (std::size_t s = 0; s < last; ++s) {
        cells[s][last] += mine.count(static_cast<int>(s));
        cells[last][s] += theirs.count(static_cast<int>(s));
        cells[last][last] -= mine.count(static_cast<int>(s));
        for (std::size_t x = 0; x < last; ++x) {
          cells[s][last] -= cells[s][x];
          cells[last][x] -= cells[s][x];
        }
      }
      for (std::size_t x = 0; x < last; ++x) cells[last][last] -= cells[last][x];
      for (std::size_t s = 0; s <= last; ++s)
        for (std::size_t x = 0; x <= last; ++x) {
          sums.with_class += log_(cells[s][x]);
          merged[s][x] += cells[s][x];
        }
    }
    for (const auto& of_state : merged)
      for (const auto count : of_state) sums.pair += log_(count);
    return sums;
  }

  Range words_of(int y) const {
    const auto& order = table_.order();
    const auto at = static_cast<std::size_t>(y);
    const std::int64_t end = (order.ends[at] + PlaneTable::unit - 1) / PlaneTable::unit * PlaneTable::unit;
    return {order.begins[at] / 64, end / 64};
  }

  /// The ones that every plane of the partner shares with every one of the candidate. Piece by piece, so that both
  /// sides stay in the nearest cache.
  void count(std::int64_t partner, const WeightedPlanes& weighted, std::int64_t candidate, Range range) {
    constexpr std::int64_t piece = 248;  // words; a multiple of what count_shared_ones adds in bytes
    const int mine = table_.planes(partner);
    const int theirs = table_.planes(candidate);
    std::uint32_t* shared = cleared(scratch_.table, static_cast<std::size_t>(mine) * static_cast<std::size_t>(theirs));
    const std::uint64_t* own = weighted.bits.empty() ? table_.of(partner) : weighted.bits.data();
    for (std::int64_t first = range.begin; first < range.end; first += piece) {
      const std::int64_t words = std::min(piece, range.end - first);
      for (int s = 0; s < mine * weighted.weight_bits; ++s)
        count_shared_ones(own + s * table_.words() + first, table_.of(candidate) + first, table_.words(), theirs, words,
                          1U << (s % weighted.weight_bits),
                          shared + static_cast<std::int64_t>(s / weighted.weight_bits) * theirs);
    }
  }

  std::size_t states(std::int64_t feature) const { return static_cast<std::size_t>(table_.planes(feature)) + 1; }
  PlaneSide side(std::int64_t feature, int y) const {
    const int apart = table_.classes() + 1;
    return {table_.planes(feature),
            counts_.of_planes.data() + table_.first()[static_cast<std::size_t>(feature)] * apart + y, apart};
  }

  /// The sum of class y, whose counts are added to `merged` if given. Counts in the candidate's last state follow by
  /// subtraction from the partner's, and the other way round.
  std::int64_t add_up(std::int64_t partner, std::int64_t candidate, int y, std::uint32_t* merged) {
    const PlaneSide mine = side(partner, y);
    const PlaneSide theirs = side(candidate, y);
    const std::uint32_t* shared = scratch_.table.data();
    std::uint32_t* left = cleared(scratch_.removed, static_cast<std::size_t>(theirs.planes) + 1);
    std::uint32_t* last = left + theirs.planes;
    for (int x = 0; x < theirs.planes; ++x) left[x] = theirs.count(x);
    *last = counts_.of_classes[static_cast<std::size_t>(y)] - std::accumulate(left, last, 0U);
    std::int64_t sum = 0;
    const auto add = [&](std::uint32_t count) {
      sum += log_(count);
      if (merged != nullptr) *merged++ += count;
    };
    for (int s = 0; s < mine.planes; ++s) {
      std::uint32_t rest = mine.count(s);
      for (int x = 0; x < theirs.planes; ++x) {
        const std::uint32_t count = *shared++;
        rest -= count;
        left[x] -= count;
        add(count);
      }
      *last -= rest;
      add(rest);
    }
    std::for_each(left, last + 1, add);
    std::fill(left, last + 1, 0U);
    return sum;
  }

  const FixedLog& log_;
  const PlaneTable& table_;
  const PlaneCounts& counts_;
  Scratch& scratch_;
};

}  // namespace sheaf::information::cpu
