// The kernel verbs on one NVIDIA GPU. All work of one object runs in order on its own stream.
#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/check.cuh"
#include "kernel/choose_cuda.cuh"
#include "kernel/ops.hpp"
#include "kernel/rows_cuda.cuh"
#include "kernel/small_cuda.cuh"
#include "kernel/table.hpp"

namespace sheaf::kernel {
namespace {

/// One thread a variable. Twice as many as on the CPU: rounds cost a GPU more than steps do.
constexpr std::int32_t working_set = 1024;
constexpr std::int64_t slab_bytes = std::int64_t{1} << 30;
constexpr std::int64_t tile_bytes = std::int64_t{1} << 30;
constexpr int gradient_threads = 128;
constexpr std::int64_t most_grid_y = 65535;

/// CPU memory that the GPU's engine writes to while the CPU goes on.
template <class V>
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(data_); }
  V* at_least(std::size_t size) {
    if (size > size_) {
      cudaFreeHost(data_);
      data_ = nullptr;
      cuda::check(cudaMallocHost(&data_, size * sizeof(V)), "pinning memory");
      size_ = size;
    }
    return data_;
  }

 private:
  V* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class A>
class CudaOps final : public SvmOps {
 public:
  template <class T>
  CudaOps(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
          const KernelParams& kernel)
      : device_(context.device()),
        blas_(stream_),
        kernel_(kernel),
        rows_(kernel, context.device(), stream_, blas_),
        examples_(static_cast<std::int64_t>(order.size())) {
    stride_ = (examples_ + 31) / 32 * 32;
    slab_rows_ = std::max<std::int64_t>(1, slab_bytes / (stride_ * static_cast<std::int64_t>(sizeof(float))));
    if (kernel.type == KernelType::precomputed)
      precomputed_ = precomputed_table(dataset.x, order, context.threads());
    else
      table_ = gpu::take_rows<A>(dataset.x, dataset.by_rows(device_), order, context.memory() / 4, device_, stream_);
    stream_.synchronize();
  }

  std::int32_t working_set_size() const override { return working_set; }
  std::int64_t bytes_per_variable() const override { return 4 * sizeof(double) + 1; }

  void load_tasks(std::span<const TaskProblem> problems) override {
    const auto current = here();
    problems_ = problems;
    std::vector<gpu::DeviceTask> tasks;
    std::int64_t variables = 0;
    std::int64_t rows = 0;
    for (const TaskProblem& problem : problems) {
      const auto& [first, second] = problem.ranges;
      tasks.push_back({variables, rows, static_cast<std::int32_t>(problem.rows), problem.sides, problem.grouped ? 1 : 0,
                       static_cast<std::int32_t>(first.begin), static_cast<std::int32_t>(first.end - first.begin),
                       static_cast<std::int32_t>(second.begin), problem.tolerance});
      variables += problem.variables();
      rows += problem.rows;
    }
    tasks_ = Array<gpu::DeviceTask>::copy_of(tasks, device_);
    bounds_ = Array<double>(variables, device_);
    linear_ = Array<double>(variables, device_);
    beta_ = Array<double>(variables, device_);
    g_ = Array<double>::zeros(rows, device_);
    taken_ = Array<std::uint8_t>::zeros(variables, device_);
    for (std::size_t t = 0; t < problems.size(); ++t) {
      put(problems[t].bounds, bounds_.data() + tasks[t].variables_at);
      put(problems[t].linear, linear_.data() + tasks[t].variables_at);
      put(problems[t].start, beta_.data() + tasks[t].variables_at);
    }
    const auto count = static_cast<std::int64_t>(problems.size());
    sets_ = Array<std::int32_t>::zeros(count * working_set, device_);
    counts_ = Array<std::int32_t>::zeros(count, device_);
    whole_ = Array<std::uint8_t>::zeros(count, device_);
    violations_ = Array<double>::zeros(count, device_);
    steps_ = Array<std::int64_t>::zeros(count, device_);
    last_steps_.assign(problems.size(), 0);
    stream_.synchronize();
  }

  void compute_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                    Range against) override {
    const auto current = here();
    for (const std::int32_t slot : slots)
      while (static_cast<std::int64_t>(slabs_.size()) * slab_rows_ <= slot)
        slabs_.emplace_back(std::min(slab_rows_, examples_) * stride_, device_);
    if (kernel_.type == KernelType::precomputed) return copy_rows(positions, slots, against);
    std::vector<float*> rows;
    for (const std::int32_t slot : slots) rows.push_back(row_at(slot));
    rows_.compute(table_, against, table_, upload(positions, positions_), static_cast<std::int64_t>(positions.size()),
                  upload(std::span<float* const>(rows), row_pointers_));
  }

