// Decision values on one NVIDIA GPU: queries in blocks against parts of the support vectors, kernel values in double,
// then one product with the coefficients; dense rows of few features under few SVMs in one kernel. Datasets that do not
// fit come in parts from CPU memory.
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "cuda/check.cuh"
#include "kernel/values/rows_cuda.cuh"
#include "kernel/values/table.hpp"
#include "kernel/verbs/decide_cuda.cuh"
#include "kernel/verbs/ops.hpp"

namespace sheaf::kernel {
namespace {

constexpr std::int64_t most_coefficient_bytes = std::int64_t{256} << 20;
constexpr std::int64_t most_value_bytes = std::int64_t{512} << 20;
/// Products of one launch of sum_narrow_decisions: about a fifth of a second on an H200.
constexpr std::int64_t most_products = std::int64_t{1} << 42;

constexpr int add_threads = 256;
constexpr std::int64_t most_blocks = 65535;

/// Adds factor * values, of which those of query k begin at k * step, to the decisions of its row.
__global__ void add_to_decisions(const double* values, std::int64_t step, double factor, const std::int32_t* rows,
                                 std::int64_t count, BlockView<double> decisions) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < count * decisions.tasks;
       e += stride) {
    const std::int64_t k = e / decisions.tasks;
    const std::int64_t m = e % decisions.tasks;
    decisions.data[rows[k] * std::int64_t{decisions.stride} + m] += factor * values[k * step + m];
  }
}

/// dense[s][svms[e]] += values[e] for the entries of vectors s = 0, 1 ...; a warp takes a vector. `offsets` begin at
/// that of the first entry.
__global__ void scatter_coefficients(const std::int64_t* offsets, const std::int32_t* svms, const double* values,
                                     std::int64_t vectors, std::int32_t count, double* dense) {
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (s >= vectors) return;
  for (std::int64_t e = offsets[s] + threadIdx.x % 32; e < offsets[s + 1]; e += 32)
    atomicAdd(dense + s * count + svms[e - offsets[0]], values[e - offsets[0]]);
}

/// Dense coefficients of some support vectors: vectors x SVMs.
Array<double> dense_coefficients(const Coefficients& coefficients, Range vectors, std::int32_t svms, Device device,
                                 cudaStream_t stream) {
  const std::int64_t count = vectors.end - vectors.begin;
  const auto offsets = std::span(coefficients.offsets)
                           .subspan(static_cast<std::size_t>(vectors.begin), static_cast<std::size_t>(count + 1));
  const auto entries = [&](const auto& all) {
    return std::span(all).subspan(static_cast<std::size_t>(offsets.front()),
                                  static_cast<std::size_t>(offsets.back() - offsets.front()));
  };
  const auto on_device = Array<std::int64_t>::copy_of(offsets, device);
  const auto numbers = Array<std::int32_t>::copy_of(entries(coefficients.svms), device);
  const auto values = Array<double>::copy_of(entries(coefficients.values), device);
  auto dense = Array<double>::zeros(count * svms, device);
  if (count > 0) {
    scatter_coefficients<<<gpu::row_blocks(count), gpu::row_threads, 0, stream>>>(
        on_device.data(), numbers.data(), values.data(), count, svms, dense.data());
    cuda::check_launch("scatter_coefficients");
  }
  return dense;
}

/// Some rows of a dataset: from the copy on the GPU if it fits `room`, else from CPU memory.
template <class A, class T>
gpu::DeviceTable<A> bring(const Context& context, const KernelParams& kernel, const Dataset<T>& dataset,
                          std::span<const std::int32_t> rows, std::int64_t room, cudaStream_t stream) {
  const Device device = context.device();
  if (matrix_bytes(dataset.x) <= room)
    return gpu::take_rows<A>(dataset.x, dataset.by_rows(device), rows, kernel, room, device, stream);
  const auto here = take_rows<A>(dataset.x, rows, kernel, dense_share, context.threads());
  return gpu::upload_rows(here, {0, static_cast<std::int64_t>(rows.size())}, device);
}

/// How many rows at a time: all that fit, or as many as take `room` bytes.
template <class T>
std::int64_t rows_at_once(const Dataset<T>& dataset, std::int64_t wanted, std::int64_t room) {
  const std::int64_t bytes = matrix_bytes(dataset.x);
  if (bytes <= room || wanted == 0) return wanted;
  return std::clamp<std::int64_t>(room / std::max<std::int64_t>(1, bytes / dataset.rows()) / 2, 1, wanted);
}

