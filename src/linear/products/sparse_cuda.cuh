// Sparse block products on the GPU: out = A b for compressed rows A (X itself, or its transpose) and a task-minor block
// b.
//
// Rows are cut into segments of at most `segment_length` entries, longest first, so that neighbouring lanes have equal
// work and no long column holds up the rest. A group of lanes takes one segment and a tile of tasks; each entry costs
// one coalesced vector load of b. All segments pass by for one tile before the next begins, so that the frequent rows
// of b of that tile stay in the caches. Segments of cut rows leave partial sums that a second kernel adds in order: no
// atomics, same bits every time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "cuda/check.cuh"

namespace sheaf::linear::gpu {

inline constexpr int segment_length = 128;
inline constexpr int threads_per_block = 256;

struct Segment {
  std::int64_t begin;
  std::int32_t length;
  std::int32_t target;  // a row of the result, or ~slot of a partial sum
};

struct CutRow {
  std::int32_t row, first_slot, slots, unused;
};

/// How a compressed matrix is divided among lanes; made once per matrix.
struct SegmentPlan {
  Array<Segment> segments;
  Array<CutRow> cut_rows;
  std::int64_t slots = 0;
};

inline SegmentPlan plan_segments(const Array<std::int64_t>& offsets, Device device) {
  const auto host = offsets.to(Device::cpu());
  std::vector<Segment> segments;
  std::vector<CutRow> cut_rows;
  std::int32_t slots = 0;
  for (std::int64_t i = 0; i + 1 < host.size(); ++i) {
    const std::int64_t length = host[i + 1] - host[i];
    const auto row = static_cast<std::int32_t>(i);
    if (length <= segment_length) {
      segments.push_back({host[i], static_cast<std::int32_t>(length), row});
      continue;
    }
    const auto pieces = static_cast<std::int32_t>((length + segment_length - 1) / segment_length);
    cut_rows.push_back({row, slots, pieces, 0});
    for (std::int32_t p = 0; p < pieces; ++p) {
      const std::int64_t begin = host[i] + length * p / pieces;
      const std::int64_t end = host[i] + length * (p + 1) / pieces;
      segments.push_back({begin, static_cast<std::int32_t>(end - begin), ~(slots + p)});
    }
    slots += pieces;
  }
  // Longest first, by counting: lengths are few.
  std::vector<std::size_t> begins(segment_length + 2, 0);
  for (const Segment& segment : segments) ++begins[static_cast<std::size_t>(segment_length - segment.length + 1)];
  for (std::size_t l = 1; l < begins.size(); ++l) begins[l] += begins[l - 1];
  std::vector<Segment> sorted(segments.size());
  for (const Segment& segment : segments)
    sorted[begins[static_cast<std::size_t>(segment_length - segment.length)]++] = segment;
  return {Array<Segment>::copy_of(sorted, device), Array<CutRow>::copy_of(cut_rows, device), slots};
}

template <class T, int Width>
struct alignas(Width * sizeof(T)) Pack {
  T value[Width];
};

/// sum += the entries first, first + step, ... of one segment, for the Width tasks of a lane.
template <bool Squares, int Width, class T>
__device__ void gather_entries(const std::int32_t* indices, const T* values, int length, int first, int step,
                               const T* b, int b_stride, T (&sum)[Width]) {
  using Vector = Pack<T, Width>;
  const auto row = [&](int k) {
    return *reinterpret_cast<const Vector*>(b + static_cast<std::int64_t>(indices[k]) * b_stride);
  };
  constexpr int ahead = 8;
  int k = first;
  for (; k + (ahead - 1) * step < length; k += ahead * step) {
    Vector loaded[ahead];
    T factor[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      factor[u] = values[k + u * step];
      loaded[u] = row(k + u * step);
    }
#pragma unroll
    for (int u = 0; u < ahead; ++u)
#pragma unroll
      for (int t = 0; t < Width; ++t) sum[t] += (Squares ? factor[u] * factor[u] : factor[u]) * loaded[u].value[t];
  }
  for (; k < length; k += step) {
    const T factor = Squares ? values[k] * values[k] : values[k];
    const auto loaded = row(k);
#pragma unroll
    for (int t = 0; t < Width; ++t) sum[t] += factor * loaded.value[t];
  }
}

/// One group of lanes per segment and tile: Tile / Width lanes side by side hold Width neighbouring tasks each, and
/// Shares such rows of lanes share the entries of the segment, so that narrow blocks keep enough loads in flight.
template <bool Squares, class T, int Width, int Tile, int Shares>
__global__ void __launch_bounds__(threads_per_block)
    gather_tiles(const Segment* segments, std::int64_t count, const std::int32_t* indices, const T* values, const T* b,
                 int b_stride, T* out, int out_stride, T* partial) {
  constexpr int across = Tile / Width;
  constexpr int lanes = across * Shares;
  static_assert(lanes <= 32);
  const std::int64_t item = (static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x) / lanes;
  const int share = threadIdx.x % lanes / across;
  const int column = blockIdx.y * Tile + (threadIdx.x % across) * Width;
  const bool active = item < count && column < out_stride;
  const Segment segment = active ? segments[item] : Segment{0, 0, 0};
  T sum[Width] = {};
  gather_entries<Squares, Width>(indices + segment.begin, values + segment.begin, segment.length, share, Shares,
                                 b + column, b_stride, sum);
  if constexpr (Shares > 1)
#pragma unroll
    for (int step = lanes / 2; step >= across; step /= 2)
#pragma unroll
      for (int t = 0; t < Width; ++t) sum[t] += __shfl_down_sync(0xffffffffU, sum[t], step, lanes);
  if (!active || share > 0) return;
  T* to = segment.target >= 0 ? out + static_cast<std::int64_t>(segment.target) * out_stride
                              : partial + static_cast<std::int64_t>(~segment.target) * out_stride;
  Pack<T, Width> result;
#pragma unroll
  for (int t = 0; t < Width; ++t) result.value[t] = sum[t];
  *reinterpret_cast<Pack<T, Width>*>(to + column) = result;
}

/// The partial sums of each cut row, in order and in double.
template <class T>
__global__ void add_partials(const CutRow* rows, const T* partial, int stride, T* out) {
  const CutRow row = rows[blockIdx.x];
  for (int t = threadIdx.x; t < stride; t += blockDim.x) {
    double sum = 0;
    for (int s = 0; s < row.slots; ++s)
      sum += static_cast<double>(partial[static_cast<std::int64_t>(row.first_slot + s) * stride + t]);
    out[static_cast<std::int64_t>(row.row) * stride + t] = static_cast<T>(sum);
  }
}

inline unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>((items + threads_per_block - 1) / threads_per_block);
}

