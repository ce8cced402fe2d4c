// Decision values of dense rows of few features on a GPU: kernel values are added to the sums of all SVMs where they
// are computed, and never stored. Storing and reading one would cost as much as computing it.
#pragma once

#include <cstdint>

#include "kernel/values/rows_cuda.cuh"

namespace sheaf::kernel::gpu {

/// SVMs whose sums a block keeps.
inline constexpr int summed_svms = 8;
inline constexpr int summed_threads = 256;
inline constexpr int summed_depth = 8;
/// Kernel values of a lane; 4 lanes of it differ by half the banks of shared memory.
inline constexpr int summed_stride = narrow_rows + 4;

struct SummedShared {
  float xs[summed_depth][narrow_rows + 4];
  float others[summed_depth][narrow_lanes + 4];
  float values[narrow_lanes][summed_stride];
  double factors[narrow_lanes][summed_svms];
};

/// Inner products of narrow_rows rows and narrow_lanes others from `first_lane` on; a thread holds 8 x 4 of them.
__device__ inline void multiply_narrow(const float* x, std::int64_t first, std::int64_t rows, const float* vectors,
                                       std::int64_t first_lane, std::int64_t count, std::int64_t features,
                                       SummedShared& shared, float (&sums)[8][4]) {
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t begin = 0; begin < features; begin += summed_depth) {
    const int deep = thread % summed_depth;
    const std::int64_t j = begin + deep;
    for (int i = thread / summed_depth; i < narrow_rows; i += summed_threads / summed_depth)
      shared.xs[deep][i] = first + i < rows && j < features ? x[(first + i) * features + j] : 0.0F;
    for (int r = thread / summed_depth; r < narrow_lanes; r += summed_threads / summed_depth)
      shared.others[deep][r] = first_lane + r < count && j < features ? vectors[(first_lane + r) * features + j] : 0.0F;
    __syncthreads();
    for (int k = 0; k < summed_depth; ++k) {
      float other[4];
      for (int b = 0; b < 4; ++b) other[b] = shared.others[k][thread / 16 * 4 + b];
      for (int a = 0; a < 8; ++a) {
        const float value = shared.xs[k][thread % 16 + 16 * a];
        for (int b = 0; b < 4; ++b) sums[a][b] += value * other[b];
      }
    }
    __syncthreads();
  }
}

/// sums[i][m] = sum over vectors s of factors[s][m] K(row i, vector s), for narrow_rows rows a block. Added up in the
/// order of the vectors, so that the same call gives the same bits. At most summed_svms of them.
template <class Kernel>
__global__ void __launch_bounds__(summed_threads)
    sum_narrow_decisions(Kernel kernel, const float* x, const float* terms, std::int64_t rows, std::int64_t features,
                         const float* vectors, const float* vector_terms, std::int64_t count, const double* factors,
                         int svms, double* sums) {
  __shared__ SummedShared shared;
  constexpr int each = summed_svms / (summed_threads / narrow_rows);  // SVMs a thread
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * narrow_rows;
  const int row = thread % narrow_rows;
  const int first_svm = thread / narrow_rows * each;
  double totals[each] = {};
  for (std::int64_t lane = 0; lane < count; lane += narrow_lanes) {
    float products[8][4] = {};
    multiply_narrow(x, first, rows, vectors, lane, count, features, shared, products);
    for (int b = 0; b < 4; ++b) {
      const int r = thread / 16 * 4 + b;
      const float term = lane + r < count ? vector_terms[lane + r] : 0.0F;
      for (int a = 0; a < 8; ++a) {
        const int i = thread % 16 + 16 * a;
        const float own = first + i < rows ? terms[first + i] : 0.0F;
        shared.values[r][i] = kernel(products[a][b], own, term);
      }
    }
    for (int k = thread; k < narrow_lanes * summed_svms; k += summed_threads) {
      const int r = k / summed_svms;
      const int m = k % summed_svms;
      shared.factors[r][m] = lane + r < count && m < svms ? factors[(lane + r) * svms + m] : 0.0;
    }
    __syncthreads();
    for (int r = 0; r < narrow_lanes; ++r) {
      const auto value = static_cast<double>(shared.values[r][row]);
      for (int m = 0; m < each; ++m) totals[m] += shared.factors[r][first_svm + m] * value;
    }
    __syncthreads();
  }
  if (first + row >= rows) return;
  for (int m = 0; m < each; ++m)
    if (first_svm + m < svms) sums[(first + row) * svms + first_svm + m] = totals[m];
}

}  // namespace sheaf::kernel::gpu
