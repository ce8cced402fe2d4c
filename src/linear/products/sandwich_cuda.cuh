// X' D X d of narrow dense data (at most `narrow` features) in one pass over X. A thread holds the weights and the sums
// of one task in registers while the rows of X pass by in shared memory; each row serves X d and X' at once, so that
// besides X only the curvatures are read and nothing is written until the end.
#pragma once

#include "linear/products/dense_cuda.cuh"

namespace sheaf::linear::gpu {

/// Operands in device memory. Column t goes through the curvatures if wanted[t] is set, else takes u.
template <class T>
struct SandwichOperands {
  const T* d;
  const T* curvatures;
  const T* u;
  const std::uint8_t* wanted;
  T bias;  // 0: none
  T* q;    // nullptr: X d is not kept
};

/// partial[block][j][t] = the block's share of hd(j, t). Every number of X that a thread reads from shared memory
/// serves its `Tasks` tasks twice.
template <int Columns, int Tasks, int Rows, class T>
__global__ void __launch_bounds__(dense_threads)
    narrow_sandwich(const T* x, std::int64_t rows, int columns, SandwichOperands<T> operands, int stride, int across,
                    T* partial) {
  extern __shared__ __align__(16) unsigned char shared[];
  using Values = RowOfTasks<T, Tasks>;
  T* buffer = reinterpret_cast<T*>(shared);
  const DensePlace<Tasks> place(across);
  const bool active = place.column < stride;
  const bool biased = operands.bias > T(0);
  const int weights = columns + (biased ? 1 : 0);
  const auto row_of_d = [&](int j) {
    return *reinterpret_cast<const Values*>(operands.d + static_cast<std::int64_t>(j) * stride + place.column);
  };
  Values weight[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j) weight[j] = active && j < columns ? row_of_d(j) : Values{};
  Values offset = active && biased ? row_of_d(columns) : Values{};
  bool through[Tasks];
#pragma unroll
  for (int t = 0; t < Tasks; ++t) {
    offset.value[t] *= operands.bias;
    through[t] = active && (operands.wanted == nullptr || operands.wanted[place.column + t] != 0);
  }
  constexpr int ahead = Tasks == 1 ? 4 : 2;  // rows whose factors are on their way at once
  T sum[Columns][Tasks] = {};
  T factor_sum[Tasks] = {};
  StagedRows<Columns, T, Rows> chunks(x, columns, rows, columns, buffer);
  for (std::int64_t first = chunks.first(); first < rows; first += chunks.step()) {
    const int count = active ? chunks.count(first) : 0;
    const T* staged = chunks.enter(first);
    for (int base = place.lane; base < count; base += place.lanes * ahead) {
      T factor[ahead][Tasks];
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int r = base + a * place.lanes;
        const std::int64_t at = (first + r) * stride + place.column;
#pragma unroll
        for (int t = 0; t < Tasks; ++t)
          factor[a][t] = r < count ? (through[t] ? operands.curvatures : operands.u)[at + t] : T(0);
      }
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int r = min(base + a * place.lanes, count - 1);  // a row that is not there has a factor of zero
        T row[Columns];
#pragma unroll
        for (int j = 0; j < Columns; ++j) row[j] = staged[r * Columns + j];
        Values decision = offset;
#pragma unroll
        for (int j = 0; j < Columns; ++j)
#pragma unroll
          for (int t = 0; t < Tasks; ++t) decision.value[t] += row[j] * weight[j].value[t];
        if (operands.q != nullptr && base + a * place.lanes < count)
          *reinterpret_cast<Values*>(operands.q + (first + r) * stride + place.column) = decision;
#pragma unroll
        for (int t = 0; t < Tasks; ++t) {
          const T value = through[t] ? factor[a][t] * decision.value[t] : factor[a][t];
          factor_sum[t] += value;
#pragma unroll
          for (int j = 0; j < Columns; ++j) sum[j][t] += row[j] * value;
        }
      }
    }
    chunks.leave();
  }
  // Threads with the same tasks add up their sums, one column at a time, in the order of their lanes.
  const auto gather = [&](T mine, int j, int t) {
    __syncthreads();
    buffer[threadIdx.x] = mine;
    __syncthreads();
    if (place.lane != 0 || !active || j >= weights) return;
    T total = 0;
    for (int lane = 0; lane < place.lanes; ++lane) total += buffer[lane * across + threadIdx.x];
    partial[(static_cast<std::int64_t>(blockIdx.x) * weights + j) * stride + place.column + t] = total;
  };
#pragma unroll
  for (int t = 0; t < Tasks; ++t) {
#pragma unroll
    for (int j = 0; j < Columns; ++j) gather(sum[j][t], j < columns ? j : weights, t);
    gather(operands.bias * factor_sum[t], biased ? columns : weights, t);
  }
}

/// v holds X d; elements first .. first + size become the operand of X'.
template <class T>
__global__ void pass_through(SandwichOperands<T> operands, const T* bias_weights, T* v, std::int64_t first,
                             std::int64_t size, int stride) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= size) return;
  const std::int64_t e = first + at;
  const int t = static_cast<int>(e % stride);
  const T decision = operands.bias > T(0) ? v[e] + operands.bias * bias_weights[t] : v[e];
  if (operands.q != nullptr) operands.q[e] = decision;
  const bool through = operands.wanted == nullptr || operands.wanted[t] != 0;
  v[e] = through ? operands.curvatures[e] * decision : operands.u[e];
}

template <class T>
bool fuses(const DenseMatrix<T>& x) {
  return x.rows > 0 && x.columns > 0 && x.columns <= narrow;
}

/// hd: x.columns rows, and one more if there is a bias.
template <int Columns, int Tasks, int Rows, class T>
void launch_sandwich(const DenseMatrix<T>& x, const SandwichOperands<T>& operands, BlockView<T> hd, Array<T>& partial,
                     int processors, cudaStream_t stream) {
  int across = 1;
  while (across * Tasks < 64 && across * Tasks < hd.stride) across *= 2;
  const auto tiles = static_cast<unsigned>((hd.stride + across * Tasks - 1) / (across * Tasks));
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>((x.rows + Rows - 1) / Rows, static_cast<std::int64_t>(processors) * 4));
  const std::int64_t size = hd.rows * hd.stride;
  if (partial.size() < blocks * size) partial = Array<T>(blocks * size, x.values.device());
  constexpr int bytes = 2 * Rows * Columns * static_cast<int>(sizeof(T));
  static_assert(2 * Rows * Columns >= dense_threads);
  const auto kernel = narrow_sandwich<Columns, Tasks, Rows, T>;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "asking for memory");
  kernel<<<dim3{blocks, tiles}, dense_threads, bytes, stream>>>(x.values.data(), x.rows, static_cast<int>(x.columns),
                                                                operands, hd.stride, across, partial.data());
  cuda::check_launch("narrow_sandwich");
  cuda::add_parts(partial.data(), static_cast<int>(blocks), size, hd.data, stream);
}

template <class T>
void sandwich(const DenseMatrix<T>& x, const SandwichOperands<T>& operands, BlockView<T> hd, Array<T>& partial,
              int processors, cudaStream_t stream) {
  with_columns(x.columns, [&](auto columns) {
    if (hd.stride >= 8)  // 64 rows keep 256 threads busy
      launch_sandwich<columns(), sizeof(T) == 4 ? 2 : 1, 64>(x, operands, hd, partial, processors, stream);
    else
      launch_sandwich<columns(), 1, sizeof(T) == 4 ? 256 : 128>(x, operands, hd, partial, processors, stream);
  });
}

}  // namespace sheaf::linear::gpu
