// Columns of X as a thread of a CPU reads them by itself.
#pragma once

#include <algorithm>
#include <memory>
#include <stop_token>

#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"
#include "linear/net/model/columns.hpp"
#include "linear/net/model/gram.hpp"

namespace sheaf::linear {

/// A team of one.
struct Single {
  GramSystem* system = nullptr;
  const std::stop_token* stop = nullptr;
  GramSystem& gram() const { return *system; }
  bool stopped() const { return stop != nullptr && stop->stop_requested(); }
  static constexpr bool fetches_ahead = false;
  static constexpr std::int32_t epochs_between_looks = 1;
  static constexpr std::int32_t rank() { return 0; }
  static constexpr std::int32_t size() { return 1; }
  static constexpr std::int32_t part_rank() { return 0; }
  static constexpr std::int32_t parts() { return 1; }
  static Single part() { return {}; }
  static constexpr bool owns(std::int32_t) { return true; }
  static void sync() {}
  template <class V>
  static V sum(V value) {
    return value;
  }
  static double largest(double value) { return value; }
  static double sum_before(double /*value*/, bool /*starts_anew*/) { return 0; }
  /// The places of the numbers that are not 0; returns their number.
  template <class T>
  static std::int32_t list_nonzero(const T* w, std::int32_t count, std::int32_t* places) {
    std::int32_t found = 0;
    for (std::int32_t k = 0; k < count; ++k)
      if (w[k] != 0) places[found++] = k;
    return found;
  }
};

/// Columns as a thread by itself reads them.
template <class T>
struct CpuSparseColumns : SparseColumns<T> {
  using SparseColumns<T>::SparseColumns;
  T whole_dot(std::int32_t j, const T* q) const { return this->dot(Single{}, this->place(j), {}, q); }
};
template <class T>
struct CpuDenseColumns : DenseColumns<T> {
  using DenseColumns<T>::DenseColumns;
  T whole_dot(std::int32_t j, const T* q) const { return dot(Single{}, this->place(j), {}, q); }
  T dot(const Single&, const ColumnPlace& place, const ColumnAhead<T>&, const T* q) const {
    return dot_of(this->values + place.begin, q, place.length);
  }
  ColumnMoments<T> moments(const Single&, const ColumnPlace& place, const T* s) const {
    return moments_of(this->values + place.begin, s, place.length);
  }
};

/// All columns of a dataset; dense ones are transposed once and kept with it.
template <class T>
class CpuColumns {
 public:
  CpuColumns(const Dataset<T>& dataset, int threads) : rows_(dataset.rows()), features_(dataset.features()) {
    if (is_sparse(dataset.x)) {
      sparse_ = &dataset.by_columns(Device::cpu(), threads);
    } else {
      const auto make = [&] {
        return std::make_shared<const Array<T>>(transposed(std::get<DenseMatrix<T>>(dataset.x), threads));
      };
      dense_ = std::static_pointer_cast<const Array<T>>(dataset.cached(Device::cpu(), "dense columns", make));
    }
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t features() const { return features_; }
  bool sparse() const { return sparse_ != nullptr; }
  std::int64_t entries() const { return sparse() ? sparse_->offsets[features_] : rows_ * features_; }

  /// f(columns).
  template <class F>
  void with(F&& f) const {
    if (sparse_ != nullptr)
      f(CpuSparseColumns<T>{sparse_->offsets.data(), sparse_->indices.data(), sparse_->values.data()});
    else
      f(CpuDenseColumns<T>{dense_->data(), rows_});
  }

 private:
  static Array<T> transposed(const DenseMatrix<T>& x, int threads) {
    Array<T> result(x.rows * x.columns);
    constexpr std::int64_t tile = 64;
    parallel_for(threads, (x.columns + tile - 1) / tile, [&](std::int64_t part) {
      const std::int64_t end = std::min(x.columns, (part + 1) * tile);
      for (std::int64_t i = 0; i < x.rows; ++i)
        for (std::int64_t j = part * tile; j < end; ++j) result[j * x.rows + i] = x.values[i * x.columns + j];
    });
    return result;
  }

  std::int64_t rows_, features_;
  const SparseMatrix<T>* sparse_ = nullptr;
  std::shared_ptr<const Array<T>> dense_;
};

}  // namespace sheaf::linear
