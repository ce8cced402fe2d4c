// Progress of many threads, reported by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <sheaf/progress.hpp>

namespace sheaf::linear {

/// Adds up what any thread reports and passes it on from the thread that made this object alone: whoever listens there
/// need not be ready for other threads.
class RelayedProgress final : public Progress {
 public:
  explicit RelayedProgress(Progress& to) : to_(to), owner_(std::this_thread::get_id()) {}

  void advance(std::int64_t by) override {
    waiting_ += by;
    if (std::this_thread::get_id() == owner_) flush();
  }
  /// To be called by the owner.
  void flush() {
    if (const auto units = waiting_.exchange(0); units > 0) to_.advance(units);
  }

 private:
  Progress& to_;
  std::thread::id owner_;
  std::atomic<std::int64_t> waiting_{0};
};

}  // namespace sheaf::linear
