#include "search/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

namespace sheaf::engine {
namespace {

std::vector<std::int32_t> taken(std::span<const std::int32_t> values, std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> result;
  for (const auto row : rows)
    if (!values.empty()) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

/// The kind that does the same with groups.
SplitKind with_groups(SplitKind kind) {
  switch (kind) {
    case SplitKind::k_fold:
      return SplitKind::group_k_fold;
    case SplitKind::stratified_k_fold:
      return SplitKind::stratified_group_k_fold;
    case SplitKind::stratified_shuffle:
      return SplitKind::group_shuffle;
    default:
      return kind;
  }
}

SplitOptions common_options(const SearchOptions& options, SplitKind kind, bool always_groups, std::uint64_t seed) {
  SplitOptions split;
  split.kind = always_groups ? with_groups(kind) : kind;
  split.test_size = options.test_size;
  split.window = options.window;
  split.gap = options.gap;
  split.seed = seed;
  return split;
}

SplitOptions inner_options(const SearchOptions& options, bool regression, bool always_groups, std::uint64_t seed) {
  auto kind = *options.split;
  if (options.leave_one_out_in_folds) kind = regression ? SplitKind::k_fold : SplitKind::stratified_k_fold;
  auto split = common_options(options, kind, always_groups, seed);
  split.count = options.folds;
  split.test_fraction = options.test_fraction;
  return split;
}

std::int64_t distinct(std::vector<std::int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::unique(numbers.begin(), numbers.end()) - numbers.begin();
}

/// Fewer than `least` rows of a class are an Error that names the purpose they are too few for.
void check_sizes(const Labels& labels, std::span<const std::int32_t> rows, std::int64_t least, std::string_view what) {
  std::vector<std::int64_t> counts(labels.class_names.size(), 0);
  for (const auto row : rows) ++counts[static_cast<std::size_t>(labels.classes[static_cast<std::size_t>(row)])];
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] < least)
      fail("class {} has {} row{} {}, and {} are needed; take fewer folds, hold out a smaller share, or leave it out",
           labels.class_names[c], counts[c], counts[c] == 1 ? "" : "s", what, least);
}

/// Whether some groups can be held out and the rest divided among folds. AUC needs each class in each part.
void check_groups(const Labels& labels, std::span<const std::int32_t> groups, std::int64_t least, Metric score) {
  if (const auto count = distinct({groups.begin(), groups.end()}); count < least)
    fail("{} folds and held-out rows need at least {} groups, not {}; take fewer folds", least - 1, least, count);
  if (score != Metric::auc) return;
  std::vector<std::vector<std::int32_t>> holders(labels.class_names.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    holders[static_cast<std::size_t>(labels.classes[i])].push_back(groups[i]);
  for (std::size_t c = 0; c < holders.size(); ++c)
    if (const auto count = distinct(holders[c]); count < least)
      fail(
          "class {} has rows in {} group{}, and {} are needed to divide among splits and folds; take fewer folds, or "
          "choose by another score",
          labels.class_names[c], count, count == 1 ? "" : "s", least);
}

/// The splitter knows no names.
void check_single_rows(const Labels& labels, SplitKind kind) {
  if (kind != SplitKind::stratified_k_fold && kind != SplitKind::stratified_shuffle) return;
  for (std::size_t c = 0; c < labels.class_names.size(); ++c)
    if (std::count(labels.classes.begin(), labels.classes.end(), static_cast<std::int32_t>(c)) == 1)
      fail_usage(
          "class {} has only 1 row, which can't be both trained on and tested: leave that row out, give it another "
          "class, or take the split kfold",
          labels.class_names[c]);
}

}  // namespace

bool by_groups(SplitKind kind) {
  return kind == SplitKind::group_k_fold || kind == SplitKind::stratified_group_k_fold ||
         kind == SplitKind::group_shuffle;
}

bool can_keep_groups(SplitKind kind) { return by_groups(with_groups(kind)); }

Plan::Plan(const Labels& labels, const PlanRows& rows, const SearchOptions& options, std::uint64_t seed, int threads)
    : labels_(labels),
      row_weights_(options.row_weights),
      classes_(labels.classes),
      full_(options.full),
      by_time_(options.split == SplitKind::time),
      leave_one_out_in_folds_(options.leave_one_out_in_folds) {
  if (!full_) classes_.resize(static_cast<std::size_t>(labels.rows), 0);
  if (by_groups(*options.split) || *options.split == SplitKind::time)
    groups_ = distinct({rows.groups.begin(), rows.groups.end()});
  if (full_ && !labels.regression()) check_single_rows(labels, *options.split);
  if (full_) {
    if (options.splits)
      levels_.push_back({*options.splits, {}});
    else
      levels_.push_back({make_splits(labels.rows, classes_, rows.groups,
                                     inner_options(options, labels.regression(), rows.always, seed), rows.times),
                         {}});
  }
  if (options.outer > 0) add_outer(rows, options, seed);
  class_counts_.resize(static_cast<std::size_t>(all_splits()) * labels.class_names.size());
  parallel_for(threads, all_splits(),
               [&](std::int64_t split) { check(static_cast<std::int32_t>(split), *options.score); });
}

void Plan::add_outer(const PlanRows& rows, const SearchOptions& options, std::uint64_t seed) {
  if (options.splits) fail_usage("nested validation makes its own splits; give folds or outer folds, not both");
  if (full_ && options.outer == 1) fail_usage("nested validation takes 2 outer folds or more, not 1");
  std::vector<std::int32_t> all(static_cast<std::size_t>(labels_.rows));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  const std::int64_t least = std::int64_t{options.folds} + 1;
  if (!full_ && by_groups(*options.split))
    check_groups(labels_, rows.groups, least, *options.score);
  else if (!full_ && !labels_.regression())
    check_sizes(labels_, all, least, "to divide among splits and folds");
  auto split = common_options(options, *options.outer_split, rows.always, full_ ? Random(seed, 1).bits() : seed);
  split.count = options.outer;
  split.test_fraction = options.outer_fraction;
  outer_.push_back(make_splits(labels_.rows, classes_, rows.groups, split, rows.times));
  for (std::int32_t k = 0; k < outer_folds(); ++k) add_level(k, rows, options, seed);
}

void Plan::add_level(std::int32_t outer, const PlanRows& known, const SearchOptions& options, std::uint64_t seed) {
  const auto weights = outer_.front().weights(outer, 1);
  std::vector<std::int32_t> rows;
  for (std::int32_t i = 0; i < labels_.rows; ++i)
    if (weights.train(i, outer) > 0) rows.push_back(i);
  const auto together = taken(known.groups, rows);
  if (!full_ && by_groups(*options.split)) {
    if (const auto count = distinct(together); count < options.folds)
      fail("resample {} keeps {} group{} to divide among {} folds; take fewer folds or hold out a smaller share",
           outer + 1, count, count == 1 ? "" : "s", options.folds);
  } else if (!full_ && !labels_.regression()) {
    check_sizes(labels_, rows, options.folds, fmt::format("in resample {} to divide among folds", outer + 1));
  }
  const auto stream = static_cast<std::uint64_t>(outer) + (full_ ? 2 : 1);
  auto splits = make_splits(static_cast<std::int64_t>(rows.size()), taken(classes_, rows), together,
                            inner_options(options, labels_.regression(), known.always, Random(seed, stream).bits()),
                            taken(known.times, rows));
  if (!levels_.empty() && splits.count() != this->splits())
    fail_usage("nested validation needs as many splits in every outer fold; '{}' makes {} in one and {} in another",
               to_string(*options.split), this->splits(), splits.count());
  levels_.push_back({std::move(splits), std::move(rows)});
}

std::string Plan::name(std::int32_t split) const {
  const char* outer = full_ ? "outer fold" : "resample";
  if (split >= outer_split(0)) return fmt::format("{} {}", outer, split - outer_split(0) + 1);
  const auto level = split / splits();
  const auto inner = split % splits() + 1;
  if (level < levels() - outer_folds()) return fmt::format("split {}", inner);
  return fmt::format("split {} of {} {}", inner, outer, level - (levels() - outer_folds()) + 1);
}

Plan::Place Plan::place(std::int32_t split) const {
  static const std::vector<std::int32_t> all;
  if (split >= outer_split(0)) return {&outer_.front(), split - outer_split(0), &all};
  const auto& level = levels_[static_cast<std::size_t>(split / splits())];
  return {&level.splits, split % splits(), &level.rows};
}

std::vector<std::int32_t> Plan::test_rows(std::int32_t split) const {
  const auto at = place(split);
  auto rows = at.from->test_rows(at.split);
  for (auto& row : rows)
    if (!at.rows->empty()) row = (*at.rows)[static_cast<std::size_t>(row)];
  return rows;
}

/// How often each row is drawn, split-minor; neighbours within one level are made together.
std::vector<float> Plan::weights(std::span<const std::int32_t> splits, int threads) const {
  const auto columns = static_cast<std::int64_t>(splits.size());
  std::vector<float> table(static_cast<std::size_t>(labels_.rows * columns), leave_one_out_in_folds_ ? 1.0F : 0.0F);
  if (leave_one_out_in_folds_) return table;
  for (std::int64_t first = 0; first < columns;) {
    const auto at = place(splits[static_cast<std::size_t>(first)]);
    std::int64_t width = 1;
    while (first + width < columns) {
      const auto next = place(splits[static_cast<std::size_t>(first + width)]);
      if (next.from != at.from || next.split != at.split + width) break;
      ++width;
    }
    const auto some = at.from->weights(at.split, static_cast<std::int32_t>(width), threads);
    parallel_ranges(threads, at.from->rows(), 4096, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t row = at.rows->empty() ? i : (*at.rows)[static_cast<std::size_t>(i)];
        for (std::int64_t s = 0; s < width; ++s)
          table[static_cast<std::size_t>(row * columns + first + s)] = some.weights[i * width + s];
      }
    });
    first += width;
  }
  return table;
}

