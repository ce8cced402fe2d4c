#include "data/text/moments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace sheaf {
namespace {

enum class DayPlace : std::uint8_t { unknown, day_first, month_first };

bool take_number(std::string_view& text, int& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Days since 1970-01-01 in the Gregorian calendar; none: there is no such day.
std::optional<double> days_of(int year, int month, int day) {
  static constexpr std::array<int, 12> before{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  const int past = year - (month <= 2 ? 1 : 0);  // leap days of the years before March
  const int leaps = past / 4 - past / 100 + past / 400;
  return 365.0 * year + leaps + before[static_cast<std::size_t>(month - 1)] + day - 719528.0;
}

/// Seconds of "10:30", "10:30:05.25 PM" or "10:30Z", less the time zone's.
std::optional<double> seconds_of(std::string_view text) {
  int hours = 0, minutes = 0;
  double seconds = 0;
  if (!take_number(text, hours) || !take(text, ":") || !take_number(text, minutes)) return std::nullopt;
  if (take(text, ":")) {
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
    if (problem != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  while (take(text, " ")) {
  }
  if (!text.empty() && std::string_view("AaPp").find(text.front()) != std::string_view::npos) {
    hours = hours % 12 + (text.front() == 'P' || text.front() == 'p' ? 12 : 0);
    text.remove_prefix(1);
    take(text, "Mm");
  }
  double zone = 0;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    const double sign = text.front() == '+' ? 1 : -1;
    text.remove_prefix(1);
    int away = 0, part = 0;
    const auto digits = text.find(':');
    if (!take_number(text, away)) return std::nullopt;
    if (digits != std::string_view::npos) {
      take(text, ":");
      if (!take_number(text, part)) return std::nullopt;
    } else if (away >= 100) {
      part = away % 100;
      away /= 100;
    }
    zone = sign * (3600.0 * away + 60.0 * part);
  } else {
    take(text, "Z");
  }
  if (!text.empty()) return std::nullopt;
  return 3600.0 * hours + 60.0 * minutes + seconds - zone;
}

/// The numbers of a date as they are written, and what follows.
struct Written {
  std::array<int, 3> numbers{};
  bool year_first = false;
  char between = 0;
  std::string_view rest;
};

std::optional<Written> take_date(std::string_view text) {
  Written date;
  const auto before = text.size();
  if (!take_number(text, date.numbers[0])) return std::nullopt;
  date.year_first = before - text.size() == 4;
  if (text.empty() || std::string_view("-/.").find(text.front()) == std::string_view::npos) return std::nullopt;
  date.between = text.front();
  text.remove_prefix(1);
  if (!take_number(text, date.numbers[1])) return std::nullopt;
  if (date.year_first && text.empty()) {  // a month
    date.numbers[2] = 1;
    return date;
  }
  if (!take(text, std::string_view(&date.between, 1)) || !take_number(text, date.numbers[2])) return std::nullopt;
  if (!text.empty() && !take(text, "T ")) return std::nullopt;
  date.rest = text;
  return date;
}

std::optional<double> moment_of(std::string_view text, DayPlace place) {
  const auto date = take_date(text);
  if (!date) return std::nullopt;
  auto [year, month, day] = date->numbers;
  if (!date->year_first) {
    std::swap(year, day);
    if (date->between != '.' && place == DayPlace::month_first) std::swap(month, day);
    if (year < 100) year += year < 70 ? 2000 : 1900;
  }
  const auto days = days_of(year, month, day);
  const auto seconds = date->rest.empty() ? std::optional(0.0) : seconds_of(date->rest);
  if (!days || !seconds) return std::nullopt;
  return *days * 86400 + *seconds;
}

/// Whether a row shows that its first number can't be a month, or the second one.
DayPlace find_day(std::int64_t rows, const std::function<std::string_view(std::int64_t)>& text) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto date = take_date(text(i));
    if (!date || date->year_first || date->between == '.') continue;
    if (date->numbers[0] > 12) return DayPlace::day_first;
    if (date->numbers[1] > 12) return DayPlace::month_first;
  }
  return DayPlace::unknown;
}

}  // namespace

RowMoments read_moments(std::int64_t rows, const std::function<std::string_view(std::int64_t)>& text,
                        const std::function<double(std::int64_t)>& number) {
  RowMoments result;
  bool numbers = true;
  for (std::int64_t i = 0; i < rows && numbers; ++i) numbers = std::isfinite(number(i));
  const auto place = numbers ? DayPlace::unknown : find_day(rows, text);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto date = numbers ? std::nullopt : take_date(text(i));
    result.ambiguous = date && !date->year_first && date->between != '.' && place == DayPlace::unknown;
    const auto moment = numbers ? std::optional(number(i)) : moment_of(text(i), place);
    if (moment && !result.ambiguous) {
      result.values.push_back(*moment);
      continue;
    }
    result.values.clear();
    result.odd_row = i;
    return result;
  }
  return result;
}

std::vector<std::int32_t> places_of(std::span<const double> values) {
  std::vector<double> distinct(values.begin(), values.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::int32_t> places;
  places.reserve(values.size());
  for (const double value : values)
    places.push_back(
        static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin()));
  return places;
}

bool are_in_order(std::span<const double> values) {
  if (values.empty() || values.front() == values.back()) return false;
  return std::is_sorted(values.begin(), values.end()) || std::is_sorted(values.rbegin(), values.rend());
}

}  // namespace sheaf
