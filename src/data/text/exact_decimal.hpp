// Decimal numbers without rounding: whole numbers above 2^53 are not all numbers of their own in double, and labels,
// groups and levels that differ stay apart.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace sheaf {

/// Whole numbers below it are numbers of their own in double; it is also the double of the next whole number.
inline constexpr double first_inexact_double = 0x1p53;

inline bool is_beyond_exact(double number) { return std::abs(number) >= first_inexact_double; }

/// A number as 0.DIGITS x 10^exponent.
struct ExactDecimal {
  bool negative = false;
  std::string digits;  ///< neither the first nor the last is 0; empty: the number is 0
  std::int64_t exponent = 0;

  bool operator==(const ExactDecimal&) const = default;
};

/// `text` must be a finite number that parse_whole_number() takes.
ExactDecimal exact_decimal(std::string_view text);
bool operator<(const ExactDecimal& a, const ExactDecimal& b);

/// The same text for the same number, however it is spelled.
std::string to_string(const ExactDecimal& number);

}  // namespace sheaf