SplitTable Plan::table(std::vector<std::int32_t> splits, int threads) const {
  SplitTable result;
  const auto columns = splits.size();
  result.weights = weights(splits, threads);
  for (std::size_t k = 0; k < result.weights.size() && !row_weights_.empty(); ++k)
    result.weights[k] *= row_weights_[k / columns];
  const auto classes = labels_.class_names.size();
  for (const auto split : splits) {
    const auto* counts = class_counts_.data() + static_cast<std::size_t>(split) * classes;
    result.class_counts.insert(result.class_counts.end(), counts, counts + classes);
  }
  std::vector<std::vector<std::int32_t>> lists(columns);
  parallel_for(threads, static_cast<std::int64_t>(columns), [&](std::int64_t k) {
    lists[static_cast<std::size_t>(k)] = test_rows(splits[static_cast<std::size_t>(k)]);
  });
  for (const auto& list : lists) {
    result.tests.rows.insert(result.tests.rows.end(), list.begin(), list.end());
    result.tests.begins.push_back(std::ssize(result.tests.rows));
  }
  result.splits = std::move(splits);
  result.leave_one_out_in_folds = leave_one_out_in_folds_;
  return result;
}

std::string Plan::remedy(std::int32_t split) const {
  if (by_time_) return "take fewer splits by time (folds), a longer window or a smaller gap";
  if (!full_) return split >= outer_split(0) ? "hold out a larger share" : "take fewer folds";
  return "spread the classes evenly (split stratified) or take fewer folds";
}

void Plan::check(std::int32_t split, Metric score) {
  const auto tested = test_rows(split);
  if (labels_.regression()) {
    if (score == Metric::r2 && tested.size() < 2)
      fail("{} tests a single row, so that R2 is not defined; take fewer folds, or score by rmse", name(split));
    return;
  }
  const auto classes = labels_.class_names.size();
  const auto trained = count_classes(labels_, weights(std::span(&split, 1), 1));
  std::copy(trained.begin(), trained.end(),
            class_counts_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(split) * classes));
  std::vector<std::int64_t> tests(classes, 0);
  for (const auto row : tested) ++tests[static_cast<std::size_t>(labels_.classes[static_cast<std::size_t>(row)])];
  for (std::size_t c = 0; c < classes; ++c) {
    if (trained[c] == 0)
      fail("{} trains on no row of class {}; {}", name(split), labels_.class_names[c], remedy(split));
    if (score == Metric::auc && tests[c] == 0)
      fail("{} tests no row of class {}, so that its AUC is not defined; {}, or choose by another score", name(split),
           labels_.class_names[c], remedy(split));
  }
}

}  // namespace sheaf::engine
