#include "neighbors/model/cover.hpp"

#include <algorithm>
#include <numeric>

namespace sheaf::neighbors {

std::int64_t covered_by(std::int64_t k) { return std::max<std::int64_t>(1, k / 2); }

std::vector<std::int32_t> choose_centres(const NeighborLists& lists, std::int64_t covered) {
  const auto rows = static_cast<std::size_t>(lists.queries);
  const auto k = static_cast<std::size_t>(lists.k);
  // From the densest place on, which does not depend on the order of the rows. Two rows that are each other's last have
  // one radius: then nearer ones decide.
  const auto denser = [&](std::size_t a, std::size_t b) {
    for (auto n = static_cast<std::size_t>(covered); n-- > 0;)
      if (const double one = lists.distances[a * k + n], other = lists.distances[b * k + n]; one != other)
        return one < other;
    return false;
  };
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), denser);
  std::vector<std::int32_t> centre(rows, -1);
  std::vector<std::int64_t> rank(rows, lists.k);  // in the list of the centre
  for (const auto i : order) {
    if (centre[i] >= 0) continue;
    for (std::int64_t n = 0; n < covered; ++n) {
      const auto near = static_cast<std::size_t>(lists.indices[i * k + static_cast<std::size_t>(n)]);
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
