#include "common.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "terminal.hpp"

namespace sheaf::cli {

void Common::declare(Arguments& arguments, std::initializer_list<std::string_view> names, bool precision) {
  arguments.section("Common options");
  for (const auto& row : parameters<Context::Options>()) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    auto option = Arguments::option(row, row.name, options_);
    if (row.name == "device")
      option.set = [this, set = std::move(option.set)](const std::string& text) {
        set(text);
        automatic_device_ = text == "auto";
      };
    arguments.add(std::move(option));
  }
  if (precision) arguments.parameters(precision_);
  arguments.flag("json", json_, "answer in JSON");
  arguments.flag("quiet", quiet_, "no progress and no remarks");
}

Context Common::context() {
  if (automatic_device_ && !quiet_)
    say(fmt::format("device: {} ({})", to_string(options_.device), describe(options_.device).name));
  if (!quiet_ && is_terminal(STDERR_FILENO)) bar_ = std::make_unique<ProgressBar>();
  options_.progress = bar_.get();
  return Context(options_);
}

}  // namespace sheaf::cli
