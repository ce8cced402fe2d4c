// The verbs of the linear family: the only things a solver of linear models asks of a device. One object serves one dataset
// on one device. All blocks are task-minor, live on that device, and have the strides of block_stride().
//
// With bias > 0 every example has one more feature of that value, after the real ones, stored nowhere: blocks of weights
// then have features() + 1 rows. Verbs run in order; those that fill a host span have finished when they return.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/task.hpp>

#include "linear/losses.hpp"

namespace sheaf::linear {

template <class T>
class LinearOps {
 public:
  LinearOps(Device device, std::int64_t examples, std::int64_t features, T bias)
      : device_(device), examples_(examples), features_(features), bias_(bias) {}
  LinearOps(const LinearOps&) = delete;
  LinearOps& operator=(const LinearOps&) = delete;
  virtual ~LinearOps() = default;

  Device device() const { return device_; }
  std::int64_t examples() const { return examples_; }
  /// Rows of a block of weights: the features, and the bias where there is one.
  std::int64_t weights() const { return features_ + (bias_ > 0 ? 1 : 0); }

  /// z = X w: weights() rows to examples() rows.
  virtual void multiply(BlockView<const T> w, BlockView<T> z) = 0;
  /// g = X' z: examples() rows to weights() rows.
  virtual void multiply_transposed(BlockView<const T> z, BlockView<T> g) = 0;
  /// h = (X o X)' d, the diagonal of X' diag(d) X.
  virtual void multiply_squared_transposed(BlockView<const T> d, BlockView<T> h) = 0;

  /// Brings the sheaf's row weights and targets to the device, once per search.
  virtual void load_tables(const Sheaf& sheaf) = 0;
  /// From now on, column t of every block belongs to tasks[t].
  virtual void choose_tasks(std::span<const Task> tasks) = 0;
  /// For each chosen task: the sum over examples of cost * row weight * loss(z, y) into `values`, and the first and second
  /// derivatives of each example's term into `slopes` and `curvatures` (either may be empty: data == nullptr).
  virtual void losses(Loss loss, BlockView<const T> z, std::span<double> values, BlockView<T> slopes,
                      BlockView<T> curvatures) = 0;

  /// out[t] = a_t' b_t, summed in double.
  virtual void dot(BlockView<const T> a, BlockView<const T> b, std::span<double> out) = 0;
  /// b_t = alpha[t] a_t + beta[t] b_t. beta = 0 overwrites b, whatever it held.
  virtual void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
                       BlockView<T> b) = 0;
  /// c = a o b, element by element; c may be a or b.
  virtual void multiply_elements(BlockView<const T> a, BlockView<const T> b, BlockView<T> c) = 0;
  /// Column t of `to` becomes column keep[t] of `from`: finished tasks leave the block.
  virtual void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) = 0;

  /// Waits until every verb asked for is done.
  virtual void synchronize() = 0;

 protected:
  bool has_bias() const { return bias_ > 0; }
  std::int64_t features() const { return features_; }
  T bias() const { return bias_; }

 private:
  Device device_;
  std::int64_t examples_;
  std::int64_t features_;
  T bias_;
};

/// The backend of the context's device. Brings the dataset there; the dataset must outlive it and not move.
template <class T>
std::unique_ptr<LinearOps<T>> make_ops(const Context& context, const Dataset<T>& dataset, T bias = 0);

// The backends, for make_ops alone.
template <class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops(const Context& context, const Dataset<T>& dataset, T bias);
template <class T>
std::unique_ptr<LinearOps<T>> make_cuda_ops(const Context& context, const Dataset<T>& dataset, T bias);

}  // namespace sheaf::linear
