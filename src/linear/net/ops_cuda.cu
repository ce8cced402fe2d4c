// The verbs of elastic nets on one NVIDIA GPU: a block of threads trains one model, its residuals on chip.
#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/check.cuh"
#include "cuda/stop_flag.cuh"
#include "linear/net/cuda/columns_cuda.cuh"
#include "linear/net/cuda/solve_cuda.cuh"
#include "linear/net/ops.hpp"

namespace sheaf::linear {
namespace {

constexpr int threads_1d = 256;
unsigned blocks_1d(std::int64_t size) { return static_cast<unsigned>((size + threads_1d - 1) / threads_1d); }

/// Entries of a column up to which a warp is the right team.
constexpr std::int64_t short_column = 256;

template <class T>
class CudaNetOps final : public NetOps<T> {
 public:
  CudaNetOps(const Context& context, const Dataset<T>& dataset)
      : device_(context.device()),
        rows_(dataset.rows()),
        features_(dataset.features()),
        threads_(context.threads()),
        stop_(context.stop()),
        columns_(context, dataset, stream_) {
    cuda::check(cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_.index),
                "asking for shared memory");
  }

  void load_tables(const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
                   std::span<const double> totals) override {
    const auto current = here();
    weights_ = Array<float>::copy_of(sheaf.row_weights, device_);
    targets_ = converted<T, double>(sheaf.targets, threads_).to(device_);
    row_offsets_ = converted<T, double>(sheaf.offsets, threads_).to(device_);
    factors_ = converted<T, double>(sheaf.penalty_factors, threads_).to(device_);
    limits_ = limits_of<T>(sheaf, features_).to(device_);
    classes_ = sheaf.classes;
    group_ = params.grouped ? classes_ : 1;
    const std::int32_t columns = sheaf.weight_columns;
    const std::int64_t size = features_ * columns;
    means_ = Array<T>(size, device_);
    variances_ = Array<T>(size, device_);
    units_ = units_of<T>(sheaf, params, features_).to(device_);
    first_ = first_task(sheaf, params, weights_.data(), targets_, factors_, means_, variances_);
    if (limits_.size() > 0) first_.limits = limits_.data();
    if (units_.size() > 0) first_.units = units_.data();
    if (row_offsets_.size() > 0) first_.offsets = row_offsets_.data();
    risk_ = RiskArrays<T>(risk, columns, device_);
    if (!risk.order.empty()) first_.risk = risk_.sets();
    T* deviations = params.standardise ? units_.data() : nullptr;
    const auto sums = Array<double>::copy_of(totals, device_);
    if (size == 0) return;
    columns_.in_parts([&](Range range) {
      const std::int64_t here = (range.end - range.begin) * columns;
      columns_.with([&](auto x) {
        gpu::moments<T><<<blocks_1d(here * 32), threads_1d, 0, stream_>>>(x, range.begin, range.end, weights_.data(),
                                                                          columns, sums.data(), means_.data(),
                                                                          variances_.data(), deviations);
      });
      cuda::check_launch("moments");
      stream_.synchronize();
    });
  }

  void normalisers(BlockView<T> means, BlockView<T> scales) override {
    const auto current = here();
    if (features_ == 0) return;
    for (std::int32_t c = 0; c < means.tasks; ++c) {
      gpu::normalise_features<T><<<blocks_1d(features_), threads_1d, 0, stream_>>>(
          first_.of({.rows = c, .total = 1}), features_, means.data + c, means.stride, scales.data + c, scales.stride);
      cuda::check_launch("normalise_features");
    }
    stream_.synchronize();
  }

  void choose_models(std::span<const ActiveModel> models) override {
    const auto current = here();
    std::vector<ModelTask<T>> tasks;
    for (const ActiveModel& model : models) tasks.push_back(first_.of(model));
    models_ = static_cast<std::int32_t>(tasks.size());
    upload(std::span<const ModelTask<T>>(tasks), tasks_);
  }

