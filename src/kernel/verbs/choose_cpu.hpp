// Chooses the next working set of a task, on one core: free variables of the last one, and the worst violators, half of
// them to rise and half to fall.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernel/verbs/ops.hpp"

namespace sheaf::kernel::cpu {

/// One task as the CPU holds it.
struct TaskState {
  TaskProblem problem;
  std::vector<double> beta, g;
  std::vector<std::int32_t> last;   ///< the last working set, newest first
  std::vector<std::uint8_t> taken;  ///< scratch, 0 between calls
  std::int64_t steps = 0;           ///< since the last choice

  bool can_rise(std::size_t v) const { return beta[v] < std::max(problem.bounds[v], 0.0); }
  bool can_fall(std::size_t v) const { return beta[v] > std::min(problem.bounds[v], 0.0); }
};

class Chooser {
 public:
  /// Finds the violation, and a working set unless it is below the tolerance.
  void choose(TaskState& task, std::int32_t size, WorkingSet& set) {
    set.variables.clear();
    set.positions.clear();
    find_bounds(task);
    set.violation = violation(task);
    set.steps = std::exchange(task.steps, 0);
    if (set.violation < task.problem.tolerance) return;
    if (task.problem.variables() <= size)
      take_all(task, set);
    else
      take_best(task, size, set);
    task.last = set.variables;
    for (const std::int32_t v : set.variables)
      set.positions.push_back(static_cast<std::int32_t>(task.problem.position(v % task.problem.rows)));
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Candidate = std::pair<double, std::int32_t>;  // how far it violates, and which

  static std::size_t group_of(const TaskProblem& problem, std::size_t v) {
    return problem.grouped && problem.bounds[v] < 0 ? 1 : 0;
  }

  template <class Visit>
  static void for_variables(const TaskState& task, Visit&& visit) {
    const TaskProblem& problem = task.problem;
    for (int side = 0; side < problem.sides; ++side)
      for (std::int64_t i = 0; i < problem.rows; ++i) {
        const auto v = static_cast<std::size_t>(side * problem.rows + i);
        if (problem.bounds[v] != 0) visit(v, task.g[static_cast<std::size_t>(i)] + problem.linear[v]);
      }
  }

  void find_bounds(const TaskState& task) {
    for (int group = 0; group < 2; ++group) {
      highest_[group] = -infinity;
      lowest_[group] = infinity;
    }
    for_variables(task, [&](std::size_t v, double f) {
      const std::size_t group = group_of(task.problem, v);
      if (task.can_rise(v)) highest_[group] = std::max(highest_[group], -f);
      if (task.can_fall(v)) lowest_[group] = std::min(lowest_[group], -f);
    });
  }
  double violation(const TaskState& task) const {
    const double first = highest_[0] - lowest_[0];
    return task.problem.grouped ? std::max(first, highest_[1] - lowest_[1]) : first;
  }

  static void take_all(const TaskState& task, WorkingSet& set) {
    for_variables(task, [&](std::size_t v, double) { set.variables.push_back(static_cast<std::int32_t>(v)); });
  }

  void take_best(TaskState& task, std::int32_t size, WorkingSet& set) {
    std::vector<std::int32_t> kept;
    for (const std::int32_t v : task.last) {
      const auto at = static_cast<std::size_t>(v);
      if (static_cast<std::int32_t>(kept.size()) >= most_kept(size)) break;
      if (task.can_rise(at) && task.can_fall(at)) kept.push_back(v);
    }
    task.taken.resize(static_cast<std::size_t>(task.problem.variables()), 0);
    for (const std::int32_t v : kept) task.taken[static_cast<std::size_t>(v)] = 1;
    collect(task);
    const int groups = task.problem.grouped ? 2 : 1;
    for (int group = 0; group < groups; ++group) {
      const auto room = (static_cast<std::size_t>(size) - kept.size()) / static_cast<std::size_t>(groups);
      take(task, rising_[group], room / 2, set);
      take(task, falling_[group], room / 2, set);
    }
    set.variables.insert(set.variables.end(), kept.begin(), kept.end());
    for (const std::int32_t v : set.variables) task.taken[static_cast<std::size_t>(v)] = 0;
  }

  void collect(const TaskState& task) {
    for (int group = 0; group < 2; ++group) {
      rising_[group].clear();
      falling_[group].clear();
    }
    for_variables(task, [&](std::size_t v, double f) {
      if (task.taken[v] != 0) return;
      const std::size_t group = group_of(task.problem, v);
      if (task.can_rise(v) && -f > lowest_[group]) rising_[group].emplace_back(-f, static_cast<std::int32_t>(v));
      if (task.can_fall(v) && -f < highest_[group]) falling_[group].emplace_back(f, static_cast<std::int32_t>(v));
    });
  }

  /// The `count` largest that are not taken yet; the first of equal ones.
  static void take(TaskState& task, std::vector<Candidate>& from, std::size_t count, WorkingSet& set) {
    const auto before = [](const Candidate& a, const Candidate& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    std::erase_if(from, [&](const Candidate& c) { return task.taken[static_cast<std::size_t>(c.second)] != 0; });
    if (from.size() > count) {
      std::nth_element(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count), from.end(), before);
      from.resize(count);
    }
    for (const Candidate& candidate : from) {
      set.variables.push_back(candidate.second);
      task.taken[static_cast<std::size_t>(candidate.second)] = 1;
    }
  }

  double highest_[2] = {}, lowest_[2] = {};
  std::vector<Candidate> rising_[2], falling_[2];
};

}  // namespace sheaf::kernel::cpu
