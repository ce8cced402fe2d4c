// The columns of X that models visit on a GPU: all of them if they fit, else those of the working sets at hand, brought
// from CPU memory when they are needed. A working set that has no room by itself is read from there.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"
#include "cuda/check.cuh"
#include "cuda/staging.cuh"
#include "linear/net/cuda/kernels_cuda.cuh"

namespace sheaf::linear::gpu {

template <class T>
class GpuColumns {
 public:
  /// Half of the context's memory is for X, in rows for products and in columns; if that is too little, an eighth is
  /// for columns in passing.
  GpuColumns(const Context& context, const Dataset<T>& dataset, cudaStream_t stream)
      : device_(context.device()),
        rows_(dataset.rows()),
        features_(dataset.features()),
        threads_(context.threads()),
        room_(context.memory() / 8),
        dataset_(dataset),
        stream_(stream) {
    resident_ = 2 * matrix_bytes(dataset.x) <= context.memory() / 2;
    if (is_sparse(dataset.x)) {
      sparse_ = &dataset.by_columns(resident_ ? device_ : Device::cpu(), threads_);
      average_ = features_ > 0 ? sparse_->nonzeros() / features_ : 0;
      return;
    }
    average_ = rows_;
    if (!resident_) return;
    const auto& x = std::get<DenseMatrix<T>>(dataset.by_rows(device_));  // before cached(), which holds the same lock
    const auto make = [&] { return std::make_shared<const Array<T>>(transposed(x)); };
    dense_ = std::static_pointer_cast<const Array<T>>(dataset.cached(device_, "dense columns", make));
  }

  bool resident() const { return resident_; }
  /// Entries of a column, on average.
  std::int64_t average() const { return average_; }

  /// f(columns) with those that are on the GPU.
  template <class F>
  void with(F&& f) const {
    if (!resident_)
      f(SparseColumns<T>{panel_offsets_.data(), seen_rows_, seen_values_});
    else if (sparse_ != nullptr)
      f(SparseColumns<T>{sparse_->offsets.data(), sparse_->indices.data(), sparse_->values.data()});
    else
      f(DenseColumns<T>{dense_->data(), rows_});
  }

  /// Bytes that bringing a feature takes.
  std::int64_t bytes(std::int32_t j) const { return entries(j) * bytes_per_entry; }
  std::int64_t room() const { return room_; }

  /// Brings some features, ascending: until the next call the others have no entries. Nothing may use those brought
  /// before any more.
  void bring(std::span<const std::int32_t> some) {
    Array<std::int64_t> offsets(features_ + 1);
    std::vector<std::int64_t> begins(some.size() + 1, 0);
    for (std::size_t k = 0; k < some.size(); ++k) begins[k + 1] = begins[k] + entries(some[k]);
    std::size_t k = 0;
    for (std::int64_t j = 0; j <= features_; ++j) {
      offsets[j] = begins[k];
      if (k < some.size() && some[k] == j) ++k;
    }
    const auto size = static_cast<std::size_t>(begins.back());
    auto* rows = staged_rows_.template room<std::int32_t>(size);
    auto* values = staged_values_.template room<T>(size);
    parallel_for(threads_, static_cast<std::int64_t>(some.size()), [&](std::int64_t s) {
      const auto at = static_cast<std::size_t>(s);
      copy_column(some[at], rows + begins[at], values + begins[at]);
    });
    panel_offsets_ = offsets.to(device_);
    seen_rows_ = rows;
    seen_values_ = values;
    if (begins.back() * bytes_per_entry > room_) return;
    seen_rows_ = copied(std::span<const std::int32_t>(rows, size), panel_rows_);
    seen_values_ = copied(std::span<const T>(values, size), panel_values_);
  }

  /// f(range) for ranges of features that cover all, each of which is on the GPU meanwhile.
  template <class F>
  void in_parts(F&& f) {
    if (resident_) return f(Range{0, features_});
    for (std::int64_t first = 0; first < features_;) {
      std::vector<std::int32_t> some;
      std::int64_t taken = 0;
      std::int64_t j = first;
      for (; j < features_ && (some.empty() || taken + bytes(static_cast<std::int32_t>(j)) <= room_); ++j) {
        taken += bytes(static_cast<std::int32_t>(j));
        some.push_back(static_cast<std::int32_t>(j));
      }
      bring(some);
      f(Range{first, j});
      first = j;
    }
  }

 private:
  static constexpr std::int64_t bytes_per_entry = sizeof(T) + sizeof(std::int32_t);

  template <class V>
  const V* copied(std::span<const V> from, Array<V>& to) {
    if (to.size() < static_cast<std::int64_t>(from.size()))
      to = Array<V>(static_cast<std::int64_t>(from.size()), device_);
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending columns");
    return to.data();
  }

  std::int64_t entries(std::int32_t j) const {
    return sparse_ != nullptr ? sparse_->offsets[j + 1] - sparse_->offsets[j] : rows_;
  }

  void copy_column(std::int32_t j, std::int32_t* indices, T* values) const {
    if (sparse_ != nullptr) {
      const std::int64_t from = sparse_->offsets[j];
      std::copy_n(sparse_->indices.data() + from, entries(j), indices);
      std::copy_n(sparse_->values.data() + from, entries(j), values);
      return;
    }
    const auto& x = std::get<DenseMatrix<T>>(dataset_.x);
    for (std::int64_t i = 0; i < rows_; ++i) {
      indices[i] = static_cast<std::int32_t>(i);
      values[i] = x.values[i * x.columns + j];
    }
  }

  Array<T> transposed(const DenseMatrix<T>& x) const {
    Array<T> result(x.rows * x.columns, device_);
    if (result.size() == 0) return result;
    constexpr std::int64_t most_columns = std::int64_t{32} * 65535;  // tiles across are numbered by 16 bits
    require(x.columns <= most_columns, "dense tables have fewer columns");
    const dim3 tiles(static_cast<unsigned>((x.rows + 31) / 32), static_cast<unsigned>((x.columns + 31) / 32));
    transpose_dense<T><<<tiles, dim3(32, 8), 0, stream_>>>(x.values.data(), x.rows, x.columns, result.data());
    cuda::check_launch("transpose_dense");
    cuda::check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    return result;
  }

  Device device_;
  std::int64_t rows_, features_;
  int threads_;
  std::int64_t room_;
  const Dataset<T>& dataset_;
  cudaStream_t stream_;
  bool resident_ = true;
  std::int64_t average_ = 0;
  const SparseMatrix<T>* sparse_ = nullptr;  // on the GPU if resident
  std::shared_ptr<const Array<T>> dense_;
  cuda::Staging staged_rows_, staged_values_;
  Array<std::int64_t> panel_offsets_;
  Array<std::int32_t> panel_rows_;
  Array<T> panel_values_;
  const std::int32_t* seen_rows_ = nullptr;  // in the panel, or staged
  const T* seen_values_ = nullptr;
};

}  // namespace sheaf::linear::gpu