  void feature_sums(const NetBlocks<T>& blocks, Wanted /*wanted*/, std::span<FeatureSums> out) override {
    const auto current = here();
    if (features_ == 0 || models_ == 0) return std::fill(out.begin(), out.end(), FeatureSums{});
    const std::int32_t models = models_ / group_;
    const auto [parts, part_length] = feature_parts(models);
    grow(partial_, static_cast<std::int64_t>(parts) * models);
    grow(sums_, models);
    gpu::sum_features<T><<<grid(parts, models), dim3(gpu::across_models, gpu::along_rows), 0, stream_>>>(
        tasks_.data(), models, group_, blocks.g.data, blocks.w.data, blocks.w.stride, features_, part_length,
        partial_.data());
    cuda::check_launch("sum_features");
    gpu::join_features<<<blocks_1d(models), threads_1d, 0, stream_>>>(partial_.data(), parts, models, sums_.data());
    cuda::check_launch("join_features");
    fetch(sums_, out);
  }

  void dual_values(Loss loss, const NetBlocks<T>& blocks, std::span<const double> scales,
                   std::span<double> out) override {
    const auto current = here();
    if (models_ == 0) return;
    upload(scales, scales_);
    grow(doubles_, models_);
    with_net_loss(loss, [&](auto functor) {
      using Functor = decltype(functor);
      if constexpr (is_cox<Functor>)
        find_cox_duals(blocks);
      else
        gpu::sum_dual_values<Functor, T><<<blocks_1d(std::int64_t{32} * models_), threads_1d, 0, stream_>>>(
            tasks_.data(), models_, blocks.u.data, blocks.u.stride, scales_.data(), doubles_.data());
    });
    cuda::check_launch("sum_dual_values");
    fetch(doubles_, out);
  }

  void choose_features(const NetBlocks<T>& blocks, std::span<const FeatureChoice> choices,
                       std::span<std::int32_t> sizes) override {
    const auto current = here();
    upload(choices, choices_);
    const auto count = static_cast<std::int32_t>(choices.size());
    const gpu::ChoiceView<T> view{tasks_.data(),   choices_.data(), count,    blocks.g.data, blocks.w.data,
                                  blocks.w.stride, features_,       classes_, group_};
    const auto [parts, part_length] = feature_parts(count);
    counts_ = Array<std::int32_t>::zeros(static_cast<std::int64_t>(count) * ratio_buckets, device_);
    constexpr std::size_t bytes = sizeof(std::int32_t) * gpu::across_models * ratio_buckets;
    gpu::count_buckets<T><<<grid(parts, count), dim3(gpu::across_models, gpu::along_rows), bytes, stream_>>>(
        view, part_length, counts_.data());
    cuda::check_launch("count_buckets");
    grow(lowest_, count);
    gpu::find_lowest<<<blocks_1d(count), threads_1d, 0, stream_>>>(counts_.data(), choices_.data(), count,
                                                                   lowest_.data());
    cuda::check_launch("find_lowest");
    const std::int64_t chunks = (features_ + gpu::list_chunk - 1) / gpu::list_chunk;
    grow(places_, chunks * count);
    grow(sizes_, count);
    const auto all = blocks_1d(chunks * count);
    gpu::list_features<T><<<all, threads_1d, 0, stream_>>>(view, lowest_.data(), chunks, places_.data(), nullptr);
    cuda::check_launch("list_features");
    gpu::add_chunks<<<blocks_1d(count), threads_1d, 0, stream_>>>(places_.data(), chunks, count, sizes_.data());
    cuda::check_launch("add_chunks");
    fetch(sizes_, sizes);
    set_offsets_.assign(1, 0);
    set_models_.clear();
    std::vector<std::int32_t> offsets;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      offsets.push_back(static_cast<std::int32_t>(set_offsets_.back()));
      set_offsets_.push_back(set_offsets_.back() + sizes[c]);
      set_models_.push_back(choices[c].model);
    }
    require(set_offsets_.back() < INT32_MAX, "working sets have too many features in all");
    upload(std::span<const std::int32_t>(offsets), offsets_);
    grow(lists_, set_offsets_.back());
    gpu::move_places<<<all, threads_1d, 0, stream_>>>(places_.data(), chunks, count, offsets_.data());
    cuda::check_launch("move_places");
    gpu::list_features<T><<<all, threads_1d, 0, stream_>>>(view, lowest_.data(), chunks, places_.data(), lists_.data());
    cuda::check_launch("list_features");
    stream_.synchronize();
  }

  void solve(Loss loss, const NetBlocks<T>& blocks, std::span<const SolveOrder> orders, std::span<double> intercepts,
             std::span<SolveReport> out) override {
    const auto current = here();
    upload(std::span<const double>(intercepts), intercepts_);
    grow(numbers_, static_cast<std::int64_t>(intercepts.size()) * class_numbers);
    with_net_fit(loss, group_ > 1, [&](auto functor) { solve_jobs<decltype(functor)>(blocks, orders); });
    fetch(intercepts_, intercepts);
    fetch(reports_, out);
  }

