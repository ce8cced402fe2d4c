// Small pairs of classes, solved by one core without a working set: the full kernel matrix of the pair is computed.
// Only values within a class are of use to other pairs, so that with few features computing them again costs less than
// sharing them. The matrix stays in the core's caches and serves several tasks of the pair (its costs and folds).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "kernel/values/tiles_cpu.hpp"
#include "kernel/verbs/choose_cpu.hpp"
#include "kernel/verbs/working_set_cpu.hpp"

namespace sheaf::kernel::cpu {

/// Rows of a pair whose kernel matrix fits into the third-level cache.
inline constexpr std::int64_t most_full_pair_rows = 2048;
/// Stored entries per row up to which computing a value costs no more than a few steps that read it.
inline constexpr std::int64_t most_full_pair_entries = 64;
/// Tasks of one pair that share a matrix; more would leave cores without work.
inline constexpr std::size_t most_sharing_tasks = 8;
/// A few milliseconds.
inline constexpr std::int64_t steps_between_stops = 2048;

/// Tasks of one pair, over the same rows.
using PairTasks = std::vector<TaskState*>;

template <class A>
bool is_full_pair(const TaskProblem& problem, const Table<A>& table) {
  return problem.parts[1] >= 0 && !problem.grouped && problem.variables() <= most_full_pair_rows &&
         table.terms.size() > 0 && stored(table.x) <= most_full_pair_entries * rows(table.x);
}

/// The tasks that are solved as full pairs, grouped by pair. The groups do not depend on the number of cores.
template <class A>
std::vector<PairTasks> group_full_pairs(std::span<TaskState> states, std::span<const std::int32_t> tasks,
                                        const Table<A>& table) {
  std::vector<std::int32_t> order;
  for (const std::int32_t task : tasks)
    if (is_full_pair(states[static_cast<std::size_t>(task)].problem, table)) order.push_back(task);
  const auto pair_of = [&](std::int32_t task) {
    const auto& parts = states[static_cast<std::size_t>(task)].problem.parts;
    return std::pair(parts[0], parts[1]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return pair_of(a) < pair_of(b); });
  std::vector<PairTasks> units;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && pair_of(order[k]) == pair_of(order[k - 1]);
    if (!same || units.back().size() == most_sharing_tasks) units.emplace_back();
    units.back().push_back(&states[static_cast<std::size_t>(order[k])]);
  }
  return units;
}

/// Kernel values that a pair computes: half of the symmetric matrix.
inline std::int64_t values_of_pair(const PairTasks& unit) {
  const std::int64_t rows = unit.front()->problem.rows;
  return rows * (rows + 1) / 2;
}

/// Computes the kernel matrix of a problem's rows: a few rows at a time against themselves and all later rows; each
/// value is stored in both its places.
template <class A>
void fill_full_pair(const Context& context, const KernelParams& kernel, const Table<A>& table,
                    const TaskProblem& problem, SmallProblem& small) {
  constexpr auto group = static_cast<std::int64_t>(lanes<A>);
  alignas(64) float values[tile_rows * lanes<A>];
  const std::int64_t size = small.size();
  float* tile = small.tile.data();
  for (std::int64_t a = 0; a < problem.rows; a += group) {
    context.check_stop();
    const std::int64_t used = std::min(group, problem.rows - a);
    std::vector<std::int32_t> positions;
    for (std::int64_t r = 0; r < used; ++r) positions.push_back(static_cast<std::int32_t>(problem.position(a + r)));
    const LaneRows<A> rows(table, positions, columns(table.x));
    std::int64_t before = 0;  // rows of the earlier range
    for (const Range& range : problem.ranges) {
      const std::int64_t end = before + range.end - range.begin;
      for (std::int64_t b = std::max(a, before); b < end; b += tile_rows) {
        const std::int64_t count = std::min(tile_rows, end - b);
        kernel_tile(kernel, table, range.begin + b - before, count, rows, values);
        for (std::int64_t i = 0; i < count; ++i) std::copy_n(values + i * group, used, tile + (b + i) * size + a);
        for (std::int64_t r = 0; r < used; ++r)
          for (std::int64_t i = 0; i < count; ++i) tile[(a + r) * size + b + i] = values[i * group + r];
      }
      before = end;
    }
  }
  for (std::int64_t k = 0; k < problem.rows; ++k) small.diagonal[static_cast<std::size_t>(k)] = tile[k * size + k];
}

/// Solves one task in pieces of a few milliseconds, so that a stop is answered and progress moves.
template <class Report>
void solve_task(const Context& context, SmallProblem& small, std::int64_t most_steps, TaskState& task,
                const Report& report) {
  const double tolerance = task.problem.tolerance * 0.999;
  small.solve(tolerance, 0);  // measures the violation at the start
  report(task, small.violation());
  for (std::int64_t left = most_steps; left > 0;) {
    context.check_stop();
    const std::int64_t most = std::min(left, steps_between_stops);
    const std::int64_t steps = small.solve(tolerance, most);
    task.steps += steps;
    left = steps == most ? left - steps : 0;
    report(task, small.violation());
  }
}

/// Calls report(task, violation) now and then.
template <class A, class Report>
void solve_full_pair(const Context& context, const KernelParams& kernel, const Table<A>& table, const PairTasks& unit,
                     std::int64_t most_steps, SmallProblem& small, const Report& report) {
  const std::int64_t rows = unit.front()->problem.rows;
  small.resize(rows, 0);
  fill_full_pair(context, kernel, table, unit.front()->problem, small);
  for (TaskState* task : unit) {
    const TaskProblem& problem = task->problem;
    for (std::size_t v = 0; v < static_cast<std::size_t>(rows); ++v) {
      small.f[v] = task->g[v] + problem.linear[v];
      small.beta[v] = task->beta[v];
      small.lower[v] = std::min(problem.bounds[v], 0.0);
      small.upper[v] = std::max(problem.bounds[v], 0.0);
    }
    solve_task(context, small, most_steps, *task, report);
    for (std::size_t v = 0; v < static_cast<std::size_t>(rows); ++v) {
      task->g[v] = small.f[v] - problem.linear[v];
      task->beta[v] = small.beta[v];
    }
  }
}

}  // namespace sheaf::kernel::cpu
