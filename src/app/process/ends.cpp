#include "app/process/ends.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/http/message.hpp"
#include "core/fail.hpp"

namespace sheaf::app {
namespace {

constexpr std::chrono::milliseconds unknown_interval{100};  // for systems, and processes, without such a descriptor

int descriptor_of(pid_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

}  // namespace

Ends::Ends() : woken_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (woken_ < 0) fail("the server cannot wait for its jobs: {}", std::strerror(errno));
}

Ends::~Ends() { ::close(woken_); }

void Ends::wait(std::span<const pid_t> processes, std::chrono::milliseconds most) {
  std::vector<pollfd> events{{woken_, POLLIN, 0}};
  std::vector<OpenFile> opened;
  for (const auto process : processes) {
    opened.emplace_back(descriptor_of(process));
    if (opened.back().descriptor() < 0)
      most = std::min(most, unknown_interval);
    else
      events.push_back({opened.back().descriptor(), POLLIN, 0});
  }
  ::poll(events.data(), events.size(), static_cast<int>(most.count()));
  std::uint64_t count = 0;
  (void)!::read(woken_, &count, sizeof count);
}

void Ends::wake() {
  const std::uint64_t one = 1;
  (void)!::write(woken_, &one, sizeof one);
}

}  // namespace sheaf::app
