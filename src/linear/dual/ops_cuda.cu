// The verbs of dual coordinate descent on one NVIDIA GPU: every block of models has a block of threads of its own.
#include <algorithm>
#include <vector>

#include "cuda/check.cuh"
#include "linear/dual/kernels_cuda.cuh"
#include "linear/dual/ops.hpp"
#include "linear/dual/tables.hpp"

namespace sheaf::linear::dual {
namespace {

/// Parts of the rows that are measured at once.
constexpr int measured_parts = 256;

template <class T>
struct Memory {
  Array<T> w, b, epsilons;
  BlockTables<T> tables;
  Array<std::uint32_t> active;
  std::size_t tasks = 0;

  gpu::BlockMemory<T> view() {
    return {w.data(), b.data(), tables.costs.data(), tables.targets.data(), epsilons.data(), active.data()};
  }
};

template <class T>
class CudaDualOps final : public DualOps<T> {
 public:
  CudaDualOps(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, Loss loss, T bias)
      : device_(context.device()),
        x_(dataset.by_rows(context.device())),
        sheaf_(sheaf),
        loss_(loss),
        bias_(bias),
        seed_(context.seed()),
        order_(shuffled_rows(context.seed(), dataset.rows()).to(device_)),
        squares_(squared_lengths(dataset.x, bias, context.threads()).to(device_)) {}

  std::int32_t width() const override { return gpu::models; }
  bool together() const override { return true; }
  bool moves_out() const override { return false; }
  std::int64_t block_bytes() const override {
    const std::int64_t arrays = is_regression(loss_) ? 3 : 2;
    return gpu::models * static_cast<std::int64_t>(sizeof(T)) * (weights() + arrays * rows(x_)) + 4 * rows(x_);
  }
  std::int64_t data_bytes() const override { return matrix_bytes(x_) + order_.bytes() + squares_.bytes(); }

  void reserve(std::int32_t blocks) override { blocks_.resize(static_cast<std::size_t>(blocks)); }

  void start(std::int32_t block, std::span<const Task> tasks, std::span<Start> starts) override {
    const auto current = here();
    auto& memory = blocks_[static_cast<std::size_t>(block)];
    memory.tasks = tasks.size();
    memory.w = Array<T>::zeros(weights() * gpu::models, device_);
    memory.b = Array<T>::zeros(rows(x_) * gpu::models, device_);
    memory.active = Array<std::uint32_t>::zeros(rows(x_), device_);
    with_dual(loss_, [&](auto functor) {
      auto tables = fill_tables<decltype(functor), T>(sheaf_, tasks, gpu::models, starts);
      memory.tables = {tables.costs.to(device_), tables.targets.to(device_)};
    });
    std::vector<T> epsilons(gpu::models, T(0));
    for (std::size_t t = 0; t < tasks.size(); ++t) epsilons[t] = static_cast<T>(tasks[t].loss_parameter);
    memory.epsilons = Array<T>::copy_of(epsilons, device_);
    take_back(block, std::vector<std::uint8_t>(gpu::models, 1));
  }

  void take_back(std::int32_t block, std::span<const std::uint8_t> models) override {
    const auto current = here();
    auto& memory = blocks_[static_cast<std::size_t>(block)];
    std::uint32_t flags = 0;
    for (int m = 0; m < gpu::models; ++m) flags |= models[static_cast<std::size_t>(m)] != 0 ? 1U << m : 0U;
    if (rows(x_) == 0) return;
    const auto parts = static_cast<unsigned>((rows(x_) + gpu::teams - 1) / gpu::teams);
    gpu::take_back_kernel<T><<<parts, dim3(gpu::models, gpu::teams), 0, stream_>>>(memory.tables.costs.data(), rows(x_),
                                                                                   flags, memory.active.data());
    cuda::check_launch("take_back");
  }

