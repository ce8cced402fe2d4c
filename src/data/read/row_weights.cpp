#include <algorithm>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "data/read/number_lines.hpp"

namespace sheaf {

std::vector<float> read_row_weights(const std::string& path, std::int64_t rows) {
  auto weights = read_numbers<float>(path, rows, "weight", "row");
  if (rows > 0 && std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 0; }))
    fail("{}: all {} weights are 0, which leaves no row to train on; a weight above 0 is expected", path, rows);
  return weights;
}

std::vector<double> read_penalty_factors(const std::string& path, std::int64_t features) {
  return read_numbers<double>(path, features, "penalty factor", "feature");
}

}  // namespace sheaf
