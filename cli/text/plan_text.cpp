#include "text/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "core/device_cost.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

std::string size_text(const SearchPlan& size) {
  const auto splits = counted(size.splits, "split");
  if (size.models == 0) return fmt::format("points are found while it runs, {}", splits);
  return fmt::format("{} x {}, {}", counted(size.points, "point"), splits, counted(size.models, "model"));
}

}  // namespace

void print_plan(const Common& common, const Context& reader, const PlannedWork& planned) {
  const auto context = common.on_device(reader, planned.work);
  const double seconds =
      context.device().is_cpu() ? cpu_seconds(planned.work, context.threads()) : gpu_seconds(planned.work);
  const auto bytes = static_cast<std::int64_t>(planned.work.data_bytes);
  if (common.json()) {
    const nlohmann::ordered_json answer{{"points", planned.size.points},
                                        {"splits", planned.size.splits},
                                        {"models", planned.size.models},
                                        {"seconds", seconds},
                                        {"bytes", bytes},
                                        {"device", to_string(context.device())},
                                        {"title", planned.title},
                                        {"notes", planned.notes}};
    return print_data(answer.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::vector<std::string> parts;
  if (planned.size.splits > 0) parts.push_back(size_text(planned.size));
  parts.push_back(
      fmt::format("about {:.2g} s, data of {}, on {}", seconds, format_bytes(bytes), to_string(context.device())));
  print(fmt::format("{}: {}\n", planned.title, fmt::join(parts, "; ")));
  for (const auto& note : planned.notes) print("  - " + note + "\n");
}

}  // namespace sheaf::cli
