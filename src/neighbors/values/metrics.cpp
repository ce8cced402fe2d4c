#include "neighbors/values/metrics.hpp"

#include <array>

#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

template <class... Metrics>
constexpr auto functions_of(neighbors::MetricList<Metrics...> /*all*/) {
  return std::array{Metrics::function...};
}

constexpr auto functions = functions_of(neighbors::AllMetrics{});

Parameter<DistanceOptions> metric_row() {
  Choices<DistanceType> choices;
  std::string help = "distance between rows";
  for (const auto& function : functions) {
    choices.emplace_back(function.name, function.type);
    help += fmt::format("{} {}: {}", choices.size() == 1 ? ";" : ",", function.name, function.formula);
  }
  return choice_row<DistanceOptions, DistanceType>("metric", &DistanceOptions::metric, choices, help);
}

}  // namespace

std::span<const DistanceFunction> distance_functions() { return functions; }

const DistanceFunction& distance_function(DistanceType type) {
  for (const auto& function : functions)
    if (function.type == type) return function;
  throw InternalError("an unknown distance");
}

std::string_view to_string(DistanceType type) { return distance_function(type).name; }

template <>
const std::vector<Parameter<DistanceOptions>>& parameters() {
  using O = DistanceOptions;
  static const std::vector<Parameter<O>> rows{
      metric_row(),
      number_row("power", &O::power, {1, 1000}, "minkowski: its power"),
  };
  return rows;
}

template <>
const std::vector<Parameter<NeighborOptions>>& parameters() {
  using O = NeighborOptions;
  static const std::vector<Parameter<O>> rows{
      number_row("k", &O::k, {1, std::numeric_limits<std::int32_t>::max()}, "number of neighbours of each row"),
      number_row("radius", &O::radius, {0, std::numeric_limits<double>::max()},
                 "all rows within this distance, in place of a number of them", "none"),
      yes_no_row("include-self", &O::include_self, "rows among themselves: each row is its own neighbour too"),
  };
  return rows;
}

}  // namespace sheaf
