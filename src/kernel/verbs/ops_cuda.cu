// The kernel verbs on one NVIDIA GPU. All work of one object runs in order on its own stream.
#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/check.cuh"
#include "cuda/staging.cuh"
#include "cuda/stop_flag.cuh"
#include "data/borrowed.hpp"
#include "kernel/values/rows_cuda.cuh"
#include "kernel/values/table.hpp"
#include "kernel/verbs/choose_cuda.cuh"
#include "kernel/verbs/full_pair_cuda.cuh"
#include "kernel/verbs/ops.hpp"
#include "kernel/verbs/working_set_cuda.cuh"

namespace sheaf::kernel {
namespace {

/// One thread per variable. Twice as many as on the CPU: on a GPU rounds cost more than steps.
constexpr std::int32_t working_set = 1024;
/// Kernel rows that are taken at once, and kernel values of the working sets that are solved at once: so many bytes at
/// most, and not more than a share of the memory.
constexpr std::int64_t most_slab_bytes = std::int64_t{1} << 30;
constexpr std::int64_t most_tile_bytes = std::int64_t{1} << 30;
constexpr std::int64_t memory_share = 16;
constexpr std::int64_t one_tile_bytes = std::int64_t{working_set} * working_set * std::int64_t{sizeof(float)};
constexpr std::int64_t streamed_bytes = std::int64_t{64} << 20;
constexpr int gradient_threads = 128;
constexpr std::int64_t most_grid_y = 65535;
/// Stored entries per row up to which pairs compute kernel values of their own: twice as many as all pairs together
/// need.
constexpr std::int64_t most_full_pair_entries = 1024;

template <class A>
class CudaOps final : public SvmOps {
 public:
  template <class T>
  CudaOps(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
          const KernelParams& kernel, std::span<const double> offsets, KeptRows* kept)
      : context_(context),
        device_(context.device()),
        stop_(context.stop()),
        blas_(stream_),
        kernel_(kernel),
        rows_(kernel, context.device(), context.memory() / memory_share, stream_, blas_),
        examples_(static_cast<std::int64_t>(order.size())),
        tile_bytes_(std::min(most_tile_bytes, std::max(one_tile_bytes, context.memory() / memory_share))) {
    stride_ = (examples_ + 31) / 32 * 32;
    slot_of_ = Array<std::int32_t>::zeros(examples_, device_);
    slab_rows_ = std::max<std::int64_t>(1, std::min(most_slab_bytes, context.memory() / memory_share) / row_bytes());
    if (kernel.type == KernelType::precomputed)
      precomputed_ = precomputed_table(dataset.x, order, context.threads());
    else if (matrix_bytes(dataset.x) > context.memory() / 3)
      on_host_ = kernel::take_rows<A>(dataset.x, order, kernel, kernel::dense_share, context.threads());
    else
      lay_out(dataset, order, kept);
    stream_.synchronize();
    if (!offsets.empty()) set_terms(std::vector<A>(offsets.begin(), offsets.end()));
  }

  std::int32_t working_set_size() const override { return working_set; }
  std::int64_t data_bytes() const override {
    const std::int64_t table = table_.dense.bytes() + table_.values.bytes() + table_.indices.bytes() +
                               table_.offsets.bytes() + table_.terms.bytes();
    return table + resident_bytes_ + tile_bytes_ + rows_.bytes() + slab_rows_ * row_bytes() +
           (on_host_.terms.size() > 0 ? 2 * streamed_bytes : 0);
  }
  std::int64_t bytes_per_variable() const override { return 4 * sizeof(double) + 1; }

  void load_tasks(const Problems& problems) override {
    const auto current = here();
    problems_ = problems.tasks;
    std::vector<gpu::DeviceTask> tasks;
    std::int64_t variables = 0;
    std::int64_t rows = 0;
    for (const TaskProblem& problem : problems_) {
      const auto& [first, second] = problem.ranges;
      tasks.push_back({variables, rows, static_cast<std::int32_t>(problem.rows), problem.sides, problem.grouped ? 1 : 0,
                       static_cast<std::int32_t>(first.begin), static_cast<std::int32_t>(first.end - first.begin),
                       static_cast<std::int32_t>(second.begin), problem.tolerance});
      variables += problem.variables();
      rows += problem.rows;
    }
    tasks_ = Array<gpu::DeviceTask>::copy_of(tasks, device_);
    bounds_ = problems.bounds.to(device_);
    linear_ = problems.linear.to(device_);
    beta_ = problems.start.size() > 0 ? problems.start.to(device_) : Array<double>::zeros(variables, device_);
    g_ = Array<double>::zeros(rows, device_);
    taken_ = Array<std::uint8_t>::zeros(variables, device_);
    const auto count = std::ssize(problems_);
    sets_ = Array<std::int32_t>::zeros(count * working_set, device_);
    counts_ = Array<std::int32_t>::zeros(count, device_);
    holds_all_ = Array<std::uint8_t>::zeros(count, device_);
    violations_ = Array<double>::zeros(count, device_);
    steps_ = Array<std::int64_t>::zeros(count, device_);
    last_steps_.assign(problems_.size(), 0);
    stream_.synchronize();
  }

