#include "data/read/notation.hpp"

#include <algorithm>
#include <array>

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 4> blanks{" ", "\t", "\xC2\xA0", "\xE2\x80\xAF"};  // also no-break spaces
constexpr std::array<std::string_view, 5> between_thousands{" ", "\xC2\xA0", "\xE2\x80\xAF", "'", "\xE2\x80\x99"};
constexpr std::array<std::string_view, 6> limits{"<=", ">=", "<", ">", "\xE2\x89\xA4", "\xE2\x89\xA5"};
constexpr std::string_view minus_sign = "\xE2\x88\x92";

template <std::size_t size>
bool take_front(std::string_view& text, const std::array<std::string_view, size>& pieces) {
  for (const auto piece : pieces)
    if (text.starts_with(piece)) {
      text.remove_prefix(piece.size());
      return true;
    }
  return false;
}

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) - text.begin());
}

/// The separator between thousands that begins `text`; empty: none does.
std::string_view separator_at(std::string_view text, char decimal) {
  const char other = decimal == '.' ? ',' : '.';
  if (text.starts_with(other)) return text.substr(0, 1);
  for (const auto piece : between_thousands)
    if (text.starts_with(piece)) return piece;
  return {};
}

/// Digits before the decimal sign, without separators; false: a separator is misplaced.
bool take_whole_part(std::string_view& text, char decimal, std::string& plain, Spelling& spelling) {
  const auto first = count_digits(text);
  plain += text.substr(0, first);
  const char leading = text.empty() ? '\0' : text.front();
  text.remove_prefix(first);
  const auto separator = separator_at(text, decimal);
  if (separator.empty()) return true;
  if (first == 0 || first > 3 || leading == '0') return false;
  while (text.starts_with(separator)) {
    text.remove_prefix(separator.size());
    if (count_digits(text) != 3) return false;
    plain += text.substr(0, 3);
    text.remove_prefix(3);
  }
  spelling.grouped = true;
  return true;
}

/// The number in the form that parse_number() reads; empty if it is no number.
std::string plain_number(std::string_view text, char decimal, Spelling& spelling) {
  std::string plain;
  if (text.starts_with(minus_sign)) {
    plain.push_back('-');
    text.remove_prefix(minus_sign.size());
  } else if (text.starts_with('-') || text.starts_with('+')) {
    plain.push_back(text.front());
    text.remove_prefix(1);
  }
  if (!take_whole_part(text, decimal, plain, spelling)) return {};
  if (text.starts_with(decimal)) {
    plain += '.';
    text.remove_prefix(1);
  }
  plain += text;
  return plain;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (take_front(text, blanks)) {
  }
  for (bool found = true; found;) {
    found = false;
    for (const auto blank : blanks)
      if (text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        found = true;
      }
  }
  return text;
}

template <class T>
WrittenNumber<T> parse_written_number(std::string_view text, char decimal) {
  WrittenNumber<T> number{T(0), NumberStatus::none, {}};
  text = trimmed(text);
  number.spelling.limit = take_front(text, limits);
  number.spelling.percent = text.ends_with('%');
  if (number.spelling.percent) text.remove_suffix(1);
  text = trimmed(text);
  const auto plain = plain_number(text, decimal, number.spelling);
  const bool decorated = number.spelling.limit || number.spelling.percent;
  if (plain.empty() || (decorated && plain.find_first_of("0123456789") == std::string::npos)) return number;
  number.status = parse_whole_number(std::string_view(plain), number.value);
  return number;
}

template WrittenNumber<float> parse_written_number(std::string_view, char);
template WrittenNumber<double> parse_written_number(std::string_view, char);

void DecimalEvidence::add(std::string_view text) {
  if (text.find_first_of(".,") == std::string_view::npos) return;
  const bool with_comma = parse_written_number<double>(text, ',').ok();
  const bool with_point = parse_written_number<double>(text, '.').ok();
  comma |= with_comma && !with_point;
  point |= with_point && !with_comma;
  ambiguous |= with_comma && with_point && text.find(',') != std::string_view::npos;
}

MissingCodes::MissingCodes(const std::vector<std::string>& codes) : texts_(codes) {
  for (const auto& code : codes) {
    double number = 0;
    if (parse_whole_number(std::string_view(code), number) == NumberStatus::ok) numbers_.push_back(number);
  }
}

bool MissingCodes::hold(std::string_view text, char decimal) const {
  if (empty()) return false;
  if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return true;
  if (numbers_.empty()) return false;
  const auto number = parse_written_number<double>(text, decimal);
  const bool bare = number.ok() && !number.spelling.percent && !number.spelling.limit;
  return bare && std::find(numbers_.begin(), numbers_.end(), number.value) != numbers_.end();
}

}  // namespace sheaf
