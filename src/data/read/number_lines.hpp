// Files of one number to a line: weights of rows, of features, penalty factors.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "data/bytes/text_source.hpp"
#include "data/text/line_reader.hpp"

namespace sheaf {

/// One number of 0 to `most` for each of `count` things; `what` is "a weight" of "row".
template <class Number>
std::vector<Number> read_numbers(const std::string& path, std::int64_t count, std::string_view what,
                                 std::string_view thing) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  std::vector<Number> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    reader.next_line(fmt::format("the {} of {} {} of {}", what, thing, i + 1, count));
    const double number = reader.finite(fmt::format("a {}", what));
    if (number < 0 || number > static_cast<double>(std::numeric_limits<Number>::max()))
      reader.fail_here(fmt::format("a {} is 0 or more, not {}", what, reader.word()));
    numbers.push_back(static_cast<Number>(number));
    reader.skip(reader.word());
    reader.end_line();
  }
  reader.end_file(fmt::format("the {}s of {} {}s", what, count, thing));
  return numbers;
}

}  // namespace sheaf
