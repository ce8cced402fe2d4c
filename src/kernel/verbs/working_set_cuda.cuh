// Solves tasks on their working sets, one block per task and one thread per variable: SMO with second-order choice of
// pairs, as in working_set_cpu.hpp. Kernel values are in a tile of size x size in global memory, which the second-level
// cache holds. Keys of the choice are floats relative to the last choice, so that they are exact where it matters;
// everything that is kept is double.
#pragma once

#include <cstdint>

#include "cuda/stop_flag.cuh"
#include "kernel/verbs/tasks_cuda.cuh"

namespace sheaf::kernel::gpu {

/// Kernel rows that some g changes by: g += sum of factors[k] * rows[k].
struct Changes {
  const float** rows;  ///< `size` a task
  double* factors;
  std::int32_t* counts;
};

/// tile[a][b] = K(a-th, b-th variable of the set): one warp a row.
__global__ void gather_tiles(DeviceState state, Slots slots, const std::int32_t* tasks, float* tiles) {
  const int number = static_cast<int>(blockIdx.y);
  const std::int32_t which = tasks[number];
  const DeviceTask task = state.tasks[which];
  const int count = state.counts[which];
  const int a = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (a >= count) return;
  const std::int32_t* set = state.sets + static_cast<std::int64_t>(which) * state.size;
  const float* row = slots.row(task.position(task.row_of(set[a])));
  float* to = tiles + (static_cast<std::int64_t>(number) * state.size + a) * state.size;
  for (int b = static_cast<int>(threadIdx.x) % 32; b < count; b += 32) to[b] = row[task.position(task.row_of(set[b]))];
}

template <int Threads>
struct SmallShared {
  double f[Threads], room_up[Threads], room_down[Threads];
  float diagonal[Threads], row[Threads];
  unsigned keys[3][32];
  int at[3][32];
  unsigned ranks[BlockRanks::warps + 1];
};

/// The first half of the place of the largest key of a block: each warp's best goes to shared memory.
__device__ inline void offer(unsigned key, unsigned* keys, int* at) {
  const unsigned best = __reduce_max_sync(all_lanes, key);
  const unsigned who = __ballot_sync(all_lanes, key == best);
  if (static_cast<int>(threadIdx.x) % 32 == __ffs(static_cast<int>(who)) - 1) {
    keys[threadIdx.x / 32] = best;
    at[threadIdx.x / 32] = static_cast<int>(threadIdx.x);
  }
}
/// The second half, after a barrier: the place, and -1 if all keys are 0.
template <int Threads>
__device__ int winner(const unsigned* keys, const int* at, unsigned& best) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned key = lane < Threads / 32 ? keys[lane] : 0;
  best = __reduce_max_sync(all_lanes, key);
  const unsigned who = __ballot_sync(all_lanes, key == best);
  return best == 0 ? -1 : at[__ffs(static_cast<int>(who)) - 1];
}

/// A few milliseconds.
inline constexpr std::int64_t steps_between_stops = 2048;

template <int Threads>
class BlockSolver {
 public:
  __device__ BlockSolver(const DeviceState& state, std::int32_t task, const float* tile, SmallShared<Threads>& shared)
      : state_(state), task_(state.tasks[task]), number_(task), tile_(tile), shared_(shared), k_(threadIdx.x) {
    load();
  }

  /// Ends early, with an undefined state, once `stop` is raised.
  __device__ void solve(std::int64_t most_steps, const volatile int* stop) {
    const double violation = state_.violations[number_];
    const double wanted =
        0.999 * (state_.holds_all[number_] != 0 ? task_.tolerance : fmax(task_.tolerance, 0.1 * violation));
    const int groups = task_.grouped != 0 ? 2 : 1;
    for (int group = 0; group < groups; ++group) choose(group);  // what later keys are relative to
    std::int64_t steps = 0;
    for (; steps < most_steps; ++steps) {
      if (steps % steps_between_stops == 0 && cuda::block_must_stop(stop)) break;
      Pair best = choose(0);
      double largest = best.violation;
      if (groups == 2) {
        const Pair other = choose(1);
        largest = fmax(largest, other.violation);
        if (other.gain > best.gain) best = other;
      }
      if (!(largest >= wanted) || best.j < 0) break;
      step(best);
    }
    if (k_ == 0) state_.steps[number_] += steps;
  }

  /// Writes beta back and lists the changes, in the order of the set.
  __device__ void finish(const Slots& slots, const float** changed_rows, double* factors, std::int32_t* count) {
    const bool changed = variable_ >= 0 && beta_ != before_;
    int rank, unused, total, none;
    BlockRanks(shared_.ranks).rank(changed, false, rank, unused, total, none);
    if (changed) {
      state_.beta[task_.variables_at + variable_] = beta_;
      changed_rows[rank] = slots.row(task_.position(task_.row_of(variable_)));
      factors[rank] = beta_ - before_;
    }
    if (k_ == 0) *count = total;
  }

 private:
  struct Pair {
    int i = -1, j = -1;
    double violation = -1;
    unsigned gain = 0;     // as the bits of a float
    float row_value = 0;   // K(i, this thread's variable)
    float pair_value = 0;  // K(i, j)
  };

