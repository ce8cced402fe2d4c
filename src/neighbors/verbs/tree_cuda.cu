#include "neighbors/verbs/tree_cuda.cuh"

#include <bit>
#include <numeric>

#include <cub/device/device_radix_sort.cuh>

#include "neighbors/verbs/tree_kernels.cuh"

namespace sheaf::neighbors::gpu {
namespace {

constexpr int most_room = 4096;  // of the lists of a warp, in its shared memory
constexpr int small_block_bytes = 48 << 10;

/// A power of two: lists are sorted whenever so many rows more than k, or half as many more, were found.
std::int64_t tree_room(std::int64_t k) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k + std::max<std::int64_t>(k / 2, 32))));
}

/// Boxes of all levels that searches see, whole groups.
std::int64_t box_count(int depth) {
  std::int64_t count = tree_fan;
  for (int at = depth; at > tree_steps; at -= tree_steps) count += std::int64_t{1} << at;
  return count;
}

unsigned blocks_for(std::int64_t threads, int of_block) {
  return static_cast<unsigned>((threads + of_block - 1) / of_block);
}

}  // namespace

/// Queries of a launch, and where results go.
template <class S>
struct DeviceTree<S>::Launch {
  TreeQueries queries;
  std::int32_t* rows = nullptr;
  double* distances = nullptr;
  unsigned long long* compared = nullptr;
};

template <class S>
bool DeviceTree<S>::fits(const RowPair<S>& pair, std::int64_t k, std::int64_t bytes) {
  constexpr std::int64_t share = 4;
  const std::int64_t row_bytes = 48 + 2 * pair.columns() * static_cast<std::int64_t>(sizeof(S));
  return tree_room(k) <= most_room && pair.rows() * row_bytes <= bytes / share;
}

template <class S>
DeviceTree<S>::DeviceTree(const RowPair<S>& pair, const RowsView<S>& data, Device device, const cuda::Stream& stream)
    : distance_(pair.distance),
      device_(device),
      stream_(stream),
      shape_(pair.rows()),
      columns_(pair.columns()),
      values_(shape_.leaves() * TreeShape::most_leaf_rows * columns_, device),
      boxes_(box_count(shape_.depth) * 2 * columns_, device),
      compared_(1, device) {
  divide(data);
  make_boxes(data);
  host_order_.resize(static_cast<std::size_t>(shape_.rows));
  fetch(host_order_.data(), order_.data(), shape_.rows, stream_);
  stream_.synchronize();
}

template <class S>
TreeView<S> DeviceTree<S>::view() {
  TreeView<S> tree;
  tree.shape = shape_;
  tree.levels = std::max((shape_.depth + tree_steps - 1) / tree_steps, 1);
  tree.columns = columns_;
  tree.values = values_.data();
  tree.order = order_.data();
  S* boxes = boxes_.data();
  for (int level = 0; level < tree.levels; ++level) {
    tree.boxes[level] = boxes;
    boxes += std::max<std::int64_t>(tree.nodes(level), tree_fan) * 2 * columns_;
  }
  return tree;
}

