// The tasks in a GPU's memory: the variables of all tasks one behind the other.
#pragma once

#include <cstdint>

#include "kernel/verbs/problem.hpp"

namespace sheaf::kernel::gpu {

struct DeviceTask {
  std::int64_t variables_at, rows_at;  ///< where its variables and rows begin
  std::int32_t rows, sides, grouped;
  std::int32_t first_begin, first_size, second_begin;  ///< its ranges of positions
  double tolerance;

  __device__ std::int32_t position(std::int32_t row) const {
    return row < first_size ? first_begin + row : second_begin + row - first_size;
  }
  __device__ std::int32_t row_of(std::int32_t variable) const { return variable < rows ? variable : variable - rows; }
};

struct DeviceState {
  const DeviceTask* tasks;
  const double* bounds;
  const double* linear;
  double* beta;
  double* g;
  std::uint8_t* taken;  ///< a flag per variable, 0 between kernels
  std::int32_t* sets;   ///< of each task, `size` variables: the working set
  std::int32_t* counts;
  std::uint8_t* holds_all;  ///< whether the working set holds all variables
  double* violations;
  std::int64_t* steps;
  std::int32_t size;
};

/// The places of kernel rows in memory.
struct Slots {
  float* const* slabs;
  std::int32_t* slot_of;  ///< by position; right for rows that are in a slot
  std::int64_t slab_rows, stride;

  __device__ float* row(std::int32_t position) const {
    const std::int32_t slot = slot_of[position];
    return slabs[slot / slab_rows] + slot % slab_rows * stride;
  }
};

/// Stores the slots of rows that are about to be computed, and their addresses.
__global__ void find_rows(Slots slots, const std::int32_t* positions, const std::int32_t* numbers, std::int64_t count,
                          float** rows) {
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    slots.slot_of[positions[k]] = numbers[k];
    rows[k] = slots.row(positions[k]);
  }
}

/// The decision values of tasks first, first + 1 ... (blockIdx.y) at their rows.
__global__ void write_decisions(DeviceState state, std::int64_t first, const DecisionColumn* columns,
                                const std::int32_t* order, BlockView<double> decisions) {
  const DecisionColumn own = columns[first + blockIdx.y];
  const DeviceTask& task = state.tasks[first + blockIdx.y];
  const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (own.column < 0 || i >= task.rows) return;
  decisions.data[static_cast<std::int64_t>(order[task.position(i)]) * decisions.stride + own.column] =
      (state.g[task.rows_at + i] + own.offset) * own.scale - own.rho;
}

inline constexpr unsigned all_lanes = 0xffffffffU;

/// Floats in the order of their values; 0 is below all.
__device__ inline unsigned ordered_bits(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

/// Ranks of flagged threads in a block of up to 1024, for two flags at once; what was counted before is added up in
/// `totals`. Every thread of the block must call it.
class BlockRanks {
 public:
  static constexpr int warps = 32;

  /// `shared`: warps + 1 words.
  __device__ explicit BlockRanks(unsigned* shared) : shared_(shared) {}

  __device__ void rank(bool first, bool second, int& first_rank, int& second_rank, int& first_total,
                       int& second_total) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned firsts = __ballot_sync(all_lanes, first);
    const unsigned seconds = __ballot_sync(all_lanes, second);
    if (lane == 0) shared_[warp] = static_cast<unsigned>(__popc(firsts)) | static_cast<unsigned>(__popc(seconds)) << 16;
    __syncthreads();
    const int used = static_cast<int>(blockDim.x) / 32;
    const unsigned mine = lane < used ? shared_[lane] : 0;
    const unsigned before = __reduce_add_sync(all_lanes, lane < warp ? mine : 0);
    const unsigned total = __reduce_add_sync(all_lanes, mine);
    const unsigned below = (1U << lane) - 1;
    first_rank = static_cast<int>(before & 0xffffU) + __popc(firsts & below);
    second_rank = static_cast<int>(before >> 16) + __popc(seconds & below);
    first_total = static_cast<int>(total & 0xffffU);
    second_total = static_cast<int>(total >> 16);
    __syncthreads();
  }

 private:
  unsigned* shared_;
};

}  // namespace sheaf::kernel::gpu
