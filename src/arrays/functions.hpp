// Functions of one and of two numbers, and how reductions combine: written once for both backends.
#pragma once

#include <cmath>

#include <sheaf/solvers/device_array.hpp>

#include "core/host_device.hpp"

namespace sheaf::arrays {

template <class T>
SHEAF_HOST_DEVICE inline T evaluate(UnaryFunction function, T x) {
  switch (function) {
    case UnaryFunction::negate:
      return -x;
    case UnaryFunction::logical_not:
      return x == T(0) ? T(1) : T(0);
    case UnaryFunction::abs:
      return std::fabs(x);
    case UnaryFunction::sign:
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;  // NaN and 0 stay what they are
    case UnaryFunction::sqrt:
      return std::sqrt(x);
    case UnaryFunction::floor:
      return std::floor(x);
    case UnaryFunction::ceiling:
      return std::ceil(x);
    case UnaryFunction::trunc:
      return std::trunc(x);
    case UnaryFunction::round:
      return std::rint(x);
    case UnaryFunction::exp:
      return std::exp(x);
    case UnaryFunction::expm1:
      return std::expm1(x);
    case UnaryFunction::log:
      return std::log(x);
    case UnaryFunction::log1p:
      return std::log1p(x);
    case UnaryFunction::log2:
      return std::log2(x);
    case UnaryFunction::log10:
      return std::log10(x);
    case UnaryFunction::sin:
      return std::sin(x);
    case UnaryFunction::cos:
      return std::cos(x);
    case UnaryFunction::tan:
      return std::tan(x);
    case UnaryFunction::asin:
      return std::asin(x);
    case UnaryFunction::acos:
      return std::acos(x);
    case UnaryFunction::atan:
      return std::atan(x);
    case UnaryFunction::sinh:
      return std::sinh(x);
    case UnaryFunction::cosh:
      return std::cosh(x);
    case UnaryFunction::tanh:
      return std::tanh(x);
    case UnaryFunction::lgamma:
      return std::lgamma(x);
  }
  return x;
}

template <class T>
SHEAF_HOST_DEVICE inline T evaluate(BinaryFunction function, T x, T y) {
  const auto flag = [](bool holds) { return holds ? T(1) : T(0); };
  switch (function) {
    case BinaryFunction::add:
      return x + y;
    case BinaryFunction::subtract:
      return x - y;
    case BinaryFunction::multiply:
      return x * y;
    case BinaryFunction::divide:
      return x / y;
    case BinaryFunction::power:
      return std::pow(x, y);
    case BinaryFunction::modulo:
      return x - std::floor(x / y) * y;
    case BinaryFunction::integer_divide:
      return std::floor(x / y);
    case BinaryFunction::equal:
      return flag(x == y);
    case BinaryFunction::not_equal:
      return flag(x != y);
    case BinaryFunction::less:
      return flag(x < y);
    case BinaryFunction::less_equal:
      return flag(x <= y);
    case BinaryFunction::greater:
      return flag(x > y);
    case BinaryFunction::greater_equal:
      return flag(x >= y);
    case BinaryFunction::logical_and:
      return flag(x != T(0) && y != T(0));
    case BinaryFunction::logical_or:
      return flag(x != T(0) || y != T(0));
    case BinaryFunction::minimum:
      return y < x || y != y ? y : x;
    case BinaryFunction::maximum:
      return y > x || y != y ? y : x;
  }
  return x;
}

/// The neutral element: combined with any number, it leaves that number unchanged.
SHEAF_HOST_DEVICE inline double start_of(Reduction reduction) {
  if (reduction == Reduction::least) return INFINITY;
  if (reduction == Reduction::largest) return -INFINITY;
  return 0;
}

SHEAF_HOST_DEVICE inline double combine_two(Reduction reduction, double a, double b) {
  if (reduction == Reduction::least) return evaluate(BinaryFunction::minimum, a, b);
  if (reduction == Reduction::largest) return evaluate(BinaryFunction::maximum, a, b);
  return a + b;
}

/// Element (o, k) of a reduction, k running over the elements combined into output o, is at o * by_output + k *
/// by_step.
struct Reach {
  std::int64_t outputs = 0;
  std::int64_t count = 0;
  std::int64_t by_output = 0;
  std::int64_t by_step = 0;
};
inline Reach reach_of(Margin margin, std::int64_t rows, std::int64_t columns) {
  if (margin == Margin::rows) return {rows, columns, 1, rows};
  if (margin == Margin::columns) return {columns, rows, rows, 1};
  return {1, rows * columns, 0, 1};
}

}  // namespace sheaf::arrays
