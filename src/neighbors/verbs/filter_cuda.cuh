// The filter on a GPU. Euclid's distance: rows rounded to bf16, inner products on the tensor cores, and bounds of the
// distance.
//
// With x' = bf16(x) and e = |x - x'|, the distance of x and y is that of x' and y' within e_x + e_y. Products of bf16
// are exact in float; tensor cores truncate as they add, so that a sum of d products is wrong by at most
// (d + 8) 2^-22 (|x'| + |y'|)^2 <= (d + 8) 2^-21 (|x'|^2 + |y'|^2). A row's share of that is its slack:
//   low = |x'|^2 - slack,  |x' - y'|^2 >= low_x + low_y - 2 x'y',  and at most 2 (slack_x + slack_y) more.
//
// Manhattan's distance: rows rounded to float, x' = float(x). Sums of d absolute differences of them are wrong by at
// most (d + 1) 2^-24 (|x'| + |y'|), in that norm, and the distance of x and y by |x - x'| + |y - y'| more. A row's
// share of both is its slack.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>

#include <sheaf/solvers/array.hpp>

#include "core/parallel.hpp"
#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/filter_plan.hpp"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/select_cuda.cuh"
#include "neighbors/verbs/tile_cuda.cuh"

namespace sheaf::neighbors::gpu {

/// Quantities of a row that the filter needs besides its values.
struct RowBound {
  float low;    ///< |x'|^2 - slack; of sums 0
  float slack;  ///< rounded up
  float error;  ///< e, rounded up; of sums 0
};

/// Rounds the values of a row for the filter.
template <class Tile>
struct Rounding;

template <>
struct Rounding<ProductTile> {
  SHEAF_HOST_DEVICE static __nv_bfloat16 round(double value) { return __float2bfloat16(static_cast<float>(value)); }
  SHEAF_HOST_DEVICE static double wide(__nv_bfloat16 value) { return static_cast<double>(__bfloat162float(value)); }
  /// The summand of sums over a row.
  SHEAF_HOST_DEVICE static double size(double value) { return value * value; }

  /// `lost` is |x - x'|^2.
  SHEAF_HOST_DEVICE static RowBound bound(double norm, double lost, std::int64_t columns) {
    constexpr double above = 1 + 0x1p-20;
    const double slack = (static_cast<double>(columns) + 24) * 0x1p-21 * norm * above + 0x1p-100;
    return {static_cast<float>(norm - slack), static_cast<float>(slack * above),
            static_cast<float>(sqrt(lost) * above + 0x1p-60)};
  }
  /// A little below `low`: the error of its sums in float does not matter.
  SHEAF_HOST_DEVICE static float below(double norm, const RowBound& bound) {
    return bound.low - static_cast<float>(norm * 0x1p-19 + 0x1p-100);
  }
};

template <>
struct Rounding<SumTile> {
  SHEAF_HOST_DEVICE static float round(double value) { return static_cast<float>(value); }
  SHEAF_HOST_DEVICE static double wide(float value) { return static_cast<double>(value); }
  SHEAF_HOST_DEVICE static double size(double value) { return fabs(value); }

  /// `lost` is |x - x'|.
  SHEAF_HOST_DEVICE static RowBound bound(double norm, double lost, std::int64_t columns) {
    constexpr double above = 1 + 0x1p-10;
    const double slack = (static_cast<double>(columns) + 8) * 0x1p-24 * norm * above + lost * above + 0x1p-100;
    return {0, static_cast<float>(slack * above), 0};
  }
  SHEAF_HOST_DEVICE static float below(double /*norm*/, const RowBound& bound) { return -bound.slack * (1 + 0x1p-18F); }
};

struct FilterView {
  const __nv_bfloat16* rounded = nullptr;  ///< of filters by products
  const float* floats = nullptr;           ///< of filters by sums
  const RowBound* bounds = nullptr;
  const float* below = nullptr;         ///< of each row
  const std::int32_t* order = nullptr;  ///< which row each one is; nullptr: in order
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< padded to 8, for aligned loads

