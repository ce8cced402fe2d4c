// The verbs of rescoring on one NVIDIA GPU. All work runs in order on a stream of its own.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <cub/device/device_radix_sort.cuh>

#include "cuda/check.cuh"
#include "cuda/reduce.cuh"
#include "rescore/training/rows_cuda.cuh"

namespace sheaf::rescore {
namespace {

constexpr std::size_t most_shared = 200 << 10;  // bytes that a block may request, with room for those of kernels
constexpr std::int64_t most_blocks = 1056;      // eight for each processor of the largest GPU

template <class T>
class CudaRescore final : public RescoreOps<T> {
 public:
  CudaRescore(const Context& context, const DenseMatrix<T>& x, std::span<const std::int8_t> labels)
      : RescoreOps<T>(x.rows, x.columns),
        context_(context),
        current_(context.device().index),
        x_(x.values.device() == context.device() ? Array<T>::over(x.values.data(), x.values.size(), context.device())
                                                 : x.values.to(context.device())),
        labels_(Array<std::int8_t>::copy_of(labels, context.device())) {
    if (hessian_bytes(1) > most_shared)
      throw UsageError("rescoring on a GPU takes fewer than " + std::to_string(x.columns) +
                       " features; use --device cpu");
    for (const void* kernel :
         {reinterpret_cast<const void*>(gpu::pass_rows<T>), reinterpret_cast<const void*>(gpu::update_hessians<T>)})
      cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared),
                  "asking for shared memory");
  }

  void set_part(std::int32_t part, std::span<const std::uint16_t> bins) override {
    const auto current = here();
    const auto place = static_cast<std::size_t>(part);
    if (codes_.size() <= place) codes_.resize(place + 1);
    if (codes_[place].size() == 0) codes_[place] = Array<std::uint16_t>(this->rows(), device());
    const auto there = Array<std::uint16_t>::copy_of(bins, device());
    if (this->rows() > 0)
      gpu::set_codes<<<row_blocks(), gpu::row_threads, 0, stream_>>>(there.data(), labels_.data(), this->rows(),
                                                                     codes_[place].data());
    cuda::check_launch("set_codes");
    stream_.synchronize();
  }

  std::vector<std::int64_t> mark_positives(std::span<const std::vector<double>> w,
                                           std::span<const double> above) override {
    const auto current = here();
    std::vector<std::int64_t> counts;
    for (std::size_t p = 0; p < w.size(); ++p) {
      const auto weights = on_device({w[p]});
      counts.push_back(mark(static_cast<std::int32_t>(p), weights.data(), above[p], nullptr));
    }
    return counts;
  }

  std::int64_t mark_positives(std::int32_t part, std::span<const std::uint8_t> flags) override {
    const auto current = here();
    const auto there = Array<std::uint8_t>::copy_of(flags, device());
    return mark(part, nullptr, 0, there.data());
  }

  Array<double> score(std::span<const std::vector<double>> w, std::span<const std::uint16_t> which) override {
    const auto current = here();
    if (this->rows() == 0) return Array<double>(0, device());
    free_work_memory();
    Array<double> there(this->rows(), device());
    const auto weights = on_device({w.begin(), w.end()});
    const auto numbers = Array<std::uint16_t>::copy_of(which, device());
    gpu::score_rows<T><<<row_blocks(), gpu::row_threads, 0, stream_>>>(
        rows_view(), weights.data(), which.empty() ? nullptr : numbers.data(), there.data());
    cuda::check_launch("score_rows");
    stream_.synchronize();
    return there;
  }

  std::vector<Accepted> accept(std::span<const AcceptQuery> queries, std::span<const std::vector<double>> w) override {
    const auto current = here();
    std::vector<Accepted> result(queries.size());
    if (this->rows() == 0) return result;
    take_sort_memory();
    for (std::size_t q = 0; q < queries.size(); ++q) {
      context_.check_stop();
      result[q] = accept_one(queries[q], w[q]);
    }
    return result;
  }

