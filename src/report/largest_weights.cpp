#include "report/largest_weights.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::report {

std::vector<std::int64_t> largest_weights(const LinearModel& model, std::int32_t column, std::size_t most) {
  std::vector<std::int64_t> order;
  for (std::int64_t j = 0; j < model.features; ++j)
    if (model.weight(j, column) != 0) order.push_back(j);
  const auto size = [&](std::int64_t j) { return std::abs(model.weight(j, column)); };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::int64_t a, std::int64_t b) { return size(a) > size(b) || (size(a) == size(b) && a < b); });
  order.erase(end, order.end());
  return order;
}

}  // namespace sheaf::report
