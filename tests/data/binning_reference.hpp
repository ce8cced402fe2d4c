// The definitions of discretisation, as plainly as they can be written.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sheaf::test {

inline std::vector<int> plain_equal_width(const std::vector<double>& x, int bins) {
  const double low = *std::min_element(x.begin(), x.end());
  const double high = *std::max_element(x.begin(), x.end());
  std::vector<int> codes;
  for (const double value : x)
    codes.push_back(
        low == high ? 0 : std::min(bins - 1, static_cast<int>(std::floor((value - low) * (bins / (high - low))))));
  return codes;
}

/// The state of a value is the number of distinct limits below it; limit k is the value that the k/bins part of all
/// rows reaches.
inline std::vector<int> plain_equal_frequency(const std::vector<double>& x, int bins) {
  auto sorted = x;
  std::sort(sorted.begin(), sorted.end());
  std::set<double> limits;
  for (int k = 1; k < bins; ++k) {
    const auto position =
        static_cast<std::size_t>(std::ceil(static_cast<double>(k) * static_cast<double>(x.size()) / bins));
    limits.insert(sorted[position - 1]);
  }
  std::vector<int> codes;
  for (const double value : x)
    codes.push_back(static_cast<int>(std::distance(limits.begin(), limits.lower_bound(value))));
  return codes;
}

inline double entropy(const std::map<int, int>& counts, int& classes) {
  double all = 0, bits = 0;
  classes = 0;
  for (const auto& [c, count] : counts) all += count;
  for (const auto& [c, count] : counts)
    if (count > 0) {
      bits -= count / all * std::log2(count / all);
      ++classes;
    }
  return bits;
}

inline void plain_mdlp(std::vector<std::pair<double, int>> examples, std::vector<double>& cuts) {
  std::sort(examples.begin(), examples.end());
  const auto n = static_cast<double>(examples.size());
  std::map<int, int> whole;
  for (const auto& [value, c] : examples) ++whole[c];
  int k = 0, k1 = 0, k2 = 0;
  const double h = entropy(whole, k);
  double least = 1e300, h1 = 0, h2 = 0;
  std::size_t best = 0;
  for (std::size_t at = 1; at < examples.size(); ++at) {
    if (examples[at].first == examples[at - 1].first) continue;
    std::map<int, int> left, right;
    for (std::size_t i = 0; i < examples.size(); ++i) ++(i < at ? left : right)[examples[i].second];
    int kl = 0, kr = 0;
    const double hl = entropy(left, kl), hr = entropy(right, kr);
    const double e = (static_cast<double>(at) * hl + (n - static_cast<double>(at)) * hr) / n;
    if (e < least - 1e-12) {
      least = e;
      best = at;
      h1 = hl, h2 = hr, k1 = kl, k2 = kr;
    }
  }
  if (best == 0) return;
  const double delta = std::log2(std::pow(3.0, k) - 2) - (k * h - k1 * h1 - k2 * h2);
  if (!(h - least > (std::log2(n - 1) + delta) / n)) return;
  cuts.push_back((examples[best - 1].first + examples[best].first) / 2);
  const auto middle = examples.begin() + static_cast<std::ptrdiff_t>(best);
  plain_mdlp({examples.begin(), middle}, cuts);
  plain_mdlp({middle, examples.end()}, cuts);
}

}  // namespace sheaf::test
