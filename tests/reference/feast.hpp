// Selection of features by the definitions, one score at a time: every probability from a fresh count of all rows, no
// tables kept, no bounds. Sums run as FEAST's do: second variable outside, first inside, states ascending; merged
// states are numbered by first appearance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::reference {

using States = std::vector<std::int64_t>;

struct Picks {
  std::vector<std::int64_t> features;
  std::vector<double> scores;
};

inline std::map<std::int64_t, double> probabilities(const States& a) {
  std::map<std::int64_t, double> counts;
  for (const auto state : a) counts[state] += 1;
  for (auto& [state, count] : counts) count /= static_cast<double>(a.size());
  return counts;
}

/// Keys (b, a): ascending order has b outside.
inline std::map<std::pair<std::int64_t, std::int64_t>, double> joint_probabilities(const States& a, const States& b) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> counts;
  for (std::size_t i = 0; i < a.size(); ++i) counts[{b[i], a[i]}] += 1;
  for (auto& [states, count] : counts) count /= static_cast<double>(a.size());
  return counts;
}

inline double entropy(const States& a) {
  double sum = 0;
  for (const auto& [state, p] : probabilities(a)) sum -= p * std::log(p);
  return sum / std::log(2.0);
}
inline double joint_entropy(const States& a, const States& b) {
  double sum = 0;
  for (const auto& [states, p] : joint_probabilities(a, b)) sum -= p * std::log(p);
  return sum / std::log(2.0);
}
inline double mutual_information(const States& a, const States& b) {
  auto pa = probabilities(a);
  auto pb = probabilities(b);
  double sum = 0;
  for (const auto& [states, p] : joint_probabilities(a, b))
    sum += p * std::log(p / pa[states.second] / pb[states.first]);
  return sum / std::log(2.0);
}
inline double conditional_entropy(const States& a, const States& b) {
  auto pb = probabilities(b);
  double sum = 0;
  for (const auto& [states, p] : joint_probabilities(a, b)) sum -= p * std::log(p / pb[states.first]);
  return sum / std::log(2.0);
}
inline States merge(const States& a, const States& b) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> numbers;
  States result;
  for (std::size_t i = 0; i < a.size(); ++i)
    result.push_back(numbers.try_emplace({a[i], b[i]}, static_cast<std::int64_t>(numbers.size()) + 1).first->second);
  return result;
}
inline double conditional_information(const States& a, const States& b, const States& c) {
  return conditional_entropy(a, c) - conditional_entropy(a, merge(b, c));
}

/// One score of `criterion` for candidate x, given the selected features in order.
inline double score(const std::string& criterion, const States& x, const States& y, const std::vector<States>& selected,
                    double beta, double gamma) {
  const double relevance = mutual_information(x, y);
  double sum = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const States& s : selected) {
    if (criterion == "mrmr") sum += mutual_information(s, x);
    if (criterion == "jmi") sum += mutual_information(merge(s, x), y);
    if (criterion == "disr") sum += mutual_information(merge(s, x), y) / joint_entropy(merge(s, x), y);
    if (criterion == "mifs") sum += beta * mutual_information(s, x);
    if (criterion == "cife") sum += mutual_information(s, x) - conditional_information(s, x, y);
    if (criterion == "condred") sum -= conditional_information(s, x, y);
    if (criterion == "betagamma") {
      const double redundant = beta * mutual_information(s, x);
      const double in_class = gamma * conditional_information(s, x, y);
      sum += redundant - in_class;
    }
    if (criterion == "icap") sum += std::min(0.0, conditional_information(s, x, y) - mutual_information(s, x));
    if (criterion == "cmim") smallest = std::min(smallest, conditional_information(x, y, s));
    if (criterion == "jmim") smallest = std::min(smallest, mutual_information(merge(s, x), y));
  }
  if (criterion == "mrmr") return relevance - sum / static_cast<double>(selected.size());
  if (criterion == "jmi" || criterion == "disr") return sum;
  if (criterion == "icap") return relevance + sum;
  if (criterion == "cmim") return std::min(relevance, smallest);
  if (criterion == "jmim") return smallest;
  if (criterion == "mim") return relevance;
  if (criterion == "cmi") {
    States all = selected.front();
    for (std::size_t s = 1; s < selected.size(); ++s) all = merge(selected[s], all);
    return conditional_information(x, y, all);
  }
  return relevance - sum;
}

inline double lowest_score(const std::string& criterion) {
  if (criterion == "jmi" || criterion == "disr" || criterion == "cmi") return 0;
  if (criterion == "mim" || criterion == "cmim" || criterion == "jmim") return -1;
  return -std::numeric_limits<double>::max();
}

/// Greedy selection; stops when nothing scores above the criterion's lowest score.
inline Picks select(const std::string& criterion, const std::vector<States>& features, const States& y,
                    std::size_t count, double beta, double gamma, std::vector<std::int64_t> preselected = {}) {
  Picks picks;
  std::vector<States> selected;
  std::vector<bool> taken(features.size(), false);
  for (const auto j : preselected) {
    selected.push_back(features[static_cast<std::size_t>(j)]);
    taken[static_cast<std::size_t>(j)] = true;
  }
  while (picks.features.size() < count) {
    double best = selected.empty() ? -1 : lowest_score(criterion);
    std::int64_t pick = -1;
    for (std::size_t j = 0; j < features.size(); ++j) {
      if (taken[j]) continue;
      const double value = selected.empty() ? mutual_information(features[j], y)
                                            : score(criterion, features[j], y, selected, beta, gamma);
      if (value > best) {
        best = value;
        pick = static_cast<std::int64_t>(j);
      }
    }
    if (pick < 0) break;
    picks.features.push_back(pick);
    picks.scores.push_back(best);
    taken[static_cast<std::size_t>(pick)] = true;
    selected.push_back(features[static_cast<std::size_t>(pick)]);
  }
  return picks;
}

inline double symmetrical_uncertainty(const States& a, const States& b) {
  const double sum = entropy(a) + entropy(b);
  return sum > 0 ? 2 * mutual_information(a, b) / sum : 0;
}

inline Picks fcbf(const std::vector<States>& features, const States& y, double threshold) {
  std::vector<double> relevance;
  std::vector<std::int64_t> left;
  for (std::size_t j = 0; j < features.size(); ++j) {
    relevance.push_back(symmetrical_uncertainty(features[j], y));
    if (relevance.back() > threshold) left.push_back(static_cast<std::int64_t>(j));
  }
  const auto of = [&](std::int64_t j) { return relevance[static_cast<std::size_t>(j)]; };
  std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return of(a) > of(b); });
  Picks picks;
  while (!left.empty()) {
    const std::int64_t best = left.front();
    picks.features.push_back(best);
    picks.scores.push_back(of(best));
    left.erase(left.begin());
    std::erase_if(left, [&](auto j) {
      return symmetrical_uncertainty(features[static_cast<std::size_t>(best)], features[static_cast<std::size_t>(j)]) >
             of(j);
    });
  }
  return picks;
}

}  // namespace sheaf::reference
