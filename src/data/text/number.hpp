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

/// A number read from text; by value, so that the parts of one under way stay in registers.
template <class T>
struct Number {
  T value;
  NumberStatus status;
  const char* end;  ///< behind it; if there is no number, its expected beginning
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
  const char* end;
};

/// The exponent behind "e" at `at`, and where it ends; an "e" that no digits follow is left where it stands.
struct Exponent {
  std::int64_t value;
  const char* end;
};
Exponent parse_exponent(const char* at, const char* limit);

/// For numbers that the fast way does not read: many digits, large exponents, results outside of the type's range.
template <class T>
struct Rounded {
  T value;
  NumberStatus status;
};
template <class T>
Rounded<T> round_decimal(const char* begin, const Decimal& decimal);

/// The text has no digits: an infinity, a NaN, or no number.
template <class T>
Number<T> parse_without_digits(const char* at, const char* limit);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline Decimal take_apart(const char* at, const char* limit) {
  const char sign = at < limit ? *at : '\0';
  at += static_cast<int>(sign == '-') | static_cast<int>(sign == '+');  // without a branch: signs are hard to predict
  const char* const begin = at;
  std::uint64_t mantissa = 0;
  const auto append_digits = [&] {
    for (;;) {
      const DigitRun run = digit_run(at, limit);
      mantissa = mantissa * integer_powers[static_cast<std::size_t>(run.count)] + run.value;
      at += run.count;
      if (run.count < 8) break;
    }
  };
  // One digit before the point is the most frequent form; if it is predicted, nothing waits for the count of digits.
  if (limit - at >= 2 && at[1] == '.' && is_digit(*at))
    mantissa = static_cast<std::uint64_t>(*at++ - '0');
  else
    append_digits();
  if (at == limit || *at != '.') return {mantissa, 0, at - begin, sign == '-', at};
  const char* const fraction = ++at;
  append_digits();
  return {mantissa, fraction - at, at - begin - 1, sign == '-', at};
}

/// Whether a double result may be rounded once more to float: not when it lies exactly between two floats, since it may
/// have come there by rounding, nor if floats are denormal.
inline bool rounds_twice(double value) {
  constexpr std::uint64_t tail = (std::uint64_t{1} << 29) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & tail) == (tail + 1) / 2 || (std::fabs(value) < 0x1p-126 && value != 0);
}

/// The end of the number is known before it is rounded, so that the next one need not wait.
template <class T>
inline Number<T> rounded(const char* begin, const Decimal& decimal) {
  const Rounded<T> result = round_decimal<T>(begin, decimal);
  return {result.value, result.status, decimal.end};
}

}  // namespace detail

/// Reads the number at `at`: sign, digits with at most one point, exponent. The caller checks what follows the
/// number. Too small numbers become denormal or zero.
template <class T>
inline Number<T> parse_number(const char* at, const char* limit) {
  detail::Decimal decimal = detail::take_apart(at, limit);
  if (decimal.digits == 0) [[unlikely]]
    return detail::parse_without_digits<T>(at, limit);
  if (decimal.end < limit && (*decimal.end == 'e' || *decimal.end == 'E')) [[unlikely]] {
    const detail::Exponent exponent = detail::parse_exponent(decimal.end, limit);
    decimal.exponent += exponent.value;
    decimal.end = exponent.end;
  }
  const auto power = static_cast<std::uint64_t>(decimal.exponent < 0 ? -decimal.exponent : decimal.exponent);
  if (decimal.digits > 19 || decimal.mantissa > (std::uint64_t{1} << 53) || power > 22)
    return detail::rounded<T>(at, decimal);
  // Both are exact doubles, so one rounding gives the right result.
  const auto mantissa = static_cast<double>(decimal.mantissa);
  const double scale = detail::exact_powers[power];
  const double magnitude = decimal.exponent < 0 ? mantissa / scale : mantissa * scale;
  const double result = decimal.negative ? -magnitude : magnitude;
  if constexpr (std::is_same_v<T, float>)
    if (detail::rounds_twice(result) || magnitude > 3e38) [[unlikely]]
      return detail::rounded<T>(at, decimal);
  return {static_cast<T>(result), NumberStatus::ok, decimal.end};
}

/// The status of a text that must be a number from its first to its last byte.
template <class T>
NumberStatus parse_whole_number(std::string_view text, T& value) {
  const Number<T> number = parse_number<T>(text.data(), text.data() + text.size());
  value = number.value;
  return number.end == text.data() + text.size() ? number.status : NumberStatus::none;
}

}  // namespace sheaf
