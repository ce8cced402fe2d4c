// The verbs of the kernel family: the only things a trainer or user of kernel machines asks of a device. One object
// serves one table of rows on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/kernel.hpp>

#include "kernel/smo/problem.hpp"

namespace sheaf::kernel {

/// How many of the variables a task worked on last may stay for its next round. Measured on a9a: with three quarters,
/// a fifth fewer rounds and kernel rows than with half where C is large, and no more where it is small.
constexpr std::int32_t most_kept(std::int32_t size) { return size / 4 * 3; }

/// The variables a task works on in one round, and how far it is from its optimum.
struct WorkingSet {
  std::vector<std::int32_t> variables;
  std::vector<std::int32_t> positions;  ///< of the variables' rows
  std::vector<std::int32_t> slots;      ///< where their kernel rows lie; the trainer's to fill
  double violation = 0;
  std::int64_t steps = 0;  ///< pair steps taken since the task last chose
};

/// Takes the number of a task and its violation.
using ReportViolation = std::function<void(std::int32_t, double)>;

/// Training. Kernel rows live in numbered slots. Every verb may throw Stopped, after which the tasks' numbers mean
/// nothing.
class SvmOps {
 public:
  SvmOps() = default;
  SvmOps(const SvmOps&) = delete;
  SvmOps& operator=(const SvmOps&) = delete;
  virtual ~SvmOps() = default;

  /// The most variables a working set holds.
  virtual std::int32_t working_set_size() const = 0;
  /// Bytes that the rows and what else does not grow take.
  virtual std::int64_t data_bytes() const = 0;
  /// Bytes that one variable of a task takes.
  virtual std::int64_t bytes_per_variable() const = 0;

  /// Tasks 0 .. size-1 from now on: beta = start, g = 0. The problems must stay where they are.
  virtual void load_tasks(std::span<const TaskProblem> problems) = 0;
  /// Kernel rows of these positions, into these slots: the part that stands against the given positions.
  virtual void compute_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                            Range against) = 0;
  /// g_task += sum over k of factors[k] * kernel row slots[k].
  virtual void add_rows(std::int32_t task, std::span<const std::int32_t> slots, std::span<const double> factors) = 0;
  /// Solves those of the given tasks that are best solved whole, each in at most so many steps: small ones of pairs of
  /// classes, whose kernel values hardly any other task asks for. Returns how many kernel values that took, and would
  /// have taken had no two tasks shared any; `choose` says how far they came. Reports now and then, from any thread.
  virtual KernelCounts solve_small(std::span<const std::int32_t> tasks, std::int64_t most_steps,
                                   const ReportViolation& report) = 0;
  /// The next working sets of the given tasks, of at most `size` variables; none for a task whose violation is below
  /// its tolerance.
  virtual void choose(std::span<const std::int32_t> tasks, std::int32_t size, std::span<WorkingSet> sets) = 0;
  /// Solves the given tasks on their working sets and brings their g up to date. May return before it is done.
  virtual void improve(std::span<const std::int32_t> tasks, std::span<const WorkingSet> sets) = 0;
  /// beta by variable and g by row, those of all tasks one behind the other.
  virtual void fetch(std::vector<double>& beta, std::vector<double>& g) = 0;
};

/// Sparse coefficients of machines over support vectors, by support vector.
struct Coefficients {
  std::vector<std::int64_t> offsets;  ///< support vectors + 1
  std::vector<std::int32_t> machines;
  std::vector<double> values;
};

/// The backend of the context's device. `order` names the rows of the dataset by position; the dataset must outlive it.
template <class T>
std::unique_ptr<SvmOps> make_ops(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
                                 const KernelParams& kernel);
/// decisions(i, m) += sum over support vectors s of value * K(query i, s).
template <class T>
void add_decisions(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                   std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                   const Dataset<T>& queries, BlockView<double> decisions);

// The backends, for these alone.
template <class T>
std::unique_ptr<SvmOps> make_cpu_ops(const Context& context, const Dataset<T>& dataset,
                                     std::span<const std::int32_t> order, const KernelParams& kernel);
template <class T>
void add_decisions_cpu(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                       std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                       const Dataset<T>& queries, BlockView<double> decisions);
template <class Set, class T>
std::unique_ptr<SvmOps> make_cpu_ops_for(const Context& context, const Dataset<T>& dataset,
                                         std::span<const std::int32_t> order, const KernelParams& kernel);
template <class Set, class T>
void add_decisions_for(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                       std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                       const Dataset<T>& queries, BlockView<double> decisions);
template <class T>
std::unique_ptr<SvmOps> make_cuda_ops(const Context& context, const Dataset<T>& dataset,
                                      std::span<const std::int32_t> order, const KernelParams& kernel);
template <class T>
void add_decisions_cuda(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                        std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                        const Dataset<T>& queries, BlockView<double> decisions);

}  // namespace sheaf::kernel
