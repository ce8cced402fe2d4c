// Small pairs of classes, solved by one core without a working set: the full kernel matrix of the pair is computed.
// Only values within a class are of use to other pairs, so that with few features computing them again costs less than
// sharing them. The matrix stays in the core's caches and serves several tasks of the pair (its costs and folds).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/values/tiles_cpu.hpp"
#include "kernel/verbs/choose_cpu.hpp"
#include "kernel/verbs/full_pair.hpp"
#include "kernel/verbs/working_set_cpu.hpp"

namespace sheaf::kernel::cpu {

/// Stored entries per row up to which computing a value costs no more than a few steps that read it.
inline constexpr std::int64_t most_full_pair_entries = 64;
/// Tasks of one pair that share a matrix; more would leave cores without work.
inline constexpr std::size_t most_sharing_tasks = 8;
/// A few milliseconds.
inline constexpr std::int64_t steps_between_stops = 2048;

template <class A>
bool suits_full_pairs(const Table<A>& table) {
  return table.terms.size() > 0 && stored(table.x) <= most_full_pair_entries * rows(table.x);
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

/// Solves one task on the kernel matrix of its pair, in pieces of a few milliseconds, so that a stop is answered and
/// progress moves. Calls report(violation) now and then.
template <class Report>
void solve_full_pair(const Context& context, std::int64_t most_steps, SmallProblem& small, TaskState& task,
                     const Report& report) {
  const TaskProblem& problem = task.problem;
  const auto rows = static_cast<std::size_t>(problem.rows);
  for (std::size_t v = 0; v < rows; ++v) {
    small.f[v] = task.g[v] + problem.linear[v];
    small.beta[v] = task.beta[v];
    small.lower[v] = std::min(problem.bounds[v], 0.0);
    small.upper[v] = std::max(problem.bounds[v], 0.0);
  }
  const double tolerance = problem.tolerance * 0.999;
  small.solve(tolerance, 0);  // measures the violation at the start
  report(small.violation());
  for (std::int64_t left = most_steps; left > 0;) {
    context.check_stop();
    const std::int64_t most = std::min(left, steps_between_stops);
    const std::int64_t steps = small.solve(tolerance, most);
    task.steps += steps;
    left = steps == most ? left - steps : 0;
    report(small.violation());
  }
  for (std::size_t v = 0; v < rows; ++v) {
    task.g[v] = small.f[v] - problem.linear[v];
    task.beta[v] = small.beta[v];
  }
}

}  // namespace sheaf::kernel::cpu
