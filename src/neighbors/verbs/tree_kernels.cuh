// Kernels of trees of rows on a GPU. A tree is made level by level: the extents of each node, then all rows sorted by
// node and by the feature of its node's longest side, so that halves of a node are runs of rows. Searches see only each
// fifth level: the 32 children of a node, and the rows of a leaf, are compared by the threads of a warp side by side.
// Compiled without fused operations: the bits are those of dense_pair().
#pragma once

#include <cstdint>

#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/sort_cuda.cuh"
#include "neighbors/verbs/tree_plan.hpp"

namespace sheaf::neighbors::gpu {

inline constexpr int tree_fan = 32;   // children of a node that a search sees
inline constexpr int tree_steps = 5;  // levels between it and them
inline constexpr int most_tree_levels = 6;
inline constexpr int tree_threads = 128;  // of a block, at most
inline constexpr unsigned no_bound = ~0U;

__device__ inline float from_ordered(unsigned bits) {
  return __uint_as_float((bits >> 31) != 0 ? bits & 0x7fffffffU : ~bits);
}

/// The largest of a node's values and of the negated ones, feature after feature, as ordered bits; 0 at first. All
/// threads of a block call it.
template <class S>
__global__ void __launch_bounds__(pair_threads)
    measure_nodes(RowsView<S> data, TreeShape shape, int level, const std::int32_t* order, unsigned* extents) {
  const std::int64_t wanted = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t i = wanted < shape.rows ? wanted : shape.rows - 1;
  const std::int64_t node = shape.node(level, i);
  const bool together = __all_sync(~0U, node == __shfl_sync(~0U, node, 0));
  const S* values = data.values + order[i] * data.columns;
  unsigned* mine = extents + node * 2 * data.columns;
  for (std::int64_t j = 0; j < data.columns; ++j) {
    const auto value = static_cast<float>(values[j]);
    for (int side = 0; side < 2; ++side, ++mine) {
      unsigned bits = ordered_bits(side == 0 ? value : -value);
      if (together) bits = __reduce_max_sync(~0U, bits);
      if ((!together || threadIdx.x % 32 == 0) && *static_cast<volatile unsigned*>(mine) < bits) atomicMax(mine, bits);
    }
  }
}

/// Keys that sort rows by node, then along the longest side of its extents.
template <class S>
__global__ void __launch_bounds__(pair_threads)
    make_tree_keys(RowsView<S> data, TreeShape shape, int level, const std::int32_t* order, const unsigned* extents,
                   std::uint64_t* keys) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= shape.rows) return;
  const std::int64_t node = shape.node(level, i);
  const unsigned* mine = extents + node * 2 * data.columns;
  std::int64_t side = 0;
  float longest = -1;
  for (std::int64_t j = 0; j < data.columns; ++j) {
    const float length = from_ordered(mine[2 * j]) + from_ordered(mine[2 * j + 1]);
    if (length <= longest) continue;
    longest = length;
    side = j;
  }
  const unsigned bits = ordered_bits(static_cast<float>(data.values[order[i] * data.columns + side]));
  keys[i] = static_cast<std::uint64_t>(node) << 32 | bits;
}

/// A tree for searches. Level 0 is a group of up to 32 nodes; each node has the group of its number in the next level,
/// and those of the last level are leaves.
template <class S>
struct TreeView {
  TreeShape shape;
  int levels = 0;
  std::int64_t columns = 0;
  S* values = nullptr;                  ///< of each leaf: feature after feature, 32 rows each
  const std::int32_t* order = nullptr;  ///< rows, leaf after leaf
  S* boxes[most_tree_levels] = {};      ///< of each group: least and largest value of each feature, 32 nodes each

  /// How many nodes a group has.
  SHEAF_HOST_DEVICE int width(int level) const {
    return level == 0 ? 1 << (shape.depth - tree_steps * (levels - 1)) : tree_fan;
  }
  SHEAF_HOST_DEVICE std::int64_t nodes(int level) const {
    return std::int64_t{1} << (shape.depth - tree_steps * (levels - 1 - level));
  }
  /// Where the box of a node begins; its entries are 32 apart.
  __device__ S* box(int level, std::int64_t node) const {
    return boxes[level] + node / tree_fan * 2 * columns * tree_fan + node % tree_fan;
  }
};

