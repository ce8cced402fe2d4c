#include "data/permute_labels.hpp"

#include <numeric>
#include <span>
#include <vector>

#include "core/random.hpp"

namespace sheaf {
namespace {

constexpr std::uint64_t first_stream = std::uint64_t{1} << 40;  // behind those of splits and resamples

bool same_label(const Target& target, std::size_t a, std::size_t b) {
  return (target.values.empty() || target.values[a] == target.values[b]) &&
         (target.classes.empty() || target.classes[a] == target.classes[b]);
}

/// The first row of each group, if all of a group have the same label; else nothing.
std::vector<std::size_t> first_rows(const Target& target, std::span<const std::int32_t> groups) {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto g = static_cast<std::size_t>(groups[i]);
    if (g >= first.size()) first.resize(g + 1, none);
    if (first[g] == none) first[g] = i;
    if (!same_label(target, i, first[g])) return {};
  }
  return first;
}

/// The row whose label each row gets.
std::vector<std::size_t> draw_sources(const Target& target, std::span<const std::int32_t> groups, Random random) {
  auto sources = first_rows(target, groups);
  const bool by_group = !sources.empty();
  if (!by_group) {
    sources.resize(static_cast<std::size_t>(target.rows()));
    std::iota(sources.begin(), sources.end(), std::size_t{0});
  }
  random.shuffle(std::span(sources));
  if (!by_group) return sources;
  std::vector<std::size_t> of_rows;
  for (const auto group : groups) of_rows.push_back(sources[static_cast<std::size_t>(group)]);
  return of_rows;
}

template <class Value>
void take_from(const std::vector<std::size_t>& sources, std::vector<Value>& values) {
  if (values.empty()) return;
  const auto before = values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = before[sources[i]];
}

}  // namespace

template <class T>
Dataset<T> with_permuted_labels(const Dataset<T>& dataset, std::uint64_t seed, std::uint64_t number) {
  auto result = dataset.borrowed();
  auto& target = result.target;
  const auto sources = draw_sources(target, dataset.groups, Random(seed, first_stream + number));
  take_from(sources, target.values);
  take_from(sources, target.classes);
  take_from(sources, target.events);
  take_from(sources, target.entries);
  take_from(sources, target.strata);
  for (auto& one : target.further) take_from(sources, one.values);
  return result;
}

template Dataset<float> with_permuted_labels(const Dataset<float>&, std::uint64_t, std::uint64_t);
template Dataset<double> with_permuted_labels(const Dataset<double>&, std::uint64_t, std::uint64_t);

}  // namespace sheaf