  void add_rows(std::int32_t task, std::span<const std::int32_t> slots, std::span<const double> factors) override {
    const auto current = here();
    std::vector<const float*> rows;
    for (const std::int32_t slot : slots) rows.push_back(row_at(slot));
    const auto count = static_cast<std::int32_t>(slots.size());
    const gpu::Changes changes{upload(std::span<const float* const>(rows), changed_rows_), upload(factors, factors_),
                               upload(std::span(&count, 1), changed_counts_)};
    add({&task, 1}, changes, count);
    stream_.synchronize();
  }

  void choose(std::span<const std::int32_t> tasks, std::int32_t size, std::span<WorkingSet> sets) override {
    const auto current = here();
    gpu::choose_sets<<<static_cast<unsigned>(tasks.size()), gpu::choose_threads, 0, stream_>>>(
        state(), upload(tasks, chosen_tasks_), size, most_kept(size));
    cuda::check_launch("choose_sets");
    const auto all = static_cast<std::size_t>(counts_.size());
    std::int32_t* host_sets = bring(sets_, host_sets_);
    std::int32_t* host_counts = bring(counts_, host_counts_);
    double* host_violations = bring(violations_, host_violations_);
    std::int64_t* host_steps = bring(steps_, host_steps_);
    stream_.synchronize();
    require(all == last_steps_.size(), "tasks were not loaded");
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const auto t = static_cast<std::size_t>(tasks[k]);
      const TaskProblem& problem = problems_[t];
      const std::int32_t* from = host_sets + t * static_cast<std::size_t>(working_set);
      sets[k].variables.assign(from, from + host_counts[t]);
      sets[k].positions.clear();
      for (const std::int32_t v : sets[k].variables)
        sets[k].positions.push_back(
            static_cast<std::int32_t>(problem.position(v < problem.rows ? v : v - problem.rows)));
      sets[k].violation = host_violations[t];
      sets[k].steps = host_steps[t] - last_steps_[t];
      last_steps_[t] = host_steps[t];
    }
  }

  void improve(std::span<const std::int32_t> tasks, std::span<const WorkingSet> sets) override {
    const auto current = here();
    const auto most = static_cast<std::size_t>(
        std::min(most_grid_y, tile_bytes / (std::int64_t{working_set} * working_set * std::int64_t{sizeof(float)})));
    for (std::size_t first = 0; first < tasks.size(); first += most) {
      const std::size_t count = std::min(most, tasks.size() - first);
      improve_some(tasks.subspan(first, count), sets.subspan(first, count));
    }
  }

  void fetch(std::int32_t task, std::vector<double>& beta, std::vector<double>& g) override {
    const auto current = here();
    stream_.synchronize();
    std::int64_t variables_at = 0;
    std::int64_t rows_at = 0;
    for (std::int32_t t = 0; t < task; ++t) {
      variables_at += problems_[static_cast<std::size_t>(t)].variables();
      rows_at += problems_[static_cast<std::size_t>(t)].rows;
    }
    const TaskProblem& problem = problems_[static_cast<std::size_t>(task)];
    beta.resize(static_cast<std::size_t>(problem.variables()));
    g.resize(static_cast<std::size_t>(problem.rows));
    copy_bytes(beta.data(), Device::cpu(), beta_.data() + variables_at, device_, problem.variables() * 8);
    copy_bytes(g.data(), Device::cpu(), g_.data() + rows_at, device_, problem.rows * 8);
  }

 private:
  cuda::Current here() const { return cuda::Current(device_.index); }

  gpu::DeviceState state() {
    return {tasks_.data(), bounds_.data(), linear_.data(), beta_.data(),       g_.data(),     taken_.data(),
            sets_.data(),  counts_.data(), whole_.data(),  violations_.data(), steps_.data(), working_set};
  }

  float* row_at(std::int32_t slot) {
    return slabs_[static_cast<std::size_t>(slot / slab_rows_)].data() + slot % slab_rows_ * stride_;
  }

  void copy_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots, Range against) {
    const auto& x = std::get<DenseMatrix<float>>(precomputed_.x);
    for (std::size_t k = 0; k < positions.size(); ++k)
      cuda::check(
          cudaMemcpyAsync(row_at(slots[k]) + against.begin, x.values.data() + positions[k] * x.columns + against.begin,
                          static_cast<std::size_t>(against.end - against.begin) * sizeof(float), cudaMemcpyHostToDevice,
                          stream_),
          "sending kernel rows");
  }

  void improve_some(std::span<const std::int32_t> tasks, std::span<const WorkingSet> sets) {
    const auto count = static_cast<std::int64_t>(tasks.size());
    std::vector<const float*> rows(static_cast<std::size_t>(count * working_set), nullptr);
    for (std::size_t k = 0; k < sets.size(); ++k)
      for (std::size_t l = 0; l < sets[k].slots.size(); ++l)
        rows[k * static_cast<std::size_t>(working_set) + l] = row_at(sets[k].slots[l]);
    const std::int32_t* on_device = upload(tasks, improved_tasks_);
    const float* const* set_rows = upload(std::span<const float* const>(rows), set_rows_);
    grow(tiles_, count * working_set * working_set);
    grow(changed_rows_, count * working_set);
    grow(factors_, count * working_set);
    grow(changed_counts_, count);
    const gpu::Changes changes{changed_rows_.data(), factors_.data(), changed_counts_.data()};
    constexpr int gather_threads = 256;
    const dim3 gather_blocks(working_set / (gather_threads / 32), static_cast<unsigned>(count));
    gpu::gather_tiles<<<gather_blocks, gather_threads, 0, stream_>>>(state(), on_device, set_rows, tiles_.data());
    cuda::check_launch("gather_tiles");
    gpu::solve_tasks<working_set><<<static_cast<unsigned>(count), working_set, 0, stream_>>>(
        state(), on_device, tiles_.data(), set_rows, 100 * working_set, changes);
    cuda::check_launch("solve_tasks");
    add(tasks, changes, working_set, on_device);
  }

  void add(std::span<const std::int32_t> tasks, const gpu::Changes& changes, std::int64_t stride,
           const std::int32_t* on_device = nullptr) {
    if (on_device == nullptr) on_device = upload(tasks, improved_tasks_);
    std::int64_t longest = 0;
    for (const std::int32_t task : tasks) longest = std::max(longest, problems_[static_cast<std::size_t>(task)].rows);
    const dim3 blocks(static_cast<unsigned>((longest + gradient_threads - 1) / gradient_threads),
                      static_cast<unsigned>(tasks.size()));
    gpu::add_changes<<<blocks, gradient_threads, 0, stream_>>>(state(), on_device, changes, stride);
    cuda::check_launch("add_changes");
  }

  /// The copy has left pageable memory when the call returns, so `values` may go.
  template <class V, class W>
  V* upload(std::span<W> values, Array<V>& on_device) {
    grow(on_device, static_cast<std::int64_t>(values.size()));
    cuda::check(cudaMemcpyAsync(on_device.data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending a list");
    return on_device.data();
  }
  void put(const std::vector<double>& from, double* to) {
    cuda::check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(double), cudaMemcpyHostToDevice, stream_),
                "sending a task");
  }
  template <class V>
  V* bring(const Array<V>& from, Pinned<V>& to) {
    V* host = to.at_least(static_cast<std::size_t>(from.size()));
    cuda::check(
        cudaMemcpyAsync(host, from.data(), static_cast<std::size_t>(from.bytes()), cudaMemcpyDeviceToHost, stream_),
        "fetching working sets");
    return host;
  }
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size, device_);
  }

  Device device_;
  cuda::Stream stream_;
  cuda::Blas blas_;
  KernelParams kernel_;
  gpu::KernelRows<A> rows_;
  std::int64_t examples_, stride_ = 0, slab_rows_ = 0;
  gpu::DeviceTable<A> table_;
  Table<float> precomputed_;
  std::vector<Array<float>> slabs_;
  std::span<const TaskProblem> problems_;
  Array<gpu::DeviceTask> tasks_;
  Array<double> bounds_, linear_, beta_, g_;
  Array<std::uint8_t> taken_, whole_;
  Array<std::int32_t> sets_, counts_;
  Array<double> violations_;
  Array<std::int64_t> steps_;
  std::vector<std::int64_t> last_steps_;
  Array<std::int32_t> chosen_tasks_, improved_tasks_, positions_, changed_counts_;
  Array<float*> row_pointers_;
  Array<const float*> set_rows_, changed_rows_;
  Array<double> factors_;
  Array<float> tiles_;
  Pinned<std::int32_t> host_sets_, host_counts_;
  Pinned<double> host_violations_;
  Pinned<std::int64_t> host_steps_;
};

