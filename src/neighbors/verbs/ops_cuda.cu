// Neighbours on one NVIDIA GPU. Euclid's distance and what is made of it (cosine, correlation): the tensor cores filter
// (filter_cuda.cuh), exact distances of what is left decide. Other metrics, and lists that overflow: exact distances of
// all rows, of which the k smallest are selected. Compiled without fused operations: the bits are the CPU's.
#include "neighbors/verbs/ops.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "cuda/check.cuh"
#include "cuda/staging.cuh"
#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/filter_cuda.cuh"

namespace sheaf::neighbors {
namespace {

using gpu::CandidateView;
using gpu::DeviceRows;
using gpu::FilterRows;
using gpu::FilterView;
using gpu::FilterWork;
using gpu::RowsView;

constexpr std::int64_t most_queries = 16384;  // of a block
constexpr std::int64_t block_share = 4;       // what a block needs may take this part of the memory
constexpr std::int64_t rows_share = 2;        // rows of the filter likewise
constexpr std::int64_t first_rows = 8192;     // that give the first limits, or so many times k
constexpr std::int64_t rows_per_k = 8;
constexpr std::int64_t growth = 4;             // rows compared after which limits are lowered again
constexpr std::int64_t piece_bytes = 1 << 22;  // of results on their way to the host

/// Room for candidates: rows are in no order, so that a limit from some of them lets `growth` times k pass among the
/// next, and the bounds of the filter some more.
std::int64_t list_capacity(std::int64_t k) { return 10 * k + 512; }
/// Of a list that is sorted in shared memory, a power of two; 0: too long for it.
std::int64_t sorted_room(std::int64_t k) {
  constexpr std::uint64_t most = 16384;
  const auto room = std::bit_ceil(static_cast<std::uint64_t>(3 * k + 256));
  return room <= most ? static_cast<std::int64_t>(room) : 0;
}

/// Rows in an order in which any run of them is spread over all: steps of the golden ratio around them.
std::vector<std::int32_t> spread_order(std::int64_t rows) {
  auto step = static_cast<std::int64_t>(0.6180339887498949 * static_cast<double>(rows));
  while (std::gcd(step, rows) != 1) ++step;
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::int64_t at = 0;
  for (auto& row : order) {
    row = static_cast<std::int32_t>(at);
    at += step;
    if (at >= rows) at -= rows;
  }
  return order;
}

template <class Metric, class S>
__global__ void __launch_bounds__(gpu::pair_threads)
    all_distances(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data, Allowed places,
                  std::int64_t first_query, std::int64_t first_row, std::int64_t columns, std::int64_t pairs,
                  double* out) {
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * gpu::pairs_of_block + threadIdx.x / parts;
  if (pair >= pairs) return;
  const std::int64_t q = pair / columns;
  const std::int64_t row = first_row + pair % columns;
  const double distance = gpu::pair_distance(metric, weights, queries, places.query(first_query + q), data, row);
  if (threadIdx.x % parts == 0) out[pair] = distance;
}

/// Exact distances of candidates. Blocks of candidates x queries.
template <class Metric, class S>
__global__ void __launch_bounds__(gpu::pair_threads)
    candidate_distances(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data,
                        const __grid_constant__ FilterWork work, double* out) {
  const std::int64_t q = blockIdx.y;
  const CandidateView& candidates = work.candidates;
  const int count = min(candidates.counts[q], candidates.capacity);
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * gpu::pairs_of_block + threadIdx.x / parts;
  if (c >= count) return;
  const std::int64_t at = q * candidates.capacity + c;
  const std::int64_t query = work.allowed.query(work.queries.place(work.first_query + q));
  const double distance = gpu::pair_distance(metric, weights, queries, query, data, candidates.rows[at]);
  if (threadIdx.x % parts == 0) out[at] = distance;
}

/// Exact distances of candidates, of which the k nearest are written in order; whether a list is incomplete, or longer
/// than `room`, a power of two. One block a query, with 12 bytes of shared memory for each place of the room.
template <class Metric, class S>
__global__ void __launch_bounds__(gpu::pair_threads)
    decide_nearest(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data,
                   const __grid_constant__ FilterWork work, int room, std::int64_t k, std::int32_t* rows,
                   double* distances, std::uint8_t* incomplete) {
  extern __shared__ double keys[];
  auto* found = reinterpret_cast<std::int32_t*>(keys + room);
  const std::int64_t q = blockIdx.x;
  const int count = work.candidates.counts[q];
  const bool whole = count >= k && count <= work.candidates.capacity && count <= room;
  if (threadIdx.x == 0) incomplete[q] = whole ? 0 : 1;
  if (!whole) return;
  int size = 32;
  while (size < count) size *= 2;
  const std::int32_t* mine = work.candidates.rows + q * work.candidates.capacity;
  const std::int64_t query = work.allowed.query(work.queries.place(work.first_query + q));
  for (int c = static_cast<int>(threadIdx.x) / parts; c < size; c += gpu::pairs_of_block) {
    const std::int32_t row = c < count ? mine[c] : 0x7fffffff;
    const double distance = c < count ? gpu::pair_distance(metric, weights, queries, query, data, row)
                                      : __longlong_as_double(0x7ff0000000000000LL);
    if (threadIdx.x % parts != 0) continue;
    keys[c] = distance;
    found[c] = row;
  }
  __syncthreads();
  for (int width = 2; width <= size; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += static_cast<int>(blockDim.x)) {
        const int low = 2 * i - (i & (step - 1));
        const int high = low + step;
        const double a = keys[low];
        const double b = keys[high];
        const bool after = a > b || (a == b && found[low] > found[high]);
        if (after != ((low & width) == 0)) continue;
        keys[low] = b;
        keys[high] = a;
        const std::int32_t row = found[low];
        found[low] = found[high];
        found[high] = row;
      }
      __syncthreads();
    }
  for (std::int64_t n = threadIdx.x; n < k; n += blockDim.x) {
    rows[q * k + n] = found[n];
    distances[q * k + n] = keys[n];
  }
}

/// The k nearest of each row of distances, in any order; of the rows at the k-th distance those of the lowest indices.
/// One block a query.
__global__ void __launch_bounds__(gpu::select_threads)
    select_nearest(const double* distances, std::int64_t columns, std::int64_t first_query, std::int64_t k,
                   Allowed allowed, std::int32_t* rows, double* found) {
  const std::int64_t q = blockIdx.x;
  const double* mine = distances + q * columns;
  const auto value = [&](std::int64_t j) {
    return allowed(first_query + q, j) ? mine[j] : __longlong_as_double(0x7ff0000000000000LL);
  };
  const auto selected = gpu::select_kth<64>(columns, k, value);
  __shared__ int taken;
  __shared__ int ties[gpu::select_threads];
  __shared__ std::int64_t ties_before;
  if (threadIdx.x == 0) {
    taken = 0;
    ties_before = 0;
  }
  __syncthreads();
  const std::int64_t wanted_ties = k - selected.before;
  const auto put = [&](std::int64_t j) {
    const int at = atomicAdd(&taken, 1);
    rows[q * k + at] = static_cast<std::int32_t>(j);
    found[q * k + at] = mine[j];
  };
  for (std::int64_t begin = 0; begin < columns; begin += blockDim.x) {
    const std::int64_t j = begin + threadIdx.x;
    const std::uint64_t bits = j < columns ? gpu::bits_of(value(j)) : ~std::uint64_t{0};
    if (bits < selected.bits) put(j);
    ties[threadIdx.x] = bits == selected.bits ? 1 : 0;
    if (__syncthreads_or(ties[threadIdx.x]) == 0) continue;
    if (ties[threadIdx.x] != 0) {
      std::int64_t rank = ties_before;
      for (unsigned t = 0; t < threadIdx.x; ++t) rank += ties[t];
      if (rank < wanted_ties) put(j);
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned t = 0; t < blockDim.x; ++t) ties_before += ties[t];
    __syncthreads();
  }
}

/// Eligible rows as the GPU knows them.
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

class Event {
 public:
  Event() { cuda::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) { cuda::check(cudaEventRecord(event_, stream), "marking an event"); }
  void hold(cudaStream_t stream) { cuda::check(cudaStreamWaitEvent(stream, event_), "waiting for an event"); }
  void wait() { cuda::check(cudaEventSynchronize(event_), "waiting for the GPU"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Neighbours of a block of queries on the GPU.
struct Results {
  Results(std::int64_t queries, std::int64_t k, Device device)
      : rows(queries * k, device), distances(queries * k, device), incomplete(queries, device) {}
  static std::int64_t bytes_per_query(std::int64_t k) { return k * 12 + 1; }
  Array<std::int32_t> rows;
  Array<double> distances;
  Array<std::uint8_t> incomplete;
  Event ready;
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
  /// holds are left as they are; others are centred, which makes what is rounded off smaller.
  bool prepare() {
    if (filter_.rows() > 0) return true;
    if (pair_.rows() == 0 || filter_kind<S>(pair_.distance.metric) != FilterKind::products) return false;
    const double bytes = static_cast<double>(pair_.rows()) * static_cast<double>(pair_.columns() + 8) * 2;
    if (bytes > static_cast<double>(context_.memory()) / rows_share) return false;
    order_ = spread_order(pair_.rows());
    const auto make = [&](bool centred) {
      plan_ = make_plan(centred);
      filter_ = FilterRows(context_, stream_, plan_, pair_.data, data_.view(), order_, true);
    };
    make(false);
    constexpr float nothing = 0x1p-50F;
    if (filter_.largest_error() > nothing) make(true);
    return true;
  }

  FilterPlan make_plan(bool centred) const {
    if (is_sparse(pair_.data.x)) return make_filter_plan(context_, pair_, FilterKind::products, centred);
    std::vector<double> centre;
    if (centred) centre = gpu::column_means(data_.view(), pair_.rows(), device_, stream_);
    return make_filter_plan(pair_, FilterKind::products, std::move(centre),
                            [&](const FilterPlan& plan, const Rows<S>& rows) {
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
      all_distances<<<blocks, gpu::pair_threads, 0, stream_>>>(metric, weights(), from().view(), data_.view(), places,
                                                               queries.begin, rows.begin, columns, pairs,
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
      select_nearest<<<static_cast<unsigned>(count), gpu::select_threads, 0, stream_>>>(
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
    Array<float> products(step * seeds, device_);
    DeviceCandidates candidates(step, capacity, device_);
    const bool many_pass = k * std::int64_t{gpu::tile_side} * gpu::tile_side > seeds * gpu::Waiting::many;
    FilterWork work{
        queries, filter_.view(), allowed, candidates.view(), 0, 0, 0, seeds, filter_.largest_error(), many_pass, 1};
    std::vector<std::int64_t> incomplete;
    Stage stage(context_.progress(), "finding neighbours", queries.rows, context_.stop());
    const auto next = [&](std::int64_t first) {
      work.first_query = first;
      work.query_end = std::min(first + step, queries.rows);
      filter_block(work, seeds, k, products);
    };
    if (sorted_room(k) == 0) {
      for (std::int64_t first = 0; first < queries.rows; first += step) {
        next(first);
        decide_on_host(work, k, indices, distances, incomplete);
        stage.advance(work.query_end - first);
      }
    } else {
      // The results of a block travel while the GPU works on the next one.
      Results results[2] = {{step, k, device_}, {step, k, device_}};
      for (std::int64_t block = 0; block * step < queries.rows; ++block) {
        next(block * step);
        decide(work, k, results[block % 2]);
        if (block == 0) continue;
        take(queries, {(block - 1) * step, block * step}, k, results[(block - 1) % 2], indices, distances, incomplete);
        stage.advance(step);
      }
      const auto last = (queries.rows - 1) / step;
      take(queries, {last * step, queries.rows}, k, results[last % 2], indices, distances, incomplete);
      stage.advance(queries.rows - last * step);
    }
    complete(eligible, incomplete, k, indices, distances);
  }

  /// Leaves the candidates of the work's queries in their lists.
  void filter_block(FilterWork& work, std::int64_t seeds, std::int64_t k, Array<float>& products) {
    const auto count = static_cast<unsigned>(work.query_end - work.first_query);
    work.first_row = 0;
    work.row_end = seeds;
    launch_tiles("store_products", gpu::store_products, work, products.data());
    gpu::seed_limits<<<count, gpu::select_threads, 0, stream_>>>(work, products.data(), k);
    cuda::check_launch("seed_limits");
    while (true) {
      launch_tiles("collect", gpu::collect, work);
      gpu::compact<<<count, gpu::select_threads, 0, stream_>>>(k, work.candidates);
      cuda::check_launch("compact");
      if (work.row_end == pair_.rows()) return;
      work.first_row = work.row_end;
      work.row_end = std::min(work.row_end * growth, pair_.rows());
    }
  }

  template <class Kernel, class... Arguments>
  void launch_tiles(const char* name, Kernel* kernel, FilterWork& work, Arguments... arguments) {
    constexpr std::int64_t few = 8;
    constexpr std::int64_t most_blocks = 32768;
    const auto tiles = (work.row_end - work.first_row + gpu::tile_side - 1) / gpu::tile_side;
    work.tiles = static_cast<int>(std::max(few, (tiles + most_blocks - 1) / most_blocks));
    const dim3 blocks(static_cast<unsigned>((work.query_end - work.first_query + gpu::tile_side - 1) / gpu::tile_side),
                      static_cast<unsigned>((tiles + work.tiles - 1) / work.tiles));
    allow_memory(kernel, gpu::tile_memory);
    kernel<<<blocks, gpu::tile_threads, gpu::tile_memory, stream_>>>(work, arguments...);
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
      const auto kernel = decide_nearest<std::decay_t<decltype(metric)>, S>;
      allow_memory(kernel, bytes);
      kernel<<<static_cast<unsigned>(work.query_end - work.first_query), gpu::pair_threads,
               static_cast<std::size_t>(bytes), stream_>>>(metric, weights(), from().view(), data_.view(), work,
                                                           static_cast<int>(room), k, results.rows.data(),
                                                           results.distances.data(), results.incomplete.data());
      cuda::check_launch("decide_nearest");
    });
    results.ready.record(stream_);
  }

  /// Where the neighbours of a query of the filter belong.
  std::int64_t place_of(const FilterView& queries, std::int64_t query) const {
    return queries.order == nullptr ? query : std::int64_t{order_[static_cast<std::size_t>(query)]};
  }

  /// Brings results to the host, piece by piece through pinned memory, and adds queries without them to `incomplete`.
  void take(const FilterView& queries, Range block, std::int64_t k, Results& results, std::span<std::int32_t> indices,
            std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto count = block.end - block.begin;
    const auto step = std::clamp<std::int64_t>(piece_bytes / Results::bytes_per_query(k), 1, count);
    struct Piece {
      double* distances;
      std::int32_t* rows;
      std::uint8_t* incomplete;
    } pieces[2];
    for (int turn = 0; turn < 2; ++turn) {
      const auto all = step * k;
      auto* memory = staging_[turn].template room<double>(static_cast<std::size_t>(all + (all + 1) / 2 + step / 8 + 1));
      auto* rows = reinterpret_cast<std::int32_t*>(memory + all);
      pieces[turn] = {memory, rows, reinterpret_cast<std::uint8_t*>(rows + all)};
    }
    results.ready.hold(copies_);
    const auto begin = [&](std::int64_t first, int turn) {
      const auto some = std::min(step, count - first);
      fetch(pieces[turn].distances, results.distances.data() + first * k, some * k, copies_);
      fetch(pieces[turn].rows, results.rows.data() + first * k, some * k, copies_);
      fetch(pieces[turn].incomplete, results.incomplete.data() + first, some, copies_);
      arrived_[turn].record(copies_);
    };
    begin(0, 0);
    for (std::int64_t first = 0, turn = 0; first < count; first += step, turn = 1 - turn) {
      if (first + step < count) begin(first + step, static_cast<int>(1 - turn));
      arrived_[turn].wait();
      const Piece& piece = pieces[turn];
      const auto some = std::min(step, count - first);
      parallel_ranges(context_.threads(), some, std::max<std::int64_t>(1, (std::int64_t{1} << 15) / k),
                      [&](Range range) {
                        for (auto q = range.begin; q < range.end; ++q) {
                          const auto to = place_of(queries, block.begin + first + q) * k;
                          std::copy_n(piece.rows + q * k, k, indices.data() + to);
                          std::copy_n(piece.distances + q * k, k, distances.data() + to);
                        }
                      });
      for (std::int64_t q = 0; q < some; ++q)
        if (piece.incomplete[q] != 0) incomplete.push_back(place_of(queries, block.begin + first + q));
    }
  }

  /// Exact distances of the candidates, of which the host takes the k nearest: for lists too long to be sorted in
  /// shared memory.
  void decide_on_host(const FilterWork& work, std::int64_t k, std::span<std::int32_t> indices,
                      std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto& view = work.candidates;
    const auto count = work.query_end - work.first_query;
    std::vector<int> counts(static_cast<std::size_t>(count));
    fetch(counts.data(), view.counts, count, stream_);
    stream_.synchronize();
    const int most = std::min(*std::max_element(counts.begin(), counts.end()), view.capacity);
    const auto wide = static_cast<unsigned>((most + gpu::pairs_of_block - 1) / gpu::pairs_of_block);
    const auto size = count * view.capacity;
    if (exact_.size() < size) exact_ = Array<double>(size, device_);
    with_metric(pair_.distance, pair_.columns(), [&](const auto& metric) {
      candidate_distances<<<dim3(wide, static_cast<unsigned>(count)), gpu::pair_threads, 0, stream_>>>(
          metric, weights(), from().view(), data_.view(), work, exact_.data());
      cuda::check_launch("candidate_distances");
    });
    rows_.resize(static_cast<std::size_t>(size));
    keys_.resize(static_cast<std::size_t>(size));
    fetch(rows_.data(), view.rows, size, stream_);
    fetch(keys_.data(), exact_.data(), size, stream_);
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

  template <class V>
  void fetch(V* to, const V* from, std::int64_t count, cudaStream_t stream) {
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(V), cudaMemcpyDeviceToHost, stream),
                "fetching neighbours");
  }

  Context context_;
  Device device_;
  const RowPair<S>& pair_;
  cuda::Stream stream_;
  cuda::Stream copies_;
  cuda::Staging staging_[2];
  Event arrived_[2];
  DeviceRows<S> data_, queries_;
  Array<double> weights_;
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
