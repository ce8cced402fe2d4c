// Products with an X that does not fit the GPU (paper 004's mixed architecture): the first rows stay on the GPU, the
// next ones pass through two slots in tiles, one being filled while the other is used, and the CPU's cores take the
// last ones at the same time. Who takes which rows is settled by shapes alone, so that the same call gives the same
// bits.
#pragma once

#include <future>
#include <vector>

#include "linear/products/ops.hpp"
#include "linear/products/products_cuda.cuh"

namespace sheaf::linear::gpu {

template <class T>
__global__ void add_elements(const T* from, T* to, std::int64_t size) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < size) to[e] += from[e];
}

/// Consecutive rows of a matrix in CPU memory, without a copy of its values.
template <class T>
Matrix<T> slice(const Matrix<T>& x, Range rows) {
  const std::int64_t count = rows.end - rows.begin;
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    return DenseMatrix<T>{
        count, dense->columns,
        Array<T>::over(const_cast<T*>(dense->values.data()) + rows.begin * dense->columns, count * dense->columns)};
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  const std::int64_t first = sparse.offsets[rows.begin];
  const std::int64_t entries = sparse.offsets[rows.end] - first;
  Array<std::int64_t> offsets(count + 1);
  for (std::int64_t i = 0; i <= count; ++i) offsets[i] = sparse.offsets[rows.begin + i] - first;
  return SparseMatrix<T>{count, sparse.columns, std::move(offsets),
                         Array<std::int32_t>::over(const_cast<std::int32_t*>(sparse.indices.data()) + first, entries),
                         Array<T>::over(const_cast<T*>(sparse.values.data()) + first, entries)};
}

/// A tile as it waits in CPU memory, or lies on the GPU.
template <class T>
struct Tile {
  Range range;
  Matrix<T> x;
  SparseMatrix<T> columns;  // sparse data
  SegmentPlan by_rows, by_columns;

  Rows<T> rows() const {
    if (!is_sparse(x)) return {&x, nullptr, nullptr, nullptr};
    return {&x, &columns, &by_rows, &by_columns};
  }
};

template <class T>
Tile<T> make_tile(const Matrix<T>& x, Range range, int threads) {
  Tile<T> tile{range, slice(x, range), {}, {}, {}};
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&tile.x)) {
    tile.columns = transpose(*sparse, threads);
    tile.by_rows = plan_segments(sparse->offsets, Device::cpu());
    tile.by_columns = plan_segments(tile.columns.offsets, Device::cpu());
  }
  return tile;
}

/// GPU memory that tiles pass through. Arrays grow to the largest tile.
template <class T>
class Slot {
 public:
  explicit Slot(Device device) : device_(device) {
    cuda::check(cudaEventCreateWithFlags(&used_, cudaEventDisableTiming), "making an event");
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { cudaEventDestroy(used_); }

  /// Brings a tile here as soon as the last one is no longer needed.
  const Tile<T>& fill(const Tile<T>& from) {
    cuda::check(cudaEventSynchronize(used_), "waiting for a tile");
    here_.range = from.range;
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&from.x)) {
      here_.x = DenseMatrix<T>{dense->rows, dense->columns, bring(dense->values, values_)};
      return here_;
    }
    here_.x = bring(std::get<SparseMatrix<T>>(from.x), offsets_, indices_, values_);
    here_.columns = bring(from.columns, column_offsets_, column_indices_, column_values_);
    here_.by_rows = bring(from.by_rows, segments_, cuts_);
    here_.by_columns = bring(from.by_columns, column_segments_, column_cuts_);
    return here_;
  }
  void mark_used(cudaStream_t stream) { cuda::check(cudaEventRecord(used_, stream), "marking a tile"); }

 private:
  template <class V>
  Array<V> bring(const Array<V>& from, Array<V>& memory) {
    if (memory.size() < from.size()) memory = Array<V>(from.size(), device_);
    copy_bytes(memory.data(), device_, from.data(), Device::cpu(), from.bytes());
    return Array<V>::over(memory.data(), from.size(), device_);
  }
  SparseMatrix<T> bring(const SparseMatrix<T>& from, Array<std::int64_t>& offsets, Array<std::int32_t>& indices,
                        Array<T>& values) {
    return {from.rows, from.columns, bring(from.offsets, offsets), bring(from.indices, indices),
            bring(from.values, values)};
  }
  SegmentPlan bring(const SegmentPlan& from, Array<Segment>& segments, Array<CutRow>& cuts) {
    return {bring(from.segments, segments), bring(from.cut_rows, cuts), from.slots};
  }

  Device device_;
  cudaEvent_t used_ = nullptr;
  Tile<T> here_;
  Array<std::int64_t> offsets_, column_offsets_;
  Array<std::int32_t> indices_, column_indices_;
  Array<T> values_, column_values_;
  Array<Segment> segments_, column_segments_;
  Array<CutRow> cuts_, column_cuts_;
};

