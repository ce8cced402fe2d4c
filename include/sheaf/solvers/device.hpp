// Devices: the CPU cores, or one NVIDIA GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf {

struct Device {
  enum class Kind : std::uint8_t { cpu, cuda, automatic };
  Kind kind = Kind::cpu;
  int index = 0;

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(int index = 0) { return {Kind::cuda, index}; }
  /// In the options of a Context: chosen by the cost of the work.
  static constexpr Device automatic() { return {Kind::automatic, 0}; }
  constexpr bool is_cpu() const { return kind == Kind::cpu; }
  constexpr bool is_cuda() const { return kind == Kind::cuda; }
  friend constexpr bool operator==(Device, Device) = default;
};

/// "cpu", "cuda:0" ... or "auto".
std::string to_string(Device device);

/// One device as `sheaf devices` shows it. A device that can't be used has the reason, and advice.
struct DeviceInfo {
  Device device;
  std::string name;
  int units = 0;  ///< cores or multiprocessors
  std::int64_t total_bytes = 0;
  std::int64_t free_bytes = 0;
  bool usable = false;
  std::string why_not;
  std::string detail;  ///< instruction sets, compute capability, driver
};

/// The CPU first, then every GPU, or one unusable entry that states why there is none.
std::vector<DeviceInfo> list_devices();

/// The information of one device.
DeviceInfo describe(Device device);

/// A rough estimate of a piece of work.
struct WorkEstimate {
  double operations = 0;  ///< multiplications and additions
  double data_bytes = 0;  ///< of the dataset, which goes to the GPU once
};

/// The device on which the work ends first, counted from now: the CPU's cores begin at once, a GPU takes a third of a
/// second to start and has to be given the data. Without a usable GPU the CPU; its driver is loaded only if the CPU
/// would take longer than the GPU takes to start.
Device choose_device(const WorkEstimate& work, int threads);

/// Memory that was given back waits for its next use; this returns it to the system, for other programs. Sheaf itself
/// returns it when nothing is in use any more, but for 256 MiB.
void release_cached_memory(Device device);

/// "cpu", "cuda", "cuda:N" or "auto". A device that is not there is a UsageError.
Device parse_device(std::string_view text);

}  // namespace sheaf
