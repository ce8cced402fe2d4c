#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/context.hpp>
#include <sheaf/solvers/device.hpp>

#include "command.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

nlohmann::ordered_json to_json(const DeviceInfo& info) {
  nlohmann::ordered_json answer{{"device", to_string(info.device)}, {"name", info.name}, {"usable", info.usable}};
  if (!info.usable) answer["why_not"] = info.why_not;
  if (info.usable)
    answer.update({{"units", info.units},
                   {"total_bytes", info.total_bytes},
                   {"free_bytes", info.free_bytes},
                   {"detail", info.detail}});
  return answer;
}

std::vector<std::string> to_row(const DeviceInfo& info) {
  if (!info.usable) return {bold(to_string(info.device)), info.name, yellow("not usable: ") + info.why_not};
  return {bold(to_string(info.device)), info.name,
          fmt::format("{} {}, {} of {} free, {}", info.units, info.device.is_cpu() ? "cores" : "multiprocessors",
                      format_bytes(info.free_bytes), format_bytes(info.total_bytes), info.detail)};
}

void run(bool json) {
  auto list = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const auto& info : list_devices()) {
    list.push_back(to_json(info));
    rows.push_back(to_row(info));
  }
  if (json)
    print_data(nlohmann::ordered_json{{"devices", list}}.dump(2) + "\n");
  else
    print(table(rows, "lll", 0));
}

std::function<void()> declare(Arguments& arguments) {
  auto json = std::make_shared<bool>(false);
  arguments.flag("json", *json, "answer in JSON");
  return [json] { run(*json); };
}

}  // namespace

Command devices_command() {
  return {"devices",
          "List what can compute here, and why a device can't be used",
          {{"for people", "sheaf devices"}, {"for programs", "sheaf devices --json"}},
          declare};
}

}  // namespace sheaf::cli
