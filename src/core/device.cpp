#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <unistd.h>

#include <sheaf/context.hpp>
#include <sheaf/solvers/device.hpp>

#include "core/device_cost.hpp"
#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "core/gpu_runtime.hpp"
#include "core/instruction_sets.hpp"

namespace sheaf {
namespace {

/// The value of the first line of `text` that begins with `name`: what follows its colon.
std::string_view value_of(std::string_view text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto line = text.substr(begin, text.find('\n', begin) - begin);
    begin += line.size() + 1;
    const auto value = line.find_first_not_of(" \t", std::min(line.find(':'), line.size() - 1) + 1);
    if (line.starts_with(name) && value != std::string_view::npos) return line.substr(value);
  }
  return {};
}

std::string cpu_name() {
  const auto processors = small_file("/proc/cpuinfo").value_or("");
  const auto name = value_of(processors, "model name");
  return std::string(name.empty() ? "CPU" : name);
}

/// MemAvailable counts what the page cache can give back; sysconf's free pages do not.
std::int64_t available_memory() {
  const auto memory = small_file("/proc/meminfo").value_or("");
  const auto available = value_of(memory, "MemAvailable:");
  std::int64_t kibibytes = 0;
  if (std::from_chars(available.data(), available.data() + available.size(), kibibytes).ec == std::errc())
    return kibibytes * 1024;
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

DeviceInfo describe_cpu() {
  DeviceInfo info;
  info.device = Device::cpu();
  info.name = cpu_name();
  info.units = available_threads();
  info.total_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  info.free_bytes = available_memory();
  info.usable = true;
  info.detail = fmt::format("instructions of {}", name_of(instruction_set()));
  return info;
}

}  // namespace

std::string to_string(Device device) {
  if (device == Device::automatic()) return "auto";
  return device.is_cpu() ? "cpu" : fmt::format("cuda:{}", device.index);
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> infos{describe_cpu()};
  for (auto& gpu : cuda::list_devices()) infos.push_back(std::move(gpu));
  return infos;
}

DeviceInfo describe(Device device) {
  if (device.is_cpu()) return describe_cpu();
  auto gpus = cuda::list_devices();
  for (auto& info : gpus)
    if (info.device == device) return info;
  DeviceInfo none;
  none.device = device;
  none.why_not =
      gpus.front().usable ? fmt::format("there are GPUs cuda:0 to cuda:{}", gpus.size() - 1) : gpus.front().why_not;
  return none;
}

namespace {

/// The CPU if there is none, or if the libraries that a GPU needs are not installed.
Device first_usable_gpu() {
  for (const auto& gpu : cuda::list_devices())
    if (gpu.usable) return cuda::libraries_found() ? gpu.device : Device::cpu();
  return Device::cpu();
}

}  // namespace

Device choose_device(const WorkEstimate& work, int threads) {
  return cpu_seconds(work, threads) > gpu_seconds(work) ? first_usable_gpu() : Device::cpu();
}

void release_cached_memory(Device device) {
  if (device.is_cuda()) cuda::release_cached(device.index);
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return Device::cpu();
  if (text == "auto") return Device::automatic();
  int index = 0;
  bool understood = text == "cuda";
  if (text.starts_with("cuda:")) {
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + 5, end, index);
    understood = result.ec == std::errc() && result.ptr == end && index >= 0;
  }
  if (!understood) fail_usage("unknown device '{}'; known are cpu, cuda, cuda:N (N from 0) and auto", text);
  const auto info = describe(Device::cuda(index));
  if (!info.usable) fail_usage("device {} can't be used: {}", to_string(info.device), info.why_not);
  return info.device;
}

}  // namespace sheaf
