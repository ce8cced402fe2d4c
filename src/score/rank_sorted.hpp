// How sorted keys of positive and other rows lie among each other: the base of AUC, average precision and the curves,
// on one CPU core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "score/statistics.hpp"
#include "score/terms.hpp"

namespace sheaf::score {

/// counts[p] = how many of `others` are at most positives[p]. Both lists ascend. Without a branch on the keys: no
/// processor could foresee it.
template <class Key>
void count_others(std::span<const Key> positives, std::span<const Key> others, Key* counts) {
  std::size_t p = 0;
  std::size_t o = 0;
  while (p < positives.size() && o < others.size()) {
    const bool other_first = others[o] <= positives[p];
    counts[p] = static_cast<Key>(o);  // the last time it is written, all of them are behind
    o += other_first ? 1 : 0;
    p += other_first ? 0 : 1;
  }
  std::fill(counts + p, counts + positives.size(), static_cast<Key>(others.size()));
}

/// The places of a sorted list that hold the same key as place `at`. Most keys are alone.
template <class Key>
Range same_keys(std::span<const Key> sorted, std::size_t at) {
  const Key key = sorted[at];
  auto first = sorted.begin() + static_cast<std::ptrdiff_t>(at);
  auto end = first + 1;
  if (at > 0 && sorted[at - 1] == key) first = std::lower_bound(sorted.begin(), first, key);
  if (end != sorted.end() && *end == key) end = std::upper_bound(end, sorted.end(), key);
  return {first - sorted.begin(), end - sorted.begin()};
}

/// The places of a sorted list that hold `key`; if none does, the place at which it would be inserted.
template <class Key>
Range places_of(std::span<const Key> sorted, Key key) {
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin();
  if (first == std::ssize(sorted) || sorted[static_cast<std::size_t>(first)] != key) return {first, first};
  return {first, same_keys(sorted, static_cast<std::size_t>(first)).end};
}

/// The piece of the ROC curve over `place` others: that of the first key with which more of them are taken.
template <class Key>
RocPiece roc_piece(std::span<const Key> positives, std::span<const Key> others, double place) {
  const auto at = static_cast<std::size_t>(place);
  const Key key = at < others.size() ? others[at] : std::max(positives.back(), others.back());
  const Range p = places_of(positives, key);
  const Range o = at < others.size() ? same_keys(others, at) : places_of(others, key);
  return {{o.begin, p.begin}, {o.end, p.end}};
}

/// Adds up pairs and precisions over the distinct keys of `positives`; counts as count_others() makes them.
template <class Key>
void add_up(std::span<const Key> positives, std::span<const Key> others, const Key* counts, Ranking& result) {
  std::size_t before = 0;  // others up to the last key
  for (std::size_t begin = 0; begin < positives.size();) {
    const Key key = positives[begin];
    std::size_t end = begin + 1;
    while (end < positives.size() && positives[end] == key) ++end;
    const std::size_t upto = counts[begin];
    std::size_t tied = 0;
    if (upto > before && others[upto - 1] == key) {
      const auto first = others.begin() + static_cast<std::ptrdiff_t>(before);
      const auto last = others.begin() + static_cast<std::ptrdiff_t>(upto);
      tied = static_cast<std::size_t>(last - std::lower_bound(first, last, key));
    }
    const std::size_t behind = others.size() - upto;
    result.doubled += static_cast<std::int64_t>((end - begin) * (2 * behind + tied));
    const Corner corner{static_cast<std::int64_t>(upto), static_cast<std::int64_t>(end)};
    result.precisions += static_cast<double>(end - begin) * precision_at(corner);
    before = upto;
    begin = end;
  }
}

/// Both lists ascend; `points` 0: no curves. `scratch` is as long as `positives`.
template <class Key>
Ranking rank_sorted(std::span<const Key> positives, std::span<const Key> others, std::int32_t points, Key* scratch) {
  Ranking result;
  result.others = std::ssize(others);
  result.positives = std::ssize(positives);
  if (others.empty() || positives.empty()) return result;
  count_others(positives, others, scratch);
  add_up(positives, others, scratch, result);
  result.roc.reserve(static_cast<std::size_t>(points));
  result.precision.reserve(static_cast<std::size_t>(points));
  for (std::int32_t k = 0; k < points; ++k) {
    result.roc.push_back(roc_piece(positives, others, roc_place(result.others, k, points)));
    const auto at = static_cast<std::size_t>(recall_place(result.positives, k, points) - 1);
    result.precision.push_back({static_cast<std::int64_t>(scratch[at]), same_keys(positives, at).end});
  }
  return result;
}

}  // namespace sheaf::score