template <class S>
__device__ S warp_least(S value) {
  for (int step = 16; step > 0; step /= 2) {
    const S other = __shfl_xor_sync(~0U, value, step);
    value = other < value ? other : value;
  }
  return value;
}

/// Stores the values and the boxes of leaves, a warp each.
template <class S>
__global__ void __launch_bounds__(tree_threads) make_leaves(RowsView<S> data, TreeView<S> tree) {
  const std::int64_t leaf = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (leaf >= tree.shape.leaves()) return;
  const std::int64_t begin = tree.shape.begin(tree.shape.depth, leaf);
  const std::int64_t last = tree.shape.begin(tree.shape.depth, leaf + 1) - 1;
  const std::int64_t i = begin + lane < last ? begin + lane : last;
  const S* from = data.values + tree.order[i] * data.columns;
  S* to = tree.values + leaf * 32 * data.columns + lane;
  S* box = tree.box(tree.levels - 1, leaf);
  for (std::int64_t j = 0; j < data.columns; ++j) {
    const S value = from[j];
    to[j * 32] = value;
    const S low = warp_least(value), high = -warp_least(-value);
    if (lane != 0) continue;
    box[2 * j * tree_fan] = low;
    box[(2 * j + 1) * tree_fan] = high;
  }
}

/// Boxes of a level from those of the next, a warp each.
template <class S>
__global__ void __launch_bounds__(tree_threads) join_boxes(TreeView<S> tree, int level) {
  const std::int64_t node = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (node >= tree.nodes(level)) return;
  const S* from = tree.box(level + 1, node * tree_fan + lane);
  S* to = tree.box(level, node);
  for (std::int64_t j = 0; j < tree.columns; ++j) {
    const S low = warp_least(from[2 * j * tree_fan]), high = -warp_least(-from[(2 * j + 1) * tree_fan]);
    if (lane != 0) continue;
    to[2 * j * tree_fan] = low;
    to[(2 * j + 1) * tree_fan] = high;
  }
}

/// The queries of a launch: query i is number (first + i) * spread of all, in an order or (nullptr) as they are.
struct TreeQueries {
  const std::int32_t* order = nullptr;
  std::int64_t first = 0, count = 0, spread = 1;
  __device__ std::int64_t place(std::int64_t i) const {
    const std::int64_t at = (first + i) * spread;
    return order == nullptr ? at : std::int64_t{order[at]};
  }
};

/// Shared memory of a warp, whose lists have room for so many rows.
SHEAF_HOST_DEVICE constexpr int tree_warp_bytes(int room) {
  return room * 12 + most_tree_levels * 32 * static_cast<int>(sizeof(unsigned));
}

/// The rows that a warp has found, the nearest k of them and some more. All its threads call all functions.
class WarpList {
 public:
  __device__ WarpList(double* memory, int room, int k, bool squared)
      : distances_(memory),
        rows_(reinterpret_cast<std::int32_t*>(memory + room)),
        room_(room),
        k_(k),
        squared_(squared) {
    last_ = limit_ = __longlong_as_double(0x7ff0000000000000LL);
  }

  /// Bounds above it belong to rows that are not among the nearest k.
  __device__ double limit() const { return limit_; }
  __device__ bool takes(double distance, std::int32_t row) const {
    return distance < last_ || (distance == last_ && row < last_row_);
  }
  __device__ void add(bool mine, double distance, std::int32_t row) {
    const unsigned all = __ballot_sync(~0U, mine);
    if (all == 0) return;
    const int more = __popc(all);
    if (count_ + more > room_) sort();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (mine) {
      const int at = count_ + __popc(all & ((1U << lane) - 1));
      distances_[at] = distance;
      rows_[at] = row;
    }
    count_ += more;
    if (!full_ && count_ >= k_) sort();
  }
  /// Leaves the nearest k in order.
  __device__ void sort() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int size = 32;
    while (size < count_) size *= 2;
    for (int i = count_ + lane; i < size; i += 32) {
      distances_[i] = __longlong_as_double(0x7ff0000000000000LL);
      rows_[i] = 0x7fffffff;
    }
    const auto wait = [] { __syncwarp(); };
    wait();
    sort_found(distances_, rows_, size, lane, 32, wait);
    if (count_ < k_) return;
    count_ = k_;
    full_ = true;
    last_ = distances_[k_ - 1];
    last_row_ = rows_[k_ - 1];
    limit_ = tree_limit(squared_, last_);
    wait();
  }
  __device__ void write(std::int32_t* rows, double* distances) const {
    for (int n = static_cast<int>(threadIdx.x) % 32; n < k_; n += 32) {
      rows[n] = rows_[n];
      distances[n] = distances_[n];
    }
  }

 private:
  double* distances_;
  std::int32_t* rows_;
  int room_, k_;
  bool squared_, full_ = false;
  int count_ = 0;
  double last_, limit_;  // infinite until k rows are found
  std::int32_t last_row_ = 0x7fffffff;
};

