// Features on one scale, on one GPU.
#include <algorithm>

#include "cuda/check.cuh"
#include "rescore/training/normalise.hpp"

namespace sheaf::rescore {
namespace {

constexpr int most_threads = 256;
constexpr std::int64_t most_blocks = 1056;

/// Thread t of a block keeps column t % columns; all threads read side by side. Then the threads of a column are joined
/// in order.
template <class T>
__global__ void column_totals_kernel(const T* x, std::int64_t rows, int columns, ColumnTotal kind, const double* shift,
                                     double* partial) {
  extern __shared__ double shared[];
  const int column = static_cast<int>(threadIdx.x) % columns;
  const int mine = static_cast<int>(threadIdx.x) / columns;
  const int together = static_cast<int>(blockDim.x) / columns;
  double total = empty_total(kind);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * together + mine; i < rows;
       i += static_cast<std::int64_t>(gridDim.x) * together)
    total = joined(kind, total, static_cast<double>(x[i * columns + column]), shift[column]);
  shared[threadIdx.x] = total;
  __syncthreads();
  if (mine > 0) return;
  const ColumnTotal how = kind == ColumnTotal::squares ? ColumnTotal::sum : kind;
  for (int k = 1; k < together; ++k) total = joined(how, total, shared[k * columns + column], 0);
  partial[static_cast<std::int64_t>(blockIdx.x) * columns + column] = total;
}

template <class T>
__global__ void apply_kernel(T* x, std::int64_t size, int columns, const double* shift, const double* scale) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < size) x[e] = static_cast<T>((static_cast<double>(x[e]) - shift[e % columns]) / scale[e % columns]);
}

}  // namespace

template <class T>
std::vector<double> column_totals_cuda(const Context& context, const DenseMatrix<T>& x, ColumnTotal kind,
                                       const std::vector<double>& shift) {
  const Device device = context.device();
  const cuda::Current current(device.index);
  cuda::Stream stream;
  const auto columns = static_cast<int>(x.columns);
  const int together = std::max(1, most_threads / columns);
  const auto blocks = std::clamp<std::int64_t>(x.rows / (together * 16), 1, most_blocks);
  const auto there = Array<double>::copy_of(shift, device);
  Array<double> partial(blocks * columns, device);
  const auto threads = static_cast<unsigned>(together * columns);
  column_totals_kernel<T><<<static_cast<unsigned>(blocks), threads, threads * sizeof(double), stream>>>(
      x.values.data(), x.rows, columns, kind, there.data(), partial.data());
  cuda::check_launch("column_totals");
  stream.synchronize();
  const auto parts = partial.to(Device::cpu());
  std::vector<double> totals(static_cast<std::size_t>(columns), empty_total(kind));
  for (std::int64_t k = 0; k < parts.size(); ++k) {
    double& total = totals[static_cast<std::size_t>(k % columns)];
    total = joined(kind, total, parts[k]);
  }
  return totals;
}

template <class T>
void apply_cuda(const Context& context, DenseMatrix<T>& x, const Normaliser& normaliser) {
  const Device device = context.device();
  const cuda::Current current(device.index);
  cuda::Stream stream;
  const auto shift = Array<double>::copy_of(normaliser.shift, device);
  const auto scale = Array<double>::copy_of(normaliser.scale, device);
  const auto blocks = static_cast<unsigned>((x.values.size() + most_threads - 1) / most_threads);
  apply_kernel<T><<<blocks, most_threads, 0, stream>>>(x.values.data(), x.values.size(), static_cast<int>(x.columns),
                                                       shift.data(), scale.data());
  cuda::check_launch("apply");
  stream.synchronize();
}

template std::vector<double> column_totals_cuda(const Context&, const DenseMatrix<float>&, ColumnTotal,
                                                const std::vector<double>&);
template std::vector<double> column_totals_cuda(const Context&, const DenseMatrix<double>&, ColumnTotal,
                                                const std::vector<double>&);
template void apply_cuda(const Context&, DenseMatrix<float>&, const Normaliser&);
template void apply_cuda(const Context&, DenseMatrix<double>&, const Normaliser&);

}  // namespace sheaf::rescore
