// Neighbours on one NVIDIA GPU. If features are few, a tree finds the rows (tree_cuda.cuh). Otherwise: Euclid's
// distance and distances based on it (cosine, correlation): the tensor cores filter (filter_cuda.cuh), exact distances
// of the remaining rows decide; Manhattan's of dense rows: sums of floats do. Other metrics, and lists that overflow:
// exact distances of all rows, of which the k smallest are selected. Compiled without fused operations: the bits are
// the CPU's.
#include "neighbors/verbs/ops.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "cuda/check.cuh"
#include "neighbors/verbs/decide_cuda.cuh"
#include "neighbors/verbs/results_cuda.cuh"
#include "neighbors/verbs/tree_cuda.cuh"

namespace sheaf::neighbors {
namespace {

using gpu::CandidateView;
using gpu::DeviceRows;
using gpu::FilterRows;
using gpu::FilterView;
using gpu::FilterWork;
using gpu::Results;
using gpu::RowsView;

constexpr std::int64_t most_queries = 16384;  // of a block
constexpr std::int64_t block_share = 4;       // a block's memory may take this part of the memory
constexpr std::int64_t rows_share = 2;        // rows of the filter likewise
constexpr std::int64_t first_rows = 8192;     // that give the first limits, or so many times k
constexpr std::int64_t rows_per_k = 8;
constexpr std::int64_t growth = 4;  // rows compared after which limits are lowered again

/// Room for candidates: rows are in no order, so that a limit from some of them lets `growth` times k pass among the
/// next, and the bounds of the filter some more.
std::int64_t list_capacity(std::int64_t k) { return 10 * k + 512; }
/// Capacity of a list that is sorted in shared memory, a power of two; 0: too long for it.
std::int64_t sorted_room(std::int64_t k) {
  constexpr std::uint64_t most = 16384;
  const auto room = std::bit_ceil(static_cast<std::uint64_t>(3 * k + 256));
  return room <= most ? static_cast<std::int64_t>(room) : 0;
}

/// Eligible rows in the memory of the GPU.
class DeviceEligible {
 public:
  DeviceEligible(const Eligible& eligible, bool self, Device device)
      : queries_(Array<std::int32_t>::copy_of(eligible.queries, device)),
        data_(Array<std::uint8_t>::copy_of(eligible.data, device)),
        folds_(Array<std::int32_t>::copy_of(eligible.folds, device)) {
    allowed_.queries = queries_.size() > 0 ? queries_.data() : nullptr;
    allowed_.data = data_.size() > 0 ? data_.data() : nullptr;
    allowed_.folds = folds_.size() > 0 ? folds_.data() : nullptr;
    allowed_.self = self;
    allowed_.itself = eligible.itself;
  }
  const Allowed& view() const { return allowed_; }

 private:
  Array<std::int32_t> queries_;
  Array<std::uint8_t> data_;
  Array<std::int32_t> folds_;
  Allowed allowed_;
};

/// Lists of candidates of a block of queries.
class DeviceCandidates {
 public:
  DeviceCandidates(std::int64_t queries, std::int64_t capacity, Device device)
      : capacity_(capacity),
        lower_(queries * capacity, device),
        upper_(queries * capacity, device),
        rows_(queries * capacity, device),
        counts_(queries, device),
        limits_(queries, device) {}
  static std::int64_t bytes_per_query(std::int64_t capacity) { return capacity * 12 + 8; }

  CandidateView view() {
    return {lower_.data(), upper_.data(), rows_.data(), counts_.data(), limits_.data(), static_cast<int>(capacity_)};
  }

 private:
  std::int64_t capacity_;
  Array<float> lower_, upper_;
  Array<std::int32_t> rows_;
  Array<int> counts_;
  Array<float> limits_;
};

template <class S>
class CudaOps final : public NeighborOps {
 public:
  CudaOps(const Context& context, const RowPair<S>& pair)
      : context_(context),
        device_(context.device()),
        pair_(pair),
        data_(pair.data, device_),
        queries_(pair.self ? DeviceRows<S>() : DeviceRows<S>(pair.queries, device_)),
        weights_(Array<double>::copy_of(pair.distance.weights, device_)) {}