  __device__ std::int64_t place(std::int64_t i) const { return order == nullptr ? i : std::int64_t{order[i]}; }
  template <class Tile>
  __device__ TileRows<typename Tile::Value> tile_rows(std::int64_t end) const {
    if constexpr (std::is_same_v<Tile, ProductTile>)
      return {rounded, end, columns};
    else
      return {floats, end, columns};
  }
};

/// A plan on the GPU.
struct PlanView {
  const double* centre;  ///< nullptr: 0
  const double* factor;
  std::int64_t features;
  std::int64_t columns;  ///< padded
  double mark;           ///< of rows without direction, in the column after the features; 0: there is no such column
};

/// Value j of a dense row in the filter.
template <class S>
__device__ double filtered_value(const PlanView& plan, const RowsView<S>& rows, std::int64_t i, std::int64_t j) {
  const RowTerms terms = terms_at(rows, i);
  if (j >= plan.features) return j == plan.features && terms.factor == 0 ? plan.mark : 0.0;
  double value = (static_cast<double>(rows.values[i * rows.columns + j]) - terms.shift) * terms.factor;
  if (plan.centre != nullptr) value -= plan.centre[j];
  return value * plan.factor[j];
}

inline constexpr int rows_of_block = 8;  // a warp each

__device__ inline double warp_sum(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
  return value;
}

/// The largest sum of sizes over a dense row in the filter, as bits.
template <class Tile, class S>
__global__ void __launch_bounds__(32 * rows_of_block)
    largest_size(PlanView plan, RowsView<S> rows, std::int64_t count, unsigned long long* largest) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_of_block + threadIdx.x / 32;
  if (i >= count) return;
  double norm = 0;
  for (std::int64_t j = threadIdx.x % 32; j < plan.columns; j += 32)
    norm += Rounding<Tile>::size(filtered_value(plan, rows, i, j));
  norm = warp_sum(norm);
  if (threadIdx.x % 32 == 0) atomicMax(largest, static_cast<unsigned long long>(bits_of(norm)));
}

/// Rounds dense rows, those of `from` in its order.
template <class Tile, class S>
__global__ void __launch_bounds__(32 * rows_of_block)
    round_rows(PlanView plan, RowsView<S> rows, const std::int32_t* from, std::int64_t count,
               typename Tile::Value* values, RowBound* bounds, float* belows, unsigned* largest_error) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_of_block + threadIdx.x / 32;
  if (i >= count) return;
  const std::int64_t row = from == nullptr ? i : std::int64_t{from[i]};
  double norm = 0;
  double lost = 0;
  for (std::int64_t j = threadIdx.x % 32; j < plan.columns; j += 32) {
    const double wide = filtered_value(plan, rows, row, j);
    const auto rounded = Rounding<Tile>::round(wide);
    const double value = Rounding<Tile>::wide(rounded);
    values[i * plan.columns + j] = rounded;
    norm += Rounding<Tile>::size(value);
    lost += Rounding<Tile>::size(wide - value);
  }
  norm = warp_sum(norm);
  lost = warp_sum(lost);
  if (threadIdx.x % 32 != 0) return;
  bounds[i] = Rounding<Tile>::bound(norm, lost, plan.columns);
  belows[i] = Rounding<Tile>::below(norm, bounds[i]);
  atomicMax(largest_error, __float_as_uint(bounds[i].error));
}

inline constexpr int sum_parts = 64;  // a fixed number: sums are the same in every run

/// Sums of columns over parts of the rows, as the metric compares them: sums[part * columns + j].
template <class S>
__global__ void __launch_bounds__(256) column_sums(RowsView<S> rows, std::int64_t count, double* sums) {
  __shared__ double found[8][32];
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x % 32;
  const auto begin = count * blockIdx.y / sum_parts;
  const auto end = count * (blockIdx.y + 1) / sum_parts;
  double sum = 0;
  if (j < rows.columns)
    for (std::int64_t i = begin + threadIdx.x / 32; i < end; i += 8) {
      const RowTerms terms = terms_at(rows, i);
      sum += (static_cast<double>(rows.values[i * rows.columns + j]) - terms.shift) * terms.factor;
    }
  found[threadIdx.x / 32][threadIdx.x % 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32 || j >= rows.columns) return;
  for (int part = 1; part < 8; ++part) sum += found[part][threadIdx.x];
  sums[blockIdx.y * rows.columns + j] = sum;
}

