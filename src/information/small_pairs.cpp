#include "information/small_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"

namespace sheaf::information {
namespace {

/// Four numbers read or written at once: the loops below wait for memory, not for arithmetic.
using Four = std::uint16_t[SmallCounter::together];
static_assert(sizeof(Four) == sizeof(std::uint64_t));

std::uint64_t read(const Four& from) {
  std::uint64_t packed = 0;
  std::memcpy(&packed, from, sizeof(packed));
  return packed;
}
constexpr std::size_t shift_of(std::size_t k) {
  return 16 * (std::endian::native == std::endian::little ? k : SmallCounter::together - 1 - k);
}
std::uint16_t number(std::uint64_t packed, std::size_t k) { return static_cast<std::uint16_t>(packed >> shift_of(k)); }

}  // namespace

SmallRows::SmallRows(const OrderedRows& rows) {
  if (rows.class_counts.size() != 2 || rows.total >= next) return;
  for (std::size_t i = 0; i < rows.classes.codes.size(); ++i) {
    const std::uint32_t weight = rows.weights.empty() ? 1 : rows.weights[i];
    steps_.push_back(static_cast<std::uint16_t>(rows.classes.codes[i] == 0 ? weight : weight * next));
  }
  conditional_.assign(std::size_t{next} * next, 0.0);
  for (std::uint32_t c = 1; c <= rows.total; ++c)
    for (std::uint32_t b = c; b <= rows.total; ++b) conditional_[next * c + b] = -rows.terms.conditional_of(c, b);
  for (int y = 0; y < 2; ++y) {
    information_[y].assign(std::size_t{next} * next, {});
    both_[y].assign(std::size_t{next} * next, {});
    const std::uint32_t own = rows.class_counts[static_cast<std::size_t>(y)];
    const std::uint32_t others = rows.class_counts[static_cast<std::size_t>(1 - y)];
    for (std::uint32_t c = 1; c <= own; ++c)
      for (std::uint32_t other = 0; other <= others; ++other) {
        const std::uint32_t entry = y == 0 ? c + next * other : other + next * c;
        information_[y][entry] = rows.terms.mutual_of(c, c + other, own);
        both_[y][entry] = {information_[y][entry], -rows.terms.alone_of(c)};
      }
  }
}

SmallGroups::SmallGroups(std::span<const std::uint32_t> codes, std::int64_t states)
    : of_row(codes.begin(), codes.end()), begins(static_cast<std::size_t>(states), 0) {
  std::vector<std::uint8_t> counts(begins.size(), 0);
  for (const std::uint32_t code : codes) ++counts[code];
  for (std::size_t group = 0; group < counts.size(); ++group) {
    begins[group] = static_cast<std::uint8_t>(count_at.size());
    count_at.insert(count_at.end(), counts[group], counts[group]);
  }
}

std::vector<std::uint8_t> sort_rows(const std::uint8_t* codes, std::int64_t rows, std::int64_t features, int threads) {
  std::vector<std::uint8_t> sorted(static_cast<std::size_t>(rows * features));
  parallel_ranges(threads, features, 64, [&](Range range) {
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const std::uint8_t* of = codes + j * rows;
      std::uint8_t next[257] = {};
      for (std::int64_t i = 0; i < rows; ++i) ++next[of[i] + 1];
      std::partial_sum(next, next + 257, next);
      for (std::int64_t i = 0; i < rows; ++i)
        sorted[static_cast<std::size_t>(j * rows + next[of[i]]++)] = static_cast<std::uint8_t>(i);
    }
  });
  return sorted;
}

namespace {

/// From rows sorted by the inner variable to rows sorted by group, and by the inner variable within.
void sort_by_group(const SmallGroups& groups, const std::uint8_t* sorted, std::size_t size, std::uint8_t* out) {
  std::uint8_t next[257];
  std::copy(groups.begins.begin(), groups.begins.end(), next);
  const std::uint8_t* of_row = groups.of_row.data();
  for (std::size_t k = 0; k < size; ++k) out[next[of_row[sorted[k]]]++] = sorted[k];
}

}  // namespace