  void nearest(const Eligible& eligible, std::int64_t k, std::span<std::int32_t> indices,
               std::span<double> distances) override {
    const cuda::Current current(device_.index);
    const auto queries = query_count(eligible);
    if (queries == 0 || k == 0) return;
    const DeviceEligible on_device(eligible, pair_.self, device_);
    if (4 * k < pair_.rows() && nearest_by_tree(eligible, on_device.view(), k, indices, distances)) return;
    if (4 * k >= pair_.rows() || !prepare()) {
      nearest_exactly(on_device.view(), {0, queries}, k, indices, distances);
      return;
    }
    const bool same = pair_.self && eligible.queries.empty();
    const FilterRows own =
        same ? FilterRows()
             : FilterRows(context_, stream_, plan_, pair_.from(), from().view(), eligible.queries, false);
    nearest_filtered(eligible, on_device.view(), same ? filter_.view() : own.view(), k, indices, distances);
  }

  RadiusLists within(const Eligible& eligible, double radius) override {
    const auto queries = query_count(eligible);
    const Allowed allowed(eligible, pair_.self);
    const DeviceEligible on_device(eligible, pair_.self, device_);
    const cuda::Current current(device_.index);
    RadiusLists result;
    const auto rows = pair_.rows();
    const auto step = queries_of_block(rows * std::int64_t{sizeof(double)});
    std::vector<double> all;
    for (std::int64_t first = 0; first < queries; first += step) {
      context_.check_stop();
      const auto count = std::min(step, queries - first);
      all.resize(static_cast<std::size_t>(count * rows));
      compute(on_device.view(), {first, first + count}, {0, rows}, all);
      std::vector<std::vector<Found>> found(static_cast<std::size_t>(count));
      parallel_ranges(context_.threads(), count, 1, [&](Range range) {
        for (auto q = range.begin; q < range.end; ++q) {
          auto& mine = found[static_cast<std::size_t>(q)];
          for (std::int64_t j = 0; j < rows; ++j) {
            const double distance = all[static_cast<std::size_t>(q * rows + j)];
            if (distance <= radius && allowed(first + q, j)) mine.push_back({distance, static_cast<std::int32_t>(j)});
          }
          std::sort(mine.begin(), mine.end());
        }
      });
      for (const auto& list : found) {
        for (const auto& one : list) {
          result.indices.push_back(one.row);
          result.distances.push_back(one.distance);
        }
        result.offsets.push_back(static_cast<std::int64_t>(result.indices.size()));
      }
    }
    return result;
  }

  void distances(Range queries, Range rows, std::span<double> out) override {
    const cuda::Current current(device_.index);
    const auto columns = rows.end - rows.begin;
    if (columns == 0) return;
    const auto step = queries_of_block(columns * std::int64_t{sizeof(double)});
    for (auto first = queries.begin; first < queries.end; first += step) {
      context_.check_stop();
      const auto last = std::min(first + step, queries.end);
      compute(Allowed(), {first, last}, rows,
              out.subspan(static_cast<std::size_t>((first - queries.begin) * columns),
                          static_cast<std::size_t>((last - first) * columns)));
    }
  }

 private:
  std::int64_t query_count(const Eligible& eligible) const {
    return eligible.queries.empty() ? sheaf::rows(pair_.from().x) : std::ssize(eligible.queries);
  }
  std::int64_t queries_of_block(std::int64_t bytes_per_query) const {
    return std::clamp<std::int64_t>(context_.memory() / block_share / std::max<std::int64_t>(bytes_per_query, 1), 1,
                                    most_queries);
  }
  const DeviceRows<S>& from() const { return pair_.self ? data_ : queries_; }
  const double* weights() const { return weights_.size() > 0 ? weights_.data() : nullptr; }

