#include "app/process/use.hpp"
#include "core/files/small_file.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sheaf::app {
namespace {

// The part of NVML's interface, which is stable, that is used here. 0 is success.
using NvmlDevice = void*;
struct NvmlLoad {
  unsigned gpu, memory;  // percent
};
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

class Gpus::Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    ready_ = library_ != nullptr && call<int()>("nvmlInit_v2") == 0;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (ready_) call<int()>("nvmlShutdown");
    if (library_ != nullptr) ::dlclose(library_);
  }

  unsigned count() const {
    unsigned count = 0;
    return ready_ && call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count) == 0 ? count : 0;
  }

  std::optional<GpuUse> use(unsigned index, pid_t process) const {
    NvmlDevice device = nullptr;
    if (call<int(unsigned, NvmlDevice*)>("nvmlDeviceGetHandleByIndex_v2", index, &device) != 0) return std::nullopt;
    GpuUse use;
    std::array<char, 96> name{};
    NvmlLoad load{};
    NvmlMemory memory{};
    if (call<int(NvmlDevice, char*, unsigned)>("nvmlDeviceGetName", device, name.data(),
                                               static_cast<unsigned>(name.size() - 1)) == 0)
      use.name = name.data();
    if (call<int(NvmlDevice, NvmlLoad*)>("nvmlDeviceGetUtilizationRates", device, &load) == 0)
      use.load = load.gpu / 100.0;
    if (call<int(NvmlDevice, NvmlMemory*)>("nvmlDeviceGetMemoryInfo", device, &memory) == 0) {
      use.used_bytes = memory.used;
      use.total_bytes = memory.total;
    }
    use.own_bytes = own_bytes(device, process);
    return use;
  }

 private:
  template <class Function, class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<Function*>(::dlsym(library_, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  std::uint64_t own_bytes(NvmlDevice device, pid_t process) const {
    std::array<NvmlProcess, 256> processes{};
    auto count = static_cast<unsigned>(processes.size());
    if (call<int(NvmlDevice, unsigned*, NvmlProcess*)>("nvmlDeviceGetComputeRunningProcesses_v3", device, &count,
                                                       processes.data()) != 0)
      return 0;
    constexpr auto unknown = ~0ULL;
    std::uint64_t bytes = 0;
    for (unsigned k = 0; k < count; ++k)
      if (processes[k].pid == static_cast<unsigned>(process) && processes[k].used != unknown)
        bytes += processes[k].used;
    return bytes;
  }

  void* library_;
  bool ready_ = false;
};

Gpus::Gpus(const std::string& library) : nvml_(std::make_shared<const Nvml>(library)) {}

std::vector<GpuUse> Gpus::use(pid_t process) const {
  std::vector<GpuUse> gpus;
  for (unsigned k = 0; k < nvml_->count(); ++k)
    if (auto use = nvml_->use(k, process)) gpus.push_back(std::move(*use));
  return gpus;
}

namespace {

/// Seconds of all cores, from the text behind the name in /proc/PID/stat, whose first field is the state.
double processor_seconds(pid_t pid) {
  const auto text = small_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string skipped;
  for (int k = 0; k < 11; ++k) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::uint64_t resident_bytes(pid_t pid) {
  std::istringstream fields(small_file(fmt::format("/proc/{}/statm", pid)).value_or(""));
  std::uint64_t all = 0, resident = 0;
  fields >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<Use> UseMeter::measure(const ProcessName& process) {
  if (!is_running(process)) return std::nullopt;
  static const Gpus gpus;
  const auto now = Clock::now();
  const double seconds = processor_seconds(process.pid);
  const double passed = std::chrono::duration<double>(now - when_).count();
  std::optional<Use> use;
  if (process_ == process && passed > 0)
    use = {std::max(0.0, seconds - seconds_) / passed, resident_bytes(process.pid), gpus.use(process.pid)};
  process_ = process;
  seconds_ = seconds;
  when_ = now;
  return use;
}

}  // namespace sheaf::app
