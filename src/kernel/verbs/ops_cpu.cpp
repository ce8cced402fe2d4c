// The kernel verbs on CPU cores. Threads share out tiles of rows, or tasks; the order of sums does not depend on their
// number.
#include <algorithm>
#include <numeric>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "data/borrowed.hpp"
#include "kernel/values/tiles_cpu.hpp"
#include "kernel/verbs/choose_cpu.hpp"
#include "kernel/verbs/full_pair_cpu.hpp"
#include "kernel/verbs/ops.hpp"
#include "kernel/verbs/working_set_cpu.hpp"

namespace sheaf::kernel {
namespace {

constexpr std::int32_t working_set = 512;
/// Rows of g that stay in the first-level cache while kernel rows pass by.
constexpr std::int64_t gradient_rows = 1024;
constexpr std::int64_t lane_bytes = std::int64_t{16} << 20;
constexpr std::int64_t slab_bytes = std::int64_t{256} << 20;

/// A change of some of the betas of a task.
struct Change {
  std::vector<const float*> rows;
  std::vector<double> factors;
};

/// g[i] += sum over the change's rows of factor * row[i].
void add_change(const Change& change, std::int64_t begin, std::int64_t end, double* g) {
  std::size_t k = 0;
  for (; k + 4 <= change.rows.size(); k += 4) {
    const float* a = change.rows[k] + begin;
    const float* b = change.rows[k + 1] + begin;
    const float* c = change.rows[k + 2] + begin;
    const float* d = change.rows[k + 3] + begin;
    const double* by = change.factors.data() + k;
    for (std::int64_t i = 0; i < end - begin; ++i)
      g[i] += by[0] * static_cast<double>(a[i]) + by[1] * static_cast<double>(b[i]) +
              by[2] * static_cast<double>(c[i]) + by[3] * static_cast<double>(d[i]);
  }
  for (; k < change.rows.size(); ++k)
    for (std::int64_t i = begin; i < end; ++i)
      g[i - begin] += change.factors[k] * static_cast<double>(change.rows[k][i]);
}

template <class A>
class CpuOps final : public SvmOps {
 public:
  /// `kept` owns the rows that the table borrows.
  CpuOps(std::shared_ptr<const void> kept, Table<A> table, const KernelParams& kernel, const Context& context)
      : kept_(std::move(kept)),
        table_(std::move(table)),
        kernel_(kernel),
        context_(context),
        rows_(sheaf::rows(table_.x)) {
    stride_ = (rows_ + 15) / 16 * 16;
    slab_rows_ = std::max<std::int64_t>(1, slab_bytes / (stride_ * std::int64_t{sizeof(float)}));
  }

  std::int32_t working_set_size() const override { return working_set; }
  std::int64_t data_bytes() const override { return matrix_bytes(table_.x) + lane_bytes; }
  std::int64_t bytes_per_variable() const override { return 4 * sizeof(double) + 1; }

  void load_tasks(const Problems& problems) override {
    tasks_.clear();
    for (const TaskProblem& problem : problems.tasks) {
      TaskState state;
      state.problem = problem;
      state.beta.assign(problem.start.begin(), problem.start.end());
      state.beta.resize(static_cast<std::size_t>(problem.variables()), 0.0);
      state.g.assign(static_cast<std::size_t>(problem.rows), 0.0);
      tasks_.push_back(std::move(state));
    }
  }

  void compute_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                    Range against) override {
    for (const std::int32_t slot : slots)
      while (static_cast<std::int64_t>(slabs_.size()) * slab_rows_ <= slot) slabs_.emplace_back(slab_rows_ * stride_);
    if (kernel_.type == KernelType::precomputed) return copy_rows(positions, slots, against);
    const std::int64_t group_bytes = std::max<std::int64_t>(1, columns(table_.x) * 64);
    const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(lane_bytes / group_bytes, 1, 64)) *
                      static_cast<std::size_t>(cpu::lanes<A>);
    for (std::size_t first = 0; first < positions.size(); first += most) {
      const std::size_t count = std::min(most, positions.size() - first);
      compute_block(positions.subspan(first, count), slots.subspan(first, count), against);
    }
  }

  void add_rows(std::int32_t task, std::span<const std::int32_t> slots, std::span<const double> factors) override {
    Change change;
    for (const std::int32_t slot : slots) change.rows.push_back(row_at(slot));
    change.factors.assign(factors.begin(), factors.end());
    const std::int32_t tasks[] = {task};
    add_changes(tasks, {&change, 1});
  }