// NOLINTBEGIN(clang-analyzer-core.uninitialized.*): the first steps.size() entries are set before they are read
/// H(J|S) finds a joint state where it differs from the one before it, H(J|SY) where its count is still there: that
/// one leaves the table clear.
double SmallCounter::beyond(const SmallRows& rows, const SmallPair& pair, const std::uint8_t* sorted,
                            const SmallGroups& alone, const SmallGroups& with_class) {
  if (tables_.empty()) tables_.assign(together * apart, 0);
  const auto steps = rows.steps();
  std::uint16_t cells[room];
  std::uint8_t order[2][room];
  std::uint16_t* table = tables_.data();
  for (std::size_t i = 0; i < steps.size(); ++i)
    cells[i] = static_cast<std::uint16_t>(pair.partner[i] + pair.candidate[i]);
  for (std::size_t i = 0; i < steps.size(); ++i)
    table[cells[i]] = static_cast<std::uint16_t>(table[cells[i]] + steps[i]);
  sort_by_group(alone, sorted, steps.size(), order[0]);
  sort_by_group(with_class, sorted, steps.size(), order[1]);
  const double* terms = rows.conditional();
  double without = 0;
  std::uint32_t before = most_cells;
  for (std::size_t p = 0; p < steps.size(); ++p) {
    const std::uint16_t cell = cells[order[0][p]];
    const std::uint32_t joint = (table[cell] & 255U) + (table[cell] >> 8U);
    without += terms[SmallRows::next * (cell == before ? 0 : joint) + alone.count_at[p]];
    before = cell;
  }
  double rest = 0;
  for (std::size_t p = 0; p < steps.size(); ++p) {
    const std::uint8_t row = order[1][p];
    const unsigned mask = steps[row] >= SmallRows::next ? 0xff00U : 0xffU;
    std::uint16_t& entry = table[cells[row]];
    const unsigned own = entry & mask;
    entry = static_cast<std::uint16_t>(entry & ~mask);
    rest += terms[SmallRows::next * ((own >> 8U) + (own & 255U)) + with_class.count_at[p]];
  }
  return without / std::log(2.0) - rest / std::log(2.0);
}
// NOLINTEND(clang-analyzer-core.uninitialized.*)

void SmallCounter::find_cells(const SmallPair (&pairs)[together], std::size_t size) {
  std::uint16_t own[together][room];
  for (std::size_t k = 0; k < together; ++k)
    for (std::size_t i = 0; i < size; ++i)
      own[k][i] = static_cast<std::uint16_t>(pairs[k].partner[i] + pairs[k].candidate[i]);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < together; ++k) cells_[i][k] = own[k][i];
}

void SmallCounter::count(const SmallRows& rows, const SmallPair (&pairs)[together]) {
  if (tables_.empty()) tables_.assign(together * apart, 0);
  const auto steps = rows.steps();
  find_cells(pairs, steps.size());
  std::uint16_t* tables = tables_.data();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t cells = read(cells_[i]);
    for (std::size_t k = 0; k < together; ++k) {
      std::uint16_t& entry = tables[k * apart + number(cells, k)];
      entry = static_cast<std::uint16_t>(entry + steps[i]);
    }
  }
}

/// Leaves the tables clear, and adds the terms of class 0 on the way.
template <class Value>
void SmallCounter::take(const SmallRows& rows, Value (&sums)[together]) {
  const auto* terms = rows.terms<Value>(0);
  std::uint16_t* tables = tables_.data();
  Value own[together] = {};
  for (std::size_t i = 0; i < rows.steps().size(); ++i) {
    const std::uint64_t cells = read(cells_[i]);
    std::uint64_t entries = 0;
    for (std::size_t k = 0; k < together; ++k) {
      const std::uint16_t entry = std::exchange(tables[k * apart + number(cells, k)], std::uint16_t{0});
      entries |= std::uint64_t{entry} << shift_of(k);
      own[k] += terms[entry];
    }
    std::memcpy(entries_[i], &entries, sizeof(entries));
  }
  for (std::size_t k = 0; k < together; ++k) sums[k] = own[k];
}

/// The terms of class 1, in the order of rows.
template <class Value>
void SmallCounter::add(const SmallRows& rows, Value (&sums)[together]) const {
  const auto* terms = rows.terms<Value>(1);
  Value own[together] = {};
  for (std::size_t k = 0; k < together; ++k) own[k] = sums[k];
  for (std::size_t i = 0; i < rows.steps().size(); ++i) {
    const std::uint64_t entries = read(entries_[i]);
    for (std::size_t k = 0; k < together; ++k) own[k] += terms[number(entries, k)];
  }
  for (std::size_t k = 0; k < together; ++k) sums[k] = own[k];
}

void SmallCounter::joint(const SmallRows& rows, const SmallPair (&pairs)[together], bool with_entropy,
                         PairTerms (&out)[together]) {
  double information[together] = {};
  Both both[together] = {};
  count(rows, pairs);
  if (with_entropy) {
    take(rows, both);
    add(rows, both);
  } else {
    take(rows, information);
    add(rows, information);
  }
  for (std::size_t k = 0; k < together; ++k) {
    out[k].joint_with_class = (with_entropy ? both[k].information : information[k]) / std::log(2.0);
    out[k].joint_entropy = both[k].entropy / std::log(2.0);
  }
}

}  // namespace sheaf::information
