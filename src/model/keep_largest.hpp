#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <sheaf/model.hpp>

namespace sheaf {

inline bool is_larger(const Contribution& a, const Contribution& b) { return std::abs(a.amount) > std::abs(b.amount); }

/// Keeps the `most` largest of the contributions in their order, adds the others to the rest, and sums up the decision.
inline void keep_largest(std::size_t most, Explanation& explanation) {
  auto& list = explanation.largest;
  std::erase_if(list, [](const auto& one) { return one.amount == 0; });
  std::stable_sort(list.begin(), list.end(), is_larger);
  for (auto k = list.size(); k-- > most;) explanation.rest += list[k].amount;
  list.resize(std::min(list.size(), most));
  explanation.decision = explanation.intercept + explanation.rest;
  for (const auto& one : list) explanation.decision += one.amount;
}

}  // namespace sheaf
