#include "data/number.hpp"

#include <algorithm>
#include <charconv>

namespace sheaf::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether `word`, in lower case, stands at `at` in any case.
bool stands_there(const char* at, const char* limit, std::string_view word) {
  if (static_cast<std::size_t>(limit - at) < word.size()) return false;
  return std::equal(word.begin(), word.end(), at, [](char w, char c) { return w == (c | 0x20); });
}

}  // namespace

std::int64_t parse_exponent(const char*& at, const char* limit) {
  constexpr std::int64_t most = 1'000'000'000;  // far beyond every type, and safe to add to
  const char* p = at + 1;
  const bool negative = p < limit && *p == '-';
  if (negative || (p < limit && *p == '+')) ++p;
  if (p == limit || !is_digit(*p)) return 0;
  std::int64_t exponent = 0;
  for (; p < limit && is_digit(*p); ++p) exponent = std::min(exponent * 10 + (*p - '0'), most);
  at = p;
  return negative ? -exponent : exponent;
}

NumberStatus parse_without_digits(const char*& at, const char* limit) {
  const char* p = at;
  if (p < limit && (*p == '-' || *p == '+')) ++p;
  for (const std::string_view word : {"infinity", "inf", "nan"})
    if (stands_there(p, limit, word)) {
      at = p + word.size();
      return NumberStatus::not_finite;
    }
  return NumberStatus::none;
}

template <class T>
NumberStatus round_decimal(const char* begin, const char* end, const Decimal& decimal, T& value) {
  if (*begin == '+') ++begin;  // which from_chars does not know
  const auto result = std::from_chars(begin, end, value);
  if (result.ec == std::errc()) return std::isfinite(value) ? NumberStatus::ok : NumberStatus::overflow;
  // Out of range; leading zeros may make the exponent look smaller than it is, and the digits more.
  const char* first = std::find_if(begin, end, [](char c) { return c != '-' && c != '.' && c != '0'; });
  const bool zero = first == end || !is_digit(*first);
  const std::int64_t leading = std::count(begin, first, '0');
  const std::int64_t magnitude = decimal.digits - leading + decimal.exponent;  // of 0.ddd x 10^magnitude
  if (!zero && magnitude > 0) return NumberStatus::overflow;
  value = decimal.negative ? -T(0) : T(0);
  return NumberStatus::ok;
}

template NumberStatus round_decimal(const char*, const char*, const Decimal&, float&);
template NumberStatus round_decimal(const char*, const char*, const Decimal&, double&);

}  // namespace sheaf::detail
