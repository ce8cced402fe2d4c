#include "app/http/url.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace sheaf::app {
namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string with_blanks(std::string_view text) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '+', ' ');
  return result;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hexadecimal(text[i + 1]);
    const int low = hexadecimal(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    result += static_cast<char>(16 * high + low);
    i += 2;
  }
  return result;
}

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = letters.find(c) != letters.npos || c == '.' || c == '~';
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto part = query.substr(at, end - at);
    const auto equals = std::min(part.find('='), part.size());
    const auto name = percent_decoded(with_blanks(part.substr(0, equals)));
    const auto value = percent_decoded(with_blanks(part.substr(std::min(equals + 1, part.size()))));
    if (name && value && !name->empty()) result.emplace_back(*name, *value);
    at = end + 1;
  }
  return result;
}

std::string to_base64url(std::string_view bytes) {
  std::string result;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) result += letters[bits >> static_cast<unsigned>(count - 6) & 63U];
  }
  if (count > 0) result += letters[bits << static_cast<unsigned>(6 - count) & 63U];
  return result;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string result;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = letters.find(c);
    if (value == letters.npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
  }
  // One text for each sequence of bytes: what is left over must be zeros, and less than a letter.
  if (count >= 6 || (bits & ((1U << static_cast<unsigned>(count)) - 1)) != 0) return std::nullopt;
  return result;
}

}  // namespace sheaf::app