  void compute_rows(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                    Range against) override {
    const auto current = here();
    for (const std::int32_t slot : slots)
      while (static_cast<std::int64_t>(slabs_.size()) * slab_rows_ <= slot) add_slab();
    const auto count = static_cast<std::int64_t>(positions.size());
    const std::int32_t* on_device = upload(positions, positions_);
    grow(row_pointers_, count);
    gpu::find_rows<<<gpu::row_blocks(count), gpu::row_threads, 0, stream_>>>(
        slots_view(), on_device, upload(slots, slots_), count, row_pointers_.data());
    cuda::check_launch("find_rows");
    if (kernel_.type == KernelType::precomputed)
      copy_rows(positions, slots, against);
    else if (on_host_.terms.size() > 0)
      stream_rows(positions, against);
    else
      rows_.compute(table_, against, table_, on_device, count, row_pointers_.data(), against.begin);
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

  KernelCounts solve_full_pairs(std::span<const std::int32_t> tasks, std::int64_t most_steps,
                                const ReportViolation& report) override {
    KernelCounts counts;
    if (table_.rows == 0 || stored_entries() > most_full_pair_entries * table_.rows) return counts;
    const auto current = here();
    const auto problem_of = [&](std::int32_t task) -> const TaskProblem& {
      return problems_[static_cast<std::size_t>(task)];
    };
    const auto pairs = group_small_pairs(tasks, tasks.size(), problem_of);
    for (std::size_t first = 0; first < pairs.size();) {
      const auto count = first_pairs_that_fit(std::span(pairs).subspan(first));
      solve_some_pairs(std::span(pairs).subspan(first, count), most_steps, report);
      first += count;
    }
    for (const auto& pair : pairs) {
      const std::int64_t rows = problem_of(pair.front()).rows;
      counts.computed += rows * rows;
      counts.unshared += rows * rows * std::ssize(pair);
    }
    return counts;
  }

  void choose(std::span<const std::int32_t> tasks, std::int32_t size, std::span<WorkingSet> sets) override {
    const auto current = here();
    gpu::choose_sets<<<static_cast<unsigned>(tasks.size()), gpu::choose_threads, 0, stream_>>>(
        state(), upload(tasks, chosen_tasks_), size, most_kept(size));
    cuda::check_launch("choose_sets");
    const auto all = static_cast<std::size_t>(counts_.size());
    std::int32_t* host_counts = bring(counts_, host_counts_);
    double* host_violations = bring(violations_, host_violations_);
    std::int64_t* host_steps = bring(steps_, host_steps_);
    stream_.synchronize();
    const bool some = std::any_of(tasks.begin(), tasks.end(), [&](std::int32_t t) { return host_counts[t] > 0; });
    const std::int32_t* host_sets = some ? bring(sets_, host_sets_) : nullptr;
    if (some) stream_.synchronize();
    require(all == last_steps_.size(), "tasks were not loaded");
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const auto t = static_cast<std::size_t>(tasks[k]);
      const TaskProblem& problem = problems_[t];
      sets[k].variables.clear();
      if (host_counts[t] > 0)
        sets[k].variables.assign(host_sets + t * std::size_t{working_set},
                                 host_sets + t * std::size_t{working_set} + host_counts[t]);
      sets[k].positions.clear();
      for (const std::int32_t v : sets[k].variables)
        sets[k].positions.push_back(
            static_cast<std::int32_t>(problem.position(v < problem.rows ? v : v - problem.rows)));
      sets[k].violation = host_violations[t];
      sets[k].steps = host_steps[t] - last_steps_[t];
      last_steps_[t] = host_steps[t];
    }
  }

