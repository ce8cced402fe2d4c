// Small pairs of classes on a GPU, as in full_pair_cpu.hpp: one block solves one SVM without a working set, thousands
// of blocks a launch. The kernel matrix of a pair lies in global memory and serves all of its tasks (costs and folds).
// A thread keeps the gradients of its variables in registers; a step takes two barriers and two rows of the matrix.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "cuda/stop_flag.cuh"
#include "kernel/verbs/full_pair.hpp"
#include "kernel/verbs/tasks_cuda.cuh"

namespace sheaf::kernel::gpu {

inline constexpr int pair_threads = 256;
inline constexpr int pair_warps = pair_threads / 32;
/// A few milliseconds.
inline constexpr std::int64_t pair_steps_between_stops = 2048;

/// A task and where the kernel matrix of its pair begins, in floats.
struct PairTask {
  std::int32_t task;
  std::int64_t tile_at;
};

/// Floats from one row of a matrix to the next: rows begin where cache lines do.
SHEAF_HOST_DEVICE constexpr std::int64_t pair_stride(std::int64_t rows) { return (rows + 31) / 32 * 32; }

/// Shared memory of a block.
inline std::int64_t pair_bytes(std::int64_t rows) {
  return rows * static_cast<std::int64_t>(2 * sizeof(double) + sizeof(float));
}

/// The positions of a pair's rows and the addresses of its kernel rows, those of the k-th pair (blockIdx.y) from
/// k * stride on.
__global__ void place_pairs(const DeviceTask* tasks, const PairTask* pairs, float* tiles, std::int64_t stride,
                            std::int32_t* positions, float** rows) {
  const PairTask pair = pairs[blockIdx.y];
  const DeviceTask& task = tasks[pair.task];
  const auto row = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= task.rows) return;
  const std::int64_t at = blockIdx.y * stride + row;
  positions[at] = task.position(row);
  rows[at] = tiles + pair.tile_at + row * pair_stride(task.rows);
}

/// Doubles in the order of their values, as integers above 0.
__device__ inline std::uint64_t ordered_bits(double value) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
__device__ inline double ordered_value(std::uint64_t bits) {
  return __longlong_as_double(static_cast<long long>((bits >> 63) != 0 ? bits ^ std::uint64_t{1} << 63 : ~bits));
}
__device__ inline std::uint64_t warp_max(std::uint64_t value) {
  const auto high = static_cast<unsigned>(value >> 32);
  const unsigned best = __reduce_max_sync(all_lanes, high);
  const unsigned low = __reduce_max_sync(all_lanes, high == best ? static_cast<unsigned>(value) : 0U);
  return static_cast<std::uint64_t>(best) << 32 | low;
}
/// The first lane whose flag is set, which some lane's is.
__device__ inline int first_lane(bool flag) { return __ffs(static_cast<int>(__ballot_sync(all_lanes, flag))) - 1; }

/// What the warps offer for the two choices of a step.
struct PairOffers {
  std::uint64_t rises[pair_warps], falls[pair_warps];  // of ordered_bits(); 0: no variable
  double rise_rooms[pair_warps];
  int rising[pair_warps];
  unsigned gains[pair_warps];  // bits of floats; 0: no partner
  double partner_gradients[pair_warps], partner_rooms[pair_warps];
  float partner_values[pair_warps];  // K(rising, partner)
  int partners[pair_warps];
};

