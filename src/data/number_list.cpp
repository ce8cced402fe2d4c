// Lists of numbers as people type them.
#include <algorithm>
#include <cmath>

#include <sheaf/solvers/parameters.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

/// Rounded to 12 digits, so that decades come out as 0.01 and not as 0.010000000000000002.
double rounded(double number) { return parse_positive("number", fmt::format("{:.12g}", number)); }

std::vector<double> log_range(const std::vector<std::string_view>& ends, std::string_view text, std::string_view name) {
  if (ends.size() != 3) fail_usage("{} takes numbers A,B,C or a range LOW:HIGH:COUNT, not '{}'", name, text);
  const double low = parse_positive(name, ends[0]);
  const double high = parse_positive(name, ends[1]);
  const auto count = parse_number<std::int32_t>(fmt::format("the count of a {} range", name), ends[2], {2, 10000});
  if (high <= low) fail_usage("{} {}: the second number must be larger than the first", name, text);
  std::vector<double> numbers{low};
  for (std::int32_t k = 1; k + 1 < count; ++k)
    numbers.push_back(rounded(low * std::pow(high / low, static_cast<double>(k) / (count - 1))));
  numbers.push_back(high);
  return numbers;
}

}  // namespace

std::vector<double> parse_numbers(std::string_view text, std::string_view name) {
  std::vector<double> numbers;
  if (text.find(':') != std::string_view::npos)
    numbers = log_range(split_text(text, ':'), text, name);
  else
    for (const auto part : split_text(text, ',')) numbers.push_back(parse_positive(name, part));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace sheaf
