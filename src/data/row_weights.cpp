#include <sheaf/io.hpp>

#include "data/read/number_lines.hpp"

namespace sheaf {

std::vector<float> read_row_weights(const std::string& path, std::int64_t rows) {
  return read_numbers<float>(path, rows, "weight", "row");
}

std::vector<double> read_penalty_factors(const std::string& path, std::int64_t features) {
  return read_numbers<double>(path, features, "penalty factor", "feature");
}

}  // namespace sheaf
