#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core.hpp"

namespace sheaf::python {
namespace {

constexpr auto between_signals = std::chrono::milliseconds(100);

/// Remembers how far the work is. It hears of it on the thread that works, and is read by the one that waits.
class Listener : public Progress {
 public:
  struct State {
    std::string stage;
    std::int64_t done = 0, total = 0;
  };
  State state() {
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
  State state_;
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

  bool wait() {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, between_signals, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last, so that all else is there when it begins
};

/// With the GIL. An exception of a signal handler or of the listener comes back as one of C++.
void look_around(const Surroundings& surroundings, Listener& listener) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (surroundings.progress.is_none()) return;
  const auto state = listener.state();
  surroundings.progress(state.stage, state.done, state.total);
}

}  // namespace

void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  std::stop_source stop;
  Listener listener;
  auto options = surroundings.options;
  options.stop = stop.get_token();
  options.progress = &listener;
  std::exception_ptr error;
  std::optional<py::error_already_set> interruption;
  {
    const py::gil_scoped_release released;
    Work working(options, work);
    while (!working.wait()) {
      if (interruption) continue;
      const py::gil_scoped_acquire held;
      try {
        look_around(surroundings, listener);
      } catch (py::error_already_set& raised) {
        interruption.emplace(std::move(raised));
        stop.request_stop();
      }
    }
    error = working.error();
  }
  if (interruption) throw std::move(*interruption);
  if (error) std::rethrow_exception(error);
}

void run_briefly(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  const py::gil_scoped_release released;
  work(Context(surroundings.options));
}

}  // namespace sheaf::python
