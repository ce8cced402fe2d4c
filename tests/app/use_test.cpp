// What a process takes of the machine.
#include <gtest/gtest.h>

#include <vector>

#include <unistd.h>

#include "app/process/use.hpp"

namespace sheaf::app {
namespace {

TEST(Use, OfGpusIsWhatTheDriverSays) {
  const Gpus gpus(SHEAF_FAKE_NVML);
  const auto use = gpus.use(42);
  ASSERT_EQ(use.size(), 2U);
  EXPECT_EQ(use[0].name, "GPU A");
  EXPECT_DOUBLE_EQ(use[0].load, 0.87);
  EXPECT_EQ(use[0].used_bytes, 700U);
  EXPECT_EQ(use[0].total_bytes, 1000U);
  EXPECT_EQ(use[0].own_bytes, 600U);
  EXPECT_EQ(use[1].name, "GPU B");
  EXPECT_EQ(use[1].own_bytes, 0U);
  EXPECT_EQ(gpus.use(43)[0].own_bytes, 0U);
}

TEST(Use, OfAMachineWithoutADriverHasNoGpus) { EXPECT_TRUE(Gpus("libno-such-library.so.1").use(1).empty()); }

TEST(Use, OfAProcessIsItsCoresAndMemory) {
  const auto self = find_process(::getpid());
  ASSERT_TRUE(self);
  UseMeter meter;
  EXPECT_FALSE(meter.measure(*self)) << "there is nothing to compare with";
  std::vector<char> memory(std::size_t{64} << 20U, 1);
  const auto begin = std::chrono::steady_clock::now();
  volatile double sum = 0;
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) sum = sum + memory[7];
  const auto use = meter.measure(*self);
  ASSERT_TRUE(use);
  EXPECT_GT(use->cores, 0);
  EXPECT_LT(use->cores, 2 * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_GE(use->memory_bytes, memory.size());
  EXPECT_FALSE(meter.measure({self->pid, self->start + 1})) << "another process of that number";
}

}  // namespace
}  // namespace sheaf::app
