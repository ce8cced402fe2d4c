// One block of tasks on its way to the optimum; see newton.cpp for the method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <sheaf/solvers/linear.hpp>

#include "linear/fit_progress.hpp"
#include "linear/hessian_factors.hpp"
#include "linear/newton/chains.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {

// Flags and factors of the tasks of a block.
inline std::vector<double> as_factors(std::span<const std::uint8_t> flags) { return {flags.begin(), flags.end()}; }

inline std::vector<double> inverted(std::span<const double> flags) {
  std::vector<double> result;
  for (const double flag : flags) result.push_back(1 - flag);
  return result;
}

inline bool any(std::span<const std::uint8_t> flags) {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
}

/// Positions of the flags that are set.
inline std::vector<std::int32_t> positions(std::span<const std::uint8_t> flags) {
  std::vector<std::int32_t> result;
  for (std::size_t t = 0; t < flags.size(); ++t)
    if (flags[t] != 0) result.push_back(static_cast<std::int32_t>(t));
  return result;
}

/// One task of the block: a few numbers on the host, while its vectors stay on the device.
struct TaskState {
  enum class Phase : std::uint8_t { gradient, conjugate, finished };

  std::int32_t task = 0;                // in the sheaf
  std::span<const std::int32_t> later;  // tasks that follow in this column
  Phase phase = Phase::gradient;
  TaskFit fit;
  FitProgress progress;
  double f = 0;       // objective at w
  double f0 = 0;      // at w = 0
  double wRw = 0;     // the penalty's share is half of it
  double g0 = -1;     // |gradient at w = 0|; < 0: not measured yet
  double share = 1;   // of the rarer class
  double delta = -1;  // trust region; < 0: not set yet
  // Conjugate gradients, with M the preconditioner: r'M^-1 r now and at the start, and the recurrences of d'Md, s'Md,
  // s'Ms.
  double rz = 0, rz0 = 0, dMd = 0, sMd = 0, sMs = 0;
  double model = 0;  // the quadratic model at s
  int steps = 0;
  bool boundary = false;
  bool blind = false;  // the last step was too small to change the objective
  double growth = 1;   // of the cost since the task before in this column; 1: there is none
  // Preconditioned by its whole Hessian. Each task decides for itself, so that its result does not depend on the
  // others.
  bool by_hessian = false;
};

template <class T>
class NewtonBlock {
 public:
  /// The chains must outlive it.
  NewtonBlock(const Context& context, LinearOps<T>& ops, const Sheaf& sheaf, const NewtonParams& params,
              std::span<const Chain> chains, const Block<T>* start, std::span<const double> shares);

  /// Trains every task of the chains and writes its column of `fits`.
  void run(Fits<T>& fits);

  /// Device bytes that a chain of so many tasks takes.
  static std::int64_t bytes_per_chain(std::int64_t examples, std::int64_t weights, std::int64_t length = 1) {
    const std::int64_t before = length > 1 ? examples + weights + std::max(examples, weights) : 0;
    const std::int64_t hessian = has_room_for_hessian(examples, weights) ? 2 * weights * weights : 0;
    return (6 * examples + (8 + length) * weights + before + hessian) * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  /// The share of a gradient, or of an objective, that T cannot distinguish from 0.
  static constexpr double least_share = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());

  /// Whether there is memory for the factors of all Hessians: it was planned, or there are few weights and enough is
  /// left.
  bool have_room(std::span<const Chain> chains) const;
  /// Whether the factors of a Hessian take little memory beside the blocks over examples.
  static constexpr bool has_room_for_hessian(std::int64_t examples, std::int64_t weights) {
    constexpr std::int64_t most_weights = 1024;
    return weights <= most_weights && weights * weights <= 8 * examples;
  }