  KernelCounts solve_full_pairs(std::span<const std::int32_t> tasks, std::int64_t most_steps,
                                const ReportViolation& report) override {
    KernelCounts counts;
    if (!cpu::suits_full_pairs(table_)) return counts;
    const auto state_of = [&](std::int32_t task) -> TaskState& { return tasks_[static_cast<std::size_t>(task)]; };
    const auto units = group_small_pairs(
        tasks, cpu::most_sharing_tasks, [&](std::int32_t task) -> auto& { return state_of(task).problem; });
    share_out(context_.threads(), std::ssize(units), [&](std::int64_t unit) {
      smalls_.with_one([&](cpu::SmallProblem& small) {
        const auto& pair = units[static_cast<std::size_t>(unit)];
        small.resize(state_of(pair.front()).problem.rows, 0);
        cpu::fill_full_pair(context_, kernel_, table_, state_of(pair.front()).problem, small);
        for (const std::int32_t task : pair)
          cpu::solve_full_pair(context_, most_steps, small, state_of(task),
                               [&](double violation) { report(task, violation); });
      });
    });
    for (const auto& unit : units) {
      const std::int64_t rows = state_of(unit.front()).problem.rows;
      counts.computed += rows * (rows + 1) / 2;
      counts.unshared += rows * (rows + 1) / 2 * std::ssize(unit);
    }
    return counts;
  }