  __device__ void load() {
    const int count = state_.counts[number_];
    variable_ = k_ < count ? state_.sets[static_cast<std::int64_t>(number_) * state_.size + k_] : -1;
    shared_.f[k_] = shared_.room_up[k_] = shared_.room_down[k_] = 0;
    shared_.diagonal[k_] = 0;
    if (variable_ >= 0) {
      const double bound = state_.bounds[task_.variables_at + variable_];
      lower_ = fmin(bound, 0.0);
      upper_ = fmax(bound, 0.0);
      group_ = task_.grouped != 0 && bound < 0 ? 1 : 0;
      beta_ = before_ = state_.beta[task_.variables_at + variable_];
      f_ = state_.g[task_.rows_at + task_.row_of(variable_)] + state_.linear[task_.variables_at + variable_];
      shared_.diagonal[k_] = tile_[static_cast<std::int64_t>(k_) * state_.size + k_];
      publish();
    }
    __syncthreads();
  }
  __device__ void publish() {
    shared_.f[k_] = f_;
    shared_.room_up[k_] = upper_ - beta_;
    shared_.room_down[k_] = beta_ - lower_;
  }

  __device__ Pair choose(int group) {
    Pair pair;
    const bool mine = variable_ >= 0 && group_ == group;
    const bool falls = mine && beta_ > lower_;
    offer(mine && beta_ < upper_ ? ordered_bits(static_cast<float>(-f_ - high_[group])) : 0, shared_.keys[0],
          shared_.at[0]);
    offer(falls ? ordered_bits(static_cast<float>(f_ - low_[group])) : 0, shared_.keys[1], shared_.at[1]);
    __syncthreads();
    unsigned best;
    pair.i = winner<Threads>(shared_.keys[0], shared_.at[0], best);
    const int lowest = winner<Threads>(shared_.keys[1], shared_.at[1], best);
    unsigned key = 0;
    if (pair.i >= 0 && lowest >= 0) {  // the same for all threads
      high_[group] = -shared_.f[pair.i];
      low_[group] = shared_.f[lowest];
      pair.violation = high_[group] + low_[group];
      if (variable_ >= 0) pair.row_value = tile_[static_cast<std::int64_t>(pair.i) * state_.size + k_];
      shared_.row[k_] = pair.row_value;
      const auto slope = static_cast<float>(high_[group] + f_);
      const float bend = shared_.diagonal[pair.i] + shared_.diagonal[k_] - 2 * pair.row_value;
      if (falls && slope > 0) key = max(1U, __float_as_uint(slope * slope / (bend > 0 ? bend : 1e-12F)));
    }
    offer(key, shared_.keys[2], shared_.at[2]);
    __syncthreads();
    pair.j = winner<Threads>(shared_.keys[2], shared_.at[2], pair.gain);
    if (pair.j >= 0) pair.pair_value = shared_.row[pair.j];
    return pair;
  }

  __device__ void step(const Pair& pair) {
    const float other_value = variable_ >= 0 ? tile_[static_cast<std::int64_t>(pair.j) * state_.size + k_] : 0.0F;
    const double bend =
        fmax(static_cast<double>(shared_.diagonal[pair.i]) + static_cast<double>(shared_.diagonal[pair.j]) -
                 2 * static_cast<double>(pair.pair_value),
             1e-12);
    const double room_i = shared_.room_up[pair.i];
    const double room_j = shared_.room_down[pair.j];
    const double delta = fmin((shared_.f[pair.j] - shared_.f[pair.i]) / bend, fmin(room_i, room_j));
    __syncthreads();  // all have read what is written now
    if (k_ == pair.i) beta_ = delta == room_i ? upper_ : beta_ + delta;
    if (k_ == pair.j) beta_ = delta == room_j ? lower_ : beta_ - delta;
    f_ += delta * (static_cast<double>(pair.row_value) - static_cast<double>(other_value));
    publish();
  }

  const DeviceState& state_;
  const DeviceTask task_;
  std::int32_t number_;
  const float* tile_;
  SmallShared<Threads>& shared_;
  int k_;
  std::int32_t variable_ = -1;
  int group_ = 0;
  double lower_ = 0, upper_ = 0, beta_ = 0, before_ = 0, f_ = 0;
  double high_[2] = {0, 0}, low_[2] = {0, 0};
};

template <int Threads>
__global__ void __launch_bounds__(Threads)
    solve_tasks(DeviceState state, Slots slots, const std::int32_t* tasks, const float* tiles, std::int64_t most_steps,
                Changes changes, const volatile int* stop) {
  __shared__ SmallShared<Threads> shared;
  const auto number = static_cast<std::int64_t>(blockIdx.x);
  BlockSolver<Threads> solver(state, tasks[number], tiles + number * state.size * state.size, shared);
  solver.solve(most_steps, stop);
  const std::int64_t first = number * state.size;
  solver.finish(slots, changes.rows + first, changes.factors + first, changes.counts + number);
}

/// Updates g of every row of the tasks, one thread per row. `stride`: room for the changes of one task.
__global__ void add_changes(DeviceState state, const std::int32_t* tasks, Changes changes, std::int64_t stride) {
  const auto number = static_cast<std::int64_t>(blockIdx.y);
  const DeviceTask task = state.tasks[tasks[number]];
  const auto row = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= task.rows) return;
  const std::int32_t position = task.position(row);
  const float* const* rows = changes.rows + number * stride;
  const double* factors = changes.factors + number * stride;
  const int count = changes.counts[number];
  double sum = 0;
  int k = 0;
  for (; k + 8 <= count; k += 8) {
    float values[8];
    for (int l = 0; l < 8; ++l) values[l] = rows[k + l][position];
    for (int l = 0; l < 8; ++l) sum += factors[k + l] * static_cast<double>(values[l]);
  }
  for (; k < count; ++k) sum += factors[k] * static_cast<double>(rows[k][position]);
  state.g[task.rows_at + row] += sum;
}

}  // namespace sheaf::kernel::gpu
