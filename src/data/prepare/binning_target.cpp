#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"
#include "data/prepare/binning.hpp"

namespace sheaf {
namespace {

bool whole(double value) { return value == std::floor(value); }

/// Classes renumbered in the order of `before(a, b)` over their old numbers.
template <class Before>
BinnedTarget renumbered(const Target& target, Before&& before) {
  std::vector<std::int32_t> order(target.class_names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), before);
  std::vector<std::int32_t> position(order.size());
  BinnedTarget result;
  for (std::size_t k = 0; k < order.size(); ++k) {
    position[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
    result.names.push_back(target.class_names[static_cast<std::size_t>(order[k])]);
  }
  for (const auto c : target.classes) result.classes.push_back(position[static_cast<std::size_t>(c)]);
  return result;
}

BinnedTarget numbered_classes(const Target& target) {
  std::vector<double> value(target.class_names.size());
  for (std::size_t i = 0; i < target.classes.size(); ++i)
    value[static_cast<std::size_t>(target.classes[i])] = target.values[i];
  return renumbered(target, [&](std::int32_t a, std::int32_t b) {
    return value[static_cast<std::size_t>(a)] < value[static_cast<std::size_t>(b)];
  });
}

/// Whole numbers that the file declares as numeric (ARFF).
BinnedTarget distinct_values(const std::vector<double>& values) {
  auto distinct = values;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  BinnedTarget result;
  for (const double value : distinct) result.names.push_back(fmt::format("{}", value));
  for (const double value : values)
    result.classes.push_back(
        static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin()));
  return result;
}

BinRule target_rule(const std::vector<double>& values, const BinningOptions& options) {
  BinRule rule;
  if (options.target_method == BinMethod::equal_width) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    rule.low = *low;
    rule.high = *high;
    rule.states = *low < *high ? options.target_bins : 1;
    if (!std::isfinite(rule.high - rule.low)) fail("the label's values are too far apart to be binned by equal width");
    return rule;
  }
  const auto rows = static_cast<std::int64_t>(values.size());
  rule.kind = BinRule::Kind::cuts;
  rule.cuts = bins::equal_frequency_cuts(bins::Column<double>{values, {}, rows}, options.target_bins);
  rule.states = static_cast<std::int32_t>(rule.cuts.size()) + 1;
  return rule;
}

BinnedTarget binned_values(const std::vector<double>& values, const BinningOptions& options) {
  if (options.target_method != BinMethod::equal_width && options.target_method != BinMethod::equal_frequency)
    fail_usage("the label can be binned by equal-width or equal-frequency, not by {}",
               to_string(options.target_method));
  if (options.target_bins < 2 || options.target_bins > BinningOptions::most_bins)
    fail_usage("{} bins of the label were asked for; from 2 to {} are possible", options.target_bins,
               BinningOptions::most_bins);
  const auto rule = target_rule(values, options);
  BinnedTarget result;
  std::vector<std::int32_t> position(static_cast<std::size_t>(rule.states), -1);
  for (const double value : values) result.classes.push_back(rule(value));
  for (const auto c : result.classes) position[static_cast<std::size_t>(c)] = 0;
  for (std::int32_t state = 0; state < rule.states; ++state) {
    if (position[static_cast<std::size_t>(state)] < 0) continue;
    position[static_cast<std::size_t>(state)] = static_cast<std::int32_t>(result.names.size());
    result.names.push_back(rule.state_name(state));
  }
  for (auto& c : result.classes) c = position[static_cast<std::size_t>(c)];
  return result;
}

}  // namespace

BinnedTarget bin_target(const Target& target, const BinningOptions& options) {
  if (target.empty()) fail("there is no label to select features for; name its column by --label");
  refuse_several(target, "the dataset");
  if (options.target_bins > 0) {
    if (target.values.empty()) fail("the labels are names and not numbers, so they can't be binned");
    return binned_values(target.values, options);
  }
  if (target.values.empty())
    return renumbered(target, [&](std::int32_t a, std::int32_t b) {
      return target.class_names[static_cast<std::size_t>(a)] < target.class_names[static_cast<std::size_t>(b)];
    });
  if (!target.looks_like_classes())
    fail(
        "the labels are a numeric target{}, not classes; bin them, for instance with --target-bins 5, or say --task "
        "classification",
        std::all_of(target.values.begin(), target.values.end(), whole) ? "" : " (some are fractions)");
  return target.classes.empty() ? distinct_values(target.values) : numbered_classes(target);
}

}  // namespace sheaf
