// Sequential minimal optimisation over working sets, for all tasks of a sheaf at once. The problem is stated in
// problem.hpp. Each round (Joachims 1999; paper 001, algorithms 3 and 4; Wen et al. 2018):
//
//   1. every task names the variables it works on next: what it worked on last and is free, and the worst violators;
//   2. kernel rows of the union of all these that are not at hand are computed by one product and kept for all tasks;
//   3. every task is solved on its variables alone, by pairs chosen to second order (Fan, Chen, Lin 2005);
//   4. every g = K beta is brought up to date, for rows that take no part too: those are decision values of held-out
//      rows.
//
// A task is done where its violation m - M (Keerthi et al. 2001) is below the tolerance. There is no shrinking: rows
// are shared, so none can be cut short for one task.
#include <algorithm>
#include <numeric>
#include <string>

#include <sheaf/error.hpp>
#include <sheaf/progress.hpp>
#include <sheaf/svm.hpp>

#include "core/parallel.hpp"
#include "kernel/cache.hpp"
#include "kernel/ops.hpp"

namespace sheaf {
namespace kernel {
namespace {

/// However little memory there is: a working set needs room for a few pairs.
constexpr std::int64_t fewest_slots = 64;

/// How many slots for kernel rows the memory holds beside `other` bytes.
std::int64_t slots_for(const Context& context, std::int64_t rows, std::int64_t other) {
  const std::int64_t room = std::max<std::int64_t>(0, context.memory() - other);
  return std::min(rows, room / (rows * std::int64_t{sizeof(float)}));
}

class Trainer {
 public:
  Trainer(const Context& context, const SvmSheaf& sheaf, const SvmParams& params, const RowOrder& order, SvmOps& ops,
          std::int64_t slots)
      : context_(context),
        sheaf_(sheaf),
        params_(params),
        order_(order),
        ops_(ops),
        parts_(order.parts()),
        cache_(sheaf.examples, slots, parts_.size()) {
    all_parts_.resize(parts_.size());
    std::iota(all_parts_.begin(), all_parts_.end(), 0);
    size_ = static_cast<std::int32_t>(std::min<std::int64_t>(ops.working_set_size(), slots));
    fits_.tasks.resize(sheaf.tasks.size());
    if (params.decisions)
      fits_.decisions = Block<double>(sheaf.examples, static_cast<std::int32_t>(sheaf.tasks.size()));
  }

  /// Tasks first .. first + count - 1 together.
  void train(std::int32_t first, std::int32_t count, Stage& stage) {
    problems_.resize(index(count));
    parallel_for(context_.threads(), count, [&](std::int64_t t) {
      problems_[static_cast<std::size_t>(t)] = make_task_problem(sheaf_, order_, first + static_cast<std::int32_t>(t));
      problems_[static_cast<std::size_t>(t)].tolerance = params_.tolerance;
    });
    ops_.load_tasks(problems_);
    ends_.assign(index(count), {});
    asked_.assign(index(count), {});
    sets_.resize(index(count));
    std::vector<std::int32_t> active(index(count));
    std::iota(active.begin(), active.end(), 0);
    for (const std::int32_t task : active) start(task);
    while (!active.empty()) {
      const auto before = active.size();
      round(active);
      stage.advance(static_cast<std::int64_t>(before - active.size()));
    }
    finish(first, count);
  }

  SvmFits take() { return std::move(fits_); }

 private:
  struct End {
    double violation = 0;
    std::int64_t iterations = 0;
    std::int32_t rounds = 0;
    bool converged = false;
  };

  /// g of a task that does not start at 0.
  void start(std::int32_t task) {
    const TaskProblem& problem = problems_[index(task)];
    std::vector<std::int32_t> positions;
    std::vector<double> factors;
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      double factor = 0;
      for (int side = 0; side < problem.sides; ++side)
        factor += problem.start[static_cast<std::size_t>(side * problem.rows + i)];
      if (factor == 0) continue;
      positions.push_back(static_cast<std::int32_t>(problem.position(i)));
      factors.push_back(factor);
    }
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(cache_.slots(), 4096));
    for (std::size_t first = 0; first < positions.size(); first += most) {
      const std::size_t count = std::min(most, positions.size() - first);
      const auto chunk = std::span(positions).subspan(first, count);
      WorkingSet set;
      set.positions.assign(chunk.begin(), chunk.end());
      const std::int32_t tasks[] = {task};
      bring(tasks, {&set, 1});
      ops_.add_rows(task, set.slots, std::span(factors).subspan(first, count));
    }
  }

