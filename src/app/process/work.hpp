// Short work that other processes of this program do for a request: describe a dataset, predict, compare. This process
// reads no dataset and no model, so that it stays small whatever they are.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/process/process.hpp"

namespace sheaf::app {

class Work {
 public:
  enum class State { running, ready, failed };
  struct Result {
    State state = State::running;
    double seconds = 0;              ///< since it was asked for
    std::string out;                 ///< what it printed
    std::string message;             ///< of a failure
    std::vector<std::string> notes;  ///< lines on standard error
  };

  /// `scratch`: a folder of this server alone.
  Work(std::string program, std::string folder, std::string scratch);
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  /// `key`: the same for the same result, so that it is made once. Waits so long at most.
  Result run(const std::string& key, const std::vector<std::string>& words, std::chrono::milliseconds wait);
  /// Makes it again when it is asked for next.
  void forget(const std::string& key);

 private:
  struct Task {
    std::vector<std::string> words;
    std::string base;  // of the names of its files
    std::chrono::steady_clock::time_point begin;
    pid_t pid = 0;  // 0: has not started, or has ended
    bool ended = false;
    int code = 0;
  };

  void poll();
  Result result_of(const Task& task) const;

  std::string program_, folder_, scratch_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;
};

}  // namespace sheaf::app