/// The means of all columns of dense rows.
template <class S>
std::vector<double> column_means(const RowsView<S>& rows, std::int64_t count, Device device, cudaStream_t stream) {
  Array<double> sums(sum_parts * rows.columns, device);
  column_sums<<<dim3(static_cast<unsigned>((rows.columns + 31) / 32), sum_parts), 256, 0, stream>>>(rows, count,
                                                                                                    sums.data());
  cuda::check_launch("column_sums");
  cuda::check(cudaStreamSynchronize(stream), "waiting for the GPU");
  const auto parts_of_sums = sums.to(Device::cpu());
  std::vector<double> means(static_cast<std::size_t>(rows.columns), 0.0);
  for (std::int64_t part = 0; part < sum_parts; ++part)
    for (std::int64_t j = 0; j < rows.columns; ++j)
      means[static_cast<std::size_t>(j)] += parts_of_sums[part * rows.columns + j];
  for (double& mean : means) mean /= static_cast<double>(std::max<std::int64_t>(count, 1));
  return means;
}

/// A plan's numbers on the GPU.
class DevicePlan {
 public:
  DevicePlan(const FilterPlan& plan, Device device)
      : centre_(Array<double>::copy_of(plan.centre, device)),
        factor_(Array<double>::copy_of(plan.factor, device)),
        view_{centre_.size() > 0 ? centre_.data() : nullptr, factor_.data(), plan.features,
              (plan.columns() + 7) / 8 * 8, plan.marked ? plan.scale : 0.0} {}
  const PlanView& view() const { return view_; }

 private:
  Array<double> centre_, factor_;
  PlanView view_;
};

/// Calls use with the kind of tile that filters of a kind go by.
template <class Use>
void with_tile(FilterKind kind, const Use& use) {
  if (kind == FilterKind::products)
    use(ProductTile());
  else
    use(SumTile());
}

/// The largest norm of dense rows in the filter.
template <class S>
double largest_norm(const FilterPlan& plan, const RowsView<S>& rows, std::int64_t count, Device device,
                    cudaStream_t stream) {
  if (count == 0) return 0;
  const DevicePlan on_device(plan, device);
  auto largest = Array<unsigned long long>::copy_of(std::vector<unsigned long long>{0}, device);
  with_tile(plan.kind, [&](auto tile) {
    largest_size<decltype(tile)>
        <<<static_cast<unsigned>((count + rows_of_block - 1) / rows_of_block), 32 * rows_of_block, 0, stream>>>(
            on_device.view(), rows, count, largest.data());
  });
  cuda::check_launch("largest_size");
  cuda::check(cudaStreamSynchronize(stream), "waiting for the GPU");
  const auto size = std::bit_cast<double>(largest.to(Device::cpu())[0]);
  return plan.kind == FilterKind::products ? std::sqrt(size) : size;
}

/// Rows of the filter on the GPU.
class FilterRows {
 public:
  FilterRows() = default;

  /// All rows, or those at `places`; with `shuffled` the places are stored.
  template <class S>
  FilterRows(const Context& context, cudaStream_t stream, const FilterPlan& plan, const Rows<S>& rows,
             const RowsView<S>& on_device, std::span<const std::int32_t> places, bool shuffled)
      : rows_(places.empty() ? sheaf::rows(rows.x) : std::ssize(places)),
        columns_((plan.columns() + 7) / 8 * 8),
        shuffled_(shuffled),
        order_(Array<std::int32_t>::copy_of(places, context.device())) {
    if (plan.kind == FilterKind::manhattan)
      round_there<SumTile>(context.device(), stream, plan, on_device, floats_);
    else if (on_device.offsets == nullptr)
      round_there<ProductTile>(context.device(), stream, plan, on_device, rounded_);
    else
      round_here(context, plan, rows, places);
  }

