#include "search/journal/place.hpp"

#include <nlohmann/json.hpp>

#include "data/parameter_json.hpp"

namespace sheaf::engine {

std::string place_json(const Plan& plan, std::int32_t split, std::span<const SearchAxis> axes, const Point& point) {
  const auto inner = plan.levels() * plan.splits();
  const auto first_outer = plan.level_of(0);  // of the levels
  const auto level = split < inner ? split / plan.splits() - first_outer + 1 : split - inner + 1;
  auto values = nlohmann::ordered_json::object();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (point[axis] == SearchAxis::absent) continue;
    auto& value = values[json_name(axes[axis].name)];
    if (axes[axis].names.empty())
      value = point[axis];
    else
      value = axes[axis].text(point[axis]);
  }
  const nlohmann::ordered_json place{
      {"level", level}, {"split", split < inner ? split % plan.splits() : -1}, {"point", std::move(values)}};
  return place.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace sheaf::engine