/// Dense coefficients of some support vectors, machine-minor.
std::vector<double> dense_coefficients(const Coefficients& coefficients, Range vectors, std::int32_t machines) {
  std::vector<double> dense(static_cast<std::size_t>((vectors.end - vectors.begin) * machines), 0.0);
  for (std::int64_t s = vectors.begin; s < vectors.end; ++s)
    for (std::int64_t e = coefficients.offsets[static_cast<std::size_t>(s)];
         e < coefficients.offsets[static_cast<std::size_t>(s) + 1]; ++e)
      dense[static_cast<std::size_t>((s - vectors.begin) * machines +
                                     coefficients.machines[static_cast<std::size_t>(e)])] +=
          coefficients.values[static_cast<std::size_t>(e)];
  return dense;
}

std::vector<std::int32_t> all_rows(std::int64_t count) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Queries in blocks against all support vectors: kernel values in double, then one product with the coefficients.
template <class A, class T>
void decide(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
            std::span<const std::int32_t> support_rows, const Coefficients& coefficients, const Dataset<T>& queries,
            BlockView<double> decisions) {
  const Device device = context.device();
  const cuda::Stream stream;
  const cuda::Blas blas(stream);
  const auto everyone = all_rows(queries.rows());
  const auto table =
      gpu::take_rows<A>(support.x, support.by_rows(device), support_rows, context.memory() / 8, device, stream);
  const auto asked =
      gpu::take_rows<A>(queries.x, queries.by_rows(device), everyone, context.memory() / 8, device, stream);
  const auto numbers = Array<std::int32_t>::copy_of(everyone, device);
  gpu::KernelRows<A> rows(kernel, device, stream, blas);
  const std::int32_t machines = decisions.tasks;
  const std::int64_t vectors = std::min<std::int64_t>(
      table.rows, std::max<std::int64_t>(1024, (std::int64_t{256} << 20) / (std::int64_t{8} * machines)));
  const std::int64_t block = std::clamp<std::int64_t>((std::int64_t{512} << 20) / (8 * vectors), 1, queries.rows());
  Array<double> values(block * vectors, device);
  Array<double> sums(block * machines, device);
  std::vector<double> host(static_cast<std::size_t>(block) * static_cast<std::size_t>(machines));
  for (std::int64_t begin = 0; begin < table.rows; begin += vectors) {
    const Range part{begin, std::min(table.rows, begin + vectors)};
    const std::int64_t width = part.end - part.begin;
    const auto factors = Array<double>::copy_of(dense_coefficients(coefficients, part, machines), device);
    std::vector<double*> pointers;
    for (std::int64_t r = 0; r < block; ++r) pointers.push_back(values.data() + r * width - part.begin);
    const auto row_pointers = Array<double*>::copy_of(pointers, device);
    for (std::int64_t first = 0; first < queries.rows(); first += block) {
      const std::int64_t count = std::min(block, queries.rows() - first);
      rows.compute(table, part, asked, numbers.data() + first, count, row_pointers.data());
      const double one = 1;
      const double zero = 0;
      cuda::check(
          cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, machines, static_cast<int>(count), static_cast<int>(width), &one,
                      factors.data(), machines, values.data(), static_cast<int>(width), &zero, sums.data(), machines),
          "cublasDgemm");
      cuda::check(cudaMemcpyAsync(host.data(), sums.data(), static_cast<std::size_t>(count * machines) * sizeof(double),
                                  cudaMemcpyDeviceToHost, stream),
                  "fetching decisions");
      stream.synchronize();
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int32_t m = 0; m < machines; ++m)
          decisions.data[(first + i) * decisions.stride + m] += host[static_cast<std::size_t>(i * machines + m)];
    }
  }
}

}  // namespace