  /// The slots of the sets are already stored here since their rows were computed.
  void improve(std::span<const std::int32_t> tasks, std::span<const WorkingSet>, std::int64_t most_steps) override {
    const auto current = here();
    const auto most = static_cast<std::size_t>(std::min(most_grid_y, tile_bytes_ / one_tile_bytes));
    for (std::size_t first = 0; first < tasks.size(); first += most) {
      context_.check_stop();
      const std::size_t count = std::min(most, tasks.size() - first);
      improve_some(tasks.subspan(first, count), std::min<std::int64_t>(most_steps, 100 * working_set));
    }
  }

  void fetch(Array<double>& beta, Array<double>& g) override {
    const auto current = here();
    stream_.synchronize();
    beta = beta_.to(Device::cpu());
    g = g_.to(Device::cpu());
  }

  void write_decisions(std::span<const DecisionColumn> columns, std::span<const std::int32_t> order,
                       BlockView<double> decisions) override {
    const auto current = here();
    const auto terms = Array<DecisionColumn>::copy_of(columns, device_);
    const auto rows = Array<std::int32_t>::copy_of(order, device_);
    std::int64_t longest = 0;
    for (const TaskProblem& problem : problems_) longest = std::max(longest, problem.rows);
    for (std::int64_t first = 0; first < std::ssize(columns); first += most_grid_y) {
      const dim3 blocks(static_cast<unsigned>((longest + gradient_threads - 1) / gradient_threads),
                        static_cast<unsigned>(std::min(most_grid_y, std::ssize(columns) - first)));
      gpu::write_decisions<<<blocks, gradient_threads, 0, stream_>>>(state(), first, terms.data(), rows.data(),
                                                                     decisions);
      cuda::check_launch("write_decisions");
    }
    stream_.synchronize();
  }

 private:
  cuda::Current here() const { return cuda::Current(device_.index); }

  std::int64_t row_bytes() const { return stride_ * static_cast<std::int64_t>(sizeof(float)); }

  gpu::DeviceState state() {
    return {tasks_.data(), bounds_.data(), linear_.data(),    beta_.data(),       g_.data(),     taken_.data(),
            sets_.data(),  counts_.data(), holds_all_.data(), violations_.data(), steps_.data(), working_set};
  }

  gpu::Slots slots_view() { return {slab_pointers_.data(), slot_of_.data(), slab_rows_, stride_}; }

  /// The table borrows rows that are kept; its terms are its own once set_terms() gives it others.
  template <class T>
  void lay_out(const Dataset<T>& dataset, std::span<const std::int32_t> order, KeptRows* kept) {
    KeptRows own;
    const auto rows = (kept != nullptr ? kept : &own)->get<gpu::DeviceTable<A>>(order, 0, [&] {
      auto table = gpu::take_rows<A>(dataset.x, dataset.by_rows(device_), order, kernel_, context_.memory() / 4,
                                     device_, stream_);
      stream_.synchronize();
      return table;
    });
    resident_bytes_ = matrix_bytes(dataset.x);
    table_ = {rows->rows,
              rows->columns,
              rows->is_dense,
              borrowed(rows->dense),
              borrowed(rows->offsets),
              borrowed(rows->indices),
              borrowed(rows->values),
              borrowed(rows->terms)};
    kept_ = rows;
  }

  void add_slab() {
    slabs_.emplace_back(std::min(slab_rows_, examples_) * stride_, device_);
    std::vector<float*> pointers;
    for (Array<float>& slab : slabs_) pointers.push_back(slab.data());
    slab_pointers_ = Array<float*>::copy_of(pointers, device_);
  }

  float* row_at(std::int32_t slot) {
    return slabs_[static_cast<std::size_t>(slot / slab_rows_)].data() + slot % slab_rows_ * stride_;
  }

  void set_terms(const std::vector<A>& terms) {
    if (on_host_.terms.size() > 0)
      std::copy(terms.begin(), terms.end(), on_host_.terms.data());
    else
      table_.terms = Array<A>::copy_of(terms, device_);
  }

