// Borrowed memory. Views are trivially copyable and go to kernels by value.
#pragma once

#include <cstdint>
#include <type_traits>

#include <sheaf/device.hpp>

namespace sheaf {

template <class T>
struct View {
  T* data = nullptr;
  std::int64_t size = 0;
  Device device;

  // NOLINTNEXTLINE(google-explicit-constructor): a view of mutable memory may always be read
  operator View<const T>() const requires(!std::is_const_v<T>) { return {data, size, device}; }
};

/// A matrix with one column per task, the tasks of one row side by side ("task-minor"): element (i, t) stands at
/// data[i * stride + t]. Columns from `tasks` to `stride` are padding: verbs may write them and never depend on them.
template <class T>
struct BlockView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int32_t tasks = 0;
  std::int32_t stride = 0;
  Device device;

  // NOLINTNEXTLINE(google-explicit-constructor): a block of mutable memory may always be read
  operator BlockView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, tasks, stride, device}; }
};

}  // namespace sheaf
