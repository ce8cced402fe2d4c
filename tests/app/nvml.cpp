// Two GPUs for tests of what reads NVML: the driver's library is not where there is no GPU.
#include <cstring>

extern "C" {

struct Load {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char devices[2];
  *device = &devices[index];
  devices[index] = static_cast<char>(index);
  return 0;
}
int nvmlDeviceGetName(const char* device, char* name, unsigned) {
  std::strcpy(name, *device == 0 ? "GPU A" : "GPU B");
  return 0;
}
int nvmlDeviceGetUtilizationRates(const char* device, Load* load) {
  *load = {*device == 0 ? 87U : 0U, 5};
  return 0;
}
int nvmlDeviceGetMemoryInfo(const char* device, Memory* memory) {
  *memory = {1000, *device == 0 ? 300U : 1000U, *device == 0 ? 700U : 0U};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(const char* device, unsigned* count, Process* processes) {
  if (*device != 0) return 3;  // not supported
  processes[0] = {41, 100, 0, 0};
  processes[1] = {42, 600, 0, 0};
  processes[2] = {43, ~0ULL, 0, 0};  // whose memory the driver does not say
  *count = 3;
  return 0;
}
}
