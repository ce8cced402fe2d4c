#include "information/count/small_pairs.hpp"

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

SmallGroups::SmallGroups(std::span<const std::uint32_t> codes, std::int64_t states,
                         std::span<const std::uint32_t> weights)
    : of_row(codes.begin(), codes.end()), begins(static_cast<std::size_t>(states), 0) {
  std::vector<std::uint8_t> rows(begins.size(), 0);
  std::vector<std::uint32_t> examples(begins.size(), 0);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    ++rows[codes[i]];
    examples[codes[i]] += weights.empty() ? 1 : weights[i];
  }
  for (std::size_t group = 0; group < rows.size(); ++group) {
    begins[group] = static_cast<std::uint8_t>(count_at.size());
    count_at.insert(count_at.end(), rows[group], static_cast<std::uint8_t>(examples[group]));
  }
  sorted.resize(codes.size());
  std::vector<std::uint8_t> next = begins;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    sorted[next[codes[i]]++] = static_cast<std::uint8_t>(i);
    count_of.push_back(static_cast<std::uint8_t>(examples[codes[i]]));
  }
}

namespace {

/// The states of a feature merged with the class, numbered in order of first appearance; returns how many there are.
std::size_t merge_with_class(std::span<const std::uint16_t> steps, const std::uint8_t* codes, std::uint8_t* merged) {
  std::uint16_t numbers[512] = {};
  std::uint16_t last = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::uint16_t& number = numbers[2 * codes[i] + (steps[i] >= SmallRows::next ? 1 : 0)];
    if (number == 0) number = ++last;
    merged[i] = static_cast<std::uint8_t>(number - 1);
  }
  return last;
}

/// `codes` are less than `groups`.
void find_groups(std::span<const std::uint16_t> steps, const std::uint8_t* codes, std::size_t groups,
                 std::uint8_t* begins, std::uint8_t* count_at) {
  std::uint8_t rows[256] = {};
  std::uint8_t examples[256] = {};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ++rows[codes[i]];
    examples[codes[i]] = static_cast<std::uint8_t>(examples[codes[i]] + (steps[i] & 255U) + (steps[i] >> 8U));
  }
  std::uint8_t first[256] = {};
  std::size_t place = 0;
  for (std::size_t group = 0; group < groups; ++group) {
    first[group] = static_cast<std::uint8_t>(place);
    for (std::uint8_t k = 0; k < rows[group]; ++k) count_at[place++] = examples[group];
  }
  for (std::size_t i = 0; i < steps.size(); ++i) begins[i] = first[codes[i]];
}

}  // namespace

FeatureGroups::FeatureGroups(const SmallRows& rows, const std::uint8_t* codes, std::int64_t features, bool with_class,
                             int threads)
    : rows_(rows.steps().size()),
      begins_(rows_ * static_cast<std::size_t>(features)),
      count_at_(rows_ * static_cast<std::size_t>(features)) {
  parallel_ranges(threads, features, 64, [&](Range range) {
    std::uint8_t merged[256] = {};
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const std::size_t first = static_cast<std::size_t>(j) * rows_;
      const std::uint8_t* own = codes + first;
      const std::size_t groups = with_class ? merge_with_class(rows.steps(), own, merged)
                                            : std::size_t{*std::max_element(own, own + rows_)} + 1;
      find_groups(rows.steps(), with_class ? merged : own, groups, begins_.data() + first, count_at_.data() + first);
    }
  });
}

