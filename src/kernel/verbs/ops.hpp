// The verbs of the kernel family: all operations of training and prediction on a device. One object serves the rows of
// one dataset on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/svm.hpp>

#include "kernel/values/class_choice.hpp"
#include "kernel/values/table.hpp"
#include "kernel/verbs/problem.hpp"

namespace sheaf::kernel {

/// How many variables of the last working set may stay in the next one. Measured on a9a: three quarters take a fifth
/// fewer rounds and kernel rows than half if C is large, and no more if it is small.
constexpr std::int32_t most_kept(std::int32_t size) { return size / 4 * 3; }

/// The variables of one round of a task, and how far it is from its optimum.
struct WorkingSet {
  std::vector<std::int32_t> variables;
  std::vector<std::int32_t> positions;  ///< of the variables' rows
  std::vector<std::int32_t> slots;      ///< of their kernel rows; the trainer fills them in
  double violation = 0;
  std::int64_t steps = 0;  ///< pair steps since the task's last working set was chosen
};

/// Takes the number of a task and its violation.
using ReportViolation = std::function<void(std::int32_t, double)>;

/// Training. Kernel rows are kept in numbered slots. Every verb may throw Stopped, after which the state of the tasks
/// is undefined.
class SvmOps {
 public:
  SvmOps() = default;
  SvmOps(const SvmOps&) = delete;
  SvmOps& operator=(const SvmOps&) = delete;
  virtual ~SvmOps() = default;

  /// The most variables a working set holds.
  virtual std::int32_t working_set_size() const = 0;
  /// Bytes of the rows and of everything else that does not grow.
  virtual std::int64_t data_bytes() const = 0;
  /// Bytes per variable of a task.
  virtual std::int64_t bytes_per_variable() const = 0;

  /// Starts tasks 0 .. size-1 with beta = start and g = 0. The problems must outlive them.
  virtual void load_tasks(const Problems& problems) = 0;
  /// Computes the kernel rows of these positions into these slots: the part of columns `against`.
  virtual void compute_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                            Range against) = 0;
  /// g_task += sum over k of factors[k] * kernel row slots[k].
  virtual void add_rows(std::int32_t task, std::span<const std::int32_t> slots, std::span<const double> factors) = 0;
  /// Solves those of the given tasks that need no working set, each in at most `most_steps` steps: small pairs of
  /// classes, whose kernel values are of little use to other tasks. Returns the kernel values computed, and computed
  /// had no two tasks shared any. `choose` finds whether they converged. Calls `report` now and then, from any thread.
  virtual KernelCounts solve_full_pairs(std::span<const std::int32_t> tasks, std::int64_t most_steps,
                                        const ReportViolation& report) = 0;
  /// Chooses the next working sets of the given tasks, of at most `size` variables; an empty one for a task whose
  /// violation is below its tolerance.
  virtual void choose(std::span<const std::int32_t> tasks, std::int32_t size, std::span<WorkingSet> sets) = 0;
  /// Solves the given tasks on their working sets, each in at most `most_steps` steps, and brings their g up to date.
  /// May return before it is done.
  virtual void improve(std::span<const std::int32_t> tasks, std::span<const WorkingSet> sets,
                       std::int64_t most_steps) = 0;
  /// Copies beta by variable and g by row, of all tasks one behind the other.
  virtual void fetch(Array<double>& beta, Array<double>& g) = 0;
  /// Writes the decision values of all tasks at their rows into a block on the device. `order` as in make_ops().
  virtual void write_decisions(std::span<const DecisionColumn> columns, std::span<const std::int32_t> order,
                               BlockView<double> decisions) = 0;
};

/// Sparse coefficients of SVMs over support vectors, by support vector.
struct Coefficients {
  std::vector<std::int64_t> offsets;  ///< support vectors + 1
  std::vector<std::int32_t> svms;
  std::vector<double> values;
  std::vector<double> rhos;  ///< of each SVM, to be subtracted; empty: nothing is
};

/// The backend of the context's device. `order` names the rows of the dataset by position; the dataset must outlive it.
/// `offsets`, one for each position or none, are subtracted from kernel values (kernel_offsets()). The rows are laid
/// out anew unless `kept` has them.
template <class T>
std::unique_ptr<SvmOps> make_ops(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
                                 const KernelParams& kernel, std::span<const double> offsets, KeptRows* kept = nullptr);

/// SVMs over support vectors, which are rows of a dataset.
template <class T>
struct Deciders {
  const KernelParams& kernel;
  const Dataset<T>& support;
  std::span<const std::int32_t> support_rows;
  const Coefficients& coefficients;
};
/// Rows to decide about, which are never copied one split at a time.
template <class T>
struct Queries {
  const Dataset<T>& dataset;
  std::span<const std::int32_t> rows;
};
/// decisions(i, m) += sum over support vectors s of value * K(row i, s) - rho, for the rows of the queries. The block
/// has a row for each row of their dataset and lies on the context's device.
template <class T>
void add_decisions(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                   BlockView<double> decisions);
/// The same of SVMs whose rows are those of `support`, into a block that is 0 there.
template <class T>
void decide_rows(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                 std::span<const BinarySvm> svms, const Queries<T>& queries, BlockView<double> decisions);

/// The values of the classes and the chosen class of each model on some rows. All blocks lie on the context's device.
struct ClassBlocks {
  std::span<const std::int32_t> rows;     ///< of the blocks
  std::span<const std::uint8_t> present;  ///< models x classes, as of ClassChoice; empty: all
  BlockView<const double> decisions;      ///< rows x (models * choice.svms())
  BlockView<double> values;               ///< rows x (models * choice.columns()); no columns: not asked for
  BlockView<std::int32_t> predicted;      ///< rows x models
};
void choose_classes(const Context& context, const ClassChoice& choice, const ClassBlocks& blocks);

// The backends, called by those above only.
template <class T>
std::unique_ptr<SvmOps> make_cpu_ops(const Context& context, const Dataset<T>& dataset,
                                     std::span<const std::int32_t> order, const KernelParams& kernel,
                                     std::span<const double> offsets, KeptRows* kept);
template <class T>
void add_decisions_cpu(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                       BlockView<double> decisions);
template <class Set, class T>
std::unique_ptr<SvmOps> make_cpu_ops_for(const Context& context, const Dataset<T>& dataset,
                                         std::span<const std::int32_t> order, const KernelParams& kernel,
                                         std::span<const double> offsets, KeptRows* kept);
template <class Set, class T>
void add_decisions_for(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                       BlockView<double> decisions);
template <class T>
std::unique_ptr<SvmOps> make_cuda_ops(const Context& context, const Dataset<T>& dataset,
                                      std::span<const std::int32_t> order, const KernelParams& kernel,
                                      std::span<const double> offsets, KeptRows* kept);
template <class T>
void add_decisions_cuda(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                        BlockView<double> decisions);
void choose_classes_cuda(const Context& context, const ClassChoice& choice, const ClassBlocks& blocks);

}  // namespace sheaf::kernel
