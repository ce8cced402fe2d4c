// X' D X d of narrow dense data (at most `narrow` features) in one pass over X. A thread holds the weights and the sums
// of one task in registers while the rows of X pass by in shared memory; each row serves X d and X' at once, so that
// beside X only the curvatures are read and nothing is written until the end.
#pragma once

#include "linear/dense_cuda.cuh"

namespace sheaf::linear::gpu {

/// Operands in device memory. Column t goes through the curvatures where wanted[t] is set, else takes u.
template <class T>
struct SandwichOperands {
  const T* d;
  const T* curvatures;
  const T* u;
  const std::uint8_t* wanted;
  T bias;  // 0: none
  T* q;    // nullptr: X d is not kept
};

/// partial[block][j][t] = the block's share of hd(j, t).
template <int Columns, int Rows, class T>
__global__ void __launch_bounds__(dense_threads)
    narrow_sandwich(const T* x, std::int64_t rows, int columns, SandwichOperands<T> operands, int stride, int across,
                    T* partial) {
  extern __shared__ __align__(16) unsigned char shared[];
  T* buffer = reinterpret_cast<T*>(shared);
  const DensePlace<1> place(across);
  const bool active = place.column < stride;
  const int weights = columns + (operands.bias > T(0) ? 1 : 0);
  T weight[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j)
    weight[j] = active && j < columns ? operands.d[static_cast<std::int64_t>(j) * stride + place.column] : T(0);
  const T offset = active && operands.bias > T(0)
                       ? operands.bias * operands.d[static_cast<std::int64_t>(columns) * stride + place.column]
                       : T(0);
  const bool through = active && (operands.wanted == nullptr || operands.wanted[place.column] != 0);
  const T* factors = through ? operands.curvatures : operands.u;
  constexpr int ahead = 4;  // rows whose factors are on their way at once
  T sum[Columns] = {};
  T factor_sum = 0;
  StagedRows<Columns, T, Rows> chunks(x, columns, rows, columns, buffer);
  for (std::int64_t first = chunks.first(); first < rows; first += chunks.step()) {
    const int count = active ? chunks.count(first) : 0;
    const T* staged = chunks.enter(first);
    for (int base = place.lane; base < count; base += place.lanes * ahead) {
      T factor[ahead];
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int r = base + a * place.lanes;
        factor[a] = r < count ? factors[(first + r) * stride + place.column] : T(0);
      }
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int r = min(base + a * place.lanes, count - 1);  // a row that is not there has a factor of zero
        T row[Columns];
#pragma unroll
        for (int j = 0; j < Columns; ++j) row[j] = staged[r * Columns + j];
        T even = offset;
        T odd = 0;
#pragma unroll
        for (int j = 0; j < Columns; j += 2) {
          even += row[j] * weight[j];
          odd += row[j + 1] * weight[j + 1];
        }
        const T decision = even + odd;
        if (operands.q != nullptr && base + a * place.lanes < count)
          operands.q[(first + r) * stride + place.column] = decision;
        const T value = through ? factor[a] * decision : factor[a];
        factor_sum += value;
#pragma unroll
        for (int j = 0; j < Columns; ++j) sum[j] += row[j] * value;
      }
    }
    chunks.leave();
  }
  // Threads with the same task add up their sums, one column at a time, in the order of their lanes.
  const auto gather = [&](T mine, int j) {
    __syncthreads();
    buffer[threadIdx.x] = mine;
    __syncthreads();
    if (place.lane != 0 || !active || j >= weights) return;
    T total = 0;
    for (int lane = 0; lane < place.lanes; ++lane) total += buffer[lane * across + threadIdx.x];
    partial[(static_cast<std::int64_t>(blockIdx.x) * weights + j) * stride + place.column] = total;
  };
#pragma unroll
  for (int j = 0; j < Columns; ++j) gather(sum[j], j < columns ? j : weights);
  gather(operands.bias * factor_sum, operands.bias > T(0) ? columns : weights);
}

template <class T>
bool fuses(const DenseMatrix<T>& x) {
  return x.rows > 0 && x.columns > 0 && x.columns <= narrow;
}

/// hd: x.columns rows, and one more where there is a bias.
template <int Columns, int Rows, class T>
void launch_sandwich(const DenseMatrix<T>& x, const SandwichOperands<T>& operands, BlockView<T> hd, Array<T>& partial,
                     int processors, cudaStream_t stream) {
  int across = 1;
  while (across < 64 && across < hd.stride) across *= 2;
  const auto tiles = static_cast<unsigned>((hd.stride + across - 1) / across);
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>((x.rows + Rows - 1) / Rows, static_cast<std::int64_t>(processors) * 4));
  const std::int64_t size = hd.rows * hd.stride;
  if (partial.size() < blocks * size) partial = Array<T>(blocks * size, x.values.device());
  constexpr int bytes = 2 * Rows * Columns * static_cast<int>(sizeof(T));
  static_assert(2 * Rows * Columns >= dense_threads);
  const auto kernel = narrow_sandwich<Columns, Rows, T>;
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
    if (hd.stride >= 4)  // 64 rows keep 256 threads busy
      launch_sandwich<columns(), 64>(x, operands, hd, partial, processors, stream);
    else
      launch_sandwich<columns(), sizeof(T) == 4 ? 256 : 128>(x, operands, hd, partial, processors, stream);
  });
}

}  // namespace sheaf::linear::gpu
