// Training over more rows than there is memory for kernel rows: in turns, each over the rows that matter most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/svm.hpp>

#include "kernel/smo/problem.hpp"
#include "kernel/smo/rounds.hpp"

namespace sheaf::kernel {

/// A task as training leaves it: beta by variable, g by row.
struct Solved {
  std::vector<double> beta, g;
  Rounds::End end;
};

/// Solves the problems, which stand over all rows in the order of the dataset, `most_rows` of them at a time.
template <class T>
std::vector<Solved> solve_active(const Context& context, const Dataset<T>& dataset, const SvmParams& params,
                                 std::span<const TaskProblem> problems, std::int64_t most_rows, KernelCounts& counts);

}  // namespace sheaf::kernel
