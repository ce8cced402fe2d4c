#include "search/study_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <sheaf/random.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/class_names.hpp"

namespace sheaf::search {
namespace {

/// Amounts are split as rows of one class.
std::vector<std::int32_t> classes_of(const linear::Problem& problem) {
  auto classes = problem.classes;
  classes.resize(static_cast<std::size_t>(problem.sheaf.examples), 0);
  return classes;
}

SplitOptions split_options(SplitKind kind, std::int32_t count, double test_fraction, std::uint64_t seed) {
  SplitOptions options;
  options.kind = kind;
  options.count = count;
  options.test_fraction = test_fraction;
  options.seed = seed;
  return options;
}

/// Rows of each class among `classes`; fewer than `least` of one are an Error that says what they are too few for.
void check_sizes(const linear::Problem& problem, std::span<const std::int32_t> classes, std::int64_t least,
                 std::string_view what) {
  std::vector<std::int64_t> counts(problem.class_names.size(), 0);
  if (counts.empty()) return;
  for (const auto c : classes) ++counts[static_cast<std::size_t>(c)];
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] < least)
      fail("class {} has {} row{} {}, and {} are needed; take fewer folds, a smaller --test-fraction, or leave it out",
           problem.class_names[c], counts[c], counts[c] == 1 ? "" : "s", what, least);
}

std::int64_t distinct(std::vector<std::int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::unique(numbers.begin(), numbers.end()) - numbers.begin();
}

/// Whether some rows can be left out, and the rest divided among folds, with whole groups. AUC needs each class in
/// each.
void check_groups(const linear::Problem& problem, std::span<const std::int32_t> groups, const StudyOptions& options) {
  const std::int64_t least = std::int64_t{options.folds} + 1;
  if (const auto count = distinct({groups.begin(), groups.end()}); count < least)
    fail("{} folds and rows left out need at least {} groups, not {}; take fewer folds", options.folds, least, count);
  if (*options.score != Metric::auc) return;
  std::vector<std::vector<std::int32_t>> holders(problem.class_names.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    holders[static_cast<std::size_t>(problem.classes[i])].push_back(groups[i]);
  for (std::size_t c = 0; c < holders.size(); ++c)
    if (const auto count = distinct(holders[c]); count < least)
      fail(
          "class {} has rows in {} group{}, and {} are needed to divide among splits and folds; take fewer folds, or "
          "choose by another --score",
          problem.class_names[c], count, count == 1 ? "" : "s", least);
}

/// Those that are not weighed by name.
std::vector<std::uint8_t> balanced_classes(const linear::Problem& problem, const NetOptions& net) {
  if (!net.balanced) return {};
  std::vector<std::uint8_t> balanced(problem.class_names.size(), 1);
  for (const auto& [name, unused] : net.class_weights) balanced[find_class(problem.class_names, name)] = 0;
  return balanced;
}

}  // namespace

StudyPlan::StudyPlan(const linear::Problem& problem, std::span<const std::int32_t> groups, const StudyOptions& options,
                     std::uint64_t seed, int threads)
    : rows_(problem.sheaf.examples),
      parts_(options.folds + 1),
      classes_(classes_of(problem)),
      balanced_(balanced_classes(problem, options.net)) {
  const bool grouped = options.split == LeaveOut::group;
  if (grouped) {
    check_groups(problem, groups, options);
    groups_ = distinct({groups.begin(), groups.end()});
  } else {
    check_sizes(problem, classes_, std::int64_t{options.folds} + 1, "to divide among splits and folds");
  }
  const auto kind = grouped ? SplitKind::group_shuffle : SplitKind::stratified_shuffle;
  outer_ = make_splits(rows_, classes_, groups, split_options(kind, options.splits, options.test_fraction, seed));
  for (std::int32_t s = 0; s < splits(); ++s) divide(problem, groups, options.folds, s, seed);
  parallel_for(threads, std::int64_t{splits()} * parts_, [&](std::int64_t k) {
    check(problem, *options.score, static_cast<std::int32_t>(k / parts_), static_cast<std::int32_t>(k % parts_));
  });
}

