// Chunking (Boser, Guyon, Vapnik 1992; Osuna, Freund, Girosi 1997). Each outer round, for all unfinished tasks
// together:
//
//   1. a chunk of rows is chosen: rows with a free variable of any task, and the worst violators;
//   2. every task is solved on the chunk, whose kernel matrix fits into memory, by rounds.hpp; the contribution of all
//      other rows to g is constant meanwhile and belongs to the linear term;
//   3. g of all rows is brought up to date with the changes, by kernel values that are not kept.
//
// On a GPU a kernel value of a few dozen features is computed as fast as it is read from memory, so that the last step
// costs less than a cache of rows would; and rounds over a tenth of the rows cost a tenth.
#include "kernel/smo/chunks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "kernel/smo/task_progress.hpp"
#include "kernel/values/table.hpp"

namespace sheaf::kernel {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows that violate by more than this share of the task's violation count as equally bad, so that the chunk is a
/// sample of all of them: the worst alone would be outliers, which pull the SVM to their side.
constexpr double equally_bad_from = 0.02;
/// The share of the violation that an outer round leaves. Among 0.3, 0.1, 0.03 and 0.01, 0.03 took the fewest rounds.
constexpr double share_left = 0.03;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// How far each row of a task is beyond its optimality condition, from the gradient.
class RowViolations {
 public:
  RowViolations(const TaskProblem& problem, const Solved& state) : problem_(problem), state_(state) {
    for_variables([&](std::int64_t row, std::size_t v, double f) {
      Group& group = groups_[group_of(v)];
      const bool rises = can_rise(v);
      const bool falls = can_fall(v);
      if (rises && -f > group.highest) {
        group.highest = -f;
        group.rising = row;
      }
      if (falls && -f < group.lowest) {
        group.lowest = -f;
        group.falling = row;
      }
      if (rises && falls) {
        group.sum -= f;
        ++group.free;
      }
    });
  }

  double violation() const { return std::max(groups_[0].violation(), groups_[1].violation()); }

  /// Calls visit(row, how far it is beyond its optimality condition, whether it is free) for every variable, then once
  /// more for the worst of them, by an infinite excess: without these a task would not move.
  template <class Visit>
  void visit(Visit&& visit) const {
    double middles[2];
    for (int g = 0; g < 2; ++g) middles[g] = groups_[g].middle();
    for_variables([&](std::int64_t row, std::size_t v, double f) {
      const double excess = -f - middles[group_of(v)];
      const bool rises = can_rise(v);
      const bool falls = can_fall(v);
      visit(row, std::max(rises ? excess : 0, falls ? -excess : 0), rises && falls);
    });
    for (const Group& group : groups_)
      if (group.violation() >= problem_.tolerance)
        for (const std::int64_t row : {group.rising, group.falling}) visit(row, infinity, true);
  }

 private:
  struct Group {
    double highest = -infinity, lowest = infinity, sum = 0;
    std::int64_t rising = -1, falling = -1, free = 0;

    double violation() const { return highest - lowest; }
    double middle() const {
      if (free > 0) return sum / static_cast<double>(free);
      return rising >= 0 && falling >= 0 ? (highest + lowest) / 2 : rising >= 0 ? highest : lowest;
    }
  };

  std::size_t group_of(std::size_t v) const { return problem_.grouped && problem_.bounds[v] < 0 ? 1 : 0; }
  bool can_rise(std::size_t v) const { return state_.beta[v] < std::max(problem_.bounds[v], 0.0); }
  bool can_fall(std::size_t v) const { return state_.beta[v] > std::min(problem_.bounds[v], 0.0); }

  template <class Visit>
  void for_variables(Visit&& visit) const {
    for (int side = 0; side < problem_.sides; ++side)
      for (std::int64_t row = 0; row < problem_.rows; ++row) {
        const auto v = at(side * problem_.rows + row);
        if (problem_.bounds[v] != 0) visit(row, v, state_.g[at(row)] + problem_.linear[v]);
      }
  }

  const TaskProblem& problem_;
  const Solved& state_;
  Group groups_[2];
};

/// A row that may belong to the next chunk.
struct Candidate {
  double excess = 0;
  bool free = false;
  std::int32_t row = 0;

  /// Equally bad rows are taken in an order unrelated to their order in the dataset.
  std::uint32_t scrambled() const { return static_cast<std::uint32_t>(row) * 2654435769U; }
  bool operator<(const Candidate& other) const {
    return excess != other.excess ? excess > other.excess : scrambled() < other.scrambled();
  }
};

/// Adds the `count` worst candidates to `rows`.
void take_best(std::vector<Candidate>& from, std::int64_t count, std::vector<std::int32_t>& rows) {
  if (static_cast<std::int64_t>(from.size()) > count) {
    std::nth_element(from.begin(), from.begin() + count, from.end());
    from.resize(at(count));
  }
  for (const Candidate& candidate : from) rows.push_back(candidate.row);
}

template <class T>
class ChunkTrainer {
 public:
  ChunkTrainer(const Context& context, const Dataset<T>& dataset, const SvmParams& params,
               std::span<const TaskProblem> problems, std::int64_t most_rows, KernelCounts& counts)
      : context_(context),
        dataset_(dataset),
        params_(params),
        problems_(problems),
        most_rows_(most_rows),
        counts_(counts),
        solved_(problems.size()),
        unfinished_(problems.size()) {
    std::iota(unfinished_.begin(), unfinished_.end(), 0);
    for (std::size_t t = 0; t < problems.size(); ++t) {
      solved_[t].beta.assign(at(problems[t].variables()), 0.0);
      solved_[t].g.assign(at(problems[t].rows), 0.0);
    }
    start();
  }

