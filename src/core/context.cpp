#include <sheaf/context.hpp>

#include <array>
#include <charconv>
#include <cmath>

#include <sched.h>

#include "core/fail.hpp"
#include "core/files/lost_input.hpp"

namespace sheaf {
namespace {

/// Code that CUDA brings to a GPU when kernels and libraries are first used.
constexpr std::int64_t gpu_code_bytes = std::int64_t{256} << 20;

/// What data and task blocks may take if no limit is given.
std::int64_t default_memory(Device device) {
  const auto free = describe(device).free_bytes;
  const auto code = device.is_cuda() ? std::min(gpu_code_bytes, free / 2) : 0;
  return (free - code) / 5 * 4;
}

}  // namespace

Context::Context(const Options& options)
    : automatic_(options.device == Device::automatic()),
      device_(automatic_ ? Device::cpu() : options.device),
      threads_(options.threads > 0 ? options.threads : available_threads()),
      memory_limit_(options.memory),
      memory_(options.memory > 0 ? options.memory : default_memory(device_)),
      seed_(options.seed),
      progress_(options.progress != nullptr ? options.progress : &silent_progress()),
      stop_(options.stop),
      team_(options.team) {}

void Context::check_stop() const {
  if (team_ == nullptr && stop_.stop_requested()) throw Stopped();
  check_inputs();
}

Context Context::with(const Change& change) const {
  const Device device = change.device.value_or(automatic_ ? Device::automatic() : device_);
  const auto memory = change.memory.value_or(!change.device || device == device_ ? memory_ : 0);
  Context changed({device, change.threads.value_or(threads_), memory, change.seed.value_or(seed_),
                   change.progress != nullptr ? change.progress : progress_, change.stop.value_or(stop_),
                   change.team.value_or(team_)});
  if (!change.memory) changed.memory_limit_ = memory_limit_;
  return changed;
}

Context Context::for_work(const WorkEstimate& work) const {
  return automatic_ ? with({.device = choose_device(work, threads_), .memory = memory_limit_}) : *this;
}

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

namespace {

/// The power of 1024 that a unit stands for: "", "B", "K", "KB", "KiB", "M" ...; -1 if it is no unit.
int unit_power(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  const auto position = std::string_view("KMGT").find(unit.front());
  unit.remove_prefix(1);
  if (position == std::string_view::npos || (!unit.empty() && unit != "B" && unit != "iB")) return -1;
  return static_cast<int>(position) + 1;
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  const int power = unit_power({result.ptr, static_cast<std::size_t>(text.data() + text.size() - result.ptr)});
  const double bytes = number * std::pow(1024.0, power);
  if (result.ec != std::errc() || power < 0 || !(bytes >= 1) || bytes > 9e18)
    fail_usage("'{}' is not a size of memory; expected bytes, or a number with K, M, G or T, such as 512M or 1.5G",
               text);
  return static_cast<std::int64_t>(bytes);
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace sheaf