  void set_svms(std::int32_t block, std::span<const SvmTask> tasks) override {
    const auto current = here();
    const auto place = static_cast<std::size_t>(block);
    if (blocks_.size() <= place) blocks_.resize(place + 1);
    Block& one = blocks_[place];
    one = {};
    std::vector<double> label_costs(2 * gpu::warp, 0.0);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      std::vector<T> costs(tasks[t].costs.begin(), tasks[t].costs.end());
      for (const double cost : tasks[t].costs)
        if (cost != 0) label_costs[(cost > 0 ? gpu::warp : 0) + t] = std::abs(cost);
      one.tables.push_back(Array<T>::copy_of(costs, device()));
      one.parts.push_back(tasks[t].part);
    }
    one.label_costs = Array<double>::copy_of(label_costs, device());
    one.support = Array<std::uint32_t>::zeros(this->rows(), device());
  }

  void forget_svms(std::int32_t block) override { blocks_[static_cast<std::size_t>(block)] = {}; }

  SvmSums pass(std::int32_t block, std::span<const std::vector<double>> w, std::span<double> hessians) override {
    const auto current = here();
    Block& one = blocks_[static_cast<std::size_t>(block)];
    const auto tasks = one.tables.size();
    const auto d = static_cast<std::size_t>(this->weights());
    SvmSums sums{std::vector<double>(tasks, 0.0), std::vector<double>(tasks * d, 0.0),
                 std::vector<std::int64_t>(tasks, 0)};
    if (this->rows() == 0) return sums;
    if (changed_.size() == 0) changed_ = Array<std::uint32_t>(this->rows(), device());
    sum_rows(one, w, sums);
    const int together = tasks_together(static_cast<int>(tasks));
    for (int first = 0; first < static_cast<int>(tasks); first += together)
      sum_hessians(one, first, std::min(together, static_cast<int>(tasks) - first), sums, hessians);
    return sums;
  }

 private:
  struct Block {
    std::vector<Array<T>> tables;  // of each task: costs by code
    std::vector<std::int32_t> parts;
    Array<double> label_costs;
    Array<std::uint32_t> support;
  };

  /// Sorts that go to and fro between two buffers need no third one.
  struct Sorted {
    cub::DoubleBuffer<T> keys;
    cub::DoubleBuffer<std::uint8_t> kinds;
  };
  Sorted unsorted() { return {{keys_[0].data(), keys_[1].data()}, {kinds_[0].data(), kinds_[1].data()}}; }

  Device device() const { return context_.device(); }
  cuda::Current here() const { return cuda::Current(device().index); }
  gpu::Rows<T> rows_view() const {
    return {x_.data(), labels_.data(), this->rows(), static_cast<int>(this->features())};
  }
  unsigned row_blocks() const {
    return static_cast<unsigned>((this->rows() + gpu::row_threads - 1) / gpu::row_threads);
  }

  /// Vectors of weights one after the other.
  Array<T> on_device(const std::vector<std::vector<double>>& w) const {
    std::vector<T> all;
    for (const auto& one : w)
      for (const double value : one) all.push_back(static_cast<T>(value));
    return Array<T>::copy_of(all, device());
  }

  std::int64_t mark(std::int32_t part, const T* w, double above, const std::uint8_t* flags) {
    if (this->rows() == 0) return 0;
    auto marked = Array<unsigned long long>::zeros(1, device());
    gpu::mark_rows<T><<<row_blocks(), gpu::row_threads, 0, stream_>>>(
        rows_view(), w, above, flags, codes_[static_cast<std::size_t>(part)].data(), marked.data());
    cuda::check_launch("mark_rows");
    stream_.synchronize();
    return static_cast<std::int64_t>(marked.to(Device::cpu())[0]);
  }

  /// Frees memory that the next accept() or pass() allocates again.
  void free_work_memory() {
    for (auto& keys : keys_) keys = {};
    for (auto& kinds : kinds_) kinds = {};
    sort_memory_ = {};
    totals_ = {};
    changed_ = {};
  }

  void take_sort_memory() {
    if (keys_[0].size() > 0) return;
    for (auto& keys : keys_) keys = Array<T>(this->rows(), device());
    for (auto& kinds : kinds_) kinds = Array<std::uint8_t>(this->rows(), device());
    totals_ = Array<unsigned long long>(row_blocks(), device());
    std::size_t bytes = 0;
    Sorted sorted = unsorted();
    cuda::check(cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, sorted.keys, sorted.kinds, this->rows(), 0,
                                                          8 * static_cast<int>(sizeof(T)), stream_),
                "asking what a sort takes");
    sort_memory_ = Array<std::uint8_t>(static_cast<std::int64_t>(bytes), device());
  }

  Accepted accept_one(const AcceptQuery& query, const std::vector<double>& w) {
    const auto weights = on_device({w});
    gpu::key_rows<T><<<row_blocks(), gpu::row_threads, 0, stream_>>>(
        rows_view(), weights.data(), codes_[static_cast<std::size_t>(query.part)].data(), query, keys_[0].data(),
        kinds_[0].data());
    cuda::check_launch("key_rows");
    auto bytes = static_cast<std::size_t>(sort_memory_.size());
    Sorted sorted = unsorted();
    cuda::check(cub::DeviceRadixSort::SortPairsDescending(sort_memory_.data(), bytes, sorted.keys, sorted.kinds,
                                                          this->rows(), 0, 8 * static_cast<int>(sizeof(T)), stream_),
                "sorting scores");
    const T* const keys = sorted.keys.Current();
    const std::uint8_t* const kinds = sorted.kinds.Current();
    gpu::count_kinds<<<row_blocks(), gpu::row_threads, 0, stream_>>>(kinds, this->rows(), totals_.data());
    cuda::check_launch("count_kinds");
    stream_.synchronize();
    auto totals = totals_.to(Device::cpu());
    unsigned long long sum = 0;
    for (unsigned long long& one : totals) sum += std::exchange(one, sum);
    copy_bytes(totals_.data(), device(), totals.data(), Device::cpu(), totals.bytes());
    auto found = Array<unsigned long long>::zeros(1, device());
    gpu::find_last<T><<<row_blocks(), gpu::row_threads, 0, stream_>>>(keys, kinds, this->rows(), totals_.data(), query,
                                                                      found.data());
    cuda::check_launch("find_last");
    stream_.synchronize();
    const unsigned long long last = found.to(Device::cpu())[0];
    Accepted result;
    if (last == 0) return result;
    result.targets = static_cast<std::int64_t>(last & 0xFFFFFFFFULL);
    result.above = -std::numeric_limits<double>::infinity();
    const auto next = static_cast<std::int64_t>(last >> 32U);
    const auto counted = static_cast<std::int64_t>((sum >> 32U) + (sum & 0xFFFFFFFFULL));
    if (next < counted) {
      T key = 0;
      copy_bytes(&key, Device::cpu(), keys + next, device(), sizeof(T));
      result.above = static_cast<double>(key);
    }
    return result;
  }

  /// Copies that finish before the verb returns.
  template <class V>
  static std::vector<V> fetched(const Array<V>& there) {
    const auto here = there.to(Device::cpu());
    return {here.begin(), here.end()};
  }

  void sum_rows(Block& one, std::span<const std::vector<double>> w, SvmSums& sums) {
    const auto d = static_cast<std::size_t>(this->weights());
    const auto tasks = one.tables.size();
    std::vector<T> lanes(d * gpu::warp, T(0));
    gpu::Costs<T> costs{};
    costs.tasks = static_cast<int>(tasks);
    for (std::size_t t = 0; t < tasks; ++t) {
      for (std::size_t j = 0; j < d; ++j) lanes[j * gpu::warp + t] = static_cast<T>(w[t][j]);
      costs.codes[t] = codes_[static_cast<std::size_t>(one.parts[t])].data();
      costs.table[t] = one.tables[t].data();
    }
    const auto weights = Array<T>::copy_of(lanes, device());
    const std::size_t each = (d + 1) * gpu::warp * sizeof(double);
    const std::size_t fixed = d * gpu::warp * sizeof(T);
    const auto warps = std::clamp<std::size_t>(((96 << 10) - std::min<std::size_t>(fixed, 64 << 10)) / each, 1, 8);
    const auto blocks = std::clamp<std::int64_t>(this->rows() / 512, 1, most_blocks);
    Array<double> partial(blocks * static_cast<std::int64_t>((d + 1) * gpu::warp), device());
    Array<double> total(static_cast<std::int64_t>((d + 1) * gpu::warp), device());
    gpu::pass_rows<T>
        <<<static_cast<unsigned>(blocks), static_cast<unsigned>(warps * gpu::warp), warps * each + fixed, stream_>>>(
            rows_view(), costs, weights.data(), one.support.data(), changed_.data(), partial.data());
    cuda::check_launch("pass_rows");
    cuda::add_parts(partial.data(), static_cast<int>(blocks), total.size(), total.data(), stream_);
    stream_.synchronize();
    const auto here = fetched(total);
    for (std::size_t t = 0; t < tasks; ++t) {
      sums.losses[t] = here[d * gpu::warp + t];
      for (std::size_t j = 0; j < d; ++j) sums.gradients[t * d + j] = here[j * gpu::warp + t];
    }
  }

  std::size_t hessian_bytes(int tasks) const {
    const auto d = static_cast<std::size_t>(this->weights());
    return (static_cast<std::size_t>(tasks) * (d * (d + 1) / 2 + 1) + gpu::staged_rows * d) * sizeof(double);
  }

  /// Tasks whose Hessians a block of threads has room for.
  int tasks_together(int tasks) const {
    while (tasks > 1 && hessian_bytes(tasks) > most_shared / 2) tasks = (tasks + 1) / 2;
    return tasks;
  }

  void sum_hessians(Block& one, int first, int tasks, SvmSums& sums, std::span<double> hessians) {
    const auto d = static_cast<std::size_t>(this->weights());
    const std::size_t size = d * (d + 1) / 2 + 1;
    const auto blocks = std::clamp<std::int64_t>(this->rows() / 2048, 1, most_blocks / 2);
    Array<double> partial(blocks * static_cast<std::int64_t>(static_cast<std::size_t>(tasks) * size), device());
    Array<double> total(static_cast<std::int64_t>(static_cast<std::size_t>(tasks) * size), device());
    gpu::update_hessians<T><<<static_cast<unsigned>(blocks), gpu::row_threads, hessian_bytes(tasks), stream_>>>(
        rows_view(), changed_.data(), one.support.data(), one.label_costs.data(), first, tasks, partial.data());
    cuda::check_launch("update_hessians");
    cuda::add_parts(partial.data(), static_cast<int>(blocks), total.size(), total.data(), stream_);
    stream_.synchronize();
    const auto here = fetched(total);
    for (std::size_t k = 0; k < static_cast<std::size_t>(tasks); ++k) {
      const std::size_t t = static_cast<std::size_t>(first) + k;
      const double* from = here.data() + k * size;
      sums.switched[t] = std::llround(from[size - 1]);
      for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b <= a; ++b) hessians[(t * d + a) * d + b] += from[a * (a + 1) / 2 + b];
    }
  }

  const Context& context_;
  cuda::Current current_;
  cuda::Stream stream_;
  Array<T> x_;
  Array<std::int8_t> labels_;
  std::vector<Array<std::uint16_t>> codes_;  // of each training part
  std::vector<Block> blocks_;
  Array<std::uint32_t> changed_;  // of the last pass
  Array<T> keys_[2];
  Array<std::uint8_t> kinds_[2];
  Array<std::uint8_t> sort_memory_;
  Array<unsigned long long> totals_;
};

}  // namespace

template <class T>
std::unique_ptr<RescoreOps<T>> make_cuda_rescore_ops(const Context& context, const DenseMatrix<T>& x,
                                                     std::span<const std::int8_t> labels) {
  return std::make_unique<CudaRescore<T>>(context, x, labels);
}

template std::unique_ptr<RescoreOps<float>> make_cuda_rescore_ops(const Context&, const DenseMatrix<float>&,
                                                                  std::span<const std::int8_t>);
template std::unique_ptr<RescoreOps<double>> make_cuda_rescore_ops(const Context&, const DenseMatrix<double>&,
                                                                   std::span<const std::int8_t>);

}  // namespace sheaf::rescore
