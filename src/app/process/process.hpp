// Other processes of this program: started without a shell, found again after a restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sheaf::app {

/// A process by its number and the time of its start, which no later process of that number shares.
struct ProcessName {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< in ticks since the machine started

  bool operator==(const ProcessName&) const = default;
};

/// Nothing if there is no such process, or it has ended and waits for its parent.
std::optional<ProcessName> find_process(pid_t pid);
bool is_running(const ProcessName& process);
/// Sends a signal unless the process has ended.
void signal_process(const ProcessName& process, int signal);
/// A process of this user whose environment has this entry.
std::optional<ProcessName> find_process_with(const std::string& entry);

struct Start {
  std::vector<std::string> words;        ///< the program's path first
  std::string folder;                    ///< in which it runs
  std::string out, err;                  ///< files, which are replaced; the same path: one file for both
  bool append = false;                   ///< the files are added to instead
  std::vector<std::string> environment;  ///< beside this process's own: NAME=VALUE
};

/// In a session of its own, so that it survives this process and its terminal. An Error if it cannot be started.
pid_t start_process(const Start& start);

/// The exit code of a child that has ended, 128 and the signal's number if a signal ended it. Nothing: it runs.
/// `lost`: it is no child of this process.
struct ChildEnd {
  bool ended = false, lost = false;
  int code = 0;
};
ChildEnd child_end(pid_t pid);

}  // namespace sheaf::app