  /// Rows that do not fit into the GPU's memory are sent in tiles.
  void stream_rows(std::span<const std::int32_t> positions, Range against) {
    const std::int64_t width =
        std::max<std::int64_t>(1, matrix_bytes(on_host_.x) / std::max<std::int64_t>(1, examples_));
    const std::int64_t tile = std::max<std::int64_t>(1, streamed_bytes / width);
    std::vector<std::int32_t> numbers;
    Table<A> asked = take_rows<A>(on_host_.x, positions, kernel_, is_sparse(on_host_.x) ? 2.0 : 0.0, 1);
    for (std::size_t k = 0; k < positions.size(); ++k)
      asked.terms[static_cast<std::int64_t>(k)] = on_host_.terms[positions[k]];
    const auto lanes = gpu::upload_rows(asked, {0, static_cast<std::int64_t>(positions.size())}, device_);
    for (std::size_t k = 0; k < positions.size(); ++k) numbers.push_back(static_cast<std::int32_t>(k));
    const auto on_device = Array<std::int32_t>::copy_of(numbers, device_);
    for (std::int64_t begin = against.begin; begin < against.end; begin += tile) {
      context_.check_stop();
      const Range part{begin, std::min(against.end, begin + tile)};
      const auto here = gpu::upload_rows(on_host_, part, device_);
      rows_.compute(here, {0, part.end - part.begin}, lanes, on_device.data(),
                    static_cast<std::int64_t>(positions.size()), row_pointers_.data(), begin);
      stream_.synchronize();
    }
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

  std::int64_t stored_entries() const { return table_.is_dense ? table_.rows * table_.columns : table_.indices.size(); }

  /// Floats of the kernel matrix of a pair.
  std::int64_t tile_of_pair(const std::vector<std::int32_t>& pair) const {
    const std::int64_t rows = problems_[static_cast<std::size_t>(pair.front())].rows;
    return rows * gpu::pair_stride(rows);
  }

  /// How many of the first pairs fit into the memory for tiles.
  std::size_t first_pairs_that_fit(std::span<const std::vector<std::int32_t>> pairs) const {
    std::int64_t bytes = 0;
    std::size_t count = 0;
    while (count < pairs.size() && static_cast<std::int64_t>(count) < most_grid_y) {
      bytes += tile_of_pair(pairs[count]) * std::int64_t{sizeof(float)};
      if (count > 0 && bytes > tile_bytes_) break;
      ++count;
    }
    return count;
  }

  /// Solves all tasks of some pairs, in launches of a few milliseconds, so that progress moves; few tasks are left
  /// after the first.
  void solve_some_pairs(std::span<const std::vector<std::int32_t>> pairs, std::int64_t most_steps,
                        const ReportViolation& report) {
    std::vector<gpu::PairTask> left;
    std::vector<gpu::PairTask> firsts;  // of each pair
    std::int64_t size = 0;
    std::int64_t longest = 0;
    for (const auto& pair : pairs) {
      firsts.push_back({pair.front(), size});
      for (const std::int32_t task : pair) left.push_back({task, size});
      size += tile_of_pair(pair);
      longest = std::max(longest, problems_[static_cast<std::size_t>(pair.front())].rows);
    }
    grow(tiles_, size);
    fill_pairs(firsts, longest);
    for (std::int64_t steps = 0; !left.empty() && steps < most_steps;) {
      context_.check_stop();
      const std::int64_t most = std::min(most_steps - steps, gpu::pair_steps_between_stops);
      gpu::with_pair_solver(longest, [&](auto* solver) {
        solver<<<static_cast<unsigned>(left.size()), gpu::pair_threads,
                 static_cast<std::size_t>(gpu::pair_bytes(longest)), stream_>>>(
            state(), upload(std::span<const gpu::PairTask>(left), pair_tasks_), tiles_.data(), most, stop_.get());
        cuda::check_launch("solve_pairs");
      });
      const double* violations = bring(violations_, host_violations_);
      const std::int64_t* taken = bring(steps_, host_steps_);
      stream_.synchronize();
      steps += most;
      std::erase_if(left, [&](const gpu::PairTask& task) {
        report(task.task, violations[task.task]);
        return taken[task.task] < steps;
      });
    }
  }

  /// Computes the kernel matrices of pairs of at most `longest` rows.
  void fill_pairs(std::span<const gpu::PairTask> pairs, std::int64_t longest) {
    const auto count = std::ssize(pairs);
    grow(positions_, count * longest);
    grow(row_pointers_, count * longest);
    const dim3 blocks(static_cast<unsigned>((longest + gradient_threads - 1) / gradient_threads),
                      static_cast<unsigned>(count));
    gpu::place_pairs<<<blocks, gradient_threads, 0, stream_>>>(tasks_.data(), upload(pairs, pair_tasks_), tiles_.data(),
                                                               longest, positions_.data(), row_pointers_.data());
    cuda::check_launch("place_pairs");
    for (std::int64_t k = 0; k < count; ++k) {
      const TaskProblem& problem = problems_[static_cast<std::size_t>(pairs[static_cast<std::size_t>(k)].task)];
      std::int64_t to = 0;
      for (const Range& range : problem.ranges) {
        rows_.compute(table_, range, table_, positions_.data() + k * longest, problem.rows,
                      row_pointers_.data() + k * longest, to);
        to += range.end - range.begin;
      }
    }
  }

  void improve_some(std::span<const std::int32_t> tasks, std::int64_t most_steps) {
    const auto count = static_cast<std::int64_t>(tasks.size());
    const std::int32_t* on_device = upload(tasks, improved_tasks_);
    grow(tiles_, count * working_set * working_set);
    grow(changed_rows_, count * working_set);
    grow(factors_, count * working_set);
    grow(changed_counts_, count);
    const gpu::Changes changes{changed_rows_.data(), factors_.data(), changed_counts_.data()};
    constexpr int gather_threads = 256;
    const dim3 gather_blocks(working_set / (gather_threads / 32), static_cast<unsigned>(count));
    gpu::gather_tiles<<<gather_blocks, gather_threads, 0, stream_>>>(state(), slots_view(), on_device, tiles_.data());
    cuda::check_launch("gather_tiles");
    gpu::solve_tasks<working_set><<<static_cast<unsigned>(count), working_set, 0, stream_>>>(
        state(), slots_view(), on_device, tiles_.data(), most_steps, changes, stop_.get());
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
  template <class V>
  V* bring(const Array<V>& from, cuda::Staging& to) {
    V* host = to.room<V>(static_cast<std::size_t>(from.size()));
    cuda::check(
        cudaMemcpyAsync(host, from.data(), static_cast<std::size_t>(from.bytes()), cudaMemcpyDeviceToHost, stream_),
        "fetching working sets");
    return host;
  }
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size, device_);
  }

