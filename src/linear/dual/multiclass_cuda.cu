// The verbs of Crammer and Singer's multi-class SVM on one NVIDIA GPU: every block of models has a block of threads.
#include <algorithm>
#include <vector>

#include "cuda/check.cuh"
#include "linear/dual/multiclass_kernels_cuda.cuh"
#include "linear/dual/tables.hpp"

namespace sheaf::linear::dual {
namespace {

/// Columns of a block of models; many classes have blocks of one model.
constexpr std::int32_t most_columns = 128;
/// Parts of the rows that are measured at once.
constexpr int measured_parts = 256;

template <class T>
struct Memory {
  Array<T> w, a, costs, z, steps;
  Array<std::uint32_t> active;
  std::int32_t models = 0;  // that are trained; others are padding

  gpu::MultiClassBlock<T> view() { return {w.data(), a.data(), costs.data(), active.data(), z.data(), steps.data()}; }
};

template <class T>
class CudaMultiClassOps final : public DualOps<T> {
 public:
  CudaMultiClassOps(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, T bias)
      : device_(context.device()),
        x_(dataset.by_rows(context.device())),
        sheaf_(sheaf),
        layout_(multiclass_layout(sheaf.target_columns,
                                  static_cast<std::int32_t>(sheaf.tasks.size()) / sheaf.target_columns, most_columns,
                                  gpu::warp)),
        bias_(bias),
        seed_(context.seed()),
        order_(shuffled_rows(context.seed(), dataset.rows()).to(device_)),
        squares_(squared_lengths(dataset.x, bias, context.threads()).to(device_)),
        classes_here_(classes_of(sheaf)),
        classes_(Array<std::int32_t>::copy_of(classes_here_, device_)) {}

  std::int32_t width() const override { return layout_.models; }
  bool together() const override { return true; }
  bool moves_out() const override { return false; }
  std::int64_t block_bytes() const override {
    const auto size = static_cast<std::int64_t>(sizeof(T));
    return size * layout_.stride * (weights() + rows(x_) + 2) +
           layout_.models * rows(x_) * (size + 4 * std::int64_t{layout_.words()});
  }
  std::int64_t data_bytes() const override {
    return matrix_bytes(x_) + order_.bytes() + squares_.bytes() + classes_.bytes();
  }

  void reserve(std::int32_t blocks) override { blocks_.resize(static_cast<std::size_t>(blocks)); }

  void start(std::int32_t block, std::span<const Task> tasks, std::span<Start> starts) override {
    const auto current = here();
    auto& memory = at(block);
    memory.models = static_cast<std::int32_t>(tasks.size()) / layout_.classes;
    memory.w = Array<T>::zeros(weights() * layout_.stride, device_);
    memory.a = Array<T>::zeros(rows(x_) * layout_.stride, device_);
    memory.costs = Array<T>::copy_of(multiclass_costs<T>(sheaf_, classes_here_, layout_, tasks, starts), device_);
    memory.active = Array<std::uint32_t>::zeros(rows(x_) * layout_.models * layout_.words(), device_);
    memory.z = Array<T>::zeros(layout_.stride, device_);
    memory.steps = Array<T>::zeros(layout_.stride, device_);
    take_back(block, std::vector<std::uint8_t>(static_cast<std::size_t>(layout_.models), 1));
  }

  void take_back(std::int32_t block, std::span<const std::uint8_t> models) override {
    const auto current = here();
    const std::int64_t entries = rows(x_) * layout_.models;
    if (entries == 0) return;
    const auto flags = Array<std::int32_t>::copy_of(std::vector<std::int32_t>(models.begin(), models.end()), device_);
    constexpr unsigned threads = gpu::warp * gpu::warps;
    gpu::multiclass_take_back_kernel<T>
        <<<static_cast<unsigned>((entries + threads - 1) / threads), threads, 0, stream_>>>(
            layout_, rows(x_), flags.data(), at(block).view());
    cuda::check_launch("take_back");
    stream_.synchronize();
  }

