// Training of sheaves: all rows at once if memory holds their kernel rows (rounds.hpp), else in chunks of rows
// (chunks.hpp).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "kernel/smo/chunks.hpp"
#include "kernel/smo/rounds.hpp"
#include "kernel/smo/task_progress.hpp"
#include "kernel/smo/train.hpp"
#include "kernel/values/range.hpp"
#include "kernel/values/table.hpp"
#include "kernel/verbs/ops.hpp"

namespace sheaf {
namespace kernel {
namespace {

/// A working set needs room for a few pairs, however little memory there is.
constexpr std::int64_t fewest_slots = 64;

/// Smaller chunks would take many outer rounds.
constexpr std::int64_t fewest_chunk_rows = 4096;

/// How many kernel rows fit into memory besides `other` bytes.
std::int64_t slots_for(const Context& context, std::int64_t rows, std::int64_t other) {
  const std::int64_t room = std::max<std::int64_t>(0, context.memory() - other);
  const std::int64_t padded = (rows + 31) / 32 * 32;
  return std::min(rows, room / (padded * std::int64_t{sizeof(float)}));
}

/// Makes the SVMs of solved tasks.
class Results {
 public:
  Results(const SvmSheaf& sheaf, const SvmParams& params, const RowOrder& order, const TrainedDecisions& decisions)
      : sheaf_(sheaf), params_(params), order_(order), decisions_(decisions) {
    fits.tasks.resize(sheaf.tasks.size());
  }

  Problems problems(const Context& context, std::int32_t first, std::int32_t count) const {
    return make_problems(context, sheaf_, order_, first, count, params_.tolerance);
  }

  void keep(std::int32_t task, const TaskProblem& problem, std::span<const double> beta, std::span<const double> g,
            const Rounds::End& end) {
    SvmFit fit = make_fit(sheaf_, order_, problem, beta, g);
    fit.violation = end.violation;
    fit.iterations = end.iterations;
    fit.rounds = end.rounds;
    fit.converged = end.converged;
    fits.tasks[static_cast<std::size_t>(task)] = std::move(fit);
  }

  /// Whether the gradients are the decision values: most rows of pairs of classes take part in few tasks.
  bool have_decisions() const { return !decisions_.columns.empty() && order_.classes.empty(); }
  /// How the decision values of a kept task follow from its g.
  DecisionColumn column_of(std::int32_t task, double offset) const {
    const auto& fit = fits.tasks[static_cast<std::size_t>(task)];
    const double scale = sheaf_.kind == SvmKind::nu_svc && fit.margin > 0 ? 1 / fit.margin : 1;
    return {decisions_.columns[static_cast<std::size_t>(task)], offset, scale, fit.svm.rho};
  }
  BlockView<double> decisions() const { return decisions_.block; }

  SvmFits fits;