/// The last rows, whose products the CPU's cores compute.
template <class T>
class CpuRows {
 public:
  CpuRows(const Context& context, const Matrix<T>& x, Range range) : range_(range) {
    dataset_.x = slice(x, range);
    Context::Options options;
    options.threads = context.threads();
    ops_ = make_cpu_ops<T>(Context(options), dataset_, T(0));
  }

  /// Begins with X w for w in GPU memory.
  void begin_multiply(BlockView<const T> w) {
    w_ = to_host(w, {0, w.rows});
    z_ = Block<T>(range_.end - range_.begin, w.tasks);
    work_ = std::async(std::launch::async, [this] { ops_->multiply(w_.view(), z_.view()); });
  }
  void finish_multiply(BlockView<T> z) {
    work_.get();
    copy_bytes(z.data + range_.begin * z.stride, z.device, z_.view().data, Device::cpu(), bytes(z_));
  }
  /// Begins with X' z for z in GPU memory.
  void begin_transposed(bool squares, BlockView<const T> z) {
    z_ = to_host(z, range_);
    g_ = Block<T>(columns(dataset_.x), z.tasks);
    work_ = std::async(std::launch::async, [this, squares] {
      squares ? ops_->multiply_squared_transposed(z_.view(), g_.view())
              : ops_->multiply_transposed(z_.view(), g_.view());
    });
  }
  /// `part` is in GPU memory.
  void finish_transposed(BlockView<T> part) {
    work_.get();
    copy_bytes(part.data, part.device, g_.view().data, Device::cpu(), bytes(g_));
  }
  Range range() const { return range_; }

 private:
  static std::int64_t bytes(const Block<T>& block) {
    return block.rows() * block.stride() * static_cast<std::int64_t>(sizeof(T));
  }
  static Block<T> to_host(BlockView<const T> from, Range rows) {
    Block<T> block(rows.end - rows.begin, from.tasks);
    copy_bytes(block.view().data, Device::cpu(), from.data + rows.begin * from.stride, from.device, bytes(block));
    return block;
  }

  Range range_;
  Dataset<T> dataset_;
  std::unique_ptr<LinearOps<T>> ops_;
  Block<T> w_, z_, g_;
  std::future<void> work_;
};

template <class T>
class StreamedProducts final : public Products<T> {
 public:
  /// X may take `budget` bytes of the GPU.
  StreamedProducts(const Context& context, const Dataset<T>& dataset, Engine<T>& engine, std::int64_t budget)
      : context_(context),
        x_(dataset.x),
        engine_(engine),
        budget_(budget),
        slots_{Slot<T>(context.device()), Slot<T>(context.device())} {}

  std::int64_t bytes() const override { return budget_; }
  const DenseMatrix<T>* dense_matrix() const override { return nullptr; }
  const DenseMatrix<T>* narrow_matrix() const override { return nullptr; }
  bool one_pass() const override { return true; }

  void multiply(BlockView<const T> w, BlockView<T> z) override {
    prepare(w.stride);
    if (tail_) begin_after_stream([&] { tail_->begin_multiply(w); });
    for_all_rows_here([&](const Tile<T>& tile) { tile.rows().multiply(engine_, w, part_of_rows(z, tile.range)); });
    if (tail_) tail_->finish_multiply(z);
  }

  void transposed(bool squares, BlockView<const T> z, BlockView<T> g) override {
    prepare(z.stride);
    clear(g);
    if (tail_) begin_after_stream([&] { tail_->begin_transposed(squares, z); });
    for_all_rows_here([&](const Tile<T>& tile) { add_transposed(tile, squares, z, g); });
    if (tail_) add_tail(g);
  }

  void both(BlockView<const T> w, BlockView<T> v, BlockView<T> g, const std::function<void(Range)>& between) override {
    prepare(w.stride);
    clear(g);
    const auto use = [&](const Tile<T>& tile) {
      tile.rows().multiply(engine_, w, part_of_rows(v, tile.range));
      between(tile.range);
      add_transposed(tile, false, v, g);
    };
    // The cores multiply while the rows that stay and the first half of the tiles are used, and go back while the
    // second half does.
    const std::size_t half = tiles_.size() / 2;
    if (tail_) begin_after_stream([&] { tail_->begin_multiply(w); });
    if (resident_) use(*resident_);
    for_tiles(0, half, use);
    if (tail_) {
      tail_->finish_multiply(v);
      between(tail_->range());
      begin_after_stream([&] { tail_->begin_transposed(false, v); });
    }
    for_tiles(half, tiles_.size(), use);
    if (tail_) add_tail(g);
  }

 private:
  static constexpr std::int64_t largest_tile = std::int64_t{64} << 20;

  static BlockView<T> part_of_rows(BlockView<T> block, Range rows) {
    return {block.data + rows.begin * block.stride, rows.end - rows.begin, block.tasks, block.stride, block.device};
  }
  static BlockView<const T> part_of_rows(BlockView<const T> block, Range rows) {
    return {block.data + rows.begin * block.stride, rows.end - rows.begin, block.tasks, block.stride, block.device};
  }

