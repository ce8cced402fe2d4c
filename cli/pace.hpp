// How fast the work of a stage goes, and when it is time to show it again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace sheaf::cli {

class Pace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  void begin(std::int64_t total, Duration first) {
    total_ = total;
    done_ = 0;
    now_ = 0;
    base_ = {};
    start_ = std::chrono::steady_clock::now();
    first_ = next_ = first;
  }
  /// Whether so much time has passed that it should be shown again.
  bool advance(std::int64_t by, Duration interval) {
    done_ += by;
    const auto passed = std::chrono::steady_clock::now() - start_;
    if (passed < first_) base_ = {std::chrono::duration<double>(passed).count(), done_};
    if (passed < next_) return false;
    next_ = passed + interval;
    now_ = std::chrono::duration<double>(passed).count();
    return true;
  }

  std::int64_t total() const { return total_; }
  std::int64_t done() const { return done_; }
  double seconds() const { return now_; }
  /// Units a second, without those of the first moments: work that is resumed is found done. 0: not known.
  double rate() const {
    const bool measured = now_ > base_.seconds && done_ > base_.done;
    return measured ? static_cast<double>(done_ - base_.done) / (now_ - base_.seconds) : 0;
  }
  std::optional<double> seconds_left() const {
    if (total_ == 0 || rate() == 0) return std::nullopt;
    return static_cast<double>(std::max<std::int64_t>(total_ - done_, 0)) / rate();
  }

 private:
  struct Base {
    double seconds = 0;
    std::int64_t done = 0;
  };
  std::int64_t total_ = 0, done_ = 0;
  double now_ = 0;
  Base base_;
  std::chrono::steady_clock::time_point start_;
  Duration first_{}, next_{};  // since start_
};

}  // namespace sheaf::cli