/// The k nearest of each query, in order, a warp each; `compared` is nullptr or is increased by the number of rows that
/// were compared. `Width` is at least the number of columns; lists have room for k + 32 rows or more.
template <class Metric, class S, int Width>
__global__ void __launch_bounds__(tree_threads)
    tree_nearest(Metric metric, const __grid_constant__ TreeView<S> tree, RowsView<S> from, Allowed allowed,
                 TreeQueries queries, int k, int room, std::int32_t* rows, double* distances,
                 unsigned long long* compared) {
  extern __shared__ double tree_memory[];
  const std::int64_t q = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (q >= queries.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double* memory = tree_memory + threadIdx.x / 32 * (tree_warp_bytes(room) / 8);
  unsigned* bounds = reinterpret_cast<unsigned*>(memory) + room * 3 + lane;  // of each level
  WarpList list(memory, room, k, is_squared<Metric>);
  const std::int64_t place = queries.place(q);
  const int columns = static_cast<int>(tree.columns);
  double x[Width];
  {
    const S* values = from.values + allowed.query(place) * tree.columns;
#pragma unroll
    for (int j = 0; j < Width; ++j) x[j] = j < columns ? static_cast<double>(values[j]) : 0.0;
  }
  const auto joined = [&](const auto& term) { return join_terms<Metric, Width, double>(columns, term); };
  const auto open = [&](int level, std::int64_t group) {
    const S* box = tree.boxes[level] + group * 2 * columns * tree_fan + lane;
    const double bound = joined([&](int j) {
      const double low = static_cast<double>(box[2 * j * tree_fan]) - x[j];
      const double high = x[j] - static_cast<double>(box[(2 * j + 1) * tree_fan]);
      return metric.term(fmax(fmax(low, high), 0.0), 0.0);
    });
    bounds[level * 32] = lane < tree.width(level) ? __float_as_uint(__double2float_rd(bound)) : no_bound;
  };
  std::int64_t seen = 0;
  const auto compare = [&](std::int64_t leaf) {
    const std::int64_t begin = tree.shape.begin(tree.shape.depth, leaf);
    const int count = static_cast<int>(tree.shape.begin(tree.shape.depth, leaf + 1) - begin);
    const S* values = tree.values + leaf * 32 * columns + lane;
    const double sum = joined([&](int j) { return metric.term(x[j], static_cast<double>(values[j * 32])); });
    bool mine = lane < count && sum <= list.limit();
    double distance = 0;
    std::int32_t row = 0;
    if (mine) {
      distance = metric.finish(sum, RowTerms{}, RowTerms{});
      row = tree.order[begin + lane];
      mine = list.takes(distance, row) && allowed(place, row);
    }
    list.add(mine, distance, row);
    seen += count;
  };
  int level = 0;
  std::int64_t group = 0;
  open(0, 0);
  while (true) {
    const unsigned bound = bounds[level * 32];
    const unsigned least = __reduce_min_sync(~0U, bound);
    if (least > __float_as_uint(__double2float_ru(list.limit()))) {
      if (level == 0) break;
      --level;
      group /= tree_fan;
      continue;
    }
    const int child = __ffs(static_cast<int>(__ballot_sync(~0U, bound == least))) - 1;
    if (lane == child) bounds[level * 32] = no_bound;
    const std::int64_t node = group * tree_fan + child;
    if (level + 1 == tree.levels) {
      compare(node);
    } else {
      ++level;
      group = node;
      open(level, group);
    }
  }
  list.sort();
  if (rows != nullptr) list.write(rows + q * k, distances + q * k);
  if (compared != nullptr && lane == 0) atomicAdd(compared, static_cast<unsigned long long>(seen));
}

}  // namespace sheaf::neighbors::gpu
