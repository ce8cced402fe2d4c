#include "search/plan.hpp"

#include <algorithm>
#include <limits>

#include <sheaf/random.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf::search {
namespace {

using linear::Problem;

std::vector<std::int32_t> chosen(std::span<const std::int32_t> values, std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> result;
  for (const auto row : rows)
    if (!values.empty()) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

SplitOptions split_options(const SearchOptions& options, std::uint64_t seed, std::uint64_t level) {
  SplitOptions split;
  split.kind = *options.split;
  split.count = options.folds;
  split.test_fraction = options.test_fraction;
  split.seed = level == 0 ? seed : Random(seed, level).bits();
  return split;
}

/// Outer folds keep groups together and spread classes where the inner splits do.
SplitKind outer_kind(SplitKind inner, bool classes) {
  if (inner == SplitKind::group_k_fold || inner == SplitKind::stratified_group_k_fold) return inner;
  if (inner == SplitKind::group_shuffle) return classes ? SplitKind::stratified_group_k_fold : SplitKind::group_k_fold;
  const bool stratified = inner == SplitKind::stratified_k_fold || inner == SplitKind::stratified_shuffle;
  return stratified || classes ? SplitKind::stratified_k_fold : SplitKind::k_fold;
}

std::vector<std::int32_t> without(std::int64_t rows, std::span<const std::int32_t> left_out) {
  std::vector<std::int32_t> result;
  std::size_t k = 0;
  for (std::int32_t i = 0; i < rows; ++i)
    if (k < left_out.size() && left_out[k] == i)
      ++k;
    else
      result.push_back(i);
  return result;
}

}  // namespace

Plan::Plan(const Problem& problem, std::span<const std::int32_t> groups, const SearchOptions& options,
           std::uint64_t seed)
    : rows_(problem.sheaf.examples) {
  levels_.push_back({make_splits(rows_, problem.classes, groups, split_options(options, seed, 0)), {}});
  if (options.outer == 0) return;
  if (options.outer == 1) fail_usage("nested validation takes 2 outer folds or more, not 1");
  auto split = split_options(options, seed, 1);
  split.kind = outer_kind(split.kind, !problem.classes.empty());
  split.count = options.outer;
  outer_.push_back(make_splits(rows_, problem.classes, groups, split));
  for (std::int32_t k = 0; k < options.outer; ++k) {
    auto rows = without(rows_, outer_.front().test_rows(k));
    auto splits = make_splits(static_cast<std::int64_t>(rows.size()), chosen(problem.classes, rows),
                              chosen(groups, rows), split_options(options, seed, static_cast<std::uint64_t>(k) + 2));
    if (splits.count() != this->splits())
      fail_usage("nested validation needs as many splits in every outer fold; '{}' makes {} in one and {} in another",
                 to_string(*options.split), this->splits(), splits.count());
    levels_.push_back({std::move(splits), std::move(rows)});
  }
}

std::string Plan::name(std::int32_t split) const {
  if (split >= inner_splits()) return fmt::format("outer fold {}", split - inner_splits() + 1);
  const auto inner = split % splits() + 1;
  if (split < splits()) return fmt::format("split {}", inner);
  return fmt::format("split {} of outer fold {}", inner, split / splits());
}

std::vector<float> Plan::weights(std::int32_t first, std::int32_t count, int threads) const {
  std::vector<float> table(static_cast<std::size_t>(rows_ * count), 0.0F);
  for (std::int32_t at = first; at < first + count;) {
    const bool outer = at >= inner_splits();
    const auto level = outer ? 0 : at / splits();
    const auto begin = outer ? at - inner_splits() : at % splits();
    const auto& from = outer ? outer_.front() : levels_[static_cast<std::size_t>(level)].splits;
    const auto width = std::min(first + count - at, from.count() - begin);
    const auto some = from.weights(begin, width, threads);
    const auto& rows = levels_[static_cast<std::size_t>(level)].rows;
    parallel_ranges(threads, from.rows(), 4096, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t row = rows.empty() ? i : rows[static_cast<std::size_t>(i)];
        for (std::int32_t s = 0; s < width; ++s)
          table[static_cast<std::size_t>(row * count + at - first + s)] = some.weights[i * width + s];
      }
    });
    at += width;
  }
  return table;
}

std::vector<std::int32_t> Plan::test_rows(std::int32_t split) const {
  if (split >= inner_splits()) return outer_.front().test_rows(split - inner_splits());
  const auto& level = levels_[static_cast<std::size_t>(split / splits())];
  auto rows = level.splits.test_rows(split % splits());
  for (auto& row : rows)
    if (!level.rows.empty()) row = level.rows[static_cast<std::size_t>(row)];
  return rows;
}