  /// Rounds the rows for the filter, once. False: there is none for this metric, or no room for them. Values that bf16
  /// holds are left as they are; others are centred, which makes rounding errors smaller.
  bool prepare() {
    if (filter_.rows() > 0) return true;
    const auto kind = filter_kind<S>(pair_.distance.metric);
    const bool sums = kind == FilterKind::manhattan && !is_sparse(pair_.data.x) && !is_sparse(pair_.from().x);
    if (pair_.rows() == 0 || !(kind == FilterKind::products || sums)) return false;
    const double value_bytes = sums ? sizeof(float) : sizeof(__nv_bfloat16);
    const double bytes = static_cast<double>(pair_.rows()) * static_cast<double>(pair_.columns() + 8) * value_bytes;
    if (bytes > static_cast<double>(context_.memory()) / rows_share) return false;
    order_ = spread_order(pair_.rows());
    const auto make = [&](bool centred) {
      plan_ = make_plan(*kind, centred);
      filter_ = FilterRows(context_, stream_, plan_, pair_.data, data_.view(), order_, true);
    };
    make(false);
    constexpr float nothing = 0x1p-50F;
    if (filter_.largest_error() > nothing) make(true);
    return true;
  }

  FilterPlan make_plan(FilterKind kind, bool centred) const {
    if (is_sparse(pair_.data.x)) return make_filter_plan(context_, pair_, kind, centred);
    std::vector<double> centre;
    if (centred) centre = gpu::column_means(data_.view(), pair_.rows(), device_, stream_);
    return make_filter_plan(pair_, kind, std::move(centre), [&](const FilterPlan& plan, const Rows<S>& rows) {
      const auto& there = &rows == &pair_.data ? data_ : queries_;
      return gpu::largest_norm(plan, there.view(), sheaf::rows(rows.x), device_, stream_);
    });
  }

  /// Exact distances of a block, to the host.
  void compute(const Allowed& places, Range queries, Range rows, std::span<double> out) {
    const auto size = static_cast<std::int64_t>(out.size());
    if (size == 0) return;
    if (exact_.size() < size) exact_ = Array<double>(size, device_);
    launch_all(places, queries, rows);
    cuda::check(cudaMemcpyAsync(out.data(), exact_.data(), out.size_bytes(), cudaMemcpyDeviceToHost, stream_),
                "fetching distances");
    stream_.synchronize();
  }

  void launch_all(const Allowed& places, Range queries, Range rows) {
    const auto columns = rows.end - rows.begin;
    const auto pairs = (queries.end - queries.begin) * columns;
    const auto blocks = static_cast<unsigned>((pairs + gpu::pairs_of_block - 1) / gpu::pairs_of_block);
    with_metric(pair_.distance, pair_.columns(), [&](const auto& metric) {
      gpu::all_distances<<<blocks, gpu::pair_threads, 0, stream_>>>(metric, weights(), from().view(), data_.view(),
                                                                    places, queries.begin, rows.begin, columns, pairs,
                                                                    exact_.data());
      cuda::check_launch("all_distances");
    });
  }

  void nearest_exactly(const Allowed& allowed, Range queries, std::int64_t k, std::span<std::int32_t> indices,
                       std::span<double> distances) {
    const auto rows = pair_.rows();
    const auto step = queries_of_block(rows * std::int64_t{sizeof(double)} + k * 12);
    exact_ = Array<double>(step * rows, device_);
    Array<std::int32_t> found(step * k, device_);
    Array<double> keys(step * k, device_);
    for (auto first = queries.begin; first < queries.end; first += step) {
      context_.check_stop();
      const auto count = std::min(step, queries.end - first);
      launch_all(allowed, {first, first + count}, {0, rows});
      gpu::select_nearest<<<static_cast<unsigned>(count), gpu::select_threads, 0, stream_>>>(
          exact_.data(), rows, first, k, allowed, found.data(), keys.data());
      cuda::check_launch("select_nearest");
      const auto at = static_cast<std::size_t>(first * k);
      const auto size = static_cast<std::size_t>(count * k);
      cuda::check(cudaMemcpyAsync(indices.data() + at, found.data(), size * sizeof(std::int32_t),
                                  cudaMemcpyDeviceToHost, stream_),
                  "fetching neighbours");
      cuda::check(
          cudaMemcpyAsync(distances.data() + at, keys.data(), size * sizeof(double), cudaMemcpyDeviceToHost, stream_),
          "fetching neighbours");
      stream_.synchronize();
      sort_lists({first, first + count}, k, indices, distances);
    }
  }

