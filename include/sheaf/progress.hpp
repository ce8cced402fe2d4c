// How far long work is. The command line draws a bar; a library caller may listen too.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include <sheaf/error.hpp>

namespace sheaf {

/// A listener overrides what it wants to hear. All of it comes on the thread that called the library, whichever thread
/// did the work; one listener serves one call at a time.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  /// A new stage; `total` in any unit, 0 when not known. Ignored while another thread has one open.
  void begin(std::string_view stage, std::int64_t total);
  /// `by` more units are done. Any thread may say so, often; the thread of the stage passes it on when it is here next.
  void advance(std::int64_t by);
  void end();
  /// Passes on what other threads have done so far. Only on the thread of the stage: elsewhere nothing happens.
  void deliver();

 protected:
  /// `listens` false: nothing is ever passed on.
  explicit Progress(bool listens) : listens_(listens) {}

  virtual void on_begin(std::string_view stage, std::int64_t total);
  virtual void on_advance(std::int64_t by);
  virtual void on_end();

 private:
  bool is_mine() const;

  const bool listens_ = true;
  std::atomic<std::thread::id> thread_{};  // of the open stage
  int depth_ = 0;                          // stages inside stages, all of that thread
  std::atomic<std::int64_t> pending_{0};
};

/// Listens to nothing.
Progress& silent_progress();

/// Begins a stage and ends it on every way out.
class Stage {
 public:
  /// Where a stop is asked for, advance() throws Stopped.
  Stage(Progress& progress, std::string_view name, std::int64_t total, std::stop_token stop = {})
      : progress_(progress), stop_(std::move(stop)) {
    progress_.begin(name, total);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() { progress_.end(); }
  void advance(std::int64_t by) {
    if (stop_.stop_requested()) throw Stopped();
    progress_.advance(by);
  }

 private:
  Progress& progress_;
  std::stop_token stop_;
};

}  // namespace sheaf
