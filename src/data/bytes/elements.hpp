// Elements of arrays in binary files: numbers of any width and byte order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace sheaf {

struct ElementType {
  char kind = 'f';        ///< f: floating point; i, u: integers with and without a sign; b: truth values
  std::size_t bytes = 8;  ///< of one element
  bool swapped = false;   ///< the byte order is not that of this machine

  bool is_number() const {
    const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return power && (kind == 'i' || kind == 'u' || (kind == 'b' && bytes == 1) || (kind == 'f' && bytes > 1));
  }
};

/// IEEE 754's format of 16 bits.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
  }
};

/// Element k of `data`, as From is stored there.
template <class From>
From load_element(const char* data, std::int64_t k, bool swapped) {
  std::array<char, sizeof(From)> bytes;
  std::memcpy(bytes.data(), data + k * static_cast<std::int64_t>(sizeof(From)), sizeof(From));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<From>(bytes);
}

/// A number of type To; one that is too large for a float is infinite.
template <class To, class From>
To convert_element(From value) {
  if constexpr (std::is_same_v<From, Half>)
    return static_cast<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

/// Calls visit(std::type_identity<From>{}) with the C++ type of the elements, which must be numbers.
template <class Visit>
auto visit_element_type(ElementType type, Visit&& visit) {
  if (type.kind == 'f' && type.bytes == 2) return visit(std::type_identity<Half>{});
  if (type.kind == 'f' && type.bytes == 4) return visit(std::type_identity<float>{});
  if (type.kind == 'f') return visit(std::type_identity<double>{});
  if (type.kind == 'i' && type.bytes == 1) return visit(std::type_identity<std::int8_t>{});
  if (type.kind == 'i' && type.bytes == 2) return visit(std::type_identity<std::int16_t>{});
  if (type.kind == 'i' && type.bytes == 4) return visit(std::type_identity<std::int32_t>{});
  if (type.kind == 'i') return visit(std::type_identity<std::int64_t>{});
  if (type.bytes == 1) return visit(std::type_identity<std::uint8_t>{});
  if (type.bytes == 2) return visit(std::type_identity<std::uint16_t>{});
  if (type.bytes == 4) return visit(std::type_identity<std::uint32_t>{});
  return visit(std::type_identity<std::uint64_t>{});
}

}  // namespace sheaf
