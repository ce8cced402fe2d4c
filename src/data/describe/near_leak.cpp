#include "data/describe/near_leak.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "data/labels.hpp"
#include "data/nominal.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t most_values = 4'000'000;
constexpr std::int64_t rows_of_class = 200;  // at least, if there are as many
constexpr std::int64_t rows_of_level = 5;

/// Of each class, or of all, every k-th row.
std::vector<std::int32_t> sampled_rows(const Target& target, std::int64_t rows, std::int64_t features) {
  const bool classes = target.looks_like_classes();
  const auto step = std::max<std::int64_t>(1, rows * features / most_values);
  std::vector<std::int64_t> steps(classes ? target.class_names.size() : 1, step);
  if (classes) {
    std::vector<std::int64_t> counts(steps.size(), 0);
    for (const auto c : target.classes) ++counts[static_cast<std::size_t>(c)];
    for (std::size_t c = 0; c < steps.size(); ++c)
      steps[c] = std::clamp<std::int64_t>(counts[c] / rows_of_class, 1, step);
  }
  std::vector<std::int64_t> seen(steps.size(), 0);
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto c = classes ? static_cast<std::size_t>(target.classes[static_cast<std::size_t>(i)]) : 0;
    if (seen[c]++ % steps[c] == 0) result.push_back(static_cast<std::int32_t>(i));
  }
  return result;
}

/// Levels become the mean labels of their rows; those of few rows, which these would give away, one value. More classes
/// than two have no mean.
template <class T>
void order_levels(const Target& target, std::size_t levels, std::vector<T>& values) {
  const bool classes = target.looks_like_classes();
  if (classes && target.class_names.size() > 2) return;
  std::vector<double> sums(levels, 0), counts(levels, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const auto level = static_cast<std::size_t>(values[i]);
    sums[level] += classes ? static_cast<double>(target.classes[i]) : target.values[i];
    counts[level] += 1;
  }
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0) /
                     std::max(1.0, std::accumulate(counts.begin(), counts.end(), 0.0));
  for (auto& value : values) {
    if (std::isnan(value)) continue;
    const auto level = static_cast<std::size_t>(value);
    value = static_cast<T>(counts[level] >= rows_of_level ? sums[level] / counts[level] : all);
  }
}

template <class T>
void fill_with_median(std::vector<T>& values) {
  std::vector<T> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there), [](T value) { return !std::isnan(value); });
  if (there.size() == values.size()) return;
  const auto middle = there.begin() + std::ssize(there) / 2;
  if (!there.empty()) std::nth_element(there.begin(), middle, there.end());
  for (auto& value : values)
    if (std::isnan(value)) value = there.empty() ? T{0} : *middle;
}

}  // namespace

std::string near_leak_message(const std::string& feature) {
  return fmt::format(
      "feature {} alone nearly determines the label; check that it is known before the label is, else leave it out "
      "(--ignore)",
      feature);
}

// The squared correlation times rows - 1 is about chi-squared distributed if there is nothing but chance; Chernoff's
// bound of its tail.
bool nearly_determines(const Associations& found, std::int64_t feature, std::int64_t rows, std::int64_t groups) {
  constexpr double nearly_all = 0.97;  // measurements that tell tumours apart reach 0.95
  constexpr double rare = 0.001;
  constexpr std::int64_t fewest_rows = 20;
  if (found.empty() || rows < fewest_rows) return false;
  const auto j = static_cast<std::size_t>(feature);
  const double correlation = std::abs(found.correlation[j]);
  if ((found.auc.empty() ? correlation : std::abs(found.auc[j] - 0.5) * 2) < nearly_all) return false;
  const auto freedom = static_cast<double>(std::max<std::int64_t>(groups - 1, 1));
  const double statistic = correlation * correlation * static_cast<double>(rows - 1);
  if (statistic <= freedom) return false;
  const double tail = freedom / 2 * std::log(statistic / freedom) + (freedom - statistic) / 2;
  return tail + std::log(static_cast<double>(found.correlation.size())) < std::log(rare);
}

template <class T>
std::optional<std::int64_t> find_near_leak(const Context& context, const Dataset<T>& dataset) {
  const auto& target = dataset.target;
  if (is_sparse(dataset.x) || target.empty() || target.several() || target.survival()) return std::nullopt;
  const auto rows = sampled_rows(target, dataset.rows(), dataset.features());
  const auto& all = std::get<DenseMatrix<T>>(dataset.x);
  std::vector<std::int64_t> groups(static_cast<std::size_t>(all.columns), 2);
  const bool gaps = std::any_of(all.values.begin(), all.values.end(), [](T value) { return std::isnan(value); });
  bool nominal = false;
  for (std::int64_t j = 0; j < all.columns; ++j) nominal = nominal || is_nominal(dataset, j);
  // A large dataset is copied only if something in it changes.
  const bool as_it_is = !gaps && !nominal && std::ssize(rows) == dataset.rows();
  auto some = as_it_is ? dataset.borrowed() : take_rows(dataset, rows, context.threads());
  auto& x = std::get<DenseMatrix<T>>(some.x);
  std::vector<T> column(static_cast<std::size_t>(as_it_is ? 0 : x.rows));
  for (std::int64_t j = 0; j < x.columns; ++j) {
    if (!gaps && !is_nominal(dataset, j)) continue;
    for (std::int64_t i = 0; i < x.rows; ++i) column[static_cast<std::size_t>(i)] = x.values[i * x.columns + j];
    if (is_nominal(dataset, j)) {
      const auto levels = dataset.levels[static_cast<std::size_t>(j)].size();
      groups[static_cast<std::size_t>(j)] = std::ssize(dataset.levels[static_cast<std::size_t>(j)]);
      order_levels(some.target, levels, column);
    }
    fill_with_median(column);
    for (std::int64_t i = 0; i < x.rows; ++i) x.values[i * x.columns + j] = column[static_cast<std::size_t>(i)];
  }
  if (target.looks_like_classes())
    for (auto& count : groups) count = std::max(count, std::ssize(target.class_names));
  const auto found = associate(context, some, {.shuffles = 0});
  std::optional<std::int64_t> best;
  for (std::int64_t j = 0; j < std::ssize(found.correlation); ++j) {
    if (!nearly_determines(found, j, some.rows(), groups[static_cast<std::size_t>(j)])) continue;
    const auto strength = [&](std::int64_t one) { return std::abs(found.correlation[static_cast<std::size_t>(one)]); };
    if (!best || strength(j) > strength(*best)) best = j;
  }
  return best;
}

template std::optional<std::int64_t> find_near_leak(const Context&, const Dataset<float>&);
template std::optional<std::int64_t> find_near_leak(const Context&, const Dataset<double>&);

}  // namespace sheaf