  void round(std::vector<std::int32_t>& active) {
    ops_.choose(active, size_, std::span(sets_).first(active.size()));
    std::size_t going = 0;  // tasks and sets of those that go on move to the front
    for (std::size_t k = 0; k < active.size(); ++k) {
      End& end = ends_[index(active[k])];
      end.violation = sets_[k].violation;
      end.iterations += sets_[k].steps;
      const bool stuck = end.rounds > 0 && sets_[k].steps == 0;  // no step is large enough to change a number
      end.converged = sets_[k].variables.empty();
      if (end.converged || stuck || end.iterations >= most_iterations(active[k])) continue;
      ++end.rounds;
      active[going] = active[k];
      std::swap(sets_[going++], sets_[k]);
    }
    active.resize(going);
    for (std::size_t first = 0; first < going;) {
      const auto sets = std::span(sets_).subspan(first, going - first);
      const std::size_t count = fitting(sets);
      const auto tasks = std::span<const std::int32_t>(active).subspan(first, count);
      bring(tasks, sets.first(count));
      ops_.improve(tasks, sets.first(count));
      first += count;
    }
  }

  /// How many of the first sets have their rows in the cache together.
  std::size_t fitting(std::span<const WorkingSet> sets) {
    std::vector<std::int32_t> rows;
    std::size_t count = 0;
    for (const WorkingSet& set : sets) {
      rows.insert(rows.end(), set.positions.begin(), set.positions.end());
      if (static_cast<std::int64_t>(rows.size()) > cache_.slots()) {
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        if (static_cast<std::int64_t>(rows.size()) > cache_.slots()) break;
      }
      ++count;
    }
    require(count > 0, "the kernel rows of one working set do not fit");
    return count;
  }

  /// Gives the sets' rows slots; what tasks need of them and is missing is computed together.
  void bring(std::span<const std::int32_t> tasks, std::span<WorkingSet> sets) {
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> missing(parts_.size());  // slot and position
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      count_asked(tasks[k], sets[k].positions);
      sets[k].slots.clear();
      for (const std::int32_t position : sets[k].positions) {
        const std::int32_t slot = cache_.take(position);
        sets[k].slots.push_back(slot);
        for (const std::int32_t part : needed_parts(tasks[k]))
          if (part >= 0 && cache_.must_compute(slot, index(part))) missing[index(part)].emplace_back(slot, position);
      }
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) compute(missing[part], parts_[part]);
  }

  /// Tasks over all rows need every part.
  std::span<const std::int32_t> needed_parts(std::int32_t task) {
    if (problems_[index(task)].rows < sheaf_.examples || parts_.size() == 1) return problems_[index(task)].parts;
    return all_parts_;
  }

  void compute(std::vector<std::pair<std::int32_t, std::int32_t>>& missing, Range against) {
    if (missing.empty() || against.begin == against.end) return;
    std::sort(missing.begin(), missing.end());
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> slots;
    for (const auto& [slot, position] : missing) {
      slots.push_back(slot);
      positions.push_back(position);
    }
    ops_.compute_rows(positions, slots, against);
    fits_.counts.computed += static_cast<std::int64_t>(missing.size()) * (against.end - against.begin);
  }

  void count_asked(std::int32_t task, std::span<const std::int32_t> positions) {
    std::vector<std::uint8_t>& asked = asked_[index(task)];
    asked.resize(static_cast<std::size_t>(sheaf_.examples));
    for (const std::int32_t position : positions) {
      if (asked[index(position)] != 0) continue;
      asked[index(position)] = 1;
      fits_.counts.unshared += problems_[index(task)].rows;
    }
  }

