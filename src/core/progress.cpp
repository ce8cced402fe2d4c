#include <sheaf/solvers/progress.hpp>

namespace sheaf {

void Progress::on_begin(std::string_view /*stage*/, std::int64_t /*total*/) {}
void Progress::on_advance(std::int64_t /*by*/) {}
void Progress::on_end() {}

/// On the thread of the open stage; if no stage is open, on any thread.
bool Progress::is_mine() const {
  if (hears_ != Hears::on_calling_thread) return hears_ == Hears::on_any_thread;
  const auto thread = thread_.load();
  return thread == std::thread::id() || thread == std::this_thread::get_id();
}

/// False: another thread has a stage open.
bool Progress::take_stage() {
  if (hears_ == Hears::on_any_thread) return true;
  const auto me = std::this_thread::get_id();
  std::thread::id owner;
  if (!thread_.compare_exchange_strong(owner, me) && owner != me) return false;
  ++depth_;
  return true;
}

void Progress::begin(std::string_view stage, std::int64_t total) {
  if (hears_ == Hears::nothing || !take_stage()) return;
  deliver();
  on_begin(stage, total);
}

void Progress::advance(std::int64_t by) {
  if (hears_ == Hears::nothing) return;
  pending_ += by;
  deliver();
}

void Progress::deliver() {
  if (!is_mine()) return;
  if (const auto by = pending_.exchange(0); by != 0) on_advance(by);
}

void Progress::end() {
  if (hears_ == Hears::nothing) return;
  const bool here_only = hears_ == Hears::on_calling_thread;
  if (here_only && thread_.load() != std::this_thread::get_id()) return;
  deliver();
  on_end();
  if (here_only && --depth_ == 0) thread_ = std::thread::id();
}

namespace {
struct Silent final : Progress {
  Silent() : Progress(Hears::nothing) {}
};
}  // namespace

Progress& silent_progress() {
  static Silent silent;
  return silent;
}

}  // namespace sheaf