  using Phase = TaskState::Phase;
  std::int32_t count() const { return static_cast<std::int32_t>(states_.size()); }
  /// A block only becomes narrower, so that a task once fused stays so.
  bool fused() const { return ops_.fuses(count()); }
  /// Whether zs is kept up to date with s; once it is not, it stays so.
  bool follows() const { return follows_; }
  void decide_following();
  std::vector<std::uint8_t> wanted(Phase phase) const;
  BlockView<const T> penalised(const Block<T>& block) const;
  void choose_tasks();
  template <class Product>
  void multiply_some(std::span<const std::int32_t> columns, const Product& product);
  void begin();
  void evaluate(std::span<const std::uint8_t> which);
  void measure_gradient_at_zero();
  void step();
  void take_gradients(const std::vector<std::uint8_t>& which);
  std::vector<double> profiled_norms(const std::vector<std::uint8_t>& which);
  double wanted_norm(const TaskState& state) const;
  void start_conjugate(const std::vector<std::uint8_t>& which, bool new_point);
  void set_regions(const std::vector<std::uint8_t>& which);
  void precondition(const std::vector<std::uint8_t>& which);
  void precondition_by_diagonal(const std::vector<std::uint8_t>& which);
  void precondition_by_hessian(std::span<const std::int32_t> columns);
  std::vector<std::uint8_t> by_hessian(const std::vector<std::uint8_t>& which) const;
  std::vector<std::uint8_t> worth_hessians() const;
  void use_hessians(const std::vector<std::uint8_t>& which);
  void solve_hessians(std::vector<double>& rz);
  void advance_conjugate(const std::vector<std::uint8_t>& which, const std::vector<double>& dHd);
  void redirect(std::vector<double> fresh, std::vector<double> beta);
  double step_length(TaskState& state, double dHd) const;
  bool conjugate_done(TaskState& state) const;
  void try_steps(const std::vector<std::uint8_t>& done);
  void apply_steps(const std::vector<std::uint8_t>& done);
  void search_lines(const std::vector<std::uint8_t>& done, std::vector<double>& trial, const std::vector<double>& gs);
  void accept_step(TaskState& state, double trial, double gs, double predicted);
  void move_accepted(const std::vector<std::uint8_t>& accepted, const std::vector<double>& trial);
  void keep_results(std::span<const std::int32_t> finished, Fits<T>& fits);
  void continue_chains(Fits<T>& fits);
  void begin_next_task(TaskState& state) const;
  void extrapolate(const std::vector<std::uint8_t>& which, const std::vector<double>& ahead);
  void compact(Fits<T>& fits);
  void return_results(Fits<T>& fits);

  const Context& context_;
  LinearOps<T>& ops_;
  const Sheaf& sheaf_;
  const NewtonParams& params_;
  std::vector<std::int32_t> places_;  // of each task of the sheaf in results_; < 0: it is not of this block
  std::span<const double> shares_;    // of the rarer class, for each task of the sheaf
  T bias_ridge_;
  bool hessians_fit_;  // in the memory
  bool follows_ = true;
  std::vector<TaskState> states_;  // column t of every block belongs to states_[t]
  // Over examples: decisions z = Xw, zs = Xs, q = Xd, u (the factor of X'), curvatures D.
  Block<T> z_, zs_, q_, u_, curvatures_;
  // Over weights: w, gradient, step s, residual r, direction d, H d, inverse of the preconditioner.
  Block<T> w_, g_, s_, r_, d_, hd_, inverse_;
  Block<T> results_;  // weights of finished tasks, in the order of the sheaf
  // w and z of the task before in each column; only if chains extrapolate.
  Block<T> w_before_, z_before_;
  // The diagonal of the Hessian without R; valid only between the gradient that it came with and the preconditioner.
  Block<T> diagonal_;
  // The preconditioner of tasks of few features for which the diagonal has turned out to be a poor one, and M^-1 r by
  // it.
  std::optional<HessianFactors<T>> hessians_;
  Block<T> solved_;
};

/// Calls product(), whose blocks have these columns alone.
template <class T>
template <class Product>
void NewtonBlock<T>::multiply_some(std::span<const std::int32_t> columns, const Product& product) {
  if (!ops_.transformed()) return product();
  std::vector<Task> tasks;
  for (const std::int32_t t : columns)
    tasks.push_back(sheaf_.tasks[static_cast<std::size_t>(states_[static_cast<std::size_t>(t)].task)]);
  ops_.choose_tasks(tasks);
  product();
  choose_tasks();
}

}  // namespace sheaf::linear
