// Progress of the tasks of a sheaf. A task counts progress_per_model units, in proportion to the logarithm of its
// violation between the first one and the tolerance: each tenfold fall counts the same. Any thread may report the task
// it works on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::kernel {

class TaskProgress {
 public:
  TaskProgress(Progress& progress, std::string_view name, std::size_t tasks, double tolerance)
      : tolerance_(tolerance), states_(tasks), stage_(progress, name, static_cast<std::int64_t>(tasks) * full) {}

  void report(std::size_t task, double violation) {
    if (states_[task].first == 0) states_[task].first = violation;
    raise(task, violation < tolerance_ ? full : share(states_[task].first, violation));
  }
  /// The task is done, converged or not.
  void finish(std::size_t task) { raise(task, full); }

 private:
  static constexpr std::int64_t full = progress_per_model;

  struct State {
    double first = 0;  // violation
    std::int64_t reported = 0;
  };

  /// Below `full`, which stands for tasks that are done.
  std::int64_t share(double first, double violation) const {
    if (!(violation < first) || !(first > tolerance_)) return 0;
    const double fallen = std::log(first / violation) / std::log(first / tolerance_);
    return std::clamp(static_cast<std::int64_t>(fallen * static_cast<double>(full)), std::int64_t{0}, full - 1);
  }

  void raise(std::size_t task, std::int64_t to) {
    State& state = states_[task];
    if (to <= state.reported) return;
    stage_.advance(to - state.reported);
    state.reported = to;
  }

  double tolerance_;
  std::vector<State> states_;
  Stage stage_;
};

}  // namespace sheaf::kernel