  void sort_lists(Range queries, std::int64_t k, std::span<std::int32_t> indices, std::span<double> distances) const {
    parallel_ranges(context_.threads(), queries.end - queries.begin, 16, [&](Range range) {
      std::vector<Found> found(static_cast<std::size_t>(k));
      for (auto q = queries.begin + range.begin; q < queries.begin + range.end; ++q) {
        const auto at = static_cast<std::size_t>(q * k);
        for (std::size_t n = 0; n < found.size(); ++n) found[n] = {distances[at + n], indices[at + n]};
        std::sort(found.begin(), found.end());
        for (std::size_t n = 0; n < found.size(); ++n) {
          indices[at + n] = found[n].row;
          distances[at + n] = found[n].distance;
        }
      }
    });
  }

  /// False: a tree does not suit the rows, or would be slower.
  bool nearest_by_tree(const Eligible& eligible, const Allowed& allowed, std::int64_t k,
                       std::span<std::int32_t> indices, std::span<double> distances) {
    using Tree = gpu::DeviceTree<S>;
    const gpu::TreeQuestion<S> question{from().view(), allowed, query_count(eligible),
                                        pair_.self && eligible.queries.empty(), k};
    if (question.queries < Tree::asked || !suits_tree(pair_) || !Tree::fits(pair_, k, context_.memory())) return false;
    if (!tree_) tree_ = std::make_unique<Tree>(pair_, data_.view(), device_, stream_);
    if (!tree_->pays(question)) return false;
    const auto step = std::min(question.queries, queries_of_block(2 * Results::bytes_per_query(k)));
    std::vector<std::int64_t> incomplete;
    Stage stage(context_.progress(), "finding neighbours", question.queries, context_.stop());
    transport_.in_blocks(
        context_, stage, question.queries, step, k,
        [&](Range block, Results& results) { tree_->nearest(question, block, results); },
        [&](std::int64_t query) { return tree_->place(question, query); }, indices, distances, incomplete);
    return true;
  }

  void nearest_filtered(const Eligible& eligible, const Allowed& allowed, const FilterView& queries, std::int64_t k,
                        std::span<std::int32_t> indices, std::span<double> distances) {
    const auto rows = pair_.rows();
    const auto capacity = list_capacity(k);
    const auto usable = eligible.data.empty() ? rows : std::count(eligible.data.begin(), eligible.data.end(), 1);
    const double wanted = static_cast<double>(std::max(first_rows, rows_per_k * k)) * static_cast<double>(rows) /
                          static_cast<double>(std::max<std::int64_t>(usable, 1));
    const auto seeds = static_cast<std::int64_t>(std::min(wanted, static_cast<double>(rows)));
    const auto step = std::min(
        queries.rows, queries_of_block(seeds * std::int64_t{sizeof(float)} +
                                       DeviceCandidates::bytes_per_query(capacity) + 2 * Results::bytes_per_query(k)));
    Array<float> results_of_seeds(step * seeds, device_);
    DeviceCandidates candidates(step, capacity, device_);
    const bool many_pass = k * std::int64_t{gpu::tile_side} * gpu::tile_side > seeds * gpu::Waiting::many;
    FilterWork work{
        queries, filter_.view(), allowed, candidates.view(), 0, 0, 0, seeds, filter_.largest_error(), many_pass, 1};
    std::vector<std::int64_t> incomplete;
    Stage stage(context_.progress(), "finding neighbours", queries.rows, context_.stop());
    const auto next = [&](std::int64_t first) {
      work.first_query = first;
      work.query_end = std::min(first + step, queries.rows);
      gpu::with_tile(plan_.kind, [&](auto tile) { filter_block(tile, work, seeds, k, results_of_seeds); });
    };
    if (sorted_room(k) == 0) {
      for (std::int64_t first = 0; first < queries.rows; first += step) {
        next(first);
        decide_on_host(work, k, indices, distances, incomplete);
        stage.advance(work.query_end - first);
      }
    } else {
      transport_.in_blocks(
          context_, stage, queries.rows, step, k,
          [&](Range block, Results& results) {
            next(block.begin);
            decide(work, k, results);
          },
          [&](std::int64_t query) { return place_of(queries, query); }, indices, distances, incomplete);
    }
    complete(eligible, incomplete, k, indices, distances);
  }

