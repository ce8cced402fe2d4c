// Resources that a process uses: cores, memory, GPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/process/process.hpp"

namespace sheaf::app {

struct GpuUse {
  std::string name;
  double load = 0;  ///< share of the last moments in which it computed, for whomever
  std::uint64_t used_bytes = 0, total_bytes = 0;
  std::uint64_t own_bytes = 0;  ///< of the process; 0 too if the driver does not say whose memory it is (containers)
};

/// The GPUs of this machine by the driver's library, NVML, which takes none of their memory; none if it is not there.
class Gpus {
 public:
  explicit Gpus(const std::string& library = "libnvidia-ml.so.1");
  std::vector<GpuUse> use(pid_t process) const;

 private:
  class Nvml;
  std::shared_ptr<const Nvml> nvml_;
};

struct Use {
  double cores = 0;  ///< that were busy since the last measurement
  std::uint64_t memory_bytes = 0;
  std::vector<GpuUse> gpus;
};

/// Measures one process again and again.
class UseMeter {
 public:
  /// Nothing the first time, and of a process that has ended.
  std::optional<Use> measure(const ProcessName& process);

 private:
  using Clock = std::chrono::steady_clock;
  ProcessName process_;
  double seconds_ = 0;  // of all cores
  Clock::time_point when_;
};

}  // namespace sheaf::app
