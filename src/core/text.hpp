// Texts for people: numbers, the same in the terminal and in reports, and words of commands to copy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sheaf {

namespace detail {
std::string counted(std::int64_t count, std::string_view noun);
}  // namespace detail

/// 12,345,678.
std::string grouped(std::int64_t number);
/// "1 row", "12,345 rows": the count, a whole number of any type, grouped, and the plural of an English noun unless it
/// is 1.
template <class Count>
requires std::is_arithmetic_v<Count> std::string counted(Count count, std::string_view noun) {
  return detail::counted(static_cast<std::int64_t>(count), noun);
}
/// Whole numbers grouped, others with four significant digits.
std::string brief(double number);
/// A score with four digits; "-": not defined.
std::string score_text(double score);
/// "0.93 %", with as many digits as small shares need.
std::string percent(double share);
/// The word as a POSIX shell reads it back: in quotes if it is empty or has characters with a meaning there.
std::string shell_word(std::string_view word);

}  // namespace sheaf
