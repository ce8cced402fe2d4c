#include "statistics/concordance.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sheaf {
namespace {

/// Sums of weights by rank (Fenwick: A new data structure for cumulative frequency tables).
class SumTree {
 public:
  explicit SumTree(std::size_t ranks) : sums_(ranks + 1, 0.0) {}
  void add(std::size_t rank, double weight) {
    total_ += weight;
    for (std::size_t at = rank + 1; at < sums_.size(); at += at & (~at + 1)) sums_[at] += weight;
  }
  /// The sum of the weights of the ranks below `rank`.
  double below(std::size_t rank) const {
    double sum = 0;
    for (std::size_t at = rank; at > 0; at -= at & (~at + 1)) sum += sums_[at];
    return sum;
  }
  double total() const { return total_; }

 private:
  std::vector<double> sums_;
  double total_ = 0;
};

}  // namespace

ConcordantPairs concordant_pairs(std::span<const double> values, std::span<const double> times,
                                 std::span<const std::uint8_t> events, std::span<const double> weights) {
  std::vector<double> distinct(values.begin(), values.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto rank = [&](std::size_t i) {
    return static_cast<std::size_t>(std::lower_bound(distinct.begin(), distinct.end(), values[i]) - distinct.begin());
  };
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  SumTree later(distinct.size());
  ConcordantPairs pairs;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && times[order[end]] == times[order[begin]]) ++end;
    const auto here = std::span(order).subspan(begin, end - begin);
    for (const auto i : here)
      if (events[i] == 0) later.add(rank(i), weight(i));
    for (const auto i : here) {
      if (events[i] == 0) continue;
      const double below = later.below(rank(i));
      pairs.pairs += weight(i) * later.total();
      pairs.concordant += weight(i) * below;
      pairs.tied += weight(i) * (later.below(rank(i) + 1) - below);
    }
    for (const auto i : here)
      if (events[i] != 0) later.add(rank(i), weight(i));
  }
  return pairs;
}

}  // namespace sheaf