  void choose(std::span<const std::int32_t> tasks, std::int32_t size, std::span<WorkingSet> sets) override {
    std::int64_t variables = 0;
    for (const std::int32_t task : tasks) variables += tasks_[static_cast<std::size_t>(task)].problem.variables();
    share_out(team_for(context_.threads(), variables), std::ssize(tasks), [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k);
      cpu::Chooser().choose(tasks_[static_cast<std::size_t>(tasks[at])], size, sets[at]);
    });
  }

  void improve(std::span<const std::int32_t> tasks, std::span<const WorkingSet> sets,
               std::int64_t most_steps) override {
    std::vector<Change> changes(tasks.size());
    share_out(context_.threads(), std::ssize(tasks), [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k);
      smalls_.with_one([&](cpu::SmallProblem& small) {
        solve(tasks_[static_cast<std::size_t>(tasks[at])], sets[at], most_steps, changes[at], small);
      });
    });
    add_changes(tasks, changes);
  }

  void fetch(Array<double>& beta, Array<double>& g) override {
    beta = together(&TaskState::beta);
    g = together(&TaskState::g);
  }

  void write_decisions(std::span<const DecisionColumn> columns, std::span<const std::int32_t> order,
                       BlockView<double> decisions) override {
    share_out(context_.threads(), std::ssize(tasks_), [&](std::int64_t t) {
      const TaskState& task = tasks_[static_cast<std::size_t>(t)];
      write_task_decisions(task.problem, task.g, columns[static_cast<std::size_t>(t)], order, decisions);
    });
  }

 private:
  using TaskState = cpu::TaskState;

  Array<double> together(std::vector<double> TaskState::*part) const {
    std::int64_t size = 0;
    for (const TaskState& task : tasks_) size += std::ssize(task.*part);
    Array<double> all(size);
    double* to = all.data();
    for (const TaskState& task : tasks_) to = std::copy((task.*part).begin(), (task.*part).end(), to);
    return all;
  }

  /// Calls work(i) for i in 0 .. count-1 on this many threads; throws Stopped once a stop is requested.
  template <class Work>
  void share_out(int threads, std::int64_t count, const Work& work) const {
    parallel_for(threads, count, [&](std::int64_t i) {
      context_.check_stop();
      work(i);
    });
  }

  float* row_at(std::int32_t slot) {
    return slabs_[static_cast<std::size_t>(slot / slab_rows_)].data() + slot % slab_rows_ * stride_;
  }

  void compute_block(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots, Range against) {
    constexpr auto lanes = static_cast<std::size_t>(cpu::lanes<A>);
    std::vector<cpu::LaneRows<A>> groups;
    for (std::size_t first = 0; first < positions.size(); first += lanes)
      groups.emplace_back(table_, positions.subspan(first, std::min(lanes, positions.size() - first)),
                          columns(table_.x));
    const std::int64_t width = against.end - against.begin;
    const std::int64_t tiles = (width + cpu::tile_rows - 1) / cpu::tile_rows;
    const int team = team_for(context_.threads(), width * static_cast<std::int64_t>(positions.size()));
    share_out(team, tiles, [&](std::int64_t tile) {
      alignas(64) float values[cpu::tile_rows * cpu::lanes<A>];
      const std::int64_t first = against.begin + tile * cpu::tile_rows;
      const std::int64_t count = std::min(cpu::tile_rows, against.end - first);
      for (std::size_t group = 0; group < groups.size(); ++group) {
        cpu::kernel_tile(kernel_, table_, first, count, groups[group], values);
        const std::size_t used = std::min(lanes, positions.size() - group * lanes);
        for (std::size_t r = 0; r < used; ++r) {
          float* to = row_at(slots[group * lanes + r]) + first;
          for (std::int64_t i = 0; i < count; ++i) to[i] = values[i * cpu::lanes<A> + static_cast<std::int64_t>(r)];
        }
      }
    });
  }

  /// Column j of a precomputed table is the position's row of the dataset: the table's columns follow its rows.
  void copy_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots, Range against) {
    const auto& x = std::get<DenseMatrix<A>>(table_.x);
    share_out(context_.threads(), std::ssize(positions), [&](std::int64_t k) {
      const A* from = x.values.data() + positions[static_cast<std::size_t>(k)] * x.columns;
      float* to = row_at(slots[static_cast<std::size_t>(k)]);
      for (std::int64_t i = against.begin; i < against.end; ++i) to[i] = static_cast<float>(from[i]);
    });
  }

  void solve(TaskState& task, const WorkingSet& set, std::int64_t most_steps, Change& change,
             cpu::SmallProblem& small) {
    const TaskProblem& problem = task.problem;
    std::vector<std::size_t> order(set.variables.size());  // the first group before the second
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {  // kernel rows are read front to back
      return std::pair(set.positions[a], set.variables[a]) < std::pair(set.positions[b], set.variables[b]);
    });
    const auto in_first = [&](std::size_t k) {
      return !problem.grouped || problem.bounds[static_cast<std::size_t>(set.variables[k])] > 0;
    };
    const auto split = std::stable_partition(order.begin(), order.end(), in_first);
    const auto first = split - order.begin();
    small.resize(first, static_cast<std::int64_t>(order.size()) - first);
    std::vector<std::size_t> places(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      places[k] = static_cast<std::ptrdiff_t>(k) < first
                      ? k
                      : k - static_cast<std::size_t>(first) + static_cast<std::size_t>(small.second_group());
    fill(task, set, order, places, small);
    const double tolerance = problem.variables() == static_cast<std::int64_t>(order.size())
                                 ? problem.tolerance
                                 : std::max(problem.tolerance, 0.1 * set.violation);
    task.steps += small.solve(tolerance * 0.999, std::min(most_steps, 100 * small.size()));
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto v = static_cast<std::size_t>(set.variables[order[k]]);
      const double delta = small.beta[places[k]] - task.beta[v];
      if (delta == 0) continue;
      task.beta[v] = small.beta[places[k]];
      change.rows.push_back(row_at(set.slots[order[k]]));
      change.factors.push_back(delta);
    }
  }

  void fill(const TaskState& task, const WorkingSet& set, const std::vector<std::size_t>& order,
            const std::vector<std::size_t>& places, cpu::SmallProblem& small) {
    const TaskProblem& problem = task.problem;
    const auto size = static_cast<std::size_t>(small.size());
    std::vector<std::int32_t> columns(size, 0);  // padding reads a value that is not used
    for (std::size_t k = 0; k < order.size(); ++k) columns[places[k]] = set.positions[order[k]];
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto v = static_cast<std::size_t>(set.variables[order[k]]);
      const std::size_t at = places[k];
      small.f[at] = task.g[v % static_cast<std::size_t>(problem.rows)] + problem.linear[v];
      small.beta[at] = task.beta[v];
      small.lower[at] = std::min(problem.bounds[v], 0.0);
      small.upper[at] = std::max(problem.bounds[v], 0.0);
      const float* row = row_at(set.slots[order[k]]);
      float* to = small.tile.data() + at * size;
      for (std::size_t l = 0; l < size; ++l) to[l] = row[columns[l]];
      small.diagonal[at] = to[at];
    }
  }

  void add_changes(std::span<const std::int32_t> tasks, std::span<const Change> changes) {
    const std::int64_t tiles = (rows_ + gradient_rows - 1) / gradient_rows;
    std::int64_t work = 0;
    for (std::size_t k = 0; k < tasks.size(); ++k)
      work +=
          tasks_[static_cast<std::size_t>(tasks[k])].problem.rows * static_cast<std::int64_t>(changes[k].rows.size());
    share_out(team_for(context_.threads(), work), tiles, [&](std::int64_t tile) {
      const Range here{tile * gradient_rows, std::min(rows_, (tile + 1) * gradient_rows)};
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        TaskState& task = tasks_[static_cast<std::size_t>(tasks[k])];
        std::int64_t before = 0;  // rows of the task in its earlier ranges
        for (const Range& range : task.problem.ranges) {
          const std::int64_t begin = std::max(here.begin, range.begin);
          const std::int64_t end = std::min(here.end, range.end);
          if (begin < end) add_change(changes[k], begin, end, task.g.data() + before + begin - range.begin);
          before += range.end - range.begin;
        }
      }
    });
  }

  std::shared_ptr<const void> kept_;
  Table<A> table_;
  KernelParams kernel_;
  Context context_;
  std::int64_t rows_, stride_, slab_rows_;
  std::vector<Array<float>> slabs_;
  std::vector<TaskState> tasks_;
  cpu::SmallProblems smalls_;
};

