// Splits that the caller made: lists of rows, or the fold of each row.
#include <algorithm>
#include <limits>
#include <utility>

#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t most_times = std::numeric_limits<std::uint8_t>::max();

void check_rows(std::int64_t rows) {
  if (rows < 2 || rows > std::numeric_limits<std::int32_t>::max())
    fail_usage("argument 'rows' is {}; splits need 2 to {} rows", rows, std::numeric_limits<std::int32_t>::max());
}

/// The rows ascending; `kind` is "training" or "test".
std::vector<std::int32_t> checked_list(const std::vector<std::int64_t>& list, std::int64_t rows, std::size_t split,
                                       std::string_view kind) {
  if (list.empty()) fail_usage("argument 'splits': split {} (from 0) has no {} rows", split, kind);
  std::vector<std::int32_t> result;
  result.reserve(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (list[k] < 0 || list[k] >= rows)
      fail_usage("argument 'splits': split {} (from 0), entry {} of the {} rows is {}, but rows are 0 to {}", split, k,
                 kind, list[k], rows - 1);
    result.push_back(static_cast<std::int32_t>(list[k]));
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Rows ascend: equal ones stand together.
void check_times(const std::vector<std::int32_t>& list, std::int64_t most, std::size_t split, std::string_view kind) {
  for (auto run = list.begin(); run != list.end();) {
    const auto end = std::upper_bound(run, list.end(), *run);
    if (end - run > most)
      fail_usage("argument 'splits': split {} (from 0) names row {} {} times in its {} rows; at most {} is expected",
                 split, *run, end - run, kind, most);
    run = end;
  }
}

void check_apart(const std::vector<std::int32_t>& train, const std::vector<std::int32_t>& test, std::size_t split) {
  std::vector<std::int32_t> both;
  std::set_intersection(train.begin(), train.end(), test.begin(), test.end(), std::back_inserter(both));
  if (!both.empty())
    fail_usage("argument 'splits': split {} (from 0) both trains on row {} and tests it", split, both.front());
}

}  // namespace

Splits custom_splits(std::int64_t rows, std::span<const TrainTestRows> splits) {
  check_rows(rows);
  if (splits.empty()) fail_usage("argument 'splits' is empty; at least one split is expected");
  Splits result;
  result.rows_ = rows;
  result.count_ = static_cast<std::int32_t>(splits.size());
  result.options_.kind = SplitKind::custom;
  bool folds = true;  // tests no row twice, and trains on all others once
  std::vector<std::int32_t> tester(static_cast<std::size_t>(rows), -1);
  for (std::size_t s = 0; s < splits.size(); ++s) {
    auto train = checked_list(splits[s].train, rows, s, "training");
    auto test = checked_list(splits[s].test, rows, s, "test");
    check_times(train, most_times, s, "training");
    check_times(test, 1, s, "test");
    check_apart(train, test, s);
    const bool each_once = std::adjacent_find(train.begin(), train.end()) == train.end();
    folds = folds && each_once && std::ssize(train) + std::ssize(test) == rows;
    for (const auto row : test)
      folds = std::exchange(tester[static_cast<std::size_t>(row)], static_cast<std::int32_t>(s)) < 0 && folds;
    result.lists_.push_back({std::move(train), std::move(test)});
  }
  if (!folds) return result;
  result.lists_.clear();
  result.leaves_untested_ = std::find(tester.begin(), tester.end(), -1) != tester.end();
  result.tester_ = std::move(tester);
  return result;
}

Splits custom_splits(std::span<const std::int32_t> folds) {
  check_rows(std::ssize(folds));
  const auto* const lowest = std::min_element(folds.data(), folds.data() + folds.size());
  if (*lowest < -1)
    fail_usage("argument 'folds': entry {} is {}; a fold from 0, or -1 for a row that no fold tests, is expected",
               lowest - folds.data(), *lowest);
  const auto highest = *std::max_element(folds.begin(), folds.end());
  if (highest < 0) fail_usage("argument 'folds': all entries are -1, so that no row is tested");
  std::vector<std::int64_t> sizes(std::min<std::size_t>(static_cast<std::size_t>(highest) + 1, folds.size() + 1));
  for (const auto fold : folds)
    if (fold >= 0 && static_cast<std::size_t>(fold) < sizes.size()) ++sizes[static_cast<std::size_t>(fold)];
  const auto empty = std::find(sizes.begin(), sizes.end(), 0) - sizes.begin();
  if (empty < std::ssize(sizes))
    fail_usage("argument 'folds': no row is in fold {}, but folds go up to {}; number them without gaps", empty,
               highest);
  if (sizes[0] == std::ssize(folds))
    fail_usage("argument 'folds': all rows are in fold 0, which leaves none to train on");
  Splits result;
  result.rows_ = std::ssize(folds);
  result.count_ = highest + 1;
  result.options_.kind = SplitKind::custom;
  result.tester_.assign(folds.begin(), folds.end());
  result.leaves_untested_ = *lowest < 0;
  return result;
}

}  // namespace sheaf
