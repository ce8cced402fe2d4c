// How much each example counts, and how much each feature's penalty, from files of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf {

/// One number of 0 or more to a line, as many lines as the table has rows. "-" is standard input; compressed files are
/// read as such. Anything else is a ParseError with its place.
std::vector<float> read_row_weights(const std::string& path, std::int64_t rows);
/// The same with a line for each feature.
std::vector<double> read_penalty_factors(const std::string& path, std::int64_t features);

}  // namespace sheaf