  /// Leaves the candidates of the work's queries in their lists.
  template <class Tile>
  void filter_block(Tile tile, FilterWork& work, std::int64_t seeds, std::int64_t k, Array<float>& results) {
    const auto count = static_cast<unsigned>(work.query_end - work.first_query);
    work.first_row = 0;
    work.row_end = seeds;
    launch_tiles(tile, "store_results", gpu::store_results<Tile>, work, results.data());
    gpu::seed_limits<Tile><<<count, gpu::select_threads, 0, stream_>>>(work, results.data(), k);
    cuda::check_launch("seed_limits");
    while (true) {
      launch_tiles(tile, "collect", gpu::collect<Tile>, work);
      gpu::compact<<<count, gpu::select_threads, 0, stream_>>>(k, work.candidates);
      cuda::check_launch("compact");
      if (work.row_end == pair_.rows()) return;
      work.first_row = work.row_end;
      work.row_end = std::min(work.row_end * growth, pair_.rows());
    }
  }

  template <class Tile, class Kernel, class... Arguments>
  void launch_tiles(Tile /*tile*/, const char* name, Kernel* kernel, FilterWork& work, Arguments... arguments) {
    constexpr std::int64_t few = 8;
    constexpr std::int64_t most_blocks = 32768;
    const auto tiles = (work.row_end - work.first_row + gpu::tile_side - 1) / gpu::tile_side;
    work.tiles = static_cast<int>(std::max(few, (tiles + most_blocks - 1) / most_blocks));
    const dim3 blocks(static_cast<unsigned>((work.query_end - work.first_query + gpu::tile_side - 1) / gpu::tile_side),
                      static_cast<unsigned>((tiles + work.tiles - 1) / work.tiles));
    allow_memory(kernel, Tile::memory);
    kernel<<<blocks, gpu::tile_threads, Tile::memory, stream_>>>(work, arguments...);
    cuda::check_launch(name);
  }

  template <class Kernel>
  static void allow_memory(Kernel* kernel, int bytes) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "asking for shared memory");
  }

  /// Exact distances of the candidates, and the k nearest of them.
  void decide(const FilterWork& work, std::int64_t k, Results& results) {
    const auto room = sorted_room(k);
    const auto bytes = static_cast<int>(room * 12);
    with_metric(pair_.distance, pair_.columns(), [&](const auto& metric) {
      const auto kernel = gpu::decide_nearest<std::decay_t<decltype(metric)>, S>;
      allow_memory(kernel, bytes);
      kernel<<<static_cast<unsigned>(work.query_end - work.first_query), gpu::pair_threads,
               static_cast<std::size_t>(bytes), stream_>>>(metric, weights(), from().view(), data_.view(), work,
                                                           static_cast<int>(room), k, results.rows.data(),
                                                           results.distances.data(), results.incomplete.data());
      cuda::check_launch("decide_nearest");
    });
    results.ready.record(stream_);
  }

  /// The place of the neighbours of a query of the filter.
  std::int64_t place_of(const FilterView& queries, std::int64_t query) const {
    return queries.order == nullptr ? query : std::int64_t{order_[static_cast<std::size_t>(query)]};
  }