  std::vector<Solved> run() {
    const std::string name = fmt::format("training, {} of {} rows at a time", most_rows_, dataset_.rows());
    TaskProgress progress(context_.progress(), name, problems_.size(), params_.tolerance);
    while (true) {
      context_.check_stop();
      const auto candidates = find_candidates();
      finish(progress);
      if (unfinished_.empty()) return std::move(solved_);
      improve(choose(candidates));
    }
  }

 private:
  void start() {
    everyone_.resize(at(dataset_.rows()));
    std::iota(everyone_.begin(), everyone_.end(), 0);
    std::vector<std::vector<double>> betas;
    for (const TaskProblem& problem : problems_) betas.emplace_back(problem.start.begin(), problem.start.end());
    move_to(everyone_, betas);
  }

  /// The violation of every unfinished task, and how bad each row is for any of them.
  std::vector<Candidate> find_candidates() {
    std::vector<std::vector<Candidate>> found(unfinished_.size());
    parallel_for(context_.threads(), static_cast<std::int64_t>(unfinished_.size()), [&](std::int64_t k) {
      const std::size_t t = unfinished_[at(k)];
      const RowViolations violations(problems_[t], solved_[t]);
      solved_[t].end.violation = violations.violation();
      auto& rows = found[at(k)];
      rows.resize(at(dataset_.rows()));
      violations.visit([&](std::int64_t row, double excess, bool free) {
        Candidate& candidate = rows[at(row)];
        if (excess < infinity) excess = std::min(excess / solved_[t].end.violation, equally_bad_from);
        candidate.excess = std::max(candidate.excess, excess);
        candidate.free = candidate.free || free;
      });
    });
    std::vector<Candidate> all(at(dataset_.rows()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].row = static_cast<std::int32_t>(i);
      for (const auto& rows : found) {
        all[i].excess = std::max(all[i].excess, rows[i].excess);
        all[i].free = all[i].free || rows[i].free;
      }
    }
    return all;
  }

  /// Removes tasks that are done, or that the last outer round did not change.
  void finish(TaskProgress& progress) {
    std::erase_if(unfinished_, [&](std::size_t t) {
      Rounds::End& end = solved_[t].end;
      end.converged = end.violation < params_.tolerance;
      const bool stuck = outer_rounds_ > 0 && moved_[t] == 0;
      const bool done = end.converged || stuck || end.iterations >= most_iterations(t);
      if (done)
        progress.finish(t);
      else
        progress.report(t, end.violation);
      return done;
    });
  }

  std::int64_t most_iterations(std::size_t t) const {
    if (params_.max_iterations > 0) return params_.max_iterations;
    return std::max<std::int64_t>(10'000'000, 100 * problems_[t].variables());
  }