template <class T>
std::unique_ptr<SvmOps> make_cuda_ops(const Context& context, const Dataset<T>& dataset,
                                      std::span<const std::int32_t> order, const KernelParams& kernel) {
  const cuda::Current current(context.device().index);
  if (float_suffices(dataset.x, kernel, context.threads()))
    return std::make_unique<CudaOps<float>>(context, dataset, order, kernel);
  return std::make_unique<CudaOps<double>>(context, dataset, order, kernel);
}

template <class T>
void add_decisions_cuda(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                        std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                        const Dataset<T>& queries, BlockView<double> decisions) {
  // Precomputed values need no kernel: there is nothing for a GPU to do.
  if (kernel.type == KernelType::precomputed)
    return add_decisions_cpu(context, kernel, support, support_rows, coefficients, queries, decisions);
  const cuda::Current current(context.device().index);
  const int threads = context.threads();
  if (float_suffices(support.x, kernel, threads) && float_suffices(queries.x, kernel, threads))
    decide<float>(context, kernel, support, support_rows, coefficients, queries, decisions);
  else
    decide<double>(context, kernel, support, support_rows, coefficients, queries, decisions);
}

#define SHEAF_KERNEL_CUDA(T)                                                                                       \
  template std::unique_ptr<SvmOps> make_cuda_ops(const Context&, const Dataset<T>&, std::span<const std::int32_t>, \
                                                 const KernelParams&);                                             \
  template void add_decisions_cuda(const Context&, const KernelParams&, const Dataset<T>&,                         \
                                   std::span<const std::int32_t>, const Coefficients&, const Dataset<T>&,          \
                                   BlockView<double>);
SHEAF_KERNEL_CUDA(float)
SHEAF_KERNEL_CUDA(double)
#undef SHEAF_KERNEL_CUDA

}  // namespace sheaf::kernel
