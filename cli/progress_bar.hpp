// A line on standard error: how far the work is, its rate, and the time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::cli {

class ProgressBar : public Progress {
 private:
  using Clock = std::chrono::steady_clock;
  void on_begin(std::string_view stage, std::int64_t total) override;
  void on_advance(std::int64_t by) override;
  void on_end() override;
  void draw(double seconds);

  std::string stage_;
  std::int64_t total_ = 0;
  std::int64_t done_ = 0;
  Clock::time_point start_;
  Clock::duration next_draw_{};  // since start_
  bool drawn_ = false;
};

}  // namespace sheaf::cli
