#include "family/space.hpp"

namespace sheaf::engine {

Space product_space(std::vector<SearchAxis> axes, const std::vector<std::vector<double>>& values) {
  Space space;
  space.axes = std::move(axes);
  space.values = values;
  space.lattice = {{}};
  for (const auto& list : values) {
    space.shape.push_back(static_cast<std::int32_t>(list.size()));
    std::vector<Point> more;
    for (const auto& point : space.lattice)
      for (const double value : list) {
        more.push_back(point);
        more.back().push_back(value);
      }
    space.lattice = std::move(more);
  }
  return space;
}

bool comes_before(const Space& space, const Point& a, const Point& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis)
    if (a[axis] != b[axis]) return (a[axis] < b[axis]) != space.axes[axis].descending;
  return false;
}

}  // namespace sheaf::engine
