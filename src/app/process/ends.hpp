// Waiting for processes to end, without asking again and again.
#pragma once

#include <chrono>
#include <span>

#include <sys/types.h>

namespace sheaf::app {

class Ends {
 public:
  Ends();
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends();

  /// Until one of the processes has ended, wake() was called, or so much time has passed. Any process, not children
  /// alone; one that has ended and that its parent knows to have ended is waited for a tenth of a second.
  void wait(std::span<const pid_t> processes, std::chrono::milliseconds most);
  /// Ends the wait that goes on, or else the next one.
  void wake();

 private:
  int woken_;
};

}  // namespace sheaf::app
