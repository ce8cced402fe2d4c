#include "core/text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace sheaf {

std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string detail::counted(std::int64_t count, std::string_view noun) {
  auto text = grouped(count) + ' ' + std::string(noun);
  if (count == 1) return text;
  const auto ends = [&](std::string_view with) { return noun.ends_with(with); };
  const bool vowel_before_y = noun.size() > 1 && std::string_view("aeiou").find(noun[noun.size() - 2]) != noun.npos;
  if (ends("index")) return text.replace(text.size() - 2, 2, "ices");
  if (ends("y") && !vowel_before_y) return text.replace(text.size() - 1, 1, "ies");
  return text + (ends("s") || ends("x") || ends("ch") || ends("sh") ? "es" : "s");
}

std::string brief(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
  if (whole || (std::abs(number) >= 1e3 && std::abs(number) < 1e15)) return grouped(std::llround(number));
  return fmt::format("{:.4g}", number);
}

std::string score_text(double score) { return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-"; }

std::string percent(double share) {
  const double value = share * 100;
  const int digits = value == 0 || value >= 10 ? 1 : value >= 0.1 ? 2 : 4;
  return fmt::format("{:.{}f} %", value, value >= 100 ? 0 : digits);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+%@";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace sheaf
