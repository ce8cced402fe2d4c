// The rows that kernel values are computed from, on a GPU: taken from the resident dataset in the order of training, in
// the precision that inner products need, dense or sparse as is cheaper there, with the terms of kernel values.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"
#include "cuda/check.cuh"
#include "kernel/values/table.hpp"

namespace sheaf::kernel::gpu {

template <class A>
struct DeviceTable {
  std::int64_t rows = 0, columns = 0;
  bool is_dense = false;
  Array<A> dense;  // rows x columns
  Array<std::int64_t> offsets;
  Array<std::int32_t> indices;
  Array<A> values;
  Array<A> terms;
};

/// Rows of T as they lie in the dataset.
template <class T>
struct SourceRows {
  const T* values;
  const std::int64_t* offsets;  // nullptr: dense
  const std::int32_t* indices;
  std::int64_t columns;
};

template <class T>
SourceRows<T> source_of(const Matrix<T>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
    return {dense->values.data(), nullptr, nullptr, dense->columns};
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return {sparse.values.data(), sparse.offsets.data(), sparse.indices.data(), sparse.columns};
}

inline constexpr int row_threads = 256;
inline constexpr int rows_a_block = row_threads / 32;

inline unsigned row_blocks(std::int64_t rows) {
  return static_cast<unsigned>((rows + rows_a_block - 1) / rows_a_block);
}

/// One warp takes one row: calls entry(column, value) for its entries, and returns its squared norm in every lane.
template <class T, class Entry>
__device__ double visit_row(const SourceRows<T>& from, std::int64_t row, Entry&& entry) {
  const int lane = threadIdx.x % 32;
  double sum = 0;
  const std::int64_t begin = from.offsets == nullptr ? row * from.columns : from.offsets[row];
  const std::int64_t end = from.offsets == nullptr ? begin + from.columns : from.offsets[row + 1];
  for (std::int64_t k = begin + lane; k < end; k += 32) {
    const T value = from.values[k];
    entry(k - begin, from.offsets == nullptr ? k - begin : static_cast<std::int64_t>(from.indices[k]), value);
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  return sum;
}

template <class A, class T>
__global__ void take_dense_rows(SourceRows<T> from, const std::int32_t* order, std::int64_t rows, A* dense, A* norms) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_a_block + threadIdx.x / 32;
  if (i >= rows) return;
  const double norm = visit_row(from, order[i], [&](std::int64_t, std::int64_t j, T value) {
    dense[i * from.columns + j] = static_cast<A>(value);
  });
  if (threadIdx.x % 32 == 0) norms[i] = static_cast<A>(norm);
}

template <class A, class T>
__global__ void take_sparse_rows(SourceRows<T> from, const std::int32_t* order, std::int64_t rows,
                                 const std::int64_t* offsets, std::int32_t* indices, A* values, A* norms) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_a_block + threadIdx.x / 32;
  if (i >= rows) return;
  const double norm = visit_row(from, order[i], [&](std::int64_t k, std::int64_t j, T value) {
    indices[offsets[i] + k] = static_cast<std::int32_t>(j);
    values[offsets[i] + k] = static_cast<A>(value);
  });
  if (threadIdx.x % 32 == 0) norms[i] = static_cast<A>(norm);
}

/// Rows with a larger share of stored entries are made dense if `room` bytes hold them: a GPU does twenty times as many
/// products of dense rows.
inline constexpr double dense_share = 0.05;

/// Squared norms are no terms of kernels that are not of the distance.
template <class A>
void clear_other_norms(const KernelParams& kernel, cudaStream_t stream, Array<A>& terms) {
  if (!depends_on_distance(kernel) && terms.bytes() > 0)
    cuda::check(cudaMemsetAsync(terms.data(), 0, static_cast<std::size_t>(terms.bytes()), stream), "clearing terms");
}

/// `x` lies in CPU memory, `on_device` is the same there. Terms are as those of the function of the same name there.
template <class A, class T>
DeviceTable<A> take_rows(const Matrix<T>& x, const Matrix<T>& on_device, std::span<const std::int32_t> order,
                         const KernelParams& kernel, std::int64_t room, Device device, cudaStream_t stream) {
  DeviceTable<A> table;
  table.rows = static_cast<std::int64_t>(order.size());
  table.columns = columns(x);
  const double cells = static_cast<double>(rows(x)) * static_cast<double>(columns(x));
  const std::int64_t bytes = table.rows * table.columns * static_cast<std::int64_t>(sizeof(A));
  table.is_dense = !is_sparse(x) || (static_cast<double>(stored(x)) >= dense_share * cells && bytes <= room);
  table.terms = Array<A>(table.rows, device);
  const auto on_gpu = Array<std::int32_t>::copy_of(order, device);
  if (table.is_dense) {
    table.dense = Array<A>(table.rows * table.columns, device);
    if (is_sparse(x) && table.dense.bytes() > 0)
      cuda::check(cudaMemsetAsync(table.dense.data(), 0, static_cast<std::size_t>(table.dense.bytes()), stream),
                  "clearing rows");
    take_dense_rows<<<row_blocks(table.rows), row_threads, 0, stream>>>(source_of(on_device), on_gpu.data(), table.rows,
                                                                        table.dense.data(), table.terms.data());
    cuda::check_launch("take_dense_rows");
    clear_other_norms(kernel, stream, table.terms);
    return table;
  }
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  std::vector<std::int64_t> offsets{0};
  for (const std::int32_t row : order)
    offsets.push_back(offsets.back() + sparse.offsets[row + 1] - sparse.offsets[row]);
  table.offsets = Array<std::int64_t>::copy_of(offsets, device);
  table.indices = Array<std::int32_t>(offsets.back(), device);
  table.values = Array<A>(offsets.back(), device);
  take_sparse_rows<<<row_blocks(table.rows), row_threads, 0, stream>>>(source_of(on_device), on_gpu.data(), table.rows,
                                                                       table.offsets.data(), table.indices.data(),
                                                                       table.values.data(), table.terms.data());
  cuda::check_launch("take_sparse_rows");
  clear_other_norms(kernel, stream, table.terms);
  return table;
}

/// Some rows of a table in CPU memory. Returns when they are there.
template <class A>
DeviceTable<A> upload_rows(const Table<A>& from, Range rows, Device device) {
  DeviceTable<A> table;
  table.rows = rows.end - rows.begin;
  table.columns = columns(from.x);
  const auto part = [&](const auto& array, std::int64_t begin, std::int64_t end) {
    return array.span().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  table.terms = Array<A>::copy_of(part(from.terms, rows.begin, rows.end), device);
  if (const auto* dense = std::get_if<DenseMatrix<A>>(&from.x)) {
    table.is_dense = true;
    table.dense = Array<A>::copy_of(part(dense->values, rows.begin * table.columns, rows.end * table.columns), device);
    return table;
  }
  const auto& sparse = std::get<SparseMatrix<A>>(from.x);
  const std::int64_t first = sparse.offsets[rows.begin];
  const std::int64_t last = sparse.offsets[rows.end];
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = rows.begin; i <= rows.end; ++i) offsets.push_back(sparse.offsets[i] - first);
  table.offsets = Array<std::int64_t>::copy_of(offsets, device);
  table.indices = Array<std::int32_t>::copy_of(part(sparse.indices, first, last), device);
  table.values = Array<A>::copy_of(part(sparse.values, first, last), device);
  return table;
}

}  // namespace sheaf::kernel::gpu
