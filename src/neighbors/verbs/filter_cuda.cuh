// The filter on a GPU: rows rounded to bf16, inner products on the tensor cores, and bounds of the distance.
//
// With x' = bf16(x) and e = |x - x'|, the distance of x and y is that of x' and y' within e_x + e_y. Products of bf16
// are exact in float; tensor cores truncate as they add, so that a sum of d products is wrong by at most
// (d + 8) 2^-22 (|x'| + |y'|)^2 <= (d + 8) 2^-21 (|x'|^2 + |y'|^2). A row's share of that is its slack:
//   low = |x'|^2 - slack,  |x' - y'|^2 >= low_x + low_y - 2 x'y',  and at most 2 (slack_x + slack_y) more.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>

#include <sheaf/array.hpp>

#include "core/parallel.hpp"
#include "neighbors/verbs/filter_plan.hpp"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/select_cuda.cuh"

namespace sheaf::neighbors::gpu {

/// What the filter knows of a row beside its values.
struct RowBound {
  float low;    ///< |x'|^2 - slack
  float slack;  ///< rounded up
  float error;  ///< e, rounded up
};

struct FilterView {
  const __nv_bfloat16* values = nullptr;
  const RowBound* bounds = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< padded to 8, for aligned loads
};

/// Rows of the filter on the GPU.
class FilterRows {
 public:
  FilterRows() = default;

  template <class S>
  FilterRows(const Context& context, const FilterPlan& plan, const Rows<S>& rows,
             std::span<const std::int32_t> places) {
    rows_ = places.empty() ? sheaf::rows(rows.x) : std::ssize(places);
    columns_ = (plan.columns() + 7) / 8 * 8;
    Array<__nv_bfloat16> values(rows_ * columns_);
    Array<RowBound> bounds(rows_);
    parallel_ranges(context, rows_, 64, [&](Range range) {
      std::vector<double> row(static_cast<std::size_t>(plan.columns()));
      for (auto i = range.begin; i < range.end; ++i) {
        write_filtered(plan, rows, places.empty() ? i : std::int64_t{places[static_cast<std::size_t>(i)]}, row.data());
        bounds[i] = round_row(row, values.data() + i * columns_);
      }
    });
    values_ = values.to(context.device());
    bounds_ = bounds.to(context.device());
    for (const RowBound& bound : bounds) largest_error_ = std::max(largest_error_, bound.error);
  }

  FilterView view() const { return {values_.data(), bounds_.data(), rows_, columns_}; }
  float largest_error() const { return largest_error_; }
  std::int64_t rows() const { return rows_; }

