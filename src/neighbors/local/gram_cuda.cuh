// Inner products of a few rows less a point, by a block of threads.
#pragma once

#include <cstdint>

namespace sheaf::neighbors::gpu {

/// The lower triangle of the products of (row - point), for the k rows of the list; `gram` is k x k.
inline __device__ void put_gram(const double* rows, const std::int32_t* list, const double* point, std::int64_t columns,
                                std::int64_t k, double* gram) {
  const std::int64_t pairs = k * (k + 1) / 2;
  for (std::int64_t pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
    auto i = static_cast<std::int64_t>((sqrt(8.0 * static_cast<double>(pair) + 1) - 1) / 2);
    while ((i + 1) * (i + 2) / 2 <= pair) ++i;
    while (i * (i + 1) / 2 > pair) --i;
    const std::int64_t j = pair - i * (i + 1) / 2;
    const double* a = rows + list[i] * columns;
    const double* b = rows + list[j] * columns;
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += (a[c] - point[c]) * (b[c] - point[c]);
    gram[i * k + j] = sum;
  }
}

}  // namespace sheaf::neighbors::gpu
