// Several processes, on one machine or on several, share the units of one work through a folder that all of them see.
// Who does a unit is decided by names in the folder: a hard link is made by one process alone, on NFS too. Clocks of
// machines are never compared, and nothing has to be locked.
//
//   NAME.worker     of each process: its name and a number that grows as long as it lives
//   UNIT.lease-0    a link to the .worker of the process that does a unit; after its lease has expired, UNIT.lease-1
//   ... UNIT            what came out: one record (see data/write/record_file.hpp), which appears complete or not at
//   all
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

namespace sheaf::queue {

/// To be used by one thread at a time.
class Claims {
 public:
  using Json = nlohmann::json;
  using Clock = std::chrono::steady_clock;

  /// Joins the work in `folder`, which is made if it is missing. A process that gives no sign of life for as long as
  /// `lease` loses the units that it holds; it gives six in that time.
  Claims(std::string folder, Clock::duration lease);
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  /// Others may take what this process holds at once.
  ~Claims();

  /// Whether this process does the unit. False: it is finished, or another process does it, or the work is over.
  bool claim(const std::string& unit);
  /// Whether the unit is still this process's: nobody took it after its lease had expired.
  bool holds(const std::string& unit) const;
  /// Keeps the result of a unit, and returns when it will survive. If another process kept one before, that one stays.
  void keep(const std::string& unit, const Json& result);
  /// The result of a unit; none: it is not finished.
  std::optional<Json> find(const std::string& unit) const;
  /// The first answer to `question`, kept by this process or another one.
  Json agree(const std::string& question, const Json& proposed);

  /// Whether other processes have joined and did not leave; of one that was killed nobody knows.
  bool others() const;

  /// The work is over: somebody has removed the folder.
  bool is_over() const;
  /// Ends the work for all processes: everything that anybody needs is elsewhere.
  void end();

  /// All results in a folder in which nobody is at work.
  static std::map<std::string, Json> results(const std::string& folder);

 private:
  struct Sign {
    std::string text;
    Clock::time_point since;
  };

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void enter();
  bool beat(const std::string& state);
  void live(const std::stop_token& stop);
  bool is_finished(const std::string& unit) const;
  bool is_mine(const std::string& lease) const;
  bool has_expired(const std::string& sign);
  void write_first(const std::string& name, const Json& result);

  std::string folder_, name_;
  Clock::duration lease_;
  std::map<std::string, std::string> held_;  // leases of units
  std::map<std::string, Sign> signs_;        // the last of each worker
  std::atomic<bool> over_ = false;
  std::jthread heart_;  // the last, so that all else is there
};

}  // namespace sheaf::queue
