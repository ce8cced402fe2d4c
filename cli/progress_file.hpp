// How far the work is, as one line of JSON in a file: for programs that run this one and show it, such as sheaf app.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::cli {

class ProgressFile : public Progress {
 public:
  /// A file that cannot be written is none: the work goes on.
  explicit ProgressFile(const std::string& path);
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ~ProgressFile() override;

 private:
  using Clock = std::chrono::steady_clock;
  void on_begin(std::string_view stage, std::int64_t total) override;
  void on_advance(std::int64_t by) override;
  void write(double seconds);

  int descriptor_;
  std::string stage_;
  std::int64_t total_ = 0;
  std::int64_t done_ = 0;
  Clock::time_point start_;
  Clock::duration next_{};  // since start_
};

}  // namespace sheaf::cli
