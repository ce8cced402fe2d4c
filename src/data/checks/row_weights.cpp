#include "data/checks/row_weights.hpp"

#include <cmath>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace sheaf {

void check_row_weights(std::span<const float> row_weights, std::int64_t rows) {
  if (row_weights.empty()) return;
  if (std::ssize(row_weights) != rows)
    fail("there are {} row weights for {}", row_weights.size(), counted(rows, "row"));
  bool any = false;
  for (std::size_t i = 0; i < row_weights.size(); ++i) {
    if (!std::isfinite(row_weights[i]) || row_weights[i] < 0)
      fail("the weight of row {} is {}; weights are 0 or more", i + 1, row_weights[i]);
    any = any || row_weights[i] > 0;
  }
  if (!any) fail("all {} row weights are 0, which leaves no row to train on; a weight above 0 is expected", rows);
}

}  // namespace sheaf