/// Variable e * pair_threads + threadIdx.x is the e-th of this thread.
template <int Each>
class PairSolver {
 public:
  /// `shared`: pair_bytes(). Each thread reads and writes its own bounds and betas there; diagonals are read by all.
  __device__ PairSolver(const DeviceState& state, std::int32_t task, const float* tile, double* shared,
                        PairOffers& offers)
      : state_(state),
        task_(state.tasks[task]),
        number_(task),
        tile_(tile),
        stride_(pair_stride(task_.rows)),
        bounds_(shared),
        betas_(shared + task_.rows),
        diagonal_(reinterpret_cast<float*>(betas_ + task_.rows)),
        offers_(offers) {
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const int v = variable(e);
      gradients_[e] = 0;
      if (v >= task_.rows) continue;
      bounds_[v] = state.bounds[task_.variables_at + v];
      betas_[v] = state.beta[task_.variables_at + v];
      diagonal_[v] = tile[v * (stride_ + 1)];
      gradients_[e] = state.g[task_.rows_at + v] + state.linear[task_.variables_at + v];
      mark(e);
    }
    __syncthreads();
  }

  /// Ends early, with an undefined state, once `stop` is raised.
  __device__ void solve(std::int64_t most_steps, const volatile int* stop) {
    const double wanted = 0.999 * task_.tolerance;
    std::int64_t steps = 0;
    double violation = 0;
    while (true) {
      if (steps % pair_steps_between_stops == 0 && cuda::block_must_stop(stop)) break;
      const Rise rise = choose_rise();
      violation = rise.violation;
      if (!(violation >= wanted) || steps == most_steps || !take_step(rise)) break;
      ++steps;
    }
    if (threadIdx.x == 0) {
      state_.violations[number_] = violation;
      state_.steps[number_] += steps;
    }
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const int v = variable(e);
      if (v >= task_.rows) continue;
      state_.beta[task_.variables_at + v] = betas_[v];
      state_.g[task_.rows_at + v] = gradients_[e] - state_.linear[task_.variables_at + v];
    }
  }

 private:
  struct Rise {
    int variable;
    double height, room, violation;  // height: minus its gradient
  };

  __device__ int variable(int e) const { return e * pair_threads + static_cast<int>(threadIdx.x); }
  __device__ bool rises(int e) const { return (can_rise_ >> e & 1) != 0; }
  __device__ bool falls(int e) const { return (can_fall_ >> e & 1) != 0; }
  __device__ double upper(int v) const { return fmax(bounds_[v], 0.0); }
  __device__ double lower(int v) const { return fmin(bounds_[v], 0.0); }
  /// Notes whether the variable can rise and fall.
  __device__ void mark(int e) {
    const int v = variable(e);
    const unsigned bit = 1U << e;
    can_rise_ = betas_[v] < upper(v) ? can_rise_ | bit : can_rise_ & ~bit;
    can_fall_ = betas_[v] > lower(v) ? can_fall_ | bit : can_fall_ & ~bit;
  }

  /// The variable that gains most by rising, and the violation; the same for all threads.
  __device__ Rise choose_rise() {
    std::uint64_t top = 0;
    std::uint64_t low = 0;
    int at = 0;
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const std::uint64_t height = rises(e) ? ordered_bits(-gradients_[e]) : 0;
      if (height > top) {
        top = height;
        at = variable(e);
      }
      low = max(low, falls(e) ? ordered_bits(gradients_[e]) : 0);
    }
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::uint64_t best = warp_max(top);
    const std::uint64_t lowest = warp_max(low);
    if (lane == first_lane(top == best)) {
      offers_.rises[warp] = best;
      offers_.falls[warp] = lowest;
      offers_.rising[warp] = at;
      offers_.rise_rooms[warp] = best == 0 ? 0.0 : upper(at) - betas_[at];
    }
    __syncthreads();
    const std::uint64_t offer = lane < pair_warps ? offers_.rises[lane] : 0;
    const std::uint64_t highest = warp_max(offer);
    const std::uint64_t deepest = warp_max(lane < pair_warps ? offers_.falls[lane] : 0);
    const int who = first_lane(offer == highest);
    if (highest == 0 || deepest == 0) return {-1, 0, 0, -1};
    const double height = ordered_value(highest);
    return {offers_.rising[who], height, offers_.rise_rooms[who], height + ordered_value(deepest)};
  }

  /// Chooses the partner whose fall gains most, and moves both; false if there is none.
  __device__ bool take_step(const Rise& rise) {
    const float* row = tile_ + rise.variable * stride_;
    const float curvature = diagonal_[rise.variable];
    float values[Each];
#pragma unroll
    for (int e = 0; e < Each; ++e) values[e] = variable(e) < task_.rows ? row[variable(e)] : 0.0F;
    unsigned most = 0;
    int at = 0;
    float value = 0;
    double gradient = 0;
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const auto slope = static_cast<float>(rise.height + gradients_[e]);
      if (!falls(e) || !(slope > 0)) continue;
      const float bend = curvature + diagonal_[variable(e)] - 2 * values[e];
      const unsigned gain = max(1U, __float_as_uint(__fdividef(slope * slope, bend > 0 ? bend : 1e-12F)));
      if (gain <= most) continue;
      most = gain;
      at = variable(e);
      value = values[e];
      gradient = gradients_[e];
    }
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned best = __reduce_max_sync(all_lanes, most);
    if (lane == first_lane(most == best)) {
      offers_.gains[warp] = best;
      offers_.partners[warp] = at;
      offers_.partner_gradients[warp] = gradient;
      offers_.partner_values[warp] = value;
      offers_.partner_rooms[warp] = best == 0 ? 0.0 : betas_[at] - lower(at);
    }
    __syncthreads();
    const unsigned offer = lane < pair_warps ? offers_.gains[lane] : 0;
    const unsigned largest = __reduce_max_sync(all_lanes, offer);
    if (largest == 0) return false;
    const int who = first_lane(offer == largest);
    const int partner = offers_.partners[who];
    const float* other = tile_ + partner * stride_;
    float others[Each];