  void pass(std::span<const std::int32_t> blocks, std::int64_t pass, bool gaps, std::span<const PassBounds> bounds,
            std::span<PassSums> sums) override {
    const auto current = here();
    const RowOrder order = draw_order(seed_, pass, rows(x_));
    std::vector<gpu::BlockMemory<T>> views;
    for (const std::int32_t block : blocks) views.push_back(blocks_[static_cast<std::size_t>(block)].view());
    std::vector<gpu::ModelPass<T>> asked;
    for (const auto& bound : bounds)
      asked.push_back({static_cast<T>(bound.upper), static_cast<T>(bound.lower), bound.visited ? 1 : 0});
    const auto going = Array<gpu::BlockMemory<T>>::copy_of(views, device_);
    const auto passes = Array<gpu::ModelPass<T>>::copy_of(asked, device_);
    Array<gpu::FoundSums> found(static_cast<std::int64_t>(sums.size()), device_);
    with_rows([&](auto x, auto functor) {
      gpu::pass_kernel<decltype(functor), T>
          <<<static_cast<unsigned>(blocks.size()), dim3(gpu::models, gpu::teams), 0, stream_>>>(
              x, squares_.data(), bias_, order_.data(), order, gaps, going.data(), passes.data(), found.data());
    });
    cuda::check_launch("pass over rows");
    stream_.synchronize();
    gpu::fetch(found, sums);
  }

  void move_out(std::int32_t /*block*/, std::int32_t /*model*/, std::int32_t /*alone*/) override {
    throw InternalError("a model was to leave its block on a GPU");
  }

  void measure(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> decisions,
               std::span<Measure> measures) override {
    const auto current = here();
    auto& memory = blocks_[static_cast<std::size_t>(block)];
    const auto places = Array<std::int32_t>::copy_of(columns, device_);
    Array<gpu::PartialMeasure> partial(std::int64_t{measured_parts} * gpu::models, device_);
    with_rows([&](auto x, auto functor) {
      gpu::measure_kernel<decltype(functor), T><<<measured_parts, dim3(gpu::models, gpu::teams), 0, stream_>>>(
          x, rows(x_), bias_, memory.view(), places.data(), decisions.data, decisions.stride, partial.data());
    });
    cuda::check_launch("measure");
    stream_.synchronize();
    gpu::fetch(partial, gpu::models, measures);
  }

  void copy_weights(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> weights) override {
    const auto& memory = blocks_[static_cast<std::size_t>(block)];
    const auto w = memory.w.to(Device::cpu());
    for (std::int64_t j = 0; j < weights.rows; ++j)
      for (std::size_t t = 0; t < memory.tasks; ++t)
        if (columns[t] >= 0)
          weights.data[j * weights.stride + columns[t]] = w[j * gpu::models + static_cast<std::int64_t>(t)];
  }

  void release(std::int32_t block) override { blocks_[static_cast<std::size_t>(block)] = Memory<T>{}; }

 private:
  cuda::Current here() const { return cuda::Current(device_.index); }
  std::int64_t weights() const { return columns(x_) + (bias_ > 0 ? 1 : 0); }

  /// Calls f(rows, functor).
  template <class F>
  void with_rows(const F& f) const {
    with_dual(loss_, [&](auto functor) { gpu::with_rows(x_, [&](auto x) { f(x, functor); }); });
  }

  Device device_;
  const Matrix<T>& x_;
  const Sheaf& sheaf_;
  Loss loss_;
  T bias_;
  std::uint64_t seed_;
  cuda::Stream stream_;
  Array<std::int32_t> order_;
  Array<T> squares_;
  std::vector<Memory<T>> blocks_;
};

}  // namespace

template <class T>
std::unique_ptr<DualOps<T>> make_cuda_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                               Loss loss, T bias) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaDualOps<T>>(context, dataset, sheaf, loss, bias);
}

template std::unique_ptr<DualOps<float>> make_cuda_dual_ops(const Context&, const Dataset<float>&, const Sheaf&, Loss,
                                                            float);
template std::unique_ptr<DualOps<double>> make_cuda_dual_ops(const Context&, const Dataset<double>&, const Sheaf&, Loss,
                                                             double);

}  // namespace sheaf::linear::dual