/// Finds the order of the rows.
template <class S>
void DeviceTree<S>::divide(const RowsView<S>& data) {
  const auto rows = shape_.rows;
  std::vector<std::int32_t> first(static_cast<std::size_t>(rows));
  std::iota(first.begin(), first.end(), 0);
  Array<std::int32_t> orders[2] = {Array<std::int32_t>::copy_of(first, device_), Array<std::int32_t>(rows, device_)};
  Array<std::uint64_t> keys[2] = {Array<std::uint64_t>(rows, device_), Array<std::uint64_t>(rows, device_)};
  Array<unsigned> extents(shape_.leaves() * columns_, device_);  // two numbers each, of half as many nodes
  Array<std::byte> storage;
  cub::DoubleBuffer<std::int32_t> order(orders[0].data(), orders[1].data());
  const auto blocks = blocks_for(rows, pair_threads);
  for (int level = 0; level < shape_.depth; ++level) {
    const auto bytes = (std::size_t{2} << level) * static_cast<std::size_t>(columns_) * sizeof(unsigned);
    cuda::check(cudaMemsetAsync(extents.data(), 0, bytes, stream_), "clearing extents");
    measure_nodes<<<blocks, pair_threads, 0, stream_>>>(data, shape_, level, order.Current(), extents.data());
    cuda::check_launch("measure_nodes");
    cub::DoubleBuffer<std::uint64_t> sorted(keys[0].data(), keys[1].data());
    make_tree_keys<<<blocks, pair_threads, 0, stream_>>>(data, shape_, level, order.Current(), extents.data(),
                                                         sorted.Current());
    cuda::check_launch("make_tree_keys");
    const auto sort = [&](std::byte* memory, std::size_t& size) {
      cuda::check(
          cub::DeviceRadixSort::SortPairs(memory, size, sorted, order, static_cast<int>(rows), 0, 32 + level, stream_),
          "sorting rows");
    };
    std::size_t size = 0;
    sort(nullptr, size);
    if (storage.size() < static_cast<std::int64_t>(size))
      storage = Array<std::byte>(static_cast<std::int64_t>(size), device_);
    sort(storage.data(), size);
  }
  order_ = std::move(orders[order.selector]);
}

template <class S>
void DeviceTree<S>::make_boxes(const RowsView<S>& data) {
  const auto tree = view();
  make_leaves<<<blocks_for(shape_.leaves() * 32, tree_threads), tree_threads, 0, stream_>>>(data, tree);
  cuda::check_launch("make_leaves");
  for (int level = tree.levels - 2; level >= 0; --level) {
    join_boxes<<<blocks_for(tree.nodes(level) * 32, tree_threads), tree_threads, 0, stream_>>>(tree, level);
    cuda::check_launch("join_boxes");
  }
}

template <class S>
bool DeviceTree<S>::pays(const TreeQuestion<S>& question) {
  cuda::check(cudaMemsetAsync(compared_.data(), 0, sizeof(unsigned long long), stream_), "clearing a counter");
  Launch sample;
  sample.queries = {nullptr, 0, asked, question.queries / asked};
  sample.compared = compared_.data();
  launch(question, sample);
  unsigned long long compared = 0;
  fetch(&compared, compared_.data(), 1, stream_);
  stream_.synchronize();
  return tree_pays(static_cast<std::int64_t>(compared), asked, shape_.rows);
}

template <class S>
void DeviceTree<S>::nearest(const TreeQuestion<S>& question, Range block, Results& results) {
  launch(question, {{question.all ? order_.data() : nullptr, block.begin, block.end - block.begin, 1},
                    results.rows.data(),
                    results.distances.data(),
                    nullptr});
  results.complete(block.end - block.begin, stream_);
}

template <class S>
void DeviceTree<S>::launch(const TreeQuestion<S>& question, const Launch& what) {
  const int room = static_cast<int>(tree_room(question.k));
  const int warps = std::clamp(small_block_bytes / tree_warp_bytes(room), 1, tree_threads / 32);
  const auto bytes = static_cast<std::size_t>(warps * tree_warp_bytes(room));
  with_tree_metric(distance_, columns_, [&]<class Metric>(const Metric& metric) {
    const auto run = [&](auto* kernel) {
      cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                  "asking for shared memory");
      kernel<<<blocks_for(what.queries.count, warps), static_cast<unsigned>(warps * 32), bytes, stream_>>>(
          metric, view(), question.from, question.allowed, what.queries, static_cast<int>(question.k), room, what.rows,
          what.distances, what.compared);
      cuda::check_launch("tree_nearest");
    };
    with_tree_width(columns_, [&](auto width) { run(tree_nearest<Metric, S, decltype(width)::value>); });
  });
}

template class DeviceTree<float>;
template class DeviceTree<double>;

}  // namespace sheaf::neighbors::gpu
