#include "information/count/sums_cpu.hpp"

#include <numeric>

#include "information/count/ordered.hpp"

namespace sheaf::information::cpu {
namespace {

std::uint32_t weight_of(const Problem& problem, std::size_t i) {
  return problem.weights.empty() ? 1 : problem.weights[i];
}

/// By class first, then, keeping that order, by state.
std::vector<std::uint32_t> sort_by_state_and_class(const ClassOrder& order, std::span<const std::uint32_t> codes,
                                                   std::int64_t states) {
  std::vector<std::uint32_t> by_class(codes.size());
  for (std::size_t i = 0; i < by_class.size(); ++i)
    by_class[static_cast<std::size_t>(order.places[i])] = static_cast<std::uint32_t>(i);
  std::vector<std::int64_t> next(static_cast<std::size_t>(states) + 1, 0);
  for (const std::uint32_t code : codes) ++next[code + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> sorted(codes.size());
  for (const std::uint32_t i : by_class) sorted[static_cast<std::size_t>(next[codes[i]]++)] = i;
  return sorted;
}

/// Rows that do not count, and those that have their state for themselves.
void leave_out_single(const Problem& problem, const FixedLog& log, std::span<const std::uint32_t> codes,
                      std::int64_t states, Groups& groups) {
  std::vector<std::uint32_t> rows_of(static_cast<std::size_t>(states), 0);
  for (const std::uint32_t i : groups.rows) rows_of[codes[i]] += weight_of(problem, i) > 0 ? 1 : 0;
  std::erase_if(groups.rows, [&](std::uint32_t i) {
    const std::uint32_t weight = weight_of(problem, i);
    const bool single = weight > 0 && rows_of[codes[i]] == 1;
    if (single) groups.left_out += log(weight);
    return single || weight == 0;
  });
}

}  // namespace

Groups make_groups(const Problem& problem, const FixedLog& log, const ClassOrder& order,
                   std::span<const std::uint32_t> codes, std::int64_t states) {
  Groups groups;
  groups.rows = sort_by_state_and_class(order, codes, states);
  leave_out_single(problem, log, codes, states, groups);
  for (std::size_t k = 0; k < groups.rows.size(); ++k) {
    const std::uint32_t i = groups.rows[k];
    const std::uint32_t before = groups.rows[k > 0 ? k - 1 : 0];
    const bool new_state = k == 0 || codes[i] != codes[before];
    if (!new_state && problem.classes[i] == problem.classes[before]) continue;
    groups.begins.push_back(static_cast<std::int64_t>(k));
    groups.begins_state.push_back(new_state ? 1 : 0);
  }
  groups.begins.push_back(static_cast<std::int64_t>(groups.rows.size()));
  return groups;
}

SparseSide make_sparse_side(const Problem& problem, const FixedLog& log, std::span<const std::uint32_t> codes,
                            std::int64_t states) {
  SparseSide side;
  std::vector<std::uint32_t> with_class;
  const std::vector<std::uint32_t> classes(problem.classes.begin(), problem.classes.end());
  const std::int64_t joint = Merger().merge({codes, states}, {classes, problem.class_count}, with_class);
  side.counts.assign(static_cast<std::size_t>(states), 0);
  side.class_counts.assign(static_cast<std::size_t>(joint), 0);
  side.states.resize(with_class.size());
  for (std::size_t i = 0; i < with_class.size(); ++i) {
    side.states[i] = {codes[i], with_class[i]};
    side.sum += grow(log, side.counts[codes[i]], weight_of(problem, i));
    side.class_sum += grow(log, side.class_counts[with_class[i]], weight_of(problem, i));
  }
  return side;
}

}  // namespace sheaf::information::cpu
