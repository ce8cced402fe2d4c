// Arrays that stay on a device: numbers of one type in the shape of a matrix, whose columns lie one after the other (as
// in R and in cuBLAS), and plain arithmetic on them. Copies of an array share its memory, which is never changed by the
// functions below. All arrays of one call must be on one device; results are there too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/device.hpp>

namespace sheaf {

enum class ElementType : std::uint8_t { float64, float32, int32, uint8 };

/// The name in C++: "double", "float", "int", "unsigned char".
std::string_view to_string(ElementType type);
/// A UsageError names the types that there are.
ElementType parse_element_type(std::string_view text);
std::int64_t element_size(ElementType type);

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, double>) return ElementType::float64;
  if constexpr (std::is_same_v<T, float>) return ElementType::float32;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::int32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::uint8;
}

class DeviceArray {
 public:
  DeviceArray() = default;
  /// Uninitialised.
  DeviceArray(ElementType type, std::int64_t rows, std::int64_t columns, Device device);

  /// `values` on the CPU, column by column.
  template <class T>
  static DeviceArray copy_of(std::span<const T> values, std::int64_t rows, std::int64_t columns, Device device) {
    DeviceArray result(element_type<T>(), rows, columns, device);
    result.fill_from(values.data(), static_cast<std::int64_t>(values.size_bytes()));
    return result;
  }
  /// On the CPU, column by column; T must be the type of the elements.
  template <class T>
  std::vector<T> values() const {
    require(element_type<T>() == type_, "an array was read as another type");
    std::vector<T> result(static_cast<std::size_t>(size()));
    copy_bytes(result.data(), Device::cpu(), data(), device(), bytes());
    return result;
  }

  ElementType type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t size() const { return rows_ * columns_; }
  std::int64_t bytes() const { return size() * element_size(type_); }
  Device device() const { return device_; }
  void* data() { return memory_ ? memory_->data() : nullptr; }
  const void* data() const { return memory_ ? memory_->data() : nullptr; }
  DeviceArray to(Device device) const;

 private:
  void fill_from(const void* values, std::int64_t bytes);

  ElementType type_ = ElementType::float64;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  Device device_;
  std::shared_ptr<Array<std::byte>> memory_;
};

/// Functions of one number, by R's names; round() takes halves to the even number.
// clang-format off
enum class UnaryFunction : std::uint8_t {
  negate, logical_not, abs, sign, sqrt, floor, ceiling, trunc, round, exp, expm1, log, log1p, log2, log10, sin, cos, tan,
  asin, acos, atan, sinh, cosh, tanh, lgamma
};
// clang-format on
/// Functions of two numbers. Comparisons give 1 or 0; modulo has the sign of the divisor.
// clang-format off
enum class BinaryFunction : std::uint8_t {
  add, subtract, multiply, divide, power, modulo, integer_divide, equal, not_equal, less, less_equal, greater,
  greater_equal, logical_and, logical_or, minimum, maximum
};
// clang-format on
/// Sums and means add in double; the least and the largest are NaN if an element is.
enum class Reduction : std::uint8_t { sum, mean, least, largest };
/// Result of a reduction: one number, one for each row, or one for each column.
enum class Margin : std::uint8_t { all, rows, columns };

/// By the names of the enumerators. Another name is a UsageError.
UnaryFunction parse_unary_function(std::string_view name);
BinaryFunction parse_binary_function(std::string_view name);
Reduction parse_reduction(std::string_view name);

/// Functions work in float if all arrays are float, and else in double; the result is of that type.
DeviceArray apply(const Context& context, UnaryFunction function, const DeviceArray& x);
/// The elements of a shorter array are recycled, as in R; its size must divide the other's.
DeviceArray combine(const Context& context, BinaryFunction function, const DeviceArray& x, const DeviceArray& y);
/// One number is double, whatever the array.
DeviceArray reduce(const Context& context, Reduction reduction, Margin margin, const DeviceArray& x);
/// op(x) op(y), where op may transpose.
DeviceArray matrix_product(const Context& context, const DeviceArray& x, bool transpose_x, const DeviceArray& y,
                           bool transpose_y);
DeviceArray transpose(const Context& context, const DeviceArray& x);
/// Fractions are cut off if the type has none.
DeviceArray convert(const Context& context, const DeviceArray& x, ElementType type);

}  // namespace sheaf
