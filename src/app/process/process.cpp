#include "app/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/files/small_file.hpp"

namespace sheaf::app {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's environment, and what is added; of several entries of one name the last.
std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('=') + 1);
    if (std::none_of(more.begin(), more.end(), [&](const auto& one) { return one.starts_with(name); }))
      all.emplace_back(text);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  void open(int descriptor, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0666);
  }
  void copy(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void enter(const std::string& folder) { posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::optional<ProcessName> find_process(pid_t pid) {
  const auto text = small_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const auto name_end = text.rfind(')');  // the name of the program may have blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, skipped;
  fields >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  for (int k = 0; k < 18; ++k) fields >> skipped;
  ProcessName process{pid, 0};
  if (!(fields >> process.start)) return std::nullopt;
  return process;
}

bool is_running(const ProcessName& process) { return process.pid > 0 && find_process(process.pid) == process; }

void signal_process(const ProcessName& process, int signal) {
  if (is_running(process)) ::kill(process.pid, signal);
}

std::optional<ProcessName> find_process_with(const std::string& entry) {
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto name = folder.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == ::getpid()) continue;
    const auto all = std::string(1, '\0') + small_file(folder.path().string() + "/environ").value_or("");
    if (all.find('\0' + entry + '\0') != std::string::npos) return find_process(pid);
  }
  return std::nullopt;
}

pid_t start_process(const Start& start) {
  FileActions actions;
  const int flags = O_WRONLY | O_CREAT | (start.append ? O_APPEND : O_TRUNC);
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.open(STDOUT_FILENO, start.out, flags);
  if (start.err == start.out)
    actions.copy(STDOUT_FILENO, STDERR_FILENO);
  else
    actions.open(STDERR_FILENO, start.err, flags);
  actions.enter(start.folder);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  const auto environment = environment_with(start.environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, start.words.front().c_str(), actions.get(), &attributes,
                                  pointers_to(start.words).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail("{}: cannot be started: {}", start.words.front(), std::strerror(error));
  return pid;
}

ChildEnd child_end(pid_t pid) {
  int status = 0;
  const auto found = ::waitpid(pid, &status, WNOHANG);
  if (found == 0) return {};
  if (found < 0) return {.ended = false, .lost = errno == ECHILD};
  return {.ended = true, .code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace sheaf::app