 private:
  cuda::Current here() const { return cuda::Current(device_.index); }

  /// Runs of jobs whose working sets fit the GPU together: all, if X does.
  std::vector<Range> solvable_parts(std::int64_t count) {
    if (columns_.resident()) return {{0, count}};
    host_lists_.resize(static_cast<std::size_t>(set_offsets_.back()));
    fetch(lists_, std::span(host_lists_));
    std::vector<Range> parts;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(features_), -1);  // the part that has a feature already
    std::int64_t taken = 0;
    for (std::int64_t o = 0; o < count; ++o) {
      const auto needed = [&] {
        std::int64_t bytes = 0;
        for (const auto j : list_of(o))
          if (seen[static_cast<std::size_t>(j)] != static_cast<std::int64_t>(parts.size())) bytes += columns_.bytes(j);
        return bytes;
      };
      std::int64_t more = needed();
      if (parts.empty() || taken + more > columns_.room()) {
        parts.push_back({o, o});
        taken = 0;
        more = needed();  // more than there is room for: its columns are read from CPU memory
      }
      for (const auto j : list_of(o)) seen[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(parts.size());
      taken += more;
      parts.back().end = o + 1;
    }
    return parts;
  }
  std::span<const std::int32_t> list_of(std::int64_t order) const {
    const auto at = static_cast<std::size_t>(order);
    return std::span(host_lists_)
        .subspan(static_cast<std::size_t>(set_offsets_[at]),
                 static_cast<std::size_t>(set_offsets_[at + 1] - set_offsets_[at]));
  }
  void bring(const Range& part) {
    if (columns_.resident()) return;
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(features_), 0);
    for (std::int64_t o = part.begin; o < part.end; ++o)
      for (const auto j : list_of(o)) wanted[static_cast<std::size_t>(j)] = 1;
    std::vector<std::int32_t> some;
    for (std::size_t j = 0; j < wanted.size(); ++j)
      if (wanted[j] != 0) some.push_back(static_cast<std::int32_t>(j));
    columns_.bring(some);
  }

  /// Some models at a time, for each has vectors over the rows.
  void find_cox_duals(const NetBlocks<T>& blocks) {
    constexpr std::int32_t together = 256;
    grow(likelihoods_, std::min(together, models_) * rows_ * gpu::cox_vectors);
    for (std::int32_t first = 0; first < models_; first += together) {
      const auto some = static_cast<unsigned>(std::min(together, models_ - first));
      gpu::cox_dual_values<T><<<some, threads_1d, 0, stream_>>>(
          tasks_.data() + first, likelihoods_.data(), rows_, blocks.z.data + first, blocks.u.data + first,
          blocks.u.stride, scales_.data() + first, doubles_.data() + first);
      cuda::check_launch("cox_dual_values");
    }
  }

  template <class Functor>
  void solve_jobs(const NetBlocks<T>& blocks, std::span<const SolveOrder> orders) {
    std::vector<gpu::Job> jobs;
    std::int64_t of_systems = 0;
    for (std::size_t o = 0; o < orders.size(); ++o) {
      require(set_models_[o] == orders[o].model, "models are solved in the order of their working sets");
      const auto size = static_cast<std::int32_t>(set_offsets_[o + 1] - set_offsets_[o]);
      jobs.push_back({orders[o], size, set_offsets_[o], of_systems});
      if constexpr (gpu::needs_systems<Functor>) of_systems += SystemRoom::numbers(gpu::system_weights(size));
    }
    upload(std::span<const gpu::Job>(jobs), jobs_);
    const auto count = static_cast<std::int64_t>(jobs.size());
    using V = SolverValue<Functor, T>;
    constexpr auto width = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
    const std::int64_t rows_of_job = row_vectors<Functor>(classes_) * rows_ * width;
    grow(over_features_, set_offsets_.back() * feature_vectors(classes_) * width);
    grow(column_places_, set_offsets_.back());
    grow(active_, set_offsets_.back());
    grow(over_rows_, count * rows_of_job);
    grow(systems_, of_systems);
    grow(reports_, count);
    const std::int64_t on_chip = 2 * rows_ * static_cast<std::int64_t>(sizeof(V));
    const bool shared = on_chip + 1024 <= most_shared_;
    const gpu::JobMemory<T> memory{tasks_.data(),
                                   jobs_.data(),
                                   lists_.data(),
                                   over_features_.data(),
                                   column_places_.data(),
                                   active_.data(),
                                   over_rows_.data(),
                                   systems_.data(),
                                   rows_,
                                   shared,
                                   blocks.w.data,
                                   blocks.z.data,
                                   blocks.u.data,
                                   blocks.w.stride,
                                   classes_,
                                   intercepts_.data(),
                                   numbers_.data(),
                                   reports_.data(),
                                   stop_.get()};
    for (const Range& part : solvable_parts(count)) {
      gpu::JobMemory<T> some = memory;
      some.jobs += part.begin;
      some.reports += part.begin;
      some.over_rows += part.begin * rows_of_job;
      bring(part);
      const auto size = static_cast<unsigned>(part.end - part.begin);
      const auto bytes = shared ? static_cast<std::size_t>(on_chip) : 0;
      // The warps of a block update features at the same time.
      const bool alone = columns_.average() <= short_column && orders[0].rules.solver != NetSolver::shotgun;
      columns_.with([&](auto x) { gpu::launch_solver<Functor>(x, some, size, bytes, alone, stream_); });
      if (!columns_.resident()) stream_.synchronize();
    }
  }

  /// Parts of the features such that the GPU is full: their number and length.
  std::pair<int, std::int64_t> feature_parts(std::int32_t columns) const {
    constexpr std::int64_t blocks = 1024;
    const std::int64_t tiles = (columns + gpu::across_models - 1) / gpu::across_models;
    const std::int64_t wanted = std::max<std::int64_t>(1, blocks / tiles);
    const std::int64_t most = std::max<std::int64_t>(1, features_ / (4 * gpu::along_rows));
    const std::int64_t parts = std::min(wanted, most);
    return {static_cast<int>(parts), (features_ + parts - 1) / parts};
  }
  static dim3 grid(int parts, std::int32_t columns) {
    return {static_cast<unsigned>(parts),
            static_cast<unsigned>((columns + gpu::across_models - 1) / gpu::across_models)};
  }

  /// The copy has left pageable memory when the call returns.
  template <class V>
  void upload(std::span<const V> values, Array<V>& on_device) {
    grow(on_device, static_cast<std::int64_t>(values.size()));
    cuda::check(cudaMemcpyAsync(on_device.data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending what models do");
  }
  template <class V>
  void fetch(const Array<V>& from, std::span<V> to) {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), to.size_bytes(), cudaMemcpyDeviceToHost, stream_),
                "fetching what models did");
    stream_.synchronize();
  }
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size + size / 4, device_);
  }

  Device device_;
  std::int64_t rows_, features_;
  int threads_;
  int most_shared_ = 0;
  cuda::Stream stream_;
  cuda::StopFlag stop_;
  gpu::GpuColumns<T> columns_;
  std::vector<std::int32_t> host_lists_;
  std::int32_t models_ = 0;
  std::int32_t classes_ = 1;
  std::int32_t group_ = 1;  // how many of them share penalties
  Array<float> weights_;
  Array<T> targets_, row_offsets_, factors_, limits_, means_, variances_, units_;
  ModelTask<T> first_;  // of the first columns of the tables
  Array<ModelTask<T>> tasks_;
  Array<FeatureSums> partial_, sums_;
  RiskArrays<T> risk_;  // Cox
  Array<double> scales_, doubles_, intercepts_, numbers_, likelihoods_, systems_;
  Array<FeatureChoice> choices_;
  Array<std::int32_t> counts_, places_, sizes_, offsets_, lists_;
  Array<int> lowest_;
  std::vector<std::int64_t> set_offsets_;
  std::vector<std::int32_t> set_models_;
  Array<gpu::Job> jobs_;
  Array<T> over_features_, over_rows_;
  Array<ColumnPlace> column_places_;
  Array<std::int32_t> active_;
  Array<SolveReport> reports_;
};

}  // namespace

template <class T>
std::unique_ptr<NetOps<T>> make_cuda_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>&) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaNetOps<T>>(context, dataset);
}

template std::unique_ptr<NetOps<float>> make_cuda_net_ops(const Context&, const Dataset<float>&, LinearOps<float>&);
template std::unique_ptr<NetOps<double>> make_cuda_net_ops(const Context&, const Dataset<double>&, LinearOps<double>&);

}  // namespace sheaf::linear