#pragma unroll
    for (int e = 0; e < Each; ++e) others[e] = variable(e) < task_.rows ? other[variable(e)] : 0.0F;
    const double bend = fmax(static_cast<double>(curvature) + static_cast<double>(diagonal_[partner]) -
                                 2 * static_cast<double>(offers_.partner_values[who]),
                             1e-12);
    const double room = offers_.partner_rooms[who];
    const double delta = fmin((offers_.partner_gradients[who] + rise.height) / bend, fmin(rise.room, room));
    move(rise.variable, delta, delta == rise.room);
    move(partner, -delta, delta == room);
#pragma unroll
    for (int e = 0; e < Each; ++e)
      gradients_[e] += delta * (static_cast<double>(values[e]) - static_cast<double>(others[e]));
    return true;
  }

  /// Adds to a beta, or sets it to the bound that it moves to; the thread whose it is does so.
  __device__ void move(int v, double delta, bool to_bound) {
    if (v % pair_threads != static_cast<int>(threadIdx.x)) return;
    betas_[v] = !to_bound ? betas_[v] + delta : delta > 0 ? upper(v) : lower(v);
    mark(v / pair_threads);
  }

  const DeviceState& state_;
  const DeviceTask task_;
  std::int32_t number_;
  const float* tile_;
  std::int64_t stride_;
  double* bounds_;
  double* betas_;
  float* diagonal_;
  PairOffers& offers_;
  double gradients_[Each];
  unsigned can_rise_ = 0, can_fall_ = 0;
};

template <int Each>
__global__ void __launch_bounds__(pair_threads, 4)
    solve_pairs(DeviceState state, const PairTask* tasks, const float* tiles, std::int64_t most_steps,
                const volatile int* stop) {
  extern __shared__ double shared[];
  __shared__ PairOffers offers;
  const PairTask own = tasks[blockIdx.x];
  PairSolver<Each>(state, own.task, tiles + own.tile_at, shared, offers).solve(most_steps, stop);
}

/// Calls launch(solve_pairs<Each>) with an Each that is enough for so many rows.
template <int Each = 1, class Launch>
void with_pair_solver(std::int64_t rows, const Launch& launch) {
  if constexpr (Each * pair_threads < most_full_pair_rows) {
    if (rows > Each * pair_threads) return with_pair_solver<Each + 1>(rows, launch);
  }
  launch(solve_pairs<Each>);
}

}  // namespace sheaf::kernel::gpu
