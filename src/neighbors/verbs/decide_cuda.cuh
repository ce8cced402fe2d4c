// Kernels that decide by exact distances: of all rows or of candidates, and the nearest of them. Compiled without fused
// operations: the bits are the CPU's.
#pragma once

#include <cstdint>

#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/filter_cuda.cuh"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/select_cuda.cuh"
#include "neighbors/verbs/sort_cuda.cuh"

namespace sheaf::neighbors::gpu {

template <class Metric, class S>
__global__ void __launch_bounds__(pair_threads)
    all_distances(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data, Allowed places,
                  std::int64_t first_query, std::int64_t first_row, std::int64_t columns, std::int64_t pairs,
                  double* out) {
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * pairs_of_block + threadIdx.x / parts;
  if (pair >= pairs) return;
  const std::int64_t q = pair / columns;
  const std::int64_t row = first_row + pair % columns;
  const double distance = pair_distance(metric, weights, queries, places.query(first_query + q), data, row);
  if (threadIdx.x % parts == 0) out[pair] = distance;
}

/// Exact distances of candidates. Blocks of candidates x queries.
template <class Metric, class S>
__global__ void __launch_bounds__(pair_threads)
    candidate_distances(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data,
                        const __grid_constant__ FilterWork work, double* out) {
  const std::int64_t q = blockIdx.y;
  const CandidateView& candidates = work.candidates;
  const int count = min(candidates.counts[q], candidates.capacity);
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * pairs_of_block + threadIdx.x / parts;
  if (c >= count) return;
  const std::int64_t at = q * candidates.capacity + c;
  const std::int64_t query = work.allowed.query(work.queries.place(work.first_query + q));
  const double distance = pair_distance(metric, weights, queries, query, data, candidates.rows[at]);
  if (threadIdx.x % parts == 0) out[at] = distance;
}

/// Exact distances of candidates, of which the k nearest are written in order; whether a list is incomplete, or longer
/// than `room`, a power of two. One block a query, with 12 bytes of shared memory for each place of the room.
template <class Metric, class S>
__global__ void __launch_bounds__(pair_threads)
    decide_nearest(Metric metric, const double* weights, RowsView<S> queries, RowsView<S> data,
                   const __grid_constant__ FilterWork work, int room, std::int64_t k, std::int32_t* rows,
                   double* distances, std::uint8_t* incomplete) {
  extern __shared__ double keys[];
  auto* found = reinterpret_cast<std::int32_t*>(keys + room);
  const std::int64_t q = blockIdx.x;
  const int count = work.candidates.counts[q];
  const bool whole = count >= k && count <= work.candidates.capacity && count <= room;
  if (threadIdx.x == 0) incomplete[q] = whole ? 0 : 1;
  if (!whole) return;
  int size = 32;
  while (size < count) size *= 2;
  const std::int32_t* mine = work.candidates.rows + q * work.candidates.capacity;
  const std::int64_t query = work.allowed.query(work.queries.place(work.first_query + q));
  for (int c = static_cast<int>(threadIdx.x) / parts; c < size; c += pairs_of_block) {
    const std::int32_t row = c < count ? mine[c] : 0x7fffffff;
    const double distance = c < count ? pair_distance(metric, weights, queries, query, data, row)
                                      : __longlong_as_double(0x7ff0000000000000LL);
    if (threadIdx.x % parts != 0) continue;
    keys[c] = distance;
    found[c] = row;
  }
  __syncthreads();
  sort_found(keys, found, size, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), [] { __syncthreads(); });
  for (std::int64_t n = threadIdx.x; n < k; n += blockDim.x) {
    rows[q * k + n] = found[n];
    distances[q * k + n] = keys[n];
  }
}

/// The k nearest of each row of distances, in any order; of the rows at the k-th distance those of the lowest indices.
/// One block a query.
__global__ void __launch_bounds__(select_threads)
    select_nearest(const double* distances, std::int64_t columns, std::int64_t first_query, std::int64_t k,
                   Allowed allowed, std::int32_t* rows, double* found) {
  const std::int64_t q = blockIdx.x;
  const double* mine = distances + q * columns;
  const auto value = [&](std::int64_t j) {
    return allowed(first_query + q, j) ? mine[j] : __longlong_as_double(0x7ff0000000000000LL);
  };
  const auto selected = select_kth<64>(columns, k, value);
  __shared__ int taken;
  __shared__ int ties[select_threads];
  __shared__ std::int64_t ties_before;
  if (threadIdx.x == 0) {
    taken = 0;
    ties_before = 0;
  }
  __syncthreads();
  const std::int64_t wanted_ties = k - selected.before;
  const auto put = [&](std::int64_t j) {
    const int at = atomicAdd(&taken, 1);
    rows[q * k + at] = static_cast<std::int32_t>(j);
    found[q * k + at] = mine[j];
  };
  for (std::int64_t begin = 0; begin < columns; begin += blockDim.x) {
    const std::int64_t j = begin + threadIdx.x;
    const std::uint64_t bits = j < columns ? bits_of(value(j)) : ~std::uint64_t{0};
    if (bits < selected.bits) put(j);
    ties[threadIdx.x] = bits == selected.bits ? 1 : 0;
    if (__syncthreads_or(ties[threadIdx.x]) == 0) continue;
    if (ties[threadIdx.x] != 0) {
      std::int64_t rank = ties_before;
      for (unsigned t = 0; t < threadIdx.x; ++t) rank += ties[t];
      if (rank < wanted_ties) put(j);
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned t = 0; t < blockDim.x; ++t) ties_before += ties[t];
    __syncthreads();
  }
}

}  // namespace sheaf::neighbors::gpu
