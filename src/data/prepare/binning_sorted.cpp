#include <algorithm>
#include <cmath>

#include "data/prepare/binning.hpp"

namespace sheaf::bins {

double cut_between(double a, double b) {
  const double middle = a + (b - a) / 2;
  return middle < b ? middle : a;  // neighbouring doubles have nothing between them
}

// With C rows at or before the end of a run, floor(C * bins / n) of the limits k n / bins lie before that end.
template <class T>
std::vector<double> equal_frequency_cuts(const Column<T>& column, std::int32_t bins) {
  std::vector<T> values;
  values.reserve(column.values.size());
  std::copy_if(column.values.begin(), column.values.end(), std::back_inserter(values),
               [](T value) { return !std::isnan(value); });
  std::sort(values.begin(), values.end());
  const auto zero = std::lower_bound(values.begin(), values.end(), T(0)) - values.begin();
  const auto stored = static_cast<std::int64_t>(values.size());
  const auto all = stored + column.zeros();
  const auto value_at = [&](std::int64_t i) {  // in the order of all values, those not stored included
    if (i < zero) return static_cast<double>(values[static_cast<std::size_t>(i)]);
    if (i < zero + column.zeros()) return 0.0;
    return static_cast<double>(values[static_cast<std::size_t>(i - column.zeros())]) + 0.0;
  };
  const auto end_of_run = [&](std::int64_t i) {
    const auto value = value_at(i);
    const auto stored_end = std::upper_bound(values.begin(), values.end(), static_cast<T>(value)) - values.begin();
    return value < 0 ? stored_end : stored_end + column.zeros();
  };
  std::vector<double> cuts;
  for (std::int64_t k = 1; k < bins && all > 0;) {
    const auto end = end_of_run((k * all + bins - 1) / bins - 1);
    if (end >= all) break;
    cuts.push_back(cut_between(value_at(end - 1), value_at(end)));
    k = end * bins / all + 1;
  }
  return cuts;
}

namespace {

double entropy(const std::vector<std::int64_t>& counts) {  // in bits
  double all = 0;
  for (const auto count : counts) all += static_cast<double>(count);
  double bits = 0;
  for (const auto count : counts)
    if (count > 0) bits -= static_cast<double>(count) / all * std::log2(static_cast<double>(count) / all);
  return bits;
}

}  // namespace

template <class T>
std::vector<double> cuts_if_skewed(const Column<T>& column, const BinRule& width) {
  constexpr double enough = 0.5;  // of the information
  if (width.kind != BinRule::Kind::width || width.states < 2) return {};
  const double kept = entropy(count_states(width, column));
  if (kept >= enough * std::log2(width.states)) return {};  // which nothing exceeds
  auto cuts = equal_frequency_cuts(column, width.states);
  return kept < enough * entropy(count_states(cuts_rule(cuts), column)) ? cuts : std::vector<double>();
}

template std::vector<double> cuts_if_skewed(const Column<float>&, const BinRule&);
template std::vector<double> cuts_if_skewed(const Column<double>&, const BinRule&);
template std::vector<double> equal_frequency_cuts(const Column<float>&, std::int32_t);
template std::vector<double> equal_frequency_cuts(const Column<double>&, std::int32_t);

}  // namespace sheaf::bins
