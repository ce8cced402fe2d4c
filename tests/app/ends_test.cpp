// Waiting for processes: each wait here would last an hour if it were not ended.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "app/process/ends.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

pid_t sleeping_child() {
  const auto child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  return child;
}

TEST(Ends, EndsWithAProcess) {
  Ends ends;
  const std::vector processes{sleeping_child(), sleeping_child()};
  ::kill(processes[1], SIGKILL);
  ends.wait(processes, 1h);
  int status = 0;
  EXPECT_EQ(::waitpid(processes[1], &status, WNOHANG), processes[1]);
  EXPECT_EQ(::waitpid(processes[0], &status, WNOHANG), 0);
  ::kill(processes[0], SIGKILL);
  ::waitpid(processes[0], &status, 0);
}

TEST(Ends, LooksAgainSoonForAProcessThatIsGone) {
  const auto child = sleeping_child();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  Ends ends;
  const std::vector processes{child};
  ends.wait(processes, 1h);
}

TEST(Ends, AreWokenDuringTheWaitOrBefore) {
  Ends ends;
  ends.wake();
  ends.wait({}, 1h);
  std::jthread other([&] { ends.wake(); });
  ends.wait({}, 1h);
}

}  // namespace
}  // namespace sheaf::app