 private:
  RowBound round_row(const std::vector<double>& row, __nv_bfloat16* to) const {
    double norm = 0;
    double lost = 0;
    for (std::int64_t j = 0; j < columns_; ++j) {
      const double wide = j < static_cast<std::int64_t>(row.size()) ? row[static_cast<std::size_t>(j)] : 0.0;
      to[j] = __float2bfloat16(static_cast<float>(wide));
      const auto value = static_cast<double>(__bfloat162float(to[j]));
      norm += value * value;
      lost += (wide - value) * (wide - value);
    }
    constexpr double above = 1 + 0x1p-20;
    const double slack = (static_cast<double>(columns_) + 24) * 0x1p-21 * norm * above + 0x1p-100;
    return {static_cast<float>(norm - slack), static_cast<float>(slack * above),
            static_cast<float>(std::sqrt(lost) * above + 0x1p-60)};
  }

  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  Array<__nv_bfloat16> values_;
  Array<RowBound> bounds_;
  float largest_error_ = 0;
};

/// Candidates of a block of queries, one list after another.
struct CandidateView {
  float* lower;
  float* upper;
  std::int32_t* rows;
  int* counts;    ///< may exceed the capacity: then the list is incomplete
  float* limits;  ///< no row is among the k nearest whose lower bound is above
  int capacity;
};

/// Bounds of a distance, in the filter's unit.
struct Bounds {
  float lower, upper;
};
__device__ inline Bounds bounds_of(const RowBound& x, const RowBound& y, float product) {
  const float low = (x.low + y.low) - 2 * product;
  const float high = low + 2 * (x.slack + y.slack);
  const float error = x.error + y.error;
  constexpr float below = 1 - 0x1p-20F;
  constexpr float above = 1 + 0x1p-20F;
  const float lower = low > 0 ? sqrtf(low) * below - error * above : -error;
  return {lower > 0 ? lower : 0, (high > 0 ? sqrtf(high) * above : 0.0F) + error * above};
}

/// The first limits: the k-th smallest upper bound of a tile of products (queries x columns). One block a query.
__global__ void __launch_bounds__(select_threads)
    seed_limits(const float* products, std::int64_t columns, std::int64_t first_query, std::int64_t first_row,
                std::int64_t k, FilterView queries, FilterView data, Allowed allowed, CandidateView candidates) {
  const std::int64_t q = blockIdx.x;
  const RowBound own = queries.bounds[first_query + q];
  const auto upper = [&](std::int64_t j) {
    if (!allowed(first_query + q, first_row + j)) return 3e38F;
    return bounds_of(own, data.bounds[first_row + j], products[q * columns + j]).upper;
  };
  const auto found = select_kth<32>(columns, k, upper);
  if (threadIdx.x == 0) {
    candidates.limits[q] = __uint_as_float(static_cast<unsigned>(found.bits));
    candidates.counts[q] = 0;
  }
}

/// Adds the rows of a tile whose lower bound is within the limit. Blocks of columns x queries.
__global__ void __launch_bounds__(select_threads)
    collect(const float* products, std::int64_t columns, std::int64_t first_query, std::int64_t first_row,
            FilterView queries, FilterView data, Allowed allowed, CandidateView candidates) {
  const std::int64_t q = blockIdx.y;
  const RowBound own = queries.bounds[first_query + q];
  const float limit = candidates.limits[q];
  constexpr float above = 1 + 0x1p-18F;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < columns; j += step) {
    const RowBound other = data.bounds[first_row + j];
    const float product = products[q * columns + j];
    // lower <= limit without its root.
    const float reach = (limit + own.error + other.error) * above;
    if ((own.low + other.low) - 2 * product > reach * reach) continue;
    if (!allowed(first_query + q, first_row + j)) continue;
    const Bounds bounds = bounds_of(own, other, product);
    if (bounds.lower > limit) continue;
    const int at = atomicAdd(&candidates.counts[q], 1);
    if (at >= candidates.capacity) continue;
    const std::int64_t place = q * candidates.capacity + at;
    candidates.lower[place] = bounds.lower;
    candidates.upper[place] = bounds.upper;
    candidates.rows[place] = static_cast<std::int32_t>(first_row + j);
  }
}

/// Lowers the limits to the k-th smallest upper bound, and drops what is above. One block a query.
__global__ void __launch_bounds__(select_threads) compact(std::int64_t k, CandidateView candidates) {
  const std::int64_t q = blockIdx.x;
  const int count = candidates.counts[q];
  if (count > candidates.capacity || count < k) return;  // incomplete: decided exactly; too few: nothing to drop
  float* lower = candidates.lower + q * candidates.capacity;
  float* upper = candidates.upper + q * candidates.capacity;
  std::int32_t* rows = candidates.rows + q * candidates.capacity;
  const auto found = select_kth<32>(count, k, [&](std::int64_t i) { return upper[i]; });
  const float limit = fminf(candidates.limits[q], __uint_as_float(static_cast<unsigned>(found.bits)));
  __shared__ int kept;
  if (threadIdx.x == 0) kept = 0;
  // Entries are moved forwards only, a block of threads at a time: each reads before any writes.
  for (int begin = 0; begin < count; begin += static_cast<int>(blockDim.x)) {
    const int i = begin + static_cast<int>(threadIdx.x);
    const bool stays = i < count && lower[i] <= limit;
    const float low = stays ? lower[i] : 0.0F;
    const float high = stays ? upper[i] : 0.0F;
    const std::int32_t row = stays ? rows[i] : 0;
    __syncthreads();
    if (stays) {
      const int to = atomicAdd(&kept, 1);
      lower[to] = low;
      upper[to] = high;
      rows[to] = row;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    candidates.counts[q] = kept;
    candidates.limits[q] = limit;
  }
}

}  // namespace sheaf::neighbors::gpu
