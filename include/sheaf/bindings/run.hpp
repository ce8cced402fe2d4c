// Work on a thread of its own, while the thread of the language looks for interrupts and reports progress.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <sheaf/context.hpp>
#include <sheaf/solvers/progress.hpp>

namespace sheaf::bindings {

/// How far work is; `total` 0: not known.
struct Progressed {
  std::string stage;
  std::int64_t done = 0, total = 0;
};

/// Hears of progress on the thread that works, and is read by the one that waits.
class Listener : public Progress {
 public:
  Progressed state() {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 protected:
  void on_begin(std::string_view stage, std::int64_t total) override {
    const std::lock_guard lock(mutex_);
    state_ = {std::string(stage), 0, total};
  }
  void on_advance(std::int64_t by) override {
    const std::lock_guard lock(mutex_);
    state_.done += by;
  }

 private:
  std::mutex mutex_;
  Progressed state_;
};

/// A piece of work on its own thread.
class Work {
 public:
  Work(const Context::Options& options, const std::function<void(const Context&)>& work)
      : thread_([this, options, &work] {
          try {
            work(Context(options));
          } catch (...) {
            error_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          finished_.notify_one();
        }) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() { thread_.join(); }

  /// Whether it ended in this time.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, time, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last, so that all else is there when it begins
};

/// Does the work on a thread of its own, which must not call the language. Ten times a second look_around(progress) is
/// called on this thread; an exception of it stops the work. Returns that exception or the one of the work, so that the
/// caller can throw it when its language allows.
template <class LookAround>
std::exception_ptr run_apart(Context::Options options, const std::function<void(const Context&)>& work,
                             const LookAround& look_around) {
  constexpr auto between_looks = std::chrono::milliseconds(100);
  std::stop_source stop;
  Listener listener;
  options.stop = stop.get_token();
  options.progress = &listener;
  std::exception_ptr interruption;
  Work working(options, work);
  while (!working.wait(between_looks)) {
    if (interruption) continue;
    try {
      look_around(listener.state());
    } catch (...) {
      interruption = std::current_exception();
      stop.request_stop();
    }
  }
  return interruption ? interruption : working.error();
}

}  // namespace sheaf::bindings
