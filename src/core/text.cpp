#include <sheaf/text.hpp>

#include <cmath>

#include <fmt/format.h>

namespace sheaf {

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3 + (number < 0 ? 1U : 0U); at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string brief(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
  if (whole || (std::abs(number) >= 1e4 && std::abs(number) < 1e15)) return grouped(std::llround(number));
  return fmt::format("{:.4g}", number);
}

std::string percent(double share) {
  const double value = share * 100;
  const int digits = value == 0 || value >= 10 ? 1 : value >= 0.1 ? 2 : 4;
  return fmt::format("{:.{}f} %", value, value >= 100 ? 0 : digits);
}

}  // namespace sheaf
