// Work on a thread of its own, which the user can interrupt, and what its surroundings are.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core.hpp"

namespace sheaf::r {
namespace {

constexpr auto between_looks = std::chrono::milliseconds(100);

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
    return finished_.wait_for(lock, between_looks, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last, so that all else is there when it begins
};

void check_interrupt(void* /*unused*/) { R_CheckUserInterrupt(); }

/// R leaves a function that is interrupted by a jump, which must not pass over frames of C++.
void look_around(const Surroundings& surroundings, Listener& listener) {
  if (R_ToplevelExec(check_interrupt, nullptr) == FALSE) throw Rcpp::internal::InterruptedException();
  if (surroundings.progress.isNULL()) return;
  const auto state = listener.state();
  const Rcpp::Function report(surroundings.progress);
  report(state.stage, static_cast<double>(state.done), static_cast<double>(state.total));
}

}  // namespace

void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  std::stop_source stop;
  Listener listener;
  auto options = surroundings.options;
  options.stop = stop.get_token();
  options.progress = &listener;
  std::exception_ptr error, interruption;
  {
    Work working(options, work);
    while (!working.wait()) {
      if (interruption) continue;
      try {
        look_around(surroundings, listener);
      } catch (...) {
        interruption = std::current_exception();
        stop.request_stop();
      }
    }
    error = working.error();
  }
  if (interruption) std::rethrow_exception(interruption);
  if (error) std::rethrow_exception(error);
}

Settings settings_of(const Rcpp::CharacterMatrix& table) {
  Settings settings;
  for (int i = 0; i < table.nrow(); ++i) {
    const auto text = [&](int column) { return Rcpp::as<std::string>(table(i, column)); };
    settings.push_back({text(0), text(1), text(2)});
  }
  return settings;
}

Surroundings surroundings_of(const Rcpp::List& control) {
  Surroundings result;
  PrecisionOptions precision;
  for (const auto& setting : settings_of(control["settings"])) {
    if (setting.option == "precision")
      set_option(precision, setting);
    else
      set_option(result.options, setting);
  }
  result.single = precision.precision == Precision::float32;
  result.progress = control["progress"];
  return result;
}

}  // namespace sheaf::r