  std::vector<std::int32_t> choose(const std::vector<Candidate>& candidates) const {
    std::vector<Candidate> free;
    std::vector<Candidate> bound;
    for (const Candidate& candidate : candidates)
      if (candidate.free)
        free.push_back(candidate);
      else if (candidate.excess > 0)
        bound.push_back(candidate);
    std::vector<std::int32_t> rows;
    const auto violators = static_cast<std::int64_t>(bound.size());
    take_best(free, std::max(most_rows_ / 4 * 3, most_rows_ - violators), rows);
    take_best(bound, most_rows_ - static_cast<std::int64_t>(rows.size()), rows);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  void improve(const std::vector<std::int32_t>& rows) {
    ++outer_rounds_;
    // The sum of all changes is 0, whatever that of the variables is.
    const auto offsets = kernel_offsets(dataset_.x, rows, params_.kernel, context_.threads());
    const auto ops = make_ops(context_, dataset_, rows, params_.kernel, offsets);
    Problems problems;
    problems.tasks.resize(unfinished_.size());
    for (std::size_t k = 0; k < unfinished_.size(); ++k) place(unfinished_[k], rows, problems.tasks[k]);
    problems.make_room(true);
    for (std::size_t k = 0; k < unfinished_.size(); ++k) fill(unfinished_[k], rows, problems.tasks[k]);
    const auto count = static_cast<std::int64_t>(rows.size());
    Rounds rounds(context_, *ops, {{0, count}}, count, count);
    rounds.solve(problems, true, params_.max_iterations, [](std::int32_t, double) {});
    counts_.computed += rounds.counts().computed;
    counts_.unshared += rounds.counts().unshared;
    Array<double> beta;
    Array<double> g;
    ops->fetch(beta, g);
    std::vector<std::vector<double>> moved(problems_.size());
    std::size_t from = 0;
    for (std::size_t k = 0; k < unfinished_.size(); ++k) {
      const auto size = at(problems.tasks[k].variables());
      moved[unfinished_[k]].assign(beta.begin() + from, beta.begin() + from + size);
      from += size;
      Rounds::End& end = solved_[unfinished_[k]].end;
      end.iterations += rounds.ends()[k].iterations;
      end.rounds += rounds.ends()[k].rounds;
    }
    move_to(rows, moved);
  }

  /// The task over some rows, without its variables.
  void place(std::size_t t, const std::vector<std::int32_t>& rows, TaskProblem& part) const {
    const TaskProblem& all = problems_[t];
    part.rows = static_cast<std::int64_t>(rows.size());
    part.ranges[0] = {0, part.rows};
    part.sides = all.sides;
    part.grouped = all.grouped;
    part.tolerance = std::max(all.tolerance * 0.9, solved_[t].end.violation * share_left);
  }

  /// Its variables; the gradient of the other rows belongs to the linear term.
  void fill(std::size_t t, const std::vector<std::int32_t>& rows, const TaskProblem& part) const {
    const TaskProblem& all = problems_[t];
    const Solved& state = solved_[t];
    std::size_t to = 0;
    for (int side = 0; side < all.sides; ++side)
      for (const std::int32_t row : rows) {
        const auto v = at(side * all.rows + row);
        part.bounds[to] = all.bounds[v];
        part.linear[to] = all.linear[v] + state.g[at(row)];
        part.start[to++] = state.beta[v];
      }
  }

  /// Sets the betas of the given rows, of each task that has some, and brings g of all rows up to date.
  void move_to(const std::vector<std::int32_t>& rows, const std::vector<std::vector<double>>& betas) {
    moved_.assign(problems_.size(), 0);
    Coefficients changes;
    changes.offsets.push_back(0);
    std::vector<std::int32_t> changed;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (std::size_t t = 0; t < betas.size(); ++t) {
        if (betas[t].empty()) continue;
        double change = 0;
        for (int side = 0; side < problems_[t].sides; ++side) {
          double& beta = solved_[t].beta[at(side * problems_[t].rows + rows[k])];
          const double to = betas[t][at(side) * rows.size() + k];
          change += to - beta;
          moved_[t] += to != beta ? 1 : 0;
          beta = to;
        }
        if (change == 0) continue;
        changes.svms.push_back(static_cast<std::int32_t>(t));
        changes.values.push_back(change);
      }
      if (static_cast<std::int64_t>(changes.values.size()) == changes.offsets.back()) continue;
      changes.offsets.push_back(static_cast<std::int64_t>(changes.values.size()));
      changed.push_back(rows[k]);
    }
    if (changed.empty()) return;
    Block<double> added(dataset_.rows(), static_cast<std::int32_t>(problems_.size()), context_.device());
    add_decisions(context_, Deciders<T>{params_.kernel, dataset_, changed, changes}, Queries<T>{dataset_, everyone_},
                  added.view());
    if (!added.device().is_cpu()) added = added.to(Device::cpu());
    counts_.computed += static_cast<std::int64_t>(changed.size()) * dataset_.rows();
    counts_.unshared += static_cast<std::int64_t>(changes.values.size()) * dataset_.rows();
    for (std::size_t t = 0; t < problems_.size(); ++t)
      if (moved_[t] != 0)
        for (std::int64_t i = 0; i < problems_[t].rows; ++i)
          solved_[t].g[at(i)] += added(i, static_cast<std::int32_t>(t));
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  const SvmParams& params_;
  std::span<const TaskProblem> problems_;
  std::int64_t most_rows_;
  KernelCounts& counts_;
  std::vector<Solved> solved_;
  std::vector<std::size_t> unfinished_;
  std::vector<std::int32_t> everyone_;  // all rows
  std::vector<std::int64_t> moved_;     // by task: variables that the last outer round changed
  std::int64_t outer_rounds_ = 0;
};

}  // namespace

template <class T>
std::vector<Solved> solve_in_chunks(const Context& context, const Dataset<T>& dataset, const SvmParams& params,
                                    std::span<const TaskProblem> problems, std::int64_t most_rows,
                                    KernelCounts& counts) {
  return ChunkTrainer<T>(context, dataset, params, problems, most_rows, counts).run();
}

template std::vector<Solved> solve_in_chunks(const Context&, const Dataset<float>&, const SvmParams&,
                                             std::span<const TaskProblem>, std::int64_t, KernelCounts&);
template std::vector<Solved> solve_in_chunks(const Context&, const Dataset<double>&, const SvmParams&,
                                             std::span<const TaskProblem>, std::int64_t, KernelCounts&);

}  // namespace sheaf::kernel
