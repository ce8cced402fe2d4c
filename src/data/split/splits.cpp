#include <sheaf/solvers/splits.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "data/split/group_splits.hpp"
#include "data/split/time_windows.hpp"

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 10> kind_names{"kfold",   "stratified",    "group", "stratified-group",
                                                      "shuffle", "group-shuffle", "loo",   "bootstrap",
                                                      "time",    "custom"};
/// Custom splits are made of rows, not of a name.
constexpr std::span makeable_names(kind_names.data(), kind_names.size() - 1);

std::vector<std::int32_t> in_order(std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void check_labels(std::int64_t rows, std::span<const std::int32_t> labels, const SplitOptions& options,
                  std::string_view what, std::string_view instead) {
  if (labels.empty()) fail_usage("splitting by '{}' needs {}; {}", to_string(options.kind), what, instead);
  require(static_cast<std::int64_t>(labels.size()) == rows, "there are not as many classes or groups as rows");
}

void check_count(std::int64_t rows, const SplitOptions& options) {
  const bool folds = options.kind <= SplitKind::stratified_group_k_fold;
  if (rows > std::numeric_limits<std::int32_t>::max())
    fail_usage("{} can't be split, only up to {}", counted(rows, "row"),
               grouped(std::numeric_limits<std::int32_t>::max()));
  if (rows < 2) fail_usage("splitting into training and test rows needs at least 2 rows, not {}", rows);
  if (options.kind == SplitKind::leave_one_out) return;
  if (folds && options.count < 2) fail_usage("cross-validation needs at least 2 folds, not {}", options.count);
  if (options.count < 1) fail_usage("the number of splits must be at least 1, not {}", options.count);
  if (folds && options.count > rows)
    fail_usage("{} folds need at least as many rows, not {}; use fewer folds, or loo", options.count, rows);
}

/// Runs of `order` go to folds, the first ones longer by one if they can't be equal.
std::vector<std::int32_t> deal_k_fold(const std::vector<std::int32_t>& order, std::int32_t folds) {
  std::vector<std::int32_t> tester(order.size());
  for (std::int32_t fold = 0; fold < folds; ++fold) {
    const auto run = part_of(static_cast<std::int64_t>(order.size()), folds, fold);
    for (auto k = run.begin; k < run.end; ++k)
      tester[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = fold;
  }
  return tester;
}

void check_fold_classes(const Members& members, std::int32_t folds) {
  for (std::int64_t c = 0; c < members.classes(); ++c) {
    const auto size = members.size(c);
    if (size == 0 || size >= folds) continue;
    if (size == 1)
      fail_usage("class {} (from 0) has only 1 row, which can't be in each of {}; leave it out, or use kfold", c,
                 counted(folds, "fold"));
    fail_usage("class {} (from 0) has only {} rows, fewer than the {} folds; use at most {} folds, or kfold", c, size,
               folds, size);
  }
}

/// Were all rows, ordered by class, dealt in turn, then both classes and folds would be even. Each class gives every
/// fold as many rows as that, but in runs, so that without mixing neighbours stay together.
std::vector<std::int32_t> deal_stratified(const Members& members, std::int32_t folds) {
  std::vector<std::int32_t> tester(members.rows.size());
  for (std::int64_t c = 0; c < members.classes(); ++c) {
    auto row = members.begin(c);
    const std::int64_t offset = members.begin(c) % folds;
    for (std::int32_t fold = 0; fold < folds; ++fold) {
      const std::int64_t turn = (fold - offset + folds) % folds;  // at which turn of this class the fold is dealt a row
      const std::int64_t share = members.size(c) / folds + (turn < members.size(c) % folds ? 1 : 0);
      for (const auto end = row + share; row < end; ++row)
        tester[static_cast<std::size_t>(members.rows[static_cast<std::size_t>(row)])] = fold;
    }
  }
  return tester;
}

/// Classes numbered in the order of their first rows, so that splits do not depend on the names of the classes.
std::vector<std::int32_t> by_first_row(std::span<const std::int32_t> classes) {
  std::vector<std::int32_t> number;
  std::vector<std::int32_t> result;
  result.reserve(classes.size());
  std::int32_t next = 0;
  for (const auto c : classes) {
    if (static_cast<std::size_t>(c) >= number.size()) number.resize(static_cast<std::size_t>(c) + 1, -1);
    auto& mine = number[static_cast<std::size_t>(c)];
    if (mine < 0) mine = next++;
    result.push_back(mine);
  }
  return result;
}

void check_shuffle(const Members& members, std::int64_t tests) {
  const auto rows = static_cast<std::int64_t>(members.rows.size());
  std::int64_t classes = 0;
  for (std::int64_t c = 0; c < members.classes(); ++c) {
    classes += members.size(c) > 0 ? 1 : 0;
    if (members.size(c) == 1)
      fail_usage("class {} (from 0) has only 1 row, which can't be both trained on and tested; leave it out", c);
  }
  if (rows - tests < classes)
    fail_usage("testing {} of {} rows leaves too few to train on all {} classes; use a smaller test fraction", tests,
               rows, classes);
}

void check_fraction(const SplitOptions& options) {
  if (!(options.test_fraction > 0 && options.test_fraction < 1))
    fail_usage("the test fraction must lie between 0 and 1, not {}", options.test_fraction);
}

/// Test rows of each class: in proportion, rounded by largest remainder so that they add up to `tests`; a class keeps
/// at least one row for training. Equal remainders: the class whose first row comes first.
std::vector<std::int64_t> allot_tests(const Members& members, std::int64_t tests) {
  const auto rows = static_cast<std::int64_t>(members.rows.size());
  std::vector<std::int64_t> allotted;
  std::vector<std::pair<std::int64_t, std::int64_t>> remainders;  // negative, class
  for (std::int64_t c = 0; c < members.classes(); ++c) {
    const std::int64_t share = members.size(c) * tests;  // both below 2^31
    allotted.push_back(share / rows);
    remainders.emplace_back(-(share % rows), c);
  }
  std::sort(remainders.begin(), remainders.end());
  std::int64_t left = tests - std::accumulate(allotted.begin(), allotted.end(), std::int64_t{0});
  while (left > 0) {
    for (const auto& [remainder, c] : remainders) {
      auto& mine = allotted[static_cast<std::size_t>(c)];
      if (left == 0 || mine + 1 >= members.size(c)) continue;
      ++mine;
      --left;
    }
  }
  return allotted;
}

/// Draws as many rows as there are. A row drawn 255 times is not drawn again, which for drawing with equal chances has
/// a probability below 10^-500; if no row is left out, as may happen in small datasets, all are drawn again.
std::vector<std::uint8_t> draw_bootstrap(Random random, std::int64_t rows) {
  std::vector<std::uint8_t> weights(static_cast<std::size_t>(rows));
  do {
    std::fill(weights.begin(), weights.end(), std::uint8_t{0});
    for (std::int64_t drawn = 0; drawn < rows;) {
      auto& weight = weights[random.below(static_cast<std::uint64_t>(rows))];
      if (weight == std::numeric_limits<std::uint8_t>::max()) continue;
      ++weight;
      ++drawn;
    }
  } while (std::find(weights.begin(), weights.end(), 0) == weights.end());
  return weights;
}

std::vector<std::uint8_t> weights_of(const std::vector<std::int32_t>& trained, std::int64_t rows) {
  std::vector<std::uint8_t> weights(static_cast<std::size_t>(rows));
  for (const auto row : trained) ++weights[static_cast<std::size_t>(row)];
  return weights;
}

/// Mixes the rows of each class.
void shuffle_members(Members& members, const SplitOptions& options) {
  Random random(options.seed, mixing_stream);
  for (std::int64_t c = 0; c < members.classes(); ++c)
    random.shuffle(std::span(members.rows)
                       .subspan(static_cast<std::size_t>(members.begin(c)), static_cast<std::size_t>(members.size(c))));
}

}  // namespace

std::int32_t Splits::tester(std::int64_t row) const {
  require(is_partition(), "only of a partition each row has a single tester");
  return fold_of(row);
}

std::vector<std::uint8_t> Splits::draw(std::int32_t split) const {
  if (!lists_.empty()) return weights_of(lists_[static_cast<std::size_t>(split)].train, rows_);
  Random random(options_.seed, static_cast<std::uint64_t>(split));
  if (kind() == SplitKind::bootstrap) return draw_bootstrap(random, rows_);
  if (kind() == SplitKind::group_shuffle)
    return draw_groups(random, {members_, begins_}, classes_, options_.test_fraction);
  std::vector<std::uint8_t> weights(static_cast<std::size_t>(rows_), 1);
  auto rows = members_;
  for (std::size_t c = 0; c < class_tests_.size(); ++c) {
    const auto begin = static_cast<std::size_t>(begins_[c]);
    const auto end = static_cast<std::size_t>(begins_[c + 1]);
    for (auto k = begin; k < begin + static_cast<std::size_t>(class_tests_[c]); ++k) {
      std::swap(rows[k], rows[k + random.below(end - k)]);
      weights[static_cast<std::size_t>(rows[k])] = 0;
    }
  }
  return weights;
}

SplitWeights Splits::weights(std::int32_t first, std::int32_t count, int threads) const {
  require(first >= 0 && count >= 0 && first <= count_ - count, "splits were asked for that do not exist");
  SplitWeights table{rows_, first, count, Array<std::uint8_t>(rows_ * count)};
  if (!has_folds()) {
    parallel_for(threads, count, [&](std::int64_t s) {
      const auto drawn = draw(first + static_cast<std::int32_t>(s));
      for (std::int64_t i = 0; i < rows_; ++i) table.weights[i * count + s] = drawn[static_cast<std::size_t>(i)];
    });
    return table;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / std::max(count, 1));
  parallel_ranges(threads, rows_, grain, [&](Range range) {
    std::fill(table.weights.data() + range.begin * count, table.weights.data() + range.end * count, std::uint8_t{1});
    for (auto i = range.begin; i < range.end; ++i) {
      const std::int32_t split = fold_of(i) - first;
      if (split >= 0 && split < count) table.weights[i * count + split] = 0;
    }
  });
  return table;
}

std::vector<std::int32_t> Splits::test_rows(std::int32_t split) const {
  require(split >= 0 && split < count_, "a split was asked for that does not exist");
  if (kind() == SplitKind::leave_one_out) return {split};
  if (!lists_.empty()) return lists_[static_cast<std::size_t>(split)].test;
  const auto drawn = has_folds() ? std::vector<std::uint8_t>{} : draw(split);
  std::vector<std::int32_t> rows(static_cast<std::size_t>(rows_));
  std::size_t count = 0;
  // Without a branch: no processor could foresee it.
  const auto gather = [&](auto&& tested) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[count] = static_cast<std::int32_t>(i);
      count += tested(i) ? 1 : 0;
    }
  };
  if (has_folds())
    gather([&](std::size_t i) { return tester_[i] == split; });
  else
    gather([&](std::size_t i) { return drawn[i] == 0; });
  rows.resize(count);
  return rows;
}