  /// Exact distances of the candidates, of which the host takes the k nearest: for lists too long to be sorted in
  /// shared memory.
  void decide_on_host(const FilterWork& work, std::int64_t k, std::span<std::int32_t> indices,
                      std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto& view = work.candidates;
    const auto count = work.query_end - work.first_query;
    std::vector<int> counts(static_cast<std::size_t>(count));
    gpu::fetch(counts.data(), view.counts, count, stream_);
    stream_.synchronize();
    const int most = std::min(*std::max_element(counts.begin(), counts.end()), view.capacity);
    const auto wide = static_cast<unsigned>((most + gpu::pairs_of_block - 1) / gpu::pairs_of_block);
    const auto size = count * view.capacity;
    if (exact_.size() < size) exact_ = Array<double>(size, device_);
    with_metric(pair_.distance, pair_.columns(), [&](const auto& metric) {
      gpu::candidate_distances<<<dim3(wide, static_cast<unsigned>(count)), gpu::pair_threads, 0, stream_>>>(
          metric, weights(), from().view(), data_.view(), work, exact_.data());
      cuda::check_launch("candidate_distances");
    });
    rows_.resize(static_cast<std::size_t>(size));
    keys_.resize(static_cast<std::size_t>(size));
    gpu::fetch(rows_.data(), view.rows, size, stream_);
    gpu::fetch(keys_.data(), exact_.data(), size, stream_);
    stream_.synchronize();
    parallel_ranges(context_.threads(), count, 16, [&](Range range) {
      std::vector<Found> found;
      for (auto q = range.begin; q < range.end; ++q) {
        const int there = counts[static_cast<std::size_t>(q)];
        if (there > view.capacity) continue;
        found.clear();
        for (int c = 0; c < there; ++c) {
          const auto at = static_cast<std::size_t>(q * view.capacity + c);
          found.push_back({keys_[at], rows_[at]});
        }
        std::partial_sort(found.begin(), found.begin() + k, found.end());
        const auto place = place_of(work.queries, work.first_query + q);
        for (std::int64_t n = 0; n < k; ++n) {
          const auto to = static_cast<std::size_t>(place * k + n);
          indices[to] = found[static_cast<std::size_t>(n)].row;
          distances[to] = found[static_cast<std::size_t>(n)].distance;
        }
      }
    });
    for (std::int64_t q = 0; q < count; ++q)
      if (counts[static_cast<std::size_t>(q)] > view.capacity)
        incomplete.push_back(place_of(work.queries, work.first_query + q));
  }

  /// Queries whose lists were too short, exactly.
  void complete(const Eligible& eligible, const std::vector<std::int64_t>& places, std::int64_t k,
                std::span<std::int32_t> indices, std::span<double> distances) {
    if (places.empty()) return;
    std::vector<std::int32_t> rows;
    for (const auto place : places)
      rows.push_back(eligible.queries.empty() ? static_cast<std::int32_t>(place)
                                              : eligible.queries[static_cast<std::size_t>(place)]);
    Eligible some = eligible;
    some.queries = rows;
    const DeviceEligible on_device(some, pair_.self, device_);
    std::vector<std::int32_t> found(places.size() * static_cast<std::size_t>(k));
    std::vector<double> keys(found.size());
    nearest_exactly(on_device.view(), {0, std::ssize(places)}, k, found, keys);
    for (std::size_t n = 0; n < places.size(); ++n) {
      const auto from = static_cast<std::ptrdiff_t>(n) * k;
      std::copy_n(found.begin() + from, k, indices.begin() + places[n] * k);
      std::copy_n(keys.begin() + from, k, distances.begin() + places[n] * k);
    }
  }

  Context context_;
  Device device_;
  const RowPair<S>& pair_;
  cuda::Stream stream_;
  gpu::ResultTransport transport_;
  DeviceRows<S> data_, queries_;
  Array<double> weights_;
  std::unique_ptr<gpu::DeviceTree<S>> tree_;
  FilterPlan plan_;
  std::vector<std::int32_t> order_;  // of the rows of the filter
  FilterRows filter_;
  Array<double> exact_;             // distances of a block
  std::vector<std::int32_t> rows_;  // of candidates, on the host
  std::vector<double> keys_;
};

}  // namespace

template <class S>
std::unique_ptr<NeighborOps> make_cuda_ops(const Context& context, const RowPair<S>& pair) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaOps<S>>(context, pair);
}

template std::unique_ptr<NeighborOps> make_cuda_ops(const Context&, const RowPair<float>&);
template std::unique_ptr<NeighborOps> make_cuda_ops(const Context&, const RowPair<double>&);

}  // namespace sheaf::neighbors