/// Widest load of one lane.
template <class T>
inline constexpr int lane_width = 16 / static_cast<int>(sizeof(T));

template <bool Squares, class T>
class SparseProduct {
 public:
  SparseProduct(const SparseMatrix<T>& a, const SegmentPlan& plan, Array<T>& partial, cudaStream_t stream)
      : a_(a), plan_(plan), partial_(partial), stream_(stream) {}

  // Shapes of the groups as measured on an H200: docs/benchmarks.md.
  void operator()(BlockView<const T> b, BlockView<T> out) {
    if (plan_.segments.size() == 0) return;
    if (partial_.size() < plan_.slots * out.stride) partial_ = Array<T>(plan_.slots * out.stride, out.device);
    constexpr int width = lane_width<T>;
    if (out.stride == 1)
      launch<1, 1, 16>(b, out);
    else if (out.stride == 2)
      launch<2, 2, 16>(b, out);
    else if (out.stride == 4)
      launch<width, 4, 16>(b, out);
    else if (out.stride == 8)
      launch<width, 8, 8>(b, out);
    else if (out.stride == 16)
      launch<width, 16, 4>(b, out);
    else if (out.stride <= 32)
      launch<width, 32, 2>(b, out);
    else
      launch<width, 64, 1>(b, out);
    if (plan_.cut_rows.size() == 0) return;
    const int lanes = std::clamp((out.stride + 31) / 32 * 32, 32, 256);
    add_partials<T><<<static_cast<unsigned>(plan_.cut_rows.size()), lanes, 0, stream_>>>(
        plan_.cut_rows.data(), partial_.data(), out.stride, out.data);
    cuda::check_launch("add_partials");
  }

 private:
  template <int Width, int Tile, int Shares>
  void launch(BlockView<const T> b, BlockView<T> out) {
    const std::int64_t lanes = plan_.segments.size() * (Tile / Width) * Shares;
    const dim3 grid(blocks_for(lanes), static_cast<unsigned>((out.stride + Tile - 1) / Tile));
    gather_tiles<Squares, T, Width, Tile, Shares><<<grid, threads_per_block, 0, stream_>>>(
        plan_.segments.data(), plan_.segments.size(), a_.indices.data(), a_.values.data(), b.data, b.stride, out.data,
        out.stride, partial_.data());
    cuda::check_launch("gather_tiles");
  }

  const SparseMatrix<T>& a_;
  const SegmentPlan& plan_;
  Array<T>& partial_;
  cudaStream_t stream_;
};

}  // namespace sheaf::linear::gpu
