// When rows were: dates with or without a time of day, or numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace sheaf {

struct RowMoments {
  std::vector<double> values;  ///< of each row; empty: some text is neither a number nor a date
  std::int64_t odd_row = -1;   ///< the first such row
  bool ambiguous = false;      ///< that text is a date whose day and month are ambiguous, as in all other rows
};

/// Numbers, if all rows have one (else NaN); else dates such as 2021-03-14, 2021-03, 14.3.2021, 14/3/2021 or 3/14/2021,
/// if a row shows which of the last two is meant. A time of day and a time zone may follow.
RowMoments read_moments(std::int64_t rows, const std::function<std::string_view(std::int64_t)>& text,
                        const std::function<double(std::int64_t)>& number);

/// Places of the values among all different ones.
std::vector<std::int32_t> places_of(std::span<const double> values);

/// Whether values never fall or never rise, and are not all the same.
bool are_in_order(std::span<const double> values);

}  // namespace sheaf
