#include "neighbors/model/cover.hpp"

#include <algorithm>

namespace sheaf::neighbors {

std::int64_t covered_by(std::int64_t k) { return std::max<std::int64_t>(1, k / 2); }

std::vector<std::int32_t> choose_centres(const NeighborLists& lists, std::int64_t covered) {
  const auto rows = static_cast<std::size_t>(lists.queries);
  std::vector<std::int32_t> centre(rows, -1);
  std::vector<std::int64_t> rank(rows, lists.k);  // in the list of the centre
  for (std::size_t i = 0; i < rows; ++i) {
    if (centre[i] >= 0) continue;
    for (std::int64_t n = 0; n < covered; ++n) {
      const auto near =
          static_cast<std::size_t>(lists.indices[i * static_cast<std::size_t>(lists.k) + static_cast<std::size_t>(n)]);
      if (n >= rank[near]) continue;
      centre[near] = static_cast<std::int32_t>(i);
      rank[near] = n;
    }
    centre[i] = static_cast<std::int32_t>(i);  // of many equal rows it may not be in its own list
    rank[i] = -1;
  }
  return centre;
}

}  // namespace sheaf::neighbors
