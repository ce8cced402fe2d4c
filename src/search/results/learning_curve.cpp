#include "search/results/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <sheaf/solvers/profile.hpp>

#include "core/random.hpp"
#include "search/plan/inner_progress.hpp"

namespace sheaf::engine {
namespace {

constexpr std::uint64_t first_stream = 1U << 21U;  // of random numbers; those before are of splits and shuffles

const std::vector<double>& shares() {
  static const std::vector<double> list{0.1, 0.2, 0.4, 0.7, 1};
  return list;
}

/// Sorted by keys; of equal ones those that came first.
void sort_by(const std::vector<double>& keys, std::vector<std::int32_t>& rows) {
  std::vector<std::size_t> order(rows.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  std::vector<std::int32_t> sorted;
  for (const auto k : order) sorted.push_back(rows[k]);
  rows = std::move(sorted);
}

/// In random order, such that the first rows have the classes in their proportions.
void mix_classes(const Labels& labels, Random& random, std::vector<std::int32_t>& rows) {
  random.shuffle(std::span(rows));
  if (labels.regression()) return;
  std::vector<double> seen(labels.class_names.size(), 0), all(labels.class_names.size(), 0), keys;
  for (const auto row : rows) ++all[static_cast<std::size_t>(labels.classes[static_cast<std::size_t>(row)])];
  for (const auto row : rows) {
    const auto c = static_cast<std::size_t>(labels.classes[static_cast<std::size_t>(row)]);
    keys.push_back(seen[c]++ / all[c]);
  }
  sort_by(keys, rows);
}

/// Whole groups in random order.
void mix_groups(std::span<const std::int32_t> groups, Random& random, std::vector<std::int32_t>& rows) {
  std::map<std::int32_t, double> places;
  for (const auto row : rows) places[groups[static_cast<std::size_t>(row)]] = 0;
  for (auto& [group, place] : places) place = random.uniform();
  std::vector<double> keys;
  for (const auto row : rows) keys.push_back(places[groups[static_cast<std::size_t>(row)]]);
  sort_by(keys, rows);
}

/// How many of the rows make a share: whole groups, at least one row of each class, and at least `least`.
std::size_t count_of(double share, const Labels& labels, std::span<const std::int32_t> groups,
                     std::span<const std::int32_t> rows, std::int64_t least) {
  const auto wanted = std::max<std::int64_t>(std::llround(share * static_cast<double>(rows.size())), least);
  std::vector<bool> seen(labels.class_names.size(), false);
  std::size_t classes = 0;
  std::size_t count = 0;
  const auto ends_group = [&] {
    if (groups.empty() || count == 0 || count == rows.size()) return true;
    return groups[static_cast<std::size_t>(rows[count - 1])] != groups[static_cast<std::size_t>(rows[count])];
  };
  while (count < rows.size() && (static_cast<std::int64_t>(count) < wanted || classes < seen.size() || !ends_group())) {
    if (!seen.empty()) {
      const auto c = static_cast<std::size_t>(labels.classes[static_cast<std::size_t>(rows[count])]);
      classes += seen[c] ? 0 : 1;
      seen[c] = true;
    }
    ++count;
  }
  return count;
}

/// Training and test rows of one model.
struct Column {
  std::vector<float> weights;  // of all rows
  std::vector<std::int32_t> tests;
  std::size_t place = 0;  // of its scores
  bool training = false;  // scored on the rows it was trained on
};

/// The columns of all shares of a split.
std::vector<Column> columns_of(const Context& context, const FamilySearch& family, const Plan& plan,
                               std::span<const std::int32_t> groups, std::int32_t split, LearningCurve& curve) {
  const auto& labels = family.labels();
  const auto number = plan.inner_split(0, split);
  const auto table = plan.table({number}, context.threads());
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < table.weights.size(); ++i)
    if (table.weights[i] > 0) rows.push_back(static_cast<std::int32_t>(i));
  Random random(context.seed(), first_stream + static_cast<std::uint64_t>(split));
  if (groups.empty())
    mix_classes(labels, random, rows);
  else
    mix_groups(groups, random, rows);
  std::vector<Column> columns;
  for (std::size_t k = 0; k < shares().size(); ++k) {
    const auto count = count_of(shares()[k], labels, groups, rows, std::max<std::int64_t>(family.least_rows(), 2));
    Column column;
    column.place = k * static_cast<std::size_t>(plan.splits()) + static_cast<std::size_t>(split);
    column.weights.assign(table.weights.size(), 0.0F);
    column.tests.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
    for (const auto row : column.tests)
      column.weights[static_cast<std::size_t>(row)] = table.weights[static_cast<std::size_t>(row)];
    std::sort(column.tests.begin(), column.tests.end());
    column.training = true;
    curve.rows[column.place] = static_cast<std::int64_t>(count);
    columns.push_back(column);
    column.tests = plan.test_rows(number);
    column.training = false;
    columns.push_back(std::move(column));
  }
  return columns;
}

SplitTable table_of(const Labels& labels, std::span<const Column> columns, std::span<const float> row_weights) {
  SplitTable table;
  for (std::size_t k = 0; k < columns.size(); ++k) table.splits.push_back(static_cast<std::int32_t>(k));
  table.weights.resize(static_cast<std::size_t>(labels.rows) * columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (std::size_t i = 0; i < columns[k].weights.size(); ++i)
      table.weights[i * columns.size() + k] = columns[k].weights[i];
    table.tests.rows.insert(table.tests.rows.end(), columns[k].tests.begin(), columns[k].tests.end());
    table.tests.begins.push_back(std::ssize(table.tests.rows));
  }
  const auto draws = table.draws(row_weights);
  for (std::size_t k = 0; k < columns.size() && !labels.regression(); ++k) {
    std::vector<float> own;
    for (auto i = k; i < draws.size(); i += columns.size()) own.push_back(draws[i]);
    const auto counts = count_classes(labels, own);
    table.class_counts.insert(table.class_counts.end(), counts.begin(), counts.end());
  }
  return table;
}

}  // namespace

LearningCurve learning_curve(const Context& context, const FamilySearch& all, const Plan& plan,
                             std::span<const std::int32_t> groups, const SearchResult& result) {
  const auto [model, point] = all.own_point(result.chosen());
  const auto& family = *all.models()[static_cast<std::size_t>(model)];
  LearningCurve curve;
  curve.shares = shares();
  const auto models = shares().size() * static_cast<std::size_t>(plan.splits());
  curve.rows.resize(models);
  curve.training.resize(models);
  curve.held_out.resize(models);
  const Stage stage(context.progress(), "learning curve", 2 * static_cast<std::int64_t>(models) * family.tasks());
  InnerProgress inner(context.progress());
  const auto training = context.with({.progress = &inner});
  const auto limits = family.limits(context, plan.split_counts());
  const auto together = static_cast<std::size_t>(
      std::max(1, std::min(limits.tasks / std::max(family.tasks(), 1), std::max(limits.splits, 1))));
  const auto trainer = family.trainer(training);
  std::vector<Column> waiting;
  const auto train = [&](std::size_t count) {
    context.check_stop();
    const auto some = std::span(waiting).first(count);
    const auto table = table_of(family.labels(), some, result.options.row_weights);
    trainer->load(table);
    std::vector<Job> jobs;
    for (std::size_t k = 0; k < count; ++k) jobs.push_back({&point, static_cast<std::int32_t>(k)});
    auto scores = trainer->train(jobs, false);
    for (std::size_t k = 0; k < count; ++k) {
      scores[k].drop_curves();
      (some[k].training ? curve.training : curve.held_out)[some[k].place] = std::move(scores[k]);
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (std::int32_t split = 0; split < plan.splits(); ++split) {
    for (auto& column : columns_of(context, family, plan, groups, split, curve)) waiting.push_back(std::move(column));
    while (waiting.size() >= together) train(together);
  }
  if (!waiting.empty()) train(waiting.size());
  return curve;
}

}  // namespace sheaf::engine
