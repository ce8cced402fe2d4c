#include "data/describe/row_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/text.hpp"
#include "data/read/reading.hpp"
#include "data/text/moments.hpp"

namespace sheaf {
namespace {

constexpr double deviations = 4;
constexpr std::int64_t fewest_rows = 30;

bool means_time(const std::string& name) {
  static constexpr std::array<std::string_view, 5> known{"date", "time", "timestamp", "datetime", "year"};
  return std::find(known.begin(), known.end(), lower_case(name)) != known.end();
}

/// A numeric feature that is called as times are and never falls or never rises.
template <class T>
std::string time_feature(const Dataset<T>& dataset) {
  const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x);
  for (std::size_t j = 0; dense != nullptr && j < dataset.feature_names.size(); ++j) {
    if (!means_time(dataset.feature_names[j])) continue;
    if (!dataset.levels.empty() && !dataset.levels[j].empty()) continue;
    std::vector<double> values;
    for (std::int64_t i = 0; i < dense->rows; ++i)
      values.push_back(static_cast<double>(dense->values[i * dense->columns + static_cast<std::int64_t>(j)]));
    const bool gaps = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    if (!gaps && are_in_order(values)) return dataset.feature_names[j];
  }
  return {};
}

/// Runs of rows of one class, by the test of Wald and Wolfowitz for several classes (Mood 1940). Rows that are sorted
/// by class, or block by block, have few runs and next to no short ones; rows that depend on those before have many.
std::string describe_runs(std::span<const std::int32_t> classes) {
  constexpr double fewest_runs = 20;
  constexpr double share_of_short_runs = 0.1;
  const auto n = static_cast<double>(classes.size());
  std::vector<double> counts(static_cast<std::size_t>(*std::max_element(classes.begin(), classes.end())) + 1, 0.0);
  double runs = 0, short_runs = 0;
  for (std::size_t begin = 0; begin < classes.size();) {
    auto end = begin;
    while (end < classes.size() && classes[end] == classes[begin]) ++end;
    counts[static_cast<std::size_t>(classes[begin])] += static_cast<double>(end - begin);
    runs += 1;
    short_runs += end - begin <= 2 ? 1 : 0;
    begin = end;
  }
  double squares = 0, cubes = 0;
  for (const double count : counts) {
    squares += count * count;
    cubes += count * count * count;
  }
  const double expected = (n * (n + 1) - squares) / n;
  const double variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n * n * n) / (n * n * (n - 1));
  if (!(variance > 0) || runs < fewest_runs || short_runs < share_of_short_runs * runs) return {};
  if (runs >= expected - deviations * std::sqrt(variance)) return {};
  return fmt::format(
      "neighbouring rows tend to be of one class ({:.0f} runs of rows of one class, by chance {:.0f} +- "
      "{:.0f})",
      runs, expected, std::sqrt(variance));
}

/// Correlation of each number with the one before. Sorted numbers hardly ever turn from rising to falling.
std::string describe_correlation(std::span<const double> values) {
  constexpr double share_of_turns = 0.25;
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0, products = 0, turns = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
    if (i > 1) turns += (values[i] - values[i - 1]) * (values[i - 1] - values[i - 2]) < 0 ? 1 : 0;
  }
  if (!(squares > 0) || !std::isfinite(squares) || turns < share_of_turns * n) return {};
  const double correlation = products / squares;
  if (correlation * std::sqrt(n) <= deviations) return {};
  return fmt::format("the label of a row is correlated with that of the row before ({:.2f}, by chance 0 +- {:.2f})",
                     correlation, 1 / std::sqrt(n));
}

/// Of each group the first row: those of a group are kept together and may well be alike.
template <class Value>
std::vector<Value> one_of_each_group(const std::vector<Value>& values, const std::vector<std::int32_t>& groups) {
  if (groups.empty()) return values;
  std::set<std::int32_t> seen;
  std::vector<Value> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (seen.insert(groups[i]).second) result.push_back(values[i]);
  return result;
}

}  // namespace

template <class T>
std::string describe_order(const Dataset<T>& dataset) {
  const auto& target = dataset.target;
  const auto column = dataset.row_columns.dates.empty() ? time_feature(dataset) : dataset.row_columns.dates;
  if (!column.empty()) return fmt::format("the rows stand in the order of '{}'", column);
  if (target.empty() || target.survival() || target.several()) return {};
  const auto describe = [&](const auto& all, const auto& how) {
    const auto some = one_of_each_group(all, dataset.groups);
    return std::ssize(some) < fewest_rows ? std::string() : how(some);
  };
  return target.looks_like_classes()
             ? describe(target.classes, [](const auto& some) { return describe_runs(some); })
             : describe(target.values, [](const auto& some) { return describe_correlation(some); });
}

template std::string describe_order(const Dataset<float>&);
template std::string describe_order(const Dataset<double>&);

}  // namespace sheaf