template <class A, class T>
class Decider {
 public:
  Decider(const Context& context, const KernelParams& kernel, const Queries<T>& queries, BlockView<double> decisions)
      : context_(context),
        kernel_(kernel),
        room_(context.memory() / 8),
        queries_(queries),
        decisions_(decisions),
        blas_(stream_),
        rows_(kernel, context.device(), room_, stream_, blas_),
        query_rows_(Array<std::int32_t>::copy_of(queries.rows, context.device())),
        places_(queries.rows.size()) {
    std::iota(places_.begin(), places_.end(), 0);
  }

  void decide(const Dataset<T>& support, std::span<const std::int32_t> support_rows, const Coefficients& coefficients) {
    const auto vectors = static_cast<std::int64_t>(support_rows.size());
    if (!coefficients.rhos.empty()) subtract(coefficients.rhos);
    const std::int64_t dense =
        std::max<std::int64_t>(1024, std::min(most_coefficient_bytes, room_) / (8 * std::int64_t{decisions_.tasks}));
    const std::int64_t most = std::min({vectors, dense, rows_at_once(support, vectors, room_)});
    for (std::int64_t begin = 0; begin < vectors; begin += most) {
      const Range part{begin, std::min(vectors, begin + most)};
      const auto table =
          bring<A>(context_, kernel_, support,
                   support_rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(part.end - begin)),
                   room_, stream_);
      const auto factors = dense_coefficients(coefficients, part, decisions_.tasks, context_.device(), stream_);
      against(table, factors);
    }
  }

 private:
  /// All queries against one part of the support vectors.
  void against(const gpu::DeviceTable<A>& table, const Array<double>& factors) {
    const std::int64_t queries = query_rows_.size();
    const std::int64_t chunk = rows_at_once(queries_.dataset, queries, room_);
    for (std::int64_t begin = 0; begin < queries; begin += chunk) {
      context_.check_stop();
      const std::int64_t here = std::min(chunk, queries - begin);
      const auto asked = bring<A>(
          context_, kernel_, queries_.dataset,
          queries_.rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(here)), room_, stream_);
      if (!at_once(table, asked, factors, begin)) in_blocks(table, asked, factors, begin);
    }
  }

  /// Dense rows of few features under few SVMs: kernel values are used where they are computed. Returns false for
  /// others.
  bool at_once(const gpu::DeviceTable<A>& table, const gpu::DeviceTable<A>& asked, const Array<double>& factors,
               std::int64_t begin) {
    if constexpr (std::is_same_v<A, float>) {
      if (!table.is_dense || !asked.is_dense || table.columns != asked.columns || table.columns > gpu::narrow<A> ||
          decisions_.tasks > gpu::summed_svms)
        return false;
      const std::int64_t block = rows_of_a_launch(asked, table);
      Array<double> sums(block * decisions_.tasks, context_.device());
      for (std::int64_t first = 0; first < asked.rows; first += block) {
        context_.check_stop();
        const std::int64_t count = std::min(block, asked.rows - first);
        sum_at_once(table, asked, first, count, factors, sums);
        add(sums, begin + first, count);
      }
      return true;
    } else {
      return false;
    }
  }

  static std::int64_t rows_of_a_launch(const gpu::DeviceTable<A>& asked, const gpu::DeviceTable<A>& table) {
    const std::int64_t each = std::max<std::int64_t>(1, table.rows * table.columns);
    const std::int64_t blocks = std::max<std::int64_t>(1, most_products / each / gpu::narrow_rows);
    return std::min(asked.rows, blocks * gpu::narrow_rows);
  }

  void sum_at_once(const gpu::DeviceTable<A>& table, const gpu::DeviceTable<A>& asked, std::int64_t first,
                   std::int64_t count, const Array<double>& factors, Array<double>& sums) {
    const auto blocks = static_cast<unsigned>((count + gpu::narrow_rows - 1) / gpu::narrow_rows);
    with_kernel<float>(kernel_, [&](auto kernel) {
      gpu::sum_narrow_decisions<<<blocks, gpu::summed_threads, 0, stream_>>>(
          kernel, asked.dense.data() + first * asked.columns, asked.terms.data() + first, count, asked.columns,
          table.dense.data(), table.terms.data(), table.rows, factors.data(), decisions_.tasks, sums.data());
      cuda::check_launch("sum_narrow_decisions");
    });
  }

  void in_blocks(const gpu::DeviceTable<A>& table, const gpu::DeviceTable<A>& asked, const Array<double>& factors,
                 std::int64_t begin) {
    const std::int64_t block =
        std::clamp<std::int64_t>(std::min(most_value_bytes, room_) / (8 * table.rows), 1, asked.rows);
    Array<double> values(block * table.rows, context_.device());
    Array<double> sums(block * decisions_.tasks, context_.device());
    std::vector<double*> pointers;
    for (std::int64_t r = 0; r < block; ++r) pointers.push_back(values.data() + r * table.rows);
    const auto row_pointers = Array<double*>::copy_of(pointers, context_.device());
    const auto numbers = Array<std::int32_t>::copy_of(
        std::span<const std::int32_t>(places_).first(static_cast<std::size_t>(asked.rows)), context_.device());
    for (std::int64_t first = 0; first < asked.rows; first += block) {
      context_.check_stop();
      const std::int64_t count = std::min(block, asked.rows - first);
      rows_.compute(table, {0, table.rows}, asked, numbers.data() + first, count, row_pointers.data(), 0);
      multiply(factors, table.rows, values, count, sums);
      add(sums, begin + first, count);
    }
  }

  /// sums (count x SVMs) = values (count x vectors) * factors (vectors x SVMs), all row-major.
  void multiply(const Array<double>& factors, std::int64_t vectors, const Array<double>& values, std::int64_t count,
                Array<double>& sums) {
    const double one = 1;
    const double zero = 0;
    const int svms = decisions_.tasks;
    cuda::check(cuda::cublas().dgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_N, svms, static_cast<int>(count),
                                     static_cast<int>(vectors), &one, factors.data(), svms, values.data(),
                                     static_cast<int>(vectors), &zero, sums.data(), svms),
                "a dense product");
  }

  /// Adds the sums (count x SVMs) of queries first, first + 1 ... to the decisions.
  void add(const Array<double>& sums, std::int64_t first, std::int64_t count) {
    add_rows(sums.data(), decisions_.tasks, 1, first, count);
  }

  void subtract(std::span<const double> rhos) {
    const auto values = Array<double>::copy_of(rhos, context_.device());
    add_rows(values.data(), 0, -1, 0, query_rows_.size());
  }

  void add_rows(const double* values, std::int64_t step, double factor, std::int64_t first, std::int64_t count) {
    const std::int64_t size = count * decisions_.tasks;
    if (size == 0) return;
    const auto blocks = static_cast<unsigned>(std::min((size + add_threads - 1) / add_threads, most_blocks));
    add_to_decisions<<<blocks, add_threads, 0, stream_>>>(values, step, factor, query_rows_.data() + first, count,
                                                          decisions_);
    cuda::check_launch("add_to_decisions");
    stream_.synchronize();
  }

  const Context& context_;
  KernelParams kernel_;
  std::int64_t room_;
  const Queries<T>& queries_;
  BlockView<double> decisions_;
  cuda::Stream stream_;
  cuda::Blas blas_;
  gpu::KernelRows<A> rows_;
  Array<std::int32_t> query_rows_;
  std::vector<std::int32_t> places_;
};