/// The rows that a split does not leave out, among its folds.
void StudyPlan::divide(const linear::Problem& problem, std::span<const std::int32_t> groups, std::int32_t folds,
                       std::int32_t split, std::uint64_t seed) {
  const auto weights = outer_.weights(split, 1);
  auto& rows = trained_.emplace_back();
  std::vector<std::int32_t> classes, together;
  for (std::int32_t i = 0; i < rows_; ++i) {
    if (weights.test(i, split)) continue;
    rows.push_back(i);
    classes.push_back(classes_[static_cast<std::size_t>(i)]);
    if (groups_ > 0) together.push_back(groups[static_cast<std::size_t>(i)]);
  }
  if (groups_ == 0)
    check_sizes(problem, classes, folds, fmt::format("in split {} to divide among folds", split + 1));
  else if (const auto count = distinct(together); count < folds)
    fail("split {} keeps {} group{} to divide among {} folds; take fewer folds or a smaller --test-fraction", split + 1,
         count, count == 1 ? "" : "s", folds);
  const auto kind = groups_ > 0 ? SplitKind::stratified_group_k_fold : SplitKind::stratified_k_fold;
  const auto seed_here = Random(seed, static_cast<std::uint64_t>(split) + 1).bits();
  folds_.push_back(make_splits(static_cast<std::int64_t>(rows.size()), classes, together,
                               split_options(kind, folds, 0.5, seed_here)));
}

std::string StudyPlan::name(std::int32_t split, std::int32_t part) const {
  return part == folds() ? fmt::format("split {}", split + 1) : fmt::format("fold {} of split {}", part + 1, split + 1);
}

/// Ascending.
std::vector<std::int32_t> StudyPlan::left_out(std::int32_t split, std::int32_t part) const {
  if (part == folds()) return outer_.test_rows(split);
  auto rows = folds_[static_cast<std::size_t>(split)].test_rows(part);
  for (auto& row : rows) row = trained_[static_cast<std::size_t>(split)][static_cast<std::size_t>(row)];
  return rows;
}

void StudyPlan::check(const linear::Problem& problem, Metric score, std::int32_t split, std::int32_t part) const {
  const auto tested = left_out(split, part);
  if (problem.classes.empty()) {
    const auto& y = problem.sheaf.targets;
    const auto differs = [&](std::int32_t i) {
      return y[static_cast<std::size_t>(i)] != y[static_cast<std::size_t>(tested.front())];
    };
    if (score == Metric::r2 && std::none_of(tested.begin(), tested.end(), differs))
      fail(
          "{} leaves out rows of one and the same amount, so that R2 is not defined; take fewer folds, or --score rmse",
          name(split, part));
    return;
  }
  std::vector<std::int64_t> trains(problem.class_names.size(), 0), tests(problem.class_names.size(), 0);
  for (const auto row : trained_[static_cast<std::size_t>(split)])
    ++trains[static_cast<std::size_t>(problem.classes[static_cast<std::size_t>(row)])];
  for (const auto row : tested) {
    const auto c = static_cast<std::size_t>(problem.classes[static_cast<std::size_t>(row)]);
    ++tests[c];
    if (part < folds()) --trains[c];
  }
  for (std::size_t c = 0; c < trains.size(); ++c) {
    if (trains[c] == 0)
      fail("{} trains on no row of class {}; take fewer folds or a smaller --test-fraction", name(split, part),
           problem.class_names[c]);
    if (score == Metric::auc && tests[c] == 0)
      fail("{} leaves out no row of class {}, so that its AUC is not defined; take {}, or choose by another --score",
           name(split, part), problem.class_names[c], part == folds() ? "a larger --test-fraction" : "fewer folds");
  }
}

/// The weights of each column, 1 for the rows it trains on and else 0, times rows / (classes * rows of the class).
void StudyPlan::balance(std::span<float> table, std::size_t columns) const {
  const auto classes = balanced_.size();
  if (classes == 0) return;
  std::vector<double> counts(classes * columns, 0.0), rows(columns, 0.0);
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (table[k] == 0) continue;
    counts[static_cast<std::size_t>(classes_[k / columns]) * columns + k % columns] += 1;
    rows[k % columns] += 1;
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    const auto c = static_cast<std::size_t>(classes_[k / columns]);
    if (table[k] == 0 || balanced_[c] == 0) continue;
    const auto column = k % columns;
    table[k] = static_cast<float>(rows[column] / (static_cast<double>(classes) * counts[c * columns + column]));
  }
}

std::vector<float> StudyPlan::weights(std::span<const float> base) const {
  if (balanced_.empty()) return {base.begin(), base.end()};
  std::vector<float> column(static_cast<std::size_t>(rows_), 1.0F);
  balance(column, 1);
  for (std::size_t i = 0; i < base.size(); ++i) column[i] *= base[i];
  return column;
}

std::vector<float> StudyPlan::weights(std::int32_t first, std::int32_t count, std::span<const float> base) const {
  const auto parts = static_cast<std::size_t>(parts_);
  const auto splits = static_cast<std::size_t>(count);
  const auto columns = splits * parts;
  std::vector<float> table(static_cast<std::size_t>(rows_) * columns, 0.0F);
  for (std::size_t s = 0; s < splits; ++s) {
    const auto& rows = trained_[static_cast<std::size_t>(first) + s];
    const auto& folds = folds_[static_cast<std::size_t>(first) + s];
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = static_cast<std::size_t>(rows[k]);
      const auto mine = std::span(table).subspan(row * columns + s * parts, parts);
      std::fill(mine.begin(), mine.end(), 1.0F);
      mine[static_cast<std::size_t>(folds.tester(static_cast<std::int64_t>(k)))] = 0;
    }
  }
  balance(table, columns);
  for (std::size_t k = 0; k < table.size() && !base.empty(); ++k) table[k] *= base[k / columns];
  return table;
}

