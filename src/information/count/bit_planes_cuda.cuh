// Order-free sums of pairs of few states on the GPU, counted in bit planes: one warp per pair, the counts of a tile of
// planes in its registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/check.cuh"
#include "information/count/bit_plane_sums.hpp"
#include "information/count/bit_planes.hpp"

namespace sheaf::information::gpu {

inline constexpr int plane_warps = 4;
inline constexpr int most_planes = 15;

struct PlaneView {
  const std::uint64_t* bits;
  std::int64_t words;         ///< of a plane
  const std::int64_t* first;  ///< the first plane of each feature, and the end
  int classes;
  const std::int64_t* class_words;  ///< where each class begins, and the end
  const std::uint64_t* weights;     ///< a plane for each bit of the weights
  int weight_bits;                  ///< 0: every row counts once
  const std::uint32_t* counts;      ///< [plane * (classes + 1) + class]
  const std::uint32_t* class_counts;
  const std::int64_t* log;  ///< c log2 c, fixed point
};

struct PlaneSpan {
  const std::uint64_t* bits;
  int planes;
};

/// The part of one warp in shared memory.
struct WarpCounts {
  std::uint32_t shared[most_planes * most_planes];
  std::uint32_t merged[(most_planes + 1) * (most_planes + 1)];
};

/// Ones that planes first_s .. of s share with planes first_x .. of x, over words begin .. end, into the warp's counts.
template <int Tile>
__device__ void count_tile(const PlaneView& view, const PlaneSpan& s, const PlaneSpan& x, int first_s, int first_x,
                           std::int64_t begin, std::int64_t end, std::uint32_t* shared) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint32_t ones[Tile][Tile] = {};
  for (std::int64_t w = begin + lane; w < end; w += 32) {
    std::uint64_t of_s[Tile];
    std::uint64_t of_x[Tile];
#pragma unroll
    for (int k = 0; k < Tile; ++k) {
      of_s[k] = first_s + k < s.planes ? s.bits[(first_s + k) * view.words + w] : 0;
      of_x[k] = first_x + k < x.planes ? x.bits[(first_x + k) * view.words + w] : 0;
    }
    for (int bit = 0; bit < (view.weight_bits > 0 ? view.weight_bits : 1); ++bit) {
      const std::uint64_t weight = view.weight_bits > 0 ? view.weights[bit * view.words + w] : ~std::uint64_t{0};
#pragma unroll
      for (int k = 0; k < Tile; ++k)
#pragma unroll
        for (int l = 0; l < Tile; ++l)
          ones[k][l] += static_cast<std::uint32_t>(__popcll(of_s[k] & weight & of_x[l])) << bit;
    }
  }
#pragma unroll
  for (int k = 0; k < Tile; ++k)
#pragma unroll
    for (int l = 0; l < Tile; ++l) {
      if (first_s + k >= s.planes || first_x + l >= x.planes) continue;
      const std::uint32_t sum = __reduce_add_sync(0xffffffffU, ones[k][l]);
      if (lane == 0) shared[(first_s + k) * x.planes + first_x + l] = sum;
    }
}

/// The sum of one class, or of all if y is their number; its counts are added to `merged` if given.
template <int Tile>
__device__ std::int64_t plane_sum(const PlaneView& view, const Pair& features, int y, WarpCounts& own,
                                  std::uint32_t* merged) {
  const std::int64_t first_s = view.first[features.partner];
  const std::int64_t first_x = view.first[features.candidate];
  const PlaneSpan s{view.bits + first_s * view.words, static_cast<int>(view.first[features.partner + 1] - first_s)};
  const PlaneSpan x{view.bits + first_x * view.words, static_cast<int>(view.first[features.candidate + 1] - first_x)};
  const bool whole = y == view.classes;
  const std::int64_t begin = whole ? 0 : view.class_words[y];
  const std::int64_t end = whole ? view.words : view.class_words[y + 1];
  __syncwarp();  // the counts of the class before have been read
  for (int k = 0; k < s.planes; k += Tile)
    for (int l = 0; l < x.planes; l += Tile) count_tile<Tile>(view, s, x, k, l, begin, end, own.shared);
  __syncwarp();
  const int apart = view.classes + 1;
  const PlaneSide of_s{s.planes, view.counts + first_s * apart + y, apart};
  const PlaneSide of_x{x.planes, view.counts + first_x * apart + y, apart};
  const int cells = (s.planes + 1) * (x.planes + 1);
  std::int64_t sum = 0;
  for (int e = static_cast<int>(threadIdx.x % 32); e < cells; e += 32) {
    const std::uint32_t c =
        count_of_cell(of_s, of_x, own.shared, view.class_counts[y], e / (x.planes + 1), e % (x.planes + 1));
    sum += view.log[c];
    if (merged != nullptr) merged[e] += c;
  }
  return sum;
}

