// A line on standard error that tells how far the work is, at what rate, and how long it will take.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include <sheaf/progress.hpp>

namespace sheaf::cli {

class ProgressBar : public Progress {
 public:
  void begin(std::string_view stage, std::int64_t total) override;
  void advance(std::int64_t by) override;
  void end() override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double seconds);

  std::mutex mutex_;  // of everything but the counters
  std::string stage_;
  std::int64_t total_ = 0;
  Clock::time_point start_;
  bool drawn_ = false;
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> next_draw_{0};  // milliseconds since start_
};

}  // namespace sheaf::cli
