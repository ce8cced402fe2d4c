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

/// A listener overrides the functions that it needs. They are called on the thread that called the library, whichever
/// thread did the work; one listener serves one call at a time.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  /// A new stage; `total` in any unit, 0 when not known. Ignored while another thread has one open.
  void begin(std::string_view stage, std::int64_t total);
  /// `by` more units are done. Any thread may report, often; the thread of the stage forwards it at its next report.
  void advance(std::int64_t by);
  void end();
  /// Forwards the progress of other threads so far. Only on the thread of the stage: elsewhere nothing happens.
  void deliver();

 protected:
  enum class Hears : std::uint8_t { on_calling_thread, on_any_thread, nothing };
  explicit Progress(Hears hears) : hears_(hears) {}

  virtual void on_begin(std::string_view stage, std::int64_t total);
  virtual void on_advance(std::int64_t by);
  virtual void on_end();  ///< must not throw

 private:
  bool is_mine() const;
  bool take_stage();

  const Hears hears_ = Hears::on_calling_thread;
  std::atomic<std::thread::id> thread_{};  // of the open stage
  int depth_ = 0;                          // stages inside stages, all of that thread
  std::atomic<std::int64_t> pending_{0};
};

/// Units by which every solver advances for each model that it trains, so that one long fit moves too.
inline constexpr std::int64_t progress_per_model = 1000;

/// Listens to nothing.
Progress& silent_progress();

/// Begins a stage and ends it on every way out.
class Stage {
 public:
  /// If a stop was requested, advance() throws Stopped.
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