__device__ inline std::int64_t warp_sum(std::int64_t value) {
  long long sum = value;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  return sum;
}

/// Tile: planes of each side that registers count at once.
template <int Tile>
__global__ void __launch_bounds__(plane_warps * 32)
    plane_pairs(PlaneView view, const std::int32_t* partner_features, const Pair* pairs, std::int64_t count,
                bool with_class, JointSums* out) {
  __shared__ WarpCounts counts[plane_warps];
  WarpCounts& own = counts[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * plane_warps + threadIdx.x / 32;
  if (p >= count) return;
  const Pair features{partner_features[pairs[p].partner], pairs[p].candidate};
  std::int64_t of_pair = 0;
  std::int64_t of_class = 0;
  if (with_class) {
    constexpr int most_cells = (most_planes + 1) * (most_planes + 1);
    for (int e = lane; e < most_cells; e += 32) own.merged[e] = 0;
    for (int y = 0; y < view.classes; ++y) of_class += plane_sum<Tile>(view, features, y, own, own.merged);
    for (int e = lane; e < most_cells; e += 32) of_pair += view.log[own.merged[e]];
  } else {
    of_pair = plane_sum<Tile>(view, features, view.classes, own, nullptr);
  }
  of_pair = warp_sum(of_pair);
  of_class = warp_sum(of_class);
  if (lane == 0) out[p] = {of_pair, of_class};
}

/// Planes and counts on one GPU.
class PlaneDevice {
 public:
  explicit PlaneDevice(Device device) : device_(device) {}

  void send_table(const Problem& problem, int threads) {
    threads_ = threads;
    table_ = PlaneTable(problem, threads);
    bits_ = Array<std::uint64_t>::copy_of(table_.bits(), device_);
    first_ = Array<std::int64_t>::copy_of(table_.first(), device_);
    std::vector<std::int64_t> words;
    for (const std::int64_t begin : table_.order().begins) words.push_back(begin / 64);
    words.push_back(table_.words());
    class_words_ = Array<std::int64_t>::copy_of(words, device_);
    planes_ = 0;
    for (std::int64_t j = 0; j < table_.features(); ++j) planes_ = std::max(planes_, table_.planes(j));
  }

  void choose_rows(std::span<const std::uint32_t> weights) {
    const std::vector<std::uint64_t> planes = planes_of_weights(table_, weights);
    const PlaneCounts counts(table_, planes, threads_);
    weights_ = Array<std::uint64_t>::copy_of(planes, device_);
    counts_ = Array<std::uint32_t>::copy_of(counts.of_planes, device_);
    class_counts_ = Array<std::uint32_t>::copy_of(counts.of_classes, device_);
  }

  void launch(const std::int64_t* log, const std::int32_t* partner_features, const Pair* pairs, std::int64_t count,
              bool with_class, JointSums* out, const cuda::Stream& stream) const {
    const auto weight_bits = static_cast<int>(weights_.size() / std::max<std::int64_t>(table_.words(), 1));
    const PlaneView view{bits_.data(),    table_.words(), first_.data(),  table_.classes(),     class_words_.data(),
                         weights_.data(), weight_bits,    counts_.data(), class_counts_.data(), log};
    const auto blocks = static_cast<unsigned>((count + plane_warps - 1) / plane_warps);
    const auto kernel = planes_ <= 1 ? plane_pairs<1> : planes_ <= 4 ? plane_pairs<4> : plane_pairs<8>;
    kernel<<<blocks, plane_warps * 32, 0, stream>>>(view, partner_features, pairs, count, with_class, out);
  }

 private:
  Device device_;
  int threads_ = 1;
  PlaneTable table_;
  int planes_ = 0;  ///< the most of any feature
  Array<std::uint64_t> bits_, weights_;
  Array<std::int64_t> first_, class_words_;
  Array<std::uint32_t> counts_, class_counts_;
};

}  // namespace sheaf::information::gpu
