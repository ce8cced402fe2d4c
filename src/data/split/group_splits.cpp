#include "data/split/group_splits.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "core/fail.hpp"

namespace sheaf {
namespace {

std::vector<std::int32_t> present(const Members& groups) {
  std::vector<std::int32_t> order;
  for (std::int64_t g = 0; g < groups.classes(); ++g)
    if (groups.size(g) > 0) order.push_back(static_cast<std::int32_t>(g));
  return order;
}

/// Groups from the largest to the smallest; equal ones in the order of their numbers, or mixed.
std::vector<std::int32_t> groups_by_size(const Members& groups, const SplitOptions& options) {
  auto order = present(groups);
  if (static_cast<std::int64_t>(order.size()) < options.count)
    fail_usage("{} folds need at least as many groups, not {}; use fewer folds", options.count, order.size());
  if (options.shuffle) Random(options.seed, mixing_stream).shuffle(std::span(order));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return groups.size(a) > groups.size(b); });
  return order;
}

/// Differences up to this are ties, so that splits are the same on every platform.
constexpr double rounding = 1e-9;

/// Rows of each class.
std::vector<double> sizes_of(std::span<const std::int32_t> classes) {
  std::vector<double> sizes;
  for (const auto c : classes) {
    require(c >= 0, "a row has a negative class or group");
    if (static_cast<std::size_t>(c) >= sizes.size()) sizes.resize(static_cast<std::size_t>(c) + 1, 0.0);
    sizes[static_cast<std::size_t>(c)] += 1;
  }
  return sizes;
}

using Counts = std::vector<std::pair<std::size_t, double>>;  // rows of each class that a group has

Counts counts_of(std::span<const std::int32_t> rows, std::span<const std::int32_t> classes) {
  std::vector<std::int32_t> mine;
  for (const auto row : rows) mine.push_back(classes[static_cast<std::size_t>(row)]);
  std::sort(mine.begin(), mine.end());
  Counts counts;
  for (const auto c : mine) {
    if (counts.empty() || counts.back().first != static_cast<std::size_t>(c))
      counts.emplace_back(static_cast<std::size_t>(c), 0.0);
    counts.back().second += 1;
  }
  return counts;
}

}  // namespace

bool keeps_groups(SplitKind kind) {
  return kind == SplitKind::group_k_fold || kind == SplitKind::stratified_group_k_fold ||
         kind == SplitKind::group_shuffle || kind == SplitKind::time || kind == SplitKind::custom;
}

Members members_of(std::span<const std::int32_t> classes) {
  std::int32_t most = -1;
  for (const auto c : classes) {
    require(c >= 0, "a row has a negative class or group");
    most = std::max(most, c);
  }
  Members members;
  members.begins.assign(static_cast<std::size_t>(most) + 2, 0);
  for (const auto c : classes) ++members.begins[static_cast<std::size_t>(c) + 1];
  std::partial_sum(members.begins.begin(), members.begins.end(), members.begins.begin());
  auto next = members.begins;
  members.rows.resize(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i)
    members.rows[static_cast<std::size_t>(next[static_cast<std::size_t>(classes[i])]++)] = static_cast<std::int32_t>(i);
  return members;
}

std::vector<std::int32_t> deal_groups(const Members& groups, const SplitOptions& options) {
  using Load = std::pair<std::int64_t, std::int32_t>;  // rows, fold
  const auto order = groups_by_size(groups, options);
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::int32_t fold = 0; fold < options.count; ++fold) loads.emplace(0, fold);
  std::vector<std::int32_t> tester(groups.rows.size());
  for (const auto group : order) {
    const auto [load, fold] = loads.top();
    loads.pop();
    loads.emplace(load + groups.size(group), fold);
    for (const auto row : groups.of(group)) tester[static_cast<std::size_t>(row)] = fold;
  }
  return tester;
}

