#include "information/small_pairs.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

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
  for (int y = 0; y < 2; ++y) {
    information_[y].assign(next * next, {});
    both_[y].assign(next * next, {});
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
