// Chooses the next working sets, one block per task: free variables of the last set, and the worst violators, found by
// their leading bits (two passes of 2,048 bins each) instead of a sort. The first of equal ones are taken, so that the
// same state gives the same set.
#pragma once

#include <cstdint>

#include "kernel/verbs/tasks_cuda.cuh"

namespace sheaf::kernel::gpu {

inline constexpr int choose_threads = 1024;
inline constexpr int bins = 2048;
inline constexpr int bin_bits = 11;
/// Keys are positive floats: of 31 bits, two times eleven are looked at.
inline constexpr int ignored_bits = 9;

struct ChooseShared {
  double numbers[4][32];
  unsigned counts[bins];
  unsigned ranks[BlockRanks::warps + 1];
  int threshold, above, total;
  std::int32_t kept[choose_threads];
};

class BlockChooser {
 public:
  __device__ BlockChooser(const DeviceState& state, std::int32_t task, ChooseShared& shared)
      : state_(state),
        task_(state.tasks[task]),
        number_(task),
        shared_(shared),
        ranks_(shared.ranks),
        set_(state.sets + static_cast<std::int64_t>(task) * state.size) {}

  __device__ void choose(std::int32_t size, std::int32_t most_kept) {
    find_bounds();
    const double first = highest_[0] - lowest_[0];
    const double violation = task_.grouped != 0 ? fmax(first, highest_[1] - lowest_[1]) : first;
    const bool done = violation < task_.tolerance;
    const bool holds_all = task_.rows * task_.sides <= size;
    int count = 0;
    if (!done) count = holds_all ? take_all() : take_best(size, most_kept);
    __syncthreads();
    if (threadIdx.x == 0) {
      state_.violations[number_] = violation;
      state_.counts[number_] = count;
      state_.holds_all[number_] = holds_all ? 1 : 0;
    }
  }

 private:
  struct Variable {
    bool there, rises, falls;
    int group;
    double f;
  };

  __device__ Variable read(std::int32_t v) const {
    const double bound = state_.bounds[task_.variables_at + v];
    if (bound == 0) return {false, false, false, 0, 0};
    const double beta = state_.beta[task_.variables_at + v];
    return {true, beta<fmax(bound, 0.0), beta> fmin(bound, 0.0), task_.grouped != 0 && bound < 0 ? 1 : 0,
            state_.g[task_.rows_at + task_.row_of(v)] + state_.linear[task_.variables_at + v]};
  }
  __device__ std::int32_t variables() const { return task_.rows * task_.sides; }

  __device__ void find_bounds() {
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    double largest[4] = {-infinity, -infinity, -infinity, -infinity};  // -f that can rise, f that can fall, by group
    for (std::int32_t v = static_cast<std::int32_t>(threadIdx.x); v < variables(); v += choose_threads) {
      const Variable variable = read(v);
      if (variable.rises) largest[variable.group] = fmax(largest[variable.group], -variable.f);
      if (variable.falls) largest[2 + variable.group] = fmax(largest[2 + variable.group], variable.f);
    }
    for (int k = 0; k < 4; ++k) {
      for (int step = 16; step > 0; step /= 2)
        largest[k] = fmax(largest[k], __shfl_xor_sync(all_lanes, largest[k], step));
      if (threadIdx.x % 32 == 0) shared_.numbers[k][threadIdx.x / 32] = largest[k];
    }
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
      double best = shared_.numbers[k][threadIdx.x % 32];
      for (int step = 16; step > 0; step /= 2) best = fmax(best, __shfl_xor_sync(all_lanes, best, step));
      largest[k] = best;
    }
    for (int group = 0; group < 2; ++group) {
      highest_[group] = largest[group];
      lowest_[group] = -largest[2 + group];
    }
    __syncthreads();
  }

  __device__ int take_all() {
    int count = 0;
    for (std::int32_t begin = 0; begin < variables(); begin += choose_threads) {
      const std::int32_t v = begin + static_cast<std::int32_t>(threadIdx.x);
      const bool there = v < variables() && state_.bounds[task_.variables_at + v] != 0;
      int rank, unused, total, none;
      ranks_.rank(there, false, rank, unused, total, none);
      if (there) set_[count + rank] = v;
      count += total;
    }
    return count;
  }

