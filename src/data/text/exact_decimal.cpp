#include "data/text/exact_decimal.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "data/text/number.hpp"

namespace sheaf {

ExactDecimal exact_decimal(std::string_view text) {
  ExactDecimal number;
  number.negative = text.starts_with('-');
  if (number.negative || text.starts_with('+')) text.remove_prefix(1);
  const auto end = std::min(text.find_first_of("eE"), text.size());
  if (end < text.size()) number.exponent = detail::parse_exponent(text.data() + end, text.data() + text.size()).value;
  const auto mantissa = text.substr(0, end);
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  number.digits = std::string(mantissa.substr(0, point));
  if (point < mantissa.size()) number.digits += mantissa.substr(point + 1);
  number.exponent += static_cast<std::int64_t>(point);
  const auto zeros = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, zeros);
  number.exponent -= static_cast<std::int64_t>(zeros);
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  return number.digits.empty() ? ExactDecimal{} : number;
}

bool operator<(const ExactDecimal& a, const ExactDecimal& b) {
  if (a.negative != b.negative) return a.negative;
  const auto& low = a.negative ? b : a;
  const auto& high = a.negative ? a : b;
  if (low.digits.empty() || high.digits.empty()) return low.digits.empty() && !high.digits.empty();
  return std::tie(low.exponent, low.digits) < std::tie(high.exponent, high.digits);
}

std::string to_string(const ExactDecimal& number) {
  if (number.digits.empty()) return "0";
  return fmt::format("{}0.{}e{}", number.negative ? "-" : "", number.digits, number.exponent);
}

}  // namespace sheaf
