// How long work tells the outside how far it is. The command line draws a bar; a library caller may listen too.
#pragma once

#include <cstdint>
#include <string_view>

namespace sheaf {

class Progress {
 public:
  virtual ~Progress() = default;
  /// A new stage; `total` in any unit, 0 when not known.
  virtual void begin(std::string_view stage, std::int64_t total);
  /// `by` more units are done. May be called from any thread, often.
  virtual void advance(std::int64_t by);
  virtual void end();
};

/// Units by which every solver advances for each model that it trains, so that one long fit moves too.
inline constexpr std::int64_t progress_per_model = 1000;

/// Listens to nothing.
Progress& silent_progress();

/// Begins a stage and ends it on every way out.
class Stage {
 public:
  Stage(Progress& progress, std::string_view name, std::int64_t total) : progress_(progress) {
    progress_.begin(name, total);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() { progress_.end(); }
  void advance(std::int64_t by) { progress_.advance(by); }

 private:
  Progress& progress_;
};

}  // namespace sheaf