/// With l rows of class c in a fold, n in all and g in the group, the squares of the folds' shares of the classes sum
/// up to the least if the group goes to the fold with the smallest sum of l g / n^2. Ties: the fewest rows.
std::vector<std::int32_t> deal_stratified_groups(const Members& groups, std::span<const std::int32_t> classes,
                                                 const SplitOptions& options) {
  const auto order = groups_by_size(groups, options);
  const auto sizes = sizes_of(classes);
  const auto folds = static_cast<std::size_t>(options.count);
  std::vector<double> loads(folds * sizes.size(), 0.0);
  std::vector<std::int64_t> rows(folds, 0);
  std::vector<std::int32_t> tester(groups.rows.size());
  for (const auto group : order) {
    const auto counts = counts_of(groups.of(group), classes);
    std::size_t best = 0;
    double least = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      double here = 0;
      for (const auto& [c, count] : counts) here += loads[fold * sizes.size() + c] / sizes[c] * (count / sizes[c]);
      const bool same = std::abs(here - least) <= rounding * least;
      if (fold > 0 && (same ? rows[fold] >= rows[best] : here > least)) continue;
      best = fold;
      least = here;
    }
    rows[best] += groups.size(group);
    for (const auto& [c, count] : counts) loads[best * sizes.size() + c] += count;
    for (const auto row : groups.of(group)) tester[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(best);
  }
  return tester;
}

void check_group_shuffle(const Members& groups) {
  if (const auto count = present(groups).size(); count < 2)
    fail_usage("leaving whole groups out needs at least 2 groups, not {}", count);
}

namespace {

/// Groups that move between training and test rows until the share of each class that is tested is near a fraction.
class GroupDraw {
 public:
  GroupDraw(const Members& groups, std::span<const std::int32_t> classes, double fraction)
      : sizes_(sizes_of(classes)), trained_(sizes_), fraction_(fraction) {
    for (const auto group : present(groups)) groups_.push_back({group, counts_of(groups.of(group), classes), false});
  }

  void draw(Random& random) {
    random.shuffle(std::span(groups_));
    constexpr int most_passes = 16;  // two or three do
    for (int pass = 0; pass < most_passes; ++pass) {
      bool moved = false;
      for (auto& group : groups_) {
        if (!may_move(group) || gain(group) <= 0) continue;
        move(group);
        moved = true;
      }
      if (!moved) break;
    }
    if (tested_ == 0) move(nearest());
  }

  std::vector<std::uint8_t> weights(const Members& groups) const {
    std::vector<std::uint8_t> weights(groups.rows.size(), 1);
    for (const auto& group : groups_)
      for (const auto row : groups.of(group.number)) weights[static_cast<std::size_t>(row)] = group.tested ? 0 : 1;
    return weights;
  }

 private:
  struct Group {
    std::int32_t number = 0;
    Counts counts;
    bool tested = false;
  };

  /// One group is tested at least, and no class loses its last rows to train on.
  bool may_move(const Group& group) const {
    if (group.tested) return tested_ > 1;
    return std::all_of(group.counts.begin(), group.counts.end(),
                       [&](const auto& mine) { return mine.second < trained_[mine.first]; });
  }

  /// By how much the squared distances of the shares from the fraction shrink when the group moves.
  double gain(const Group& group) const {
    double sum = 0;
    for (const auto& [c, count] : group.counts) {
      const double share = count / sizes_[c];
      const double distance = (1 - trained_[c] / sizes_[c] - fraction_) * (group.tested ? -1 : 1);
      sum -= share * (2 * distance + share + rounding);
    }
    return sum;
  }

  void move(Group& group) {
    for (const auto& [c, count] : group.counts) trained_[c] += group.tested ? count : -count;
    tested_ += group.tested ? -1 : 1;
    group.tested = !group.tested;
  }

  /// For when every group is too large to bring the shares nearer.
  Group& nearest() {
    const auto merit = [&](const Group& group) { return std::pair(may_move(group), gain(group)); };
    return *std::max_element(groups_.begin(), groups_.end(),
                             [&](const Group& a, const Group& b) { return merit(a) < merit(b); });
  }

  std::vector<double> sizes_, trained_;  // rows of each class
  double fraction_;
  std::vector<Group> groups_;
  std::int64_t tested_ = 0;  // groups
};

}  // namespace

std::vector<std::uint8_t> draw_groups(Random random, const Members& groups, std::span<const std::int32_t> classes,
                                      double fraction) {
  GroupDraw draw(groups, classes, fraction);
  draw.draw(random);
  return draw.weights(groups);
}

}  // namespace sheaf