  FilterView view() const {
    return {rounded_.data(), floats_.data(), bounds_.data(), below_.data(), shuffled_ ? order_.data() : nullptr,
            rows_,           columns_};
  }
  float largest_error() const { return largest_error_; }
  std::int64_t rows() const { return rows_; }

 private:
  template <class Tile, class S>
  void round_there(Device device, cudaStream_t stream, const FilterPlan& plan, const RowsView<S>& rows,
                   Array<typename Tile::Value>& values) {
    values = Array<typename Tile::Value>(rows_ * columns_, device);
    bounds_ = Array<RowBound>(rows_, device);
    below_ = Array<float>(rows_, device);
    if (rows_ == 0) return;
    const DevicePlan on_device(plan, device);
    auto largest = Array<unsigned>::copy_of(std::vector<unsigned>{0}, device);
    round_rows<Tile>
        <<<static_cast<unsigned>((rows_ + rows_of_block - 1) / rows_of_block), 32 * rows_of_block, 0, stream>>>(
            on_device.view(), rows, order_.size() > 0 ? order_.data() : nullptr, rows_, values.data(), bounds_.data(),
            below_.data(), largest.data());
    cuda::check_launch("round_rows");
    cuda::check(cudaStreamSynchronize(stream), "waiting for the GPU");
    largest_error_ = std::bit_cast<float>(largest.to(Device::cpu())[0]);
  }

