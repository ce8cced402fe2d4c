#include "kernel/smo/rounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <sheaf/error.hpp>

namespace sheaf::kernel {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Rounds::Rounds(const Context& context, SvmOps& ops, std::vector<Range> parts, std::int64_t rows, std::int64_t slots)
    : context_(context),
      ops_(ops),
      parts_(std::move(parts)),
      rows_(rows),
      cache_(rows, slots, parts_.size()),
      all_parts_(parts_.size()) {
  std::iota(all_parts_.begin(), all_parts_.end(), 0);
  size_ = static_cast<std::int32_t>(std::min<std::int64_t>(ops.working_set_size(), slots));
}

void Rounds::solve(const Problems& problems, bool known, std::int64_t max_iterations, const ReportViolation& report) {
  problems_ = problems.tasks;
  max_iterations_ = max_iterations;
  ops_.load_tasks(problems);
  ends_.assign(problems_.size(), {});
  asked_.assign(problems_.size(), {});
  sets_.resize(problems_.size());
  std::vector<std::int32_t> active(problems_.size());
  std::iota(active.begin(), active.end(), 0);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t task : active) {
    if (!known && !problems_[index(task)].start.empty()) start(task);
    least = std::min(least, most_iterations(task));
  }
  const KernelCounts small = ops_.solve_full_pairs(active, least, report);
  counts_.computed += small.computed;
  counts_.unshared += small.unshared;
  while (!active.empty()) round(active, report);
}

/// Computes g of a task that does not start at 0.
void Rounds::start(std::int32_t task) {
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
    context_.check_stop();
    const std::size_t count = std::min(most, positions.size() - first);
    const auto chunk = std::span(positions).subspan(first, count);
    WorkingSet set;
    set.positions.assign(chunk.begin(), chunk.end());
    const std::int32_t tasks[] = {task};
    bring(tasks, {&set, 1});
    ops_.add_rows(task, set.slots, std::span(factors).subspan(first, count));
  }
}

void Rounds::round(std::vector<std::int32_t>& active, const ReportViolation& report) {
  context_.check_stop();
  ops_.choose(active, size_, std::span(sets_).first(active.size()));
  std::size_t going = 0;  // unfinished tasks and their sets move to the front
  for (std::size_t k = 0; k < active.size(); ++k) {
    End& end = ends_[index(active[k])];
    end.violation = sets_[k].violation;
    end.iterations += sets_[k].steps;
    report(active[k], end.violation);
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
    ops_.improve(tasks, sets.first(count), steps_left(tasks));
    first += count;
  }
}

/// How many of the first sets fit into the cache together.
std::size_t Rounds::fitting(std::span<const WorkingSet> sets) {
  if (cache_.slots() >= rows_) return sets.size();
  seen_in_.resize(static_cast<std::size_t>(rows_), 0);
  ++fitting_calls_;
  std::int64_t rows = 0;
  std::size_t count = 0;
  for (const WorkingSet& set : sets) {
    for (const std::int32_t position : set.positions) {
      rows += seen_in_[index(position)] != fitting_calls_ ? 1 : 0;
      seen_in_[index(position)] = fitting_calls_;
    }
    if (rows > cache_.slots()) break;
    ++count;
  }
  require(count > 0, "the kernel rows of one working set do not fit");
  return count;
}

/// Gives the rows of the sets their slots, and computes all missing parts that tasks need.
void Rounds::bring(std::span<const std::int32_t> tasks, std::span<WorkingSet> sets) {
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
std::span<const std::int32_t> Rounds::needed_parts(std::int32_t task) const {
  if (problems_[index(task)].rows < rows_ || parts_.size() == 1) return problems_[index(task)].parts;
  return all_parts_;
}

void Rounds::compute(const std::vector<std::pair<std::int32_t, std::int32_t>>& missing, Range against) {
  if (missing.empty() || against.begin == against.end) return;
  std::vector<std::int32_t> positions;
  std::vector<std::int32_t> slots;
  for (const auto& [slot, position] : missing) {
    slots.push_back(slot);
    positions.push_back(position);
  }
  ops_.compute_rows(positions, slots, against);
  counts_.computed += static_cast<std::int64_t>(missing.size()) * (against.end - against.begin);
}

void Rounds::count_asked(std::int32_t task, std::span<const std::int32_t> positions) {
  std::vector<std::uint8_t>& asked = asked_[index(task)];
  asked.resize(static_cast<std::size_t>(rows_));
  for (const std::int32_t position : positions) {
    if (asked[index(position)] != 0) continue;
    asked[index(position)] = 1;
    counts_.unshared += problems_[index(task)].rows;
  }
}

/// The iterations left to the task that has the fewest.
std::int64_t Rounds::steps_left(std::span<const std::int32_t> tasks) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t task : tasks) least = std::min(least, most_iterations(task) - ends_[index(task)].iterations);
  return least;
}

std::int64_t Rounds::most_iterations(std::int32_t task) const {
  if (max_iterations_ > 0) return max_iterations_;
  return std::max<std::int64_t>(10'000'000, 100 * problems_[index(task)].variables());
}

}  // namespace sheaf::kernel