SplitKind parse_split_kind(std::string_view text) {
  return static_cast<SplitKind>(find_name("kind of split", text, makeable_names));
}

std::string_view to_string(SplitKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

void Splits::plan_shuffle(std::span<const std::int32_t> classes) {
  check_fraction(options_);
  // Rounded up, but not for what the fraction's own rounding adds.
  const double wanted = std::ceil(options_.test_fraction * static_cast<double>(rows_) * (1 - 1e-12));
  const auto tests = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
  check_shuffle(members_of(classes), tests);
  auto members = members_of(by_first_row(classes));
  class_tests_ = allot_tests(members, tests);
  members_ = std::move(members.rows);
  begins_ = std::move(members.begins);
}

void Splits::plan_group_shuffle(std::span<const std::int32_t> classes, std::span<const std::int32_t> groups) {
  check_fraction(options_);
  auto members = members_of(groups);
  check_group_shuffle(members);
  members_ = std::move(members.rows);
  begins_ = std::move(members.begins);
  classes_.assign(classes.begin(), classes.end());
  classes_.resize(static_cast<std::size_t>(rows_), 0);  // none: as rows of one class
}

void Splits::plan_time(std::span<const std::int32_t> times, std::span<const std::int32_t> groups) {
  const TimeWindows windows(rows_, times, options_);
  for (std::int32_t split = 0; split < count_; ++split) {
    auto [train, test] = windows.rows_of(split, groups);
    if (train.empty())
      fail_usage("split {} has no rows to train on: all that are before its own are of groups that it tests",
                 split + 1);
    lists_.push_back({std::move(train), std::move(test)});
  }
}

Splits make_splits(std::int64_t rows, std::span<const std::int32_t> classes, std::span<const std::int32_t> groups,
                   const SplitOptions& options, std::span<const std::int32_t> times) {
  check_count(rows, options);
  Splits splits;
  splits.rows_ = rows;
  splits.count_ = options.kind == SplitKind::leave_one_out ? static_cast<std::int32_t>(rows) : options.count;
  splits.options_ = options;
  const auto need_classes = [&] { check_labels(rows, classes, options, "classes", "use kfold or bootstrap"); };
  const auto need_groups = [&] {
    check_labels(rows, groups, options, "groups of rows", "name the column that holds them (--group)");
  };
  if (options.kind == SplitKind::k_fold) {
    auto order = in_order(rows);
    if (options.shuffle) Random(options.seed, mixing_stream).shuffle(std::span(order));
    splits.tester_ = deal_k_fold(order, options.count);
  } else if (options.kind == SplitKind::stratified_k_fold) {
    need_classes();
    check_fold_classes(members_of(classes), options.count);
    auto members = members_of(by_first_row(classes));
    if (options.shuffle) shuffle_members(members, options);
    splits.tester_ = deal_stratified(members, options.count);
  } else if (options.kind == SplitKind::group_k_fold) {
    need_groups();
    splits.tester_ = deal_groups(members_of(groups), options);
  } else if (options.kind == SplitKind::stratified_group_k_fold) {
    need_classes();
    need_groups();
    splits.tester_ = deal_stratified_groups(members_of(groups), by_first_row(classes), options);
  } else if (options.kind == SplitKind::group_shuffle) {
    need_groups();
    require(classes.empty() || std::ssize(classes) == rows, "there are not as many classes as rows");
    splits.plan_group_shuffle(by_first_row(classes), groups);
  } else if (options.kind == SplitKind::stratified_shuffle) {
    need_classes();
    splits.plan_shuffle(classes);
  } else if (options.kind == SplitKind::time) {
    require(times.empty() || std::ssize(times) == rows, "there are not as many times as rows");
    require(groups.empty() || std::ssize(groups) == rows, "there are not as many groups as rows");
    splits.plan_time(times, groups);
  }
  return splits;
}

}  // namespace sheaf
