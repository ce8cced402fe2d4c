// The surroundings of a piece of work: where it runs and what it may use. Holds no parameters of any model.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <sheaf/solvers/device.hpp>
#include <sheaf/solvers/progress.hpp>
#include <sheaf/solvers/team.hpp>

namespace sheaf {

class Context {
 public:
  struct Options {
    Device device = Device::automatic();
    int threads = 0;          ///< 0: all cores this process may use
    std::int64_t memory = 0;  ///< bytes for data and task blocks on the device; 0: 80 % of the memory that is free now
    std::uint64_t seed = 0;
    Progress* progress = nullptr;  ///< not owned; nullptr: silent
    std::stop_token stop = {};     ///< checked at every turn of every solver
    Team* team = nullptr;          ///< not owned; the processes that share the rows of each model; nullptr: none
  };
  /// The changes of a copy.
  struct Change {
    std::optional<Device> device = {};  ///< another device brings its own memory, unless that is given too
    std::optional<int> threads = {};
    std::optional<std::int64_t> memory = {};
    std::optional<std::uint64_t> seed = {};
    Progress* progress = nullptr;  ///< nullptr: as it is
    std::optional<std::stop_token> stop = {};
    std::optional<Team*> team = {};
  };

  Context() : Context(Options{}) {}
  explicit Context(const Options& options);

  /// The CPU if the device is automatic: see for_work().
  Device device() const { return device_; }
  int threads() const { return threads_; }
  std::int64_t memory() const { return memory_; }
  std::uint64_t seed() const { return seed_; }
  Progress& progress() const { return *progress_; }
  const std::stop_token& stop() const { return stop_; }
  Team* team() const { return team_; }
  /// Throws Stopped once the work is to end. The processes of a team end together, in the next sum over rows.
  void check_stop() const;

  /// A copy with some things changed: context.with({.memory = 1 << 30}).
  Context with(const Change& change) const;
  /// A copy with the device that suits the work, if the device is automatic; fit(), search(), select() and
  /// Model::predict() call it.
  Context for_work(const WorkEstimate& work) const;

 private:
  bool automatic_;
  Device device_;
  int threads_;
  std::int64_t memory_limit_;  // as requested; 0: none
  std::int64_t memory_;
  std::uint64_t seed_;
  Progress* progress_;
  std::stop_token stop_;
  Team* team_;
};

/// Cores this process may run on.
int available_threads();

/// "512M", "1.5G", "800MiB", "123456" (bytes). A UsageError names the expected form.
std::int64_t parse_bytes(std::string_view text);

/// "1.5 GiB".
std::string format_bytes(std::int64_t bytes);

}  // namespace sheaf