double rho_of(const Coefficients& coefficients, std::int32_t svm) {
  return coefficients.rhos.empty() ? 0 : coefficients.rhos[static_cast<std::size_t>(svm)];
}

/// Value: of kernel values.
template <class A, class Value, class T>
void decide(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
            BlockView<double> decisions) {
  constexpr auto lanes = static_cast<std::int64_t>(cpu::lanes<A>);
  const auto& kernel = deciders.kernel;
  const auto& coefficients = deciders.coefficients;
  auto table = take_rows<A>(deciders.support.x, deciders.support_rows, kernel, dense_share, context.threads());
  auto asked = take_rows<A>(queries.dataset.x, queries.rows, kernel, dense_share, context.threads());
  drop_empty_columns(table, &asked);
  const std::int64_t vectors = rows(table.x);
  const std::int64_t all = std::ssize(queries.rows);
  parallel_for(context.threads(), (all + lanes - 1) / lanes, [&](std::int64_t group) {
    std::int32_t places[lanes];
    std::iota(places, places + lanes, static_cast<std::int32_t>(group * lanes));
    const auto count = static_cast<std::size_t>(std::min(lanes, all - group * lanes));
    const cpu::LaneRows<A> rows(asked, std::span<const std::int32_t>(places, count), columns(table.x));
    std::vector<double> sums(static_cast<std::size_t>(decisions.tasks) * static_cast<std::size_t>(lanes), 0.0);
    alignas(64) Value values[cpu::tile_rows * cpu::lanes<A>];
    for (std::int64_t begin = 0; begin < vectors; begin += cpu::tile_rows) {
      context.check_stop();
      const std::int64_t tile = std::min(cpu::tile_rows, vectors - begin);
      cpu::kernel_tile(kernel, table, begin, tile, rows, values);
      for (std::int64_t s = 0; s < tile; ++s)
        for (std::int64_t e = coefficients.offsets[static_cast<std::size_t>(begin + s)];
             e < coefficients.offsets[static_cast<std::size_t>(begin + s) + 1]; ++e) {
          const double factor = coefficients.values[static_cast<std::size_t>(e)];
          double* to = sums.data() + std::int64_t{coefficients.svms[static_cast<std::size_t>(e)]} * lanes;
          for (std::int64_t r = 0; r < lanes; ++r) to[r] += factor * static_cast<double>(values[s * lanes + r]);
        }
    }
    for (std::size_t r = 0; r < count; ++r) {
      double* to = decisions.data + queries.rows[static_cast<std::size_t>(places[r])] * std::int64_t{decisions.stride};
      for (std::int32_t m = 0; m < decisions.tasks; ++m)
        to[m] += sums[static_cast<std::size_t>(std::int64_t{m} * lanes) + r] - rho_of(coefficients, m);
    }
  });
}

