// The linear verbs on one NVIDIA GPU. All work of one object runs in order on its own stream.
#include <vector>

#include "cuda/check.cuh"
#include "cuda/reduce.cuh"
#include "linear/dense_cuda.cuh"
#include "linear/elements_cuda.cuh"
#include "linear/ops.hpp"
#include "linear/sparse_cuda.cuh"

namespace sheaf::linear {
namespace {

constexpr int element_threads = 256;

unsigned element_blocks(std::int64_t size) {
  return static_cast<unsigned>((size + element_threads - 1) / element_threads);
}

int processors_of(int index) {
  int count = 0;
  cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, index), "counting multiprocessors");
  return count;
}

template <class T>
class CudaOps final : public LinearOps<T> {
 public:
  CudaOps(const Context& context, const Dataset<T>& dataset, T bias)
      : LinearOps<T>(context.device(), dataset.rows(), dataset.features(), bias),
        blas_(stream_),
        processors_(processors_of(context.device().index)),
        x_(dataset.resident(context.device(), context.threads())) {
    if (x_.columns_first == nullptr) return;
    by_rows_ = gpu::plan_segments(std::get<SparseMatrix<T>>(*x_.rows_first).offsets, this->device());
    by_columns_ = gpu::plan_segments(x_.columns_first->offsets, this->device());
  }

