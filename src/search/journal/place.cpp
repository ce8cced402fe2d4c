#include "search/journal/place.hpp"

namespace sheaf::engine {

ModelPlace model_place(const Plan& plan, std::int32_t split, std::span<const SearchAxis> axes, const Point& point) {
  const auto inner = plan.levels() * plan.splits();
  const auto first_outer = plan.level_of(0);  // of the levels
  ModelPlace place{.level = split < inner ? split / plan.splits() - first_outer + 1 : split - inner + 1,
                   .split = split < inner ? split % plan.splits() : -1,
                   .settings = {}};
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (point[axis] != SearchAxis::absent)
      place.settings.push_back(
          {axes[axis].name, point[axis], axes[axis].names.empty() ? std::string() : axes[axis].text(point[axis])});
  return place;
}

}  // namespace sheaf::engine
