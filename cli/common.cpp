#include "common.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "data/sheaf_file/file.hpp"
#include "progress_bar.hpp"
#include "progress_file.hpp"
#include "queue/progress_name.hpp"
#include "queue/team.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

void Common::declare_device(Arguments& arguments, Option option, bool several) {
  if (several) option.help += "; several share the work, joined by +: cuda+cpu";
  option.set = [this, several, set = std::move(option.set)](const std::string& text) {
    const auto plus = several ? text.find('+') : std::string::npos;
    if (plus != std::string::npos && text.find("auto") != std::string::npos)
      fail_usage("--device {}: auto chooses one device; name those that share the work", text);
    set(text.substr(0, plus));
    automatic_asked_ = text == "auto";
    extra_devices_.clear();
    for (auto at = plus; at != std::string::npos;) {
      const auto next = text.find('+', at + 1);
      const auto device = parse_device(text.substr(at + 1, next - at - 1));
      if (device == options_.device ||
          std::find(extra_devices_.begin(), extra_devices_.end(), device) != extra_devices_.end())
        fail_usage("--device {} names {} twice", text, to_string(device));
      extra_devices_.push_back(device);
      at = next;
    }
  };
  arguments.add(std::move(option));
}

void Common::declare_precision(Arguments& arguments) {
  for (const auto& row : parameters<PrecisionOptions>()) {
    auto option = Arguments::option(row, row.name, precision_);
    option.set = [this, set = std::move(option.set)](const std::string& text) {
      set(text);
      precision_chosen_ = true;
    };
    arguments.add(std::move(option));
  }
}

Precision Common::precision_for(const std::string& path) const {
  const bool single = !precision_chosen_ && sheaf_file::stored_element_bytes(path) == sizeof(float);
  return single ? Precision::float32 : precision_.precision;
}

void Common::declare(Arguments& arguments, std::initializer_list<std::string_view> names, CommonParts parts) {
  arguments.section("Common options");
  for (const auto& row : parameters<Context::Options>()) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    auto option = Arguments::option(row, row.name, options_);
    if (row.name == "device")
      declare_device(arguments, std::move(option), parts.several_devices);
    else
      arguments.add(std::move(option));
  }
  if (parts.precision) declare_precision(arguments);
  if (parts.json) arguments.flag("json", json_, "answer in JSON");
  arguments.flag("quiet", quiet_, "no progress and no remarks");
}

void Common::share_machine(const queue::Ranks& ranks) {
  ranks_ = ranks;
  queue::take_gpus(ranks);
  if (ranks.rank > 0) quiet_ = true;
}

void Common::share_rows(const queue::Ranks& ranks) {
  share_machine(ranks);
  shares_rows_ = ranks.launched;
}

Context Common::context() {
  if (ranks_.several() && options_.threads == 0) options_.threads = queue::threads_of_rank(ranks_);
  if (ranks_.several() && options_.memory == 0) options_.memory = Context(options_).memory() / ranks_.here;
  shown_.clear();
  if (const char* file = std::getenv("SHEAF_PROGRESS"); file != nullptr && *file != '\0')
    shown_.add(std::make_unique<ProgressFile>(file));
  else if (!quiet_ && is_terminal(STDERR_FILENO))
    shown_.add(std::make_unique<ProgressBar>());
  options_.progress = &shown_;
  options_.stop = stop_on_signal();
  if (!shares_rows_) return Context(options_);
  options_.team = &queue::join_team(ranks_);
  const Context own(options_);
  return own.with({.memory = queue::least_of(*options_.team, own.memory())});  // rounds of models are planned by it
}

void Common::show_progress_in(const std::string& folder) {
  shown_.add(std::make_unique<ProgressFile>(folder + "/" + queue::progress_name, true));
}

void Common::say_double(const NeedsDouble& reason) const {
  if (!quiet_) warn({reason.why + "; --precision double is taken instead of float"});
}

Context Common::on_device(const Context& context, const WorkEstimate& work) const {
  const auto chosen = context.for_work(work);
  if (options_.device != Device::automatic() || quiet_) return chosen;
  if (automatic_asked_ || chosen.device().is_cuda() || is_terminal(STDERR_FILENO))
    say(fmt::format("device: {} ({})", to_string(chosen.device()), describe(chosen.device()).name));
  return chosen;
}

}  // namespace sheaf::cli
