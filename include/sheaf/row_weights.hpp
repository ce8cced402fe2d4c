// How much each example counts, from a file of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf {

/// One number of 0 or more to a line, as many lines as the table has rows. "-" is standard input; compressed files are
/// read as such. Anything else is a ParseError with its place.
std::vector<float> read_row_weights(const std::string& path, std::int64_t rows);

}  // namespace sheaf