/// Precomputed kernels have nothing for a GPU to compute: the decisions are fetched and sent back.
template <class T>
void decide_precomputed(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                        BlockView<double> decisions) {
  if (decisions.rows == 0) return;
  const auto size = (decisions.rows - 1) * decisions.stride + decisions.tasks;
  auto here = Array<double>::over(decisions.data, size, decisions.device).to(Device::cpu());
  add_decisions_cpu(context, deciders, queries,
                    BlockView<double>{here.data(), decisions.rows, decisions.tasks, decisions.stride, Device::cpu()});
  copy_bytes(decisions.data, decisions.device, here.data(), Device::cpu(), here.bytes());
}

}  // namespace

template <class T>
void add_decisions_cuda(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                        BlockView<double> decisions) {
  const auto& [kernel, support, support_rows, coefficients] = deciders;
  if (kernel.type == KernelType::precomputed) return decide_precomputed(context, deciders, queries, decisions);
  const cuda::Current current(context.device().index);
  const int threads = context.threads();
  if (float_suffices(support.x, kernel, threads) && float_suffices(queries.dataset.x, kernel, threads))
    Decider<float, T>(context, kernel, queries, decisions).decide(support, support_rows, coefficients);
  else
    Decider<double, T>(context, kernel, queries, decisions).decide(support, support_rows, coefficients);
}

template void add_decisions_cuda(const Context&, const Deciders<float>&, const Queries<float>&, BlockView<double>);
template void add_decisions_cuda(const Context&, const Deciders<double>&, const Queries<double>&, BlockView<double>);

}  // namespace sheaf::kernel