/// The features of the queries are the kernel values.
template <class T>
void decide_precomputed(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                        BlockView<double> decisions) {
  const auto& coefficients = deciders.coefficients;
  const auto table =
      take_rows<double>(queries.dataset.x, queries.rows, {.type = KernelType::precomputed}, 0, context.threads());
  const auto& x = std::get<DenseMatrix<double>>(table.x);
  parallel_ranges(context.threads(), x.rows, 16, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      context.check_stop();
      double* to = decisions.data + queries.rows[static_cast<std::size_t>(i)] * std::int64_t{decisions.stride};
      for (std::size_t s = 0; s < deciders.support_rows.size(); ++s)
        for (std::int64_t e = coefficients.offsets[s]; e < coefficients.offsets[s + 1]; ++e)
          to[coefficients.svms[static_cast<std::size_t>(e)]] +=
              coefficients.values[static_cast<std::size_t>(e)] * x.values[i * x.columns + deciders.support_rows[s]];
      for (std::int32_t m = 0; m < decisions.tasks; ++m) to[m] -= rho_of(coefficients, m);
    }
  });
}

/// The verbs over rows in precision A, laid out anew unless they are kept. `distances`: see Table.
template <class A, class T>
std::unique_ptr<CpuOps<A>> ops_over(const Context& context, const Dataset<T>& dataset,
                                    std::span<const std::int32_t> order, const KernelParams& kernel, bool distances,
                                    std::span<const double> terms, KeptRows* kept) {
  KeptRows own;
  const auto rows = (kept != nullptr ? kept : &own)->get<Table<A>>(order, distances ? 1 : 0, [&] {
    if (kernel.type == KernelType::precomputed)
      if constexpr (std::is_same_v<A, float>) return precomputed_table(dataset.x, order, context.threads());
    auto table = take_rows<A>(dataset.x, order, kernel, dense_share, context.threads());
    drop_empty_columns(table);
    table.distances = distances;
    return table;
  });
  Table<A> table{borrowed(rows->x), borrowed(rows->terms), rows->distances};
  if (!terms.empty()) table.terms = Array<A>::copy_of(std::vector<A>(terms.begin(), terms.end()));
  return std::make_unique<CpuOps<A>>(rows, std::move(table), kernel, context);
}

}  // namespace

template <class Set, class T>
std::unique_ptr<SvmOps> make_cpu_ops_for(const Context& context, const Dataset<T>& dataset,
                                         std::span<const std::int32_t> order, const KernelParams& kernel,
                                         std::span<const double> offsets, KeptRows* kept) {
  const int threads = context.threads();
  if (float_suffices(dataset.x, kernel, threads))
    return ops_over<float>(context, dataset, order, kernel, false, {}, kept);
  const bool dense = static_cast<double>(stored(dataset.x)) >=
                     dense_share * static_cast<double>(dataset.rows()) * static_cast<double>(dataset.features());
  if (dense && float_distances_suffice(dataset.x, kernel, threads))
    return ops_over<float>(context, dataset, order, kernel, true, {}, kept);
  return ops_over<double>(context, dataset, order, kernel, false, offsets, kept);
}

template <class Set, class T>
void add_decisions_for(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                       BlockView<double> decisions) {
  const auto& kernel = deciders.kernel;
  if (kernel.type == KernelType::precomputed) return decide_precomputed(context, deciders, queries, decisions);
  if (float_suffices(deciders.support.x, kernel, context.threads()) &&
      float_suffices(queries.dataset.x, kernel, context.threads()))
    decide<float, float>(context, deciders, queries, decisions);
  else if (depends_on_distance(kernel))
    decide<double, float>(context, deciders, queries, decisions);
  else
    decide<double, double>(context, deciders, queries, decisions);
}

#define SHEAF_KERNEL_CPU(T)                                                                                           \
  template std::unique_ptr<SvmOps> make_cpu_ops_for<sets::Compiled>(                                                  \
      const Context&, const Dataset<T>&, std::span<const std::int32_t>, const KernelParams&, std::span<const double>, \
      KeptRows*);                                                                                                     \
  template void add_decisions_for<sets::Compiled>(const Context&, const Deciders<T>&, const Queries<T>&,              \
                                                  BlockView<double>);
SHEAF_KERNEL_CPU(float)
SHEAF_KERNEL_CPU(double)
#undef SHEAF_KERNEL_CPU

}  // namespace sheaf::kernel