  __device__ int take_best(std::int32_t size, std::int32_t most_kept) {
    const int kept = keep(most_kept);
    const int groups = task_.grouped != 0 ? 2 : 1;
    const int room = (size - kept) / groups / 2;
    int count = 0;
    for (int group = 0; group < groups; ++group) {
      count += take_worst(group, true, room, count);
      count += take_worst(group, false, room, count);
    }
    if (static_cast<int>(threadIdx.x) < kept) set_[count + threadIdx.x] = shared_.kept[threadIdx.x];
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < count + kept; k += choose_threads)
      state_.taken[task_.variables_at + set_[k]] = 0;
    return count + kept;
  }

  /// The free ones of the last set, newest first.
  __device__ int keep(int most) {
    const int last = state_.counts[number_];
    std::int32_t v = -1;
    bool free = false;
    if (static_cast<int>(threadIdx.x) < last) {
      v = set_[threadIdx.x];
      const Variable variable = read(v);
      free = variable.rises && variable.falls;
    }
    int rank, unused, total, none;
    ranks_.rank(free, false, rank, unused, total, none);
    if (free && rank < most) {
      shared_.kept[rank] = v;
      state_.taken[task_.variables_at + v] = 1;
    }
    __syncthreads();
    return min(total, most);
  }

  /// How far a variable lies beyond the other side's bound; 0: it is no candidate.
  __device__ unsigned key(std::int32_t v, int group, bool rising) const {
    if (state_.taken[task_.variables_at + v] != 0) return 0;
    const Variable variable = read(v);
    if (!variable.there || variable.group != group || !(rising ? variable.rises : variable.falls)) return 0;
    const double excess = rising ? -variable.f - lowest_[group] : highest_[group] + variable.f;
    if (!(excess > 0)) return 0;
    return max(__float_as_uint(static_cast<float>(excess)), 1U << ignored_bits);
  }

  /// Counts keys >> shift, of those with the given leading bits, and finds the bin that holds the wanted-th largest.
  __device__ void count_bins(int group, bool rising, int shift, int prefix, int wanted) {
    for (int bin = static_cast<int>(threadIdx.x); bin < bins; bin += choose_threads) shared_.counts[bin] = 0;
    __syncthreads();
    for (std::int32_t v = static_cast<std::int32_t>(threadIdx.x); v < variables(); v += choose_threads) {
      const unsigned bits = key(v, group, rising);
      if (bits != 0 && (prefix < 0 || static_cast<int>(bits >> (shift + bin_bits)) == prefix))
        atomicAdd(&shared_.counts[(bits >> shift) % bins], 1U);
    }
    __syncthreads();
    if (threadIdx.x < 32) find_bin(wanted);
    __syncthreads();
  }

  /// By the first warp; its lanes hold the bins in falling order.
  __device__ void find_bin(int wanted) {
    constexpr int each = bins / 32;
    const int lane = static_cast<int>(threadIdx.x);
    const int top = bins - 1 - lane * each;
    int sum = 0;
    for (int k = 0; k < each; ++k) sum += static_cast<int>(shared_.counts[top - k]);
    int through = sum;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(all_lanes, through, step);
      if (lane >= step) through += other;
    }
    const int total = __shfl_sync(all_lanes, through, 31);
    if (lane == 0) {
      shared_.total = total;
      shared_.threshold = 0;
      shared_.above = 0;
    }
    __syncwarp();
    int before = through - sum;
    if (total < wanted || before >= wanted || through < wanted) return;
    for (int k = 0; k < each; ++k) {
      const int here = static_cast<int>(shared_.counts[top - k]);
      if (before + here >= wanted) {
        shared_.threshold = top - k;
        shared_.above = before;
        return;
      }
      before += here;
    }
  }

  /// Puts the `most` worst candidates from place `at` of the set on; returns how many there were.
  __device__ int take_worst(int group, bool rising, int most, int at) {
    if (most == 0) return 0;
    count_bins(group, rising, ignored_bits + bin_bits, -1, most);
    const int leading = shared_.threshold;
    const int above_leading = shared_.above;
    const bool all = shared_.total <= most;
    __syncthreads();
    int sure_total = 0;
    unsigned limit = 0;
    if (!all) {
      count_bins(group, rising, ignored_bits, leading, most - above_leading);
      limit = static_cast<unsigned>(leading) << bin_bits | static_cast<unsigned>(shared_.threshold);
      sure_total = above_leading + shared_.above;
      __syncthreads();
    }
    return collect(group, rising, most, at, all, limit, sure_total);
  }

  /// All keys above the limit, then the first of those at it.
  __device__ int collect(int group, bool rising, int most, int at, bool all, unsigned limit, int sure_total) {
    int sure_count = 0;
    int edge_count = 0;
    for (std::int32_t begin = 0; begin < variables(); begin += choose_threads) {
      const std::int32_t v = begin + static_cast<std::int32_t>(threadIdx.x);
      const unsigned bits = v < variables() ? key(v, group, rising) : 0;
      const bool sure = bits != 0 && (all || bits >> ignored_bits > limit);
      const bool edge = bits != 0 && !all && bits >> ignored_bits == limit;
      int sure_rank, edge_rank, sures, edges;
      ranks_.rank(sure, edge, sure_rank, edge_rank, sures, edges);
      int place = -1;
      if (sure) place = sure_count + sure_rank;
      if (edge && sure_total + edge_count + edge_rank < most) place = sure_total + edge_count + edge_rank;
      if (place >= 0) {
        set_[at + place] = v;
        state_.taken[task_.variables_at + v] = 1;
      }
      sure_count += sures;
      edge_count += edges;
    }
    __syncthreads();
    return all ? sure_count : most;
  }

  const DeviceState& state_;
  const DeviceTask task_;
  std::int32_t number_;
  ChooseShared& shared_;
  BlockRanks ranks_;
  std::int32_t* set_;
  double highest_[2], lowest_[2];
};

__global__ void __launch_bounds__(choose_threads)
    choose_sets(DeviceState state, const std::int32_t* tasks, std::int32_t size, std::int32_t most_kept) {
  __shared__ ChooseShared shared;
  BlockChooser(state, tasks[blockIdx.x], shared).choose(size, most_kept);
}

}  // namespace sheaf::kernel::gpu
