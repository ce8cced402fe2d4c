// Logarithms and sums in a form for loops of one thread over rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace sheaf::linear::covariance {

/// log(x) for x above 0 and not subnormal, without branches and with instructions that all vector units have: x = 2^n m
/// with m from sqrt(1/2) to sqrt(2), and log(m) = 2 atanh((m - 1) / (m + 1)).
inline double log_normal(double x) {
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t one = std::uint64_t{1023} << 52;
  constexpr std::uint64_t shifter = std::uint64_t{0x433} << 52;  // 2^52: its lowest bits count units
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint64_t power_bits = (bits >> 52) | shifter;
  const std::uint64_t mantissa_bits = (bits & fraction) | one;
  double power, mantissa;
  std::memcpy(&power, &power_bits, sizeof power);
  std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
  const bool large = mantissa > 1.4142135623730951;
  const double m = large ? mantissa / 2 : mantissa;
  const double n = power - (4503599627370496.0 + 1023) + (large ? 1 : 0);
  const double s = (m - 1) / (m + 1);
  const double q = s * s;  // at most 0.0295
  double p = 1.0 / 19;
  p = p * q + 1.0 / 17;
  p = p * q + 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  return n * 0.69314718055994530942 + (2 * s + 2 * s * q * p);
}
/// x log(x), 0 at 0.
inline double times_log(double x) {
  constexpr double tiny = std::numeric_limits<double>::min();
  return x * log_normal(x > tiny ? x : tiny);
}

/// The sum of term(0) .. term(count - 1), several at once: a chain of additions waits for each.
template <class Term>
double sum_over(std::size_t count, const Term& term) {
  constexpr std::size_t chains = 16;
  double sums[chains] = {};
  std::size_t i = 0;
  for (; i + chains <= count; i += chains)
    for (std::size_t c = 0; c < chains; ++c) sums[c] += term(i + c);
  for (; i < count; ++i) sums[0] += term(i);
  for (std::size_t half = chains / 2; half > 0; half /= 2)
    for (std::size_t c = 0; c < half; ++c) sums[c] += sums[c + half];
  return sums[0];
}

}  // namespace sheaf::linear::covariance
