#include "data/text/number.hpp"

#include <algorithm>
#include <charconv>

namespace sheaf::detail {
namespace {

__extension__ using Wide = unsigned __int128;

/// Whether `word`, in lower case, stands at `at` in any case.
bool stands_there(const char* at, const char* limit, std::string_view word) {
  if (static_cast<std::size_t>(limit - at) < word.size()) return false;
  return std::equal(word.begin(), word.end(), at, [](char w, char c) { return w == (c | 0x20); });
}

/// A power of ten: mantissa x 2^exponent, the mantissa cut to 128 bits of which the highest is set.
struct WidePower {
  Wide mantissa;
  int exponent;
};

// Powers of five up to the 54th leave room for one more bit in 128.
constexpr int largest_power = 54;

constexpr Wide power_of_five(int n) {
  Wide power = 1;
  for (int i = 0; i < n; ++i) power *= 5;
  return power;
}

constexpr WidePower positive_power(int n) {
  Wide mantissa = power_of_five(n);
  int exponent = n;
  for (; mantissa >> 127 == 0; mantissa <<= 1) --exponent;
  return {mantissa, exponent};
}

/// 1 / 10^n by long division.
constexpr WidePower negative_power(int n) {
  const Wide divisor = power_of_five(n);
  Wide mantissa = 0;
  Wide rest = 1;
  int exponent = -n;
  for (; mantissa >> 127 == 0; --exponent) {
    rest <<= 1;
    mantissa <<= 1;
    if (rest < divisor) continue;
    rest -= divisor;
    mantissa |= 1;
  }
  return {mantissa, exponent};
}

constexpr auto wide_powers = [] {
  std::array<WidePower, 2 * largest_power + 1> powers{};
  for (int n = 0; n <= largest_power; ++n) {
    const auto offset = static_cast<std::size_t>(n);
    powers[largest_power + offset] = positive_power(n);
    if (n > 0) powers[largest_power - offset] = negative_power(n);
  }
  return powers;
}();

/// mantissa x 10^power rounded to double, unless what is cut off could change the rounding. The product is kept to 128
/// bits; the true one lies less than 2 units of the last above it, so only a rest that near to one half is undecided.
bool scale(std::uint64_t mantissa, std::int64_t power, double& value) {
  const int shift = std::countl_zero(mantissa);
  const WidePower& ten = wide_powers[static_cast<std::size_t>(largest_power + power)];
  const Wide product = static_cast<Wide>(mantissa << shift) * static_cast<std::uint64_t>(ten.mantissa >> 64) +
                       (static_cast<Wide>(mantissa << shift) * static_cast<std::uint64_t>(ten.mantissa) >> 64);
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const auto low = static_cast<std::uint64_t>(product);
  const int cut = high >> 63 != 0 ? 11 : 10;  // leaves 53 bits of the high word
  const std::uint64_t half = std::uint64_t{1} << (cut - 1);
  const std::uint64_t rest = high & (2 * half - 1);
  if ((rest == half && low == 0) || (rest == half - 1 && low >= ~std::uint64_t{1})) return false;
  const std::uint64_t kept = (high >> cut) + (rest >= half ? 1 : 0);
  const int exponent = cut + 128 + ten.exponent - shift;  // far from the ends of the range, as the power is
  value = static_cast<double>(kept) * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return true;
}

/// Digits in front that are zeros.
std::int64_t leading_zeros(const char* begin, const char* end) {
  const char* first = std::find_if(begin, end, [](char c) { return c != '-' && c != '+' && c != '.' && c != '0'; });
  return std::count(begin, first, '0');
}

/// A double rounded again if that is sure to be right.
template <class T>
bool narrow(double value, T& result) {
  if constexpr (std::is_same_v<T, float>)
    if (rounds_twice(value) || std::fabs(value) > 3e38) return false;
  result = static_cast<T>(value);
  return true;
}

}  // namespace

Exponent parse_exponent(const char* at, const char* limit) {
  constexpr std::int64_t most = 1'000'000'000'000'000;  // far beyond every type, and safe to add to
  const char* p = at + 1;
  const bool negative = p < limit && *p == '-';
  if (negative || (p < limit && *p == '+')) ++p;
  if (p == limit || !is_digit(*p)) return {0, at};
  std::int64_t exponent = 0;
  for (; p < limit && is_digit(*p); ++p) exponent = std::min(exponent * 10 + (*p - '0'), most);
  return {negative ? -exponent : exponent, p};
}

template <class T>
Number<T> parse_without_digits(const char* at, const char* limit) {
  const char* p = at;
  if (p < limit && (*p == '-' || *p == '+')) ++p;
  for (const std::string_view word : {"infinity", "inf", "nan"})
    if (stands_there(p, limit, word)) return {T(0), NumberStatus::not_finite, p + word.size()};
  return {T(0), NumberStatus::none, at};
}

template <class T>
Rounded<T> round_decimal(const char* begin, const Decimal& decimal) {
  const std::int64_t significant = decimal.digits - (decimal.digits > 19 ? leading_zeros(begin, decimal.end) : 0);
  const bool fits = significant <= 19;  // into the mantissa
  Rounded<T> number{decimal.negative ? -T(0) : T(0), NumberStatus::ok};
  if (fits && decimal.mantissa == 0) return number;
  double magnitude = 0;
  if (fits && decimal.exponent >= -largest_power && decimal.exponent <= largest_power &&
      scale(decimal.mantissa, decimal.exponent, magnitude) &&
      narrow(decimal.negative ? -magnitude : magnitude, number.value))
    return number;
  if (*begin == '+') ++begin;  // from_chars rejects it
  const auto result = std::from_chars(begin, decimal.end, number.value);
  // Out of range, the magnitude of 0.ddd x 10^magnitude determines the side; too small is zero, which is there already.
  if (result.ec != std::errc() && decimal.digits - leading_zeros(begin, decimal.end) + decimal.exponent > 0)
    number.status = NumberStatus::overflow;
  return number;
}

template Number<float> parse_without_digits(const char*, const char*);
template Number<double> parse_without_digits(const char*, const char*);
template Rounded<float> round_decimal(const char*, const Decimal&);
template Rounded<double> round_decimal(const char*, const Decimal&);

}  // namespace sheaf::detail