  Context context_;
  Device device_;
  cuda::StopFlag stop_;
  cuda::Stream stream_;
  cuda::Blas blas_;
  KernelParams kernel_;
  gpu::KernelRows<A> rows_;
  std::int64_t examples_, tile_bytes_, stride_ = 0, slab_rows_ = 0;
  std::int64_t resident_bytes_ = 0;   // of the dataset's own copy, from which rows were laid out
  std::shared_ptr<const void> kept_;  // owns what table_ borrows
  gpu::DeviceTable<A> table_;
  Table<A> on_host_;  // rows that do not fit into the GPU's memory
  Table<float> precomputed_;
  std::vector<Array<float>> slabs_;
  std::span<const TaskProblem> problems_;
  Array<gpu::DeviceTask> tasks_;
  Array<double> bounds_, linear_, beta_, g_;
  Array<std::uint8_t> taken_, holds_all_;
  Array<std::int32_t> sets_, counts_;
  Array<double> violations_;
  Array<std::int64_t> steps_;
  std::vector<std::int64_t> last_steps_;
  Array<std::int32_t> chosen_tasks_, improved_tasks_, positions_, changed_counts_;
  Array<float*> row_pointers_;
  Array<float*> slab_pointers_;
  Array<std::int32_t> slot_of_, slots_;
  Array<const float*> changed_rows_;
  Array<double> factors_;
  Array<float> tiles_;
  Array<gpu::PairTask> pair_tasks_;
  cuda::Staging host_sets_, host_counts_, host_violations_, host_steps_;
};

}  // namespace

template <class T>
std::unique_ptr<SvmOps> make_cuda_ops(const Context& context, const Dataset<T>& dataset,
                                      std::span<const std::int32_t> order, const KernelParams& kernel,
                                      std::span<const double> offsets, KeptRows* kept) {
  const cuda::Current current(context.device().index);
  if (float_suffices(dataset.x, kernel, context.threads()))
    return std::make_unique<CudaOps<float>>(context, dataset, order, kernel, offsets, kept);
  return std::make_unique<CudaOps<double>>(context, dataset, order, kernel, offsets, kept);
}

template std::unique_ptr<SvmOps> make_cuda_ops(const Context&, const Dataset<float>&, std::span<const std::int32_t>,
                                               const KernelParams&, std::span<const double>, KeptRows*);
template std::unique_ptr<SvmOps> make_cuda_ops(const Context&, const Dataset<double>&, std::span<const std::int32_t>,
                                               const KernelParams&, std::span<const double>, KeptRows*);

}  // namespace sheaf::kernel
