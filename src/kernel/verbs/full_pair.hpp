// Small pairs of classes, which are solved without a working set: which tasks these are, and their groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernel/verbs/problem.hpp"

namespace sheaf::kernel {

/// Rows of a pair whose kernel matrix fits into the third-level cache of a CPU, and its gradient into the registers of
/// a GPU's block.
inline constexpr std::int64_t most_full_pair_rows = 2048;

inline bool is_small_pair(const TaskProblem& problem) {
  return problem.parts[1] >= 0 && !problem.grouped && problem.variables() <= most_full_pair_rows;
}

/// The small pairs among the tasks, by pair; at most `most` tasks of one pair together. `problem_of`: of a task.
template <class ProblemOf>
std::vector<std::vector<std::int32_t>> group_small_pairs(std::span<const std::int32_t> tasks, std::size_t most,
                                                         const ProblemOf& problem_of) {
  std::vector<std::int32_t> order;
  for (const std::int32_t task : tasks)
    if (is_small_pair(problem_of(task))) order.push_back(task);
  const auto pair_of = [&](std::int32_t task) {
    const auto& parts = problem_of(task).parts;
    return std::pair(parts[0], parts[1]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return pair_of(a) < pair_of(b); });
  std::vector<std::vector<std::int32_t>> groups;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && pair_of(order[k]) == pair_of(order[k - 1]);
    if (!same || groups.back().size() == most) groups.emplace_back();
    groups.back().push_back(order[k]);
  }
  return groups;
}

}  // namespace sheaf::kernel