  void finish(std::int32_t first, std::int32_t count) {
    std::vector<double> beta;
    std::vector<double> g;
    ops_.fetch(beta, g);
    std::vector<std::pair<std::int64_t, std::int64_t>> places(index(count));  // of variables and rows
    for (std::size_t t = 1; t < places.size(); ++t)
      places[t] = {places[t - 1].first + problems_[t - 1].variables(), places[t - 1].second + problems_[t - 1].rows};
    parallel_for(context_.threads(), count, [&](std::int64_t number) {
      const auto t = static_cast<std::size_t>(number);
      const auto variables = static_cast<std::size_t>(problems_[t].variables());
      const auto rows = static_cast<std::size_t>(problems_[t].rows);
      keep_fit(first + static_cast<std::int32_t>(number), t,
               std::span<const double>(beta).subspan(static_cast<std::size_t>(places[t].first), variables),
               std::span<const double>(g).subspan(static_cast<std::size_t>(places[t].second), rows));
    });
  }

  void keep_fit(std::int32_t task, std::size_t loaded, std::span<const double> beta, std::span<const double> g) {
    const TaskProblem& problem = problems_[loaded];
    SvmFit fit = make_fit(sheaf_, order_, problem, beta, g);
    const End& end = ends_[loaded];
    fit.violation = end.violation;
    fit.iterations = end.iterations;
    fit.rounds = end.rounds;
    fit.converged = end.converged;
    if (params_.decisions) {
      const double scale = sheaf_.kind == SvmKind::nu_svc && fit.margin > 0 ? 1 / fit.margin : 1;
      for (std::int64_t i = 0; i < problem.rows; ++i)
        fits_.decisions(order_.rows[static_cast<std::size_t>(problem.position(i))], task) =
            g[static_cast<std::size_t>(i)] * scale - fit.machine.rho;
    }
    fits_.tasks[index(task)] = std::move(fit);
  }

  std::int64_t most_iterations(std::int32_t task) const {
    if (params_.max_iterations > 0) return params_.max_iterations;
    return std::max<std::int64_t>(10'000'000, 100 * problems_[index(task)].variables());
  }

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  const Context& context_;
  const SvmSheaf& sheaf_;
  const SvmParams& params_;
  const RowOrder& order_;
  SvmOps& ops_;
  std::vector<Range> parts_;
  RowCache cache_;
  std::vector<std::int32_t> all_parts_;
  std::int32_t size_ = 0;
  std::vector<TaskProblem> problems_;
  std::vector<End> ends_;
  std::vector<std::vector<std::uint8_t>> asked_;
  std::vector<WorkingSet> sets_;
  SvmFits fits_;
};

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

}  // namespace
}  // namespace kernel

template <class T>
SvmFits train_sheaf(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params) {
  using namespace kernel;
  check_sheaf(sheaf, dataset.rows(), dataset.features(), params);
  const RowOrder order = order_rows(sheaf);
  const auto ops = make_ops(context, dataset, order.rows, params.kernel);
  std::int64_t variables = 0;
  for (std::size_t t = 0; t < sheaf.tasks.size(); ++t)
    variables += count_variables(sheaf, order, static_cast<std::int32_t>(t));
  const std::int64_t room = std::min(context.memory() / 4, variables * ops->bytes_per_variable());
  const std::int64_t slots =
      std::max(slots_for(context, sheaf.examples, ops->data_bytes() + room), std::min(sheaf.examples, fewest_slots));
  Trainer trainer(context, sheaf, params, order, *ops, slots);
  const std::string name = slots < sheaf.examples
                               ? fmt::format("training, with memory for {} of {} kernel rows", slots, sheaf.examples)
                               : "training";
  Stage stage(context.progress(), name, static_cast<std::int64_t>(sheaf.tasks.size()));
  for (std::int32_t first = 0; first < static_cast<std::int32_t>(sheaf.tasks.size());) {
    const std::int32_t count = tasks_that_fit(sheaf, order, first, ops->bytes_per_variable(), room);
    trainer.train(first, count, stage);
    first += count;
  }
  SvmFits fits = trainer.take();
  if (params.decisions && !order.classes.empty()) {  // most rows take part in few tasks
    std::vector<SvmMachine> machines;
    for (const SvmFit& fit : fits.tasks) machines.push_back(fit.machine);
    fits.decisions = decision_values(context, params.kernel, dataset, machines, dataset);
  }
  return fits;
}

template SvmFits train_sheaf(const Context&, const Dataset<float>&, const SvmSheaf&, const SvmParams&);
template SvmFits train_sheaf(const Context&, const Dataset<double>&, const SvmSheaf&, const SvmParams&);

}  // namespace sheaf