score::TestRows StudyPlan::tests(std::int32_t first, std::int32_t count) const {
  score::TestRows tests;
  for (std::int32_t s = first; s < first + count; ++s)
    for (std::int32_t p = 0; p < parts_; ++p) {
      const auto rows = left_out(s, p);
      tests.rows.insert(tests.rows.end(), rows.begin(), rows.end());
      tests.begins.push_back(std::ssize(tests.rows));
    }
  return tests;
}

StudyStrategy::StudyStrategy(const StudyOptions& options, std::int32_t alphas, std::uint64_t seed)
    : strategy_(options.strategy),
      l1_ratios_(static_cast<std::int32_t>(options.l1_ratios.size())),
      alphas_(alphas),
      trials_(options.trials > 0 ? options.trials : std::max(10, l1_ratios_ * alphas / 3)),
      seed_(seed) {}

std::vector<std::int32_t> StudyStrategy::all() const {
  std::vector<std::int32_t> pairs(static_cast<std::size_t>(l1_ratios_) * static_cast<std::size_t>(alphas_));
  std::iota(pairs.begin(), pairs.end(), 0);
  return pairs;
}

/// The same for all splits.
std::vector<std::int32_t> StudyStrategy::drawn() const {
  auto pairs = all();
  Random(seed_).shuffle(std::span(pairs));
  pairs.resize(std::min(pairs.size(), static_cast<std::size_t>(trials_)));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Pairs up to so many positions away, or, where not `between`, just so many or none.
std::vector<std::int32_t> StudyStrategy::around(std::int32_t pair, std::int32_t l1_reach, std::int32_t alpha_reach,
                                                bool between) const {
  std::vector<std::int32_t> pairs;
  const std::int32_t l1 = pair / alphas_;
  const std::int32_t alpha = pair % alphas_;
  for (std::int32_t l = std::max(0, l1 - l1_reach); l <= std::min(l1_ratios_ - 1, l1 + l1_reach); ++l)
    for (std::int32_t a = std::max(0, alpha - alpha_reach); a <= std::min(alphas_ - 1, alpha + alpha_reach); ++a) {
      const bool corner = std::abs(l - l1) % l1_reach == 0 && std::abs(a - alpha) % alpha_reach == 0;
      if (between || corner) pairs.push_back(l * alphas_ + a);
    }
  return pairs;
}

/// At the largest step that leaves something to try around the best pair so far.
std::vector<std::int32_t> StudyStrategy::descend(std::span<const double> scores) const {
  std::int32_t best = -1;
  for (std::int32_t k = 0; k < std::ssize(scores); ++k) {
    const double score = scores[static_cast<std::size_t>(k)];
    if (!std::isnan(score) && (best < 0 || score > scores[static_cast<std::size_t>(best)])) best = k;
  }
  if (best < 0) return {l1_ratios_ / 2 * alphas_ + alphas_ / 2};
  for (std::int32_t parts = 4; parts <= 4 * std::max(l1_ratios_, alphas_); parts *= 2) {
    auto pairs = around(best, std::max(1, l1_ratios_ / parts), std::max(1, alphas_ / parts), false);
    std::erase_if(pairs, [&](std::int32_t k) { return !std::isnan(scores[static_cast<std::size_t>(k)]); });
    if (!pairs.empty()) return pairs;
  }
  return {};
}

std::vector<std::int32_t> StudyStrategy::next(std::span<const double> scores) const {
  const auto tried = std::count_if(scores.begin(), scores.end(), [](double score) { return !std::isnan(score); });
  if (strategy_ == Strategy::descent) return descend(scores);
  if (tried == 0) return strategy_ == Strategy::grid ? all() : drawn();
  const auto first = static_cast<std::ptrdiff_t>(drawn().size());
  if (strategy_ != Strategy::refined || tried > first) return {};
  std::int32_t best = -1;
  for (const auto k : drawn())
    if (best < 0 || scores[static_cast<std::size_t>(k)] > scores[static_cast<std::size_t>(best)]) best = k;
  auto pairs = around(best, std::max(1, l1_ratios_ / 8), std::max(1, alphas_ / 8), true);
  std::erase_if(pairs, [&](std::int32_t k) { return !std::isnan(scores[static_cast<std::size_t>(k)]); });
  return pairs;
}

}  // namespace sheaf::search
