// The verbs of arithmetic on arrays. Memory is on the device of the context, columns lie one after the other; T is
// double or float. All verbs have finished when they return. Results are the same for any number of threads.
#pragma once

#include <cstdint>
#include <memory>

#include <sheaf/context.hpp>
#include <sheaf/solvers/device_array.hpp>

#include "arrays/functions.hpp"

namespace sheaf::arrays {

/// A matrix product: out (m x n) = op(x) op(y), with k the common dimension; a stride is that from column to column.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t x_stride = 0, y_stride = 0;
  bool transpose_x = false, transpose_y = false;
};

template <class T>
class ArrayOps {
 public:
  explicit ArrayOps(const Context& context) : context_(context) {}
  ArrayOps(const ArrayOps&) = delete;
  ArrayOps& operator=(const ArrayOps&) = delete;
  virtual ~ArrayOps() = default;

  virtual void apply(UnaryFunction function, const T* x, std::int64_t size, T* out) = 0;
  /// Element i of x is x[i % x_size], and likewise of y.
  virtual void combine(BinaryFunction function, const T* x, std::int64_t x_size, const T* y, std::int64_t y_size,
                       std::int64_t size, T* out) = 0;
  /// out[o] is `factor` times the reduction of the elements of output o.
  virtual void reduce(Reduction reduction, const Reach& reach, double factor, const T* x, double* out) = 0;
  virtual void product(const ProductShape& shape, const T* x, const T* y, T* out) = 0;
  /// out (columns x rows) of x (rows x columns).
  virtual void transpose(const T* x, std::int64_t rows, std::int64_t columns, T* out) = 0;

 protected:
  const Context& context() const { return context_; }

 private:
  Context context_;
};

template <class T>
std::unique_ptr<ArrayOps<T>> make_cpu_ops(const Context& context);
template <class T>
std::unique_ptr<ArrayOps<T>> make_cuda_ops(const Context& context);

/// Elements of one type as another.
void convert_cpu(const Context& context, const void* from, ElementType from_type, std::int64_t size, void* to,
                 ElementType to_type);
void convert_cuda(const Context& context, const void* from, ElementType from_type, std::int64_t size, void* to,
                  ElementType to_type);

/// Calls use(pointer) with a null pointer to the type that `type` stands for.
template <class Use>
void with_type(ElementType type, const Use& use) {
  switch (type) {
    case ElementType::float64:
      return use(static_cast<double*>(nullptr));
    case ElementType::float32:
      return use(static_cast<float*>(nullptr));
    case ElementType::int32:
      return use(static_cast<std::int32_t*>(nullptr));
    case ElementType::uint8:
      return use(static_cast<std::uint8_t*>(nullptr));
  }
}

}  // namespace sheaf::arrays