 private:
  const SvmSheaf& sheaf_;
  const SvmParams& params_;
  const RowOrder& order_;
  const TrainedDecisions& decisions_;
};

/// Adds to the gradient of a task the offsets subtracted from its kernel values, and returns what was added to each
/// entry. The sum of beta is 0.
double restore_gradient(const TaskProblem& problem, std::span<const double> beta, std::span<const double> offsets,
                        std::span<double> g) {
  if (offsets.empty()) return 0;
  double taken = 0;
  for (std::int64_t v = 0; v < problem.variables(); ++v)
    taken += beta[static_cast<std::size_t>(v)] * offsets[static_cast<std::size_t>(problem.position(v % problem.rows))];
  for (double& gradient : g) gradient += taken;
  return taken;
}

/// Tasks first .. first + count - 1, all rows at once. `offsets`: those of the kernel values.
void train_some(const Context& context, std::int32_t first, std::int32_t count, SvmOps& ops, const RowOrder& order,
                std::span<const double> offsets, Rounds& rounds, std::int64_t max_iterations, Results& results,
                TaskProgress& progress) {
  const auto problems = results.problems(context, first, count);
  rounds.solve(problems, false, max_iterations, [&](std::int32_t task, double violation) {
    progress.report(static_cast<std::size_t>(first + task), violation);
  });
  for (std::int32_t t = first; t < first + count; ++t) progress.finish(static_cast<std::size_t>(t));
  Array<double> beta;
  Array<double> g;
  ops.fetch(beta, g);
  const auto& tasks = problems.tasks;
  std::vector<std::pair<std::int64_t, std::int64_t>> places(tasks.size());  // of variables and rows
  for (std::size_t t = 1; t < places.size(); ++t)
    places[t] = {places[t - 1].first + tasks[t - 1].variables(), places[t - 1].second + tasks[t - 1].rows};
  std::vector<double> added(tasks.size());
  parallel_for(context.threads(), count, [&](std::int64_t number) {
    const auto t = static_cast<std::size_t>(number);
    const std::span<const double> own =
        beta.span().subspan(static_cast<std::size_t>(places[t].first), static_cast<std::size_t>(tasks[t].variables()));
    const auto gradient =
        g.span().subspan(static_cast<std::size_t>(places[t].second), static_cast<std::size_t>(tasks[t].rows));
    added[t] = restore_gradient(tasks[t], own, offsets, gradient);
    results.keep(first + static_cast<std::int32_t>(number), tasks[t], own, gradient, rounds.ends()[t]);
  });
  if (!results.have_decisions()) return;
  std::vector<DecisionColumn> columns;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    columns.push_back(results.column_of(first + static_cast<std::int32_t>(t), added[t]));
  ops.write_decisions(columns, order.rows, results.decisions());
}

/// Tasks first .. first + the result - 1 whose variables take at most `room` bytes; at least one.
std::int32_t tasks_that_fit(const SvmSheaf& sheaf, const RowOrder& order, std::int32_t first, std::int64_t per_variable,
                            std::int64_t room) {
  const auto tasks = static_cast<std::int32_t>(sheaf.tasks.size());
  std::int64_t bytes = 0;
  std::int32_t count = 0;
  while (first + count < tasks) {
    bytes += count_variables(sheaf, order, first + count) * per_variable;
    if (count > 0 && bytes > room) break;
    ++count;
  }
  return count;
}

/// The rows of a chunk if memory does not hold the kernel rows of all rows besides `other` bytes; 0: no chunks, kernel
/// rows are discarded and computed again instead. On 20,000 rows of covtype, an eighth at a time took 24 outer rounds
/// and 228 inner ones, a fifth 16 and 271.
std::int64_t chunk_rows(const Context& context, const SvmSheaf& sheaf, const SvmParams& params, const RowOrder& order,
                        std::int64_t other) {
  if (!order.classes.empty() || params.kernel.type == KernelType::precomputed) return 0;
  const auto room = static_cast<double>(std::max<std::int64_t>(0, context.memory() - other));
  const auto fitting = static_cast<std::int64_t>(std::sqrt(room / sizeof(float)));
  const std::int64_t wanted = std::max(fewest_chunk_rows, sheaf.examples / 8);
  return fitting < std::max(fewest_chunk_rows, sheaf.examples / 32) ? 0 : std::min({fitting, wanted, sheaf.examples});
}

template <class T>
void train_in_chunks(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params,
                     const RowOrder& order, std::int64_t most_rows, Results& results) {
  constexpr std::int64_t per_variable = 6 * sizeof(double);  // the problem, beta, g and the sums added to it
  const auto block = results.decisions();
  Block<double> here(results.have_decisions() ? block.rows : 0, block.tasks);
  for (std::int32_t first = 0; first < static_cast<std::int32_t>(sheaf.tasks.size());) {
    const std::int32_t count = tasks_that_fit(sheaf, order, first, per_variable, context.memory() / 4);
    const auto problems = results.problems(context, first, count);
    const auto solved = solve_in_chunks(context, dataset, params, problems.tasks, most_rows, results.fits.counts);
    parallel_for(context.threads(), count, [&](std::int64_t number) {
      const auto t = static_cast<std::size_t>(number);
      const auto task = first + static_cast<std::int32_t>(number);
      results.keep(task, problems.tasks[t], solved[t].beta, solved[t].g, solved[t].end);
      if (results.have_decisions())
        write_task_decisions(problems.tasks[t], solved[t].g, results.column_of(task, 0), order.rows, here.view());
    });
    first += count;
  }
  if (results.have_decisions())
    copy_bytes(block.data, block.device, here.view().data, Device::cpu(),
               here.rows() * here.stride() * static_cast<std::int64_t>(sizeof(double)));
}

/// Decision values of all rows, from the support vectors.
template <class T>
void decide_all(const Context& context, const Dataset<T>& dataset, const KernelParams& kernel, const SvmFits& fits,
                const TrainedDecisions& decisions) {
  std::vector<BinarySvm> svms(static_cast<std::size_t>(decisions.block.tasks));
  for (std::size_t t = 0; t < fits.tasks.size(); ++t)
    if (decisions.columns[t] >= 0) svms[static_cast<std::size_t>(decisions.columns[t])] = fits.tasks[t].svm;
  std::vector<std::int32_t> all(static_cast<std::size_t>(dataset.rows()));
  std::iota(all.begin(), all.end(), 0);
  decide_rows(context, kernel, dataset, svms, Queries<T>{dataset, all}, decisions.block);
}

}  // namespace

template <class T>
SvmFits train_tasks(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params,
                    const TrainedDecisions& decisions, KeptRows* kept) {
  check_sheaf(sheaf, dataset.rows(), dataset.features(), params);
  const RowOrder order = order_rows(sheaf);
  check_kernel_values(dataset, order.rows, params.kernel, -1, context.threads());
  Results results(sheaf, params, order, decisions);
  // The sum of the variables is 0 but in one-class models.
  std::vector<double> offsets;
  if (sheaf.kind != SvmKind::one_class)
    offsets = kernel_offsets(dataset.x, order.rows, params.kernel, context.threads());
  auto ops = make_ops(context, dataset, order.rows, params.kernel, offsets, kept);
  std::int64_t variables = 0;
  for (std::size_t t = 0; t < sheaf.tasks.size(); ++t)
    variables += count_variables(sheaf, order, static_cast<std::int32_t>(t));
  const std::int64_t room = std::min(context.memory() / 4, variables * ops->bytes_per_variable());
  const std::int64_t slots =
      std::max(slots_for(context, sheaf.examples, ops->data_bytes() + room), std::min(sheaf.examples, fewest_slots));
  const std::int64_t chunk = chunk_rows(context, sheaf, params, order, ops->data_bytes() + room);
  if (slots < sheaf.examples && chunk > 0) {
    ops.reset();
    train_in_chunks(context, dataset, sheaf, params, order, chunk, results);
    return std::move(results.fits);
  }
  Rounds rounds(context, *ops, order.parts(), sheaf.examples, slots);
  const std::string name = slots < sheaf.examples
                               ? fmt::format("training, with memory for {} of {} kernel rows", slots, sheaf.examples)
                               : "training";
  TaskProgress progress(context.progress(), name, sheaf.tasks.size(), params.tolerance);
  for (std::int32_t first = 0; first < static_cast<std::int32_t>(sheaf.tasks.size());) {
    const std::int32_t count = tasks_that_fit(sheaf, order, first, ops->bytes_per_variable(), room);
    train_some(context, first, count, *ops, order, offsets, rounds, params.max_iterations, results, progress);
    first += count;
  }
  results.fits.counts = rounds.counts();
  if (!decisions.columns.empty() && !results.have_decisions())
    decide_all(context, dataset, params.kernel, results.fits, decisions);
  return std::move(results.fits);
}

template SvmFits train_tasks(const Context&, const Dataset<float>&, const SvmSheaf&, const SvmParams&,
                             const TrainedDecisions&, KeptRows*);
template SvmFits train_tasks(const Context&, const Dataset<double>&, const SvmSheaf&, const SvmParams&,
                             const TrainedDecisions&, KeptRows*);

}  // namespace kernel

template <class T>
SvmFits train_sheaf(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params) {
  if (!params.decisions) return kernel::train_tasks(context, dataset, sheaf, params, {});
  std::vector<std::int32_t> columns(sheaf.tasks.size());
  std::iota(columns.begin(), columns.end(), 0);
  Block<double> decisions(sheaf.examples, static_cast<std::int32_t>(columns.size()), context.device());
  auto fits = kernel::train_tasks(context, dataset, sheaf, params, {columns, decisions.view()});
  fits.decisions = decisions.device().is_cpu() ? std::move(decisions) : decisions.to(Device::cpu());
  return fits;
}

template SvmFits train_sheaf(const Context&, const Dataset<float>&, const SvmSheaf&, const SvmParams&);
template SvmFits train_sheaf(const Context&, const Dataset<double>&, const SvmSheaf&, const SvmParams&);

}  // namespace sheaf
