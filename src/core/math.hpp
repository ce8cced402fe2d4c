// Elementary functions without branches or tables, so that a loop over tasks becomes vector code on the CPU, and both
// backends compute the same thing. Errors: a few units in the last place.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/host_device.hpp"

namespace sheaf {

/// exp(x) for x <= 0. Results under the smallest normal number may be 0.
template <class T>
SHEAF_HOST_DEVICE inline T exp_nonpositive(T x) {
  constexpr bool single = std::is_same_v<T, float>;
  using Bits = std::conditional_t<single, std::int32_t, std::int64_t>;
  constexpr int mantissa = single ? 23 : 52;
  constexpr Bits bias = single ? 127 : 1023;
  constexpr T lowest = single ? T(-87.0) : T(-708.0);
  constexpr T log2e = T(1.4426950408889634074);
  constexpr T ln2_high = single ? T(0.693145751953125) : T(0x1.62e42fefa38p-1);
  constexpr T ln2_low = single ? T(1.428606820309417e-6) : T(0x1.ef35793c7673p-45);
  // x = n ln 2 + r, |r| <= ln 2 / 2; adding 1.5 * 2^mantissa rounds to an integer held in the low bits.
  constexpr T shifter = single ? T(12582912.0) : T(6755399441055744.0);
  const T clamped = x < lowest ? lowest : x;
  const T shifted = clamped * log2e + shifter;
  const T n = shifted - shifter;
  const T r = (clamped - n * ln2_high) - n * ln2_low;
  T p = single ? T(1.0 / 5040) : T(1.0 / 6227020800.0);
  if constexpr (!single) {
    p = p * r + T(1.0 / 479001600);
    p = p * r + T(1.0 / 39916800);
    p = p * r + T(1.0 / 3628800);
    p = p * r + T(1.0 / 362880);
    p = p * r + T(1.0 / 40320);
    p = p * r + T(1.0 / 5040);
  }
  p = p * r + T(1.0 / 720);
  p = p * r + T(1.0 / 120);
  p = p * r + T(1.0 / 24);
  p = p * r + T(1.0 / 6);
  p = p * r + T(0.5);
  p = p * r + T(1);
  p = p * r + T(1);
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  constexpr Bits field = (Bits(1) << (mantissa - 1)) - 1;
  const Bits power = ((bits + bias) & field) << mantissa;  // 2^n: n stands in the low bits of `shifted`
  T scale;
  std::memcpy(&scale, &power, sizeof scale);
  return x < lowest ? T(0) : p * scale;
}

/// log(1 + e) for 0 <= e <= 1, as 2 atanh(e / (2 + e)).
template <class T>
SHEAF_HOST_DEVICE inline T log1p_unit(T e) {
  const T s = e / (2 + e);
  const T q = s * s;  // at most 1/9
  T p = 0;
  if constexpr (std::is_same_v<T, double>) {
    p = T(1.0 / 33);
    p = p * q + T(1.0 / 31);
    p = p * q + T(1.0 / 29);
    p = p * q + T(1.0 / 27);
    p = p * q + T(1.0 / 25);
    p = p * q + T(1.0 / 23);
    p = p * q + T(1.0 / 21);
    p = p * q + T(1.0 / 19);
    p = p * q + T(1.0 / 17);
    p = p * q + T(1.0 / 15);
  }
  p = p * q + T(1.0 / 13);
  p = p * q + T(1.0 / 11);
  p = p * q + T(1.0 / 9);
  p = p * q + T(1.0 / 7);
  p = p * q + T(1.0 / 5);
  p = p * q + T(1.0 / 3);
  return 2 * s + 2 * s * q * p;
}

}  // namespace sheaf