  void multiply(BlockView<const T> w, BlockView<T> z) override {
    const auto current = here();
    if (const auto* sparse = std::get_if<SparseMatrix<T>>(x_.rows_first))
      gpu::SparseProduct<false, T>(*sparse, by_rows_, partial_, stream_)(w, z);
    else
      dense().multiply(w, z);
    if (!this->has_bias() || z.rows == 0) return;
    const std::int64_t size = z.rows * z.stride;
    gpu::add_bias<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        this->bias(), w.data + this->features() * w.stride, z.data, size, z.stride);
    cuda::check_launch("add_bias");
  }

  void multiply_transposed(BlockView<const T> z, BlockView<T> g) override { transposed<false>(z, g); }
  void multiply_squared_transposed(BlockView<const T> d, BlockView<T> h) override { transposed<true>(d, h); }

  void load_tables(const Sheaf& sheaf) override {
    const auto current = here();
    require(sheaf.examples == this->examples(), "a sheaf was made for another dataset");
    tables_.weight_columns = sheaf.weight_columns;
    tables_.target_columns = sheaf.target_columns;
    row_weights_ = Array<float>::copy_of(sheaf.row_weights, this->device());
    const std::vector<T> targets(sheaf.targets.begin(), sheaf.targets.end());
    targets_ = Array<T>::copy_of(targets, this->device());
    tables_.row_weights = row_weights_.data();
    tables_.targets = targets_.data();
  }

  void choose_tasks(std::span<const Task> tasks) override {
    const auto current = here();
    std::vector<gpu::TaskColumn<T>> columns;
    for (const Task& task : tasks)
      columns.push_back({task.rows, task.target, static_cast<T>(task.cost_positive), static_cast<T>(task.cost_negative),
                         static_cast<T>(task.epsilon)});
    columns.resize(static_cast<std::size_t>(block_stride(static_cast<std::int32_t>(tasks.size()))));
    synchronize();
    tasks_ = Array<gpu::TaskColumn<T>>::copy_of(columns, this->device());
    tables_.tasks = tasks_.data();
  }

  void losses(Loss loss, BlockView<const T> z, std::span<double> values, BlockView<T> slopes,
              BlockView<T> curvatures) override {
    const auto current = here();
    sum(z.rows, z.stride, [&](unsigned blocks, int across, double* partial) {
      with_loss(loss, [&](auto functor) {
        gpu::loss_rows<decltype(functor), T><<<blocks, gpu::sum_threads, 0, stream_>>>(
            z.data, z.rows, z.stride, across, tables_, slopes.data, curvatures.data, partial);
      });
    });
    fetch_sums(values);
  }

  void dot(BlockView<const T> a, BlockView<const T> b, std::span<double> out) override {
    const auto current = here();
    sum(a.rows, a.stride, [&](unsigned blocks, int across, double* partial) {
      gpu::dot_rows<T><<<blocks, gpu::sum_threads, 0, stream_>>>(a.data, b.data, a.rows, a.stride, across, partial);
    });
    fetch_sums(out);
  }

  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
               BlockView<T> b) override {
    const auto current = here();
    std::vector<T> factors(2 * static_cast<std::size_t>(a.stride), T(0));
    for (std::size_t t = 0; t < alpha.size(); ++t) {
      factors[t] = static_cast<T>(alpha[t]);
      factors[static_cast<std::size_t>(a.stride) + t] = static_cast<T>(beta[t]);
    }
    const T* on_device = upload(factors, factors_);
    const std::int64_t size = a.rows * a.stride;
    if (size == 0) return;
    gpu::combine_elements<T><<<element_blocks(size), element_threads, 0, stream_>>>(on_device, a.data, b.data, size, a.stride);
    cuda::check_launch("combine_elements");
  }

  void multiply_elements(BlockView<const T> a, BlockView<const T> b, BlockView<T> c) override {
    const auto current = here();
    const std::int64_t size = a.rows * a.stride;
    if (size == 0) return;
    gpu::multiply_pairs<T><<<element_blocks(size), element_threads, 0, stream_>>>(a.data, b.data, c.data, size);
    cuda::check_launch("multiply_pairs");
  }

  void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) override {
    const auto current = here();
    const std::int32_t* on_device = upload(std::vector<std::int32_t>(keep.begin(), keep.end()), keep_);
    const std::int64_t size = to.rows * to.stride;
    if (size == 0) return;
    gpu::keep_columns<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        from.data, from.stride, on_device, static_cast<int>(keep.size()), to.data, to.stride, size);
    cuda::check_launch("keep_columns");
  }

  void synchronize() override { stream_.synchronize(); }

 private:
  /// Launches go to the current GPU: every verb makes this one current first.
  cuda::Current here() const { return cuda::Current(this->device().index); }

  gpu::DenseProduct<T> dense() {
    return {std::get<DenseMatrix<T>>(*x_.rows_first), partial_, stream_, blas_, processors_};
  }

  template <bool Squares>
  void transposed(BlockView<const T> z, BlockView<T> g) {
    const auto current = here();
    if (x_.columns_first != nullptr) gpu::SparseProduct<Squares, T>(*x_.columns_first, by_columns_, partial_, stream_)(z, g);
    else dense().template transposed<Squares>(z, g);
    if (!this->has_bias()) return;
    sum(z.rows, z.stride, [&](unsigned blocks, int across, double* partial) {
      gpu::sum_columns<T><<<blocks, gpu::sum_threads, 0, stream_>>>(z.data, z.rows, z.stride, across, partial);
    });
    const auto factor = static_cast<double>(Squares ? this->bias() * this->bias() : this->bias());
    gpu::scale_sums<T><<<element_blocks(g.stride), element_threads, 0, stream_>>>(
        sums_.data(), factor, g.data + this->features() * g.stride, g.stride);
    cuda::check_launch("scale_sums");
  }

  /// Runs `launch(blocks, across, partial)` and adds the blocks' sums into sums_.
  template <class Launch>
  void sum(std::int64_t rows, std::int32_t stride, Launch&& launch) {
    int across = 1;
    while (across < stride && across < 64) across *= 2;
    const std::int64_t lanes = gpu::sum_threads / across;
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::int64_t>((rows + lanes * 8 - 1) / (lanes * 8), 1, gpu::most_sum_blocks));
    grow(sum_parts_, static_cast<std::int64_t>(blocks) * stride);
    grow(sums_, stride);
    launch(blocks, across, sum_parts_.data());
    cuda::check_launch("a sum over rows");
    cuda::add_parts(sum_parts_.data(), static_cast<int>(blocks), stride, sums_.data(), stream_);
  }

  void fetch_sums(std::span<double> out) {
    cuda::check(cudaMemcpyAsync(out.data(), sums_.data(), out.size_bytes(), cudaMemcpyDeviceToHost, stream_), "fetching sums");
    synchronize();
  }

  /// Small per-task vectors. The copy has left pageable memory when the call returns, so `values` may go.
  template <class V>
  const V* upload(const std::vector<V>& values, Array<V>& on_device) {
    grow(on_device, static_cast<std::int64_t>(values.size()));
    cuda::check(cudaMemcpyAsync(on_device.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream_),
                "sending factors");
    return on_device.data();
  }

  /// Grown memory is new memory: work in flight may still use the old, and freeing waits for it.
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size, this->device());
  }

  cuda::Stream stream_;
  cuda::Blas blas_;
  int processors_;
  Resident<T> x_;
  gpu::SegmentPlan by_rows_, by_columns_;
  Array<T> partial_;
  Array<double> sum_parts_, sums_;
  Array<T> factors_;
  Array<std::int32_t> keep_;
  Array<float> row_weights_;
  Array<T> targets_;
  Array<gpu::TaskColumn<T>> tasks_;
  gpu::Tables<T> tables_{};
};

}  // namespace

template <class T>
std::unique_ptr<LinearOps<T>> make_cuda_ops(const Context& context, const Dataset<T>& dataset, T bias) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaOps<T>>(context, dataset, bias);
}

template std::unique_ptr<LinearOps<float>> make_cuda_ops(const Context&, const Dataset<float>&, float);
template std::unique_ptr<LinearOps<double>> make_cuda_ops(const Context&, const Dataset<double>&, double);

}  // namespace sheaf::linear
