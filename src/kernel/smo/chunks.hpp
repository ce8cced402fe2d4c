// Training on more rows than memory holds kernel rows for: outer rounds, each over the chunk of rows that matter most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "kernel/smo/rounds.hpp"
#include "kernel/verbs/problem.hpp"

namespace sheaf::kernel {

/// A trained task: beta by variable, g by row.
struct Solved {
  std::vector<double> beta, g;
  Rounds::End end;
};

/// Solves the problems, which are over all rows in the order of the dataset, in chunks of `most_rows` rows.
template <class T>
std::vector<Solved> solve_in_chunks(const Context& context, const Dataset<T>& dataset, const SvmParams& params,
                                    std::span<const TaskProblem> problems, std::int64_t most_rows,
                                    KernelCounts& counts);

}  // namespace sheaf::kernel