  /// Bytes of rows 0 .. end on the GPU; sparse ones lie there in both orders.
  std::int64_t bytes_before(std::int64_t end) const {
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&x_))
      return end * dense->columns * static_cast<std::int64_t>(sizeof(T));
    const auto& sparse = std::get<SparseMatrix<T>>(x_);
    return sparse.offsets[end] * static_cast<std::int64_t>(2 * (sizeof(T) + sizeof(std::int32_t))) +
           end * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(Segment));
  }
  /// The last row r with bytes_before(r) - bytes_before(begin) <= bytes, but one more than begin at least.
  std::int64_t reach(std::int64_t begin, std::int64_t bytes, std::int64_t end) const {
    std::int64_t low = std::min(begin + 1, end);
    std::int64_t high = end;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (bytes_before(middle) - bytes_before(begin) <= bytes)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

  /// Settles who takes which rows, at the first product: the more tasks, the less the cores can keep up.
  void prepare(std::int32_t stride) {
    if (prepared_) return;
    prepared_ = true;
    const std::int64_t rows = sheaf::rows(x_);
    const std::int64_t tile_bytes = std::min(largest_tile, budget_ / 4);
    const std::int64_t staying = budget_ > 3 * tile_bytes ? reach(0, budget_ - 3 * tile_bytes, rows) : 0;
    const std::int64_t threads = context_.threads();
    const std::int64_t by_cores = (rows - staying) * threads / (threads + 16 * stride);
    if (staying > 0) resident_ = on_device(make_tile(x_, {0, staying}, context_.threads()));
    for (std::int64_t begin = staying; begin < rows - by_cores;) {
      const std::int64_t end = reach(begin, tile_bytes, rows - by_cores);
      tiles_.push_back(make_tile(x_, {begin, end}, context_.threads()));
      begin = end;
    }
    if (by_cores > 0) tail_ = std::make_unique<CpuRows<T>>(context_, x_, Range{rows - by_cores, rows});
  }

  std::unique_ptr<Tile<T>> on_device(const Tile<T>& from) const {
    const Device device = context_.device();
    auto tile = std::make_unique<Tile<T>>();
    tile->range = from.range;
    tile->x = std::visit([&](const auto& matrix) { return Matrix<T>(matrix.to(device)); }, from.x);
    if (!is_sparse(from.x)) return tile;
    tile->columns = from.columns.to(device);
    tile->by_rows = {from.by_rows.segments.to(device), from.by_rows.cut_rows.to(device), from.by_rows.slots};
    tile->by_columns = {from.by_columns.segments.to(device), from.by_columns.cut_rows.to(device),
                        from.by_columns.slots};
    return tile;
  }

  template <class Use>
  void for_all_rows_here(Use&& use) {
    if (resident_) use(*resident_);
    for_tiles(0, tiles_.size(), use);
  }
  template <class Use>
  void for_tiles(std::size_t begin, std::size_t end, Use&& use) {
    for (std::size_t k = begin; k < end; ++k) {
      Slot<T>& slot = slots_[k % 2];
      use(slot.fill(tiles_[k]));
      slot.mark_used(engine_.stream);
    }
  }

  template <class Begin>
  void begin_after_stream(Begin&& begin) {
    cuda::check(cudaStreamSynchronize(engine_.stream), "waiting for the GPU");
    begin();
  }
  void clear(BlockView<T> g) {
    cuda::check(cudaMemsetAsync(g.data, 0, static_cast<std::size_t>(g.rows * g.stride) * sizeof(T), engine_.stream),
                "clearing a block");
  }
  BlockView<T> scratch(BlockView<T> g) {
    if (part_.size() < g.rows * g.stride) part_ = Array<T>(g.rows * g.stride, context_.device());
    return {part_.data(), g.rows, g.tasks, g.stride, g.device};
  }
  void add(BlockView<const T> part, BlockView<T> g) {
    constexpr int threads = 256;
    const std::int64_t size = g.rows * g.stride;
    if (size == 0) return;
    add_elements<T><<<static_cast<unsigned>((size + threads - 1) / threads), threads, 0, engine_.stream>>>(
        part.data, g.data, size);
    cuda::check_launch("add_elements");
  }
  void add_transposed(const Tile<T>& tile, bool squares, BlockView<const T> z, BlockView<T> g) {
    const BlockView<T> part = scratch(g);
    tile.rows().transposed(engine_, squares, part_of_rows(z, tile.range), part);
    add({part.data, part.rows, part.tasks, part.stride, part.device}, g);
  }
  void add_tail(BlockView<T> g) {
    const BlockView<T> part = scratch(g);
    cuda::check(cudaStreamSynchronize(engine_.stream), "waiting for the GPU");
    tail_->finish_transposed(part);
    add({part.data, part.rows, part.tasks, part.stride, part.device}, g);
  }

  Context context_;
  const Matrix<T>& x_;
  Engine<T>& engine_;
  std::int64_t budget_;
  bool prepared_ = false;
  std::unique_ptr<Tile<T>> resident_;
  std::vector<Tile<T>> tiles_;
  std::unique_ptr<CpuRows<T>> tail_;
  Slot<T> slots_[2];
  Array<T> part_;
};

}  // namespace sheaf::linear::gpu
