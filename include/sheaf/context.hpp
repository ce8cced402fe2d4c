// The surroundings of a piece of work: where it runs and what it may use. Holds no parameters of any model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sheaf/device.hpp>
#include <sheaf/progress.hpp>

namespace sheaf {

class Context {
 public:
  struct Options {
    Device device;
    int threads = 0;          ///< 0: all cores this process may use
    std::int64_t memory = 0;  ///< bytes for data and task blocks on the device; 0: 80 % of what is free now
    std::uint64_t seed = 0;
    Progress* progress = nullptr;  ///< not owned; nullptr: silent
  };

  Context() : Context(Options{}) {}
  explicit Context(const Options& options);

  Device device() const { return device_; }
  int threads() const { return threads_; }
  std::int64_t memory() const { return memory_; }
  std::uint64_t seed() const { return seed_; }
  Progress& progress() const { return *progress_; }

 private:
  Device device_;
  int threads_;
  std::int64_t memory_;
  std::uint64_t seed_;
  Progress* progress_;
};

/// Cores this process may run on.
int available_threads();

/// "512M", "1.5G", "800MiB", "123456" (bytes). A UsageError names what was expected.
std::int64_t parse_bytes(std::string_view text);

/// "1.5 GiB".
std::string format_bytes(std::int64_t bytes);

}  // namespace sheaf