std::vector<std::uint8_t> choose_rows_of(const Array<std::uint8_t>& codes, std::int64_t rows,
                                         std::span<const std::uint32_t> chosen, int threads) {
  const std::int64_t features = rows > 0 ? codes.size() / rows : 0;
  std::vector<std::uint8_t> out(chosen.size() * static_cast<std::size_t>(features));
  parallel_ranges(threads, features, 64, [&](Range range) {
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      std::uint8_t* to = out.data() + static_cast<std::size_t>(j) * chosen.size();
      for (std::size_t k = 0; k < chosen.size(); ++k) to[k] = codes.data()[j * rows + chosen[k]];
    }
  });
  return out;
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
/// The same if the groups are the candidate's.
void sort_by_group(FeatureGroups::Of groups, const std::vector<std::uint8_t>& sorted, std::uint8_t* out) {
  std::uint8_t placed[256] = {};  // of each group, by its begin
  for (const std::uint8_t row : sorted) {
    const std::uint8_t begin = groups.begins[row];
    out[begin + placed[begin]++] = row;
  }
}

/// The count of the row's joint state in its own class, taken out of the entry.
unsigned take_own(std::uint16_t& entry, std::uint16_t step) {
  const unsigned mask = step >= SmallRows::next ? 0xff00U : 0xffU;
  const unsigned own = entry & mask;
  entry = static_cast<std::uint16_t>(entry & ~mask);
  return (own >> 8U) + (own & 255U);
}

}  // namespace

// NOLINTBEGIN(clang-analyzer-core.uninitialized.*): the first steps.size() entries are set before they are read
void SmallCounter::count_one(const SmallRows& rows, const SmallPair& pair, std::uint16_t* cells) {
  if (tables_.empty()) tables_.assign(together * apart, 0);
  const auto steps = rows.steps();
  std::uint16_t* table = tables_.data();
  for (std::size_t i = 0; i < steps.size(); ++i)
    cells[i] = static_cast<std::uint16_t>(pair.partner[i] + pair.candidate[i]);
  for (std::size_t i = 0; i < steps.size(); ++i)
    table[cells[i]] = static_cast<std::uint16_t>(table[cells[i]] + steps[i]);
}

/// The candidate outside, the partner inside: a joint state's rows lie side by side, and the first finds its count.
double SmallCounter::between(const SmallRows& rows, const TermTable& terms, const SmallPair& pair,
                             const SmallGroups& partner, FeatureGroups::Of candidate) {
  std::uint16_t cells[room];
  std::uint8_t order[room];
  count_one(rows, pair, cells);
  sort_by_group(candidate, partner.sorted, order);
  double sum = 0;
  for (std::size_t p = 0; p < partner.sorted.size(); ++p) {
    const std::uint16_t entry = std::exchange(tables_[cells[order[p]]], std::uint16_t{0});
    const std::uint32_t joint = (entry & 255U) + (entry >> 8U);
    sum += terms.mutual_or_zero(joint, partner.count_of[order[p]], candidate.count_at[p]);
  }
  return sum / std::log(2.0);
}

double SmallCounter::partner_given(const SmallRows& rows, const SmallPair& pair, const SmallGroups& partner,
                                   FeatureGroups::Of candidate) {
  std::uint16_t cells[room];
  std::uint8_t order[room];
  count_one(rows, pair, cells);
  sort_by_group(candidate, partner.sorted, order);
  double sum = 0;
  for (std::size_t p = 0; p < partner.sorted.size(); ++p) {
    const std::uint32_t joint = take_own(tables_[cells[order[p]]], rows.steps()[order[p]]);
    sum += rows.conditional()[SmallRows::next * joint + candidate.count_at[p]];
  }
  return sum / std::log(2.0);
}

/// H(J|S) counts a joint state if it differs from the one before it, H(J|SY) if its count is still there: that one
/// leaves the table clear.
double SmallCounter::beyond(const SmallRows& rows, const SmallPair& pair, const std::uint8_t* sorted,
                            const SmallGroups& alone, const SmallGroups& with_class) {
  const auto steps = rows.steps();
  std::uint16_t cells[room];
  std::uint8_t order[2][room];
  count_one(rows, pair, cells);
  std::uint16_t* table = tables_.data();
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
    rest += terms[SmallRows::next * take_own(table[cells[row]], steps[row]) + with_class.count_at[p]];
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
