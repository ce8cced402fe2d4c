// The loop shared by the solvers of generalised linear models: all tasks of a block take a step together, each of its
// own length along its own direction, until each has converged or run out of steps. A solver supplies the directions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rounds.hpp"
#include "linear/fit_progress.hpp"
#include "linear/glm/objective.hpp"

namespace sheaf::linear {

template <class T>
class Descent {
 public:
  Descent(const Context& context, Objective<T>& objective, Round round);
  virtual ~Descent() = default;
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  /// Trains every task of the round and writes its columns of `fits`.
  void run(Fits<T>& fits);

 protected:
  struct State {
    std::int32_t task = 0;                // in the sheaf
    double f = 0;                         // objective at w
    std::vector<double> objectives = {};  // at the steps so far
    double start = -1;                    // the measure at the start
    double length = 0;                    // of the last step
    bool finished = false;
    TaskFit fit;
    FitProgress progress;
  };

  /// Fills `d_` with a direction for each task; returns a measure of the gradient in the solver's coordinates for each:
  /// the root of about twice the possible decrease of the objective.
  virtual std::vector<double> find_directions() = 0;
  /// Blocks of the solver follow when tasks leave.
  virtual void keep(std::span<const std::int32_t> places) = 0;
  /// The relative tolerance if none is given.
  virtual double default_tolerance() const = 0;

  Objective<T>& objective() const { return objective_; }
  double relative_tolerance() const {
    return objective_.params().tolerance > 0 ? objective_.params().tolerance : default_tolerance();
  }
  LinearOps<T>& ops() const { return objective_.ops(); }
  const std::vector<State>& states() const { return states_; }
  std::size_t tasks() const { return states_.size(); }
  /// The tasks of the sheaf that are trained.
  std::vector<std::int32_t> sheaf_tasks() const;
  /// Whether the last step of a task was worth so little that a small gradient ends it.
  bool gained_little(const State& state) const;
  /// Sets the value that the measures of task t are divided by, after a solver has changed its coordinates.
  void set_start(std::size_t t, double measure) { states_[t].start = measure; }
  /// Products with X, and as many with X', that a solver does for a task besides those of run().
  void count_products(std::size_t t, int count) { states_[t].fit.products += count; }
  /// The columns of these tasks alone.
  void keep_block(Block<T>& block, std::span<const std::int32_t> places) const;

  // At w: z = Xw and offsets, slopes u, gradient g. second_: curvatures or probabilities.
  Block<T> w_, g_, d_;
  Block<T> z_, u_, second_;

 private:
  void begin();
  void begin_at(const Block<T>& weights);
  bool check(const std::vector<double>& measures);
  void search_lines();
  void move(std::span<const double> lengths, bool stale);
  void compact(Fits<T>& fits);
  void choose();

  const Context& context_;
  Objective<T>& objective_;
  std::vector<State> states_;
  Block<T> q_, step_;  // X d, and the part of it that is tried
};

/// Device bytes that one column of a task takes, those of the solver's own blocks of weights included.
template <class T>
std::int64_t descent_bytes(std::int64_t examples, std::int64_t weights, std::int64_t own) {
  return (6 * examples + (6 + own) * weights) * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace sheaf::linear
