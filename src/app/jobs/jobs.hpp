// The queue of jobs, kept in a file that survives this process: a server that starts again finds its jobs, those that
// still run among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/files/folder.hpp"
#include "app/forms/design.hpp"
#include "app/jobs/job.hpp"
#include "app/process/ends.hpp"

namespace sheaf::app {

class Jobs {
 public:
  struct Options {
    std::string program;
    std::string state;  ///< a folder of this server alone
    int at_once = 1;
    bool read_only = false;  ///< nothing is started or written
  };
  Jobs(const Folder& folder, Options options);
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;
  ~Jobs();

  /// Running, then queued in their order, then ended, the latest first.
  std::vector<Job> list() const;
  /// A 404 Refusal if there is none.
  Job find(const std::string& id) const;
  /// The latest of a folder of results; nothing: no job made it.
  std::optional<Job> find_by_folder(const std::string& folder) const;
  /// Changes whenever a job does.
  std::uint64_t revision() const { return revision_; }

  Job start(const Design& design);
  Job stop(const std::string& id);
  Job resume(const std::string& id);
  Job move(const std::string& id, std::size_t position);
  void remove(const std::string& id);
  /// A name for a folder of results that nothing has yet.
  std::string free_name(const std::string& wanted) const;

  std::string log_of(const std::string& id) const { return options_.state + "/" + id + ".log"; }
  std::string progress_of(const std::string& id) const { return options_.state + "/" + id + ".progress"; }
  int at_once() const { return options_.at_once; }

 private:
  void load();
  void save();
  void watch(const std::stop_token& stop);
  std::vector<pid_t> look_and_save();
  bool look();
  bool has_ended(Job& job);
  void launch(Job& job);
  Job& locate(const std::string& id);
  void settle(Job& job);
  void forget_old();
  void write_settings(const Job& job) const;

  const Folder& folder_;
  Options options_;
  mutable std::mutex mutex_;
  std::vector<Job> jobs_;  // queued ones in the order in which they will run
  std::int64_t last_id_ = 0;
  std::atomic<std::uint64_t> revision_ = 1;
  Ends ends_;
  std::jthread watcher_;  // the last: it uses all else
};

}  // namespace sheaf::app