  /// Sparse rows become dense on the way.
  template <class S>
  void round_here(const Context& context, const FilterPlan& plan, const Rows<S>& rows,
                  std::span<const std::int32_t> places) {
    using Round = Rounding<ProductTile>;
    Array<__nv_bfloat16> values(rows_ * columns_);
    Array<RowBound> bounds(rows_);
    Array<float> belows(rows_);
    parallel_ranges(context, rows_, 64, [&](Range range) {
      std::vector<double> row(static_cast<std::size_t>(plan.columns()));
      for (auto i = range.begin; i < range.end; ++i) {
        write_filtered(plan, rows, places.empty() ? i : std::int64_t{places[static_cast<std::size_t>(i)]}, row.data());
        double norm = 0;
        double lost = 0;
        for (std::int64_t j = 0; j < columns_; ++j) {
          const double wide = j < std::ssize(row) ? row[static_cast<std::size_t>(j)] : 0.0;
          auto& rounded = values[i * columns_ + j];
          rounded = Round::round(wide);
          const double value = Round::wide(rounded);
          norm += Round::size(value);
          lost += Round::size(wide - value);
        }
        bounds[i] = Round::bound(norm, lost, columns_);
        belows[i] = Round::below(norm, bounds[i]);
      }
    });
    for (const RowBound& bound : bounds) largest_error_ = std::max(largest_error_, bound.error);
    rounded_ = values.to(context.device());
    bounds_ = bounds.to(context.device());
    below_ = belows.to(context.device());
  }

  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  bool shuffled_ = false;
  Array<std::int32_t> order_;
  Array<__nv_bfloat16> rounded_;
  Array<float> floats_;
  Array<RowBound> bounds_;
  Array<float> below_;
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
template <class Tile>
__device__ Bounds bounds_of(const RowBound& x, const RowBound& y, float result) {
  constexpr float below = 1 - 0x1p-20F;
  constexpr float above = 1 + 0x1p-20F;
  if constexpr (std::is_same_v<Tile, SumTile>) {
    const float slack = (x.slack + y.slack) * above;
    const float lower = result * below - slack;
    return {lower > 0 ? lower : 0, result * above + slack};
  }
  const float low = (x.low + y.low) - 2 * result;
  const float high = low + 2 * (x.slack + y.slack);
  const float error = x.error + y.error;
  const float lower = low > 0 ? sqrtf(low) * below - error * above : -error;
  return {lower > 0 ? lower : 0, (high > 0 ? sqrtf(high) * above : 0.0F) + error * above};
}

/// A block of queries and the rows they are compared with.
struct FilterWork {
  FilterView queries;
  FilterView data;
  Allowed allowed;
  CandidateView candidates;
  std::int64_t first_query;
  std::int64_t query_end;
  std::int64_t first_row;
  std::int64_t row_end;
  float largest_error;  ///< of all rows of the data
  bool many_pass;       ///< whether so many products are within the limits that they can't wait for the end of a tile
  int tiles;            ///< of a thread block
};

/// for_tiles() of this thread block. Blocks of 128 queries x `tiles` tiles.
template <class Tile, class Begin, class Use>
__device__ void for_work(const FilterWork& work, const Begin& begin, const Use& use) {
  const std::int64_t row = work.first_row + static_cast<std::int64_t>(blockIdx.y) * work.tiles * tile_side;
  const std::int64_t left = (work.row_end - row + tile_side - 1) / tile_side;
  for_tiles<Tile>(work.queries.template tile_rows<Tile>(work.query_end),
                  work.first_query + static_cast<std::int64_t>(blockIdx.x) * tile_side,
                  work.data.template tile_rows<Tile>(work.row_end), row,
                  static_cast<int>(left < work.tiles ? left : work.tiles), begin, use);
}

/// results[q * columns + j] of the work's queries and rows.
template <class Tile>
__global__ void __launch_bounds__(tile_threads, 2)
    store_results(const __grid_constant__ FilterWork work, float* results) {
  const TilePlace place;
  const std::int64_t columns = work.row_end - work.first_row;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_side + place.query;
  for_work<Tile>(
      work, [](std::int64_t) {},
      [&](const TileResults& found, std::int64_t row) {
#pragma unroll
        for (int m = 0; m < 4; ++m)
#pragma unroll
          for (int n = 0; n < 4; ++n)
#pragma unroll
            for (int v = 0; v < 4; ++v) {
              const std::int64_t q = first + m * 16 + v / 2 * 8;
              const std::int64_t j = row - work.first_row + place.row + n * 8 + v % 2;
              if (work.first_query + q < work.query_end && j < columns)
                results[q * columns + j] = found.values[m][n][v];
            }
      });
}

/// The first limits: the k-th smallest upper bound of the rows whose results are stored, with 16 bits. One block a
/// query.
template <class Tile>
__global__ void __launch_bounds__(select_threads)
    seed_limits(const __grid_constant__ FilterWork work, const float* results, std::int64_t k) {
  const std::int64_t q = blockIdx.x;
  const std::int64_t columns = work.row_end - work.first_row;
  const RowBound own = work.queries.bounds[work.first_query + q];
  const std::int64_t place = work.queries.place(work.first_query + q);
  const auto upper = [&](std::int64_t j) {
    if (!work.allowed(place, work.data.place(work.first_row + j))) return 3e38F;
    return bounds_of<Tile>(own, work.data.bounds[work.first_row + j], results[q * columns + j]).upper;
  };
  const auto found = select_kth<32, 16>(columns, k, upper);
  if (threadIdx.x == 0) {
    work.candidates.limits[q] = __uint_as_float(static_cast<unsigned>(found.bits) | 0xffffU);
    work.candidates.counts[q] = 0;
  }
}

/// Adds row j to the candidates of query q of the block if its lower bound is within the limit.
template <class Tile>
__device__ __noinline__ void offer(const FilterWork& work, std::int64_t q, std::int64_t j, float result) {
  const std::int64_t row = work.data.place(j);
  if (!work.allowed(work.queries.place(work.first_query + q), row)) return;
  const Bounds bounds = bounds_of<Tile>(work.queries.bounds[work.first_query + q], work.data.bounds[j], result);
  const CandidateView& candidates = work.candidates;
  if (bounds.lower > candidates.limits[q]) return;
  const int at = atomicAdd(&candidates.counts[q], 1);
  if (at >= candidates.capacity) return;
  const std::int64_t to = q * candidates.capacity + at;
  candidates.lower[to] = bounds.lower;
  candidates.upper[to] = bounds.upper;
  candidates.rows[to] = static_cast<std::int32_t>(row);
}

/// Results that may be within the limit wait here until there are many: a thread alone would wait for memory, and the
/// rest of its warp with it.
struct Waiting {
  static constexpr int room = 1280;
  static constexpr int many = 512;
  float results[room];
  std::int32_t rows[room];
  std::uint8_t queries[room];  ///< within the tile
  int count;
};

template <class Tile>
__device__ __noinline__ void put(const FilterWork& work, Waiting& waiting, int query, std::int64_t j, float result) {
  const int at = atomicAdd(&waiting.count, 1);
  if (at >= Waiting::room) {
    offer<Tile>(work, static_cast<std::int64_t>(blockIdx.x) * tile_side + query, j, result);
    return;
  }
  waiting.results[at] = result;
  waiting.rows[at] = static_cast<std::int32_t>(j);
  waiting.queries[at] = static_cast<std::uint8_t>(query);
}

/// Offers the waiting candidates, if they are at least `enough`. All threads of the block call it.
template <class Tile>
__device__ void offer_waiting(const FilterWork& work, Waiting& waiting, int enough) {
  const volatile int& count = waiting.count;
  if (__syncthreads_or(count >= enough ? 1 : 0) == 0) return;
  const int there = count < Waiting::room ? count : Waiting::room;
  for (int i = static_cast<int>(threadIdx.x); i < there; i += tile_threads)
    offer<Tile>(work, static_cast<std::int64_t>(blockIdx.x) * tile_side + waiting.queries[i], waiting.rows[i],
                waiting.results[i]);
  __syncthreads();
  if (threadIdx.x == 0) waiting.count = 0;
  __syncthreads();
}

/// Adds the rows whose lower bound is within the limit. A product is first compared with a bound from its query alone:
/// lower <= limit means low_x + low_y - 2 x'y' <= (limit + e_x + e_y)^2; a sum less both slacks with the limit.
template <class Tile>
__global__ void __launch_bounds__(tile_threads, 2) collect(const __grid_constant__ FilterWork work) {
  __shared__ Waiting waiting;
  if (threadIdx.x == 0) waiting.count = 0;
  const TilePlace place;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_side + place.query;
  float most[4][2];
#pragma unroll
  for (int m = 0; m < 4; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t q = first + m * 16 + half * 8;
      most[m][half] = -3e38F;
      if (work.first_query + q >= work.query_end) continue;
      const float reach =
          (work.candidates.limits[q] + work.queries.bounds[work.first_query + q].error + work.largest_error) *
          (1 + 0x1p-18F);
      const float all = std::is_same_v<Tile, SumTile> ? reach : reach * reach * (1 + 0x1p-20F);
      most[m][half] = all - work.queries.below[work.first_query + q];
    }
  float low[4][2];
  const auto begin = [&](std::int64_t row) {
    const float nowhere = __int_as_float(0x7fffffff);  // within no limit
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const std::int64_t j = row + place.row + n * 8 + v;
        low[n][v] = j < work.row_end ? work.data.below[j] : nowhere;
      }
  };
  constexpr float sign = std::is_same_v<Tile, SumTile> ? 1 : -2;
  for_work<Tile>(work, begin, [&](const TileResults& results, std::int64_t row) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        bool within[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) within[v] = fmaf(sign, results.values[m][n][v], low[n][v % 2]) <= most[m][v / 2];
        if (!(within[0] || within[1] || within[2] || within[3])) continue;
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (within[v])
            put<Tile>(work, waiting, place.query + m * 16 + v / 2 * 8, row + place.row + n * 8 + v % 2,
                      results.values[m][n][v]);
      }
      if (work.many_pass || n == 3) offer_waiting<Tile>(work, waiting, Waiting::many);
    }
  });
  offer_waiting<Tile>(work, waiting, 1);
}

/// Lowers the limits to the k-th smallest upper bound, and drops candidates above. One block a query.
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
