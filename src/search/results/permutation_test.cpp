#include "search/results/permutation_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/random.hpp"

namespace sheaf::engine {
namespace {

constexpr std::uint64_t shuffle_stream = 1U
                                         << 22U;  // of random numbers; those before are of splits, curves and shuffles

template <class Value>
void reorder(const std::vector<std::int32_t>& from, std::vector<Value>& values) {
  if (values.empty()) return;
  std::vector<Value> moved;
  moved.reserve(values.size());
  for (const auto row : from) moved.push_back(values[static_cast<std::size_t>(row)]);
  values = std::move(moved);
}

Target reordered(Target target, const std::vector<std::int32_t>& from) {
  reorder(from, target.values);
  reorder(from, target.classes);
  reorder(from, target.events);
  reorder(from, target.entries);
  reorder(from, target.strata);
  for (auto& column : target.further) reorder(from, column.values);
  return target;
}

bool same_label(const Target& target, std::int32_t a, std::int32_t b) {
  const auto i = static_cast<std::size_t>(a);
  const auto j = static_cast<std::size_t>(b);
  if (!target.values.empty() && target.values[i] != target.values[j]) return false;
  return target.classes.empty() || target.classes[i] == target.classes[j];
}

/// The row whose label each row gets.
std::vector<std::int32_t> draw_order(const Target& target, std::span<const std::int32_t> groups, std::int64_t rows,
                                     Random& random) {
  std::vector<std::int32_t> from(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int32_t>(i);
  if (groups.empty()) {
    random.shuffle(std::span(from));
    return from;
  }
  std::map<std::int32_t, std::vector<std::int32_t>> members;
  for (std::size_t i = 0; i < from.size(); ++i) members[groups[i]].push_back(static_cast<std::int32_t>(i));
  const bool one_label = std::all_of(members.begin(), members.end(), [&](const auto& group) {
    return std::all_of(group.second.begin(), group.second.end(),
                       [&](std::int32_t row) { return same_label(target, row, group.second.front()); });
  });
  if (!one_label) {
    for (const auto& [group, list] : members) {
      auto mixed = list;
      random.shuffle(std::span(mixed));
      for (std::size_t k = 0; k < list.size(); ++k) from[static_cast<std::size_t>(list[k])] = mixed[k];
    }
    return from;
  }
  std::map<std::size_t, std::vector<const std::vector<std::int32_t>*>> by_size;
  for (const auto& [group, list] : members) by_size[list.size()].push_back(&list);
  for (const auto& [size, lists] : by_size) {
    auto mixed = lists;
    random.shuffle(std::span(mixed));
    for (std::size_t g = 0; g < lists.size(); ++g)
      for (std::size_t k = 0; k < size; ++k) from[static_cast<std::size_t>((*lists[g])[k])] = (*mixed[g])[k];
  }
  return from;
}

/// By nested validation if there is any, else of the chosen point; larger is better.
double score_of(const SearchResult& result) {
  const auto metric = *result.options.score;
  const double mean = result.outer.empty() ? result.summary(result.level.chosen.chosen, metric).mean
                                           : result.outer_summary(metric).mean;
  return info(metric).larger_is_better ? mean : -mean;
}

}  // namespace

template <class T>
PermutationTest permutation_test(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                 const PipelineOptions& steps, const SearchResult& result) {
  auto options = result.options;
  options.pipeline = steps;  // those of the result are of the chosen model
  options.permutation_test = 0;
  options.refit = false;
  options.predictions = false;
  options.threshold.reset();
  options.learning_curve = false;
  options.permutation_importance = 0;
  const double sign = info(*options.score).larger_is_better ? 1 : -1;
  PermutationTest test;
  const double found = score_of(result);
  test.score = sign * found;
  std::int32_t as_good = 0;
  const Stage stage(context.progress(), "shuffling labels", result.options.permutation_test);
  for (std::int32_t k = 0; k < result.options.permutation_test; ++k) {
    Random random(context.seed(), shuffle_stream + static_cast<std::uint64_t>(k));
    auto shuffled = dataset.borrowed();
    shuffled.target = reordered(dataset.target, draw_order(dataset.target, dataset.groups, dataset.rows(), random));
    Progress silent;
    const double score = score_of(search(context.with({.progress = &silent}), shuffled, space, options));
    test.scores.push_back(sign * score);
    as_good += score >= found || std::isnan(score) ? 1 : 0;
    context.progress().advance(1);
  }
  test.p_value = (1.0 + as_good) / (1.0 + result.options.permutation_test);
  return test;
}

template PermutationTest permutation_test(const Context&, const Dataset<float>&, const SearchSpace&,
                                          const PipelineOptions&, const SearchResult&);
template PermutationTest permutation_test(const Context&, const Dataset<double>&, const SearchSpace&,
                                          const PipelineOptions&, const SearchResult&);

}  // namespace sheaf::engine