score::TestRows Plan::tests(std::int32_t first, std::int32_t count, int threads) const {
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(count));
  parallel_for(threads, count, [&](std::int64_t k) {
    lists[static_cast<std::size_t>(k)] = test_rows(first + static_cast<std::int32_t>(k));
  });
  score::TestRows tests;
  for (const auto& list : lists) tests.begins.push_back(tests.begins.back() + std::ssize(list));
  tests.rows.resize(static_cast<std::size_t>(tests.begins.back()));
  parallel_for(threads, count, [&](std::int64_t k) {
    const auto& list = lists[static_cast<std::size_t>(k)];
    std::copy(list.begin(), list.end(), tests.rows.begin() + tests.begin(static_cast<std::int32_t>(k)));
  });
  return tests;
}

std::vector<Batch> plan_batches(std::int32_t splits, std::int32_t costs, std::int32_t columns, std::int32_t tasks,
                                std::int32_t most_splits) {
  const auto models = std::max(1, tasks / columns);
  const auto wide = std::clamp(models, 1, std::min(splits, most_splits));
  const auto deep = std::clamp(models / wide, 1, costs);
  const auto groups = (splits + wide - 1) / wide;
  const auto steps = (costs + deep - 1) / deep;
  std::vector<Batch> batches;
  for (std::int32_t g = 0; g < groups; ++g)
    for (std::int32_t k = 0; k < steps; ++k) {
      const auto over = part_of(splits, groups, g);
      const auto with = part_of(costs, steps, k);
      batches.push_back({static_cast<std::int32_t>(over.begin), static_cast<std::int32_t>(over.end - over.begin),
                         static_cast<std::int32_t>(with.begin), static_cast<std::int32_t>(with.end - with.begin)});
    }
  return batches;
}

namespace {

/// The counts of one split, into their place.
void count_classes(const Plan& plan, const Problem& problem, std::int32_t split, ClassCounts& counts) {
  const auto classes = problem.class_names.size();
  const auto at = static_cast<std::size_t>(split) * classes;
  const auto weights = plan.weights(split, 1, 1);
  for (std::size_t i = 0; i < weights.size(); ++i)
    counts.train[at + static_cast<std::size_t>(problem.classes[i])] += static_cast<double>(weights[i]);
  for (const auto row : plan.test_rows(split))
    counts.test[at + static_cast<std::size_t>(problem.classes[static_cast<std::size_t>(row)])] += 1;
}

void check_classes(const Plan& plan, const Problem& problem, const ClassCounts& counts, Metric score,
                   std::int32_t split) {
  const auto classes = problem.class_names.size();
  for (std::size_t c = 0; c < classes; ++c) {
    const auto at = static_cast<std::size_t>(split) * classes + c;
    if (counts.train[at] == 0)
      fail("{} trains on no row of class {}; spread the classes evenly (--split stratified) or take fewer folds",
           plan.name(split), problem.class_names[c]);
    if (score == Metric::auc && counts.test[at] == 0)
      fail(
          "{} tests no row of class {}, so that its AUC is not defined; spread the classes evenly (--split "
          "stratified), or choose by another score",
          plan.name(split), problem.class_names[c]);
  }
}

void check_amounts(const Plan& plan, std::span<const double> amounts, std::int32_t split) {
  const auto rows = plan.test_rows(split);
  const auto value = [&](std::int32_t row) { return amounts[static_cast<std::size_t>(row)]; };
  if (std::any_of(rows.begin(), rows.end(), [&](std::int32_t row) { return value(row) != value(rows.front()); }))
    return;
  fail("{} tests rows of one and the same amount, so that R2 is not defined; take fewer folds, or --score rmse",
       plan.name(split));
}

}  // namespace

ClassCounts check_splits(const Plan& plan, const Problem& problem, std::span<const double> amounts, Metric score,
                         int threads) {
  const auto size = static_cast<std::size_t>(plan.all_splits()) * problem.class_names.size();
  ClassCounts counts{std::vector<double>(size), std::vector<double>(size)};
  parallel_for(threads, plan.all_splits(), [&](std::int64_t k) {
    const auto split = static_cast<std::int32_t>(k);
    if (!problem.class_names.empty()) {
      count_classes(plan, problem, split, counts);
      check_classes(plan, problem, counts, score, split);
    } else if (score == Metric::r2) {
      check_amounts(plan, amounts, split);
    }
  });
  return counts;
}

}  // namespace sheaf::search
