#include "app/process/work.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "app/http/message.hpp"
#include "core/files/small_file.hpp"
#include "core/hash/sha256.hpp"

namespace sheaf::app {
namespace {

constexpr std::ptrdiff_t at_once = 2;
constexpr std::size_t most_kept = 2000;
constexpr std::chrono::milliseconds interval{10};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

constexpr std::string_view error_prefix = "sheaf: error: ";

}  // namespace

Work::Work(std::string program, std::string folder, std::string scratch)
    : program_(std::move(program)), folder_(std::move(folder)), scratch_(std::move(scratch)) {}

Work::~Work() {
  for (const auto& [key, task] : tasks_)
    if (task.pid > 0) ::kill(task.pid, SIGTERM);
}

/// Notices what has ended, and starts what waits.
void Work::poll() {
  std::ptrdiff_t running = 0;
  for (auto& [key, task] : tasks_) {
    if (task.pid <= 0) continue;
    const auto end = child_end(task.pid);
    if (end.ended || end.lost) {
      task.pid = 0;
      task.ended = true;
      task.code = end.lost ? 1 : end.code;
    } else {
      ++running;
    }
  }
  for (auto& [key, task] : tasks_) {
    if (running >= at_once) return;
    if (task.ended || task.pid > 0) continue;
    std::vector<std::string> words{program_};
    words.insert(words.end(), task.words.begin(), task.words.end());
    task.pid = start_process(
        {.words = words, .folder = folder_, .out = task.base + ".out", .err = task.base + ".err", .environment = {}});
    ++running;
  }
}

Work::Result Work::result_of(const Task& task) const {
  Result result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - task.begin).count();
  if (!task.ended) return result;
  result.notes = lines_of(small_file(task.base + ".err").value_or(""));
  if (task.code == 0) {
    result.state = State::ready;
    result.out = small_file(task.base + ".out").value_or("");
    return result;
  }
  result.state = State::failed;
  result.message = "it ended before it was done";
  if (!result.notes.empty()) {
    result.message = result.notes.back();
    if (result.message.starts_with(error_prefix)) result.message = result.message.substr(error_prefix.size());
    result.notes.pop_back();
  }
  return result;
}

Work::Result Work::run(const std::string& key, const std::vector<std::string>& words, std::chrono::milliseconds wait) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (!tasks_.contains(key)) {
        if (tasks_.size() >= most_kept) std::erase_if(tasks_, [](const auto& one) { return one.second.ended; });
        if (tasks_.size() >= most_kept) throw Refusal{429, "too_many_requests", "too much work waits; try again later"};
        tasks_[key] = {words, scratch_ + "/work-" + sha256(key).substr(0, 32), std::chrono::steady_clock::now()};
      }
      poll();
      const auto result = result_of(tasks_[key]);
      if (result.state != State::running || std::chrono::steady_clock::now() >= deadline) return result;
    }
    std::this_thread::sleep_for(interval);
  }
}

void Work::forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(key);
  if (found == tasks_.end()) return;
  if (found->second.pid > 0) ::kill(found->second.pid, SIGTERM);
  std::error_code ignored;
  std::filesystem::remove(found->second.base + ".out", ignored);
  std::filesystem::remove(found->second.base + ".err", ignored);
  tasks_.erase(found);
}

}  // namespace sheaf::app
