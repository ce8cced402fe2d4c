// Sequential minimal optimisation over working sets, for all tasks of a sheaf at once. The problem is stated in
// problem.hpp. Each round (Joachims 1999; Wen et al. 2018, ThunderSVM):
//
//   1. every task chooses its next working set: variables of the last one that are free, and the worst violators;
//   2. missing kernel rows of the union of all working sets are computed by one product and kept for all tasks;
//   3. every task is solved on its working set alone, by pairs chosen to second order (Fan, Chen, Lin 2005);
//   4. every g = K beta is brought up to date, also for held-out rows, whose decision values it gives.
//
// A task is done if its violation m - M (Keerthi et al. 2001) is below the tolerance. There is no shrinking within:
// rows are shared, so none can be cut short for one task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "kernel/values/cache.hpp"
#include "kernel/verbs/ops.hpp"

namespace sheaf::kernel {

class Rounds {
 public:
  /// How the training of one task ended.
  struct End {
    double violation = 0;
    std::int64_t iterations = 0;
    std::int32_t rounds = 0;
    bool converged = false;
  };

  /// For `rows` rows, whose kernel rows are cut into `parts`. Context and ops must outlive it.
  Rounds(const Context& context, SvmOps& ops, std::vector<Range> parts, std::int64_t rows, std::int64_t slots);

  /// Solves the problems. `known`: their linear terms include K start, so that g is K (beta - start). `report` is
  /// called from any thread.
  void solve(const Problems& problems, bool known, std::int64_t max_iterations, const ReportViolation& report);

  const std::vector<End>& ends() const { return ends_; }
  const KernelCounts& counts() const { return counts_; }

 private:
  void start(std::int32_t task);
  void round(std::vector<std::int32_t>& active, const ReportViolation& report);
  std::size_t fitting(std::span<const WorkingSet> sets);
  void bring(std::span<const std::int32_t> tasks, std::span<WorkingSet> sets);
  std::span<const std::int32_t> needed_parts(std::int32_t task) const;
  void compute(const std::vector<std::pair<std::int32_t, std::int32_t>>& missing, Range against);
  void count_asked(std::int32_t task, std::span<const std::int32_t> positions);
  std::int64_t steps_left(std::span<const std::int32_t> tasks) const;
  std::int64_t most_iterations(std::int32_t task) const;

  const Context& context_;
  SvmOps& ops_;
  std::vector<Range> parts_;
  std::int64_t rows_;
  RowCache cache_;
  std::vector<std::int32_t> all_parts_;
  std::int32_t size_ = 0;
  std::int64_t max_iterations_ = 0;
  std::span<const TaskProblem> problems_;
  std::vector<End> ends_;
  std::vector<std::vector<std::uint8_t>> asked_;
  std::vector<WorkingSet> sets_;
  std::vector<std::int64_t> seen_in_;  // by row: the last call of fitting() that counted it
  std::int64_t fitting_calls_ = 0;
  KernelCounts counts_;
};

}  // namespace sheaf::kernel
