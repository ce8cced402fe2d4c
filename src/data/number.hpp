// Decimal numbers from text, correctly rounded. The common case is inline and reads eight digits at a time; nothing at
// or behind `limit` is ever read.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace sheaf {

enum class NumberStatus : std::uint8_t {
  ok,
  none,        ///< no number stands there
  not_finite,  ///< inf, infinity or nan, in any letter case
  overflow,    ///< too large for the type
};

/// Up to eight digits in a row.
struct DigitRun {
  std::uint32_t value;
  std::int32_t count;
};

/// The eight bytes at `at`, the first in the lowest byte; zeros from `limit` on.
inline std::uint64_t load_eight(const char* at, const char* limit) {
  std::uint64_t word = 0;
  if (limit - at >= 8) [[likely]]
    std::memcpy(&word, at, 8);
  else if (at < limit)
    std::memcpy(&word, at, static_cast<std::size_t>(limit - at));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// The digits at `at`, at most eight, by arithmetic on one word: no branch depends on how many there are.
inline DigitRun digit_run(const char* at, const char* limit) {
  const std::uint64_t digits = load_eight(at, limit) ^ 0x3030303030303030U;  // bytes 0 .. 9 where digits stand
  const std::uint64_t others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  // Digits to the top, zeros before them; in two steps, since a shift by 64 is undefined.
  std::uint64_t v = digits << (4 * (8 - count)) << (4 * (8 - count));
  v = v * 10 + (v >> 8);  // every second byte: a pair of digits
  v = ((v & 0x000000FF000000FFU) * 0x000F424000000064U + ((v >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U) >> 32;
  return {static_cast<std::uint32_t>(v), count};
}

namespace detail {

inline constexpr std::array<std::uint64_t, 9> integer_powers{1,      10,      100,      1000,     10000,
                                                             100000, 1000000, 10000000, 100000000};
/// All powers of ten that are exact doubles.
inline constexpr std::array<double, 23> exact_powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// A number taken apart: `digits` digits with the decimal point taken out, times ten to the `exponent`. `mantissa` is
/// their value as long as at most 19 of them are significant.
struct Decimal {
  std::uint64_t mantissa;
  std::int64_t exponent;
  std::int64_t digits;
  bool negative;
};

/// The exponent behind "e" at `at`, which moves on; an "e" that no digits follow is left where it stands.
std::int64_t parse_exponent(const char*& at, const char* limit);

/// Whatever the fast way does not take: many digits, large exponents, results outside of the type's range.
template <class T>
NumberStatus round_decimal(const char* begin, const char* end, const Decimal& decimal, T& value);

/// No digits stand there: tells infinities and NaNs, behind which `at` moves, from other text.
NumberStatus parse_without_digits(const char*& at, const char* limit);

inline const char* append_digits(const char* at, const char* limit, std::uint64_t& mantissa) {
  DigitRun run{};
  do {
    run = digit_run(at, limit);
    mantissa = mantissa * integer_powers[static_cast<std::size_t>(run.count)] + run.value;
    at += run.count;
  } while (run.count == 8);
  return at;
}

inline const char* take_apart(const char* at, const char* limit, Decimal& decimal) {
  decimal.negative = at < limit && *at == '-';
  if (decimal.negative || (at < limit && *at == '+')) ++at;
  const char* begin = at;
  decimal.mantissa = 0;
  decimal.exponent = 0;
  at = append_digits(at, limit, decimal.mantissa);
  decimal.digits = at - begin;
  if (at < limit && *at == '.') {
    const char* fraction = ++at;
    at = append_digits(at, limit, decimal.mantissa);
    decimal.exponent = fraction - at;
    decimal.digits += at - fraction;
  }
  return at;
}

/// Whether a double result may be rounded once more to float: not when it lies exactly between two floats, since it may
/// have come there by rounding, nor where floats are denormal.
inline bool rounds_twice(double value) {
  constexpr std::uint64_t tail = (std::uint64_t{1} << 29) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & tail) == (tail + 1) / 2 || (std::fabs(value) < 0x1p-126 && value != 0);
}

}  // namespace detail

/// Reads the number at `at` and moves `at` behind it: sign, digits with at most one point, exponent. What follows the
/// number is the caller's to judge. Too small numbers become denormal or zero. `at` does not move where no number
/// stands.
template <class T>
inline NumberStatus parse_number(const char*& at, const char* limit, T& value) {
  detail::Decimal decimal;
  const char* begin = at;
  const char* end = detail::take_apart(at, limit, decimal);
  if (decimal.digits == 0) [[unlikely]]
    return detail::parse_without_digits(at, limit);
  at = end;
  if (at < limit && (*at == 'e' || *at == 'E')) [[unlikely]]
    decimal.exponent += detail::parse_exponent(at, limit);
  const auto power = static_cast<std::uint64_t>(decimal.exponent < 0 ? -decimal.exponent : decimal.exponent);
  if (decimal.digits > 19 || decimal.mantissa > (std::uint64_t{1} << 53) || power > 22) [[unlikely]]
    return detail::round_decimal(begin, at, decimal, value);
  // Both are exact doubles, so one rounding gives the right result.
  const auto mantissa = static_cast<double>(decimal.mantissa);
  const double scale = detail::exact_powers[power];
  const double magnitude = decimal.exponent < 0 ? mantissa / scale : mantissa * scale;
  const double result = decimal.negative ? -magnitude : magnitude;
  if constexpr (std::is_same_v<T, float>)
    if (detail::rounds_twice(result) || magnitude > 3e38) [[unlikely]]
      return detail::round_decimal(begin, at, decimal, value);
  value = static_cast<T>(result);
  return NumberStatus::ok;
}

/// The status of a text that must be a number from its first to its last byte.
template <class T>
NumberStatus parse_whole_number(std::string_view text, T& value) {
  const char* at = text.data();
  const char* end = at + text.size();
  const NumberStatus status = parse_number(at, end, value);
  return at == end ? status : NumberStatus::none;
}

}  // namespace sheaf
