// Neighbours on one NVIDIA GPU. Euclid's distance and what is made of it (cosine, correlation): the tensor cores filter
// (filter_cuda.cuh), exact distances of what is left decide. Other metrics, and lists that overflow: exact distances of
// all rows, of which the k smallest are selected. Compiled without fused operations: the bits are the CPU's.
#include "neighbors/verbs/ops.hpp"

#include <algorithm>
#include <vector>

#include "cuda/check.cuh"
#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/filter_cuda.cuh"

namespace sheaf::neighbors {
namespace {

using gpu::CandidateView;
using gpu::DeviceRows;
using gpu::FilterRows;
using gpu::FilterView;
using gpu::RowsView;

constexpr std::int64_t most_queries = 4096;   // of a block
constexpr std::int64_t most_columns = 32768;  // of a tile
constexpr std::int64_t tile_share = 4;        // tiles may take this part of the memory
constexpr std::int64_t rows_share = 2;        // rows of the filter likewise

std::int64_t list_capacity(std::int64_t k) { return 3 * k + 1024; }

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
    candidate_distances(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data, Allowed places,
                        std::int64_t first_query, CandidateView candidates, double* out) {
  const std::int64_t q = blockIdx.y;
  const int count = min(candidates.counts[q], candidates.capacity);
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * gpu::pairs_of_block + threadIdx.x / parts;
  if (c >= count) return;
  const std::int64_t at = q * candidates.capacity + c;
  const double distance =
      gpu::pair_distance(metric, weights, queries, places.query(first_query + q), data, candidates.rows[at]);
  if (threadIdx.x % parts == 0) out[at] = distance;
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
        distances_(queries * capacity, device),
        rows_(queries * capacity, device),
        counts_(queries, device),
        limits_(queries, device) {}
  static std::int64_t bytes_per_query(std::int64_t capacity) { return capacity * 20 + 8; }

  CandidateView view() {
    return {lower_.data(), upper_.data(), rows_.data(), counts_.data(), limits_.data(), static_cast<int>(capacity_)};
  }
  double* distances() { return distances_.data(); }

 private:
  std::int64_t capacity_;
  Array<float> lower_, upper_;
  Array<double> distances_;
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
        blas_(stream_),
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
    const FilterRows own = same ? FilterRows() : FilterRows(context_, plan_, pair_.from(), eligible.queries);
    nearest_filtered(on_device.view(), same ? filter_.view() : own.view(), k, indices, distances);
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
    return std::clamp<std::int64_t>(context_.memory() / tile_share / std::max<std::int64_t>(bytes_per_query, 1), 1,
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
    plan_ = make_filter_plan(context_, pair_, FilterKind::products, false);
    filter_ = FilterRows(context_, plan_, pair_.data, {});
    constexpr float nothing = 0x1p-50F;
    if (filter_.largest_error() > nothing) {
      plan_ = make_filter_plan(context_, pair_, FilterKind::products, true);
      filter_ = FilterRows(context_, plan_, pair_.data, {});
    }
    return true;
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

  void nearest_filtered(const Allowed& allowed, const FilterView& queries, std::int64_t k,
                        std::span<std::int32_t> indices, std::span<double> distances) {
    const auto rows = pair_.rows();
    const auto capacity = list_capacity(k);
    // The first tile gives the first limits: it must have k rows that are no query's own fold.
    const auto columns = std::min(std::max(most_columns, 4 * k), rows);
    const auto step = std::min(queries.rows, queries_of_block(columns * std::int64_t{sizeof(float)} +
                                                              DeviceCandidates::bytes_per_query(capacity)));
    Array<float> products(step * columns, device_);
    DeviceCandidates candidates(step, capacity, device_);
    std::vector<std::int64_t> incomplete;
    Stage stage(context_.progress(), "finding neighbours", queries.rows, context_.stop());
    for (std::int64_t first = 0; first < queries.rows; first += step) {
      const auto count = std::min(step, queries.rows - first);
      for (std::int64_t row = 0; row < rows; row += columns)
        filter_tile(allowed, queries, {first, first + count}, {row, std::min(row + columns, rows)}, k, products,
                    candidates.view());
      decide(allowed, {first, first + count}, k, candidates, indices, distances, incomplete);
      stage.advance(count);
    }
    for (const auto q : incomplete) nearest_exactly(allowed, {q, q + 1}, k, indices, distances);
  }

  void filter_tile(const Allowed& allowed, const FilterView& queries, Range some, Range rows, std::int64_t k,
                   Array<float>& products, const CandidateView& candidates) {
    const auto data = filter_.view();
    const auto count = static_cast<unsigned>(some.end - some.begin);
    const auto columns = rows.end - rows.begin;
    const float one = 1;
    const float zero = 0;
    // Column-major for cuBLAS: products' = data * queries', columns x queries.
    cuda::check(
        cuda::cublas().gemm_ex(blas_, CUBLAS_OP_T, CUBLAS_OP_N, static_cast<int>(columns), static_cast<int>(count),
                               static_cast<int>(data.columns), &one, data.values + rows.begin * data.columns,
                               CUDA_R_16BF, static_cast<int>(data.columns), queries.values + some.begin * data.columns,
                               CUDA_R_16BF, static_cast<int>(data.columns), &zero, products.data(), CUDA_R_32F,
                               static_cast<int>(columns), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "inner products of the filter");
    if (rows.begin == 0) {
      gpu::seed_limits<<<count, gpu::select_threads, 0, stream_>>>(products.data(), columns, some.begin, rows.begin, k,
                                                                   queries, data, allowed, candidates);
      cuda::check_launch("seed_limits");
    }
    constexpr std::int64_t each = 4;  // columns of a thread
    const auto wide = static_cast<unsigned>((columns + gpu::select_threads * each - 1) / (gpu::select_threads * each));
    gpu::collect<<<dim3(wide, count), gpu::select_threads, 0, stream_>>>(
        products.data(), columns, some.begin, rows.begin, queries, data, allowed, candidates);
    cuda::check_launch("collect");
    gpu::compact<<<count, gpu::select_threads, 0, stream_>>>(k, candidates);
    cuda::check_launch("compact");
  }

  /// Exact distances of the candidates, of which the host takes the k nearest. Queries whose lists overflowed are added
  /// to `incomplete`.
  void decide(const Allowed& allowed, Range queries, std::int64_t k, DeviceCandidates& candidates,
              std::span<std::int32_t> indices, std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto view = candidates.view();
    const auto count = queries.end - queries.begin;
    std::vector<int> counts(static_cast<std::size_t>(count));
    fetch(counts.data(), view.counts, count);
    stream_.synchronize();
    const int most = std::min(*std::max_element(counts.begin(), counts.end()), view.capacity);
    const auto wide = static_cast<unsigned>((most + gpu::pairs_of_block - 1) / gpu::pairs_of_block);
    with_metric(pair_.distance, pair_.columns(), [&](const auto& metric) {
      candidate_distances<<<dim3(wide, static_cast<unsigned>(count)), gpu::pair_threads, 0, stream_>>>(
          metric, weights(), from().view(), data_.view(), allowed, queries.begin, view, candidates.distances());
      cuda::check_launch("candidate_distances");
    });
    const auto size = count * view.capacity;
    rows_.resize(static_cast<std::size_t>(size));
    keys_.resize(static_cast<std::size_t>(size));
    fetch(rows_.data(), view.rows, size);
    fetch(keys_.data(), candidates.distances(), size);
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
        for (std::int64_t n = 0; n < k; ++n) {
          const auto to = static_cast<std::size_t>((queries.begin + q) * k + n);
          indices[to] = found[static_cast<std::size_t>(n)].row;
          distances[to] = found[static_cast<std::size_t>(n)].distance;
        }
      }
    });
    for (std::int64_t q = 0; q < count; ++q)
      if (counts[static_cast<std::size_t>(q)] > view.capacity) incomplete.push_back(queries.begin + q);
  }

  template <class V>
  void fetch(V* to, const V* from, std::int64_t count) {
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(V), cudaMemcpyDeviceToHost, stream_),
                "fetching neighbours");
  }

  Context context_;
  Device device_;
  const RowPair<S>& pair_;
  cuda::Stream stream_;
  cuda::Blas blas_;
  DeviceRows<S> data_, queries_;
  Array<double> weights_;
  FilterPlan plan_;
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
