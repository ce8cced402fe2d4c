// Memory on a device, owned in exactly one place or borrowed from the caller. Nothing moves between devices unless to()
// is called.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <sheaf/error.hpp>
#include <sheaf/solvers/device.hpp>

namespace sheaf {

/// Borrowed memory. Views are trivially copyable and go to kernels by value.
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

/// Uninitialised memory on a device; 64-byte aligned on the CPU, huge pages if large. nullptr for no bytes.
void* allocate(Device device, std::int64_t bytes);
void release(Device device, void* memory) noexcept;

/// Copies between any two places and returns when the copy is done.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::int64_t bytes);

/// Sets every byte, and returns when it is done.
void fill_bytes(void* memory, Device device, int value, std::int64_t bytes);

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// Uninitialised.
  explicit Array(std::int64_t size, Device device = Device::cpu())
      : data_(static_cast<T*>(allocate(device, size * static_cast<std::int64_t>(sizeof(T))))),
        size_(size),
        device_(device) {}
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array(std::move(other)).swap(*this);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (owned_) release(device_, data_);
  }

  /// Over memory that someone else owns and that must outlive the array.
  static Array over(T* data, std::int64_t size, Device device = Device::cpu()) {
    Array result;
    result.data_ = data;
    result.size_ = size;
    result.device_ = device;
    result.owned_ = false;
    return result;
  }

  /// The same over memory that is only to be read: code that changes an array checks is_owned() first.
  static Array over(const T* data, std::int64_t size, Device device = Device::cpu()) {
    return over(const_cast<T*>(data), size, device);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }

  static Array zeros(std::int64_t size, Device device = Device::cpu()) {
    Array result(size, device);
    fill_bytes(result.data_, device, 0, result.bytes());
    return result;
  }
  static Array copy_of(std::span<const T> values, Device device = Device::cpu()) {
    Array result(static_cast<std::int64_t>(values.size()), device);
    copy_bytes(result.data_, device, values.data(), Device::cpu(), result.bytes());
    return result;
  }

  Array to(Device device) const {
    Array result(size_, device);
    copy_bytes(result.data_, device, data_, device_, bytes());
    return result;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  Device device() const { return device_; }
  bool is_owned() const { return owned_; }
  View<T> view() { return {data_, size_, device_}; }
  View<const T> view() const { return {data_, size_, device_}; }

  // CPU memory only.
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size_)}; }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
    std::swap(owned_, other.owned_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Device device_;
  bool owned_ = true;
};

/// The padded width of a block of `tasks` columns: 1, 2, 4, or a multiple of 8, so that inner loops have fixed widths.
constexpr std::int32_t block_stride(std::int32_t tasks) {
  if (tasks <= 2) return tasks;
  if (tasks <= 4) return 4;
  return (tasks + 7) / 8 * 8;
}

/// Owns a task-minor matrix (see BlockView); starts as zeros, the padding too.
template <class T>
class Block {
 public:
  Block() = default;
  Block(std::int64_t rows, std::int32_t tasks, Device device = Device::cpu())
      : rows_(rows), tasks_(tasks), stride_(block_stride(tasks)), values_(Array<T>::zeros(rows * stride_, device)) {}

  BlockView<T> view() { return {values_.data(), rows_, tasks_, stride_, values_.device()}; }
  BlockView<const T> view() const { return {values_.data(), rows_, tasks_, stride_, values_.device()}; }
  std::int64_t rows() const { return rows_; }
  std::int32_t tasks() const { return tasks_; }
  std::int32_t stride() const { return stride_; }
  Device device() const { return values_.device(); }
  Block to(Device device) const {
    Block result;
    result.rows_ = rows_;
    result.tasks_ = tasks_;
    result.stride_ = stride_;
    result.values_ = values_.to(device);
    return result;
  }

  // CPU memory only.
  T& operator()(std::int64_t row, std::int32_t task) { return values_[row * stride_ + task]; }
  const T& operator()(std::int64_t row, std::int32_t task) const { return values_[row * stride_ + task]; }

 private:
  std::int64_t rows_ = 0;
  std::int32_t tasks_ = 0;
  std::int32_t stride_ = 0;
  Array<T> values_;
};

}  // namespace sheaf
