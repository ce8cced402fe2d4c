#include "statistics/concordance.hpp"

#include <algorithm>
#include <map>
#include <utility>
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

/// Pairs within one stratum, whose rows are `members`.
class StratumPairs {
 public:
  StratumPairs(std::span<const double> values, const RiskTimes& rows, std::span<const double> weights,
               std::vector<std::size_t> members)
      : values_(values), rows_(rows), weights_(weights), members_(std::move(members)) {
    for (const auto i : members_) distinct_.push_back(values[i]);
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  }

  void add_to(ConcordantPairs& pairs, std::span<const std::uint8_t> events) {
    const auto latest_first = [](const std::vector<double>& times) {
      return [&times](std::size_t a, std::size_t b) { return times[a] > times[b]; };
    };
    auto order = members_;
    std::stable_sort(order.begin(), order.end(), latest_first(rows_.times));
    auto entering = rows_.entries.empty() ? std::vector<std::size_t>() : members_;
    std::stable_sort(entering.begin(), entering.end(), latest_first(rows_.entries));
    SumTree at_risk(distinct_.size());
    for (std::size_t begin = 0, end = 0, left = 0; begin < order.size(); begin = end) {
      const double time = rows_.times[order[begin]];
      while (end < order.size() && rows_.times[order[end]] == time) ++end;
      const auto here = std::span(order).subspan(begin, end - begin);
      for (; left < entering.size() && rows_.entries[entering[left]] >= time; ++left)
        at_risk.add(rank(entering[left]), -weight(entering[left]));
      for (const auto i : here)
        if (events[i] == 0) at_risk.add(rank(i), weight(i));
      for (const auto i : here)
        if (events[i] != 0) compare(i, at_risk, pairs);
      for (const auto i : here)
        if (events[i] != 0) at_risk.add(rank(i), weight(i));
    }
  }

 private:
  std::size_t rank(std::size_t i) const {
    return static_cast<std::size_t>(std::lower_bound(distinct_.begin(), distinct_.end(), values_[i]) -
                                    distinct_.begin());
  }
  double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }
  void compare(std::size_t i, const SumTree& at_risk, ConcordantPairs& pairs) const {
    const double below = at_risk.below(rank(i));
    pairs.pairs += weight(i) * at_risk.total();
    pairs.concordant += weight(i) * below;
    pairs.tied += weight(i) * (at_risk.below(rank(i) + 1) - below);
  }

  std::span<const double> values_;
  const RiskTimes& rows_;
  std::span<const double> weights_;
  std::vector<std::size_t> members_;
  std::vector<double> distinct_;
};

}  // namespace

ConcordantPairs concordant_pairs(std::span<const double> values, const RiskTimes& rows,
                                 std::span<const std::uint8_t> events, std::span<const double> weights) {
  std::map<std::int32_t, std::vector<std::size_t>> strata;
  for (std::size_t i = 0; i < rows.times.size(); ++i) strata[rows.strata.empty() ? 0 : rows.strata[i]].push_back(i);
  ConcordantPairs pairs;
  for (auto& [stratum, members] : strata) StratumPairs(values, rows, weights, std::move(members)).add_to(pairs, events);
  return pairs;
}

}  // namespace sheaf