  void pass(std::span<const std::int32_t> blocks, std::int64_t pass, bool gaps, std::span<const PassBounds> bounds,
            std::span<PassSums> sums) override {
    const auto current = here();
    const RowOrder order = draw_order(seed_, pass, rows(x_));
    std::vector<gpu::MultiClassBlock<T>> views;
    for (const std::int32_t block : blocks) views.push_back(at(block).view());
    std::vector<std::int32_t> visited;
    for (const auto& bound : bounds) visited.push_back(bound.visited ? 1 : 0);
    const auto going = Array<gpu::MultiClassBlock<T>>::copy_of(views, device_);
    const auto asked = Array<std::int32_t>::copy_of(visited, device_);
    auto found = Array<gpu::FoundSums>::zeros(static_cast<std::int64_t>(sums.size()), device_);
    gpu::with_rows(x_, [&](auto x) {
      gpu::multiclass_pass_kernel<T><<<static_cast<unsigned>(blocks.size()), dim3(gpu::warp, gpu::warps), 0, stream_>>>(
          x, squares_.data(), bias_, classes_.data(), order_.data(), order, gaps, layout_, going.data(), asked.data(),
          found.data());
    });
    cuda::check_launch("pass over rows");
    stream_.synchronize();
    gpu::fetch(found, sums);
  }

  void move_out(std::int32_t /*block*/, std::int32_t /*model*/, std::int32_t /*alone*/) override {
    throw InternalError("a multi-class model was to leave its block");
  }

  void measure(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> decisions,
               std::span<Measure> measures) override {
    const auto current = here();
    const auto places = Array<std::int32_t>::copy_of(columns, device_);
    Array<gpu::PartialMeasure> partial(std::int64_t{measured_parts} * layout_.models, device_);
    gpu::with_rows(x_, [&](auto x) {
      gpu::multiclass_measure_kernel<T><<<measured_parts, dim3(gpu::warp, gpu::warps), 0, stream_>>>(
          x, rows(x_), bias_, classes_.data(), layout_, at(block).view(), places.data(), decisions.data,
          decisions.stride, partial.data());
    });
    cuda::check_launch("measure");
    stream_.synchronize();
    gpu::fetch(partial, layout_.models, measures);
  }

  void copy_weights(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> weights) override {
    const auto& memory = at(block);
    const auto w = memory.w.to(Device::cpu());
    for (std::int64_t j = 0; j < weights.rows; ++j)
      for (std::int32_t m = 0; m < memory.models; ++m)
        for (std::int32_t c = 0; c < layout_.classes; ++c)
          if (const auto column = columns[static_cast<std::size_t>(m)]; column >= 0)
            weights.data[j * weights.stride + column + c] = w[j * layout_.stride + layout_.column(m, c)];
  }

  void release(std::int32_t block) override { at(block) = Memory<T>{}; }

 private:
  cuda::Current here() const { return cuda::Current(device_.index); }
  Memory<T>& at(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }
  std::int64_t weights() const { return columns(x_) + (bias_ > 0 ? 1 : 0); }

  Device device_;
  const Matrix<T>& x_;
  const Sheaf& sheaf_;
  MultiClassLayout layout_;
  T bias_;
  std::uint64_t seed_;
  cuda::Stream stream_;
  Array<std::int32_t> order_;
  Array<T> squares_;
  std::vector<std::int32_t> classes_here_;
  Array<std::int32_t> classes_;
  std::vector<Memory<T>> blocks_;
};

}  // namespace

template <class T>
std::unique_ptr<DualOps<T>> make_cuda_multiclass_ops(const Context& context, const Dataset<T>& dataset,
                                                     const Sheaf& sheaf, T bias) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaMultiClassOps<T>>(context, dataset, sheaf, bias);
}

template std::unique_ptr<DualOps<float>> make_cuda_multiclass_ops(const Context&, const Dataset<float>&, const Sheaf&,
                                                                  float);
template std::unique_ptr<DualOps<double>> make_cuda_multiclass_ops(const Context&, const Dataset<double>&, const Sheaf&,
                                                                   double);

}  // namespace sheaf::linear::dual
